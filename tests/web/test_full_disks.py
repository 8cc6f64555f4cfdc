"""Receivers whose disk is full: the sender hears why, nothing is half there, nothing else is harmed, and with room the same send is one run."""

from __future__ import annotations

import http.client
import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from plimsoll.store.parcel import ENDING, digest_of, pack
from plimsoll.store.reader import open_run
from plimsoll.web.receiver import KEPT_FREE
from report.synthetic import PROFILES, Array, write_run
from support.ftp_server import PASSWORD
from support.inboxes import certificate, missing_ssh, python_server, ssh_server
from support.patience import HANGS_S, wait_until
from support.said import in_this_process
from support.small_disk import needs_small_disk, small_disk

pytestmark = needs_small_disk
with_ssh = pytest.mark.skipif(missing_ssh() is not None, reason=f"skipped: {missing_ssh()}")
NAMES = [f"2026-11-21T03-44-1{number}_one" for number in range(4)]
NAME = NAMES[0]


@pytest.fixture
def runs(tmp_path):
    """Stored runs, each of its own contents."""
    return [write_run(tmp_path / "results" / name, Array(f"one {name}", seconds=30), PROFILES[:2]) for name in NAMES]


@pytest.fixture
def disk(tmp_path):
    """A disk with more room than is kept free."""
    with small_disk(tmp_path / "disk", KEPT_FREE + (64 << 20)) as made:
        yield made


def begun(tmp_path, *words):
    """`plimsoll send`, running."""
    command = [sys.executable, "-m", "plimsoll", "send", *words]
    return subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def sent(tmp_path, *words):
    """`plimsoll send`, ended: code, stdout, stderr."""
    process = begun(tmp_path, *words)
    out, err = process.communicate(timeout=HANGS_S)
    assert "Traceback" not in err and "mistake" not in err, err
    return process.returncode, out, err


def listed(server, store):
    """What the page lists, once it has looked at the store as it is now."""
    shown = []

    def is_new():
        shown[:] = sorted(entry["name"] for entry in json.loads(server.ask("/api/runs")[2])["runs"])
        return shown == (sorted(name for name in os.listdir(store) if name in NAMES) if store.exists() else [])

    wait_until(is_new, "the list is that of the store")
    return shown


def left(store):
    """Everything in a store but whole runs."""
    return sorted(name for name in os.listdir(store) if name not in NAMES) if store.exists() else []


def test_a_store_that_is_full_takes_nothing_and_keeps_what_it_has(serve, runs, disk, tmp_path):
    store = disk.path / "home"
    server = serve(store, "--receive")
    assert sent(tmp_path, NAME, "--to", server.address)[0] == 0
    disk.leave(KEPT_FREE - (1 << 20))
    code, out, err = sent(tmp_path, NAMES[1], "--to", server.address, "--give-up-after", "1s")
    assert code == 4 and out == ""
    assert "its store has no room left (255 MiB free, 256 MiB of it are kept free); trying again in" in err
    assert f"{NAMES[1]} was not delivered in 1 s: its store has no room left" in err
    assert listed(server, store) == [NAME] and left(store) == [] and digest_of(store / NAME) == digest_of(runs[0])
    # What is there already needs no room.
    assert sent(tmp_path, NAME, "--to", server.address)[1].startswith(f"{NAME} was there already")
    disk.relieve()
    assert sent(tmp_path, NAMES[1], "--to", server.address)[:2] == (0, f"{NAMES[1]} is there: http://{server.place}\n")
    assert listed(server, store) == NAMES[:2] and left(store) == [] and digest_of(store / NAMES[1]) == digest_of(runs[1])


