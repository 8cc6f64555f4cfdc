"""``plimsoll check``: what is measured with which permission, and what the closing sentence says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import plimsoll as library
from plimsoll.analysis.check.answer import answers_of
from plimsoll.store.reader import StoredRun, list_runs
from support.said import Plimsoll
from support.scripted_engine import Script, ScriptedEngine

CORNERS = ["random-read-4k", "sequential-read-128k"]
WRITES = ["random-write-4k", "sequential-write-128k"]
MODEL = "queue:service=exponential(1ms)"


@pytest.fixture(autouse=True)
def slow_from_eight(engine: ScriptedEngine) -> None:
    """A mean of 1 ms, and of 30 ms from eight threads on."""
    fast, slow = Script(latencies_ns=(1_000_000,) * 100), Script(latencies_ns=(30_000_000,) * 100)

    class ByThreads(list[Script]):
        def __getitem__(self, index: Any) -> Script:
            return slow if threads[-1] >= 8 else fast

    run_job, threads = engine.run_job, [0]

    def remember(job: dict[str, Any], on_event: Any, control: Any) -> dict[str, Any]:
        threads.append(job["workload"]["stream"][0]["threads"])
        return run_job(job, on_event, control)

    engine.scripts = ByThreads([fast])
    engine.run_job = remember  # type: ignore[method-assign]


@pytest.fixture(autouse=True)
def on_flash(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the device below every file says of itself, whatever this machine has."""
    facts: dict[str, Any] = {"name": "sdz", "rotational": False}
    monkeypatch.setattr("plimsoll.points.check.target_facts", lambda inspection: {**inspection, "devices": [facts]})
    return facts


def measured(engine: ScriptedEngine) -> list[str]:
    return [job["workload"]["name"] for job in engine.jobs]


def read_percents(engine: ScriptedEngine) -> set[float]:
    return {job["workload"]["stream"][0]["read_percent"] for job in engine.jobs if job["workload"]["name"] == "oltp-db"}


def test_a_check_measures_the_corners_then_raises_an_oltp_load_and_closes_with_one_sentence(
    plimsoll: Plimsoll, engine: ScriptedEngine
) -> None:
    said = plimsoll("check", "null:", "--quick", "-q")
    assert said.code == 0
    assert measured(engine)[:4] == [*CORNERS, *WRITES] and set(measured(engine)[4:]) == {"oltp-db"}
    assert read_percents(engine) == {70}
    levels = [job["workload"]["stream"][0]["threads"] for job in engine.jobs[4:]]
    assert levels == [1, 2, 4, 8, 6, 7]
    answer = said.out.rsplit("\n\n", 1)[1].replace("\n", " ")
    # 100 requests of an interval of 100 ms.
    assert answer.startswith("null: carries 1,000 OLTP requests per second before their mean passes 5 ms (7 at a time); it is quickest at ")
    # The doubts by their names, as in every answer.
    assert re.fullmatch(r"no doubts\.|(1 doubt|\d+ doubts): [a-z ,]+\.", answer.rstrip().rpartition("; ")[2])


def test_a_target_that_may_not_be_written_to_is_only_read(plimsoll: Plimsoll, engine: ScriptedEngine, here: Path) -> None:
    engine.inspection = {
        "kind": "device",
        "path": str(here / "disk"),
        "exists": True,
        "size_bytes": 1 << 30,
        "logical_block_bytes": 512,
        "parts": [],
        "write_refusal": "it is not ours",
    }
    (here / "disk").write_bytes(bytes(4096))
    said = plimsoll("check", "disk", "--quick")
    assert said.code == 0
    assert measured(engine)[:2] == CORNERS and not set(WRITES) & set(measured(engine))
    assert read_percents(engine) == {100}
    assert "reads only: writing to disk is not permitted" in said.err
    assert "OLTP reads per second" in said.out


def test_one_target_that_may_not_be_written_to_keeps_the_others_from_being_written_to(
    plimsoll: Plimsoll, engine: ScriptedEngine, here: Path
) -> None:
    refusal = engine.write_refusal
    engine.write_refusal = lambda target, permission: "no" if target.text == "disk" else refusal(target, permission)  # type: ignore[method-assign]
    (here / "disk").write_bytes(bytes(4096))
    said = plimsoll("check", "null:", "disk", "--quick", "-q", "--json")
    assert read_percents(engine) == {100} and not set(WRITES) & set(measured(engine))
    assert [one["target"] for one in said.json["targets"]] == ["null:", "disk"]


