"""Carries out experiments: resolves and checks everything, starts a run or goes on with an unfinished one, conducts, shows.

Model: an experiment names workloads and settings; here they meet the catalog and the engine. Whatever is known in advance is checked before
anything is touched. The same experiments on the same machine have the same fingerprint, by which an unfinished run is found again; its
results are handed to the planners in place of measurements. Points that look at what the medium holds (``verify = "found"``,
``"journal-check"``) or tell a journal are measured anew every time. What judges and shows results is imported once there are some.

    suite = read_experiments(document, TYPED, targets=["/dev/sdb"])
    carry_out(Undertaking(suite, "steps-oltp-db"), complete({"fresh": True}), Listener()).results
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from plimsoll import catalog
from plimsoll.analysis.point.definition import overwrites, streams
from plimsoll.displayed import quoted
from plimsoll.engine import block as block_engine
from plimsoll.engine.protocol import Engine
from plimsoll.errors import InputError
from plimsoll.experiments.document import TYPED, Source
from plimsoll.experiments.experiment import Experiment, Suite
from plimsoll.experiments.kinds import KINDS_BY_NAME
from plimsoll.experiments.outlook import is_known, known_requests
from plimsoll.experiments.schedule import offers_rates, planned_points
from plimsoll.host.machine import host_facts, versions
from plimsoll.host.target import target_facts, target_identity
from plimsoll.layouts.known import names
from plimsoll.passwords import withheld
from plimsoll.points.ahead import MODELS as VIRTUAL
from plimsoll.points.ahead import Hands
from plimsoll.points.asked import Asked
from plimsoll.points.drivers import driver_of
from plimsoll.points.experiment_points import ExperimentPoints
from plimsoll.points.feed import feed
from plimsoll.points.ineffective_options import check_effect
from plimsoll.points.layouts import Layouts
from plimsoll.points.listener import Listener, Remark
from plimsoll.points.looks import Looks
from plimsoll.points.loop import conduct
from plimsoll.points.outcome import Outcome
from plimsoll.points.own_size import fitted, has_own_size
from plimsoll.points.permission import check_distinct, check_permitted, permission
from plimsoll.points.point import PlannedPoint
from plimsoll.points.preconditions import check_journalled, check_meant, is_of_its_moment
from plimsoll.points.preview import Preview, brief, preview
from plimsoll.points.setup import Setup
from plimsoll.result import Result
from plimsoll.scratch import default_target, smaller_than_usual
from plimsoll.store.resumption import fingerprint, resume_run, unfinished_run
from plimsoll.store.writer import RunInfo, RunWriter
from plimsoll.stored import Conclusion as Concluded
from plimsoll.stored import Definition, HostFacts, Json, StoredPrice
from plimsoll.stored import Suite as Origin
from plimsoll.tables.tabular import Tabular
from plimsoll.target import Composer, Target

if TYPE_CHECKING:
    from plimsoll.store.reader import StoredRun
    from plimsoll.tables.split import By
    from plimsoll.tables.table import Table

#: Kinds of target that no device and no memory of this host is behind.
_MODELS = ("array", "queue", "null")
#: Workloads with the targets that they go to.
Uses = Sequence[tuple[Definition, Target]]


@dataclass(frozen=True)
class Undertaking:
    """Experiments to carry out; ``name`` is that of the run's directory, workload files are looked for in ``folder``.

    ``origin`` is what run.json says of the suite or file. Without one the experiment was typed, and messages speak of options.
    """

    suite: Suite
    name: str
    folder: str = ""
    origin: Origin | None = None
    #: The settings that were typed, of a shipped suite; None where all settings are the user's.
    typed_settings: frozenset[str] | None = None
    #: Makes the targets of all experiments, and has made those that were looked at before.
    composer: Composer = field(default_factory=Composer)


@dataclass(frozen=True)
class Run(Tabular):
    """What came of an undertaking: stored at ``path``, measured now or before it was resumed."""

    path: str
    outcome: Outcome
    experiments: tuple[Experiment, ...]
    origin: Origin | None = None

    def table(self, by: By = "point") -> Table:
        """A row per point and operation, as it is stored, with what its side costs; ``by`` stream or part, a row for each of those."""
        from plimsoll.points.prices import priced_points
        from plimsoll.store.reader import open_run
        from plimsoll.tables.points import points_table

        stored = [open_run(self.path)]
        return points_table(stored, priced_points(stored), by)

    @property
    def results(self) -> list[Result]:
        """A result for every point, in the order measured."""
        return self.outcome.results

    @property
    def conclusions(self) -> list[Concluded]:
        """What the experiments found, as run.json has it."""
        return [found.to_json() for found in self.outcome.found]

    @property
    def exit_code(self) -> int:
        """What the command would end with."""
        return self.outcome.exit_code

    def holds(self) -> bool:
        """Whether every objective holds; False where there is none."""
        from plimsoll.points.verdicts import every_objective_holds

        return every_objective_holds(self.outcome, self.experiments)

    def missed(self) -> list[str]:
        """A sentence for each objective that does not hold: the value, and by how much it missed the limit."""
        from plimsoll.points.verdicts import missed_objectives

        return missed_objectives(self.outcome, self.experiments)

    def unknown(self) -> list[str]:
        """A sentence for each objective that nothing but too few requests keeps from holding."""
        from plimsoll.points.verdicts import unknown_objectives

        return unknown_objectives(self.outcome, self.experiments)


def carry_out(undertaking: Undertaking, asked: Asked, listener: Listener) -> Run:
    """Measure all experiments as ``asked``."""
    others = listener.others
    if others is not None:
        # From here on targets are read.
        others.mark()
    with engine_for(asked) as engine:
        resolved, uses = _ready(undertaking, asked, listener, engine)
        listener.planned(brief(resolved.experiments, resolved.points))
        if _left_behind(resolved):
            from plimsoll.points.planned_layout import check_layouts, take_back_left

            layouts = resolved.layouts
            layouts.own |= take_back_left(layouts.all(), listener.remark)
            check_layouts(layouts.all(), block_engine.native(), asked.destroy_data, own=layouts.own)
        outcome, run = _measured(resolved, asked, listener, uses)
    return Run(run.path, outcome, resolved.experiments, undertaking.origin)


@contextmanager
def engine_for(asked: Asked) -> Iterator[Engine]:
    """The engine of this host, or the hosts that are asked for, as one."""
    if not asked.hosts:
        if asked.share:
            raise InputError(f"--share {asked.share}: this host measures alone; name several with --hosts, or leave --share out.")
        yield block_engine.native()
        return
    from plimsoll.points.gang import gang_for

    with gang_for(asked) as engine:
        yield engine


def preview_of(undertaking: Undertaking, asked: Asked, listener: Listener) -> Preview:
    """What `carry_out` would do, with the same checks; nothing is touched. A run that would go on is remarked."""
    with engine_for(asked) as engine:
        resolved, uses = _ready(undertaking, asked, listener, engine)
        found = _unfinished(resolved, asked, _Opening(host_facts(), None, _identities(resolved, uses)))[1]
        if found is not None:
            listener.remark(f"{found.path} would go on, where {len(found.points)} points are begun (--fresh starts anew)")
        for name in _left_behind(resolved):
            listener.remark(f"the layout {quoted(name)} was left behind by a killed run and would be taken away first")
        found_all = preview(resolved.experiments, resolved.points, [use for use in uses if not use[1].layout], engine)
        return replace(found_all, name=undertaking.name, layouts=tuple(one.to_json() for one in resolved.layouts.all()))


def brief_of(undertaking: Undertaking) -> Preview:
    """How many points it takes and for how long, without a look at its targets."""
    engine = block_engine.native()
    experiments = [_resolved(experiment, undertaking.folder, engine) for experiment in undertaking.suite.experiments]
    layouts = Layouts(composer=undertaking.composer, looks=False)
    return brief(experiments, [ExperimentPoints(experiment, engine, layouts) for experiment in experiments])


def _ready(undertaking: Undertaking, asked: Asked, listener: Listener, engine: Engine) -> tuple[_Resolved, Uses]:
    """The undertaking with its targets, once everything that is known in advance was found right."""
    layouts = Layouts(asked.on, undertaking.composer)
    looks = Looks(engine, lambda target: layouts.at(target.layout).inspection(target))
    experiments = tuple(_resolved(experiment, undertaking.folder, engine) for experiment in undertaking.suite.experiments)

    def with_points(experiments: tuple[Experiment, ...]) -> _Resolved:
        typed = undertaking.typed_settings
        points = tuple(ExperimentPoints(experiment, engine, layouts, typed=typed, looks=looks) for experiment in experiments)
        return _Resolved(undertaking, experiments, points, looks, layouts, engine)

    resolved = with_points(experiments)
    if asked.hosts and undertaking.origin and not _types_size(asked):
        # What hosts measure only they know; here it was not looked at while the suite was read.
        own = {target.text for workload, target in _uses(resolved) if has_own_size(looks.at(workload, target))}
        experiments = fitted(experiments, own.__contains__)
        resolved = with_points(experiments)
    _check(resolved)
    _prices(resolved, asked)
    uses = _uses(resolved)
    for workload, target in uses:
        check_meant(workload, target)
    check_effect(asked, (target for _, target in uses), list(resolved.forms()), _written(experiments), listener.remark)
    if len(asked.targets) > 1:
        check_distinct(uses, looks)
    check_permitted([use for use in uses if not use[1].layout], engine, asked.destroy_data, looks)
    _check_layouts(resolved, asked)
    if layouts.all():
        # A run without layouts starts without what plans and makes them.
        from plimsoll.points.planned_layout import check_layouts

        check_layouts(layouts.all(), engine, asked.destroy_data, own=layouts.own)
    if _written(experiments)["size"] is None:
        _say_small_sizes(uses, looks, listener.remark)
    return resolved, uses


def _types_size(asked: Asked) -> bool:
    return asked.size is not None or any(word.partition("=")[0].strip() == "size" for word in asked.settings)


def _left_behind(resolved: _Resolved) -> list[str]:
    """The layouts that killed runs have left on devices of this one."""
    if not (resolved.layouts.all() or names()):
        return []
    from plimsoll.points.planned_layout import left_behind

    return left_behind(resolved.layouts.all())


def _check_layouts(resolved: _Resolved, asked: Asked) -> None:
    """What was asked for must suit layouts that come and go."""
    planned = resolved.layouts.all()
    if asked.on and not planned:
        raise InputError("--on names the devices of layouts, and no target is one; write --target layout:NAME, or leave --on out.")
    if asked.keep and planned:
        raise InputError(
            f"--keep has no effect on {planned[0].text}, which is taken away with all that is on it; leave it out, or make the layout with"
            " 'plimsoll layout apply' and measure it there."
        )
    shared = any(one.members & other.members for one in planned for other in planned if one is not other)
    for experiment in resolved.experiments if shared else ():
        if experiment.interleave and KINDS_BY_NAME[experiment.kind].fills(experiment):
            raise InputError(
                f"experiment {quoted(experiment.name)} fills its targets first, and layouts on the same devices take turns with"
                " 'interleave': what was filled would be gone; leave 'interleave' out."
            )


def _say_small_sizes(uses: Uses, looks: Looks, remark: Remark) -> None:
    """A line for each scratch file that gets less than the usual size, for want of space."""
    for workload, target in uses:
        found = smaller_than_usual(looks.at(workload, target))
        if found:
            remark(found)


def _say_what_others_do(uses: Uses, looks: Looks, listener: Listener) -> None:
    """A line on what would make the numbers wrong from the first request on; models are alone in their time."""
    real = [(workload, target) for workload, target in uses if target.kind not in _MODELS and not target.layout]
    if listener.others is None or not real:
        return
    from plimsoll.doctor.look import quick_look

    found = quick_look([target_facts({"spec": target.text, **looks.at(workload, target)}) for workload, target in real], listener.others)
    if found:
        listener.remark(f"before the start: {found} ('plimsoll doctor' says what helps).")


@dataclass(frozen=True)
class _Resolved:
    """An undertaking whose workloads and targets are known, with what makes the points of each experiment."""

    asked: Undertaking
    experiments: tuple[Experiment, ...]
    points: tuple[ExperimentPoints, ...]
    looks: Looks
    layouts: Layouts
    engine: Engine

    def forms(self) -> Iterator[Definition]:
        """Every workload in every form that is known."""
        return (workload for points in self.points for workload in points.forms())


def _resolved(experiment: Experiment, folder: str, engine: Engine) -> Experiment:
    """The experiment with its own or `catalog.sources` for workloads (tags spelled out, files from ``folder``), and a target everywhere."""
    sources = [found for workload in experiment.workloads for found in _sources(workload, experiment, folder)]
    usual = _usual_target(sources, experiment, engine)
    configurations = tuple(replace(one, target=one.target or usual) for one in experiment.configurations)
    return replace(experiment, workloads=tuple(dict.fromkeys(sources)), configurations=configurations)


def _usual_target(sources: Sequence[str], experiment: Experiment, engine: Engine) -> str:
    """What is measured where no target is named: a scratch file or a directory; empty where workloads need one of each."""
    usual = {_usual(source, experiment, engine) for source in sources}
    return usual.pop() if len(usual) == 1 else ""


def _usual(source: str, experiment: Experiment, engine: Engine) -> str:
    document = experiment.definitions.get(source) or catalog.load(source)
    try:
        return default_target(driver_of(document, engine))
    except InputError as unknown:
        raise InputError(f"{catalog.file_of(source)}: {unknown}") from None


def _sources(workload: str, experiment: Experiment, folder: str) -> list[str]:
    if workload in experiment.definitions:
        return [workload]
    return catalog.sources(os.path.join(folder, workload) if catalog.is_file(workload) else workload)


def _check(resolved: _Resolved) -> None:
    """Everything that can be wrong before the first point."""
    for experiment, points in zip(resolved.experiments, resolved.points, strict=True):
        try:
            points.check()
            _check_questions(experiment, points.workloads)
        except InputError as problem:
            here = f"experiment {quoted(experiment.name)}"
            raise (Source(here) if resolved.asked.origin else TYPED).wrong(problem) from None


def _check_questions(experiment: Experiment, workloads: Sequence[Sequence[Definition]]) -> None:
    """What is asked of the results must be something that the workloads can answer."""
    metric = experiment.parameters.get("metric")
    if experiment.objective is not None or experiment.precision is not None or metric is not None:
        from plimsoll.points.verdicts import check_metric, check_objective, check_precision

        check_objective(experiment.objective, workloads, rated=offers_rates(experiment))
        check_precision(experiment.precision, workloads)
        check_metric(metric, workloads)
    kind = KINDS_BY_NAME[experiment.kind]
    # Of every other kind each form makes more than one point.
    times = experiment.repeat if kind.as_it_stands else 2
    check_journalled(workload for forms in workloads for workload in forms for _ in range(times))
    refusal = kind.unsuited(experiment, [workload for forms in workloads for workload in forms])
    if refusal is not None:
        raise InputError(refusal)


def _measured(resolved: _Resolved, asked: Asked, listener: Listener, uses: Uses) -> tuple[Outcome, RunWriter]:
    engine, host = resolved.engine, host_facts()
    totals = [planned_points(experiment) for experiment in resolved.experiments]
    total = None if None in totals else sum(number for number in totals if number is not None)
    opening = _Opening(host, total, _identities(resolved, uses))
    run, stored = _opened(resolved, asked, opening, listener)
    listener.begun(run.path)
    # Models load no host: their points are whole points of one, as if this one had measured them.
    loads_hosts = any(target.document is None and target.kind not in VIRTUAL for _, target in uses)
    if loads_hosts and (serve := getattr(engine, "serve", None)) is not None:
        run.keep_gang(serve(run.path))
        # Of several hosts each has its own facts, in its own results.
        host = {}
    setup = Setup(
        engine, run, listener, host, permission(asked.destroy_data), asked.keep, total=total, stored=stored, layouts=resolved.layouts
    )
    if all(resolved.looks.at(workload, target).get("exists") for workload, target in uses):
        # As late as can be: what is yet to be counted of others is waited for.
        setup = replace(setup, before_load=lambda: _say_what_others_do(uses, resolved.looks, listener))
    else:
        # Nobody shall wait for gigabytes to be made before hearing of it.
        _say_what_others_do(uses, resolved.looks, listener)
    setup = replace(setup, foreseen=lambda: _foreseen(resolved), hands=getattr(engine, "hands", None) or _processes(host))
    return conduct(feed(resolved.experiments, resolved.points), setup), run


def _processes(host: HostFacts) -> Callable[[int], Hands]:
    """Processes of this machine, imported where there are points for them."""

    def made(most: int) -> Hands:
        from plimsoll.points.processes import Processes

        return Processes(host, most)

    return made


def _foreseen(resolved: _Resolved) -> Iterator[PlannedPoint]:
    """The points that no result decides, in the order in which they are asked for."""
    for experiment, points in zip(resolved.experiments, resolved.points, strict=True):
        if is_known(experiment):
            yield from (points.point(request) for request in known_requests(experiment))


@dataclass(frozen=True)
class _Opening:
    """What a run is told of its surroundings: the host, how many points there will be, and what its targets are."""

    host: HostFacts
    total: int | None
    identities: Json


def _uses(resolved: _Resolved) -> Uses:
    """Every target once for each driver, with a workload that writes to it where there is one: grids have thousands of alike points."""
    found: dict[Target, Definition] = {}
    for points in resolved.points:
        for workload, target in points.applied():
            if target not in found or (overwrites(workload) and not overwrites(found[target])):
                found[target] = workload
    return [(workload, target) for target, workload in found.items()]


def _written(experiments: Sequence[Experiment]) -> Json:
    """The options of `check_effect` that the experiments set; the first that does speaks for all."""
    settings = [table for one in experiments for table in (one.settings, *(item.settings for item in one.configurations))]
    found = {"size": next((table["size"] for table in settings if "size" in table), None)}
    return found | {"cache": next((one.cache for one in experiments if one.cache != "as found"), None)}


def _identities(resolved: _Resolved, uses: Uses) -> Json:
    """Which storage each target is: another disk under the same path is another run."""
    found: Json = {target.text: target_identity(resolved.looks.at(workload, target)) for workload, target in uses if not target.layout}
    return found | {one.text: one.identity() for one in resolved.layouts.all()}


def _opened(resolved: _Resolved, asked: Asked, opening: _Opening, listener: Listener) -> tuple[RunWriter, list[Result]]:
    """A run to write to: an unfinished one of the same, with what it measured, or a new one."""
    mark, found = _unfinished(resolved, asked, opening)
    if listener.others is not None:
        # From here on the store is written to.
        listener.others.mark()
    if found is not None:
        run, stored = resume_run(found, asked.label, _prices(resolved, asked))
        points = "1 point is" if len(stored) == 1 else f"{len(stored)} points are"
        listener.remark(f"resuming {found.path}: {points} there (--fresh starts anew)")
        return run, stored
    info = RunInfo(
        name=resolved.asked.name,
        command=["plimsoll", *map(withheld, sys.argv[1:])],
        points_planned=opening.total,
        host=opening.host,
        versions=versions(),
        label=asked.label,
        experiments=[experiment.to_json() for experiment in resolved.experiments],
        suite=resolved.asked.origin,
        fingerprint=mark,
        prices=_prices(resolved, asked),
    )
    return RunWriter.create(asked.out, info), []


def _prices(resolved: _Resolved, asked: Asked) -> dict[str, StoredPrice]:
    """What sides cost, as it was typed, by their names; raises `InputError` for a side that is not measured."""
    if not asked.prices:
        return {}
    from plimsoll.points.prices import to_store

    configurations = [configuration for experiment in resolved.experiments for configuration in experiment.configurations]
    return to_store(asked.prices, list(dict.fromkeys((one.name, one.target) for one in configurations)))


def _unfinished(resolved: _Resolved, asked: Asked, opening: _Opening) -> tuple[str, StoredRun | None]:
    """The fingerprint of what is asked for, and the run of the same that can go on."""
    definitions = [experiment.to_json() for experiment in resolved.experiments]
    workloads = [points.definitions() for points in resolved.points]
    mark = fingerprint(
        [definitions, workloads, os.getcwd(), opening.identities, *_traces(resolved), *_hosts(asked)], opening.host, versions()
    )
    anew = asked.fresh or any(map(is_of_its_moment, resolved.forms()))
    return mark, None if anew else unfinished_run(asked.out, mark)


def _hosts(asked: Asked) -> Iterator[str]:
    """The same on other hosts is another run."""
    if asked.hosts:
        from plimsoll.points.gang import lineup_from

        lineup = lineup_from(asked.hosts)
        yield f"{lineup.text} {lineup.identity}".strip()
    if asked.share:
        yield f"share {asked.share}"


def _traces(resolved: _Resolved) -> Iterator[Json]:
    """What the traces hold that are replayed: a file under the same name may be another by now."""
    paths = {stream["trace"] for workload in resolved.forms() for stream in streams(workload) if stream.get("trace")}
    for path in sorted(paths):
        from plimsoll.points.traces import header_of

        yield header_of(path)
