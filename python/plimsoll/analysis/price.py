"""Price for performance and capacity, and the arithmetic of published composite metrics.

Model: price per IOPS = price / IOPS at the mark; price per GB = price / usable bytes · 10⁹. The published TPC-H results of report 000 are
composed of a power and a throughput figure, composite = √(power · throughput), and their price/performance is price / composite,
stated to the cent.
Sources: array-model claims 1–3; TPC-H specification 5.4 (from memory). The report rounds 24.2336 up to 24.24 and 30.1814 down to 30.18, so
it follows no single rule; `to_the_cent` does either, and asks which.
Limits: these identities check published figures. A figure measured here is not a TPC result and is never called one.

    per_iops(42_000, 120_000)                                        # 0.35
    to_the_cent(288_751 / composite(15_504.0, 9_157.2), "up")       # Decimal("24.24")
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_HALF_UP, Decimal
from typing import Literal

from plimsoll.errors import InputError

Rounding = Literal["half up", "up"]
_CENT = Decimal("0.01")


def per_iops(price: float, iops: float) -> float:
    """Price of one I/O per second."""
    return _positive("price", price) / _positive("rate", iops)


def per_gigabyte(price: float, usable_bytes: float) -> float:
    """Price of 10⁹ usable bytes."""
    return _positive("price", price) / (_positive("capacity", usable_bytes) / 1e9)


def composite(power: float, throughput: float) -> float:
    """Geometric mean of the single-stream and the multi-stream figure."""
    return math.sqrt(_positive("power", power) * _positive("throughput", throughput))


def to_the_cent(value: float, rounding: Rounding = "half up") -> Decimal:
    """``value`` with two decimals."""
    mode = ROUND_CEILING if rounding == "up" else ROUND_HALF_UP
    # By way of text: 30.18 must not become 30.19 because its nearest double lies above it.
    return Decimal(repr(value)).quantize(_CENT, rounding=mode)


def _positive(what: str, value: float) -> float:
    if not (value > 0 and math.isfinite(value)):
        raise InputError(f"a {what} of {value:g} is impossible here; it must be above 0.")
    return value
