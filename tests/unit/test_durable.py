"""Small files of the store: whole or absent, and never written through what somebody else put beside them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from plimsoll.apps.destination import destination, marker_of
from plimsoll.errors import StoreError
from plimsoll.store.durable import LineFile, fresh, fresh_folder, replace_file
from plimsoll.store.writer import PointWriter, RunInfo, RunWriter
from support.made_results import Load, made


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """What is asked of the kernel from here on, in order, with the name that the file has then."""
    made: list[tuple[str, str]] = []

    def watched(name: str, original: Callable[..., object], subject: Callable[..., str]) -> None:
        def call(*arguments: object, **options: object) -> object:
            made.append((name, subject(*arguments)))
            return original(*arguments, **options)

        monkeypatch.setattr(os, name, call)

    def opened(file: int, *_: object) -> str:
        return os.path.basename(os.readlink(f"/proc/self/fd/{file}"))

    watched("write", os.write, opened)
    watched("fsync", os.fsync, opened)
    watched("rename", os.rename, lambda source, target: os.path.basename(target))
    return made


def test_a_file_is_on_the_medium_before_its_name_is_and_then_the_name(tmp_path: Path, calls: list[tuple[str, str]]) -> None:
    replace_file(str(tmp_path / "run.json"), b"{}")
    assert calls == [("write", ".run.json.part"), ("fsync", ".run.json.part"), ("rename", "run.json"), ("fsync", tmp_path.name)]


def test_a_file_that_only_has_to_outlive_the_process_waits_for_no_medium(tmp_path: Path, calls: list[tuple[str, str]]) -> None:
    replace_file(str(tmp_path / "run.json"), b"{}", durable=False)
    assert calls == [("write", ".run.json.part"), ("rename", "run.json")]


def test_each_line_is_one_write_and_the_file_is_on_the_medium_when_it_is_closed(tmp_path: Path, calls: list[tuple[str, str]]) -> None:
    with LineFile(str(tmp_path / "intervals.jsonl")) as lines:
        lines.append("{}")
        lines.append("[]")
        assert calls == [("write", "intervals.jsonl")] * 2
    assert calls[2:] == [("fsync", "intervals.jsonl")]


def test_lines_that_are_given_up_wait_for_no_medium(tmp_path: Path, calls: list[tuple[str, str]]) -> None:
    LineFile(str(tmp_path / "intervals.jsonl")).close(durable=False)
    assert calls == []


def test_a_result_appears_when_what_it_sums_up_is_on_the_medium(tmp_path: Path, calls: list[tuple[str, str]]) -> None:
    with PointWriter(str(tmp_path)) as point:
        point.interval({"index": 0})
        point.monitor({"index": 0})
        point.finish(made(Load(1000, 1e6)))
    lines, result = ("intervals.jsonl", "monitor.jsonl"), ".result.json.part"
    assert [call for call in calls if call[0] != "write"] == [
        *(("fsync", name) for name in (*lines, result)),
        ("rename", "result.json"),
        ("fsync", tmp_path.name),
        ("fsync", tmp_path.parent.name),
    ]
    assert [name for call, name in calls if call == "write"] == [*lines, result]


def test_a_run_and_its_points_are_on_the_medium_with_their_names(tmp_path: Path, calls: list[tuple[str, str]]) -> None:
    run = RunWriter.create(str(tmp_path), RunInfo("x", ["plimsoll"], 1, host={}, versions={}))
    name = os.path.basename(run.path)
    # Named before anything waits for the medium: who is killed meanwhile leaves a run that is listed.
    assert [call for call in calls if call[0] != "write"] == [
        ("rename", "run.json"),
        ("rename", name),
        ("fsync", "run.json"),
        ("fsync", name),
        ("fsync", tmp_path.name),
    ]
    calls.clear()
    with run.begin_point(made(Load(1000, 1e6))) as point:
        point.finish(made(Load(1000, 1e6)))
    assert calls[-2:] == [("fsync", os.path.basename(point.path)), ("fsync", "points")]


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
