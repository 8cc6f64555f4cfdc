"""A check of targets: the experiments of ``catalog/check.toml``, as far as writing is permitted, with the objective that was asked for.

Model: the writes are left out, and its OLTP mix consists of reads, unless every target may be written to: scratch files and models
always, others with ``--destroy-data``. So the targets of one check stand under the same load. A directory stands for a scratch file in it.

    carry_out(check_undertaking(asked, remark, quick=False), asked, listener)
    answers(run)[0].sentence
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from plimsoll import catalog
from plimsoll import engine as engines
from plimsoll.engine import Json
from plimsoll.errors import InputError
from plimsoll.experiments.named_target import named_target
from plimsoll.points.asked import Asked
from plimsoll.points.foreign import bare_targets
from plimsoll.points.listener import Remark
from plimsoll.points.permission import permission
from plimsoll.points.suites import undertaken
from plimsoll.points.undertaking import Run, Undertaking
from plimsoll.scratch import DEFAULT_TARGET
from plimsoll.target import Composer

if TYPE_CHECKING:
    from plimsoll.analysis.check.answer import Answer

NAME = "check"
WRITES, LOAD = "writes", "OLTP"
_MODELS = ("array", "queue", "null")


@dataclass(frozen=True)
class Checked(Run):
    """A run of a check, with its answers."""

    @property
    def answers(self) -> list[Answer]:
        """One for each target, in the order measured."""
        return answers(self)

    @property
    def answer(self) -> str:
        """All of them in words."""
        return " ".join(one.sentence for one in self.answers)


def check_undertaking(asked: Asked, remark: Remark, *, quick: bool = False) -> Undertaking:
    """The experiments of a check of ``asked.targets``."""
    _check_objective(asked.objective)
    composer = Composer()
    targets = tuple(map(_in_directory, asked.targets))
    bare = bare_targets(targets)
    refused = _refusing(bare, asked.destroy_data, composer)
    if refused:
        remark(f"reads only: writing to {refused[0]} is not permitted (--destroy-data permits it).")
    document = _document(asked.objective, reads_only=bool(refused))
    if bare and all(composer.target(target).kind in _MODELS for target in bare):
        document = _without_size(document)
    return undertaken(NAME, document, replace(asked, targets=targets), composer, quick=quick)


def _without_size(document: Json) -> Json:
    """The quick form has smaller scratch files; a model has none."""
    experiments = []
    for one in document["experiment"]:
        short = {key: value for key, value in one["quick"]["set"].items() if key != "size"}
        experiments.append({**one, "quick": {"set": short}})
    return {**document, "experiment": experiments}


def _check_objective(text: str | None) -> None:
    """What is wrong with it is said of the option, not of our file."""
    if text is None:
        return
    from plimsoll.analysis.objective.judgement import parse_objective

    try:
        parse_objective(text)
    except InputError as problem:
        raise InputError(f"--objective: {problem}") from None


def answers(run: Run) -> list[Answer]:
    """What a check found on each of its targets."""
    from plimsoll.analysis.check.answer import answers_of

    objective = next(experiment.objective for experiment in run.experiments if experiment.name == LOAD)
    return answers_of(run.results, objective or "")


def _document(objective: str | None, *, reads_only: bool) -> Json:
    """The document with what was asked for."""
    document = catalog.check_document()
    experiments = [dict(one) for one in document["experiment"] if not (reads_only and one["name"] == WRITES)]
    load = next(one for one in experiments if one["name"] == LOAD)
    if objective is not None:
        load["objective"] = objective
    if reads_only:
        load["set"] = {**load["set"], "read_percent": 100}
    return {**document, "experiment": experiments}


def _in_directory(text: str) -> str:
    """A scratch file where a directory was named, under the same name."""
    target = named_target(text).target
    return os.path.join(text, os.path.basename(DEFAULT_TARGET)) if os.path.isdir(target) else text


def _refusing(targets: Sequence[str], destroy_data: str | None, composer: Composer) -> list[str]:
    """The targets that may not be written to. What was permitted in words is never left out in silence: it is refused later, or done."""
    if destroy_data is not None:
        return []
    engine = engines.native()
    return [target for target in targets if engine.write_refusal(composer.target(target), permission(None)) is not None]
