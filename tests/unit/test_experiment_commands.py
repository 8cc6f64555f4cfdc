"""The commands that carry out experiments: from typed words to points, conclusions and exit codes, over a scripted engine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from plimsoll.cli import main
from plimsoll.errors import TargetError
from plimsoll.points.arguments import ExperimentArguments
from plimsoll.points.short_document import short_document
from plimsoll.store.reader import StoredRun, list_runs
from support.said import Plimsoll
from support.scripted_engine import Script, ScriptedEngine

QUICK = ("-d", "1s", "-w", "0")
SUITE = """
title = "Two"
purpose = "Two experiments"

[[experiment]]
name = "depth"
kind = "steps"
workloads = ["small.toml"]
over = { queue_depth = [1, 2] }
set = { duration = "1s", warmup = "0s" }
quick = { over = { queue_depth = [4] } }

[[experiment]]
name = "sizes"
kind = "matrix"
workloads = ["small.toml"]
over = { block_size = ["4KiB", "8KiB"] }
set = { duration = "1s", warmup = "0s" }
configurations = [{ name = "A" }, { name = "B", set = { queue_depth = 8 } }]
interleave = true
"""


def only_run(out: str = "results") -> StoredRun:
    (run,) = list_runs(out)
    assert isinstance(run, StoredRun)
    return run


def slow_from(engine: ScriptedEngine, depth: int) -> None:
    """Latency rises to 30 ms at this queue depth and above, and is 1 ms below."""
    fast, slow = Script(latencies_ns=(1_000_000,) * 100), Script(latencies_ns=(30_000_000,) * 100)

    class ByDepth(list[Script]):
        def __getitem__(self, index: Any) -> Script:
            return slow if engine.jobs_asked >= depth else fast

    run_job = engine.run_job

    def remember(job: dict[str, Any], on_event: Any, control: Any) -> dict[str, Any]:
        engine.jobs_asked = job["workload"]["stream"][0]["queue_depth"]  # type: ignore[attr-defined]
        return run_job(job, on_event, control)

    engine.scripts = ByDepth([fast])
    engine.run_job = remember  # type: ignore[method-assign]


def levels(engine: ScriptedEngine) -> list[int]:
    return [job["workload"]["stream"][0]["queue_depth"] for job in engine.jobs]


def test_steps_measures_its_levels_repeat_by_repeat_with_the_next_seed(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    said = plimsoll("steps", "small.toml", "-t", "null:", "--over", "queue_depth=1..4", "--repeat", "2", *QUICK, "--json")
    assert said.code == 0
    assert levels(engine) == [1, 2, 4, 1, 2, 4]
    assert [job["job"]["seed"] for job in engine.jobs] == [1, 1, 1, 2, 2, 2]
    places = [(result["place"]["level"], result["place"]["kind"], result["place"]["role"]) for result in said.json["results"]]
    assert places[:3] == [(1, "steps", "point"), (2, "steps", "point"), (4, "steps", "point")]


def test_without_levels_steps_doubles_the_queue_depth(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    plimsoll("steps", "small.toml", "-t", "null:", *QUICK)
    assert levels(engine) == [1, 2, 4, 8, 16, 32, 64]


def test_interleaved_targets_take_turns_point_by_point(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    targets = ("-t", "null:", "-t", "null:?size=1g")
    plimsoll("steps", "small.toml", *targets, "--over", "queue_depth=1,2", "--interleave", *QUICK)
    assert [job["target"] for job in engine.jobs] == ["null:", "null:?size=1g"] * 2
    assert len(engine.prepared) == 2


def test_the_ramp_finds_the_mark_and_prints_it(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    slow_from(engine, 13)
    said = plimsoll("ramp", "small.toml", "-t", "null:", "--objective", "read mean <= 20ms", "--resolution", "1", *QUICK, "--json")
    assert said.code == 0
    mark = said.json["mark"]
    assert (mark["level"], mark["next_level"], mark["failed_by"]) == (12, 13, "read mean <= 20ms")
    assert {"iops", "bytes_per_s", "level", "interval", "objective", "failed_by", "next_level"} <= mark.keys()
    assert levels(engine) == [1, 2, 4, 8, 16, 12, 14, 13]
    (conclusion,) = said.json["conclusions"]
    assert {"experiment", "kind", "workload", "configuration", "sentences", "mark", "figures"} == conclusion.keys()
    assert said.json["experiments"][0]["objective"] == "read mean <= 20ms"


def test_the_mark_is_shown_with_what_failed_first(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    slow_from(engine, 4)
    said = plimsoll("ramp", "small.toml", "-t", "null:", "--objective", "read mean <= 20ms", "--resolution", "1", *QUICK)
    assert "up to queue_depth 3 (" in said.text and "; at 4, read mean was 30.0 ms" in said.text
    assert said.text.startswith("null: carries 1,000 IOPS [1,000, 1,000] before read mean passes 20 ms (queue_depth 3)")
    assert "  mark  1,000 IOPS" in said.out and ", at queue_depth 3" in said.out
    assert "[3/≤20] small" in said.err and "[4/≤4] small" in said.err


def test_no_level_that_held_is_a_null_mark_and_with_assert_exit_code_1(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    slow_from(engine, 0)
    words = ("ramp", "small.toml", "-t", "null:", "--objective", "read mean <= 20ms", *QUICK, "--json", "--fresh")
    said = plimsoll(*words)
    assert (said.code, said.json["mark"]) == (0, None)
    assert plimsoll(*words, "--assert").code == 1


def test_a_search_that_finds_a_mark_passes_the_assertion(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    slow_from(engine, 9)
    words = ("search", "small.toml", "-t", "null:", "--over", "queue_depth=1..64", "--objective", "read mean <= 20ms", *QUICK)
    said = plimsoll(*words, "--assert", "--json")
    assert (said.code, said.json["mark"]["level"]) == (0, 8)


def test_without_levels_file_workloads_are_stepped_by_their_threads() -> None:
    asked = ExperimentArguments(workloads=("metadata",))
    assert short_document("steps", asked)["experiment"][0]["over"] == {"threads": "1..64"}
    asked = ExperimentArguments(workloads=("metadata", "random-read-4k"))
    assert short_document("steps", asked)["experiment"][0]["over"] == {"queue_depth": "1..64"}


def test_steps_with_an_objective_have_a_mark_and_an_exit_code(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    slow_from(engine, 4)
    words = ("steps", "small.toml", "-t", "null:", "--over", "queue_depth=1,2,4", "--assert", *QUICK, "--json")
    said = plimsoll(*words, "--objective", "read mean <= 20ms")
    assert (said.code, said.json["mark"]["level"]) == (0, 2)
    assert plimsoll(*words, "--objective", "read mean <= 100us").code == 1


def test_a_matrix_asserts_every_point(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    slow_from(engine, 4)
    words = ("matrix", "small.toml", "-t", "null:", "--objective", "mean <= 20ms", "--assert", *QUICK)
    assert plimsoll(*words, "--over", "queue_depth=1,2").code == 0
    assert plimsoll(*words, "--over", "queue_depth=1,4").code == 1


def test_the_matrix_varies_the_last_axis_fastest_also_over_targets(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    axes = ("--over", "target=null:", "--over", "target=null:?size=1g", "--over", "block_size=4k,8k")
    plimsoll("matrix", "small.toml", *axes, *QUICK)
    cells = [(job["target"], job["workload"]["stream"][0]["block_size"]) for job in engine.jobs]
    assert cells == [(target, size) for target in ("null:", "null:?size=1g") for size in (4096, 8192)]


def test_a_grid_leaves_the_stream_at_zero_out(plimsoll: Plimsoll, engine: ScriptedEngine, here: Path) -> None:
    (here / "grid.toml").write_text('[[stream]]\nname = "small"\nblock_size = "8k"\n[[stream]]\nname = "large"\nblock_size = "1m"\n')
    assert plimsoll("matrix", "grid.toml", "--grid", "row", "--disks", "1", "--num-large", "1", "-t", "null:", *QUICK).code == 0
    streams = [[stream["name"] for stream in job["workload"]["stream"]] for job in engine.jobs]
    assert streams[0] == ["large"] and all(names == ["small", "large"] for names in streams[1:])


def test_a_curve_measures_the_maximum_and_then_open_loop_shares_of_it(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    said = plimsoll("curve", "small.toml", "-t", "null:", "--percent", "50,100", "--rounding", "vdbench", *QUICK, "--json")
    streams = [job["workload"]["stream"][0] for job in engine.jobs]
    # The scripted engine completes 1,000 requests per second.
    assert [(stream["arrival"], stream.get("rate")) for stream in streams] == [("closed", None), ("poisson", 500), ("poisson", 1000)]
    assert [result["place"]["role"] for result in said.json["results"]] == ["maximum", "point", "point"]
    assert "mark" not in said.json


def test_scaling_takes_iterations_for_repeats(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    plimsoll("scale", "small.toml", "-t", "null:", "--over", "threads=1,2", "--iterations", "2", *QUICK)
    assert [job["workload"]["stream"][0]["threads"] for job in engine.jobs] == [1, 2, 1, 2]


def test_steady_rounds_follow_a_preconditioning_that_ends_by_amount(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    # Each interval moves 100 requests of 5 MiB: two of a target of 1 GiB are 2 GiB.
    engine.scripts = [Script(request_bytes=5 << 20, warmup_intervals=0), Script()]
    said = plimsoll("steady", "small.toml", "-t", "null:", "--precondition", *QUICK, "--json")
    first, *rounds = said.json["results"]
    assert (first["place"]["role"], first["ended"]["by"]) == ("precondition", "amount")
    assert first["job"]["definition"]["stream"][0]["block_size"] == 131072
    assert [result["place"]["role"] for result in rounds] == ["round"] * 5
    assert said.json["conclusions"][0]["kind"] == "steady"


def test_a_queue_is_written_twice_over_before_its_first_round(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # The real engine: 4,096 requests of 128 KiB, one after the other in 1 ms each, are 512 MiB in 4.1 s.
    target = "queue:?service=const:1ms&size=256MiB"
    assert main(["steady", "small.toml", "-t", target, "--precondition", "--metric", "read iops", "-d", "10s", "-w", "0", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    filled, *rounds = document["results"]
    assert (filled["place"]["role"], filled["status"], filled["ended"]["by"]) == ("precondition", "complete", "amount")
    assert list(filled["totals"]) == ["write"] and 512 << 20 <= filled["totals"]["write"]["bytes"] <= (512 << 20) + 1000 * 131072
    assert filled["job"]["definition"]["stream"][0]["random_percent"] == 0
    assert [list(point["totals"]) for point in rounds] == [["read"]] * 5
    assert document["conclusions"][0]["figures"]["attained"] is True


def test_a_conclusion_from_a_model_is_marked(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = "queue:?service=const:1ms&size=256MiB"
    assert main(["steps", "small.toml", "-t", target, "--over", "queue_depth=1,2", "-d", "1s", "-w", "0", "-q"]) == 0
    assert f"steps: small.toml on {target} (modelled)\n" in capsys.readouterr().out


def test_a_failed_point_is_stored_and_the_rest_goes_on(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    engine.scripts = [Script(), Script(raises=TargetError("gone."), raises_at=1), Script()]
    said = plimsoll("steps", "small.toml", "-t", "null:", "--over", "queue_depth=1,2,4", *QUICK)
    assert said.code == 4
    assert [point.result.status for point in only_run().points] == ["complete", "failed", "complete"]
    assert "✗ small: gone." in said.out


def test_the_run_keeps_definitions_and_conclusions(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    slow_from(engine, 4)
    plimsoll("ramp", "small.toml", "-t", "null:", "--objective", "mean <= 20ms", *QUICK)
    meta = only_run().meta
    assert meta["experiments"][0]["over"] == [{"option": "queue_depth", "levels": [1, 1024]}]
    assert meta["conclusions"][0]["mark"]["level"] == 3
    assert meta["points_planned"] is None and only_run().status == "complete"
    assert plimsoll("runs").out.splitlines()[2].split()[1:3] == ["complete", "4"]


def test_the_table_of_a_run_gives_every_figure_of_a_mark_its_unit(plimsoll: Plimsoll, engine: ScriptedEngine, here: Path) -> None:
    slow_from(engine, 4)
    plimsoll("ramp", "small.toml", "-t", "null:", "--objective", "mean <= 20ms", *QUICK)
    assert plimsoll("report", only_run().path, "-o", "x.csv", "--long").code == 0
    rows = [line.split(",") for line in (here / "x.csv").read_text().splitlines() if ",mark,ramp," in line]
    mark = only_run().meta["conclusions"][0]["mark"]
    assert {metric: (unit, value) for *_, metric, unit, value in rows} == {
        "iops": ("1/s", str(mark["iops"])),
        "bytes_per_s": ("B/s", str(mark["bytes_per_s"])),
        "level": ("1", "3.0"),
        "objective": ("", "mean <= 20ms"),
        "failed_by": ("", mark["failed_by"]),
        "next_level": ("1", "4.0"),
    }


def test_a_suite_file_is_carried_out_in_order_with_files_beside_it(plimsoll: Plimsoll, engine: ScriptedEngine, here: Path) -> None:
    (here / "sub").mkdir()
    (here / "sub" / "mine.toml").write_text(SUITE)
    (here / "small.toml").rename(here / "sub" / "small.toml")
    said = plimsoll("suite", "sub/mine.toml", "-t", "null:", "--json")
    assert said.code == 0
    stream = [job["workload"]["stream"][0] for job in engine.jobs]
    assert [(item["queue_depth"], item["block_size"]) for item in stream] == [
        (1, 4096),
        (2, 4096),
        (1, 4096),
        (8, 4096),
        (1, 8192),
        (8, 8192),
    ]
    configurations = [result["place"]["configuration"] for result in said.json["results"]]
    assert configurations == ["null:", "null:", "A", "B", "A", "B"]
    suite = only_run().meta["suite"]
    assert (suite["name"], suite["title"], suite["quick"], suite["published"]) == ("mine", "Two", False, [])
    assert only_run().name.endswith("_mine")


def test_the_quick_form_and_typed_settings_hold_over_the_file(plimsoll: Plimsoll, engine: ScriptedEngine, here: Path) -> None:
    (here / "mine.toml").write_text(SUITE)
    words = ("suite", "mine.toml", "--quick", "-t", "null:", "-d", "2s", "-s", "seed=7", "--repeat", "2")
    assert plimsoll(*words).code == 0
    assert {job["job"]["duration"] for job in engine.jobs} == {2}
    assert [job["job"]["seed"] for job in engine.jobs][:2] == [7, 8]
    assert levels(engine)[:2] == [4, 4]
    assert len(engine.jobs) == 2 + 8


SHIPPED = ["dd-cp", "four-corners", "hp-iometer", "orion-sequential", "proliant-generations", "vdbench-matrix"]


@pytest.mark.parametrize("command", ["suite", "list"])
def test_every_shipped_suite_is_listed(plimsoll: Plimsoll, command: str) -> None:
    listed = plimsoll(command).out
    assert [name for name in SHIPPED if f"\n{name} " not in listed] == []


@pytest.mark.parametrize("name", SHIPPED)
def test_every_shipped_suite_is_shown(plimsoll: Plimsoll, name: str) -> None:
    assert plimsoll("show", name).out.startswith(f"{name}: ")
    shown = plimsoll("show", name, "--json").json
    assert len(shown["experiments"]) == len(shown["quick"]) > 0


def test_published_figures_are_stored_with_the_run(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    plimsoll("suite", "vdbench-matrix", "--quick", "-t", "null:", *QUICK)
    published = only_run().meta["suite"]["published"]
    assert [figures["name"] for figures in published] == ["se6920"] and published[0]["rows"]


def test_suites_as_json(plimsoll: Plimsoll) -> None:
    assert {"name": "four-corners", "title": "Four corners"} in plimsoll("list", "--suites", "--json").json


def test_run_with_an_objective_says_which_points_kept_it(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    engine.scripts = [Script(latencies_ns=(1_000_000,) * 100), Script(latencies_ns=(9_000_000,) * 100)]
    words = ("run", "small.toml", "-t", "null:", "--repeat", "2", "--objective", "p99 <= 5ms", *QUICK)
    said = plimsoll(*words, "--json")
    assert said.code == 0
    assert said.json["objective"]["text"] == "p99 <= 5ms" and said.json["objective"]["holds"] is False
    assert [point["holds"] for point in said.json["objective"]["points"]] == [True, False]
    engine.jobs.clear()
    again = plimsoll(*words, "--assert")
    assert again.code == 1
    assert (
        "objective p99 <= 5ms" in again.out
        and "small #2 on null:: failed: read p99 was 9.00 ms, 80.1 % above the limit of 5ms" in again.out
    )


def test_run_passes_the_assertion_when_every_point_holds(plimsoll: Plimsoll) -> None:
    assert plimsoll("run", "small.toml", "-t", "null:", "--objective", "p99 <= 5ms", "--assert", *QUICK).code == 0


def test_run_repeats_shift_the_seed(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    plimsoll("run", "small.toml", "-t", "null:", "--repeat", "3", "-s", "seed=5", *QUICK)
    assert [job["job"]["seed"] for job in engine.jobs] == [5, 6, 7]


def test_run_ends_a_point_when_it_is_precise(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    engine.scripts = [Script(intervals=500, warmup_intervals=0)]
    (result,) = plimsoll("run", "small.toml", "-t", "null:", "--precision", "2%", "-d", "50s", "-w", "0", "--json").json["results"]
    assert result["status"] == "complete"
    assert result["ended"]["by"] == "precision"


def test_a_cold_point_says_what_was_done(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    (result,) = plimsoll("run", "small.toml", "--cache", "cold", *QUICK, "--json").json["results"]
    assert result["cache"]["state"] in ("cold", "as found")
    assert "age cache" in result["cache"]["how"] and result["cache"]["how"].endswith("Direct I/O bypasses the page cache.")


def test_a_killed_run_of_experiments_is_reported_in_every_format(plimsoll: Plimsoll, engine: ScriptedEngine, here: Path) -> None:
    slow_from(engine, 4)
    plimsoll("ramp", "small.toml", "-t", "null:", "--objective", "mean <= 20ms", *QUICK)
    run = only_run()
    meta = json.loads(Path(run.path, "run.json").read_text())
    meta.pop("conclusions")
    meta.update(status="running", process={"pid": 0})
    Path(run.path, "run.json").write_text(json.dumps(meta))
    for ending in ("html", "csv", "parquet", "json"):
        assert plimsoll("report", run.name, "-o", f"again.{ending}").code == 0
    assert ",complete,,ramp,ramp,point,null:,small,null:," in (here / "again.csv").read_text()
    assert plimsoll("report", run.name, "-o", "again.csv", "--long").code == 0
    assert "place,,,experiment,,ramp" in (here / "again.csv").read_text()
