"""The answer of a run: one sentence that says what was asked, and the figures beside it.

Model: what a run answers depends on what it was. Several sides: which one, how much, how sure (`plimsoll.analysis.comparison.answer`).
Levels of a load with an objective: the mark, with its interval and the limit that ends it; a level that broke the objective is never the
highest rate. A single point: rate, latency, and how steady. Otherwise what the experiment concluded, or the range of what was measured. The
doubts stand in the same sentence: how many flags of the kinds *invalid* and *doubt* its points carry. Large requests are spoken of in MB/s.
Limits: the sentence repeats figures of results and judges nothing anew.

    found = answer(results, RunQuestion(experiments=run.meta["experiments"], conclusions=run.meta["conclusions"]))
    found.sentence       # "/dev/sdb carries 11,400 IOPS [11,100, 11,700] before read mean passes 5 ms (queue_depth 12); 2 doubts."
    found.cards[0]       # Card("Mark of /dev/sdb", "11,400 IOPS", "[11,100, 11,700], at queue_depth 12")
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from plimsoll.analysis.check.answer import CHECK, LOAD, answers_of
from plimsoll.analysis.comparison.names import names_of
from plimsoll.analysis.decision.runs import asks_queries, standings
from plimsoll.analysis.derivation import derivations
from plimsoll.analysis.load_line.drawn_mark import drawn_mark
from plimsoll.analysis.objective.judgement import parse_objective
from plimsoll.analysis.point.definition import streams
from plimsoll.analysis.point.metric import ALL, called, in_bytes, metric, rate_noun, spoken
from plimsoll.experiments.kinds import is_drawn
from plimsoll.records import dataclass
from plimsoll.reports import analytics, decision, durability, io_test, mail, mailstore
from plimsoll.reports.cards import CARDS, Card, by_point, cards_of, kept_cards
from plimsoll.reports.marks import Marked, RunQuestion, mark_sentence, marks
from plimsoll.reports.phrases import bounded, load_text, place_text, rate_text, settings_words, steadiness, told
from plimsoll.reports.uncertainty import draws_of, ends_words, figure_words, headline_figures
from plimsoll.result import OPS, Result, flag_words
from plimsoll.units import megabytes

#: So many workloads stand in the sentence, each with its figure.
NAMED = 4
#: Repeats of one point at most that the answer is read from.
_ALIKE = 1
#: Severities that are doubts.
_DOUBTS = ("invalid", "doubt")
NOTHING_ASKED = RunQuestion()


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


def answer(results: Sequence[Result], asked: RunQuestion = NOTHING_ASKED) -> Answer:
    """What the run says, first of all."""
    usable = [result for result in results if result.status != "failed" and result.totals and result.place.get("role") != "precondition"]
    found = doubts(results)
    if (survived := mail.kept(results)) is not None:
        return Answer(f"{survived}.", (), found)
    if kept := durability.sentence(results, names_of(results)):
        return Answer(f"{kept}{_doubted(found)}.", kept_cards(results), found)
    if not usable:
        failed = sum(result.status == "failed" for result in results)
        return Answer(f"Nothing was measured: {failed} of {len(results)} points failed." if results else "Nothing was measured.", (), found)
    marked = marks(usable, asked)
    cards = tuple(cards_of(usable, marked, asked)[:CARDS])
    if (asked.suite or {}).get("name") == CHECK:
        return Answer(_of_check(results, asked), cards, found)
    sentence = _sentence(usable, marked, asked)
    drawn = _headline(usable, marked)
    given = _drawn_mark_sentence(marked) or ("" if drawn is None else _drawn_sentence(drawn))
    cards = cards if drawn is None else tuple([*cards, *_drawn_cards(drawn)][:CARDS])
    return Answer(f"{sentence}{_fair(usable, sentence)}{_doubted(found)}.{given}", cards, found)


def _headline(usable: Sequence[Result], marked: Sequence[Marked]) -> Result | None:
    """The modelled point that the answer is read from, where draws say between what it lies; None where it is of several."""
    held = [one for one in marked if one.mark is not None]
    own = [one for each in held for one in each.results if each.mark is not None and one.place.get("level") == each.mark.level]
    points = own if len(held) == 1 else list(usable) if not marked else []
    return points[0] if points and len({point.side for point in points}) == 1 and len(points) <= _ALIKE and draws_of(points[0]) else None


def _drawn_sentence(result: Result) -> str:
    """What the values that nobody has looked up leave open of the point's rate."""
    draws, (name, op, _) = draws_of(result), headline_figures(result)[0]
    words = figure_words(result, op, name)
    if draws is None or words is None:
        return ""
    level = f"{round(100 * draws.level)} % of {draws.draws} draws"
    return f" Given what nobody has looked up of the array, it is {words[0]} ({level}); {words[1]}."


