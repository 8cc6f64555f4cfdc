"""The compatibility page of ORION follows from the table of options; renew with ``PLIMSOLL_RENEW=1``."""

from __future__ import annotations

import os
from pathlib import Path

from plimsoll.formats.orion.options import OPTIONS
from plimsoll.formats.orion.page import compatibility_page

PAGE = Path(__file__).resolve().parents[2] / "docs" / "compatibility" / "orion.md"


def test_the_page_is_up_to_date() -> None:
    if os.environ.get("PLIMSOLL_RENEW"):
        PAGE.parent.mkdir(exist_ok=True)
        PAGE.write_text(compatibility_page(), encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == compatibility_page()


def test_the_page_has_a_row_for_every_option() -> None:
    rows = [line for line in compatibility_page().splitlines() if line.startswith("| `-")]
    assert [row.split("`")[1] for row in rows] == [f"-{option.name}" for option in OPTIONS]
    assert all(row.count("|") == 7 for row in rows)
