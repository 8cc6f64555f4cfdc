"""Small files of the store: whole or absent, and never written through what somebody else put beside them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from plimsoll.apps.destination import destination, marker_of
from plimsoll.errors import StoreError
from plimsoll.store.beside import fresh, fresh_folder
from plimsoll.store.durable import LineFile, replace_file


@pytest.mark.parametrize(
    "trap",
    [
        lambda beside, secret: beside.symlink_to(secret),
        lambda beside, secret: beside.hardlink_to(secret),
        lambda beside, secret: beside.mkdir(),
    ],
)
def test_what_lies_where_a_report_is_written_beside_is_neither_followed_nor_lost(
    tmp_path: Path, trap: Callable[[Path, Path], None]
) -> None:
    secret, report, beside = tmp_path / "secret", tmp_path / "new.html", tmp_path / ".new.html.part"
    secret.write_text("precious")
    trap(beside, secret)
    replace_file(str(report), b"report")
    assert (report.read_bytes(), report.is_symlink(), secret.read_text()) == (b"report", False, "precious")
    assert sorted(os.listdir(tmp_path)) == [".new.html.part", "new.html", "secret"]


def test_what_a_killed_process_left_goes_and_what_another_writes_stays(tmp_path: Path) -> None:
    path, beside = tmp_path / "run.json", tmp_path / ".run.json.part"
    beside.write_text("half a run")
    replace_file(str(path), b"whole")
    assert os.listdir(tmp_path) == ["run.json"]
    name, file = fresh(str(path))
    assert name == str(beside)
    replace_file(str(path), b"of another")
    assert beside.exists() and path.read_bytes() == b"of another"
    os.close(file)
    replace_file(str(path), b"again")
    assert os.listdir(tmp_path) == ["run.json"]


def test_a_link_at_the_output_is_replaced_by_the_file(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("precious")
    (tmp_path / "new.html").symlink_to("elsewhere")
    replace_file(str(tmp_path / "new.html"), b"report")
    assert (tmp_path / "elsewhere").read_text() == "precious"
    assert not (tmp_path / "new.html").is_symlink()


def test_lines_and_folders_of_a_point_are_not_written_through_links(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "secret").write_text("precious")
    (tmp_path / "intervals.jsonl").symlink_to("secret")
    with pytest.raises(StoreError, match=r"intervals\.jsonl: cannot be written"):
        LineFile(str(tmp_path / "intervals.jsonl"))
    (tmp_path / ".0001-x.part").symlink_to("elsewhere")
    fresh_folder(str(tmp_path / ".0001-x.part"))
    assert not (tmp_path / ".0001-x.part").is_symlink()
    fresh_folder(str(tmp_path / ".0001-x.part"))
    assert (tmp_path / "secret").read_text() == "precious"


def test_the_marker_of_a_copy_is_not_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("precious")
    source = str(tmp_path / "data")
    os.symlink("secret", marker_of(f"{source}.copy"))
    with destination(source, 4096, direct=False):
        assert (tmp_path / "secret").read_text() == "precious"
        assert not os.path.islink(marker_of(f"{source}.copy"))
