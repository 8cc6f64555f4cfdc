"""The arguments of a verb that measures, complete: one record for each sort of verb.

Model: the command line and `plimsoll.points.options` have options by their names, those of a verb beside what is only about showing. `of`
takes what is about measuring; what a verb does not have is as if nobody had said it. Texts are as they were typed, and read where they are
used.

    Arguments.of({"targets": ("null:",), "duration": "5s", "quiet": True}).duration        # "5s"
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, field, fields
from typing import Any, Self

from plimsoll.experiments.declaration import OPTIONS_BY_NAME
from plimsoll.records import dataclass


@dataclass(frozen=True, kw_only=True)
class Arguments:
    """What every verb can be told (`plimsoll.points.options.Options`)."""

    targets: tuple[str, ...] = ()
    on: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    duration: str | None = None
    warmup: str | None = None
    size: str | None = None
    repeat: int | None = None
    interleave: bool = False
    cache: str | None = None
    precision: str | None = None
    objective: str | None = None
    out: str = "results"
    label: str | None = None
    prices: tuple[str, ...] = ()
    keep: bool = False
    destroy_data: str | None = None
    fresh: bool = False
    hosts: str | None = None
    share: str | None = None

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Self:
        """From options by their names."""
        names = {one.name for one in fields(cls)}
        return cls(**{name: value for name, value in options.items() if name in names})

    @classmethod
    def unsaid(cls) -> dict[str, Any]:
        """Every option by its name, as it is when nothing is said."""
        return {one.name: one.default for one in fields(cls) if one.default is not MISSING}


@dataclass(frozen=True, kw_only=True)
class ExperimentArguments(Arguments):
    """An experiment of ``workloads``: ``over`` are the axes that were typed, ``steps`` asks for the usual one; ``own`` has the options of
    the kind by their names."""

    workloads: tuple[str, ...] = ()
    over: tuple[str, ...] = ()
    steps: bool = False
    own: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Self:
        return super().of({**options, "own": {name: value for name, value in options.items() if name in OPTIONS_BY_NAME}})


@dataclass(frozen=True, kw_only=True)
class ReplayArguments(Arguments):
    """The replay of a trace: how fast, where its requests go, and which of them."""

    speed: str | None = None
    fast: bool = False
    mapping: str = "refuse"
    limit: str | None = None
    devices: tuple[str, ...] = ()
    lateness: str | None = None
    form: str | None = None
    counted: str | None = None
