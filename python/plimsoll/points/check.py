"""A check of targets: the experiments of ``catalog/check.toml``, as far as writing is permitted, with the objective that was asked for.

Model: the writes are left out, and its OLTP mix consists of reads, unless every target may be written to: scratch files and models
always, others with ``--destroy-data``. The objective is the document's, or `ROTATING` where any target stands on disks that rotate. So the
targets of one check stand under the same load and the same limit. A directory stands for a scratch file in it.
Limits: whether a device rotates is what it tells the kernel. Disks of virtual machines say so whatever is below them, so they are not
believed; LUNs of arrays often say so of flash.

    carry_out(check_undertaking(asked, remark, quick=False), asked, listener)
    answers(run)[0].sentence
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from plimsoll import catalog
from plimsoll.engine import block as block_engine
from plimsoll.errors import InputError, PlimsollError
from plimsoll.experiments.named_target import named_target
from plimsoll.host.target import target_facts
from plimsoll.points.arguments import Arguments
from plimsoll.points.execution import Run
from plimsoll.points.foreign import bare_targets
from plimsoll.points.listener import Remark
from plimsoll.points.permission import permission
from plimsoll.points.suites import undertaken
from plimsoll.points.undertaking import Undertaking
from plimsoll.records import dataclass
from plimsoll.scratch import DEFAULT_TARGET
from plimsoll.stored import Json
from plimsoll.target import Composer

if TYPE_CHECKING:
    from plimsoll.analysis.check.answer import Answer

NAME = "check"
WRITES, LOAD = "writes", "OLTP"
_MODELS = ("array", "queue", "null")
#: The limit for disks that rotate, of which a single random request takes 5 to 12 ms: the rule of Jetstress.
ROTATING = "mean <= 20ms"
#: In vendor or model of disks of virtual machines.
_VIRTUAL = ("virtual", "qemu", "google persistentdisk", "vbox")


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


def check_undertaking(arguments: Arguments, remark: Remark, *, quick: bool = False) -> Undertaking:
    """The experiments of a check of ``asked.targets``."""
    _check_objective(arguments.objective)
    composer = Composer()
    targets = tuple(map(_in_directory, arguments.targets))
    bare = bare_targets(targets)
    refused = _refusing(bare, arguments.destroy_data, composer)
    if refused:
        remark(f"reads only: writing to {refused[0]} is not permitted (--destroy-data permits it).")
    objective = arguments.objective
    if objective is None and (turning := _rotating(bare or (DEFAULT_TARGET,), composer)) is not None:
        objective = ROTATING
        usual = "the limit is a mean of 20 ms, as is usual for disks; --objective 'mean <= 5ms' is that of flash."
        remark(f"{turning} {'has disks that rotate' if turning in bare else 'says that it rotates'}: {usual}")
    document = _document(objective, reads_only=bool(refused))
    if bare and all(composer.target(target).kind in _MODELS for target in bare):
        document = _without_size(document)
    return undertaken(NAME, document, replace(arguments, targets=targets), composer, quick=quick)


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


def _rotating(targets: Sequence[str], composer: Composer) -> str | None:
    """The first of the targets, or of the devices that they stand on, that rotates."""
    for text in targets:
        target = composer.target(text)
        if target.document is not None:
            models = [device.get("model") for device in target.document.get("devices") or []]
            if any(isinstance(model, dict) and model.get("kind") == "disk" for model in models):
                return text
        elif target.kind not in _MODELS:
            # What cannot be looked at is told by who is to measure it.
            with suppress(PlimsollError, OSError):
                for device in target_facts(block_engine.native().inspect_target(target)).get("devices", []):
                    if device.get("rotational") is True and not _is_virtual(device):
                        return str(device["name"])
    return None


def _is_virtual(device: Mapping[str, Any]) -> bool:
    """Whether it is a disk of a virtual machine, which says that it rotates whatever the host has."""
    words = f"{device.get('vendor')} {device.get('model')}".lower()
    return str(device.get("disk") or device["name"]).startswith(("vd", "xvd")) or any(maker in words for maker in _VIRTUAL)


def _refusing(targets: Sequence[str], destroy_data: str | None, composer: Composer) -> list[str]:
    """The targets that may not be written to. What was permitted in words is never left out in silence: it is refused later, or done."""
    if destroy_data is not None:
        return []
    engine = block_engine.native()
    return [target for target in targets if engine.write_refusal(composer.target(target), permission(None)) is not None]
