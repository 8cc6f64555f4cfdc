"""The objective on the command line: read before anything is touched, and what it means for the exit code.

Model: with ``--assert`` a program exits with `EXIT_OBJECTIVE_FAILED` when the objective does not hold. Where an experiment varies a load,
it holds when some level kept it, that is, when there is a mark; elsewhere it holds when every point kept it. Where nothing but too few
requests keeps it from holding, `not_known` has the sentence that says so.

    check_objective("read mean <= 20ms", workloads)
    every_objective_holds(outcome, experiments)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from plimsoll.analysis.load_line.line import by_level
from plimsoll.analysis.load_line.mark import Mark, mark_of
from plimsoll.analysis.objective.clause import parse_metric
from plimsoll.analysis.objective.judgement import Objective, applies_to, judge, parse_objective
from plimsoll.analysis.objective.misses import missed
from plimsoll.analysis.objective.sample_size import idle
from plimsoll.analysis.point.definition import ends_by_itself
from plimsoll.analysis.point.metric import ALL
from plimsoll.analysis.point.stopping_rule import parse_precision
from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.experiments.experiment import Experiment
from plimsoll.experiments.kinds import KINDS_BY_NAME
from plimsoll.points.outcome import Found, Outcome
from plimsoll.result import Result
from plimsoll.stored import Definition

#: The forms in which one workload will be measured: one for each combination of settings that is known.
Forms = Sequence[Definition]


def check_objective(text: str | None, workloads: Iterable[Forms], *, rated: bool = False) -> None:
    """Raise `InputError` for an objective that could never hold: it has to fit every workload in one of its forms at least.

    ``rated`` says that points will be given rates that their workloads do not have yet.
    """
    if text is None:
        return
    objective = parse_objective(text)
    for forms in workloads:
        reasons = [applies_to(objective, workload, rated=rated) for workload in forms]
        if reasons and all(reasons):
            raise InputError(str(reasons[0]))


def check_precision(text: str | None, workloads: Iterable[Forms]) -> None:
    """Raise `InputError` for a precision that no point of these workloads could ever reach."""
    if text is not None:
        precision = parse_precision(text)
        check_operation(precision.op, f"precision {quoted(text)}", workloads)
        for forms in workloads:
            if any(ends_by_itself(form) for form in forms):
                raise InputError(
                    f"precision {quoted(text)} is for a load that goes on, but {forms[0]['name']} ends by itself once its amount is done, "
                    "perhaps before its response is steady; leave one of both out."
                )


def check_metric(text: str | None, workloads: Iterable[Forms]) -> None:
    """Raise `InputError` for a metric of an operation that one of the workloads never issues."""
    if text is not None:
        check_operation(parse_metric(text)[0], f"metric {quoted(text)}", workloads)


def check_operation(op: str, asking: str, workloads: Iterable[Forms]) -> None:
    """Raise `InputError` when ``asking`` is about an operation that one of the workloads never issues."""
    if op == ALL:
        return
    asked = parse_objective(f"{op} mean <= 1s")
    for forms in workloads:
        if forms and all(applies_to(asked, workload) for workload in forms):
            raise InputError(f"{asking} is about {op}, which {forms[0]['name']} never does; name another operation, or none for all.")


def every_point_holds(results: Sequence[Result], objective: Objective) -> bool:
    """Whether there are points and each keeps the objective; conditioning is no point."""
    judged = [judge(objective, result).holds for result in results if result.place.get("role") != "precondition"]
    return bool(judged) and all(judged)


def not_known(results: Sequence[Result], objective: Objective) -> str | None:
    """What is lacking at the points that keep ``objective`` by value, on too few requests to show it; None when something else fails it.

    Of levels of a load the highest is named: it has most requests.
    """
    levelled = [result for result in results if result.place.get("level") is not None]
    single = [[result] for result in results if result.place.get("level") is None and result.place.get("role", "point") == "point"]
    groups = [*single, *(list(group) for _, group in by_level(levelled))]
    judged = [(group, judge(objective, group)) for group in groups if not idle(group)]
    short = [(group, judgement) for group, judgement in judged if judgement.too_few is not None]
    if not short or any(not judgement.holds and judgement.too_few is None for _, judgement in judged):
        return None
    group, judgement = short[-1]
    where = f"{group[0].job.workload} on {group[0].job.target}"
    return f"the objective '{objective.text}' is not known to hold for {where}: {judgement.failed_by}."


def unknown_objectives(outcome: Outcome, experiments: Sequence[Experiment]) -> list[str]:
    """`not_known` of every experiment on each of its subjects on which its objective is not shown to hold."""
    objectives = {experiment.name: parse_objective(experiment.objective) for experiment in experiments if experiment.objective}
    asked = [(found, _of_subject(outcome.results, found)) for found in outcome.found if found.experiment in objectives]
    open_ones = [(found, results) for found, results in asked if not _kept(found, results, objectives[found.experiment])]
    said = [not_known(results, objectives[found.experiment]) for found, results in open_ones]
    return [sentence for sentence in said if sentence is not None]


def missed_objectives(outcome: Outcome, experiments: Sequence[Experiment]) -> list[str]:
    """A sentence for every subject whose objective surely does not hold: the value, and by how much it missed the limit."""
    objectives = {experiment.name: parse_objective(experiment.objective) for experiment in experiments if experiment.objective}
    asked = [(found, _of_subject(outcome.results, found)) for found in outcome.found if found.experiment in objectives]
    return [
        said
        for found, results in asked
        if not _kept(found, results, objectives[found.experiment]) and not not_known(results, objectives[found.experiment])
        for said in _missed(found, results, objectives[found.experiment])
    ]


def _missed(found: Found, results: Sequence[Result], objective: Objective) -> Iterator[str]:
    """Of levels the lowest speaks for all; of points as they stand each does for itself."""
    called = results[0].job.workload if results else found.subject.workload
    where = f"{called} on {found.subject.configuration.name}"
    levelled = [result for result in results if result.place.get("level") is not None]
    if KINDS_BY_NAME[found.kind].varies_load and levelled:
        level, group = by_level(levelled)[0]
        yield f"no level of {where} kept '{objective.text}': at the lowest, {level:g}, {missed(judge(objective, group))}."
        return
    for result in results:
        said = None if result.place.get("role") == "precondition" else missed(judge(objective, result))
        if said is not None:
            at = ", ".join(f"{name} {value}" for name, value in (result.place.get("settings") or {}).items())
            yield f"the objective '{objective.text}' does not hold for {where}{f' at {at}' if at else ''}: {said}."


def every_objective_holds(outcome: Outcome, experiments: Sequence[Experiment]) -> bool:
    """Whether the objective of each experiment that has one holds on each of its subjects."""
    objectives = {experiment.name: parse_objective(experiment.objective) for experiment in experiments if experiment.objective}
    asked = [found for found in outcome.found if found.experiment in objectives]
    return bool(asked) and all(_kept(found, _of_subject(outcome.results, found), objectives[found.experiment]) for found in asked)


def marked(found: Found, results: Sequence[Result], objective: str | None) -> Found:
    """``found`` with its mark, where the levels of the experiment have one that its planner did not look for."""
    conclusion, kind = found.conclusion, KINDS_BY_NAME[found.kind]
    if objective is None or conclusion.mark is not None or not kind.varies_load or kind.seeks_mark:
        return found
    mark = _mark(_of_subject(results, found), parse_objective(objective))
    return found if mark is None else replace(found, conclusion=replace(conclusion, mark=mark))


def _mark(results: Sequence[Result], objective: Objective) -> Mark | None:
    return mark_of([result for result in results if result.place.get("level") is not None], objective)


def _kept(found: Found, results: Sequence[Result], objective: Objective) -> bool:
    kind = KINDS_BY_NAME[found.kind]
    if found.conclusion.mark is not None:
        return True
    if kind.seeks_mark:
        return False
    if kind.varies_load:
        return _mark(results, objective) is not None
    return every_point_holds(results, objective)


def _of_subject(results: Sequence[Result], found: Found) -> list[Result]:
    asked = (found.experiment, found.subject.workload, found.subject.configuration.name)
    return [result for result in results if tuple(result.place.get(key) for key in ("experiment", "subject", "configuration")) == asked]
