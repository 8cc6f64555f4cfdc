"""The compatibility page follows from the table of keywords; renew with ``PLIMSOLL_RENEW=1``."""

from __future__ import annotations

import os
from pathlib import Path

from plimsoll.formats.vdbench.options import BLOCKS, UnknownKeywordError, keyword
from plimsoll.formats.vdbench.page import compatibility_page

PAGE = Path(__file__).resolve().parents[2] / "docs" / "compatibility" / "vdbench.md"


def test_the_page_is_up_to_date() -> None:
    if os.environ.get("PLIMSOLL_RENEW"):
        PAGE.parent.mkdir(exist_ok=True)
        PAGE.write_text(compatibility_page(), encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == compatibility_page()


def test_the_page_names_every_keyword() -> None:
    page = compatibility_page()
    assert all(f"`{name}`" in page for entries in BLOCKS.values() for entry in entries for name in (entry.name, *entry.also))


def test_every_unsupported_keyword_says_what_comes_nearest_or_what_to_do() -> None:
    unsupported = [entry for entries in BLOCKS.values() for entry in entries if entry.usual == "unsupported"]
    assert unsupported
    assert all(
        "nearest" in entry.what or "run the part" in entry.what or "yourself" in entry.what or "move" in entry.what for entry in unsupported
    )


def test_every_keyword_is_found_by_its_own_name() -> None:
    for block, entries in BLOCKS.items():
        for entry in entries:
            assert all(keyword(block, name) is entry for name in (entry.name, *entry.also))


def test_abbreviations_are_unique_prefixes_of_two_letters_or_more() -> None:
    assert keyword("rd", "EL").name == "elapsed" and keyword("rd", "io").name == "iorate" and keyword("wd", "xf").name == "xfersize"
    assert keyword("rd", "forx").name == "forxfersize"
    assert keyword("wd", "rea").name == "rdpct" and keyword("wd", "wr").name == "wrpct"
    # A complete name is no abbreviation of a longer one.
    assert keyword("rd", "maxdata").name == "maxdata" and keyword("general", "report").name == "report"
    for written in ("e", "forw", "maxd", "elapsedd"):
        try:
            keyword("rd", written)
        except UnknownKeywordError:
            continue
        raise AssertionError(written)


def test_a_short_word_that_several_share_is_the_one_that_vdbench_asks_for_first() -> None:
    """The order of ``startsWith`` in the readers of Vdbench's public source."""
    expected = {
        ("wd", "st"): "stride",
        ("wd", "stre"): "streams",
        ("wd", "ho"): "hotband",
        ("wd", "hos"): "host",
        ("fwd", "file"): "fileselect",
        ("rd", "fo"): "forxfersize",
        ("rd", "op"): "operations",
        ("rd", "st"): "stopcurve",
        ("rd", "sta"): "startcmd",
    }
    assert {asked: keyword(*asked).name for asked in expected} == expected
