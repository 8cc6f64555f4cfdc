"""A target that does not hold what it acknowledged has failed, each write is named, and the host of a journal keeps what it is sent."""

from __future__ import annotations

import socket
import struct
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from plimsoll.analysis.point.definition import overwrites
from plimsoll.analysis.point.verification import broken_promises, listed, verified
from plimsoll.engine import block as block_engine
from plimsoll.errors import InputError
from plimsoll.journal_host import JournalHost
from plimsoll.reports.terminal.details import journal_text
from support.made_results import Load, made
from support.patience import HANGS_S
from support.said import Plimsoll
from support.scripted_engine import Script, ScriptedEngine

WRITE = {
    "kind": "lost",
    "sequence": 812,
    "address": 8192,
    "len": 4096,
    "acknowledged_ns": 3_210_000_000,
    "bad_sectors": 8,
    "first_bad": 8192,
}
CLEAN = {
    "did": "checked",
    "journal": "cut.journal",
    "acknowledged": 12_345,
    "sectors_checked": 98_760,
    "sectors_excused": 8,
    "complete": True,
    "counts": {},
    "violations": [],
}
BROKEN = {**CLEAN, "counts": {"lost": 30, "torn": 1}, "violations": [WRITE] * 31}
CHECKING = '[[stream]]\nname = "main"\nread_percent = 0\ndsync = true\nverify = "journal-check"\n'


def test_a_broken_word_is_wrong_data_with_its_own_exit_code(plimsoll: Plimsoll, engine: ScriptedEngine, here: Path) -> None:
    (here / "check.toml").write_text(CHECKING)
    (here / "t.dat").write_bytes(b"\0" * 65536)
    before = (here / "t.dat").stat()
    engine.scripts = [Script(intervals=0, warmup_intervals=0, outcome={"journal": BROKEN})]
    said = plimsoll("run", "check.toml", "-t", "t.dat", "--set", "journal=cut.journal")
    assert said.code == 6
    assert "the target broke its word: 30 lost, 1 torn of 12,345 acknowledged writes, first at byte 8,192." in said.text
    assert "lost          write 812: 4 KiB at byte 8,192, acknowledged after 3.21 s" in said.out
    assert "and 11 more; result.json of the point names all 31\n" in said.out
    after = (here / "t.dat").stat()
    assert (before.st_mtime_ns, before.st_size) == (after.st_mtime_ns, after.st_size), "the evidence was touched"


def test_a_kept_word_is_no_doubt(plimsoll: Plimsoll, engine: ScriptedEngine, here: Path) -> None:
    (here / "check.toml").write_text(CHECKING)
    (here / "t.dat").write_bytes(b"\0" * 65536)
    engine.scripts = [Script(intervals=0, warmup_intervals=0, outcome={"journal": CLEAN})]
    said = plimsoll("run", "check.toml", "-t", "t.dat", "--set", "journal=cut.journal")
    assert said.code == 0
    assert "all 12,345 acknowledged writes are there (98,760 sectors looked at)" in said.out
    assert "nothing measured:" not in said.out and "wrong data" not in said.out


def test_a_target_that_is_gone_is_not_made_anew_for_a_check(plimsoll: Plimsoll, here: Path) -> None:
    (here / "check.toml").write_text(CHECKING)
    said = plimsoll("run", "check.toml", "-t", "gone.dat", "--set", "journal=cut.journal")
    assert said.code == 2
    assert "gone.dat: it is not there" in said.out + said.err
    assert not (here / "gone.dat").exists()


def test_a_check_changes_nothing_so_it_needs_no_permission() -> None:
    stream = {"name": "main", "read_percent": 0, "verify": "journal"}
    assert overwrites({"stream": [stream]})
    assert not overwrites({"stream": [{**stream, "verify": "journal-check"}]})


