"""What a run shows at its end: the table or the JSON document, and where the results are.

show(outcome, run.path, Shown(as_json=False))
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import click

from plimsoll.analysis.comparison.of_run import objectives_of
from plimsoll.analysis.objective.judgement import Objective, judge
from plimsoll.analysis.objective.misses import missed
from plimsoll.cli.report import open_page, write_report
from plimsoll.experiments.kinds import ADAPTIVE, KINDS_BY_NAME
from plimsoll.points.outcome import Found, Outcome
from plimsoll.store.reader import StoredRun, open_run
from plimsoll.store.writer import RUN_SCHEMA
from plimsoll.stored import Json

if TYPE_CHECKING:
    from plimsoll.analysis.price.per_unit import Prices
    from plimsoll.reports.answer import Answer
    from plimsoll.reports.terminal.findings import Concluded
    from plimsoll.reports.terminal.screen import Screen
    from plimsoll.result import Result
    from plimsoll.stored import Experiment
    from plimsoll.uncertainty.figures import Plan


#: So many intervals are drawn within about a second.
_DRAWN_AT_ONCE = 1_000


@dataclass(frozen=True)
class Shown:
    """How the end of a run is shown. ``experiments`` are definitions; without them the JSON document holds results only."""

    as_json: bool = False
    report_path: str | None = None
    #: Whether the report is opened in a browser.
    opens: bool = False
    #: What is drawn of modelled arrays before anything is shown.
    draws: Plan | None = None
    objective: Objective | None = None
    experiments: Sequence[Experiment] | None = None
    #: Whether conclusions are worth words beside the points.
    concludes: bool = True
    #: The last that is said on a terminal, and the first keys of the document.
    ending: str = ""
    first: Json = field(default_factory=dict)


def show(outcome: Outcome, path: str, shown: Shown) -> None:
    """Print the end of a run and write its report."""
    from plimsoll.cli.screen import say

    outcome = _drawn(outcome, path, shown.draws)
    prices = _prices(path)
    if shown.as_json:
        priced = {} if prices is None else {"prices": prices.to_json()}
        json.dump({**_document(outcome, shown, prices), **priced}, sys.stdout, ensure_ascii=False)
        sys.stdout.write("\n")
    elif outcome.results:
        say("\n\n".join(_texts(outcome, shown, prices)))
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
        say(f"\n{shown.ending}")


def _drawn(outcome: Outcome, path: str, plan: Plan | None) -> Outcome:
    """The outcome with the intervals of modelled figures; one that was stopped is shown as it stands."""
    if plan is None or not plan.draws or outcome.interrupted or not any(result.modelled for result in outcome.results):
        return outcome
    from plimsoll.cli.uncertainty import draw

    run = open_run(path)
    draw([run], plan)
    drawn = {point.id: point.result for point in run.points}
    return replace(outcome, results=[drawn.get(result.id, result) for result in outcome.results])


def _reported(outcome: Outcome, run: StoredRun, shown: Shown) -> str:
    """Where the report is. Who stops a run does not wait for that of many hours, unless a file for it was asked for."""
    drawn = sum(point.interval_count() for point in run.points)
    if outcome.interrupted and shown.report_path is None and drawn > _DRAWN_AT_ONCE:
        return f"not drawn, since the run was stopped and has {drawn:,} intervals; 'plimsoll report {run.path}' draws it"
    return write_report([run], shown.report_path)


def tables(results: Sequence[Result], here: Screen, objectives: Mapping[str, Objective] | None = None) -> list[str]:
    """What was measured, as tables; those of which there is nothing are empty."""
    from plimsoll.reports.layouts import by_side, layouts_text
    from plimsoll.reports.terminal import analytics, decision, durability, mail, mailstore, orders
    from plimsoll.reports.terminal.details import journal_text, replay_text
    from plimsoll.reports.terminal.host_use import host_levels
    from plimsoll.reports.terminal.hosts import hosts
    from plimsoll.reports.terminal.io_test import io_test
    from plimsoll.reports.terminal.points import legend, operations, points

    return [
        points(results, here, objectives),
        here.wrapped(legend(results)),
        operations(results, here),
        hosts(results, here),
        decision.runs(results, here),
        decision.phases(results, here),
        decision.queries(results, here),
        orders.commits(results, here),
        mail.users(results, here),
        mail.tasks(results, here),
        mail.kills(results, here),
        durability.kills(results, here),
        mailstore.stores(results, here),
        io_test(results, here),
        analytics.workflows(results, here),
        host_levels(results, here),
        layouts_text(by_side(results), here),
        replay_text(results),
        journal_text(results),
    ]


def _texts(outcome: Outcome, shown: Shown, prices: Prices | None) -> list[str]:
    """The answer, then the tables, what was found, and what to know about it."""
    from plimsoll.cli.screen import screen
    from plimsoll.reports.terminal.findings import conclusions, kept
    from plimsoll.reports.terminal.footnotes import footnotes

    here, results = screen(), outcome.results
    texts = [
        "" if shown.ending else here.wrapped(here.paint(_answer(outcome, shown).sentence, "strong")),
        *tables(results, here, objectives_of(shown.experiments or ())),
        conclusions(_concluded(outcome), here) if shown.concludes else "",
    ]
    if shown.objective is not None:
        texts.append(kept(shown.objective, results, here))
    return [text for text in (*texts, _prices_text(prices, here), footnotes(results, here)) if text]


def _prices(path: str) -> Prices | None:
    """What the sides of the run cost, where it was told."""
    run = open_run(path)
    if not run.meta.get("prices"):
        return None
    from plimsoll.points.prices import prices_of_runs

    return prices_of_runs([run])


def _prices_text(prices: Prices | None, screen: Screen) -> str:
    if prices is None:
        return ""
    from plimsoll.reports.terminal.price import prices_text

    return prices_text(prices, screen)


def _answer(outcome: Outcome, shown: Shown) -> Answer:
    """What the run says first of all."""
    from plimsoll.analysis.comparison.of_run import comparison_of
    from plimsoll.reports.answer import answer
    from plimsoll.reports.marks import RunQuestion

    experiments = list(shown.experiments or ())
    conclusions = [found.to_json() for found in outcome.found]
    comparison = None if outcome.interrupted else comparison_of(outcome.results, experiments, adaptive=ADAPTIVE)
    return answer(outcome.results, RunQuestion(experiments, conclusions, comparison=comparison))


def _first(outcome: Outcome, shown: Shown) -> Json:
    """The answer as the document has it: its sentence, its figures, and what it is in doubt for."""
    found = _answer(outcome, shown).to_json()
    return {"answer": found["sentence"], "cards": found["cards"], "doubts": found["doubts"]}


def _concluded(outcome: Outcome) -> list[Concluded]:
    """Every conclusion with its place; a side that is modelled is said to be."""
    from plimsoll.analysis.comparison.names import names_of
    from plimsoll.analysis.point.metric import rate_noun
    from plimsoll.reports.terminal.findings import Concluded

    names, modelled = names_of(outcome.results), {result.side for result in outcome.results if result.modelled}
    concluded = []
    for found in outcome.found:
        subject, conclusion = found.subject, found.conclusion
        side = subject.configuration.name
        where = names.get(side, side) + (" (modelled)" if side in modelled else "")
        axis = conclusion.figures.get("axis", "rate" if KINDS_BY_NAME[found.kind].offers_rates else "level")
        noun = rate_noun([result for result in outcome.results if result.job.workload == subject.workload])
        concluded.append(Concluded(found.experiment, subject.workload, where, conclusion.sentences, conclusion.mark, axis, noun))
    return concluded


def _document(outcome: Outcome, shown: Shown, prices: Prices | None) -> Json:
    document: Json = {"schema": RUN_SCHEMA, **shown.first, "results": [result.to_json() for result in outcome.results]}
    if shown.experiments is not None:
        document["experiments"] = list(shown.experiments)
        document["conclusions"] = [found.to_json() for found in outcome.found]
        document.update(shown.first or {**_first(outcome, shown), **_mark(outcome.found)})
    from plimsoll.analysis.derivation import notices
    from plimsoll.reports import analytics, decision, durability, io_test, mail, mailstore

    document["notices"] = list(notices(outcome.results))
    document.update(decision.document(outcome.results, {} if prices is None else prices.by_side))
    document.update(durability.document(outcome.results))
    document.update(io_test.document(outcome.results))
    document.update(analytics.document(outcome.results))
    document.update(mail.document(outcome.results))
    document.update(mailstore.document(outcome.results, document.get("conclusions", ()), document.get("mark")))
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
    return found.conclusion.mark is not None or KINDS_BY_NAME[found.kind].seeks_mark
