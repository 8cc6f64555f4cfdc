"""A trace as measured rows: the responses of a quarter of its time each, which an array is to give when the trace is replayed at it.

Model: a request belongs to the quarter in which it was answered; what was answered after the last belongs to it. The trace is replayed at
the instants that it says, at addresses as they are; of a target that is smaller they are taken in proportion.
Limits: all requests count, of every kind and target; requests whose response the trace does not say are replayed and not counted.

    measured_parts("hm_0.csv", "array:nvme")     # [(row of part 1, load), …]
"""

from __future__ import annotations

from plimsoll.analysis.array_fit.figure import of_part, quantiles
from plimsoll.analysis.array_fit.row import Row
from plimsoll.engine.block import native
from plimsoll.errors import InputError
from plimsoll.points.array_runs import Load
from plimsoll.points.traces import Choice, compact_of, header_of, trace_file
from plimsoll.target import target_of

_PARTS = 4
#: Fewer responses tell nothing of how they are distributed.
_LEAST = 20
_OUTSTANDING = 1024
_BUFFER_BYTES = 256 << 20


def measured_parts(path: str, target: str) -> list[tuple[Row, Load]]:
    """Rows with one load; `InputError` for a trace without times or responses."""
    compact = compact_of(Choice(path))
    header = header_of(compact)
    if not header["timed"] or not header["span_ns"]:
        raise InputError(f"{path}: the trace has no times, so it cannot be replayed as it was recorded; give one with times.")
    part_ns = int(header["span_ns"]) // _PARTS + 1
    parts = _responses(path, part_ns)
    few = next((part for part, responses in enumerate(parts, start=1) if len(responses) < _LEAST), None)
    if few is not None:
        raise InputError(
            f"{path}: part {few} of {_PARTS} has fewer than {_LEAST} responses; give a trace that says when requests were answered."
        )
    load = _load(path, compact, target, sum(map(len, parts)), part_ns)
    rows = []
    for part, responses in enumerate(parts, start=1):
        mean_ns = sum(responses) / len(responses)
        rows.append((Row(f"{path}, part {part}", {"part": float(part)}, mean_ns, of_part(part), quantiles(responses)), load))
    return rows


def _responses(path: str, part_ns: int) -> list[list[float]]:
    from plimsoll.formats.traces import open_trace

    parts: list[list[float]] = [[] for _ in range(_PARTS)]
    with trace_file(path) as file:
        for request in open_trace(file, path, None).requests():
            if request.at_ns is not None and request.service_ns is not None:
                part = min(_PARTS - 1, (request.at_ns + request.service_ns) // part_ns)
                parts[part].append(float(request.service_ns))
    return parts


def _load(path: str, compact: str, target: str, count: int, part_ns: int) -> Load:
    engine = native()
    header = header_of(compact)
    size_bytes = int(engine.inspect_target(target_of(target))["size_bytes"])
    reach = sum(int(device["end_bytes"]) for device in header["devices"])
    longest = max(header["longest"][:2], default=0) or 1
    stream = {
        "name": "replay",
        "trace": compact,
        "trace_map": "refuse" if reach <= size_bytes else "scale",
        "arrival": "trace",
        "queue_depth": max(16, min(_OUTSTANDING, _BUFFER_BYTES // longest)),
    }
    workload = engine.check_workload({"name": "measured", "stream": [stream]}, path)
    rate = count * 1e9 / (part_ns * _PARTS)
    return Load(workload, rate, 4096.0, float(min(reach, size_bytes)), part_ns=part_ns)
