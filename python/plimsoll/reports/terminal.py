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

#: The state of caches that nothing was done about.
AS_FOUND = "as found"
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
    """What the caches held, points that failed with their errors, then each flag once; empty when there is nothing of these."""
    return "\n".join([*_caches(results), *_footnotes(results)])


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
        everywhere = len(held) == len(results) > 1
        where = "everywhere; of the first" if everywhere else _places([result for result, _ in held], results)
        lines.append(f"{MARKS[flag.severity]} {flag.name}: {where}: {flag.message}")
        lines.append(f"  → {flag.advice}")
    return lines


def _caches(results: Sequence[Result]) -> list[str]:
    """The state of the caches where something was done about it, each once, and where it held if not everywhere."""
    states: dict[str, list[Result]] = {}
    for result in results:
        if result.cache.get("state", AS_FOUND) != AS_FOUND:
            states.setdefault(f"cache {result.cache['state']}{{}}: {result.cache.get('how') or 'no more is known.'}", []).append(result)
    return [said.format("" if len(held) == len(results) else f" at {_places(held, results)}") for said, held in states.items()]


def _places(held: Sequence[Result], results: Sequence[Result]) -> str:
    """``random-read-4k at queue_depth 32 and 2 more; of the first``: the points that something holds for, repeats once."""
    several = len({result.place.get("configuration") for result in results}) > 1
    names = list(dict.fromkeys(_place(result, configured=several) for result in held))
    shown = 1 if any(settings_text(result) for result in held) else 3
    if len(names) == 1:
        return names[0]
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    return f"{', '.join(names[:shown])}{more}; of the first"


def _place(result: Result, *, configured: bool) -> str:
    settings, configuration = settings_text(result), result.place.get("configuration")
    on = f" on {configuration}" if configured and configuration else ""
    return f"{result.job.workload}{on}{f' at {settings}' if settings else ''}"
