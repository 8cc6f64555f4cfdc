"""Marks in words: how much each subject carried before its objective broke.

mark_sentence(marks(results, asked)[0])
# "/dev/sdb carries 11,400 IOPS [11,100, 11,700] before read mean passes 5 ms (queue_depth 12)"
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from plimsoll.analysis.comparison.comparison import Comparison
from plimsoll.analysis.comparison.names import names_of
from plimsoll.analysis.load_line.mark import Mark, mark_of
from plimsoll.analysis.objective.judgement import parse_objective
from plimsoll.analysis.point.metric import in_bytes, rate_noun, spoken
from plimsoll.analysis.point.transactions import new_orders_per_min
from plimsoll.errors import InputError
from plimsoll.experiments.kinds import offers_rates, varies_load
from plimsoll.experiments.phrases import level_text
from plimsoll.records import dataclass
from plimsoll.reports.phrases import load_text
from plimsoll.result import Result, tells
from plimsoll.stored import Conclusion, Experiment, Suite
from plimsoll.units import count, megabytes

#: The level of loads of people.
USERS = "users"


@dataclass(frozen=True)
class RunQuestion:
    """What the run was asked, as run.json has it; ``comparison`` where there are several sides."""

    experiments: Sequence[Experiment] = ()
    conclusions: Sequence[Conclusion] = ()
    suite: Suite | None = None
    comparison: Comparison | None = None
    #: What sides are called, by the identity of their results, where they are not called by their own names.
    labels: Mapping[int, str] = field(default_factory=dict)

    def side(self, result: Result, names: Mapping[str, str]) -> str:
        """What the side of a result is called."""
        return self.labels.get(id(result)) or names[result.side]


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


def marks(results: Sequence[Result], asked: RunQuestion) -> list[Marked]:
    """The mark of every subject whose experiment has an objective and raises a load, in the order measured."""
    names = names_of(results)
    definitions = {item["name"]: item for item in asked.experiments}
    subjects: dict[tuple[str, str, str], list[Result]] = {}
    for result in results:
        if result.place.get("level") is not None and varies_load(result.place.get("kind")) and result.place.get("role") == "point":
            subjects.setdefault((result.place["experiment"], result.job.workload, asked.side(result, names)), []).append(result)
    found = []
    for (experiment, workload, side), own in subjects.items():
        text = definitions[experiment].get("objective") if experiment in definitions else None
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
    if (orders := _orders_at(marked, mark)) is not None:
        carried = f"{count(orders)} new orders per minute, {carried}"
    interval = mark_interval(mark, marked.results)
    at = f"{marked.axis} {mark.level:g}"
    if marked.axis == USERS:
        return _of_users(marked, mark, f"{carried}{interval}")
    if mark.failed_by is None:
        return f"{marked.side} carries at least {carried} within '{marked.objective}' ({at}, the highest level measured)"
    return f"{marked.side} carries {carried}{interval} before {passed(mark.failed_by)} ({at})"


def _orders_at(marked: Marked, mark: Mark) -> float | None:
    """New orders per minute at the mark, the mean of its repeats; None of other loads."""
    held = [result for result in marked.results if result.place.get("level") == mark.level]
    rates = [found.value for result in held if (found := new_orders_per_min(result)) is not None]
    return sum(rates) / len(rates) if rates else None


def _of_users(marked: Marked, mark: Mark, load: str) -> str:
    """Where people are counted, they are what is carried."""
    users = f"{marked.side} carries {'at least ' if mark.failed_by is None else ''}{level_text(USERS, mark.level)} ({load})"
    if mark.failed_by is None:
        return f"{users} within '{marked.objective}', the most that were asked for"
    more = "" if mark.next_level is None else f", as it does with {mark.next_level:,.0f}"
    return f"{users} before {passed(mark.failed_by)}{more}"


def mark_interval(mark: Mark, results: Sequence[Result]) -> str:
    if mark.interval is None or not tells(*mark.interval):
        return ""
    per_request = mark.bytes_per_s / mark.iops if mark.iops else 0.0
    factor = spoken(1.0, rate_noun(results))
    low, high = (megabytes(end * per_request) if in_bytes(results) else count(end * factor) for end in mark.interval)
    return f" [{low}, {high}]"


def passed(failed_by: str) -> str:
    """``read mean passes 20 ms`` of ``read mean <= 20ms``; what is no upper limit is said as it was asked."""
    for relation in (" <= ", " < "):
        subject, found, limit = failed_by.partition(relation)
        # What is known to be above is above, although nobody knows by how much.
        limit, _, beside = limit.partition(" (")
        if found and (not beside or " ≥ " in beside):
            return f"{subject} passes {_limit(limit)}"
    return f"'{failed_by}' fails"


def _limit(text: str) -> str:
    """``20 ms`` of ``20ms``."""
    digits = len(text.rstrip("abcdefghijklmnopqrstuvwxyzµ%/ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
    return f"{text[:digits]} {text[digits:]}".strip()


def _axis(definition: Experiment, result: Result) -> str:
    """The option that was raised, as users write it."""
    over = definition.get("over") or []
    if len(over) == 1:
        return str(over[0]["option"])
    level = result.place.get("level")
    named = [name for name, value in (result.place.get("settings") or {}).items() if value == level]
    return named[0] if named else "rate" if offers_rates(result.place.get("kind")) else "level"
