"""How text from elsewhere is shown: bytes as a shell takes them, backslashes as they are, values in the form of their files."""

from __future__ import annotations

import json
from typing import Any

import pytest

from plimsoll import apps
from plimsoll.displayed import as_document, displayed, displayed_in_line, quoted
from plimsoll.errors import InputError
from plimsoll.formats.translation import Remark
from plimsoll.reports.html import json_block
from support.scripted_engine import ScriptedEngine

BYTE = "\udcff"


@pytest.mark.parametrize("show", [displayed, displayed_in_line])
def test_a_byte_that_is_no_text_is_shown_as_that_byte_also_where_repr_wrote_it(show: Any) -> None:
    assert show(f"n{BYTE}\udc80.dat") == r"n\xff\x80.dat"
    assert show(f"file {f'n{BYTE}'!r}") == r"file 'n\xff'"
    assert show("\ud800") == r"\ud800", "half of a character is no byte"


def test_a_document_keeps_what_it_holds_and_shows_nothing_unsafe() -> None:
    value = {"label": f"a{BYTE}\x1b\u202e\x85é"}
    text = as_document(value)
    assert json.loads(text) == value
    assert not {"\u202e", "\x85", "\x1b"} & set(text.decode())


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (r"\\.\PhysicalDrive1", r"'\\.\PhysicalDrive1'"),
        ("it's", '"it\'s"'),
        ({"a": True}, '{"a": true}'),
        (None, "null"),
        (f"n{BYTE}", r"'n\xff'"),
    ],
)
def test_values_stand_in_sentences_as_they_were_written(value: Any, shown: str) -> None:
    assert quoted(value) == shown


def test_the_page_shows_bytes_as_sentences_do() -> None:
    assert json.loads(json_block({"label": f"n{BYTE}"})) == {"label": r"n\xff"}


def test_a_driver_that_is_no_name_is_shown_as_its_file_has_it() -> None:
    with pytest.raises(InputError, match=r'my.toml: driver \{"a": 1\} is unknown'):
        apps.check_workload({"driver": {"a": 1}}, "my.toml", ScriptedEngine())


def test_names_of_windows_keep_their_backslashes_in_remarks() -> None:
    text = r"lun=\\.\PhysicalDrive1"
    assert text in Remark(1, text, "unsupported", "it is a name of Windows").sentence("job.vdb")
