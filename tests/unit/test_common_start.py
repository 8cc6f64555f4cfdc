"""A held run begins at the instant that it is told and not before, and says by how much it was late; offsets of planted clocks are found."""

from __future__ import annotations

import time
from typing import Any

import pytest

from plimsoll import _core
from plimsoll.engine.block import native
from plimsoll.engine.files import native_files
from plimsoll.target import Target

TIMES = {"duration": "20ms", "warmup": "0s", "interval": "10ms"}


class Held:
    """One job on ``null:`` whose run is held; ``ready`` is called when it is ready."""

    def __init__(self, ready: Any) -> None:
        engine = native()
        self.control = _core.Control()
        self.control.hold()
        self.events: list[tuple[str, Any]] = []

        def heard(kind: str, event: Any) -> None:
            self.events.append((kind, event))
            if kind == "ready":
                ready(self.control)

        workload = engine.check_workload({"name": "held", "stream": [{"name": "s", "threads": 2}]}, "held.toml")
        job: Any = {"workload": workload, "job": engine.check_job(TIMES), "target": Target("null:"), "permission": None}
        self.outcome: Any = engine.run_job(job, heard, self.control)

    def of(self, kind: str) -> list[Any]:
        return [event for found, event in self.events if found == kind]


def test_a_held_run_begins_at_its_instant_on_every_thread() -> None:
    asked: list[int] = []

    def ready(control: Any) -> None:
        asked.append(time.monotonic_ns() + 150_000_000)
        control.begin(asked[0])

    held = Held(ready)
    start = held.outcome["start"]
    assert [kind for kind, _ in held.events][:2] == ["ready", "start"]
    assert held.of("start")[0]["monotonic_ns"] == start["monotonic_ns"]
    # Later only when this process stood still for the whole wait.
    assert start["monotonic_ns"] == asked[0] or held.of("ready")[0]["monotonic_ns"] + 150_000_000 < start["monotonic_ns"]
    assert start["began_ns"] >= 0
    assert held.outcome["first_io_ns"] >= 0, "nothing completes before the instant"


def test_an_instant_that_has_passed_makes_the_run_late_and_not_shorter() -> None:
    past: list[int] = []

    def ready(control: Any) -> None:
        past.append(time.monotonic_ns() - 1_000_000_000)
        control.begin(past[0])

    held = Held(ready)
    assert held.of("start")[0]["monotonic_ns"] > past[0] + 1_000_000_000
    assert sum(one["end_ns"] - one["start_ns"] for one in held.of("interval") if one["phase"] == "measure") == 20_000_000


def test_a_held_run_that_is_stopped_before_its_instant_measures_nothing() -> None:
    held = Held(lambda control: control.stop())
    assert held.outcome["stopped_by"] == "signal"
    assert sum(cell["count"] for one in held.of("interval") for cell in one["cells"]) == 0


def test_a_run_that_nobody_holds_says_nothing_of_being_ready() -> None:
    engine, events = native(), []
    workload = engine.check_workload({"name": "free", "stream": [{"name": "s"}]}, "free.toml")
    job: Any = {"workload": workload, "job": engine.check_job(TIMES), "target": Target("null:"), "permission": None}
    engine.run_job(job, lambda kind, _: events.append(kind), engine.control())
    assert "ready" not in events


def test_held_file_operations_begin_at_their_instant(tmp_path: Any) -> None:
    files, control, events = native_files(), _core.Control(), []
    control.hold()
    instant: list[int] = []

    def heard(kind: str, event: Any) -> None:
        events.append((kind, event))
        if kind == "ready":
            instant.append(time.monotonic_ns() + 150_000_000)
            control.begin(instant[0])

    document = {
        "name": "held",
        "driver": "files",
        "tree": [{"name": "t", "files": 2}],
        "stream": [{"name": "s", "operation": "stat"}],
    }
    workload = files.check(document, "held.toml")
    job: Any = {"workload": workload, "job": native().check_job(TIMES), "target": Target(str(tmp_path)), "permission": None}
    outcome: Any = files.run(job, heard, control)
    start = next(event for kind, event in events if kind == "start")
    assert start["monotonic_ns"] >= instant[0]
    # A thread takes some time to be woken up, and longer than no time at all.
    assert outcome["start"]["began_ns"] > 0


@pytest.mark.parametrize("ahead_ns", [-5_000_000_000, 0, 123_456])
def test_the_offset_of_a_planted_clock_lies_within_its_bound(ahead_ns: int) -> None:
    ways = [(40_000, 90_000), (30_000, 200_000), (250_000, 20_000)]
    trips = [(n * 1_000_000, n * 1_000_000 + there + ahead_ns, n * 1_000_000 + there + back) for n, (there, back) in enumerate(ways)]
    found = _core.clock_offset(trips)
    assert found is not None
    offset_ns, bound_ns, agree = found
    assert agree
    assert abs(offset_ns - ahead_ns) <= bound_ns
    # 30 µs there at best, 20 µs back at best, and 2 ms of drift at 200 ppm on either side.
    assert bound_ns <= 25_000 + 400


def test_round_trips_to_a_clock_that_was_set_meanwhile_do_not_agree() -> None:
    assert _core.clock_offset([(0, 20_000, 40_000), (1_000_000, 61_020_000, 1_040_000)]) == (0, 20_000, False)


def test_without_round_trips_there_is_no_offset() -> None:
    assert _core.clock_offset([]) is None
