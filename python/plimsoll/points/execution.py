"""Carries out an undertaking: makes it ready, opens its run, measures its points.

What judges and shows results is imported once there are some.

suite = read_experiments(document, TYPED, targets=["/dev/sdb"])
carry_out(Undertaking(suite, "steps-oltp-db"), complete({"fresh": True}), Listener()).results
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from plimsoll.displayed import quoted
from plimsoll.engine import block as block_engine
from plimsoll.engine.protocol import Engine
from plimsoll.errors import InputError
from plimsoll.experiments.experiment import Experiment
from plimsoll.experiments.outlook import is_known, known_requests
from plimsoll.experiments.schedule import planned_points
from plimsoll.host.machine import host_facts
from plimsoll.host.target import target_facts
from plimsoll.points.ahead import MODELS as VIRTUAL
from plimsoll.points.ahead import Hands
from plimsoll.points.arguments import Arguments
from plimsoll.points.experiment_points import ExperimentPoints
from plimsoll.points.feed import feed
from plimsoll.points.layouts import Layouts
from plimsoll.points.listener import Listener
from plimsoll.points.looks import Looks
from plimsoll.points.loop import conduct
from plimsoll.points.outcome import Outcome
from plimsoll.points.permission import permission
from plimsoll.points.point import PlannedPoint
from plimsoll.points.preview import Preview, brief, preview
from plimsoll.points.readiness import left_behind, ready
from plimsoll.points.resolution import Resolved, Uses, resolved_experiment
from plimsoll.points.resumption import Opening, identities, opened, unfinished
from plimsoll.points.setup import Setup
from plimsoll.points.undertaking import Undertaking
from plimsoll.records import dataclass
from plimsoll.result import Result
from plimsoll.store.writer import RunWriter
from plimsoll.stored import Conclusion as Concluded
from plimsoll.stored import HostFacts
from plimsoll.stored import Suite as Origin
from plimsoll.tables.tabular import Tabular

if TYPE_CHECKING:
    from plimsoll.tables.split import By
    from plimsoll.tables.table import Table


#: Kinds of target that no device and no memory of this host is behind.
_MODELS = ("array", "queue", "null")


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


def carry_out(undertaking: Undertaking, arguments: Arguments, listener: Listener) -> Run:
    """Measure all experiments with these ``arguments``."""
    others = listener.others
    if others is not None:
        # From here on targets are read.
        others.mark()
    with engine_for(arguments) as engine:
        resolved, uses = ready(undertaking, arguments, listener, engine)
        listener.planned(brief(resolved.experiments, resolved.points))
        if left_behind(resolved):
            from plimsoll.points.planned_layout import check_layouts, take_back_left

            layouts = resolved.layouts
            layouts.own |= take_back_left(layouts.all(), listener.remark)
            check_layouts(layouts.all(), block_engine.native(), arguments.destroy_data, own=layouts.own)
        outcome, run = _measured(resolved, arguments, listener, uses)
    return Run(run.path, outcome, resolved.experiments, undertaking.origin)


@contextmanager
def engine_for(arguments: Arguments) -> Iterator[Engine]:
    """The engine of this host, or the hosts that are asked for, as one."""
    if arguments.hosts is None:
        if arguments.share:
            raise InputError(f"--share {arguments.share}: this host measures alone; name several with --hosts, or leave --share out.")
        yield block_engine.native()
        return
    from plimsoll.points.gang import gang_for

    with gang_for(arguments) as engine:
        yield engine


def preview_of(undertaking: Undertaking, arguments: Arguments, listener: Listener) -> Preview:
    """What `carry_out` would do, with the same checks; nothing is touched. A run that would go on is remarked."""
    with engine_for(arguments) as engine:
        resolved, uses = ready(undertaking, arguments, listener, engine)
        found = unfinished(resolved, arguments, Opening(host_facts(), None, identities(resolved, uses)))[1]
        if found is not None:
            listener.remark(f"{found.path} would go on, where {len(found.points)} points are begun (--fresh starts anew)")
        for name in left_behind(resolved):
            listener.remark(f"the layout {quoted(name)} was left behind by a killed run and would be taken away first")
        found_all = preview(resolved.experiments, resolved.points, [use for use in uses if not use[1].layout], engine)
        return replace(found_all, name=undertaking.name, layouts=tuple(one.to_json() for one in resolved.layouts.all()))


def brief_of(undertaking: Undertaking) -> Preview:
    """How many points it takes and for how long, without a look at its targets."""
    engine = block_engine.native()
    experiments = [resolved_experiment(experiment, undertaking.folder, engine) for experiment in undertaking.suite.experiments]
    layouts = Layouts(composer=undertaking.composer, looks=False)
    return brief(experiments, [ExperimentPoints(experiment, engine, layouts) for experiment in experiments])


def _measured(resolved: Resolved, arguments: Arguments, listener: Listener, uses: Uses) -> tuple[Outcome, RunWriter]:
    engine, host = resolved.engine, host_facts()
    totals = [planned_points(experiment) for experiment in resolved.experiments]
    total = None if None in totals else sum(number for number in totals if number is not None)
    opening = Opening(host, total, identities(resolved, uses))
    run, stored = opened(resolved, arguments, opening, listener)
    if listener.others is not None:
        # The store is written; what follows until the load leaves it alone, mostly.
        listener.others.mark()
    listener.begun(run.path)
    # Models load no host: their points are whole points of one, as if this one had measured them.
    loads_hosts = any(target.document is None and target.kind not in VIRTUAL for _, target in uses)
    if loads_hosts and (serve := getattr(engine, "serve", None)) is not None:
        run.keep_gang(serve(run.path))
        # Of several hosts each has its own facts, in its own results.
        host = {}
    setup = Setup(
        engine,
        run,
        listener,
        host,
        permission(arguments.destroy_data),
        arguments.keep,
        total=total,
        stored=stored,
        layouts=resolved.layouts,
    )
    if all(resolved.looks.at(workload, target).get("exists") for workload, target in uses):
        # As late as can be: what is yet to be counted of others is waited for.
        setup = replace(setup, before_load=lambda: _say_what_others_do(uses, resolved.looks, listener))
    else:
        # Nobody shall wait for gigabytes to be made before hearing of it.
        _say_what_others_do(uses, resolved.looks, listener)
    setup = replace(setup, foreseen=lambda: _foreseen(resolved), hands=getattr(engine, "hands", None) or _processes(host))
    return conduct(feed(resolved.experiments, resolved.points), setup), run


def _say_what_others_do(uses: Uses, looks: Looks, listener: Listener) -> None:
    """A line on what would make the numbers wrong from the first request on; models are alone in their time."""
    real = [(workload, target) for workload, target in uses if target.kind not in _MODELS and not target.layout]
    if listener.others is None or not real:
        return
    from plimsoll.doctor.look import quick_look

    found = quick_look([target_facts({"spec": target.text, **looks.at(workload, target)}) for workload, target in real], listener.others)
    if found:
        listener.remark(f"before the start: {found} ('plimsoll doctor' says what helps).")


def _processes(host: HostFacts) -> Callable[[int], Hands]:
    """Processes of this machine, imported where there are points for them."""

    def made(most: int) -> Hands:
        from plimsoll.points.processes import Processes

        return Processes(host, most)

    return made


def _foreseen(resolved: Resolved) -> Iterator[PlannedPoint]:
    """The points that no result decides, in the order in which they are asked for."""
    for experiment, points in zip(resolved.experiments, resolved.points, strict=True):
        if is_known(experiment):
            yield from (points.point(request) for request in known_requests(experiment))
