"""What every verb that measures can be told, by the names of the command line.

Model: options are a mapping; what is not in it is as on the command line when it was not typed. ``settings`` may be a table, ``targets`` a
single name.

    complete({"targets": "null:", "settings": {"queue_depth": 32}})["settings"]        # ("queue_depth=32",)
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from plimsoll.errors import InputError
from plimsoll.near import meant


class Options(TypedDict, total=False):
    """What every verb can be told; see ``plimsoll run --help`` for what each means and how values are written."""

    #: Files, devices or models; a scratch file without any.
    targets: str | Sequence[str]
    #: Options of workload and job: a table, or texts ``KEY=VALUE``.
    settings: Mapping[str, Any] | Sequence[str]
    duration: str
    warmup: str
    size: str
    #: How often everything is measured, and whether targets take turns.
    repeat: int
    interleave: bool
    #: ``cold``, ``warm`` or ``as found``.
    cache: str
    #: For example ``2%``: points end when their interval is that narrow.
    precision: str
    #: For example ``read mean <= 20ms and p99 <= 50ms``.
    objective: str
    #: Where runs are kept, and what this one is called in reports.
    out: str
    label: str
    #: Scratch files stay.
    keep: bool
    #: Allows writing to what Plimsoll did not make; empty, or the serial number or path of what carries data.
    destroy_data: str
    #: An unfinished run of the same is left as it is.
    fresh: bool


#: What holds when nothing is said.
DEFAULTS: Mapping[str, Any] = {
    "targets": (),
    "settings": (),
    "duration": None,
    "warmup": None,
    "size": None,
    "repeat": None,
    "interleave": False,
    "cache": None,
    "precision": None,
    "objective": None,
    "out": "results",
    "label": None,
    "keep": False,
    "destroy_data": None,
    "fresh": False,
}


#: What the replay of a trace can be told besides.
REPLAY: Mapping[str, Any] = {
    "speed": None,
    "fast": False,
    "mapping": "refuse",
    "limit": None,
    "devices": (),
    "lateness": None,
    "form": None,
    "counted": None,
}


def complete(options: Mapping[str, Any], others: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Every option, as it would have been typed; ``others`` are those of one verb, as they are when nothing is said.

    Raises `InputError` for a name that none of them has.
    """
    known = {**DEFAULTS, **(others or {})}
    for name in options:
        if name not in known:
            raise InputError(f"option {name!r} is not known; {meant(name, known)}")
    whole = {**known, **options}
    targets, settings = whole["targets"], whole["settings"]
    if isinstance(settings, Mapping):
        settings = [f"{key}={_written(value)}" for key, value in settings.items()]
    whole |= {"targets": (targets,) if isinstance(targets, str) else tuple(targets), "settings": tuple(settings)}
    return {**whole, "over": _axes(whole["over"])} if "over" in whole else whole


def _axes(over: Mapping[str, Any] | Sequence[str] | str) -> tuple[str, ...]:
    """Axes as they are typed: NAME=LEVELS, of targets one by one."""
    if isinstance(over, str):
        return (over,)
    if not isinstance(over, Mapping):
        return tuple(over)
    texts: list[str] = []
    for name, levels in over.items():
        listed = [levels] if isinstance(levels, str) else [_written(level) for level in levels]
        texts += [f"{name}={level}" for level in listed] if name == "target" else [f"{name}={','.join(listed)}"]
    return tuple(texts)


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