def _drawn_mark_sentence(marked: Sequence[Marked]) -> str:
    """Between what the one mark lies, each draw with a level of its own; empty without draws of every level."""
    held = [one for one in marked if one.mark is not None]
    found = drawn_mark(held[0].results, parse_objective(held[0].objective)) if len(held) == 1 else None
    if found is None:
        return ""
    noun, results = rate_noun(held[0].results), held[0].results
    failing = next((one for one in results if one.place.get("level") == (held[0].mark and held[0].mark.level)), results[0])
    words = figure_words(failing, ALL, "iops")
    ends = ends_words(spoken(found.iops, noun), spoken(found.low, noun), spoken(found.high, noun), noun)
    level = f"{round(100 * found.level)} % of {found.draws} draws, each with a level of its own"
    more = f"; {found.above} draws hold at every measured level, so it may be higher" if found.open_high else ""
    less = f"; {found.below} draws hold at none, so it may be lower" if found.open_low else ""
    mostly = "" if words is None else f"; at level {failing.place['level']:g} {words[1]}"
    return f" Given what nobody has looked up of the array, the mark is {ends} ({level}){more}{less}{mostly}."


def _drawn_cards(result: Result) -> list[Card]:
    """The point's figures with their intervals."""
    found = [(called, figure_words(result, op, name)) for name, op, called in headline_figures(result)]
    return [Card(f"{called}, under uncertainty", *words, result) for called, words in found if words is not None]


def _of_check(results: Sequence[Result], asked: RunQuestion) -> str:
    """What `plimsoll check` closes with: a sentence for each target, with its doubts."""
    objective = next((str(item["objective"]) for item in asked.experiments if item["name"] == LOAD and item.get("objective")), "")
    return " ".join(one.sentence for one in answers_of(results, objective)) if objective else "The check was not finished."


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
    derived = [found for found in derivations(results) if found not in sentence]
    return "".join(f"; {banner}" for banner in (*derived, mail.hurried(results)) if banner)


def _doubted(found: Sequence[Doubt]) -> str:
    if not found:
        return ""
    invalid = [doubt.name for doubt in found if doubt.severity == "invalid"]
    if invalid:
        return f"; not valid: {', '.join(invalid).replace('_', ' ')}"
    return f"; {len(found)} {'doubt' if len(found) == 1 else 'doubts'}: {', '.join(flag_words(doubt.name) for doubt in found)}"


def _sentence(results: Sequence[Result], marked: Sequence[Marked], asked: RunQuestion) -> str:
    """Without full stop and doubts."""
    if not marked and (found := standings(results)):
        return decision.sentence(found, names_of(results))
    if came_to := mailstore.sentence(results, names_of(results)):
        return came_to
    if not marked and (ran := analytics.sentence(results, names_of(results))):
        return ran
    if tested := io_test.sentence(results, names_of(results)):
        return tested
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
    points = by_point(results)
    return _of_point(points[0]) if len(points) == 1 else _of_range([group[0] for group in points])


def _of_marks(marked: Sequence[Marked]) -> str:
    """Several workloads: each with its mark, or of many the lightest and the heaviest; what is spoken of in MB/s apart from the others."""
    held = [one for one in marked if one.mark is not None]
    if not held:
        return f"No objective was kept, in none of {len(marked)} experiments"
    carried = {id(one): load_text(one.mark.iops, one.mark.bytes_per_s, one.results) for one in held if one.mark is not None}
    if len(held) <= NAMED:
        said = [f"{one.title} {carried[id(one)]}" for one in held]
    else:
        by_load = sorted(held, key=lambda one: one.mark.iops if one.mark else 0.0)
        parts = [[one for one in by_load if in_bytes(one.results) == large] for large in (False, True)]
        said = [" to ".join(dict.fromkeys(f"{carried[id(one)]} of {one.title}" for one in (part[0], part[-1]))) for part in parts if part]
    sides = {one.side for one in marked}
    side = f"{sides.pop()} carries " if len(sides) == 1 else ""
    objectives = {one.objective for one in marked}
    within = f" within '{objectives.pop()}'" if len(objectives) == 1 else ", each within its objective"
    missed = f"; {len(marked) - len(held)} of {len(marked)} kept no objective" if len(held) < len(marked) else ""
    return f"{side}{', '.join(said)}{within}{missed}"


