"""The published I/O test: its options, its files, what a core gets, and what is said against the throughput that is asked."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from plimsoll.analysis.analytics.guidance import judged, verdict
from plimsoll.analysis.analytics.io_test import io_tests
from plimsoll.analysis.point.observation import Observation
from plimsoll.analysis.validity.analytics import files_shrunk
from plimsoll.analysis.validity.evidence import Evidence
from plimsoll.apps import check_workload, driver_of
from plimsoll.apps.analytics.options import OPTIONS
from plimsoll.apps.io_test import files
from plimsoll.apps.io_test.options import NAMES
from plimsoll.engine.block import NativeEngine, native
from plimsoll.errors import InputError, TargetError
from plimsoll.host.machine import cpu_cores
from plimsoll.reports import io_test as words
from plimsoll.reports.terminal.io_test import io_test
from plimsoll.result import Estimate, Result
from plimsoll.target import Target
from support.made_results import Load, Setting, made

Json = dict[str, Any]
MB = 1_000_000


def phase(name: str, stream_s: list[float], *, repeat: int = 1, cores: int = 4, **more: Any) -> Result:
    """A phase whose files have 1,000 MB each."""
    one = made(Load(1.0, 1e9), repeat=repeat, setting=Setting(f"sas-iotest-{name}", "I/O test", "sequential", "/mnt/a"))
    said: Json = {
        "streams": len(stream_s),
        "file_bytes": 1000 * MB,
        "wanted_bytes": 1000 * MB * len(stream_s),
        "memory_bytes": 4000 * MB,
        "total_bytes": 1000 * MB * len(stream_s),
        "is_shrunk": False,
        "phase": name,
        "content": "incompressible",
        "direct": False,
        "cores": cores,
        "stream_s": stream_s,
        **more,
    }
    definition = {"name": f"sas-iotest-{name}", "driver": "io-test", "stream": [{"name": name, "phase": name}]}
    return replace(one, job=replace(one.job, definition=definition), engine={"io_test": said})


def test_a_cores_figure_is_the_file_over_the_mean_time_of_the_streams() -> None:
    (found,) = io_tests([phase("write", [8.0, 9.0, 11.0, 12.0])])
    assert found.write is not None and found.read is None
    # 1,000 MB in 10 s on average; 4,000 MB until the last was through after 12 s.
    assert found.write.per_core.value == pytest.approx(100 * MB)
    assert found.write.together_bytes_per_s == pytest.approx(4000 / 12 * MB)


def test_streams_that_are_not_cores_are_shared_out_over_the_cores() -> None:
    (found,) = io_tests([phase("read", [10.0, 10.0], cores=8)])
    assert found.read is not None and found.read.per_core.value == pytest.approx(1000 / 10 * 2 / 8 * MB)


def test_repeats_are_pooled_and_too_close_a_figure_is_not_judged() -> None:
    (found,) = io_tests([phase("write", [seconds] * 4, repeat=number) for number, seconds in enumerate((9.0, 10.0, 11.0), 1)])
    assert found.write is not None and found.write.repeats == 3
    assert found.write.per_core.low is not None and found.write.per_core.low < 100 * MB < (found.write.per_core.high or 0)
    assert judged(found.write.per_core) == "is too close to the 100 MB/s asked of every file system to tell"


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (99e6, "misses the 100 MB/s asked of every file system"),
        (100e6, "reaches the 100 MB/s asked of every file system, misses the 150 of temporary data"),
        (149e6, "reaches the 100 MB/s asked of every file system, misses the 150 of temporary data"),
        (150e6, "reaches the 100 and the 150 MB/s asked"),
    ],
)
def test_a_figure_is_held_against_both_published_ones(value: float, said: str) -> None:
    assert judged(Estimate(value)) == said


def test_an_interval_decides_only_when_all_of_it_does() -> None:
    assert verdict(Estimate(120e6, 101e6, 139e6), 100e6) == "reaches"
    assert verdict(Estimate(120e6, 99e6, 141e6), 100e6) == "too close to tell"
    assert verdict(Estimate(80e6, 61e6, 99e6), 100e6) == "misses"


def test_the_guide_names_every_option_of_the_io_test_and_of_workflows() -> None:
    guide = (Path(__file__).resolve().parents[2] / "docs" / "analytics.md").read_text(encoding="utf-8")
    named = {line.split("`")[1] for line in guide.splitlines() if line.startswith("| `")}
    assert {*NAMES, *OPTIONS} <= named


def test_both_phases_stand_in_one_sentence_table_and_document() -> None:
    results = [phase("write", [10.0] * 4), phase("read", [5.0] * 4)]
    assert words.sentence(results, {"/mnt/a": "/mnt/a"}) == (
        "/mnt/a: writing 100 MB/s per core, which reaches the 100 MB/s asked of every file system, misses the 150 of temporary data; "
        "reading 200 MB/s per core, which reaches the 100 and the 150 MB/s asked"
    )
    document = words.document(results)["io_test"][0]
    assert document["write"]["verdicts"] == {"every file system": "reaches", "temporary data": "misses"}
    assert document["read"]["per_core"]["value"] == pytest.approx(200 * MB)
    json.dumps(document)
    lines = io_test(results).splitlines()
    assert lines[2].split("  ")[0] == "/mnt/a" and "100 reached, 150 missed" in lines[2] and "100 reached, 150 reached" in lines[3]


def test_a_phase_that_was_cut_short_counts_for_nothing() -> None:
    cut = replace(phase("write", [10.0] * 4), status="interrupted")
    assert io_tests([cut]) == [] and words.sentence([cut], {}) == "" and io_test([cut]) == "" and words.document([cut]) == {}


def test_files_for_which_there_was_too_little_room_are_told() -> None:
    full = phase("write", [10.0] * 4, is_shrunk=True, wanted_bytes=64 << 30, total_bytes=4 << 30)
    (flag,) = files_shrunk(Evidence(full, Observation()))
    assert flag.severity == "doubt" and "room for 4 GiB of the 64 GiB" in flag.message
    assert list(files_shrunk(Evidence(phase("write", [10.0]), Observation()))) == []


def test_the_total_is_shared_out_in_whole_requests(tmp_path: Path) -> None:
    found = files.extent(str(tmp_path), 3, "10MiB", 65536)
    assert (found.file_bytes, found.streams, found.is_shrunk) == (53 * 65536, 3, False)


def test_files_leave_a_tenth_of_the_room_free_and_say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "free_bytes", lambda _: 10 << 20)
    found = files.extent(str(tmp_path), 4, "memory", 65536)
    assert found.total_bytes == 36 * 4 * 65536 and found.total_bytes <= 9 << 20 and found.is_shrunk
    # What the files of the phase before take is theirs again.
    files.make(str(tmp_path), found)
    (tmp_path / "f0").write_bytes(bytes(1 << 20))
    assert files.extent(str(tmp_path), 4, "memory", 65536).total_bytes > found.total_bytes
    monkeypatch.setattr(files, "free_bytes", lambda _: 0)
    (tmp_path / "f0").unlink()
    with pytest.raises(TargetError, match="too little for 4 files"):
        files.extent(str(tmp_path), 4, "memory", 65536)


def test_only_files_that_were_written_to_their_end_are_read(tmp_path: Path) -> None:
    home = str(tmp_path)
    wanted = files.extent(home, 2, "2MiB", 65536)
    files.make(home, wanted)
    assert not files.are_written(home, wanted)
    with pytest.raises(TargetError, match="are not there any more"):
        files.read_note(home, "read")
    files.note(home, wanted)
    assert files.are_written(home, wanted) and files.read_note(home, "read") == wanted
    os.truncate(tmp_path / "f1", 5)
    assert not files.are_written(home, wanted)


def test_names_of_parts_survive_what_separates_them(tmp_path: Path) -> None:
    home = tmp_path / "a,b %?"
    home.mkdir()
    wanted = files.extent(str(home), 2, "2MiB", 65536)
    files.make(str(home), wanted)
    parts = native().inspect_target(files.target_of(str(home), wanted))["parts"]
    assert [part["path"] for part in parts] == [str(home / "f0"), str(home / "f1")]


def test_streams_follow_the_cores_unless_they_are_said() -> None:
    workload = check_workload({"name": "mine", "driver": "io-test", "stream": [{"phase": "read"}]}, "mine.toml")
    (stream,) = workload["stream"]
    assert (stream["streams"], stream["threads"], stream["read_percent"]) == ("cores", cpu_cores(), 100)  # type: ignore[typeddict-item]
    driver = driver_of(workload, native())
    changed, _ = driver.set_option(workload, driver.check_job({}), "streams", "3")
    assert changed["stream"][0]["threads"] == 3
    changed, options = driver.set_option(changed, driver.check_job({}), "size", "3GiB")
    assert changed["stream"][0]["total_size"] == "3GiB" and options.get("size") is None  # type: ignore[typeddict-item]
    again = check_workload(changed, "again")
    assert again == changed


@pytest.mark.parametrize(
    ("stream", "said"),
    [
        ({"phase": "both"}, "phase: 'both' is unknown"),
        ({"streams": 0}, "streams: '0' is no number of streams; write a whole number from 1 to 4096, or cores."),
        ({"total_size": "1k"}, "total_size: '1k' is no size for the files"),
        ({"block_size": "1000B"}, "block_size: '1000B' is no size of requests"),
        ({"queue_depth": 4}, "stream: the I/O test has no option 'queue_depth'"),
        ({"blocksize": "4k"}, "did you mean 'block_size'?"),
    ],
)
def test_bad_options_are_told_in_a_sentence(stream: Json, said: str) -> None:
    with pytest.raises(InputError) as refused:
        check_workload({"name": "mine", "driver": "io-test", "stream": [stream]}, "mine.toml")
    assert said in str(refused.value) and str(refused.value).startswith("mine.toml: stream")


def test_each_stream_has_a_file_and_a_flush_for_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs: list[Json] = []

    def run(_self: object, job: Json, _on_event: object, _control: object) -> Json:
        jobs.append(job)
        return {"stopped_by": "amount", "engine": {"spent_ns": [2_000_000_000, 4_000_000_000]}}

    monkeypatch.setattr(NativeEngine, "run_job", run)
    stream = {"phase": "write", "streams": 2, "total_size": "2MiB"}
    workload = check_workload({"name": "mine", "driver": "io-test", "stream": [stream]}, "mine.toml")
    engine = native()
    driver, target = driver_of(workload, engine), Target(str(tmp_path / "io"))
    driver.prepare_target(target, None, None, lambda _done, _total: None, engine.control())
    outcome = driver.run_job(
        {"workload": workload, "job": driver.check_job({}), "target": target, "permission": None},
        lambda _kind, _event: None,
        engine.control(),
    )
    asked = [
        (one["parts"], one["threads"], one["queue_depth"], one["amount"], one["flush_at_end"]) for one in jobs[0]["workload"]["stream"]
    ]
    assert asked == [([0], 1, 1, 1 << 20, True), ([1], 1, 1, 1 << 20, True)]
    assert jobs[0]["target"].text.startswith("concat:") and jobs[0]["job"]["backend"] == "sync"
    assert outcome["io_test"]["stream_s"] == [2.0, 4.0]  # type: ignore[index]
    driver.remove_target(target)
