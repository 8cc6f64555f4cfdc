"""Details of special runs as text for a terminal: replayed traces and power-cut journals.

Replayed traces: how faithfully.

Model: one block for each stream that has a trace: where it came from, what was asked and achieved, what differs.

    print(replay_text([result, …]))

    replay    hm_0.csv (MSR-Cambridge CSV), as recorded at 2× speed: 10,000 requests
              late      p50 2 µs, p99 31 µs, max 412 µs; 0 % over 100 µs, 0 % over 1 ms, 3.1 % over a tenth of the gap
              gaps      asked mean 1.2 ms, p50 84 µs, p99 9.1 ms; achieved 1.2 ms, 85 µs, 9.1 ms; distance 0.004

Power-cut journals: what they say.

Model: one line for each run that kept or checked a journal; below a check, a line for each write that is not there, the first of them.

    print(journal_text([result, …]))

    journal   cut.journal: 3 lost, 1 torn of 12,345 acknowledged writes
              lost          write 812: 4 KiB at byte 1,234,944, acknowledged after 3.21 s
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from plimsoll.analysis.point.replay import LateShares, Replay
from plimsoll.analysis.point.verification import KINDS, checked, kept, listed
from plimsoll.displayed import displayed
from plimsoll.result import Result
from plimsoll.units import binary, duration, significant

_INDENT = " " * 10


def replay_text(results: Sequence[Result]) -> str:
    """Every replay of the results; empty when there is none."""
    return "\n".join(line for result in results for found in cast("list[Replay]", result.replay) for line in _lines(found, result))


def _lines(found: Replay, result: Result) -> Iterator[str]:
    name = f"{result.job.workload} #{result.job.repeat}: " if result.job.repeat > 1 else ""
    requests, source = found["requests"], found["source"]
    of = f" of {requests['asked']:,}" if requests["completed"] < requests["asked"] else ""
    failed = f", {requests['failed']:,} failed" if requests["failed"] else ""
    title = f"{source['name'] or found['stream']}{' (' + source['format'] + ')' if source['format'] else ''}"
    yield f"replay    {name}{title}, {_pace(found)}: {requests['completed']:,}{of} {_noun(requests['asked'])}{failed}"
    if found["lateness_ns"] is not None:
        shares = "" if found["late"] is None else f"; {_shares(found['late'], found['waited'])}"
        yield _row("late", f"{_quantiles(found['lateness_ns'], ('p50', 'p99', 'max'))}{shares}")
    if found["gaps"] is not None:
        asked, achieved = (_quantiles(found["gaps"][which], ("mean", "p50", "p99")) for which in ("asked", "achieved"))
        yield _row("gaps", f"asked {asked}; achieved {achieved}; distance {found['gaps']['distance']:.3f}")
    yield _row("at once", _pair(found["outstanding"], "asked", significant))
    yield _row("response", _pair(found["response_ns"], "recorded", duration))
    seconds = found["seconds"]
    if seconds["asked"] is not None:
        yield _row("lasted", f"asked {duration(seconds['asked'] * 1e9)}; achieved {duration(seconds['achieved'] * 1e9)}")
    changes = [f"{number:,} {what}" for what, number in found["changes"].items() if number]
    if changes:
        yield _row("changed", ", ".join(changes))
    if found["report"]:
        yield _row("report", _report(found["report"]))


def _report(report: Mapping[str, Any]) -> str:
    whole = report["written"] + report["dropped"]
    of = f" of {whole:,}" if report["dropped"] else ""
    return f"{report['path']}: {report['written']:,}{of} {_noun(whole)}"


def _noun(number: int) -> str:
    return "request" if number == 1 else "requests"


def _pace(found: Replay) -> str:
    speed = found["speed"]
    return str(found["pace"]) + (f" at {speed:g}× speed" if speed not in (None, 1) else "")


def _row(name: str, text: str) -> str:
    return f"{_INDENT}{name:<10}{text}"


def _quantiles(figures: Mapping[str, Any], names: Sequence[str]) -> str:
    return ", ".join(f"{name} {duration(figures[name])}" for name in names)


def _shares(late: LateShares, waited: float | None) -> str:
    over = f"{_share(late['100us'])} over 100 µs, {_share(late['1ms'])} over 1 ms, {_share(late['tenth_of_gap'])} over a tenth of the gap"
    return over + (f"; {_share(waited)} waited for a slot" if waited else "")


def _share(share: float) -> str:
    return f"{significant(share * 100)} %"


def _pair(figures: Mapping[str, Any], first: str, shown: Any) -> str:
    asked = figures[first]
    known = f"{first} {shown(asked)}" if asked is not None else f"{first} not known"
    achieved = figures["achieved"]
    return f"{known}; achieved {shown(achieved) if achieved is not None else 'none'}"


#: Writes that a terminal names; the result names up to ten thousand.
_NAMED = 20


def journal_text(results: Sequence[Result]) -> str:
    """Every journal of the results; empty when there is none."""
    return "\n".join(line for result in results for line in (*_kept(result), *_checked(result)))


def _kept(result: Result) -> Iterator[str]:
    found = kept(result.engine)
    if found is None:
        return
    yield f"journal   {displayed(found['journal'])}: {found['durable']:,} of {found['begun']:,} writes were acknowledged as durable"
    if not found["durable"]:
        yield f"{_INDENT}none of them can be missed after a power cut; set dsync = true, or let it flush more often"


def _checked(result: Result) -> Iterator[str]:
    found = checked(result.engine)
    if found is None:
        return
    whole = "" if found["complete"] else "; stopped before all of them were looked at"
    total = f"all {found['acknowledged']:,} acknowledged writes are there" if found["complete"] else "what was looked at is there"
    yield f"journal   {displayed(found['journal'])}: {listed(found) or total} ({found['sectors_checked']:,} sectors looked at{whole})"
    if not found["acknowledged"]:
        yield f"{_INDENT}it names no acknowledged write, so nothing was proved; cut the power later, or flush more often"
    violations = found["violations"]
    for one in violations[:_NAMED]:
        yield (
            f"{_INDENT}{KINDS.get(one['kind'], one['kind']):<13} write {one['sequence']:,}: {binary(one['len'])} "
            f"at byte {one['address']:,}, acknowledged after {duration(one['acknowledged_ns'])}"
        )
    missing = sum(found["counts"].values())
    more = missing - min(len(violations), _NAMED)
    if more > 0:
        named = f"all {missing:,}" if len(violations) >= missing else f"the first {len(violations):,} of {missing:,}"
        yield f"{_INDENT}and {more:,} more; result.json of the point names {named}"
