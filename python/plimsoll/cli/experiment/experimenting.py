"""Carries out experiments: resolves and checks everything, starts a run or goes on with an unfinished one, conducts, shows.

Model: an experiment names workloads and settings; here they meet the catalog and the engine. Whatever is known in advance is checked before
anything is touched. The same experiments on the same machine have the same fingerprint, by which an unfinished run is found again; its
results are handed to the planners in place of measurements. Points that look at what the medium holds (``verify = "found"``,
``"journal-check"``) or tell a journal are measured anew every time. What judges and shows results is imported once there are some.

    suite = read_experiments(document, "plimsoll steps", targets=typed["targets"])
    exit_code = carry_out(suite, typed, run_name="steps-oltp-db")
"""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from plimsoll import catalog
from plimsoll import engine as engines
from plimsoll.analysis.definition import arrival, overwrites
from plimsoll.cli.conduct.conducting import Feed, conduct
from plimsoll.cli.conduct.driving import driver_name, driver_of
from plimsoll.cli.conduct.outcome import Found, Outcome
from plimsoll.cli.conduct.permission import check_permitted, permission
from plimsoll.cli.conduct.planning import PlannedPoint
from plimsoll.cli.conduct.pointing import Pointing
from plimsoll.cli.conduct.setup import Setup
from plimsoll.cli.conduct.verifying import check_journalled, is_of_its_moment
from plimsoll.cli.conduct.without_effect import check_effect
from plimsoll.cli.progressing import progress
from plimsoll.engine import Engine, Json
from plimsoll.errors import EXIT_OBJECTIVE_FAILED, InputError
from plimsoll.experiments.experiment import Experiment, Suite
from plimsoll.experiments.kinds import offers_rates
from plimsoll.experiments.naming import TYPED, Place
from plimsoll.experiments.plan import Conclusion, Subject
from plimsoll.experiments.schedule import planned_points, schedule
from plimsoll.host.identity import target_identity
from plimsoll.host.machine import host_facts, versions
from plimsoll.result import Result
from plimsoll.scratch import default_target
from plimsoll.store.resuming import fingerprint, resumed, unfinished_run
from plimsoll.store.writer import RunInfo, RunWriter

if TYPE_CHECKING:
    from plimsoll.analysis.objective import Objective

#: Workloads with the targets that they go to.
Uses = Sequence[tuple[Json, str]]


@dataclass(frozen=True)
class Undertaking:
    """Experiments, resolved and checked; ``name`` is that of the run's directory, ``suite`` what run.json says of their origin."""

    name: str
    experiments: tuple[Experiment, ...]
    pointings: tuple[Pointing, ...]
    suite: Json | None = None


def carry_out(suite: Suite, typed: Mapping[str, Any], *, name: str, folder: str = "", origin: Json | None = None) -> int:
    """Measure all experiments of ``suite`` as typed, and return the exit code. Workload files are looked for in ``folder``.

    Without an ``origin`` the experiment is a typed command, and messages speak of options.
    """
    engine = engines.native()
    experiments = tuple(_resolved(experiment, folder) for experiment in suite.experiments)
    pointings = tuple(Pointing(experiment, engine) for experiment in experiments)
    undertaking = Undertaking(name, experiments, pointings, origin)
    _check(undertaking, typed)
    uses = _uses(undertaking)
    forms = [workload for pointing in pointings for workload in pointing.forms()]
    check_effect(typed, (target for _, target in uses), forms, _written(experiments))
    check_permitted(uses, engine, typed["destroy_data"])
    outcome, run = _measured(undertaking, typed, engine, uses)
    _show(outcome, run.path, undertaking, typed)
    return _asserted(outcome, experiments) if typed.get("asserts") and not outcome.exit_code else outcome.exit_code


def _asserted(outcome: Outcome, experiments: Sequence[Experiment]) -> int:
    """The exit code of a run that has to keep its objectives; what is not known of them is said."""
    from plimsoll.cli.conduct.judging import every_objective_holds, unknown_objectives

    if every_objective_holds(outcome, experiments):
        return 0
    for sentence in unknown_objectives(outcome, experiments):
        click.echo(f"plimsoll: {sentence}", err=True)
    return EXIT_OBJECTIVE_FAILED


