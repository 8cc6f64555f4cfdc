"""The answer of a run: one sentence that says what was asked, and the figures beside it.

Model: what a run answers depends on what it was. Several sides: which one, how much, how sure (`plimsoll.analysis.comparison.answer`).
Levels of a load with an objective: the mark, with its interval and the limit that ends it; a level that broke the objective is never the
highest rate. A single point: rate, latency, and how steady. Otherwise what the experiment concluded, or the range of what was measured. The
doubts stand in the same sentence: how many flags of the kinds *invalid* and *doubt* its points carry. Large requests are spoken of in MB/s.
Limits: the sentence repeats figures of results and judges nothing anew.

    found = answer(results, Asked(experiments=run.meta["experiments"], conclusions=run.meta["conclusions"]))
    found.sentence       # "/dev/sdb carries 11,400 IOPS [11,100, 11,700] before read mean passes 5 ms (queue_depth 12); 2 doubts."
    found.cards[0]       # Card("Mark of /dev/sdb", "11,400 IOPS", "[11,100, 11,700], at queue_depth 12")
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from plimsoll.analysis.check.answer import CHECK, LOAD, answers_of
from plimsoll.analysis.comparison.answer import average, is_sound
from plimsoll.analysis.comparison.comparison import Comparison
from plimsoll.analysis.comparison.findings import interval_text
from plimsoll.analysis.comparison.naming import names_of
from plimsoll.analysis.comparison.sides import MarkRow
from plimsoll.analysis.decision.standing import METRICS, Standing, asks_queries, standings
from plimsoll.analysis.load_line.mark import Mark, mark_of
from plimsoll.analysis.objective.judgement import parse_objective
from plimsoll.analysis.point.definition import streams
from plimsoll.analysis.point.metric import ALL, IOPS, called, in_bytes, metric, rate_noun
from plimsoll.analysis.point.transactions import enters_orders, new_orders_per_min
from plimsoll.decision import BANNER as QUERIES_BANNER
from plimsoll.errors import InputError
from plimsoll.experiments.kinds import is_drawn, offers_rates, varies_load
from plimsoll.orders import BANNER as ORDERS_BANNER
from plimsoll.reports import decision
from plimsoll.result import OPS, Estimate, Result, tells
from plimsoll.units import brief_duration, count, duration, megabytes

Json = Mapping[str, Any]

HOUR_S = 3600.0
#: More cards than this do not fit beside the sentence.
CARDS = 6
#: Severities that are doubts.
_DOUBTS = ("invalid", "doubt")


@dataclass(frozen=True)
class Asked:
    """What the run was asked, as run.json has it; ``comparison`` where there are several sides."""

    experiments: Sequence[Json] = ()
    conclusions: Sequence[Json] = ()
    suite: Json | None = None
    comparison: Comparison | None = None
    #: What sides are called, by the identity of their results, where they are not called by their own names.
    labels: Mapping[int, str] = field(default_factory=dict)

    def side(self, result: Result, names: Mapping[str, str]) -> str:
        """What the side of a result is called."""
        return self.labels.get(id(result)) or names[result.side]


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


@dataclass(frozen=True)
class Doubt:
    """Flags of one name: how bad, at how many points, and what the first of them says."""

    name: str
    severity: str
    points: int
    sentence: str


@dataclass(frozen=True)
class Answer:
    """The sentence, its cards, and what it is in doubt for."""

    sentence: str
    cards: tuple[Card, ...] = ()
    doubts: tuple[Doubt, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """As pages and programs read it."""
        return {
            "sentence": self.sentence,
            "cards": [card.to_json() for card in self.cards],
            "doubts": [asdict(doubt) for doubt in self.doubts],
        }


@dataclass(frozen=True)
class Marked:
    """The mark of one subject, None when no level held. ``axis`` is the option that was raised."""

    workload: str
    title: str
    side: str
    objective: str
    axis: str
    results: Sequence[Result] = field(repr=False)
    mark: Mark | None


def answer(results: Sequence[Result], asked: Asked = Asked()) -> Answer:
    """What the run says, first of all."""
    usable = [result for result in results if result.status != "failed" and result.totals and result.place.get("role") != "precondition"]
    found = doubts(results)
    if not usable:
        failed = sum(result.status == "failed" for result in results)
        return Answer(f"Nothing was measured: {failed} of {len(results)} points failed." if results else "Nothing was measured.", (), found)
    marked = marks(usable, asked)
    cards = tuple(_cards(usable, marked, asked)[:CARDS])
    if (asked.suite or {}).get("name") == CHECK:
        return Answer(_of_check(results, asked), cards, found)
    sentence = _sentence(usable, marked, asked)
    return Answer(f"{sentence}{_fair(usable, sentence)}{_doubted(found)}.", cards, found)


def _of_check(results: Sequence[Result], asked: Asked) -> str:
    """What `plimsoll check` closes with: a sentence for each target, with its doubts."""
    objective = next((str(item["objective"]) for item in asked.experiments if item["name"] == LOAD and item.get("objective")), "")
    return " ".join(one.sentence for one in answers_of(results, objective)) if objective else "The check was not finished."


def marks(results: Sequence[Result], asked: Asked) -> list[Marked]:
    """The mark of every subject whose experiment has an objective and raises a load, in the order measured."""
    names = names_of(results)
    definitions = {item["name"]: item for item in asked.experiments}
    subjects: dict[tuple[str, str, str], list[Result]] = {}
    for result in results:
        if result.place.get("level") is not None and varies_load(result.place.get("kind")) and result.place.get("role") == "point":
            subjects.setdefault((result.place["experiment"], result.job.workload, asked.side(result, names)), []).append(result)
    found = []
    for (experiment, workload, side), own in subjects.items():
        text = definitions.get(experiment, {}).get("objective")
        try:
            objective = parse_objective(text) if text else None
        except InputError:
            objective = None
        if objective is not None:
            mark = mark_of(own, objective)
            found.append(Marked(workload, own[0].job.title, side, objective.text, _axis(definitions[experiment], own[0]), own, mark))
    return found


def mark_sentence(marked: Marked, *, noun: str = "") -> str:
    """``/dev/sdb carries 11,400 IOPS [11,100, 11,700] before read mean passes 5 ms (queue_depth 12)``, without full stop."""
    mark = marked.mark
    if mark is None:
        return f"{marked.side} does not keep '{marked.objective}' even at the lowest level of {marked.axis}"
    carried = load_text(mark.iops, mark.bytes_per_s, marked.results, noun=noun)
    interval = _interval(mark, marked.results)
    at = f"{marked.axis} {mark.level:g}"
    if mark.failed_by is None:
        return f"{marked.side} carries at least {carried} within '{marked.objective}' ({at}, the highest level measured)"
    return f"{marked.side} carries {carried}{interval} before {_passed(mark.failed_by)} ({at})"


def load_text(iops: float, bytes_per_s: float, results: Sequence[Result], *, noun: str = "") -> str:
    """The load in the unit that people speak of: MB/s where requests are large, queries per hour where a request is a query."""
    if in_queries(results):
        return f"{count(iops * HOUR_S)} queries per hour"
    return f"{megabytes(bytes_per_s)} MB/s" if in_bytes(results) else f"{count(iops)} {noun or rate_noun(results)}"


def in_queries(results: Sequence[Result]) -> bool:
    """Whether these loads are queries."""
    return bool(results) and all(map(asks_queries, results))


def doubts(results: Sequence[Result]) -> tuple[Doubt, ...]:
    """Every flag that puts figures in doubt, the worst first."""
    found: dict[tuple[str, str], list[str]] = {}
    for result in results:
        for flag in result.flags:
            if flag.severity in _DOUBTS:
                found.setdefault((flag.severity, flag.name), []).append(flag.message)
    ordered = sorted(found.items(), key=lambda item: _DOUBTS.index(item[0][0]))
    return tuple(Doubt(name, severity, len(messages), messages[0]) for (severity, name), messages in ordered)


def _fair(results: Sequence[Result], sentence: str) -> str:
    """What has to stand wherever a figure of a derived load does, unless the sentence says it."""
    loads = ((QUERIES_BANNER, any(map(asks_queries, results))), (ORDERS_BANNER, any(map(enters_orders, results))))
    return "".join(f"; {banner}" for banner, derived in loads if derived and banner not in sentence)


def _doubted(found: Sequence[Doubt]) -> str:
    if not found:
        return ""
    invalid = [doubt.name for doubt in found if doubt.severity == "invalid"]
    if invalid:
        return f"; not valid: {', '.join(invalid).replace('_', ' ')}"
    return f"; {len(found)} {'doubt' if len(found) == 1 else 'doubts'}: {', '.join(doubt.name.replace('_', ' ') for doubt in found)}"


def _sentence(results: Sequence[Result], marked: Sequence[Marked], asked: Asked) -> str:
    """Without full stop and doubts."""
    if not marked and (found := standings(results)):
        return decision.sentence(found, names_of(results))
    if asked.comparison is not None and (compared := asked.comparison.answer()):
        return compared.rstrip(".")
    if len(marked) == 1:
        return mark_sentence(marked[0])
    if marked:
        return _of_marks(marked)
    concluded = [sentence for conclusion in asked.conclusions for sentence in conclusion.get("sentences") or []]
    kind = results[0].place.get("kind")
    if len(asked.conclusions) == 1 and concluded and (is_drawn(kind, "speed-up") or is_drawn(kind, "rounds")):
        return str(concluded[0]).rstrip(".")
    points = _points(results)
    return _of_point(points[0]) if len(points) == 1 else _of_range([group[0] for group in points])


def _of_marks(marked: Sequence[Marked]) -> str:
    """Several workloads: the lightest and the heaviest."""
    held = sorted((one for one in marked if one.mark is not None), key=lambda one: one.mark.iops if one.mark else 0.0)
    if not held:
        return f"No objective was kept, in none of {len(marked)} experiments"
    least, most = ((one, one.mark) for one in (held[0], held[-1]))
    said = [f"{load_text(mark.iops, mark.bytes_per_s, one.results)} of {one.title}" for one, mark in (least, most) if mark is not None]
    missed = f"; {len(marked) - len(held)} of {len(marked)} kept no objective" if len(held) < len(marked) else ""
    return f"{' to '.join(dict.fromkeys(said))} within the objective{missed}"


def _points(results: Sequence[Result]) -> list[list[Result]]:
    """Repeats together, in the order measured."""
    groups: dict[tuple[str, str, str], list[Result]] = {}
    for result in results:
        groups.setdefault((result.job.workload, result.side, str(result.place.get("settings") or "")), []).append(result)
    return list(groups.values())


def _of_point(repeats: Sequence[Result]) -> str:
    """One load on one target: rate, latency, how steady."""
    result = repeats[0]
    rate = _rate(result)
    latencies = [
        f"{called(op, 'mean')} {bounded(mean)}, p99 {bounded(metric(result, op, 'p99'))}"
        for op in OPS
        if (mean := metric(result, op, "mean")) is not None
    ]
    level = _level(result)
    steady = _steadiness(result)
    again = f"; first of {len(repeats)} repeats" if len(repeats) > 1 else ""
    done = f"{names_of(repeats)[result.side]} does {rate} of {result.job.title}{level}"
    return f"{done}: {'; '.join(latencies[:2])}{steady}{again}"


def _level(result: Result) -> str:
    """How hard the load was: people, where there are some; else queue depth and threads."""
    for word in ("users", "terminals"):
        people = sum(int(stream.get(word, 0)) for stream in streams(result.job.definition))  # type: ignore[call-overload]
        if people:
            return f" with {people:,} {word}"
    depth = f" at queue depth {result.job.queue_depth}" if result.job.queue_depth else ""
    return depth + (f", {result.job.threads} threads" if result.job.threads > 1 else "")


def bounded(found: Estimate | None, written: Callable[[float], str] = duration) -> str:
    """A latency, marked ≥ where requests without an answer make it a lower bound."""
    if found is None:
        return duration(None)
    return f"≥ {written(found.value)}" if found.at_least else written(found.value)


def _rate(result: Result) -> str:
    iops, moved = metric(result, ALL, "iops"), metric(result, ALL, "bytes_per_s")
    if (orders := new_orders_per_min(result)) is not None and iops is not None:
        return f"{count(orders.value)} new orders per minute ({count(iops.value)} transactions/s)"
    per_s = f"{count(iops.value)} {rate_noun([result])}" if iops else ""
    if rate_noun([result]) != IOPS:
        return per_s
    rates = (per_s, f"{megabytes(moved.value)} MB/s" if moved and moved.value else "")
    first, second = reversed(rates) if in_bytes([result]) else rates
    return f"{first} ({second})" if first and second else first or second


def _steadiness(result: Result) -> str:
    if any(flag.name == "not_steady" for flag in result.flags):
        return ", not steady"
    found = metric(result, ALL, "iops")
    half = _half_width(found)
    return "" if half is None else f", steady within {half:.2g} %"


def _half_width(found: Estimate | None) -> float | None:
    """In percent of the value; None where there is no interval that says something."""
    if found is None or found.low is None or found.high is None or not found.value or not tells(found.low, found.high):
        return None
    return 100 * (found.high - found.low) / 2 / found.value


def _of_range(results: Sequence[Result]) -> str:
    """Several points of one side: from the slowest to the quickest."""
    by_bytes = in_bytes(results)
    rates = [(found.value, result) for result in results if (found := metric(result, ALL, "bytes_per_s" if by_bytes else "iops"))]
    if not rates:
        return f"{len(results)} points were measured, and none has a rate"
    ends = [min(rates, key=lambda each: each[0]), max(rates, key=lambda each: each[0])]
    said = [f"{megabytes(value)} MB/s" if by_bytes else f"{count(value)} {rate_noun(results)}" for value, _ in ends]
    names = names_of(results)
    side = f"{names[results[0].side]} does " if len(names) == 1 else ""
    workloads = len({result.job.workload for result in results})
    what = f"{workloads} workloads" if workloads > 1 else f"{len(results)} measurements of {results[0].job.title}"
    places = [_place(result, results) for _, result in ends]
    return f"{side}{said[0]} ({places[0]}) to {said[1]} ({places[1]}) in {what}"


def _place(result: Result, results: Sequence[Result]) -> str:
    settings = ", ".join(f"{name} {value}" for name, value in (result.place.get("settings") or {}).items())
    alone = len({each.job.workload for each in results}) == 1 and settings
    return settings if alone else f"{result.job.title}{f' at {settings}' if settings else ''}"


def _cards(results: Sequence[Result], marked: Sequence[Marked], asked: Asked) -> list[Card]:
    if marked:
        rows = list(asked.comparison.marks) if asked.comparison else []
        several = len({one.workload for one in marked}) > 1
        return [_mark_card(one, rows, several=several) for one in sorted(marked, key=lambda one: -(one.mark.iops if one.mark else 0.0))]
    if asked.comparison is not None and asked.comparison.points:
        return _side_cards(asked.comparison)
    if found := standings(results):
        return _decision_cards(found, names_of(results))
    points = _points(results)
    if len(points) > 1:
        return _extremes(results)
    result = points[0][0]
    cards = [Card("Rate", _rate(result), _steadiness(result).lstrip(", "), result)]
    for op in OPS:
        mean, high = metric(result, op, "mean"), metric(result, op, "p99")
        if mean is not None and high is not None:
            cards.append(
                Card(f"{op.capitalize()} latency", bounded(mean, brief_duration), f"mean; p99 {bounded(high, brief_duration)}", result)
            )
    return cards


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
    details = (_interval(mark, one.results).strip(), f"{one.axis} {mark.level:g}", ratio)
    held = next((result for result in one.results if result.place.get("level") == mark.level), None)
    return Card(label, f"{least}{load_text(mark.iops, mark.bytes_per_s, one.results)}", ", ".join(filter(None, details)), held)


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
    for label, name, shown in (("Highest rate", "iops", _iops), ("Highest bandwidth", "bytes_per_s", _bandwidth)):
        found = [(estimate.value, result) for result in results if (estimate := metric(result, ALL, name)) is not None and estimate.value]
        if found:
            value, result = max(found, key=lambda each: each[0])
            cards.append(Card(label, shown(value), _place(result, results), result))
    if in_bytes(results):
        cards.reverse()
    quick = [(estimate, result) for result in results if (estimate := metric(result, ALL, "mean")) is not None]
    if len(quick) > 1:
        for label, chosen in (("Lowest mean latency", min), ("Highest mean latency", max)):
            estimate, result = chosen(quick, key=lambda each: each[0].value)
            cards.append(Card(label, bounded(estimate, brief_duration), _place(result, results), result))
    return cards


def _iops(value: float) -> str:
    return f"{count(value)} IOPS"


def _bandwidth(value: float) -> str:
    return f"{megabytes(value)} MB/s"


def _interval(mark: Mark, results: Sequence[Result]) -> str:
    if mark.interval is None or not tells(*mark.interval):
        return ""
    per_request = mark.bytes_per_s / mark.iops if mark.iops else 0.0
    factor = HOUR_S if in_queries(results) else 1.0
    low, high = (megabytes(end * per_request) if in_bytes(results) else count(end * factor) for end in mark.interval)
    return f" [{low}, {high}]"


def _passed(failed_by: str) -> str:
    """``read mean passes 20 ms`` of ``read mean <= 20ms``; what is no upper limit is said as it was asked."""
    for relation in (" <= ", " < "):
        subject, found, limit = failed_by.partition(relation)
        if found and "(" not in limit:
            return f"{subject} passes {_limit(limit)}"
    return f"'{failed_by}' fails"


def _limit(text: str) -> str:
    """``20 ms`` of ``20ms``."""
    digits = len(text.rstrip("abcdefghijklmnopqrstuvwxyzµ%/ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
    return f"{text[:digits]} {text[digits:]}".strip()


def _axis(definition: Json, result: Result) -> str:
    """The option that was raised, as users write it."""
    over = definition.get("over") or []
    if len(over) == 1:
        return str(over[0]["option"])
    level = result.place.get("level")
    named = [name for name, value in (result.place.get("settings") or {}).items() if value == level]
    return named[0] if named else "rate" if offers_rates(result.place.get("kind")) else "level"
