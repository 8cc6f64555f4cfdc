"""fio's JSON and JSON+ as text: the keys of version 3.33 in its order, integers where it has integers, six digits elsewhere.

Model: the document is that of a job file with one section per stream, points being groups that waited for each other. The version is fio's
with ours behind it, ``fio-3.33-plimsoll-0.1.0``, in the form of an fio built from source, so that readers take it and people see where it
comes from. JSON+ adds every bin of every distribution.

    json_text([Recorded(result, intervals, monitor)], plus=False)
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from plimsoll.formats.fio.results.bins import value_of
from plimsoll.formats.fio.results.figures import (
    DEPTHS,
    LATENCY_STEPS,
    SUBMIT_ROWS,
    Figures,
    Move,
    Samples,
    Spread,
    disk_use,
    jobs,
    require_bins,
)
from plimsoll.formats.stored_point import Recorded
from plimsoll.result import Result
from plimsoll.stored import Json

FORM = "fio-3.33"
_DEPTH_ROWS = (*map(str, DEPTHS), ">=64")
_STEPS = tuple(map(str, LATENCY_STEPS))
_MS_STEPS = (*_STEPS, "2000", ">=2000")


def json_text(points: Sequence[Recorded], *, plus: bool = False) -> str:
    """The whole document; raises `InputError` for JSON+ of a point whose distributions are not stored."""
    return "\n".join(_lines(document(points, plus=plus), 0)) + "\n"


def document(points: Sequence[Recorded], *, plus: bool) -> Json:
    """The same as values."""
    figures = [figure for group, point in enumerate(points) for figure in jobs(point, group)]
    if plus:
        require_bins(figures)
    last = points[-1].result
    ended = datetime.fromisoformat(last.started) + timedelta(seconds=figures[-1].elapsed_s) if last.started else datetime.fromtimestamp(0)
    shared = _shared([figure.options for figure in figures])
    disks = disk_use(points)
    return {
        "fio version": version(last),
        "timestamp": int(ended.timestamp()),
        "timestamp_ms": int(ended.timestamp() * 1000),
        "time": ended.strftime("%a %b %d %H:%M:%S %Y"),
        **({"global options": shared} if len(figures) > 1 else {}),
        "jobs": [_job(figure, shared if len(figures) > 1 else {}, plus=plus) for figure in figures],
        **({"disk_util": disks} if disks else {}),
    }


def version(result: Result) -> str:
    """The form of fio with what wrote it."""
    ours = result.plimsoll_version
    return f"{FORM}-plimsoll-{ours}" if ours else result.origin or FORM


def _shared(options: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """What every job has in common and readers do not look for in the jobs themselves."""
    names = ("ioengine", "direct", "time_based", "runtime", "ramp_time", "randseed", "group_reporting")
    return {name: options[0][name] for name in names if name in options[0] and all(one.get(name) == options[0][name] for one in options)}


def _job(figures: Figures, shared: Mapping[str, str], *, plus: bool) -> Json:
    return {
        "jobname": figures.name,
        "groupid": figures.group,
        "error": figures.error,
        "eta": 0,
        "elapsed": figures.elapsed_s,
        "job options": {name: value for name, value in figures.options.items() if name not in shared},
        **{op: _move(figures, op, plus=plus) for op in figures.moves},
        "sync": {"total_ios": figures.sync.n, "lat_ns": _spread(figures.sync, percentiles=True, plus=plus)},
        "job_runtime": figures.runtime_ms,
        "usr_cpu": figures.usr_cpu,
        "sys_cpu": figures.sys_cpu,
        "ctx": 0,
        "majf": 0,
        "minf": 0,
        "iodepth_level": dict(zip(_DEPTH_ROWS, figures.depths, strict=True)),
        "iodepth_submit": dict.fromkeys(SUBMIT_ROWS, 0.0),
        "iodepth_complete": dict.fromkeys(SUBMIT_ROWS, 0.0),
        "latency_ns": dict(zip(_STEPS, figures.latency_ns, strict=True)),
        "latency_us": dict(zip(_STEPS, figures.latency_us, strict=True)),
        "latency_ms": dict(zip(_MS_STEPS, figures.latency_ms, strict=True)),
        "latency_depth": figures.depth,
        "latency_target": 0,
        "latency_percentile": 100.0,
        "latency_window": 0,
    }


def _move(figures: Figures, op: str, *, plus: bool) -> Json:
    move = figures.moves[op]
    total = move.total
    return {
        "io_bytes": total.bytes,
        "io_kbytes": total.bytes // 1024,
        "bw_bytes": int(total.bytes_per_s),
        "bw": int(total.bytes_per_s) // 1024,
        "iops": float(total.iops),
        "runtime": move.runtime_ms,
        "total_ios": total.count,
        "short_ios": 0,
        "drop_ios": 0,
        "slat_ns": _spread(Spread(), percentiles=False, plus=False),
        "clat_ns": _spread(move.completion, percentiles=True, plus=plus),
        "lat_ns": _spread(move.latency, percentiles=figures.is_open, plus=plus and figures.is_open),
        **_samples("bw", move.kib_per_s, ("dev", figures.share[op])),
        **_iops(move),
    }


def _spread(spread: Spread, *, percentiles: bool, plus: bool) -> Json:
    values: Json = {"min": spread.min, "max": spread.max, "mean": float(spread.mean), "stddev": float(spread.stddev), "N": spread.n}
    if percentiles and spread.n:
        values["percentile"] = {f"{percent:.6f}": value for percent, value in spread.percentiles.items()}
    if plus and spread.n:
        values["bins"] = {str(value_of(index)): count for index, count in spread.counts.items()}
    return values


def _samples(name: str, samples: Samples, deviation: tuple[str, float]) -> Json:
    word, share = deviation
    return {
        f"{name}_min": int(samples.min),
        f"{name}_max": int(samples.max),
        f"{name}_agg": share,
        f"{name}_mean": float(samples.mean),
        f"{name}_{word}": float(samples.dev),
        f"{name}_samples": samples.n,
    }


def _iops(move: Move) -> Json:
    samples = move.iops
    return {
        "iops_min": int(samples.min),
        "iops_max": int(samples.max),
        "iops_mean": float(samples.mean),
        "iops_stddev": float(samples.dev),
        "iops_samples": samples.n,
    }


def _lines(value: Any, depth: int, head: str = "", tail: str = "") -> Iterator[str]:
    """The value as fio prints it: two blanks per level, blanks around colons."""
    margin = "  " * depth
    if not isinstance(value, (dict, list)):
        yield f"{margin}{head}{_scalar(value)}{tail}"
        return
    opening, closing = ("{", "}") if isinstance(value, dict) else ("[", "]")
    yield f"{margin}{head}{opening}"
    entries = list(value.items()) if isinstance(value, dict) else [(None, entry) for entry in value]
    for position, (key, entry) in enumerate(entries, start=1):
        name = "" if key is None else f"{json.dumps(key)} : "
        yield from _lines(entry, depth + 1, name, "," if position < len(entries) else "")
    yield f"{margin}{closing}{tail}"


def _scalar(value: Any) -> str:
    return f"{value:.6f}" if isinstance(value, float) else json.dumps(value, ensure_ascii=False)
