"""Choosing for programs and for ``plimsoll choose``: the cheapest modelled array that carries a demand, healthy, degraded and rebuilding.

Model: options are those of the command by their names; a single text stands for a list of one. Everything happens in virtual time and
nothing is stored: the answer is a value, and the same for the same question.

    answer = plimsoll.choose("demand.json", objective="p99 <= 5ms", capacity="4TB", among="nearline-raid6?drives=6..12 nvme-raid10-8")
    answer.best.candidate.name, answer.best.price, answer.runner_up
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.near import meant

if TYPE_CHECKING:
    from plimsoll.choice.selection import Chosen

Texts = str | Sequence[str]
#: Options that may be given several times.
_LISTS = {"among": "among", "objective": "objectives", "cap": "caps"}


class ChooseOptions(TypedDict, total=False):
    """What a choice can be told; see ``plimsoll choose --help`` for what each means and how values are written."""

    among: Texts
    objective: Texts
    cap: Texts
    capacity: str | int
    survive: int
    budget: str | float
    prices: str
    device: str
    percentile: str | float
    random_percent: str | float
    growth: str | float
    healthy_only: bool
    finalists: int
    seed: int
    jobs: int
    uncertainty: str | int
    out: str


def choose(*demands: str, heard: Callable[[str], None] = lambda _: None, **options: Unpack[ChooseOptions]) -> Chosen:
    """Say which array to buy for what is demanded: files, workloads with a rate (``oltp-db@2k``) or stored runs; see ``Chosen``.

    ``heard`` is told what goes on, a sentence at a time. Raises `plimsoll.InputError` before anything is simulated.
    """
    from plimsoll.choice.question import Question, selection_of
    from plimsoll.choice.selection import select

    return select(selection_of(Question(demands=demands, **_typed(options))), heard)


def _typed(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options as they would have been typed."""
    said: dict[str, Any] = {}
    for name, value in options.items():
        if name not in ChooseOptions.__annotations__:
            raise InputError(f"option {quoted(name)} is not known; {meant(name, ChooseOptions.__annotations__)}")
        if name in _LISTS:
            said[_LISTS[name]] = (value,) if isinstance(value, str) else tuple(value)
        elif name in ("survive", "finalists", "seed", "jobs", "healthy_only") or value is None:
            said[name] = value
        else:
            said[name] = str(value)
    return said
