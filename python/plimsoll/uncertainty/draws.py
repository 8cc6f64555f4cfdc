"""An array, many times: each time with other values for what nobody has looked up.

Model: draw ``number`` of an array has for every uncertain value (`plimsoll.catalog.ranges`) the one that the hypercube says. What the
engine refuses, or nobody ever built (`implausible`), is no array: then the values of the component that is named are drawn again, from
anywhere in their ranges, and counted; nothing is moved to where it would just be allowed. The seed and what is uncertain decide
everything, so draws of the same number have the same value for what two arrays share.
Limits: a range that hardly allows an array is an error after `ATTEMPTS`.

    draws = Draws(target_of("array:msa50-sas-10k-raid5-8"), engine)
    draws.target(0).document["controller"][0]["request_ns"]        # 11_809
    draws.fingerprint(20)                                          # "5f0c…"
"""

from __future__ import annotations

import hashlib
import threading
from dataclasses import replace
from typing import Any

from plimsoll.analysis.uncertainty.hypercube import again, share
from plimsoll.analysis.uncertainty.interval import DrawnValue
from plimsoll.catalog.ranges import Uncertain, Value, implausible, uncertain, with_values
from plimsoll.engine.protocol import Engine
from plimsoll.errors import InputError, TargetError
from plimsoll.target import Target

#: The seed of draws, unless another is asked for: one for all, so that what is compared later was drawn alike.
SEED = 1
#: So often a draw is made before its ranges are given up.
ATTEMPTS = 100


class Draws:
    """See the module; threads may share it."""

    def __init__(self, target: Target, engine: Engine, seed: int = SEED) -> None:
        self._target = target
        self._engine = engine
        self.seed = seed
        #: What is drawn, in the order of the document.
        self.uncertain: list[Uncertain] = [] if target.document is None else uncertain(target.document)
        self._is_odd = target.document is not None and implausible(target.document) is not None
        self._made: dict[int, tuple[dict[str, float], Target, int]] = {}
        self._lock = threading.Lock()

    def target(self, number: int) -> Target:
        """The array of draw ``number``; raises `InputError` when its ranges hardly allow one."""
        return self._draw(number)[1]

    def values(self, number: int) -> dict[str, Value]:
        """What draw ``number`` has for each uncertain value, by identity."""
        shares = self._draw(number)[0]
        return {one.identity: one.at(shares[one.identity]) for one in self.uncertain}

    def drawn(self, count: int) -> list[DrawnValue]:
        """Every uncertain value with its first ``count`` draws, as ranks read them."""
        every = [self._draw(number)[0] for number in range(count)]
        return [_drawn(one, [shares[one.identity] for shares in every]) for one in self.uncertain]

    def redrawn(self, count: int) -> int:
        """How often values were drawn again for the first ``count`` draws."""
        return sum(self._draw(number)[2] for number in range(count))

    def fingerprint(self, count: int) -> str:
        """What the first ``count`` draws are, in a word: equal ones have equal values."""
        found = hashlib.sha256()
        for number in range(count):
            for identity, value in sorted(self.values(number).items()):
                found.update(f"{identity}\0{value}\0".encode())
        return found.hexdigest()[:16]

    def _draw(self, number: int) -> tuple[dict[str, float], Target, int]:
        with self._lock:
            if number not in self._made:
                self._made[number] = self._made_anew(number)
            return self._made[number]

    def _made_anew(self, number: int) -> tuple[dict[str, float], Target, int]:
        shares = {one.identity: share(self.seed, one.identity, number) for one in self.uncertain}
        for attempt in range(ATTEMPTS):
            made = self._with(shares)
            refusal = self._refusal(made)
            if refusal is None:
                return shares, made, attempt
            shares |= {one.identity: again(self.seed, one.identity, number, attempt) for one in self._component(refusal)}
        # An array that is none itself says why.
        self._engine.inspect_target(self._target)
        raise InputError(
            f"target `{self._target}`: of {ATTEMPTS} draws from the ranges of its values none is an array; "
            "set some of these values after a '?', so that they are not drawn."
        )

    def _refusal(self, made: Target) -> str | None:
        """Why this is no array; what no maker built counts as little as what the engine refuses, unless the array itself is so."""
        try:
            self._engine.inspect_target(made)
        except (InputError, TargetError) as problem:
            return str(problem)
        return None if self._is_odd else implausible(made.document or {})

    def _with(self, shares: dict[str, float]) -> Target:
        values = {one.identity: one.at(shares[one.identity]) for one in self.uncertain}
        return replace(self._target, document=with_values(self._target.document or {}, values, self.uncertain))

    def _component(self, problem: str) -> list[Uncertain]:
        """What belongs to the component that a refusal names; everything when it names none."""
        named = [one for one in self.uncertain if any(f" {component_of(path)}." in problem for path in one.paths)]
        return named or self.uncertain


def component_of(path: str) -> str:
    """The component that a value is of: ``controller.raid``, ``host``."""
    first, _, rest = path.partition(".")
    return first if first == "host" else f"{first}.{rest.partition('.')[0]}"


def _drawn(one: Uncertain, shares: list[float]) -> DrawnValue:
    low, high = one.ends()
    values: list[Any] = [one.at(part) for part in shares]
    columns = [one.width.index(value) for value in values] if one.range.form == "choice" else values
    return DrawnValue(one.name, one.paths, one.source, one.value, low, high, one.range.reason, columns)
