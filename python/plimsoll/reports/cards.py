"""The figures beside the sentence of a run: its marks, its sides against the baseline, or the extremes of what was measured.

cards_of(results, marked, asked)[0]       # Card("Mark of /dev/sdb", "11,400 IOPS", "[11,100, 11,700], at queue_depth 12")
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from plimsoll.analysis.comparison.answer import average, is_sound
from plimsoll.analysis.comparison.comparison import Comparison
from plimsoll.analysis.comparison.findings import interval_text
from plimsoll.analysis.comparison.names import names_of
from plimsoll.analysis.comparison.sides import MarkRow
from plimsoll.analysis.decision.runs import METRICS, Standing, asks_queries, standings
from plimsoll.analysis.point.durability import section as durability_section
from plimsoll.analysis.point.metric import ALL, in_bytes, metric, rate_noun
from plimsoll.experiments.phrases import level_text
from plimsoll.records import dataclass
from plimsoll.reports import analytics, decision, durability, io_test
from plimsoll.reports.marks import USERS, Marked, RunQuestion, mark_interval
from plimsoll.reports.phrases import bandwidth_text, bounded, load_text, placed_text, rate_text, steadiness, told
from plimsoll.result import OPS, Result
from plimsoll.units import brief_duration, count

#: More cards than this do not fit beside the sentence.
CARDS = 6


@dataclass(frozen=True)
class Card:
    """A figure of the answer: what it is, the figure, and what to know with it. ``result`` is what it was read from."""

    label: str
    value: str
    detail: str = ""
    result: Result | None = field(default=None, repr=False, compare=False)

    def to_json(self) -> dict[str, Any]:
        """With the id of the point that it was read from."""
        return {"label": self.label, "value": self.value, "detail": self.detail, "point": self.result.id if self.result else None}


def cards_of(results: Sequence[Result], marked: Sequence[Marked], asked: RunQuestion) -> list[Card]:
    if marked:
        rows = list(asked.comparison.marks) if asked.comparison else []
        several = len({one.workload for one in marked}) > 1
        return [_mark_card(one, rows, several=several) for one in sorted(marked, key=lambda one: -(one.mark.iops if one.mark else 0.0))]
    if asked.comparison is not None and asked.comparison.points:
        return _side_cards(asked.comparison)
    if found := standings(results):
        return _decision_cards(found, names_of(results))
    if facts := analytics.cards(results, names_of(results)):
        return [Card(*fact) for fact in facts]
    if facts := io_test.cards(results, names_of(results)):
        return [Card(*fact) for fact in facts]
    points = by_point(results)
    if len(points) > 1:
        return _extremes(results)
    result = points[0][0]
    cards = [Card("Rate", rate_text(result), steadiness(result).lstrip(", "), result)]
    for op in (ALL,) if asks_queries(result) else OPS:
        mean, high = metric(result, op, "mean"), metric(result, op, "p99")
        if mean is not None and high is not None:
            cards.append(
                Card(
                    "Latency" if op == ALL else f"{op.capitalize()} latency",
                    bounded(mean, brief_duration),
                    f"mean; p99 {bounded(high, brief_duration)}",
                    result,
                )
            )
    return cards


def by_point(results: Sequence[Result]) -> list[list[Result]]:
    """Repeats together, in the order measured."""
    groups: dict[tuple[str, str, str], list[Result]] = {}
    for result in results:
        groups.setdefault((result.job.workload, result.side, str(result.place.get("settings") or "")), []).append(result)
    return list(groups.values())


def kept_cards(results: Sequence[Result]) -> tuple[Card, ...]:
    """Of each trial of durability, how many of the acknowledged commits were there."""
    names, tried = names_of(results), [result for result in results if durability_section(result.engine)]
    cards = [
        Card(f"Commits kept{f' by {names[result.side]}' if len(tried) > 1 else ''}", *durability.kept_of(result), result)
        for result in tried
    ]
    return tuple(cards[:CARDS])


def _decision_cards(found: Sequence[Standing], names: Mapping[str, str]) -> list[Card]:
    """The metrics of the reported run of each side, with what each says."""
    several = len(found) > 1
    cards = []
    for standing in found:
        side = f" of {names.get(standing.side, standing.side)}" if several else ""
        for name, meaning in METRICS.items():
            value = getattr(standing.reported, name)
            if value is not None:
                other = "" if standing.other is None else f"; the other run {count(getattr(standing.other, name) or 0.0)}"
                cards.append(
                    Card(f"{decision.at_scale(name, standing.scale)}{side}", count(value), meaning + other, standing.reported.result)
                )
    # With several sides the composites say most.
    return sorted(cards, key=lambda card: not card.label.startswith("composite")) if several else cards


def _mark_card(one: Marked, rows: Sequence[MarkRow], *, several: bool) -> Card:
    label = f"{one.title} on {one.side}" if several else f"Mark of {one.side}"
    if one.mark is None:
        return Card(label, "none held", one.objective)
    mark = one.mark
    least = "≥ " if mark.failed_by is None else ""
    ratio = next((f"{interval_text(row.ratio, row.low, row.high)}, {row.verdict}" for row in rows if _is_of(row, one) and row.ratio), "")
    load = load_text(mark.iops, mark.bytes_per_s, one.results)
    carried, at = (level_text(USERS, mark.level), load) if one.axis == USERS else (load, f"{one.axis} {mark.level:g}")
    details = (mark_interval(mark, one.results).strip(), at, ratio)
    held = next((result for result in one.results if result.place.get("level") == mark.level), None)
    return Card(label, f"{least}{carried}", ", ".join(filter(None, details)), held)


def _is_of(row: MarkRow, one: Marked) -> bool:
    return row.side == one.side and row.workload == one.workload and row.objective == one.objective


def _side_cards(comparison: Comparison) -> list[Card]:
    """How each side did against the baseline."""
    cards = []
    for side in comparison.sides[1:]:
        rows = [row for row in comparison.points if row.side == side and is_sound(row)]
        if rows:
            ratio, counted = average(rows)
            cards.append(Card(f"{side} over {comparison.baseline}", ratio, counted))
    return cards


def _extremes(results: Sequence[Result]) -> list[Card]:
    cards = []
    noun = rate_noun(results)
    for label, name, shown in (
        ("Highest rate", "iops", lambda per_s: told(per_s, noun)),
        ("Highest bandwidth", "bytes_per_s", bandwidth_text),
    ):
        found = [(estimate.value, result) for result in results if (estimate := metric(result, ALL, name)) is not None and estimate.value]
        if found:
            value, result = max(found, key=lambda each: each[0])
            cards.append(Card(label, shown(value), placed_text(result, results), result))
    if in_bytes(results):
        cards.reverse()
    quick = [(estimate, result) for result in results if (estimate := metric(result, ALL, "mean")) is not None]
    if len(quick) > 1:
        for label, chosen in (("Lowest mean latency", min), ("Highest mean latency", max)):
            estimate, result = chosen(quick, key=lambda each: each[0].value)
            cards.append(Card(label, bounded(estimate, brief_duration), placed_text(result, results), result))
    return cards
