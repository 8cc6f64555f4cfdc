"""The kinds of experiments, in the order of the reference page; each is declared in its own file."""

from __future__ import annotations

from collections.abc import Iterable

from plimsoll.experiments.kind import Drawing
from plimsoll.experiments.kinds.curve import CURVE
from plimsoll.experiments.kinds.matrix import MATRIX
from plimsoll.experiments.kinds.precondition import PRECONDITION
from plimsoll.experiments.kinds.ramp import RAMP
from plimsoll.experiments.kinds.scaling import SCALING
from plimsoll.experiments.kinds.search import SEARCH
from plimsoll.experiments.kinds.single import SINGLE
from plimsoll.experiments.kinds.steady import STEADY
from plimsoll.experiments.kinds.steps import STEPS

KINDS = (SINGLE, STEPS, MATRIX, RAMP, SEARCH, CURVE, SCALING, STEADY, PRECONDITION)
KINDS_BY_NAME = {kind.name: kind for kind in KINDS}
#: Those whose levels follow from what they measure, so that two runs need not have measured the same.
ADAPTIVE = frozenset(kind.name for kind in KINDS if kind.adaptive)


def is_drawn(kind: str | None, drawing: Drawing) -> bool:
    """Whether the points of a stored experiment are drawn so; those of a kind that this version does not have are not."""
    return kind in KINDS_BY_NAME and drawing in KINDS_BY_NAME[kind].drawings


def seeks_mark(kind: str | None) -> bool:
    """Whether a stored experiment closed in on a mark."""
    return kind in KINDS_BY_NAME and KINDS_BY_NAME[kind].seeks_mark


def offers_rates(kind: str | None) -> bool:
    """Whether the points of a stored experiment were given rates of their own."""
    return kind in KINDS_BY_NAME and KINDS_BY_NAME[kind].offers_rates


def varies_load(kind: str | None) -> bool:
    """Whether the points of a stored experiment are levels of one load, so that an objective gives them a mark."""
    return kind in KINDS_BY_NAME and KINDS_BY_NAME[kind].varies_load


def kind_titles(kinds: Iterable[str]) -> dict[str, str]:
    """What a report calls the kinds of stored experiments; one that this version does not have goes by its name."""
    return {kind: KINDS_BY_NAME[kind].title if kind in KINDS_BY_NAME else kind for kind in sorted(set(kinds))}