def _show(outcome: Outcome, path: str, undertaking: Undertaking, typed: Mapping[str, Any]) -> None:
    from plimsoll.cli.showing import Shown, show

    experiments = undertaking.experiments
    shown = Shown(typed["as_json"], typed["report_path"], experiments=[experiment.to_json() for experiment in experiments])
    if undertaking.suite is None and experiments[0].kind == "single":
        # Of points as they stand, each says for itself whether it kept the objective.
        shown = replace(shown, objective=_objective_of(experiments[0]), concludes=False)
    show(outcome, path, shown)


def _objective_of(experiment: Experiment) -> Objective | None:
    if experiment.objective is None:
        return None
    from plimsoll.analysis.objective import parse_objective

    return parse_objective(experiment.objective)


def _resolved(experiment: Experiment, folder: str) -> Experiment:
    """The experiment with its own or `catalog.sources` for workloads (tags spelled out, files from ``folder``), and a target everywhere."""
    sources = [found for workload in experiment.workloads for found in _sources(workload, experiment, folder)]
    usual = _usual_target(sources, experiment)
    configurations = tuple(replace(one, target=one.target or usual) for one in experiment.configurations)
    return replace(experiment, workloads=tuple(dict.fromkeys(sources)), configurations=configurations)


def _usual_target(sources: Sequence[str], experiment: Experiment) -> str:
    """What is measured where no target is named: a scratch file or a directory; empty where workloads need one of each."""
    usual = {_usual(source, experiment) for source in sources}
    return usual.pop() if len(usual) == 1 else ""


def _usual(source: str, experiment: Experiment) -> str:
    document = experiment.definitions.get(source) or catalog.load(source)
    try:
        return default_target(driver_of(document, engines.native()))
    except InputError as unknown:
        raise InputError(f"{catalog.file_of(source)}: {unknown}") from None


def _sources(workload: str, experiment: Experiment, folder: str) -> list[str]:
    if workload in experiment.definitions:
        return [workload]
    return catalog.sources(os.path.join(folder, workload) if catalog.is_file(workload) else workload)


def _check(undertaking: Undertaking, typed: Mapping[str, Any]) -> None:
    """Everything that can be wrong before the first point."""
    for experiment, pointing in zip(undertaking.experiments, undertaking.pointings, strict=True):
        try:
            pointing.check()
            _check_questions(experiment, pointing.workloads)
        except InputError as problem:
            here = f"experiment {experiment.name!r}"
            raise (Place(here) if undertaking.suite else TYPED).wrong(problem) from None
    if typed.get("asserts") and not any(experiment.objective for experiment in undertaking.experiments):
        raise InputError("--assert: there is no objective that could hold; give one, for example --objective 'p99 <= 5ms'.")
    if typed["report_path"] is not None:
        from plimsoll.cli.report import checked_format

        checked_format(typed["report_path"])


def _check_questions(experiment: Experiment, workloads: Sequence[Sequence[Json]]) -> None:
    """What is asked of the results must be something that the workloads can answer."""
    metric = experiment.parameters.get("metric")
    if experiment.objective is not None or experiment.precision is not None or metric is not None:
        from plimsoll.cli.conduct.judging import check_metric, check_objective, check_precision

        check_objective(experiment.objective, workloads, rated=offers_rates(experiment))
        check_precision(experiment.precision, workloads)
        check_metric(metric, workloads)
    # Of every other kind each form makes more than one point.
    times = experiment.repeat if experiment.kind == "single" else 2
    check_journalled(workload for forms in workloads for workload in forms for _ in range(times))
    if experiment.kind == "curve" and experiment.parameters["maximum"] is None:
        waiting = [workload["name"] for forms in workloads for workload in forms if arrival(workload) != "closed"]
        if waiting:
            raise InputError(
                f"the maximum is looked for in a closed loop, but {waiting[0]} has open arrival; set arrival=closed, or name the maximum."
            )


