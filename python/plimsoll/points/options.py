"""What every verb that measures can be told, by the names of the command line.

Model: options are a mapping; what is not in it is as on the command line when it was not typed, which `plimsoll.points.arguments` declares.
``settings`` may be a table, ``target`` a single name, several, or a table from names to targets. Numbers stand for texts: a bare duration
is in seconds, a bare size in bytes.

    complete({"target": "null:", "settings": {"queue_depth": 32}})["settings"]        # ("queue_depth=32",)
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

from plimsoll.defaults import defaults
from plimsoll.displayed import python_value, quoted
from plimsoll.errors import InputError
from plimsoll.experiments.layout_target import devices
from plimsoll.near import meant
from plimsoll.passwords import withheld
from plimsoll.points.arguments import Arguments
from plimsoll.points.listener import Step

if TYPE_CHECKING:
    from plimsoll.points.prices import PriceWords

#: What can be measured, as it is said.
Targets = str | Sequence[str] | Mapping[str, str]


class Options(TypedDict, total=False):
    """What every verb can be told; see ``plimsoll run --help`` for what each means and how values are written."""

    #: A file, device or model, several of them, or a table ``{"fast": "/dev/sdb"}`` that names them; a scratch file without any.
    target: Targets
    #: The same.
    targets: Targets
    #: The devices that layouts are made of: ``"/dev/sdb,/dev/sdc"``, or a list.
    on: str | Sequence[str]
    #: Options of workload and job: a table, or texts ``KEY=VALUE``.
    settings: Mapping[str, Any] | Sequence[str]
    #: Seconds, or a text such as ``"5m"``.
    duration: str | float
    warmup: str | float
    #: Bytes, or a text such as ``"8GiB"``.
    size: str | int
    #: How often everything is measured, and whether targets take turns.
    repeat: int
    interleave: bool
    #: ``cold``, ``warm`` or ``as found``.
    cache: str
    #: For example ``2%``: points end when their interval is that narrow.
    precision: str | float
    #: For example ``read mean <= 20ms and p99 <= 50ms``.
    objective: str
    #: Where runs are kept, and what this one is called in reports.
    out: str
    label: str
    #: What sides cost: ``A=288751``, ``A=prices.toml``, several of these, or a table from sides to amounts and files.
    price: PriceWords
    #: Scratch files stay.
    keep: bool
    #: Allows writing to what Plimsoll did not make; empty, or the serial number or path of what carries data.
    destroy_data: str
    #: An unfinished run of the same is left as it is.
    fresh: bool
    #: Which hosts measure together: ``local:3`` are three workers on this machine.
    hosts: str
    #: How they share a target that several of them reach: ``slices``, ``full``, or a region for each, ``0..50%,50%..100%``.
    share: str
    #: Called with every `Step` of the run; of functions alone, a command shows its own.
    progress: Callable[[Step], object]


#: How a value is checked, by the type that `Options` declares it with, and what it should be in words: what could never have been typed is
#: refused. Values of other types are read, and refused, by who knows them.
_CHECKED: Mapping[str, tuple[tuple[type, ...], str]] = {
    "str": ((str,), "a text"),
    "str | float": ((str, int, float), "a text or a number"),
    "str | int": ((str, int, float), "a text or a number"),
    "bool": ((bool,), "True or False"),
    "int": ((int,), "a whole number"),
    "Targets": ((str, Sequence, Mapping), "a text, several, or a table"),
}
_DECLARED = {name: kind.__forward_arg__ for name, kind in Options.__annotations__.items()}
#: Options that are texts where they are typed, and may be numbers where they are given.
_TEXTS = [name for name, kind in _DECLARED.items() if kind in ("str | float", "str | int")]


def complete(options: Mapping[str, Any], others: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Every option, as it would have been typed; ``others`` are those of one verb, as they are when nothing is said.

    Raises `InputError` for a name that none of them has.
    """
    known = {**Arguments.unsaid(), **(others or {})}
    for name, value in options.items():
        if name not in known and name not in ("target", "price"):
            raise InputError(f"option {quoted(name)} is not known; {meant(name, (*known, 'target', 'price'))}")
        _check_kind(name, value)
    if "target" in options and "targets" in options:
        raise InputError("options 'target' and 'targets' are the same; give one of them.")
    project = defaults()
    whole = {
        **known,
        "out": project.store,
        "label": project.label,
        **options,
        **{name: _typed(options[name]) for name in _TEXTS if name in options},
    }
    targets, settings = whole.pop("target", whole["targets"]), whole["settings"]
    if "price" in whole:
        # Prices are imported for who names one.
        from plimsoll.points.prices import price_texts

        whole["prices"] = price_texts(whole.pop("price"))
    if isinstance(settings, Mapping):
        settings = [f"{key}={_written(value)}" for key, value in settings.items()]
    whole |= {
        "targets": tuple(project.named(withheld(target)) for target in _listed(targets)),
        "on": devices([whole["on"]] if isinstance(whole["on"], str) else whole["on"]),
        "settings": tuple(map(withheld, (settings,) if isinstance(settings, str) else settings)),
    }
    return {**whole, "over": tuple(map(withheld, _axes(whole["over"])))} if "over" in whole else whole


def _check_kind(name: str, value: Any) -> None:
    """Raise `InputError` for a value that could never have been typed."""
    if value is None or (declared := _CHECKED.get(_DECLARED.get(name, ""))) is None:
        return
    kind, said = declared
    if not isinstance(value, kind) or (isinstance(value, bool) and bool not in kind):
        raise InputError(f"option {quoted(name)} is {python_value(value)}; give {said}.")


def _typed(value: Any) -> Any:
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _listed(targets: Targets) -> tuple[str, ...]:
    """Targets one by one, as they are typed."""
    if isinstance(targets, Mapping):
        return tuple(f"{name}={target}" for name, target in targets.items())
    return (targets,) if isinstance(targets, str) else tuple(targets)


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
