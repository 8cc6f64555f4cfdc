"""The compatibility page of DiskSpd follows from the tables of flags and elements; renew with ``PLIMSOLL_RENEW=1``."""

from __future__ import annotations

import os
from pathlib import Path

from plimsoll.formats.diskspd.elements import PROFILE_ELEMENTS, SPAN_ELEMENTS, TARGET_ELEMENTS
from plimsoll.formats.diskspd.options import FLAGS, FLAGS_BY_NAME
from plimsoll.formats.diskspd.page import compatibility_page
from plimsoll.formats.diskspd.resolve import Setting, Span, Target, Use
from plimsoll.formats.diskspd.verdict import judge

PAGE = Path(__file__).resolve().parents[2] / "docs" / "compatibility" / "diskspd.md"
ELEMENTS = [*PROFILE_ELEMENTS.values(), *SPAN_ELEMENTS.values(), *TARGET_ELEMENTS.values()]


def test_the_page_is_up_to_date() -> None:
    if os.environ.get("PLIMSOLL_RENEW"):
        PAGE.parent.mkdir(exist_ok=True)
        PAGE.write_text(compatibility_page(), encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == compatibility_page()


def test_the_page_has_a_row_for_every_flag_and_element() -> None:
    page = compatibility_page()
    assert all(f"`-{flag.name}" in page for flag in FLAGS)
    assert all(f"\n| `{element.name}` |" in page for element in ELEMENTS)


def test_every_flag_that_an_element_is_like_exists() -> None:
    assert all(element.flag in FLAGS_BY_NAME for element in ELEMENTS if element.flag)


def test_every_setting_can_be_judged() -> None:
    target = Target(path="/dev/sdb")
    use = Use(Span(targets=[target]), target)
    values = {"Throughput": (0, "BPMS"), "Distribution": None, "WriteBufferContent": "zero", "Caching": "u"}
    for key in {flag.key for flag in FLAGS} | {element.key for element in ELEMENTS} - {"Distribution"}:
        if key != "Distribution":
            assert judge(Setting(key, values.get(key, 0), key), use)[0] in ("native", "ignored", "unsupported")
