"""docs/reproduce.md is what ``plimsoll reproduce --markdown`` prints: its words for all claims, its numbers for claims that cost little.

Renew with ``make reproduce`` and look at the difference.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.catalog.claims import claims
from plimsoll.engine.block import native
from plimsoll.reports.terminal.reproduction import page_text
from plimsoll.reproduction.bench import Bench
from plimsoll.reproduction.chain import chains
from plimsoll.reproduction.document import document
from plimsoll.reproduction.verdicts import Lookup, judged

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reproduce.md"
#: Arithmetic, one request outstanding, a few seconds of streams: a second or two of processor time in all; tests/long has more of them.
CHEAP = (1, 3, 15, 16, 17, 32, 38, 40)


def rows(text: str) -> dict[int, list[str]]:
    """The cells of every claim's row, by number."""
    found = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in text.splitlines() if line.startswith("| ")]
    return {int(cells[0]): cells for cells in found if cells[0].isdigit()}


def row_of(number: int) -> list[str]:
    """The row of one claim, from the model as it is."""
    (claim,) = (claim for claim in claims() if claim.number == number)
    readings = Bench(native(), 1).readings(chains([claim]), lambda *_: None)
    return rows(page_text(document([judged(claim, Lookup(readings, native()))])))[number]


def test_every_claim_has_its_row_with_the_words_of_the_catalog():
    shown = rows(PAGE.read_text(encoding="utf-8"))
    assert list(shown) == [claim.number for claim in claims()]
    for claim in claims():
        number, kind, basis, published, modelled, verdict = shown[claim.number]
        assert (number, kind, published) == (str(claim.number), claim.kind, f"{claim.title}: {claim.published}")
        assert basis == (claim.basis or "–")
        assert (verdict == "not-scored") == bool(claim.not_scored)
        assert (verdict == "missed") == ("does not hold: " in modelled)
        assert claim.note in modelled.replace("&lt;", "<")


def test_the_page_names_the_command_that_wrote_it():
    assert "Written by `plimsoll reproduce --markdown`" in PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("number", CHEAP)
def test_the_numbers_are_those_of_the_model_as_it_is(number):
    assert row_of(number) == rows(PAGE.read_text(encoding="utf-8"))[number]
