"""Inputs and work of analytics workflows: written once, written anew where they are of other rows, cleared only where they are Plimsoll's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from plimsoll import orphans
from plimsoll.apps.analytics import work
from plimsoll.apps.analytics.inputs import Inputs, check_room
from plimsoll.apps.analytics.options import WorkflowOptions, canonical
from plimsoll.engine.block import native
from plimsoll.engine.claims import holding
from plimsoll.engine.files import native_files
from plimsoll.errors import Interrupted, SafetyRefusal, TargetError


def asked(**stream: Any) -> WorkflowOptions:
    return WorkflowOptions.of(canonical({"rows": 2000, "workflows": 2, **stream}, "test"))


def made(folder: Path, **stream: Any) -> tuple[Inputs, list[tuple[int, int]]]:
    """Inputs that are there, and what was told of their making."""
    told: list[tuple[int, int]] = []
    inputs = Inputs(str(folder), asked(**stream))
    inputs.make(lambda done, total: told.append((done, total)), native().control())
    return inputs, told


def test_inputs_are_written_once_and_progress_ends_with_all_of_them(tmp_path: Path) -> None:
    inputs, told = made(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["1.rows", "1.rows.json", "2.rows", "2.rows.json"]
    assert inputs.size_bytes == 2 * 2000 * 200
    assert told[-1] == (800_000, 800_000)
    assert made(tmp_path)[1] == []
    # The numbers of the rows, 0 to 1,999, added up.
    assert inputs.tally(2)["numbers"] == 1999 * 2000 // 2  # type: ignore[index]
    assert inputs.tally(1) != inputs.tally(2)


@pytest.mark.parametrize("other", [{"rows": 2001}, {"data_seed": 2}])
def test_inputs_of_other_rows_are_written_anew(tmp_path: Path, other: dict[str, Any]) -> None:
    before = made(tmp_path)[0].tally(1)
    inputs, told = made(tmp_path, **other)
    assert told and inputs.tally(1) != before
    assert inputs.tally(1)["rows"] == other.get("rows", 2000)  # type: ignore[index]


def test_an_input_without_its_note_or_of_another_length_is_written_anew(tmp_path: Path) -> None:
    made(tmp_path)
    (tmp_path / "1.rows.json").write_text("{")
    with (tmp_path / "2.rows").open("ab") as file:
        file.write(b"more")
    assert made(tmp_path)[1][-1] == (800_000, 800_000)
    assert (tmp_path / "2.rows").stat().st_size == 400_000


def test_text_for_duckdb_has_the_same_sums_as_the_rows(tmp_path: Path) -> None:
    rows, _ = made(tmp_path)
    text, _ = made(tmp_path, engine="duckdb")
    assert text.tally(1) == rows.tally(1)
    first = (tmp_path / "1.csv").read_text().split("\n", 1)[0].split(",")
    assert (first[0], len(first)) == ("0", 1 + 4 + 12 + 3)


def test_shared_rows_are_those_of_workflow_1_and_generated_ones_have_no_file(tmp_path: Path) -> None:
    shared, _ = made(tmp_path / ".." / tmp_path.name, input="shared")
    assert (shared.path(2), shared.whose(2), shared.tally(2)) == (shared.path(1), 1, shared.tally(1))
    generated = Inputs(str(tmp_path), asked(input="generated"))
    assert (generated.path(2), generated.whose(2), generated.tally(2), generated.missing_bytes()) == (None, 2, None, 0)


def test_a_preparation_that_is_stopped_leaves_no_note(tmp_path: Path) -> None:
    control = native().control()
    control.stop()
    with pytest.raises(Interrupted):
        Inputs(str(tmp_path), asked(rows=300_000)).make(lambda *_: None, control)
    assert not list(tmp_path.glob("*.json"))
    assert not list(tmp_path.glob("*.rows"))


def test_rows_that_do_not_fit_are_refused_with_what_is_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Two inputs of 400,000 bytes, and two workflows with 4.4 copies of theirs and a mebibyte each.
    needed = 2 * 400_000 + 2 * (round(4.4 * 400_000) + (1 << 20))
    monkeypatch.setattr("plimsoll.apps.analytics.inputs.free_bytes", lambda _: needed)
    check_room(asked(), str(tmp_path), str(tmp_path))
    monkeypatch.setattr("plimsoll.apps.analytics.inputs.free_bytes", lambda _: needed - 1)
    with pytest.raises(TargetError, match=r"2 workflows of 2,000 rows need about 6.\d+ MiB, and 6.\d+ MiB are free"):
        check_room(asked(), str(tmp_path), str(tmp_path / "deeper" / "still"))


def test_work_of_a_killed_run_goes_and_what_the_marker_does_not_name_stays(tmp_path: Path) -> None:
    with holding():
        owned = Path(native_files().own(str(tmp_path / "sas"), None, work.NAME))
        (owned / "1").mkdir()
        (owned / "1" / "a.rows").write_bytes(bytes(8192))
        (tmp_path / "sas" / "mine").write_text("mine")
        said = work.clear_orphan(orphans.Note(work.KIND, str(tmp_path / "sas")))
        assert said == f"removed 8 KiB that workflows of a killed run had left in {tmp_path / 'sas'}"
        assert not list(owned.iterdir())
        assert (tmp_path / "sas" / "mine").exists()
        assert work.clear_orphan(orphans.Note(work.KIND, str(tmp_path / "sas"))) is None


def test_a_directory_of_that_name_that_is_somebodys_is_never_cleared(tmp_path: Path) -> None:
    with holding():
        native_files().own(str(tmp_path / "sas"), None, "input")
        (tmp_path / "sas" / work.NAME).mkdir()
        (tmp_path / "sas" / work.NAME / "mine").write_text("mine")
        with pytest.raises(SafetyRefusal):
            work.clear_orphan(orphans.Note(work.KIND, str(tmp_path / "sas")))
    assert (tmp_path / "sas" / work.NAME / "mine").read_text() == "mine"


def test_what_somebody_puts_beside_the_work_stays(tmp_path: Path) -> None:
    for path in ("work/1/a.rows", "work/notes", "work/mine/a.rows"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("rows")
    work.clear(str(tmp_path / "work"))
    assert sorted(path.name for path in (tmp_path / "work").rglob("*")) == ["a.rows", "mine", "notes"]


def test_a_link_in_the_work_goes_and_not_what_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "kept").write_text("kept")
    (tmp_path / "work" / "1").mkdir(parents=True)
    (tmp_path / "work" / "1" / "link").symlink_to(tmp_path / "mine")
    (tmp_path / "work" / "2").symlink_to(tmp_path / "mine")
    work.clear(str(tmp_path / "work"))
    assert (tmp_path / "mine" / "kept").exists()
    assert not (tmp_path / "work" / "1").exists()


def test_a_note_says_which_rows_a_file_has(tmp_path: Path) -> None:
    made(tmp_path)
    note = json.loads((tmp_path / "2.rows.json").read_text())
    assert {key: note[key] for key in ("schema", "seed", "workflow", "rows", "row_bytes", "bytes")} == {
        "schema": "plimsoll.rows/1",
        "seed": 1,
        "workflow": 2,
        "rows": 2000,
        "row_bytes": 200,
        "bytes": 400_000,
    }
