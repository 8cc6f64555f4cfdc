"""What others do before a run: counted while the command prepares, without what it reads and writes itself."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.__main__ import main as entry
from plimsoll.cli import main
from plimsoll.monitor.moment import Moment, moment
from plimsoll.monitor.others import Others
from plimsoll.store.writer import RunInfo, RunWriter
from plimsoll.stored import Inspection
from plimsoll.target import Target
from support.scripted_engine import ScriptedEngine

#: Reads completed and written by then, in /proc/diskstats.
_DISK = "8 0 sda {reads} 0 0 0 {writes} 0 0 0 0 0 0 0 0 0 0 0 0"


def at(ms: int, *, reads: int = 0, own_io: str | None = "0", user_ticks: int = 0, own_s: float = 0.0) -> Moment:
    """Four processors, all of whose time is idle or in user mode."""
    ticks = f"cpu {user_ticks} 0 0 {4 * ms // 10 - user_ticks} 0 0 0 0"
    texts = {"diskstats": _DISK.format(reads=reads, writes=0), "stat": ticks}
    return Moment(ms * 1_000_000, texts, own_s, own_io)


class Script:
    """Gives the moments one after the other, and keeps what was waited for."""

    def __init__(self, *moments: Moment) -> None:
        self._moments: Iterator[Moment] = iter(moments)
        self.waited: list[float] = []

    def others(self) -> Others:
        return Others(next(self._moments), lambda: next(self._moments), self.waited.append)


def test_what_passed_while_the_command_prepared_is_not_waited_for_again() -> None:
    script = Script(at(0), at(150, reads=30), at(250, reads=50))
    others = script.others()
    others.mark()
    activity = others.activity(0.2, ["sda"])
    assert script.waited == []
    assert activity["seconds"] == 0.25 and activity["devices"] is not None and activity["devices"]["sda"]["r_per_s"] == 200.0


def test_only_what_is_missing_is_waited_for() -> None:
    script = Script(at(0), at(120), at(200, reads=20))
    assert script.others().activity(0.2, ["sda"])["devices"] == {"sda": {"r_per_s": 100.0, "w_per_s": 0.0}}
    assert script.waited == [pytest.approx(0.08)]


@pytest.mark.parametrize("own_io", ["4096", None])
def test_what_the_command_read_itself_is_not_taken_for_that_of_others(own_io: str | None) -> None:
    script = Script(at(0), at(100, reads=1), at(150, reads=9000, own_io=own_io), at(250, reads=9001, own_io=own_io))
    others = script.others()
    others.mark()
    activity = others.activity(0.2, ["sda"])
    assert script.waited == [pytest.approx(0.1)]
    assert activity["devices"] == {"sda": {"r_per_s": 10.0, "w_per_s": 0.0}}


def test_where_the_kernel_does_not_say_what_the_command_read_everything_is_waited_for() -> None:
    script = Script(at(0, own_io=None), at(150, reads=700, own_io=None), at(350, reads=702, own_io=None))
    assert script.others().activity(0.2, ["sda"])["devices"] == {"sda": {"r_per_s": 10.0, "w_per_s": 0.0}}
    assert script.waited == [pytest.approx(0.2)]


def test_the_processor_time_of_the_command_is_not_that_of_others() -> None:
    script = Script(at(0), at(200, user_ticks=40, own_s=0.15))
    cpu = script.others().activity(0.2, [])["cpu"]
    assert cpu is not None and (cpu["user_percent"], cpu["own_user_percent"]) == (50.0, 18.75)


def test_a_moment_holds_what_this_process_wrote_to_storage(tmp_path: Path) -> None:
    (tmp_path / "self").mkdir()
    (tmp_path / "self/io").write_text("rchar: 5\nread_bytes: 4096\nwrite_bytes: 0\ncancelled_write_bytes: 0\n")
    assert moment(str(tmp_path)).own_io == "read_bytes: 4096\nwrite_bytes: 0"
    (tmp_path / "self/io").unlink()
    assert moment(str(tmp_path)).own_io is None


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> list[Others]:
    """Whom the quick look before a run asked."""
    asked: list[Others] = []

    def look(_facts: object, others: Others) -> str:
        asked.append(others)
        return "others are at work"

    monkeypatch.setattr("plimsoll.doctor.look.quick_look", look)
    return asked


def test_a_run_is_told_what_was_counted_since_the_command_began_apart_from_when_it_read_its_targets_and_wrote_its_store(
    engine: ScriptedEngine, looked: list[Others], here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "disk").write_bytes(bytes(4096))
    happened: list[object] = []
    inspect, create = engine.inspect_target, RunWriter.create

    def made(others: Others, begun: Moment | None = None) -> None:
        happened.append(begun)

    def marked(_: Others) -> None:
        happened.append("marked")

    def inspected(target: Target) -> Inspection:
        happened.append("read")
        return inspect(target)

    def created(out: str, info: RunInfo) -> RunWriter:
        happened.append("stored")
        return create(out, info)

    monkeypatch.setattr(Others, "__init__", made)
    monkeypatch.setattr(Others, "mark", marked)
    monkeypatch.setattr(engine, "inspect_target", inspected)
    monkeypatch.setattr(RunWriter, "create", created)
    begun = at(0)
    assert main(["run", "small.toml", "-t", "disk"], begun=begun) == 0
    assert happened[:6] == [begun, "marked", "read", "marked", "stored", "marked"] and len(looked) == 1
    assert "before the start: others are at work" in capsys.readouterr().err


def test_the_rest_of_the_look_is_waited_for_when_the_load_is_ready_and_before_gigabytes_are_made(
    engine: ScriptedEngine, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    happened: list[str] = []
    prepare, run_job = engine.prepare_target, engine.run_job
    monkeypatch.setattr("plimsoll.doctor.look.quick_look", lambda _facts, _others: happened.append("looked") or "")
    monkeypatch.setattr(engine, "prepare_target", lambda *words: happened.append("prepared") or prepare(*words))
    monkeypatch.setattr(engine, "run_job", lambda *words: happened.append("load") or run_job(*words))
    (here / "disk").write_bytes(bytes(4096))
    assert main(["run", "small.toml", "-t", "disk", "--repeat", "2"]) == 0
    assert happened == ["prepared", "looked", "load", "load"]
    happened.clear()
    assert main(["run", "small.toml", "-t", "missing"]) == 0
    assert happened == ["looked", "prepared", "load"]


def test_the_command_counts_from_its_first_line_on(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[Moment | None] = []

    def answered(begun: Moment | None = None) -> int:
        given.append(begun)
        return 0

    monkeypatch.setattr("plimsoll.cli.main", answered)
    assert entry() == 0
    assert isinstance(given[0], Moment)


def test_the_first_count_waits_for_no_import() -> None:
    """What `plimsoll.monitor.moment` brings is there when an interpreter has started."""
    command = "import sys, plimsoll; known = set(sys.modules); import plimsoll.monitor.moment; print(*(set(sys.modules) - known))"
    said = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True).stdout
    assert set(said.split()) <= {"plimsoll.monitor", "plimsoll.monitor.moment", "time"}
