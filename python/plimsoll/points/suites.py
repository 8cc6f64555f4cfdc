"""A suite as it is to be carried out: read from the catalog or a file, with what was typed over it.

Model: a name without ``.toml`` and without ``/`` is a shipped suite. Typed settings hold for every experiment over those of the file, for a
kind that has the option; configurations and levels still come after them. Published figures are stored with the run, so that its report
shows them wherever it is read.

    carry_out(suite_of("four-corners", arguments, remark, quick=True), arguments, listener)
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from plimsoll import catalog
from plimsoll.apps import filecopy
from plimsoll.displayed import quoted
from plimsoll.engine import block as block_engine
from plimsoll.errors import InputError
from plimsoll.experiments.declaration import OPTIONS_BY_NAME
from plimsoll.experiments.document import read_experiments
from plimsoll.experiments.experiment import Experiment, Suite
from plimsoll.experiments.layout_target import layout_target
from plimsoll.experiments.schedule import layer_settings
from plimsoll.points.arguments import Arguments
from plimsoll.points.foreign import Onto, command_document, foreign_document, is_foreign
from plimsoll.points.layouts import beside
from plimsoll.points.listener import Remark
from plimsoll.points.own_size import fitted, has_own_size
from plimsoll.points.planned_layout import has_filesystem
from plimsoll.points.quantity import duration_s
from plimsoll.points.short_document import typed_settings
from plimsoll.points.undertaking import Undertaking
from plimsoll.records import dataclass
from plimsoll.stored import Json
from plimsoll.stored import Suite as Origin
from plimsoll.target import Composer, Target

#: Options of an experiment that can be typed over those of a file.
_TYPED = ("repeat", "interleave", "cache", "precision")


def suite_of(name: str, arguments: Arguments, remark: Remark, *, quick: bool = False) -> Undertaking:
    """The suite ``name`` or in the file of that name; raises `InputError` for one that is not there or not right."""
    is_file = catalog.is_file(name) or is_foreign(name)
    composer = Composer()
    document = _written(name, Onto.of(arguments, composer), remark) if is_file else _shipped(name)
    called = os.path.splitext(os.path.basename(name))[0] if is_file else name
    folder = os.path.dirname(name) if is_file else ""
    source = _Source(name if is_file else f"{name}.toml", called, folder, remark, composer, is_shipped=not is_file)
    return _undertaken(document, source, arguments, quick)


def command_suite(words: Sequence[str], arguments: Arguments, remark: Remark) -> Undertaking:
    """What the command line of another tool asks for; raises `InputError` for one that cannot be run."""
    composer = Composer()
    document = command_document(words, Onto.of(arguments, composer), remark)
    return _undertaken(document, _Source(f"{words[0]} command line", words[0], "", remark, composer), arguments, quick=False)


def undertaken(name: str, document: Json, arguments: Arguments, composer: Composer, *, quick: bool) -> Undertaking:
    """A shipped suite that was changed before it is carried out."""
    return _undertaken(document, _Source(f"{name}.toml", name, "", lambda _: None, composer, is_shipped=True), arguments, quick)


@dataclass(frozen=True)
class _Source:
    """Where a suite is from: its name in messages, that of its run, the folder of its files, and whether it is one of the catalog;
    ``remark`` hears what is made of it."""

    said: str
    called: str
    folder: str
    remark: Remark
    composer: Composer
    is_shipped: bool = False


def _undertaken(document: Json, source: _Source, arguments: Arguments, quick: bool) -> Undertaking:
    suite = _with_layouts(read_experiments(document, source.said, quick=quick, targets=arguments.targets), source.folder)
    called = source.called
    origin: Origin = {
        "name": called,
        "quick": quick,
        "title": suite.title,
        "purpose": suite.purpose,
        "source": suite.source,
        "rationale": suite.rationale,
        "published": [catalog.published(figures) for figures in suite.published],
    }
    overruled = replace(suite, experiments=tuple(_overruled(experiment, arguments, source) for experiment in _possible(suite, source)))
    typed_names = frozenset(typed_settings(arguments)) if source.is_shipped else None
    return Undertaking(overruled, f"{called}-quick" if quick else called, source.folder, origin, typed_names, source.composer)


def _with_layouts(suite: Suite, folder: str) -> Suite:
    """With files of layouts where they lie: beside the suite."""
    experiments = []
    for experiment in suite.experiments:
        configurations = tuple(replace(one, target=beside(one.target, folder)) for one in experiment.configurations)
        experiments.append(replace(experiment, configurations=configurations))
    return replace(suite, experiments=tuple(experiments))


def _written(path: str, onto: Onto, remark: Remark) -> Json:
    if not os.path.isfile(path):
        raise InputError(f"{path}: there is no such file of experiments.")
    if is_foreign(path):
        return foreign_document(path, onto, remark)
    document = catalog.read(path)
    if "stream" in document and "experiment" not in document:
        raise InputError(f"{path} is a workload, not a suite; measure it with 'plimsoll run {path}'.")
    return document


def _shipped(name: str) -> Json:
    if name not in catalog.suite_names() and name in catalog.names():
        raise InputError(f"{quoted(name)} is a workload, not a suite; measure it with 'plimsoll run {name}'.")
    return catalog.suite_document(name)


def _possible(suite: Suite, source: _Source) -> Iterator[Experiment]:
    """The experiments that the targets are fit for: a shipped suite leaves a file copy out where no file can ever be, and says so."""
    for experiment in suite.experiments:
        targets = [item.target for item in experiment.configurations]
        if source.is_shipped and _copies(experiment) and all(target and _is_fileless(source.composer.target(target)) for target in targets):
            source.remark(
                f"experiment {quoted(experiment.name)} is left out: a file copy needs a file, which {quoted(targets[0])} has not."
            )
        else:
            yield experiment


def _copies(experiment: Experiment) -> bool:
    sources = (source for workload in experiment.workloads for source in catalog.sources(workload))
    return all(catalog.load(source).get("driver") == filecopy.NAME for source in sources)


def _is_fileless(target: Target) -> bool:
    asked = layout_target(target.text)
    if asked is not None:
        return not has_filesystem(asked)
    return block_engine.native().inspect_target(target).get("kind") in filecopy.FILELESS


def _overruled(experiment: Experiment, arguments: Arguments, source: _Source) -> Experiment:
    """The experiment with what was typed, as far as its kind has the option."""
    changes: dict[str, Any] = {
        "settings": layer_settings(_in_time(_fitting(experiment, source.composer), arguments, source.remark), typed_settings(arguments))
    }
    for name in _TYPED:
        option, value = OPTIONS_BY_NAME[name], getattr(arguments, name)
        if value not in (None, False) and option.belongs_to(experiment.kind):
            changes[name] = _read(name, value)
    return replace(experiment, **changes)


def _fitting(experiment: Experiment, composer: Composer) -> Mapping[str, Any]:
    """The settings of the file. Its ``size`` is for scratch files: a device, or a file of somebody else, keeps the size it has."""
    return fitted([experiment], lambda target: _has_its_size(composer.target(target)))[0].settings


def _in_time(settings: Mapping[str, Any], arguments: Arguments, remark: Remark) -> Mapping[str, Any]:
    """The settings of a file without an interval that the typed duration is too short for."""
    interval, duration = settings.get("interval"), arguments.duration
    if interval in (None, "auto") or duration is None or duration_s("interval", str(interval)) <= duration_s("--duration", duration):
        return settings
    remark(f"interval={interval} is longer than --duration {duration}, so intervals are as long as without it.")
    return {name: value for name, value in settings.items() if name != "interval"}


def _has_its_size(target: Target) -> bool:
    asked = layout_target(target.text)
    if asked is not None:
        return not has_filesystem(asked)
    return has_own_size(block_engine.native().inspect_target(target))


def _read(name: str, value: Any) -> Any:
    try:
        return OPTIONS_BY_NAME[name].form.read(value)
    except InputError as problem:
        raise InputError(f"--{name}: {problem}") from None
