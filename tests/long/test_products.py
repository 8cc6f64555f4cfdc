"""What is published of arrays of today, and what the models say: docs/coverage.md follows from the models as they are.

Renew with ``make reproduce`` (`plimsoll reproduce --products --markdown`) and look at the difference.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from plimsoll.analysis.products import Coverage
from plimsoll.engine.block import native
from plimsoll.reports.terminal.products import page_text
from plimsoll.reproduction.products import coverage, plan_of_draws

PAGE = Path(__file__).resolve().parents[2] / "docs" / "coverage.md"


@cache
def found() -> Coverage:
    return coverage(native(), plan_of_draws())


def test_the_page_is_what_the_models_say() -> None:
    text = page_text(found()) + "\n"
    if os.environ.get("PLIMSOLL_RENEW"):
        PAGE.write_text(text, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == text


def test_a_figure_is_the_same_with_any_number_of_threads() -> None:
    from plimsoll.catalog.products import product_figures
    from plimsoll.reproduction.products import held_figure

    figure = next(one for one in product_figures() if one.array == "ssd-s4500")
    assert held_figure(figure, native(), plan_of_draws(1)) == held_figure(figure, native(), plan_of_draws(3))
