"""What was not delivered stays noted in the store, without secrets, until it is; and a file on another machine has its name when it is whole."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import shutil

import pytest

from plimsoll.delivery.dispatch import Delivered, NotNow, Order, Patience, Sent, deliver
from plimsoll.delivery.inbox import InboxDestination
from plimsoll.delivery.outbox import FOLDER, Addressee, held, waiting
from plimsoll.errors import InputError, TargetError
from plimsoll.store.parcel import announced_in, digest_of
from plimsoll.store.reader import list_runs, open_run
from report.synthetic import PROFILES, Array, write_run
from support.said import in_this_process

NAME = "2026-11-21T03-44-10_one"


@pytest.fixture
def run(tmp_path):
    return open_run(str(write_run(tmp_path / "results" / NAME, Array("one", seconds=5), PROFILES[:1])))


class Mailbox:
    """A destination that fails as often as it is told to, and cannot tell what it has."""

    shown = "smtp://relay/lab@example.org"
    remembers = False

    def __init__(self, *problems: Exception) -> None:
        self.problems, self.taken = list(problems), []

    def take(self, sent: Sent) -> Delivered:
        if self.problems:
            raise self.problems.pop(0)
        self.taken.append((sent.name, sent.mark))
        return Delivered(sent.name, known=False, doubt="taken")


def waits():
    """Patience in virtual time, and what it waited."""
    waited: list[float] = []
    return Patience(wait=waited.append), waited


def test_it_is_tried_at_growing_intervals_until_it_is_there(run):
    box, (patience, waited) = Mailbox(*[NotNow("later")] * 9), waits()
    deliver(run, Order(box), patience)
    assert len(box.taken) == 1 and len(waited) == 9
    # Each is between half of 1, 2, 4 … s, at most 60 s, and all of it.
    for number, pause_s in enumerate(waited):
        longest = min(2.0**number, 60.0)
        assert longest / 2 <= pause_s <= longest


def test_what_was_given_up_goes_on_under_its_own_mark_after_a_restart(run, tmp_path):
    out = str(tmp_path / "results")
    options = {"to": "smtp://relay/lab@example.org", "ca": "/etc/lab.pem"}
    with pytest.raises(TargetError, match="is gone"):
        deliver(run, Order(Mailbox(TargetError("the server is gone.")), options), waits()[0])
    (note,) = waiting(out)
    assert (note.run, note.options) == (NAME, options)
    box = Mailbox()
    deliver(run, Order(box, options), waits()[0])
    assert box.taken == [(NAME, note.mark)] and waiting(out) == []


def test_a_run_that_was_mailed_is_not_mailed_again_unasked(run):
    box = Mailbox()
    assert not deliver(run, Order(box), waits()[0]).known
    assert deliver(run, Order(box), waits()[0]).known
    assert len(box.taken) == 1
    deliver(run, Order(box, again=True), waits()[0])
    assert len(box.taken) == 2


def test_another_run_and_another_place_are_told_apart(run):
    first, second = Mailbox(), Mailbox()
    second.shown = "smtp://relay/other@example.org"
    deliver(run, Order(first), waits()[0])
    deliver(run, Order(second), waits()[0])
    assert len(first.taken) == len(second.taken) == 1


def test_two_do_not_send_the_same_at_once(run):
    with (
        held(run, "0" * 64, Addressee("sftp://lab7")),
        pytest.raises(InputError, match="is being sent to sftp://lab7 by another process"),
        held(run, "0" * 64, Addressee("sftp://lab7")),
    ):
        pass
    with held(run, "0" * 64, Addressee("sftp://lab7")):
        pass


def test_a_note_that_a_power_cut_has_torn_is_none(run, tmp_path):
    deliver(run, Order(Mailbox()), waits()[0])
    folder = tmp_path / "results" / FOLDER
    (note,) = folder.glob("*.json")
    for torn in (b"", note.read_bytes()[:40], b'{"schema": "plimsoll.outbox/1", "options": {}}', b"[]"):
        note.write_bytes(torn)
        assert waiting(str(tmp_path / "results")) == []
        box = Mailbox()
        deliver(run, Order(box), waits()[0])
        assert len(box.taken) == 1


def test_a_mark_from_elsewhere_is_never_part_of_a_name(run, tmp_path):
    with pytest.raises(TargetError):
        deliver(run, Order(Mailbox(TargetError("no."))), waits()[0])
    (note,) = (tmp_path / "results" / FOLDER).glob("*.json")
    note.write_text(json.dumps({**json.loads(note.read_text()), "mark": "x; rm -rf ~"}))
    box = Mailbox()
    deliver(run, Order(box), waits()[0])
    assert "rm" not in box.taken[0][1]


def test_notes_are_no_runs(run, tmp_path):
    deliver(run, Order(Mailbox()), waits()[0])
    assert [one.name for one in list_runs(str(tmp_path / "results"))] == [NAME]


class Box:
    """A directory of another machine in memory, with the faults that it is told."""

    def __init__(self, **faults) -> None:
        self.files: dict[str, bytes] = {}
        self.faults, self.puts = faults, 0

    def _may(self, step):
        if step in self.faults:
            raise self.faults.pop(step) if not isinstance(self.faults[step], list) else self.faults[step][0]

    def sha256(self, name):
        found = None if "unreadable" in self.faults else self.files.get(name)
        return None if found is None else hashlib.sha256(found).hexdigest()

    def size(self, name):
        return None if "sizeless" in self.faults or name not in self.files else len(self.files[name])

    def put(self, name, parcel):
        self.puts += 1
        content = parcel.read()
        if "put" in self.faults:
            self.files[name] = content[:100]
        self._may("put")
        self.files[name] = content if "garbled" not in self.faults else content[:-1] + b"x"
        self.faults.pop("garbled", None)

    def rename(self, name, to):
        self._may("rename")
        self.files[to] = self.files.pop(name)

    def remove(self, name):
        self._may("remove")
        self.files.pop(name, None)

    @contextlib.contextmanager
    def connected(self):
        yield self

    def order(self):
        return Order(InboxDestination("sftp://lab7/inbox", self.connected))


def visible(box):
    return [name for name in box.files if not name.startswith(".")]


def test_a_parcel_lies_under_its_name_when_it_is_whole(run):
    box = Box()
    assert not deliver(run, box.order(), waits()[0]).known
    (name,) = box.files
    digest = digest_of(run.path)
    assert name == f"{NAME}-{digest[:12]}.parcel.tgz"
    assert announced_in(io.BytesIO(box.files[name])).digest == digest


def test_the_same_run_again_is_the_same_file(run):
    box = Box()
    deliver(run, box.order(), waits()[0])
    before = dict(box.files)
    assert deliver(run, box.order(), waits()[0]).known
    assert box.files == before and box.puts == 1


def test_what_broke_off_in_the_middle_is_never_seen_and_overwritten(run):
    box = Box(put=NotNow("the connection was closed"), remove=NotNow("the connection was closed"))
    seen = []
    deliver(run, box.order(), Patience(wait=lambda _: seen.append((visible(box), len(box.files)))))
    # Between the tries there is a torn file, and nobody takes it for a run.
    assert seen == [([], 1)]
    assert box.puts == 2 and len(box.files) == 1 and visible(box) == list(box.files)


def test_what_the_server_has_garbled_is_sent_again(run):
    box, (patience, waited) = Box(garbled=True), waits()
    deliver(run, box.order(), patience)
    assert len(waited) == 1 and len(box.files) == 1


@pytest.mark.parametrize("step", ["rename", "put"])
def test_a_refusal_leaves_nothing_there(run, step):
    box = Box(**{step: [TargetError("it does not let files be renamed.")]})
    with pytest.raises(TargetError, match="does not let files"):
        deliver(run, box.order(), waits()[0])
    assert box.files == {}


def test_a_file_that_is_damaged_there_is_replaced(run):
    box = Box()
    deliver(run, box.order(), waits()[0])
    (name,) = box.files
    whole = box.files[name]
    box.files[name] = whole[:50]
    assert not deliver(run, box.order(), waits()[0]).known
    assert box.files == {name: whole}


def test_what_cannot_be_compared_is_said(run):
    assert "only its size was compared" in deliver(run, Box(unreadable=True).order(), waits()[0]).doubt
    assert "nothing was compared" in deliver(run, Box(unreadable=True, sizeless=True).order(), waits()[0]).doubt
    assert deliver(run, Box().order(), waits()[0]).doubt == ""


def test_a_store_that_cannot_be_written_is_sent_all_the_same(run, monkeypatch):
    monkeypatch.setattr(os, "makedirs", lambda *_, **__: (_ for _ in ()).throw(OSError(30, "Read-only file system")))
    box = Mailbox()
    deliver(run, Order(box), waits()[0])
    assert len(box.taken) == 1


def test_unsent_goes_on_with_what_is_left_and_drops_what_was_forgotten(run, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    plimsoll = in_this_process(capsys)
    write_run(tmp_path / "results" / "2026-11-21T04-44-10_two", Array("two", seconds=5), PROFILES[:1])
    write_run(tmp_path / "results" / "2026-11-21T05-44-10_three", Array("three", seconds=5), PROFILES[:1])
    (tmp_path / "stick").write_text("in the way")
    said = plimsoll("send", "latest", "latest~1", "latest~2", "--to", "file:stick")
    assert said.code == 5 and said.err.count("\n") == 3
    (tmp_path / "stick").unlink()
    shutil.rmtree(tmp_path / "results" / "2026-11-21T04-44-10_two")
    (tmp_path / "results" / "2026-11-21T05-44-10_three" / "run.json").write_text("{")
    # One is gone, one damaged; the third goes all the same.
    said = plimsoll("send", "--unsent")
    assert said.out == f"{NAME} is there: {tmp_path / 'stick'}\n" and said.code == 5
    assert "two is no longer in results, so it is not sent." in said.err and "three/run.json" in said.err
    assert [note.run for note in waiting("results")] == ["2026-11-21T05-44-10_three"]
