"""Goals for starting: the first I/O comes soon after the command, and the help at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

from speed import process
from speed.fio import Fio, on_file
from speed.row import Row
from speed.setting import Setting

SECONDS = 0.1


@dataclass(frozen=True)
class Start:
    """How long a start took by the clock, and the CPU time of the whole command (on a busy machine the steadier one)."""

    clock_ms: float
    cpu_ms: float


def rows(setting: Setting) -> list[Row]:
    """All goals of this group, in milliseconds of wall-clock time."""
    _plimsoll(setting)  # calibrates on a new machine, and brings the files of both into memory
    contestants: dict[str, Callable[[int], Start]] = {"plimsoll": lambda _: _plimsoll(setting), "help": lambda _: _help(setting)}
    fio = setting.fio
    if fio is not None:
        contestants["fio"] = lambda _: _fio(fio, setting.holes[0])
    found = setting.interleaved("start", contestants)
    beside = f"; fio's start and end together {_median_ms(found['fio']):.0f} ms" if "fio" in found else ""
    return [
        _row("command line to first I/O", 250.0, found["plimsoll"], beside),
        _row("plimsoll --help", 150.0, found["help"], ""),
    ]


def _row(what: str, goal_ms: float, found: list[Start], beside: str) -> Row:
    clock = [start.clock_ms for start in found]
    detail = f"{min(clock):.0f} to {max(clock):.0f} ms, CPU time of the command {median(start.cpu_ms for start in found):.0f} ms{beside}"
    return Row(what, "at most", goal_ms, "ms", _median_ms(found), detail)


def _median_ms(found: list[Start]) -> float:
    return median(start.clock_ms for start in found)


def _plimsoll(setting: Setting) -> Start:
    done = process.run(setting.plimsoll.argv(setting.holes[0], seconds=SECONDS, queue_depth=1))
    engine = setting.plimsoll.result(done)["engine"]
    return Start((engine["start"]["monotonic_ns"] + engine["first_io_ns"] - done.started_ns) / 1e6, done.cpu_ns / 1e6)


def _help(setting: Setting) -> Start:
    done = process.run([setting.plimsoll.command, "--help"])
    return Start(done.wall_ns / 1e6, done.cpu_ns / 1e6)


def _fio(fio: Fio, hole: str) -> Start:
    done = process.run(fio.argv(seconds=SECONDS, **on_file(hole, depth=1)))
    return Start(done.wall_ns / 1e6 - SECONDS * 1e3, done.cpu_ns / 1e6)
