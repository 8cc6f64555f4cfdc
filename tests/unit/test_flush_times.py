"""What the kernel tells of fdatasync: entries and returns are paired by thread, and what was lost is said. The real kernel as root."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from plimsoll.monitor.flush_times import INSTANCES, FlushTimes

_FLUSHING = """
import os, sys
sys.stdin.readline()
file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
child = os.fork()
for _ in range(20):
    os.pwrite(file, b"x", 0)
    os.fdatasync(file)
os.fsync(file)
if child:
    os.waitpid(child, 0)
"""
_ENTRY, _RETURN = "sys_fdatasync(fd: 5)", "sys_fdatasync -> 0x0"


def line(thread: int, micros: int, what: str) -> str:
    return f"     a name-1-{thread}    [001] ..... 59323.{micros:06}: {what}\n"


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FlushTimes]:
    """Of a folder in place of the kernel's, whose pipe holds nothing yet."""
    made = tmp_path / f"plimsoll-flushes-{os.getpid()}"

    def with_files(path: str) -> None:
        patched.undo()
        os.mkdir(path)
        for name in ("options", "events/syscalls/sys_enter_fdatasync", "events/syscalls/sys_exit_fdatasync", "per_cpu/cpu0"):
            (made / name).mkdir(parents=True)
        (made / "trace_pipe").touch()
        (made / "per_cpu/cpu0/stats").write_text("entries: 0\noverrun: 0\ncommit overrun: 0\ndropped events: 0\n")

    with monkeypatch.context() as patched:
        patched.setattr(os, "mkdir", with_files)
        times = FlushTimes([17, 18], str(tmp_path))
    assert (made / "set_event_pid").read_text() == "17 18"
    yield times
    times.close()


def tell(times: FlushTimes, text: str) -> None:
    with open(os.path.join(times._home, "trace_pipe"), "a", encoding="ascii") as pipe:
        pipe.write(text)
    times.read()


def test_returns_are_paired_with_the_entries_of_their_thread(recorded: FlushTimes) -> None:
    tell(recorded, line(17, 100, _ENTRY) + line(18, 150, _ENTRY) + line(17, 400, _RETURN) + line(18, 1150, _RETURN))
    assert recorded.took_ns == [300_000, 1_000_000]
    recorded.stop()
    assert recorded.is_whole


def test_a_line_may_come_in_two_parts_and_one_that_failed_or_began_before_is_left_out(recorded: FlushTimes) -> None:
    text = line(17, 50, _RETURN) + line(17, 100, _ENTRY) + line(17, 400, _RETURN)
    tell(recorded, text[:-40])
    assert recorded.took_ns == []
    tell(recorded, text[-40:])
    tell(recorded, line(17, 500, _ENTRY) + line(17, 600, "sys_fdatasync -> 0xfffffffffffffffb"))
    assert recorded.took_ns == [300_000]


def test_what_was_lost_is_said(recorded: FlushTimes) -> None:
    tell(recorded, "CPU:1 [LOST 25 EVENTS]\n")
    assert not recorded.is_whole


def test_what_a_full_buffer_left_away_is_said(recorded: FlushTimes) -> None:
    Path(recorded._home, "per_cpu/cpu0/stats").write_text("entries: 0\noverrun: 0\ncommit overrun: 0\ndropped events: 3\n")
    recorded.stop()
    assert not recorded.is_whole


def test_without_the_kernels_leave_there_is_none(tmp_path: Path) -> None:
    with pytest.raises(OSError):
        FlushTimes([1], str(tmp_path / "nothing"))
    with pytest.raises(OSError):
        FlushTimes([1], str(tmp_path))
    assert not [path for path in tmp_path.iterdir() if (path / "events").exists()]


def test_the_kernel_tells_of_every_flush_of_a_process_and_its_child_and_nothing_stays(tmp_path: Path) -> None:
    left = Path(INSTANCES) / "plimsoll-flushes-4194999"
    with subprocess.Popen([sys.executable, "-c", _FLUSHING, str(tmp_path / "file")], stdin=subprocess.PIPE) as process:
        try:
            # Of a process that is gone: numbers end at 4194304.
            left.mkdir()
            times = FlushTimes([process.pid])
        except OSError as problem:
            process.kill()
            with suppress(OSError):
                left.rmdir()
            pytest.skip(f"skipped: the kernel does not let us trace system calls ({problem.strerror})")
        try:
            process.communicate(b"\n")
            times.read()
            times.stop()
        finally:
            times.close()
    assert len(times.took_ns) == 40
    assert all(0 <= took_ns < 60e9 for took_ns in times.took_ns)
    assert times.is_whole
    assert not [name for name in os.listdir(INSTANCES) if name in (left.name, f"plimsoll-flushes-{os.getpid()}")]
