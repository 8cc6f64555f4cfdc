"""What is told before it is done: ``--dry-run``, the planned time, and how many points a ramp has left at most."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from plimsoll.cli.commands import GROUPS, VERBS
from plimsoll.experiments.probe import Bounds, Growth, Resolution, points_between, points_of_search
from plimsoll.points.arguments import ExperimentArguments
from plimsoll.points.execution import carry_out
from plimsoll.points.listener import Listener, Unwatched
from plimsoll.points.options import complete
from plimsoll.points.short_document import short_undertaking
from plimsoll.reports.progress import counted
from plimsoll.units import time_text
from support.said import Plimsoll
from support.scripted_engine import Script, ScriptedEngine

#: Every verb that measures, with words that make it do so.
MEASURING = {
    "size": ["size", "--iops", "500", "--read-percent", "100", "--block-size", "4k", "--measure", "-t", "new.dat"],
    "check": ["check", "new.dat", "--quick"],
    "run": ["run", "small.toml", "-t", "new.dat"],
    "run --over": ["run", "small.toml", "-t", "new.dat", "--over", "queue_depth=1..4"],
    "suite": ["suite", "four-corners", "-t", "new.dat"],
    "ramp": ["ramp", "small.toml", "-t", "new.dat", "--objective", "p99 <= 5ms"],
    "ramp --settle": ["ramp", "small.toml", "-t", "new.dat", "--objective", "p99 <= 5ms", "--settle"],
    "curve": ["curve", "small.toml", "-t", "new.dat"],
    "scale": ["scale", "small.toml", "-t", "new.dat"],
    "steady": ["steady", "small.toml", "-t", "new.dat", "--precondition"],
    "matrix": ["matrix", "small.toml", "-t", "new.dat", "--over", "block_size=4k,8k", "--over", "queue_depth=1,2"],
}


@pytest.mark.parametrize("words", MEASURING.values(), ids=MEASURING)
def test_a_dry_run_touches_nothing_and_says_points_time_and_place(
    plimsoll: Plimsoll, engine: ScriptedEngine, here: Path, words: list[str]
) -> None:
    before = sorted(os.listdir(here))
    words = [*words, "--size", "1MiB"]
    said = plimsoll(*words, "--dry-run")
    assert said.code == 0
    assert engine.jobs == [] and engine.prepared == []
    assert sorted(os.listdir(here)) == before
    assert "target new.dat a scratch file is made" in said.text and "removed afterwards" in said.text
    assert "results  results/<time>_" in said.out
    plan = " ".join(said.out[said.out.rindex("\nplan ") :].split())
    assert " point" in plan and " of load" in plan and "besides filling" in plan
    document = plimsoll(*words, "--dry-run", "--json").json
    assert document["points"][0] <= document["points"][1]
    assert sum(line["most"] for line in document["plan"]) == document["points"][1]


def test_every_verb_that_measures_has_a_dry_run_here(plimsoll: Plimsoll) -> None:
    offering = {verb for verb in VERBS if "--dry-run" in plimsoll(verb, "--help").out}
    assert offering == {*GROUPS["Measure"], *GROUPS["Find the limit"], "size"}
    assert offering - {"replay"} == {name.split()[0] for name in MEASURING}


def test_the_points_of_a_dry_run_are_those_that_are_measured_in_their_order(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    words = ["run", "small.toml", "-t", "null:", "--over", "queue_depth=4,1,2", "--repeat", "2", "-d", "1s", "-w", "0"]
    lines = plimsoll(*words, "--dry-run", "--json").json["plan"]
    plimsoll(*words, "-q")
    measured = [job["workload"]["stream"][0]["queue_depth"] for job in engine.jobs]
    assert [line["what"].split(",")[0] for line in lines] == [f"queue_depth {depth}" for depth in measured]
    assert [line["what"].endswith("repeat 2") for line in lines] == [False] * 3 + [True] * 3


def test_a_path_that_two_drivers_use_is_one_place_and_trees_are_named(plimsoll: Plimsoll) -> None:
    places = plimsoll("suite", "dd-cp", "--quick", "--dry-run", "--size", "1MiB", "--json").json["places"]
    assert [(place["path"], place["makes_bytes"]) for place in places] == [("./plimsoll-scratch.dat", 1 << 20)]
    assert "trees of files are laid out, written by mail-spool, removed afterwards" in plimsoll("run", "mail-spool", "--dry-run").out


def test_filling_is_a_point_whose_time_nobody_knows(plimsoll: Plimsoll) -> None:
    words = ("steady", "small.toml", "-t", "null:", "-d", "50s", "-w", "10s", "--dry-run", "--json")
    plain, filled = plimsoll(*words).json, plimsoll(*words, "--precondition").json
    assert filled["points"] == [number + 1 for number in plain["points"]]
    assert filled["seconds"] == plain["seconds"] == [5 * 60, 25 * 60]


def test_a_run_says_its_planned_time_first(plimsoll: Plimsoll) -> None:
    words = ("run", "small.toml", "-t", "null:", "--over", "queue_depth=1,2", "-d", "1m", "-w", "10s")
    first = plimsoll(*words).err.splitlines()[0]
    assert first == "plan: 2 points, 2 min 20 s of load"
    assert "plan:" not in plimsoll(*words, "-q", "--fresh").err


@pytest.mark.parametrize(
    ("extra", "plan"),
    [
        (["-t", "null:", "--precision", "2%"], "1 point, at most 12 s of load"),
        (["-t", "queue:service=exponential(1ms)"], "1 point, 12 s of virtual time"),
        (["-t", "null:", "-t", "queue:service=exponential(1ms)"], "2 points, 12 s of load and 12 s of virtual time"),
    ],
)
def test_time_that_may_end_sooner_or_is_virtual_is_said_to_be(plimsoll: Plimsoll, extra: list[str], plan: str) -> None:
    assert plimsoll("run", "random-read-4k", *extra, "--dry-run").out.splitlines()[-1] == f"plan     {plan}"


def test_a_dry_run_is_refused_like_the_run(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    engine.inspection = {
        "kind": "device",
        "path": "disk",
        "exists": True,
        "size_bytes": 1 << 30,
        "logical_block_bytes": 512,
        "parts": [],
        "write_refusal": "it holds a file system.",
    }
    said = plimsoll("run", "random-write-4k", "-t", "disk", "--dry-run")
    assert said.code == 3 and "it holds a file system" in said.err


def test_a_dry_run_says_when_there_is_no_room(plimsoll: Plimsoll) -> None:
    assert "NOT ENOUGH ROOM" in plimsoll("run", "small.toml", "-t", "new.dat", "--size", "1PiB", "--dry-run").text
    assert "NOT ENOUGH ROOM" not in plimsoll("run", "small.toml", "-t", "new.dat", "--size", "1MiB", "--dry-run").text


def test_a_dry_run_says_which_run_would_go_on(plimsoll: Plimsoll) -> None:
    words = ("run", "small.toml", "-t", "null:", "-d", "1s", "-w", "0")
    plimsoll(*words, "-q")
    (path,) = Path("results").iterdir()
    assert "would go on" not in plimsoll(*words, "--dry-run").err
    (path / "run.json").write_text((path / "run.json").read_text().replace('"status": "complete"', '"status": "interrupted"'))
    assert f"{path} would go on" in plimsoll(*words, "--dry-run").err


def needed(bounds: Bounds, resolution: Resolution, growth: Growth, limit: float) -> int:
    """Points that a search takes whose levels hold up to ``limit``, counted by hand."""
    number, low, level = 1, None, float(bounds.start)
    while level <= limit:
        if level >= bounds.stop:
            return number
        low, level, number = level, growth.after(level, bounds), number + 1
    if low is None:
        return number
    high = level
    while (middle := resolution.between(low, high, bounds)) is not None:
        number += 1
        low, high = (middle, high) if middle <= limit else (low, middle)
    return number


@pytest.mark.parametrize(
    ("bounds", "resolution", "growth"),
    [
        (Bounds(1, 1024, integer=True), Resolution(0.02), Growth(2.0)),
        (Bounds(1, 256, integer=True), Resolution(1, relative=False), Growth(4, multiplies=False)),
        (Bounds(100, 50_000), Resolution(0.05), Growth(2.0)),
    ],
)
def test_wherever_the_limit_lies_the_bounds_hold(bounds: Bounds, resolution: Resolution, growth: Growth) -> None:
    least, most = points_of_search(bounds, resolution, growth)
    step = (bounds.stop - bounds.start) / 500
    limits = [bounds.start + step * number for number in range(502)]
    found = [needed(bounds, resolution, growth, limit) for limit in limits]
    assert least <= min(found) and max(found) <= most
    # The bound is no idle one: some limit takes that many, but for the rounding of levels.
    assert max(found) >= most - 1
    assert points_between(16, 32, Bounds(1, 64, integer=True), Resolution(1, relative=False)) == 4


class PlannedNews(Unwatched):
    """Remembers what is left at each point."""

    def __init__(self) -> None:
        self.left: list[int] = []

    def expected(self, left: int) -> None:
        self.left.append(left)


def test_a_ramp_says_how_many_points_are_left_and_never_fewer_than_come(engine: ScriptedEngine) -> None:
    fast, slow = Script(latencies_ns=(1_000_000,) * 100), Script(latencies_ns=(30_000_000,) * 100)
    run_job = engine.run_job

    def by_depth(job: dict[str, Any], on_event: Any, control: Any) -> dict[str, Any]:
        engine.scripts = [slow if job["workload"]["stream"][0]["queue_depth"] > 20 else fast]
        return run_job(job, on_event, control)

    engine.run_job = by_depth  # type: ignore[method-assign]
    told = PlannedNews()
    typed = complete({"targets": ["null:", "queue:"], "objective": "mean <= 5ms", "duration": "1s", "warmup": "0s"}, {"over": ()})
    asked = ExperimentArguments.of({**typed, "workloads": ("small.toml",), "over": ("queue_depth=1..64",)})
    run = carry_out(short_undertaking("ramp", asked), asked, Listener(told))
    points = len(run.results)
    assert len(told.left) == points
    for place, left in enumerate(told.left, start=1):
        assert left >= points - place
    # Once the limit is enclosed, hardly more than what comes.
    assert told.left[-1] == 0 and told.left[-3] <= 3


def test_progress_shows_what_is_left_at_most() -> None:
    assert counted(7, None, 8) == "7/≤15" and counted(7, None) == "7" and counted(7, 12, 3) == " 7/12"


def test_a_line_of_progress_says_how_long_it_takes_at_most(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    err = plimsoll(
        "ramp", "small.toml", "-t", "null:", "--objective", "mean <= 5s", "--over", "queue_depth=1..4", "-d", "1m", "-w", "0"
    ).err
    begun = [line for line in err.splitlines() if line.startswith("[")]
    assert begun[0].startswith("[1/≤") and begun[0].rstrip().endswith("left") and "  at most " in begun[0]


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0 s"), (0.25, "0.25 s"), (36, "36 s"), (60, "1 min"), (140, "2 min 20 s"), (5950, "1 h 39 min 10 s")]
)
def test_a_time_in_a_sentence(seconds: float, text: str) -> None:
    assert time_text(seconds) == text


def test_the_report_is_opened_when_asked_for(plimsoll: Plimsoll, monkeypatch: pytest.MonkeyPatch) -> None:
    import webbrowser

    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda page: opened.append(page) or True)
    plimsoll("run", "small.toml", "-t", "null:", "-q")
    assert opened == []
    plimsoll("run", "small.toml", "-t", "null:", "-q", "--fresh", "--open")
    plimsoll("report", "latest", "--open")
    assert len(opened) == 2 and all(page.startswith("file:///") and page.endswith("/report.html") for page in opened)


def test_where_no_browser_can_be_started_the_report_is_there_all_the_same(plimsoll: Plimsoll, monkeypatch: pytest.MonkeyPatch) -> None:
    import webbrowser

    monkeypatch.setattr(webbrowser, "open", lambda page: False)
    said = plimsoll("run", "small.toml", "-t", "null:", "-q", "--open")
    assert said.code == 0 and "no browser could be started here; open results/" in said.err


def test_what_is_no_page_cannot_be_opened(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    said = plimsoll("run", "small.toml", "-t", "null:", "--open", "--report", "x.csv")
    assert said.code == 2 and "--open shows a page, and x.csv is none" in said.err
    assert engine.jobs == []
