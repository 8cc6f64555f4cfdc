"""Sizing for programs and for ``plimsoll size``: which storage carries a demand, by stored load lines, by measuring, or by data sheets.

Model: options are those of the command by their names; numbers stand for texts. Stored lines answer unless ``measure`` or a pattern of
``arrays`` asks for more; then it is a run, which is stored and goes on like any other.

    answer = plimsoll.size(iops=5000, read_percent=70, block_size="8KiB", objective="mean <= 20ms", arrays="msa2000-*")
    answer.carried, [(fit.line.target, fit.headroom) for fit in answer.fits]
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.near import meant
from plimsoll.points.listener import Listener
from plimsoll.points.options import Targets, complete
from plimsoll.points.sizing import Sizing, SizingAnswer, measured, sizing_of, stored
from plimsoll.points.sizing_arguments import MEASURING, SizingArguments

if TYPE_CHECKING:
    from plimsoll.points.arguments import Arguments
    from plimsoll.points.preview import Preview
    from plimsoll.points.undertaking import Undertaking

#: Options of the run, besides those of its points.
_OF_RUN = ("out", "keep", "destroy_data", "fresh")


class SizeOptions(TypedDict, total=False):
    """What a sizing can be told; see ``plimsoll size --help`` for what each means and how values are written."""

    #: The demand as it is typed: a rate in requests per second, shares in percent.
    iops: str | float
    read_percent: str | float
    block_size: str | int
    random_percent: str | float
    #: What ``plimsoll watch`` kept, which device of it, and which part of its intervals has to be carried.
    from_file: str
    device: str
    percentile: str | float
    #: So many mailboxes of a version and kind.
    mailboxes: int
    profile: str
    #: Room on top, such as ``"20%"``, and what has to hold.
    growth: str
    objective: str
    #: Disks as their data sheet has them.
    raid: str
    disk_iops: str | float
    disks: int
    disk_size: str
    groups: int
    spares: int
    dedicated_spares: int
    mirror_arrays: bool
    volumes: int
    price: str | float
    #: How many equal arrays, or a pattern of modelled ones that are measured.
    arrays: str | int
    #: Measure on the targets instead of looking at stored lines.
    measure: bool
    target: Targets
    duration: str | float
    warmup: str | float
    size: str | int
    out: str
    keep: bool
    destroy_data: str
    fresh: bool


def size(*runs: str, listener: Listener | None = None, **options: Unpack[SizeOptions]) -> SizingAnswer:
    """Say which load lines of ``runs``, or of all stored ones, carry a demand, and with what headroom; see ``SizingAnswer``.

    Raises `plimsoll.InputError` for options that make no sense together, before anything is measured.
    """
    return answered(sizing_of(_asked(runs, options)), listener or Listener())


def answered(sizing: Sizing, listener: Listener) -> SizingAnswer:
    """From what is measured now, or from what is stored."""
    if sizing.demand is None or not sizing.targets:
        return stored(sizing, listener.remark)
    from plimsoll.points.execution import carry_out

    undertaking, arguments = _undertaking(sizing)
    return measured(sizing, sizing.demand, carry_out(undertaking, arguments, listener))


def preview_of_sizing(sizing: Sizing, listener: Listener) -> Preview | None:
    """What `answered` would measure; None where stored lines answer."""
    if sizing.demand is None or not sizing.targets:
        return None
    from plimsoll.points.execution import preview_of

    undertaking, arguments = _undertaking(sizing)
    return preview_of(undertaking, arguments, listener)


def _undertaking(sizing: Sizing) -> tuple[Undertaking, Arguments]:
    """A ramp over the demand's rate on every target, and the options of its run."""
    from plimsoll.points.arguments import Arguments
    from plimsoll.points.demand import demand_undertaking

    assert sizing.demand is not None
    said = asdict(sizing.arguments)
    settings = {name: said[name] for name in MEASURING if said[name] is not None}
    undertaking = demand_undertaking(sizing.demand, targets=sizing.targets, objective=sizing.arguments.objective, settings=settings)
    of_run = {name: said[name] for name in _OF_RUN if said[name] is not None}
    return undertaking, Arguments.of(complete({**of_run, **settings, "target": sizing.targets}))


def _asked(runs: tuple[str, ...], options: Mapping[str, Any]) -> SizingArguments:
    """The options as they would have been typed."""
    for name in options:
        if name not in SizeOptions.__annotations__:
            raise InputError(f"option {quoted(name)} is not known; {meant(name, SizeOptions.__annotations__)}")
    texts = {one.name for one in fields(SizingArguments) if one.type == "str | None"}
    said = {name: _text(value) if name in texts else value for name, value in options.items() if name != "target"}
    of_run = complete({name: options[name] for name in ("target", "out") if name in options})
    arrays = said.get("arrays")
    return SizingArguments.of(
        {**said, "runs": runs, "targets": of_run["targets"], "out": of_run["out"], "arrays": None if arrays is None else str(arrays)}
    )


def _text(value: Any) -> Any:
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value
