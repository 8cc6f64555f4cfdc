"""Goals for the closed loop: what one I/O costs on ``null``, on io_uring NOPs and on the holes of a sparse file.

The limit of a ring is our own bare loop, which is always there, and fio's ``t/io_uring`` where it is at hand. Each row tells the median,
the best and the spread; one whose rounds differ by more than a tenth is measured once more, and all rounds count.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import median

from speed.fio import TUNED, Fio, on_file
from speed.load import Load, per_cpu_s, user_ns_per_io
from speed.row import Row, millions
from speed.setting import NO_FIO, Setting

#: Spread of the rounds, best less worst by their median, from which on they are repeated.
SPREAD_MAX = 0.1

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
    return [_ratio(setting, what, 5.0, _measured(setting, what, contestants), "fio")]


def _nop(setting: Setting, depth: int) -> list[Row]:
    what = f"nop, queue depth {depth}"
    contestants: Contestants = {
        "plimsoll": lambda _: setting.plimsoll.run("null:", seconds=setting.seconds, backend="nop", queue_depth=depth),
        **_rings(setting, depth, None),
    }
    loads = _measured(setting, what, contestants)
    return [_user(what, 35.0, loads), *(_ratio(setting, what, 0.95, loads, peer) for peer in ("a bare ring", "t/io_uring"))]


def _rings(setting: Setting, depth: int, path: str | None) -> Contestants:
    """The limits that are at hand, of NOPs or of reads of a file."""
    found: Contestants = {}
    if (bare := setting.bare_ring) is not None:
        found["a bare ring"] = lambda _: bare.run(seconds=setting.seconds, depth=depth, path=path)
    if (ring_loop := setting.ring_loop) is not None and path is None:
        found["t/io_uring"] = lambda _: ring_loop.run(seconds=setting.seconds, depth=depth, path=setting.holes[0])
    return found


def _measured(setting: Setting, what: str, contestants: Contestants) -> Loads:
    loads = setting.interleaved(what, contestants)
    if max(map(_spread, loads.values())) > SPREAD_MAX:
        for name, more in setting.interleaved(what, contestants).items():
            loads.setdefault(name, []).extend(more)
    return {name: found for name, found in loads.items() if (what, name) not in setting.refused}


def _spread(loads: list[Load]) -> float:
    rates = [load.per_cpu_s for load in loads]
    return (max(rates) - min(rates)) / median(rates) if rates else 0.0


def _hole_deep(setting: Setting) -> list[Row]:
    hole, what = setting.holes[0], "hole, queue depth 32"
    contestants: Contestants = {"plimsoll": lambda _: setting.plimsoll.run(hole, seconds=setting.seconds, queue_depth=32)}
    if setting.fio is not None:
        contestants |= _fio_pair(setting.fio, hole, setting.seconds)
    contestants |= _rings(setting, 32, hole)
    loads = _measured(setting, what, contestants)
    return [
        _ratio(setting, what, 3.0, loads, "fio"),
        _ratio(setting, what, 1.3, loads, "fio tuned"),
        _ratio(setting, what, 0.97, loads, "a bare ring"),
        _user(what, 60.0, loads),
    ]


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
    return [_ratio(setting, what, 2.0, _measured(setting, what, contestants), "fio")]


def _ratio(setting: Setting, what: str, goal: float, loads: Loads, peer: str) -> Row:
    unit = f"× {peer}"
    ours = loads["plimsoll"]
    if peer not in loads:
        why = setting.refused.get((what, peer)) or (NO_FIO if peer.startswith("fio") else f"{peer} is not at hand")
        return Row(what, "at least", goal, unit, None, f"{why}; Plimsoll does {_told(ours)}")
    theirs = loads[peer]
    return Row(what, "at least", goal, unit, per_cpu_s(ours) / per_cpu_s(theirs), f"{_told(ours)} against {_told(theirs)}")


def _told(loads: list[Load]) -> str:
    best = max(load.per_cpu_s for load in loads)
    return f"{millions(per_cpu_s(loads))} per CPU-second (best {millions(best)}, spread {_spread(loads):.0%} of {len(loads)})"


def _user(what: str, goal: float, loads: Loads) -> Row:
    ours = loads["plimsoll"]
    others = [f"{name} {user_ns_per_io(theirs):.0f}" for name, theirs in loads.items() if name != "plimsoll"]
    beside = f"; ns of {', '.join(others)}" if others else ""
    return Row(what, "at most", goal, "ns user time", user_ns_per_io(ours), f"{_told(ours)}{beside}")
