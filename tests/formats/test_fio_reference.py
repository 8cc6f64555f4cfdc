"""The compatibility page of fio follows from the tables, and the tables know what the installed fio knows.

Renew with ``PLIMSOLL_RENEW=1 pytest tests/formats/test_fio_reference.py`` and look at the difference.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from plimsoll.errors import InputError
from plimsoll.formats.fio.engines import ENGINES
from plimsoll.formats.fio.forms import FORMS, form_of
from plimsoll.formats.fio.options import ALIASES, OPTIONS, canonical
from plimsoll.formats.fio.page import compatibility_page

PAGE = Path(__file__).resolve().parents[2] / "docs" / "compatibility" / "fio.md"
FIO = shutil.which("fio")


def test_the_page_is_up_to_date() -> None:
    if os.environ.get("PLIMSOLL_RENEW"):
        PAGE.parent.mkdir(parents=True, exist_ok=True)
        PAGE.write_text(compatibility_page(), encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == compatibility_page()


def test_every_option_has_a_known_form_and_says_what_becomes_of_it() -> None:
    assert all(callable(form_of(option.form)) and option.why for option in OPTIONS.values())


def test_no_alias_is_an_option_of_its_own() -> None:
    assert set(ALIASES) & set(OPTIONS) == set()


def test_as_many_options_are_known_as_fio_has() -> None:
    # fio 3.42 has 362 names and 30 aliases; engines that are built outside of it bring a few more.
    assert len(OPTIONS) >= 362
    assert len(ALIASES) >= 30


def test_options_of_one_engine_name_engines_that_are_known() -> None:
    owners = {owner for option in OPTIONS.values() for owner in option.engine.split(", ") if owner}
    families = {"librpma", "spdk", "libcufile"}
    assert owners - families <= set(ENGINES)


@pytest.mark.skipif(FIO is None, reason="fio is not installed")
def test_every_option_of_the_installed_fio_is_known() -> None:
    text = subprocess.run([str(FIO), "--cmdhelp=all"], capture_output=True, text=True, check=True).stdout
    names = [line.partition(":")[0].strip() for line in text.splitlines() if ":" in line]
    assert len(names) > 200
    assert [name for name in names if re.fullmatch(r"[\w-]+", name) and canonical(name) is None] == []


@pytest.mark.skipif(FIO is None, reason="fio is not installed")
def test_every_engine_of_the_installed_fio_is_known() -> None:
    text = subprocess.run([str(FIO), "--enghelp"], capture_output=True, text=True, check=True).stdout
    assert [name for name in (line.strip() for line in text.splitlines()[1:]) if name and name not in ENGINES] == []


def test_each_form_refuses_an_empty_value_or_takes_it_as_text() -> None:
    from plimsoll.formats.fio.forms import read_value
    from plimsoll.formats.fio.quantity import Numbers

    for form in FORMS:
        if form == "text":
            assert read_value(form, "", Numbers()) == ""
        else:
            with pytest.raises(InputError):
                read_value(form, "", Numbers())
