"""What is published of arrays of today, and what the models say: the table of docs/products.md follows from the models as they are.

Renew with ``PLIMSOLL_RENEW=1 pytest tests/long/test_products.py`` and look at the difference.
"""

from __future__ import annotations

import os
import re
import tomllib
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from plimsoll import calibration
from plimsoll.engine.block import native
from plimsoll.measure import Job, measure
from plimsoll.own_cost import OwnCost
from plimsoll.points.point import changed, defined
from plimsoll.target import Target, target_of
from plimsoll.uncertainty.figures import Plan, interval_of

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "products.md"
FIGURES = tomllib.loads((ROOT / "tests" / "support" / "products.toml").read_text(encoding="utf-8"))["figure"]
TIB = 1 << 40
#: Draws for the ends of an interval of 90 %.
DRAWS = 40
#: What follows from the limits of a volume alone.
EXACT = ("burst_s", "scan_s")


class _Nowhere:
    """Nobody reads what arises."""

    def interval(self, interval: dict[str, Any]) -> None:
        pass

    def monitor(self, sample: dict[str, Any]) -> None:
        pass


def modelled(figure: dict[str, Any], target: Target) -> float:
    """What the model says, of an array as it stands in the catalog or as it was drawn."""
    value = measured(figure, target)
    return value / measured(figure, target_of(f"array:{figure['against']}")) if "against" in figure else value


def measured(figure: dict[str, Any], target: Target) -> float:
    engine = native()
    duration = figure.get("duration", "200ms")
    # Of writes, until the buffers of the drives are full.
    warmup = "0s" if figure["metric"] in EXACT else figure.get("warmup", "2s" if "write" in figure["workload"] else "50ms")
    settings = {**figure["set"], "duration": duration, "warmup": warmup, "interval": duration}
    workload, options = changed(*defined(figure["workload"], engine), engine, settings.items())
    job = Job("figure", workload, options, target, {"target": {"kind": "array"}})
    with patch.object(calibration, "load", lambda: OwnCost({"null": {}, "nop": {}})):
        result = measure(job, engine, _Nowhere(), engine.control())
    (total,) = result.totals.values()
    assert total.latency_ns is not None
    match figure["metric"]:
        case "iops":
            return float(total.iops)
        case "bytes_per_s":
            return float(total.bytes_per_s)
        case "mean_ns":
            return float(total.latency_ns.mean)
        case "scan_s":
            return TIB / total.bytes_per_s
        case _:
            # So many requests come from the credit: 300 a second always, 3,000 while it lasts.
            return (total.iops - 300) * float(duration.removesuffix("s")) / (3000 - 300)


def between(figure: dict[str, Any]) -> tuple[float, float] | None:
    """Between what it lies, given what nobody has looked up; None where nothing of that matters."""
    if figure["metric"] in EXACT or "against" in figure:
        return None
    found = interval_of(target_of(f"array:{figure['target']}"), partial(measured, figure), native(), Plan(draws=DRAWS))
    return None if found is None else (found.low, found.high)


def shown(metric: str, value: float, *, ratio: bool) -> str:
    if ratio:
        return f"{value:.2f} ×"
    match metric:
        case "bytes_per_s":
            return f"{value / 1e9:.1f} GB/s"
        case "mean_ns":
            return f"{value / 1e3:.0f} µs"
        case "iops":
            return f"{float(f'{value:.3g}'):,.0f}/s"
        case _:
            return f"{value:,.0f} s"


def row(figure: dict[str, Any]) -> str:
    published, ratio = figure["published"], "against" in figure
    value, ends = modelled(figure, target_of(f"array:{figure['target']}")), between(figure)
    say = [shown(figure["metric"], number, ratio=ratio) for number in (published, value, *(ends or ()))]
    inside = "" if ends is None else f"{say[2]} … {say[3]}, {'holds it' if ends[0] <= published <= ends[1] else 'misses it'}"
    head = f"| `{figure['target']}` | {figure['what']} | {say[0]} | {say[1]} | {100 * (value / published - 1):+.0f} % "
    return f"{head}| {inside or 'nothing is drawn'} | {figure['source']} |"


def rows() -> dict[tuple[str, str], str]:
    lines = re.findall(r"^\| `([\w-]+)` \| (.*?) \| .*\|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    text = PAGE.read_text(encoding="utf-8").splitlines()
    return {(target, what): next(line for line in text if line.startswith(f"| `{target}` | {what} |")) for target, what in lines}


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: f"{figure['target']}: {figure['what']}")
def test_a_published_figure_stands_beside_what_the_model_says(figure: dict[str, Any]) -> None:
    said = row(figure)
    if os.environ.get("PLIMSOLL_RENEW"):
        text = PAGE.read_text(encoding="utf-8")
        old = rows().get((figure["target"], figure["what"]))
        renewed = text.replace(old, said) if old else text.replace("<!-- /figures -->", f"{said}\n<!-- /figures -->")
        PAGE.write_text(renewed, encoding="utf-8")
    assert rows()[(figure["target"], figure["what"])] == said