def _measured(undertaking: Undertaking, typed: Mapping[str, Any], engine: Engine, uses: Uses) -> tuple[Outcome, RunWriter]:
    host = host_facts()
    totals = [planned_points(experiment) for experiment in undertaking.experiments]
    total = None if None in totals else sum(number for number in totals if number is not None)
    opening = _Opening(host, total, _identities(uses, engine))
    run, stored = _opened(undertaking, typed, opening)
    shown = progress(quiet=typed["quiet"])
    setup = Setup(engine, run, shown, host, permission(typed["destroy_data"]), typed["keep"], total=total, stored=stored)
    return conduct(_feed(undertaking), setup), run


@dataclass(frozen=True)
class _Opening:
    """What a run is told of its surroundings: the host, how many points there will be, and what its targets are."""

    host: Json
    total: int | None
    identities: Json


def _uses(undertaking: Undertaking) -> Uses:
    """Every target once for each driver, with a workload that writes to it where there is one: grids have thousands of alike points."""
    found: dict[tuple[str | None, str], Json] = {}
    for pointing in undertaking.pointings:
        for workload, target in pointing.applied():
            use = (driver_name(workload), target)
            if use not in found or (overwrites(workload) and not overwrites(found[use])):
                found[use] = workload
    return [(workload, target) for (_, target), workload in found.items()]


def _written(experiments: Sequence[Experiment]) -> Json:
    """The options of `check_effect` that the experiments set; the first that does speaks for all."""
    settings = [table for one in experiments for table in (one.settings, *(item.settings for item in one.configurations))]
    found = {"size": next((table["size"] for table in settings if "size" in table), None)}
    return found | {"cache": next((one.cache for one in experiments if one.cache != "as found"), None)}


def _identities(uses: Uses, engine: Engine) -> Json:
    """Which storage each target is: another disk under the same path is another run."""
    return {target: target_identity(driver_of(workload, engine).inspect_target(target)) for workload, target in uses}


def _opened(undertaking: Undertaking, typed: Mapping[str, Any], opening: _Opening) -> tuple[RunWriter, list[Result]]:
    """A run to write to: an unfinished one of the same, with what it measured, or a new one."""
    definitions = [experiment.to_json() for experiment in undertaking.experiments]
    workloads = [pointing.definitions() for pointing in undertaking.pointings]
    mark = fingerprint([definitions, workloads, os.getcwd(), opening.identities], opening.host, versions())
    anew = typed["fresh"] or any(is_of_its_moment(workload) for pointing in undertaking.pointings for workload in pointing.forms())
    found = None if anew else unfinished_run(typed["out"], mark)
    if found is not None:
        run, stored = resumed(found, typed["label"])
        points = "1 point is" if len(stored) == 1 else f"{len(stored)} points are"
        click.echo(f"resuming {found.path}: {points} there (--fresh starts anew)", err=True)
        return run, stored
    info = RunInfo(
        name=undertaking.name,
        command=["plimsoll", *sys.argv[1:]],
        points_planned=opening.total,
        host=opening.host,
        versions=versions(),
        label=typed["label"],
        experiments=definitions,
        suite=undertaking.suite,
        fingerprint=mark,
    )
    return RunWriter.create(typed["out"], info), []


def _feed(undertaking: Undertaking) -> Feed:
    """The points of all experiments, one experiment after the other."""
    found: list[Found] = []
    for experiment, pointing in zip(undertaking.experiments, undertaking.pointings, strict=True):
        measured: list[Result] = []
        conclusions = yield from _points(experiment, pointing, measured)
        concluded = [Found(experiment.name, subject, conclusion) for subject, conclusion in conclusions.items()]
        found += _marked(concluded, measured, experiment)
    return found


def _marked(concluded: Sequence[Found], measured: Sequence[Result], experiment: Experiment) -> Sequence[Found]:
    if experiment.objective is None:
        return concluded
    from plimsoll.cli.conduct.judging import marked

    return [marked(one, measured, experiment.objective) for one in concluded]


def _points(
    experiment: Experiment, pointing: Pointing, measured: list[Result]
) -> Generator[PlannedPoint, Result, Mapping[Subject, Conclusion]]:
    """The points of one experiment; ``measured`` takes their results."""
    plan = schedule(experiment)
    try:
        request = next(plan)
        while True:
            result = yield pointing.point(request)
            measured.append(result)
            request = plan.send(result)
    except StopIteration as end:
        conclusions: Mapping[Subject, Conclusion] = end.value
        return conclusions
