"""Whether an undertaking can begin: all that can be known to be wrong in advance is found before anything is touched.

resolved, uses = ready(undertaking, arguments, listener, engine)
"""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.displayed import quoted
from plimsoll.engine.protocol import Engine
from plimsoll.errors import InputError
from plimsoll.experiments.document import TYPED, Source
from plimsoll.experiments.experiment import Experiment
from plimsoll.experiments.kinds import KINDS_BY_NAME
from plimsoll.experiments.schedule import offers_rates
from plimsoll.layouts.inventory import names
from plimsoll.points.arguments import Arguments
from plimsoll.points.experiment_points import ExperimentPoints
from plimsoll.points.ineffective_options import check_effect
from plimsoll.points.layouts import Layouts
from plimsoll.points.listener import Listener, Remark
from plimsoll.points.looks import Looks
from plimsoll.points.own_size import fitted, has_own_size
from plimsoll.points.permission import check_distinct, check_permitted
from plimsoll.points.preconditions import check_journalled, check_meant
from plimsoll.points.resolution import Resolved, Uses, prices_of, resolved_experiment, uses_of, written
from plimsoll.points.undertaking import Undertaking
from plimsoll.scratch import smaller_than_usual
from plimsoll.stored import Definition


def ready(undertaking: Undertaking, arguments: Arguments, listener: Listener, engine: Engine) -> tuple[Resolved, Uses]:
    """The undertaking with its targets, once everything that is known in advance was found right."""
    layouts = Layouts(arguments.on, undertaking.composer)
    looks = Looks(engine, lambda target: layouts.at(target.layout).inspection(target))
    experiments = tuple(resolved_experiment(experiment, undertaking.folder, engine) for experiment in undertaking.suite.experiments)

    def with_points(experiments: tuple[Experiment, ...]) -> Resolved:
        typed = undertaking.typed_settings
        points = tuple(ExperimentPoints(experiment, engine, layouts, typed=typed, looks=looks) for experiment in experiments)
        return Resolved(undertaking, experiments, points, looks, layouts, engine)

    resolved = with_points(experiments)
    if arguments.hosts and undertaking.origin and not _types_size(arguments):
        # What hosts measure only they know; here it was not looked at while the suite was read.
        own = {target.text for workload, target in uses_of(resolved) if has_own_size(looks.at(workload, target))}
        experiments = fitted(experiments, own.__contains__)
        resolved = with_points(experiments)
    _check(resolved)
    prices_of(resolved, arguments)
    uses = uses_of(resolved)
    for workload, target in uses:
        check_meant(workload, target)
    check_effect(arguments, (target for _, target in uses), list(resolved.forms()), written(experiments), listener.remark)
    if len(arguments.targets) > 1:
        check_distinct(uses, looks)
    check_permitted([use for use in uses if not use[1].layout], engine, arguments.destroy_data, looks)
    _check_layouts(resolved, arguments)
    if layouts.all():
        # A run without layouts starts without what plans and makes them.
        from plimsoll.points.planned_layout import check_layouts

        check_layouts(layouts.all(), engine, arguments.destroy_data, own=layouts.own)
    if written(experiments)["size"] is None:
        _say_small_sizes(uses, looks, listener.remark)
    return resolved, uses


def _types_size(arguments: Arguments) -> bool:
    return arguments.size is not None or any(word.partition("=")[0].strip() == "size" for word in arguments.settings)


def left_behind(resolved: Resolved) -> list[str]:
    """The layouts that killed runs have left on devices of this one."""
    if not (resolved.layouts.all() or names()):
        return []
    from plimsoll.points import planned_layout

    return planned_layout.left_behind(resolved.layouts.all())


def _check_layouts(resolved: Resolved, arguments: Arguments) -> None:
    """What was asked for must suit layouts that come and go."""
    planned = resolved.layouts.all()
    if arguments.on and not planned:
        raise InputError("--on names the devices of layouts, and no target is one; write --target layout:NAME, or leave --on out.")
    if arguments.keep and planned:
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


def _check(resolved: Resolved) -> None:
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
