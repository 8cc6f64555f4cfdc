"""Results as text for a terminal: a row per point, then every flag once with its advice.

Model: plain columns, aligned by their widest cell; the last one marks points that carry flags: ``!`` invalid, ``?`` doubt, ``·`` note.
Points of experiments have a column more, with what the experiment set for them, and stand under their configuration in place of the target.

    print(points([result, …])); print(footnotes([result, …]))
"""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.reports.figures import count, duration, megabytes
from plimsoll.reports.progress import settings_text
from plimsoll.result import OPS, Flag, Result, Totals

MARKS = {"invalid": "!", "doubt": "?", "note": "·"}
_FIGURES = ("read IOPS", "write IOPS", "MB/s", "mean", "p50", "p99", "max", "")
_PLAIN = ("workload", "target")
_PLACED = ("workload", "configuration", "point")


def points(results: Sequence[Result]) -> str:
    """A row per point."""
    placed = any(settings_text(result) for result in results)
    head = _PLACED if placed else _PLAIN
    rows = [(*_names(result, placed=placed), *_figures(result)) for result in results]
    return table([(*head, *_FIGURES), *rows], left=len(head))


def footnotes(results: Sequence[Result]) -> str:
    """Points that failed with their errors, then each flag once; empty when there is neither."""
    return "\n".join(_footnotes(results))


def table(rows: Sequence[Sequence[str]], *, left: int) -> str:
    """Aligned columns, a rule below the head; the first ``left`` columns to the left, the others to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "  ".join(
            cell.ljust(width) if column < left else cell.rjust(width) for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    return "\n".join([lines[0], "─" * max(len(line) for line in lines), *lines[1:]])


def _names(result: Result, *, placed: bool) -> tuple[str, ...]:
    name = result.job.workload + (f" #{result.job.repeat}" if result.job.repeat > 1 else "")
    where = result.place.get("configuration") or result.job.target
    names = (name, where + (" (modelled)" if result.modelled else ""))
    return (*names, settings_text(result)) if placed else names


def _figures(result: Result) -> tuple[str, ...]:
    marks = _marks(result)
    if not result.totals:
        return ("", "", "", "", "", "", "", f"{marks} {result.status}".strip())
    return (
        *(_rate(result.totals, op) for op in ("read", "write")),
        megabytes(sum(total.bytes_per_s for total in result.totals.values())),
        *_latencies(result.totals),
        f"{marks} {result.status}".strip() if result.status != "complete" else marks,
    )


def _rate(totals: Totals, op: str) -> str:
    return count(totals[op].iops) if op in totals else "–"


def _latencies(totals: Totals) -> tuple[str, ...]:
    """Mean over all operations; percentiles and maximum of the slowest of them, since percentiles do not add."""
    timed = [totals[op] for op in OPS if op in totals and totals[op].latency_ns is not None]
    moved = sum(total.count for total in timed)
    mean = sum(total.count * total.latency_ns.mean for total in timed if total.latency_ns) / moved if moved else None

    def worst(name: str) -> str:
        return duration(max((getattr(total.latency_ns, name) for total in timed), default=None))

    return duration(mean), worst("p50"), worst("p99"), worst("max")


def _marks(result: Result) -> str:
    severities = {flag.severity for flag in result.flags}
    return "".join(mark for severity, mark in MARKS.items() if severity in severities)


def _footnotes(results: Sequence[Result]) -> list[str]:
    """Each flag once: where it holds, its numbers for the first of them, its advice."""
    holders: dict[str, list[tuple[Result, Flag]]] = {}
    for result in results:
        for flag in result.flags:
            holders.setdefault(f"{flag.severity} {flag.name}", []).append((result, flag))
    # One reason often fails every point of a workload; it is said once.
    lines = list(dict.fromkeys(f"✗ {result.job.workload}: {result.error}" for result in results if result.status == "failed"))
    ordered = sorted(holders.values(), key=lambda held: list(MARKS).index(held[0][1].severity))
    for held in ordered:
        flag = held[0][1]
        where = list(dict.fromkeys(result.job.workload for result, _ in held))
        lines.append(f"{MARKS[flag.severity]} {flag.name}: {_places(where, len(results))}: {flag.message}")
        lines.append(f"  → {flag.advice}")
    return lines


def _places(names: Sequence[str], total: int) -> str:
    if len(names) == 1:
        return names[0]
    shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    return f"{shown}; of the first" if len(names) < total else "everywhere; of the first"