def test_a_permission_that_does_not_suffice_is_refused_and_not_taken_for_reads(
    plimsoll: Plimsoll, engine: ScriptedEngine, here: Path
) -> None:
    (here / "disk").write_bytes(bytes(4096))
    engine.write_refusals["disk"] = "disk is mounted."
    said = plimsoll("check", "disk", "--quick", "-q", "--destroy-data")
    assert said.code == 3 and "disk is mounted" in said.err
    assert engine.jobs == []


def test_the_document_of_a_check_begins_with_answer_mark_and_doubts(plimsoll: Plimsoll) -> None:
    document = plimsoll("check", "null:", "--quick", "-q", "--json").json
    assert document["answer"].startswith("null: carries 1,000 OLTP requests per second")
    assert {"iops", "bytes_per_s", "level", "interval"} <= set(document["mark"])
    assert document["mark"]["level"] == 7
    assert len(document["results"]) == 10
    assert all(set(doubt) == {"name", "severity", "sentence"} for doubt in document["doubts"])
    assert all(doubt["severity"] in ("doubt", "invalid") for doubt in document["doubts"])
    number = len(document["doubts"])
    named = ", ".join(doubt["name"].replace("_", " ") for doubt in document["doubts"])
    assert document["answer"].endswith("no doubts." if number == 0 else f"{number} doubt{'s' if number > 1 else ''}: {named}.")


def test_two_targets_have_an_answer_each_and_no_mark_in_common(plimsoll: Plimsoll) -> None:
    document = plimsoll("check", "null:", "-t", MODEL, "--quick", "-q", "--json").json
    assert document["mark"] is None
    assert [one["mark"]["level"] for one in document["targets"]] == [7, 7]
    assert document["answer"].count("OLTP requests per second") == 2


def test_an_objective_of_ones_own_replaces_the_mean_of_5_ms(plimsoll: Plimsoll) -> None:
    said = plimsoll("check", "null:", "--quick", "-q", "--objective", "p99 <= 50ms and mean <= 40ms", "--json")
    assert "at least 1,000 OLTP requests per second (1,024 at a time), the most tried" in said.json["answer"]
    assert said.json["experiments"][-1]["objective"] == "p99 <= 50ms and mean <= 40ms"


def test_where_no_level_holds_the_sentence_says_how_slow_a_single_request_was(plimsoll: Plimsoll) -> None:
    said = plimsoll("check", "null:", "--quick", "-q", "--objective", "mean <= 100us", "--assert", "--json")
    assert said.code == 1
    assert said.json["mark"] is None
    assert (
        "carries no OLTP requests within 100 µs: with 1 at a time the read mean is already 1 ms (1,000 per second)" in said.json["answer"]
    )


