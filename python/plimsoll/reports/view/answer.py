"""What the report begins with: its title, the answer in one sentence, and the figures beside it.

Model: the title is what the user called the run, else the suite, else the question: the load and what was asked of it. The sentence and the
cards are those of `plimsoll.reports.answer`, so the page and the terminal say the same.

    answer_view(metas, members, labels, compared)["sentence"]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from plimsoll.analysis.comparison.comparison import Comparison
from plimsoll.near import listed
from plimsoll.reports.answer import answer
from plimsoll.reports.marks import RunQuestion
from plimsoll.reports.view.experiments import Member

#: Names of more things than this are counted, not listed.
_LISTED = 3


class CardView(TypedDict):
    """A figure of the answer, and the point that it was read from."""

    label: str
    value: str
    detail: str
    point: int | None


class AnswerView(TypedDict):
    """What the page begins with."""

    title: str
    sentence: str
    cards: list[CardView]


def answer_view(
    metas: Sequence[Mapping[str, Any]], members: Sequence[Member], labels: Sequence[str], compared: Comparison | None
) -> AnswerView:
    """``labels`` are those of the configurations; ``compared`` is what the report compares, if anything."""
    indices = {id(member.result): member.index for member in members}
    sides = {id(member.result): labels[member.configuration] for member in members}
    experiments = [definition for meta in metas for definition in meta.get("experiments") or []]
    conclusions = [conclusion for meta in metas for conclusion in meta.get("conclusions") or []]
    suite = metas[0].get("suite") if len(metas) == 1 else None
    found = answer([member.result for member in members], RunQuestion(experiments, conclusions, suite, compared, sides))
    return {
        "title": _title(metas, members, labels),
        "sentence": found.sentence,
        "cards": [
            {
                "label": card.label,
                "value": card.value,
                "detail": card.detail,
                "point": indices[id(card.result)] if card.result is not None else None,
            }
            for card in found.cards
        ],
    }


def _title(metas: Sequence[Mapping[str, Any]], members: Sequence[Member], labels: Sequence[str]) -> str:
    called = [meta.get("label") for meta in metas]
    if metas and all(called):
        return " against ".join(dict.fromkeys(str(label) for label in called))
    suites = {(meta.get("suite") or {}).get("title") or "" for meta in metas}
    if len(suites) == 1 and (title := suites.pop()):
        return str(title)
    if not members:
        return "Nothing measured"
    workloads = list(dict.fromkeys(member.result.job.title for member in members))
    load = listed(workloads, "and") if len(workloads) <= _LISTED else f"{len(workloads)} workloads"
    objectives = {definition.get("objective") for meta in metas for definition in meta.get("experiments") or []} - {None}
    asked = f" within {objectives.pop()}" if len(objectives) == 1 else ""
    where = listed(list(labels), "and") if len(labels) <= _LISTED else f"{len(labels)} sides"
    return f"{load}{asked} on {where}"
