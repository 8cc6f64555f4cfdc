"""From a typed short command to the document that an experiment file would hold.

Model: ``plimsoll run``, ``steps``, ``ramp`` and the others are spellings of a file with one ``[[experiment]]``; what was not typed stays
out, so that defaults and messages are those of `plimsoll.experiments.document`, and the same words in a file mean the same.

    short_document("steps", arguments)       # {"title": …, "experiment": [{"name": "steps", "kind": "steps", …}]}
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from plimsoll import catalog
from plimsoll.errors import InputError
from plimsoll.experiments.declaration import FIELDS, options_of
from plimsoll.experiments.document import read_experiments, typed
from plimsoll.experiments.kinds import KINDS_BY_NAME
from plimsoll.experiments.levels import levels_of
from plimsoll.experiments.schedule import layer_settings
from plimsoll.points.arguments import Arguments, ExperimentArguments
from plimsoll.points.point import setting
from plimsoll.points.undertaking import Undertaking
from plimsoll.stored import Json

#: Options of a job that have an option of their own on the command line.
_JOB_OPTIONS = ("duration", "warmup", "size")
TARGET = "target"
#: The levels of file workloads when none were typed.
THREADS = "threads=1..64"
#: Of drivers whose load has another level than the depth of a queue; none where nothing raises it.
AXES = {
    "analytics": "workflows=1..64",
    "decision-support": "streams=1..16",
    "files": THREADS,
    "io-test": "streams=1..64",
    "mail": "users=100..6400",
    "mailstore": THREADS,
    "order-entry": "terminals=1..64",
    "database-durability": None,
    "filecopy": None,
}
#: The objective that a message shows for a load of these drivers, as TOML; for others it is that of the kind.
OBJECTIVES = {
    "decision-support": '"p95 <= 60s"',
    "mail": '"score <= 1s"',
    "order-entry": '"p90 of new-order <= 500ms"',
}
#: Keys of an experiment that are typed under the same name, besides those of its kind.
_SHARED = ("objective", "cache", "precision")


def short_undertaking(kind: str, arguments: ExperimentArguments) -> Undertaking:
    """The experiment of a short command, to be carried out."""
    objective = OBJECTIVES.get(_driver(arguments.workloads), "")
    suite = read_experiments(short_document(kind, arguments), typed(objective), targets=arguments.targets)
    return Undertaking(suite, run_name(kind, arguments.workloads))


def short_document(kind: str, arguments: ExperimentArguments) -> Json:
    """The document of a short command."""
    declared = KINDS_BY_NAME[kind]
    axis = declared.usual_axis
    called = declared.command if declared.as_it_stands else kind
    experiment: Json = {"name": called, "kind": kind, "workloads": _unique(arguments.workloads)}
    levels = _axes(arguments.over or ((_suitable(axis, experiment["workloads"]),) if axis else ()))
    if levels:
        experiment["over"] = levels
    settings = typed_settings(arguments)
    if settings:
        experiment["set"] = settings
    if arguments.repeat is not None:
        experiment["repeat"] = arguments.repeat
    if arguments.interleave:
        experiment["interleave"] = True
    own = [option.name for option in options_of(kind) if option.name not in FIELDS]
    said = {**{key: getattr(arguments, key) for key in _SHARED}, **{key: arguments.own.get(key) for key in own}}
    for key, value in said.items():
        if value is not None and value is not False:
            experiment[key] = value
    return {"title": f"{kind}: {', '.join(_names(arguments.workloads))}", "experiment": [experiment]}


def is_load(texts: Iterable[str]) -> bool:
    """Whether what is varied is one option, by numbers: levels of a load, which have a line and a mark."""
    axes = _axes(texts)
    if len(axes) != 1 or TARGET in axes:
        return False
    ((name, levels),) = axes.items()
    try:
        return all(isinstance(level, (int, float)) and not isinstance(level, bool) for level in levels_of(name, levels))
    except InputError:
        return True  # what is wrong with levels is said where they are read


def typed_settings(arguments: Arguments) -> Json:
    """What ``--set`` and the options of a job say, as the table ``set`` of an experiment."""
    options = {key: getattr(arguments, key) for key in _JOB_OPTIONS if getattr(arguments, key) is not None}
    return layer_settings(options, *({key: value} for key, value in map(setting, arguments.settings)))


def run_name(kind: str, workloads: Iterable[str]) -> str:
    """What the directory of the run is called: points as they stand by their workload, others by their kind as well."""
    names = _names(workloads)
    called = names[0] if KINDS_BY_NAME[kind].as_it_stands else f"{kind}-{names[0]}"
    return called if len(names) == 1 else f"{called}-and-more"


def _suitable(axis: str, workloads: Iterable[str]) -> str:
    """The axis that is meant when none was typed: streams of file operations have threads and no queue, order entry has terminals."""
    suitable = AXES.get(_driver(workloads), axis)
    if suitable is None:
        raise InputError(f"no option raises the load of {' and '.join(_names(workloads))}; name what to vary with --over NAME=LEVELS.")
    return suitable


def _driver(workloads: Iterable[str]) -> str:
    """The driver of all these workloads; empty when they have several, or cannot be read, which is said where they are."""
    try:
        documents = [catalog.load(source) for workload in workloads for source in catalog.sources(workload)]
    except InputError:
        return ""
    drivers = {str(document.get("driver")) for document in documents}
    return drivers.pop() if len(drivers) == 1 else ""


def _axes(texts: Iterable[str]) -> dict[str, str | list[str]]:
    """The table ``over``. Targets may have commas of their own, so an axis of targets is typed one by one."""
    axes: dict[str, str | list[str]] = {}
    for name, levels in map(_axis, texts):
        if name == TARGET:
            axes[name] = [*axes.get(name, ()), levels]
            continue
        if name in axes:
            raise InputError(f"--over {name} is given twice; write all its levels in one, for example --over {name}={axes[name]},{levels}.")
        axes[name] = levels
    return axes


def _axis(text: str) -> tuple[str, str]:
    name, equals, levels = text.partition("=")
    if not equals or not name.strip() or not levels.strip():
        raise InputError(f"--over {text}: not an axis; write NAME=LEVELS, for example --over queue_depth=1..64.")
    return name.strip(), levels.strip()


def _unique(workloads: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(workloads))


def _names(workloads: Iterable[str]) -> list[str]:
    return [os.path.basename(workload).removesuffix(".toml") for workload in workloads]