def test_a_killed_check_goes_on_where_it_was(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    words = ("check", "null:", "--quick", "-q", "--json")
    whole = plimsoll(*words).json
    (run,) = list_runs("results")
    assert isinstance(run, StoredRun)
    meta = Path(run.path) / "run.json"
    meta.write_text(meta.read_text().replace('"status": "complete"', '"status": "interrupted"'))
    before = len(engine.jobs)
    again = plimsoll(*words)
    assert len(engine.jobs) == before
    assert again.json["answer"] == whole["answer"]


def test_a_directory_stands_for_a_scratch_file_in_it(plimsoll: Plimsoll, engine: ScriptedEngine, here: Path) -> None:
    (here / "mnt").mkdir()
    said = plimsoll("check", "mnt", "--quick", "-q")
    assert said.code == 0
    assert {job["target"] for job in engine.jobs} == {"mnt/plimsoll-scratch.dat"}
    assert not (here / "mnt" / "plimsoll-scratch.dat").exists()


def test_without_a_target_it_is_a_scratch_file_here(plimsoll: Plimsoll) -> None:
    said = plimsoll("check", "--quick", "-q")
    assert "The scratch file ./plimsoll-scratch.dat carries 1,000 OLTP requests" in said.out.replace("\n", " ")


def test_what_is_read_back_says_the_same(plimsoll: Plimsoll) -> None:
    answer = plimsoll("check", "null:", "--quick", "-q", "--json").json["answer"]
    (run,) = list_runs("results")
    assert isinstance(run, StoredRun)
    (again,) = answers_of([point.result for point in run.points], "mean <= 5ms")
    assert again.sentence == answer


def test_a_typed_duration_holds_for_every_point(plimsoll: Plimsoll) -> None:
    plimsoll("check", MODEL, "-q", "-d", "1s")
    (run,) = list_runs("results")
    assert isinstance(run, StoredRun)
    assert {point.result.job.duration_s for point in run.points} == {1}


def test_from_python_a_check_has_its_answer(engine: ScriptedEngine) -> None:
    run = library.check("null:", quick=True)
    assert run.answer.startswith("null: carries 1,000 OLTP requests per second")
    assert run.answers[0].mark is not None and run.answers[0].mark.level == 7
    assert run.holds()


def test_the_small_scratch_file_of_the_quick_form_is_no_matter_of_a_model(plimsoll: Plimsoll) -> None:
    assert "size=" not in plimsoll("check", "null:", "--quick").err
    assert plimsoll("check", "null:", "--quick", "--json", "-q", "--fresh").json["experiments"][0]["set"].get("size") is None


def test_an_empty_name_is_no_scratch_file(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    said = plimsoll("check", "", "--quick", "-q")
    assert said.code == 2 and "the name is empty" in said.err
    assert engine.jobs == []


def test_a_named_side_is_called_by_its_name_and_its_permission_is_that_of_its_target(
    plimsoll: Plimsoll, engine: ScriptedEngine, here: Path
) -> None:
    refusal = engine.write_refusal
    engine.write_refusal = lambda target, permission: "no" if target.text == "disk" else refusal(target, permission)  # type: ignore[method-assign]
    (here / "disk").write_bytes(bytes(4096))
    said = plimsoll("check", "old=disk", "--quick", "--json")
    assert said.code == 0 and read_percents(engine) == {100}
    assert said.json["answer"].startswith("old carries 1,000 OLTP reads per second")


def test_the_report_of_a_check_begins_with_its_sentence(plimsoll: Plimsoll, monkeypatch: pytest.MonkeyPatch) -> None:
    from plimsoll.reports import html

    said = plimsoll("check", "null:", "--quick", "-q", "--json").json["answer"]
    models: list[Any] = []
    monkeypatch.setattr(html, "write_page", lambda model, *_: models.append(model))
    plimsoll("report", "latest")
    assert models[0]["answer"]["sentence"] == said


def test_the_sentence_is_painted_and_folded_as_the_terminal_has_it(plimsoll: Plimsoll, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    plain = plimsoll("check", "null:", "--quick", "-q").out
    assert "\x1b" not in plain and len(plain.rstrip().splitlines()[-1]) > 100
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("FORCE_COLOR", "1")
    painted = plimsoll("check", "null:", "--quick", "-q", "--fresh").out.rpartition("report.html")[2].strip()
    assert painted.startswith("\x1b[") and max(map(len, painted.splitlines())) <= 70 and len(painted.splitlines()) > 2


def test_disks_that_rotate_have_a_limit_of_20_ms_and_it_is_said(plimsoll: Plimsoll, on_flash: dict[str, Any]) -> None:
    on_flash["rotational"] = True
    said = plimsoll("check", "--quick", "-q")
    assert "sdz says that it rotates: the limit is a mean of 20 ms" in said.err.replace("\n", " ")
    assert "before their mean passes 20 ms (7 at a time)" in said.text
    # Absent: the kernel does not say.
    on_flash["rotational"] = {"absent": "no such file"}
    assert "before their mean passes 5 ms" in plimsoll("check", "--quick", "-q", "--fresh").text
    on_flash["rotational"] = True
    for virtual in ({"name": "vda"}, {"vendor": "QEMU", "model": "QEMU HARDDISK"}):
        before = {**on_flash}
        on_flash |= virtual
        assert "before their mean passes 5 ms" in plimsoll("check", "--quick", "-q", "--fresh").text
        on_flash |= before
    on_flash |= {"vendor": "SEAGATE", "model": "ST3600057SS"}
    assert "before their mean passes 10 ms" in plimsoll("check", "--quick", "-q", "--objective", "mean <= 10ms").text


def test_one_model_with_disks_gives_all_targets_their_limit(plimsoll: Plimsoll) -> None:
    said = plimsoll("check", MODEL, "array:msa50-sas-10k-raid5-8", "--quick", "-q", "--json")
    assert "array:msa50-sas-10k-raid5-8 has disks that rotate: the limit is a mean of 20 ms" in said.err.replace("\n", " ")
    assert "mean <= 20ms" in said.out and "mean <= 5ms" not in said.out
    assert "mean <= 5ms" in plimsoll("check", "array:nvme", "--quick", "-q", "--json").out