@pytest.mark.parametrize(
    ("stream", "sentence"),
    [
        ({"read_percent": 0, "verify": "journal"}, "nothing here asks it for that; set dsync = true"),
        ({"read_percent": 0, "verify": "journal", "dsync": True, "trim_percent": 5}, "cannot tell what a trimmed block holds"),
        ({"read_percent": 0, "verify": "journal", "dsync": True, "content": "zeros"}, "needs content stamps"),
    ],
)
def test_what_cannot_be_held_to_its_word_is_refused(stream: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        block_engine.native().check_workload({"name": "x", "stream": [{"name": "main", **stream}]}, "x.toml")


def test_a_check_is_for_all_streams_or_for_none() -> None:
    streams = [{"name": "a", "verify": "journal-check"}, {"name": "b"}]
    with pytest.raises(InputError, match="for all streams of a workload or for none"):
        block_engine.native().check_workload({"name": "x", "stream": streams}, "x.toml")


def test_how_many_writes_the_result_names_is_said() -> None:
    result = made(Load(iops=100, mean_ns=1e6))
    many = replace(result, engine={**result.engine, "journal": {**BROKEN, "counts": {"lost": 12_000}, "violations": [WRITE] * 10_000}})
    assert journal_text([many]).endswith("and 11,980 more; result.json of the point names the first 10,000 of 12,000")


def test_what_befell_is_told_in_the_order_of_kinds() -> None:
    assert listed({"acknowledged": 9, "counts": {"out_of_order": 2, "lost": 1}}) == "1 lost, 2 out of order of 9 acknowledged writes"
    assert broken_promises({"journal": {"did": "kept", "journal": "x", "begun": 3, "durable": 3}}) is None
    assert broken_promises({}) is None


def test_a_run_that_promised_nothing_says_so() -> None:
    result = made(Load(iops=100, mean_ns=1e6))
    promised = replace(result, engine={**result.engine, "journal": {"did": "kept", "journal": "x", "begun": 7, "durable": 0}})
    assert "0 of 7 writes were acknowledged as durable" in journal_text([promised])
    assert "set dsync = true" in journal_text([promised])
    nothing = replace(result, engine={**result.engine, "journal": {**CLEAN, "acknowledged": 0}})
    assert "nothing was proved" in journal_text([nothing])
    assert verified(nothing).status == "complete"


class Sender:
    """The other side of a journal host."""

    def __init__(self, path: Path) -> None:
        self.host = JournalHost(str(path), ("127.0.0.1", 0))
        self.told: list[bool] = []
        self.kept: list[int] = []
        self._thread = threading.Thread(target=lambda: self.kept.append(self.host.keep(lambda: bool(self.told))))
        self._thread.start()
        self.socket = socket.create_connection(("127.0.0.1", self.host.port), timeout=HANGS_S)

    def send(self, *records: bytes) -> int:
        self.socket.sendall(struct.pack("<I", len(records)) + b"".join(records))
        return int(struct.unpack("<Q", self.socket.recv(8, socket.MSG_WAITALL))[0])

    def end(self) -> int:
        self.socket.close()
        self._thread.join(timeout=HANGS_S)
        return self.kept[0]


def test_a_journal_host_has_what_it_answered_for(tmp_path: Path) -> None:
    sender = Sender(tmp_path / "j")
    assert sender.send(b"a" * 64) == 1
    assert (tmp_path / "j").read_bytes() == b"a" * 64
    assert sender.send(b"b" * 64, b"c" * 64) == 3
    sender.socket.sendall(struct.pack("<I", 5) + b"torn")
    assert sender.end() == 3
    assert (tmp_path / "j").read_bytes() == b"a" * 64 + b"b" * 64 + b"c" * 64


def test_a_journal_host_ends_when_it_is_told_and_at_nonsense(tmp_path: Path) -> None:
    sender = Sender(tmp_path / "j")
    sender.told.append(True)
    assert sender.end() == 0
    sender = Sender(tmp_path / "k")
    sender.socket.sendall(b"GET / HTTP/1.1\r\n\r\n")
    assert sender.end() == 0
    assert (tmp_path / "k").read_bytes() == b""


def test_a_journal_host_writes_over_nothing(tmp_path: Path, plimsoll: Plimsoll) -> None:
    (tmp_path / "j").write_bytes(b"precious")
    said = plimsoll("journal", str(tmp_path / "j"), "--listen", "127.0.0.1:0")
    assert said.code == 2 and "is there already" in said.err
    assert (tmp_path / "j").read_bytes() == b"precious"
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    assert plimsoll("journal", str(tmp_path / "link"), "--listen", "127.0.0.1:0").code == 2
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize(
    "words",
    [
        ("run", "log.toml", "--repeat", "2"),
        ("run", "log.toml", "other.toml"),
        ("steps", "log.toml", "--over", "queue_depth=1,2"),
        ("ramp", "log.toml", "--over", "queue_depth=1..4", "--objective", "p99 <= 5ms"),
    ],
)
def test_a_journal_of_several_points_is_refused_before_the_first(words: tuple[str, ...], plimsoll: Plimsoll, here: Path) -> None:
    for name in ("log.toml", "other.toml"):
        (here / name).write_text(CHECKING.replace("journal-check", "journal"))
    said = plimsoll(*words, "-t", "null:", "--set", "journal=cut.journal")
    assert said.code == 2
    assert "is for a single point, because a journal tells of one" in said.err
    assert not (here / "results").exists()
