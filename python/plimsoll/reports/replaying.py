"""How faithfully a trace was replayed, as text for a terminal.

Model: one block for each stream that has a trace: where it came from, what was asked and achieved, what differs.

    print(replayed([result, …]))

    replay    hm_0.csv (MSR-Cambridge CSV), as recorded at 2× speed: 10,000 requests
              late      p50 2 µs, p99 31 µs, max 412 µs; 0 % over 100 µs, 0 % over 1 ms, 3.1 % over a tenth of the gap
              gaps      asked mean 1.2 ms, p50 84 µs, p99 9.1 ms; achieved 1.2 ms, 85 µs, 9.1 ms; distance 0.004
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from plimsoll.result import Result
from plimsoll.units import duration

Json = dict[str, Any]

_INDENT = " " * 10


def replayed(results: Sequence[Result]) -> str:
    """Every replay of the results; empty when there is none."""
    return "\n".join(line for result in results for found in result.replay for line in _lines(found, result))


def _lines(found: Json, result: Result) -> Iterator[str]:
    name = f"{result.job.workload} #{result.job.repeat}: " if result.job.repeat > 1 else ""
    requests, source = found["requests"], found["source"]
    of = f" of {requests['asked']:,}" if requests["completed"] < requests["asked"] else ""
    failed = f", {requests['failed']:,} failed" if requests["failed"] else ""
    title = f"{source['name'] or found['stream']}{' (' + source['format'] + ')' if source['format'] else ''}"
    yield f"replay    {name}{title}, {_pace(found)}: {requests['completed']:,}{of} {_noun(requests['asked'])}{failed}"
    if found["lateness_ns"] is not None:
        yield _row("late", f"{_quantiles(found['lateness_ns'], ('p50', 'p99', 'max'))}; {_shares(found)}")
    if found["gaps"] is not None:
        asked, achieved = (_quantiles(found["gaps"][which], ("mean", "p50", "p99")) for which in ("asked", "achieved"))
        yield _row("gaps", f"asked {asked}; achieved {achieved}; distance {found['gaps']['distance']:.3f}")
    yield _row("at once", _pair(found["outstanding"], "asked", lambda value: f"{value:.3g}"))
    yield _row("response", _pair(found["response_ns"], "recorded", duration))
    seconds = found["seconds"]
    if seconds["asked"] is not None:
        yield _row("lasted", f"asked {duration(seconds['asked'] * 1e9)}; achieved {duration(seconds['achieved'] * 1e9)}")
    changes = [f"{number:,} {what}" for what, number in found["changes"].items() if number]
    if changes:
        yield _row("changed", ", ".join(changes))
    if found["report"]:
        yield _row("report", _report(found["report"]))


def _report(report: Json) -> str:
    whole = report["written"] + report["dropped"]
    of = f" of {whole:,}" if report["dropped"] else ""
    return f"{report['path']}: {report['written']:,}{of} {_noun(whole)}"


def _noun(number: int) -> str:
    return "request" if number == 1 else "requests"


def _pace(found: Json) -> str:
    speed = found["speed"]
    return str(found["pace"]) + (f" at {speed:g}× speed" if speed not in (None, 1) else "")


def _row(name: str, text: str) -> str:
    return f"{_INDENT}{name:<10}{text}"


def _quantiles(figures: Json, names: Sequence[str]) -> str:
    return ", ".join(f"{name} {duration(figures[name])}" for name in names)


def _shares(found: Json) -> str:
    late = found["late"]
    over = f"{_share(late['100us'])} over 100 µs, {_share(late['1ms'])} over 1 ms, {_share(late['tenth_of_gap'])} over a tenth of the gap"
    return over + (f"; {_share(found['waited'])} waited for a slot" if found["waited"] else "")


def _share(share: float) -> str:
    return f"{share * 100:.3g} %"


def _pair(figures: Json, first: str, shown: Any) -> str:
    asked = figures[first]
    known = f"{first} {shown(asked)}" if asked is not None else f"{first} not known"
    achieved = figures["achieved"]
    return f"{known}; achieved {shown(achieved) if achieved is not None else 'none'}"
