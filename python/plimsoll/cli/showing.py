"""What a run shows at its end: the table or the JSON document, and where the results are.

show(outcome, run.path, Shown(as_json=False))
"""

from __future__ import annotations

import json
import sys
from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import click

from plimsoll.analysis.objective.judgement import Objective, judge
from plimsoll.analysis.objective.missed import missed
from plimsoll.cli.report import open_page, write_report
from plimsoll.engine import Json
from plimsoll.experiments.kinds import KINDS_BY_NAME
from plimsoll.points.outcome import Found, Outcome
from plimsoll.store.reader import StoredRun, open_run
from plimsoll.store.writer import RUN_SCHEMA

if TYPE_CHECKING:
    from plimsoll.reports.terminal.findings import Concluded


#: So many intervals are drawn within about a second.
_DRAWN_AT_ONCE = 1_000


@dataclass(frozen=True)
class Shown:
    """How the end of a run is shown. ``experiments`` are definitions; without them the JSON document holds results only."""

    as_json: bool = False
    report_path: str | None = None
    #: Whether the report is opened in a browser.
    opens: bool = False
    objective: Objective | None = None
    experiments: Sequence[Json] | None = None
    #: Whether conclusions are worth words beside the points.
    concludes: bool = True
    #: The last that is said on a terminal, and the first keys of the document.
    ending: str = ""
    first: Json = field(default_factory=dict)


def show(outcome: Outcome, path: str, shown: Shown) -> None:
    """Print the end of a run and write its report."""
    if shown.as_json:
        json.dump(_document(outcome, shown), sys.stdout, ensure_ascii=False)
        sys.stdout.write("\n")
    elif outcome.results:
        click.echo("\n\n".join(_texts(outcome, shown)))
    click.echo(f"\nresults  {path}", err=shown.as_json)
    if outcome.results:
        report = _reported(outcome, open_run(path), shown)
        click.echo(f"report   {report}", err=shown.as_json)
        if shown.opens:
            open_page(report)
    for left in outcome.left:
        click.echo(f"plimsoll: {left}", err=True)
    if outcome.sentence is not None:
        click.echo(f"plimsoll: {outcome.sentence}", err=True)
    if shown.ending and not shown.as_json:
        click.echo(f"\n{shown.ending}")


def _reported(outcome: Outcome, run: StoredRun, shown: Shown) -> str:
    """Where the report is. Who stops a run does not wait for that of many hours, unless a file for it was asked for."""
    drawn = sum(point.interval_count() for point in run.points)
    if outcome.interrupted and shown.report_path is None and drawn > _DRAWN_AT_ONCE:
        return f"not drawn, since the run was stopped and has {drawn:,} intervals; 'plimsoll report {run.path}' draws it"
    return write_report([run], shown.report_path)


def _texts(outcome: Outcome, shown: Shown) -> list[str]:
    from plimsoll.reports.terminal.details import journal_text, replay_text
    from plimsoll.reports.terminal.findings import conclusions, kept
    from plimsoll.reports.terminal.host_use import host_levels
    from plimsoll.reports.terminal.points import footnotes, operations, points

    modelled = {result.place.get("configuration") for result in outcome.results if result.modelled}
    texts = [
        points(outcome.results),
        operations(outcome.results),
        host_levels(outcome.results),
        replay_text(outcome.results),
        journal_text(outcome.results),
        conclusions([_concluded(found, modelled) for found in outcome.found]) if shown.concludes else "",
    ]
    if shown.objective is not None:
        texts.append(kept(shown.objective, outcome.results))
    return [text for text in (*texts, footnotes(outcome.results)) if text]


def _concluded(found: Found, modelled: Container[str | None]) -> Concluded:
    from plimsoll.reports.terminal.findings import Concluded

    subject, conclusion = found.subject, found.conclusion
    axis = conclusion.figures.get("axis", "rate" if KINDS_BY_NAME[conclusion.kind].offers_rates else "level")
    name = subject.configuration.name
    where = f"{name} (modelled)" if name in modelled else name
    return Concluded(found.experiment, subject.workload, where, conclusion.sentences, conclusion.mark, axis)


def _document(outcome: Outcome, shown: Shown) -> Json:
    document: Json = {"schema": RUN_SCHEMA, **shown.first, "results": [result.to_json() for result in outcome.results]}
    if shown.experiments is not None:
        document["experiments"] = list(shown.experiments)
        document["conclusions"] = [found.to_json() for found in outcome.found]
        document.update(shown.first or _mark(outcome.found))
    if shown.objective is not None:
        judgements = [judge(shown.objective, result) for result in outcome.results]
        document["objective"] = {
            "text": shown.objective.text,
            "holds": bool(judgements) and all(judgement.holds for judgement in judgements),
            "points": [
                {
                    "id": result.id,
                    "holds": judgement.holds,
                    "settled": judgement.settled,
                    "failed_by": judgement.failed_by,
                    "missed": missed(judgement),
                }
                for result, judgement in zip(outcome.results, judgements, strict=True)
            ],
        }
    return document


def _mark(found: Sequence[Found]) -> Json:
    """The key ``mark`` when exactly one subject looked for one; null when no level held."""
    seekers = [one.conclusion for one in found if seeks_mark(one)]
    if len(seekers) != 1:
        return {}
    mark = seekers[0].mark
    return {"mark": None if mark is None else mark.to_json()}


def seeks_mark(found: Found) -> bool:
    """Whether the experiment looked for the highest load at which its objective holds."""
    return found.conclusion.mark is not None or KINDS_BY_NAME[found.conclusion.kind].seeks_mark
