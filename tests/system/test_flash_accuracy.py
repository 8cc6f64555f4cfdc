"""How near modelled flash comes to a published latency matrix of a real drive: reads beside writes, each at its own rate.

Everything is held against the null model, a power law of each figure. The runs of the model are those of `plimsoll fit`, so a figure here is
one of docs/arrays.md.
"""

from __future__ import annotations

import pytest

from plimsoll.analysis.array_fit.outcome import power_law
from plimsoll.points.array_runs import Modelling, Trial
from plimsoll.points.measured_rows import Measured, RowChoice, measured_rows

MATRIX, DRIVE = "published:latency-m7gd", "array:nitro"
REQUESTS = 5000
#: Rows that had no part in the values of the catalog.
HELD_OUT = 1845.4


def errors(target: str, measured: list[Measured]) -> list[float]:
    numbers = sorted({one.number for one in measured})
    figures = {number: [one for one in measured if one.number == number] for number in numbers}
    wanted = {number: tuple(one.row.figure for one in figures[number]) for number in numbers}
    with Modelling(processes=2) as modelling:
        found = modelling.figures([Trial(target, figures[number][0].load, REQUESTS, 1, wanted[number]) for number in numbers])
    said = dict(zip(numbers, found, strict=True))
    return [one.row.error(said[one.number][one.row.figure]) for one in measured]


def mean(values: list[float]) -> float:
    return sum(values) / len(values)


@pytest.fixture(scope="module")
def measured() -> list[Measured]:
    return measured_rows(MATRIX, RowChoice(), DRIVE)


def test_the_matrix_is_met_within_twelve_percent(measured: list[Measured]) -> None:
    assert len({one.number for one in measured}) == 18
    found = mean(errors(DRIVE, measured))
    print(f"{100 * found:.1f} % over {len(measured)} figures")
    assert found <= 0.12


def test_latencies_beside_writes_that_were_held_out_are_predicted_better_than_by_a_power_law(measured: list[Measured]) -> None:
    held_out = [one for one in measured if one.row.values.get("write_rate") == HELD_OUT]
    law = power_law([one.row for one in measured if one not in held_out])
    null = [one.row.error(law.said(one.row) or 0.0) for one in held_out]
    error = mean(errors(DRIVE, held_out))
    print(f"{100 * error:.1f} %, power law {100 * mean(null):.1f} %")
    assert len(held_out) == 28
    assert error <= 0.17
    assert error < mean(null)