def _of_point(repeats: Sequence[Result]) -> str:
    """One load on one target: rate, latency, how steady."""
    result = repeats[0]
    rate = rate_text(result)
    # Every query is another task, so what they took together says more than two of them.
    of, high = ((ALL,), "p95") if asks_queries(result) else (OPS, "p99")
    latencies = [
        f"{called(op, 'mean')} {bounded(mean)}, {high} {bounded(metric(result, op, high))}"
        for op in of
        if (mean := metric(result, op, "mean")) is not None
    ]
    level = _level(result)
    steady = steadiness(result)
    again = f"; first of {len(repeats)} repeats" if len(repeats) > 1 else ""
    done = f"{names_of(repeats)[result.side]} does {rate} of {result.job.title}{level}"
    return f"{done}: {'; '.join(latencies[:2])}{steady}{again}"


def _level(result: Result) -> str:
    """How hard the load was: people, where there are some, or streams; else queue depth and threads."""
    if asks_queries(result):
        return f" with {result.job.threads:,} {'stream' if result.job.threads == 1 else 'streams'}"
    for word in ("users", "terminals"):
        people = sum(int(stream.get(word, 0)) for stream in streams(result.job.definition))  # type: ignore[call-overload]
        if people:
            # Terminals are each host's own; users are divided among them.
            own = max(1, len(result.hosts)) if word == "terminals" else 1
            return f" with {people * own:,} {word}"
    depth = f" at queue depth {result.job.queue_depth}" if result.job.queue_depth else ""
    return depth + (f", {result.job.threads} threads" if result.job.threads > 1 else "")


def _of_range(results: Sequence[Result]) -> str:
    """Several points of one side: from the slowest to the quickest, of a few workloads the quickest of each."""
    names = names_of(results)
    side = f"{names[results[0].side]} does " if len(names) == 1 else ""
    workloads: dict[str, list[Result]] = {}
    for result in results:
        workloads.setdefault(result.job.workload, []).append(result)
    if 1 < len(workloads) <= NAMED and len(names) == 1:
        said = [f"{own[0].job.title} {reached}" for own in workloads.values() if (reached := _highest(own))]
        if said:
            return f"{side}{', '.join(said)}"
    parts = [[result for result in results if in_bytes([result]) == large] for large in (False, True)]
    ranges = [found for part in parts if part and (found := _range(part, several=len(workloads) > 1))]
    if not ranges:
        return f"{len(results)} points were measured, and none has a rate"
    what = f"{len(workloads)} workloads" if len(workloads) > 1 else f"{len(results)} measurements of {results[0].job.title}"
    return f"{side}{', '.join(ranges)} in {what}"


def _spoken(results: Sequence[Result]) -> list[tuple[float, str, Result]]:
    """The throughput of each, and as it is spoken of."""
    by_bytes = in_bytes(results)
    found = [(metric(result, ALL, "bytes_per_s" if by_bytes else "iops"), result) for result in results]
    return [
        (rate.value, f"{megabytes(rate.value)} MB/s" if by_bytes else told(rate.value, rate_noun(results)), result)
        for rate, result in found
        if rate is not None
    ]


def _highest(results: Sequence[Result]) -> str:
    """The highest throughput of one workload; empty where none has a rate."""
    rates = _spoken(results)
    if not rates:
        return ""
    _, text, result = max(rates, key=lambda each: each[0])
    settings = settings_words(result)
    return f"up to {text}{f' ({settings})' if settings else ''}" if len(rates) > 1 else text


def _range(results: Sequence[Result], *, several: bool) -> str:
    """From the lowest to the highest throughput, with where they were measured; empty where none has a rate."""
    rates = _spoken(results)
    if not rates:
        return ""
    (_, low, slowest), (_, high, quickest) = (chosen(rates, key=lambda each: each[0]) for chosen in (min, max))
    if low == high:
        return high
    placed = [(not several and settings_words(result)) or place_text(result) for result in (slowest, quickest)]
    return f"{low} ({placed[0]}) to {high} ({placed[1]})"
