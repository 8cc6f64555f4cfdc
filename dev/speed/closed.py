"""Goals for the closed loop: what one I/O costs on ``null``, on io_uring NOPs and on the holes of a sparse file."""

from __future__ import annotations

from collections.abc import Callable

from speed.fio import TUNED, Fio, on_file
from speed.load import Load, per_cpu_s, user_ns_per_io
from speed.row import Row, millions
from speed.setting import NO_FIO, Setting

Loads = dict[str, list[Load]]
Contestants = dict[str, Callable[[int], Load]]


def rows(setting: Setting) -> list[Row]:
    """All goals of this group."""
    found = [row for depth in (1, 32) for row in _null(setting, depth)]
    found += [row for depth in (32, 128) for row in _nop(setting, depth)]
    return found + _hole_deep(setting) + _hole_single(setting)


def _null(setting: Setting, depth: int) -> list[Row]:
    fio = setting.fio
    what = f"null, queue depth {depth}"
    contestants: Contestants = {"plimsoll": lambda _: setting.plimsoll.run("null:", seconds=setting.seconds, queue_depth=depth)}
    if fio is not None:
        contestants["fio"] = lambda _: fio.run(seconds=setting.seconds, ioengine="null", iodepth=depth)
    return [_ratio(what, 5.0, setting.interleaved(what, contestants), "fio")]


def _nop(setting: Setting, depth: int) -> list[Row]:
    ring_loop = setting.ring_loop
    what = f"nop, queue depth {depth}"
    contestants: Contestants = {
        "plimsoll": lambda _: setting.plimsoll.run("null:", seconds=setting.seconds, backend="nop", queue_depth=depth)
    }
    if ring_loop is None:
        return [_user(what, 35.0, setting.interleaved(what, contestants))]
    contestants["t/io_uring"] = lambda _: ring_loop.run(seconds=setting.seconds, depth=depth)
    return [_ratio(what, 0.85, setting.interleaved(what, contestants), "t/io_uring")]


def _hole_deep(setting: Setting) -> list[Row]:
    hole, what = setting.holes[0], "hole, queue depth 32"
    contestants: Contestants = {"plimsoll": lambda _: setting.plimsoll.run(hole, seconds=setting.seconds, queue_depth=32)}
    if setting.fio is not None:
        contestants |= _fio_pair(setting.fio, hole, setting.seconds)
    loads = setting.interleaved(what, contestants)
    return [_ratio(what, 3.0, loads, "fio"), _ratio(what, 1.3, loads, "fio tuned"), _user(what, 60.0, loads)]


def _fio_pair(fio: Fio, hole: str, seconds: float) -> Contestants:
    job = on_file(hole, depth=32)
    return {
        "fio": lambda _: fio.run(seconds=seconds, **job),
        "fio tuned": lambda _: fio.run(seconds=seconds, **job, **TUNED),
    }


def _hole_single(setting: Setting) -> list[Row]:
    fio, hole, what = setting.fio, setting.holes[0], "hole, queue depth 1"
    contestants: Contestants = {"plimsoll": lambda _: setting.plimsoll.run(hole, seconds=setting.seconds, queue_depth=1)}
    if fio is not None:
        contestants["fio"] = lambda _: fio.run(seconds=setting.seconds, **on_file(hole, depth=1))
    return [_ratio(what, 2.0, setting.interleaved(what, contestants), "fio")]


def _ratio(what: str, goal: float, loads: Loads, peer: str) -> Row:
    unit = f"× {peer}"
    ours = per_cpu_s(loads["plimsoll"])
    if peer not in loads:
        return Row(what, "at least", goal, unit, None, f"{NO_FIO}; Plimsoll does {millions(ours)} per CPU-second")
    theirs = per_cpu_s(loads[peer])
    return Row(what, "at least", goal, unit, ours / theirs, f"{millions(ours)} against {millions(theirs)} per CPU-second")


def _user(what: str, goal: float, loads: Loads) -> Row:
    ours = loads["plimsoll"]
    others = [f"{name} {user_ns_per_io(theirs):.0f}" for name, theirs in loads.items() if name != "plimsoll"]
    beside = f"; ns of {', '.join(others)}" if others else ""
    return Row(what, "at most", goal, "ns user time", user_ns_per_io(ours), f"{millions(per_cpu_s(ours))} per CPU-second{beside}")