def halfway(server, run, meanwhile):
    """The answer to a parcel in whose middle something happens."""
    packed = Path(f"{run}.parcel")
    with packed.open("wb") as file:
        digest = pack(open_run(str(run)), file)
    content = packed.read_bytes()
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=HANGS_S)
    connection.putrequest("PUT", f"/api/parcels/{run.name}", skip_host=True)
    brought = {"Host": server.place, "Authorization": f"Bearer {server.token}", "X-Plimsoll-Digest": digest}
    for name, value in {**brought, "Content-Length": str(len(content))}.items():
        connection.putheader(name, value)
    connection.endheaders()
    connection.send(content[: len(content) // 2])
    meanwhile()
    connection.send(content[len(content) // 2 :])
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text


def test_a_disk_that_fills_up_in_the_middle_of_a_parcel_leaves_nothing_of_it(serve, runs, disk, tmp_path):
    store = disk.path / "home"
    server = serve(store, "--receive")
    assert sent(tmp_path, NAME, "--to", server.address)[0] == 0

    def fill():
        wait_until(lambda: holds_unnamed(server.process.pid, store), "the first half has arrived")
        disk.leave(0)

    status, text = halfway(server, runs[1], fill)
    assert status == 507 and text.startswith("its store has no room left (") and text.count("\n") == 1
    assert listed(server, store) == [NAME] and left(store) == [] and digest_of(store / NAME) == digest_of(runs[0])
    disk.relieve()
    assert sent(tmp_path, NAMES[1], "--to", server.address)[0] == 0
    assert listed(server, store) == NAMES[:2] and left(store) == []


def holds_unnamed(process, store):
    """Whether a process has a file without a name on the disk of ``store``, with something in it."""
    for link in Path(f"/proc/{process}/fd").iterdir():
        try:
            facts = link.stat()
        except OSError:
            continue
        if facts.st_nlink == 0 and store.exists() and facts.st_dev == store.stat().st_dev:
            return True
    return False


def test_what_grows_beyond_the_room_as_it_is_unpacked_is_taken_back(serve, runs, disk, tmp_path):
    # A thousand times as large unpacked as packed: what the announced length says is no measure.
    large = runs[0] / "points" / sorted(os.listdir(runs[0] / "points"))[0] / "notes.txt"
    large.write_bytes(b"plimsoll " * (32 << 20 >> 3))
    store = disk.path / "home"
    server = serve(store, "--receive")
    disk.leave(KEPT_FREE + (8 << 20))
    code, _, err = sent(tmp_path, NAME, "--to", server.address, "--give-up-after", "1s")
    assert code == 4 and "its store has no room left" in err
    assert listed(server, store) == [] and left(store) == [] and disk.free_bytes > KEPT_FREE + (7 << 20)
    disk.relieve()
    assert sent(tmp_path, NAME, "--to", server.address)[0] == 0 and listed(server, store) == [NAME]


def test_several_that_come_as_the_disk_fills_up_come_whole_later_and_once(serve, runs, disk, tmp_path):
    store = disk.path / "home"
    server = serve(store, "--receive")
    disk.leave(KEPT_FREE + (1 << 16))
    senders = [begun(tmp_path, name, "--to", server.address) for name in NAMES]
    # Each says that it waits, or has found the last room.
    first = [sender.stderr.readline() if sender.poll() is None else "" for sender in senders[1:]]
    assert any("its store has no room left" in line for line in first), first
    whole = listed(server, store)
    assert all(digest_of(store / name) == digest_of(tmp_path / "results" / name) for name in whole)
    disk.relieve()
    for sender in senders:
        _, err = sender.communicate(timeout=HANGS_S)
        assert sender.returncode == 0, err
    assert listed(server, store) == NAMES and left(store) == []
    assert [digest_of(store / name) for name in NAMES] == [digest_of(run) for run in runs]


def test_who_is_refused_before_it_has_sent_all_hears_why(serve, runs, disk, tmp_path):
    # More than the buffers of a connection hold: the server answers and takes no more.
    noise = runs[0] / "points" / sorted(os.listdir(runs[0] / "points"))[0] / "noise.bin"
    noise.write_bytes(random.Random(7).randbytes(48 << 20))
    server = serve(disk.path / "home", "--receive")
    disk.leave(KEPT_FREE - (1 << 20))
    code, _, err = sent(tmp_path, NAME, "--to", server.address, "--give-up-after", "1s")
    assert code == 4 and "its store has no room left (255 MiB free" in err and "pipe" not in err and "reset" not in err


@with_ssh
@pytest.mark.parametrize("scheme", ["sftp", "scp"])
def test_a_full_disk_behind_ssh_is_told_and_waited_for(runs, tmp_path, scheme):
    with small_disk(tmp_path / "ssh" / "in box", 8 << 20) as disk, ssh_server(tmp_path / "ssh") as server:
        words = ["--to", server.url(f"/{server.inbox}".replace(" ", "%20"), scheme=scheme), *server.words]
        disk.leave(4096)
        code, _, err = sent(tmp_path, NAME, *words, "--give-up-after", "1s")
        assert code == 4 and "it has no room left" in err, err
        assert server.files() == ["lost+found"]
        disk.relieve()
        assert sent(tmp_path, NAME, *words)[0] == 0
        assert [name for name in server.files() if name.endswith(ENDING)] == [name for name in server.files() if name != "lost+found"] != []


def test_a_full_disk_behind_ftp_is_told_and_waited_for(runs, tmp_path):
    with small_disk(tmp_path / "ftp" / "in box", 8 << 20) as disk, python_server("ftp_server", tmp_path / "ftp", scheme="ftp") as server:
        words = ["--to", server.url(user=f"lab:{PASSWORD}")]
        disk.leave(4096)
        code, _, err = sent(tmp_path, NAME, *words, "--give-up-after", "1s")
        # This server says nothing of the disk, but that it went no further.
        assert code == 4 and "it ended the upload in the middle (426 " in err and "its disk may be full" in err, err
        assert server.files() == ["lost+found"]
        disk.relieve()
        assert sent(tmp_path, NAME, *words)[0] == 0
        assert len(server.files()) == 2


def test_a_server_of_ftps_that_breaks_off_without_a_word_is_not_waited_for(runs, tmp_path, monkeypatch, capsys):
    # This server drops the connection for the data, and says nothing to anybody.
    monkeypatch.setattr("plimsoll.delivery.ftp._EXPLAINS_S", 0.5)
    monkeypatch.chdir(tmp_path)
    plimsoll, cert = in_this_process(capsys), certificate(tmp_path / "tls")
    with (
        small_disk(tmp_path / "ftp" / "in box", 8 << 20) as disk,
        python_server("ftp_server", tmp_path / "ftp", f"cert={cert}", scheme="ftps") as server,
    ):
        words = ["--to", server.url(user=f"lab:{PASSWORD}"), "--ca", str(cert)]
        disk.leave(4096)
        said = plimsoll("send", NAME, *words, "--give-up-after", "1s")
        assert said.code == 4 and "it closed the connection of the upload and does not say why; its disk may be full" in said.err, said.err
        assert server.files() == ["lost+found"]
        disk.relieve()
        assert plimsoll("send", NAME, *words).code == 0
        assert len(server.files()) == 2


def test_a_full_stick_is_told_at_once(runs, tmp_path):
    with small_disk(tmp_path / "stick", 8 << 20) as disk:
        words = ["--to", f"file:{disk.path / 'results'}"]
        assert sent(tmp_path, NAMES[1], *words)[0] == 0
        disk.leave(4096)
        code, _, err = sent(tmp_path, NAME, *words)
        assert code == 5 and f"there is no room left for {NAME} (" in err and "make room there and send it again" in err
        assert os.listdir(disk.path / "results") == [NAMES[1]]
        assert digest_of(disk.path / "results" / NAMES[1]) == digest_of(runs[1])
        disk.relieve()
        # What was not delivered is still noted.
        assert sent(tmp_path, "--unsent")[0] == 0
        assert sorted(os.listdir(disk.path / "results")) == NAMES[:2]


def test_a_sender_without_room_for_the_parcel_says_where(runs, tmp_path, monkeypatch):
    with small_disk(tmp_path / "tmp", 8 << 20) as disk:
        monkeypatch.setenv("TMPDIR", str(disk.path))
        disk.leave(4096)
        code, _, err = sent(tmp_path, NAME, "--to", f"file:{tmp_path / 'stick'}")
        assert code == 5 and f"cannot be packed (no space left on device); free some space in {disk.path}" in err
