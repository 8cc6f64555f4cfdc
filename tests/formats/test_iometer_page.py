"""The compatibility page follows from its table, and the table from what translations do; renew with ``PLIMSOLL_RENEW=1``."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from plimsoll.formats.iometer import read, translate
from plimsoll.formats.iometer.page import DISPLAY, MANAGERS, SETUP, SPECS, TABLES, VERSION, Row, compatibility_page
from plimsoll.formats.iometer.read import KEYS
from plimsoll.formats.iometer.statements import words

PAGE = Path(__file__).resolve().parents[2] / "docs" / "compatibility" / "iometer.md"
FILES = sorted((Path(__file__).parent / "iometer" / "golden").glob("*.icf"))


def test_the_page_is_up_to_date() -> None:
    if os.environ.get("PLIMSOLL_RENEW"):
        PAGE.write_text(compatibility_page(), encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == compatibility_page()


def test_every_key_of_the_test_setup_has_a_row() -> None:
    listed = {words(row.key) for row in SETUP} | {"target cycling"}
    assert set(KEYS) <= listed


def _row(path: Path, line: int, text: str) -> Row:
    """The row that a remark belongs to."""
    file = read(path.read_text(), path.name)
    if line == 1:
        return VERSION[0]
    if file.display is not None and line in {statement.line for statement in file.display.at}:
        return DISPLAY[0]
    if text[:1].isdigit() and text.replace(",", " ").replace(" ", "").isdigit():
        return SPECS[1]
    rows = [row for rows in (SETUP, SPECS, MANAGERS) for row in rows]
    found = [row for row in rows if text.lower().split(":")[0].startswith(row.key.lower())]
    if found:
        return max(found, key=lambda row: len(row.key))
    return SETUP[-1] if file.setup and text.split(":", maxsplit=1)[0] in {name for name, _ in file.setup.unknown} else _assigned()


def _assigned() -> Row:
    return next(row for row in MANAGERS if row.key == "Assigned access specs")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_verdicts_of_a_translation_are_those_of_the_table(path: Path) -> None:
    for remark in translate(path.read_text(), path.name).remarks:
        if remark.kind != "surprise":
            row = _row(path, remark.line or 0, remark.text)
            assert remark.kind in row.kinds, (remark, row.key)


def test_every_verdict_of_the_table_occurs_in_some_golden_file() -> None:
    seen = set()
    for path in FILES:
        for remark in translate(path.read_text(), path.name).remarks:
            if remark.kind != "surprise":
                seen.add((_row(path, remark.line or 0, remark.text).key, remark.kind))
    missing = {(row.key, kind) for rows in TABLES.values() for row in rows for kind in row.kinds} - seen
    assert not missing
