"""How text from elsewhere is shown: bytes as a shell takes them, backslashes as they are, values in the form of their files."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

import plimsoll
from plimsoll import apps
from plimsoll.displayed import as_document, displayed, displayed_in_line, quoted
from plimsoll.errors import InputError
from plimsoll.formats import fio
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


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (r"C:\data\x", r"'rw=C:\data\x': 'C' is not a mode"),
        (f"n{BYTE}", r"'rw=n\xff': 'n\xff' is not a mode"),
        ("a\x1b[2J", r"'rw=a\u001b[2J'"),
    ],
)
def test_what_is_wrong_in_a_file_is_shown_as_it_was_written(value: str, shown: str) -> None:
    with pytest.raises(InputError) as found:
        fio.translate(f"[job]\nrw={value}\n", "job.fio")
    assert shown in str(found.value)


def test_no_sentence_shows_a_value_as_python_writes_it() -> None:
    package = Path(plimsoll.__file__).parent
    # What is written for whoever mends a mistake of ours, and the error that Python itself would raise.
    of_python = {package / "cli" / "mistake.py", package / "__init__.py", package / "records.py"}
    found = [
        f"{path.relative_to(package)}:{node.lineno}"
        for path in sorted(set(package.rglob("*.py")) - of_python)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FormattedValue) and node.conversion == ord("r")
    ]
    assert found == []
