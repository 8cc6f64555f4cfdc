"""Goal for percentiles: at equal rate the latencies that Plimsoll and fio see of one disk lie within five percent of each other.

Both read 4 KiB at random from a file on a disk, through io_uring and directly, by turns and at a constant rate: far below what the disk
can do, and at half of what fio reaches with 32 requests outstanding. Outstanding all the time they would have the rates that each reaches,
and their mean latencies would follow from those (Little). Compared are medians over the rounds. Ours begins before the call that hands a
request over. So does what fio calls lat; its clat begins when that call has returned. Limits: a disk that others use differs more from
round to round than the two tools do; what fio's own rounds are apart stands beside, and a percentile in which they are further apart than
the goal is not judged, save the median if all are. An equal rate is no equal load: before fio sleeps until its next request is due it waits
for all that are outstanding (``io_u_quiesce`` in its ``rate_ddir``), so that its requests come in bursts that do not overlap.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from statistics import median

from speed import process
from speed.fio import Fio, on_file
from speed.row import Row
from speed.setting import NO_FIO, Setting

GOAL_PERCENT = 5.0
BYTES = 512 << 20
RATE = 5_000
PERCENTILES = {"p50": "50.000000", "p90": "90.000000", "p99": "99.000000"}

Latencies = dict[str, float]


def rows(setting: Setting) -> list[Row]:
    """All goals of this group."""
    path = Path(setting.holes[0]).parent / "filled"
    _fill(path)
    rates = [RATE] if setting.fio is None else [RATE, _half_of_most(setting.fio, setting.seconds, path)]
    return [_row(setting, path, rate) for rate in rates]


def _fill(path: Path) -> None:
    with path.open("wb") as file:
        for _ in range(BYTES >> 20):
            file.write(os.urandom(1 << 20))
        file.flush()
        os.fsync(file.fileno())


def _on_filled(path: Path) -> dict[str, object]:
    # Not longer than the file, which fio would make longer, with parts that no disk has to read.
    return {**on_file(str(path), depth=32), "size": BYTES}


def _half_of_most(fio: Fio, seconds: float, path: Path) -> int:
    """In whole thousands a second, so that runs can be told apart by it."""
    most = fio.run(seconds=seconds, **_on_filled(path))
    return max(1, round(most.count / most.seconds / 2_000)) * 1_000


def _row(setting: Setting, path: Path, rate: int) -> Row:
    what, fio, seconds = f"4 KiB reads of a disk, {rate:,} a second: latency", setting.fio, 3 * setting.seconds
    if fio is None:
        return Row(what, "at most", GOAL_PERCENT, "% apart", None, NO_FIO)
    plimsoll = setting.plimsoll.argv(str(path), seconds=seconds, queue_depth=32, arrival="constant", rate=rate)
    job = fio.argv(seconds=seconds, **_on_filled(path), rate_iops=rate, lat_percentiles=1)
    contestants = {
        "plimsoll": lambda _: _service(setting.plimsoll.result(process.run(plimsoll))),
        "fio": lambda _: _lat(process.run(job).stdout),
    }
    found = setting.interleaved(what, contestants, turning=True)
    if "fio" not in found:
        return Row(what, "at most", GOAL_PERCENT, "% apart", None, setting.refused[(what, "fio")])
    ratios = {name: median(one[name] for one in found["plimsoll"]) / median(one[name] for one in found["fio"]) for name in PERCENTILES}
    apart = {name: _apart(found["fio"], name) for name in PERCENTILES}
    judged = [name for name in PERCENTILES if apart[name] <= GOAL_PERCENT] or ["p50"]
    detail = "; ".join(_told(found, name, ratios[name], apart[name]) for name in PERCENTILES)
    worst = max(abs(ratios[name] - 1) * 100 for name in judged)
    return Row(what, "at most", GOAL_PERCENT, "% apart", worst, f"{detail}; judged: {', '.join(judged)}")


def _service(result: dict[str, object]) -> Latencies:
    """From hand-over to completion."""
    (stream,) = result["streams"].values()  # type: ignore[attr-defined]
    read = stream["read"]
    return dict(read["service_ns"])


def _lat(printed: str) -> Latencies:
    read = json.loads(printed[printed.index("{") :])["jobs"][0]["read"]
    return {name: read["lat_ns"]["percentile"][key] for name, key in PERCENTILES.items()}


def _apart(rounds: list[Latencies], name: str) -> float:
    """How far the middle half of the rounds is apart, in percent of their median."""
    values = sorted(one[name] for one in rounds)
    quarter = len(values) // 4
    return (values[-1 - quarter] - values[quarter]) / median(values) * 100


def _told(found: dict[str, list[Latencies]], name: str, ratio: float, apart: float) -> str:
    us = {who: median(one[name] for one in rounds) / 1e3 for who, rounds in found.items()}
    return f"{name} {ratio:.3f} × ({us['plimsoll']:.0f} us, fio {us['fio']:.0f} us, whose rounds are {apart:.0f} % apart)"
