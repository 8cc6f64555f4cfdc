"""Modelled points that are measured before they are asked for: taken in their order, wherever they were measured, and equal in every figure."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import plimsoll
from plimsoll.points import ahead, host_hands, processes
from plimsoll.points.ahead import Ahead, Kept, is_modelled
from plimsoll.points.brake import Brake
from plimsoll.points.point import PlannedPoint
from plimsoll.target import Target
from support.gang import worker_of

#: What a result says of the wall clock and of other processes, besides what was measured.
_OF_THE_MOMENT = (("started",), ("engine", "cpu_ns"), ("engine", "start"), ("engine", "engine", "clock"), ("host", "memory"))


class Scripted:
    """Hands that end their points when they are asked, the last one first; the numbers in ``lost`` are lost."""

    def __init__(self, count: int, lost: tuple[int, ...] = ()) -> None:
        self.count = count
        self.lost = lost
        self.begun: list[int] = []
        self.waiting: list[int] = []
        self.closed = False

    @property
    def idle(self) -> int:
        return self.count - len(self.waiting)

    def begin(self, number: int, _point: PlannedPoint) -> None:
        self.begun.append(number)
        self.waiting.append(number)

    def ended(self, _within_s: float) -> list[tuple[int, Kept | None]]:
        number = self.waiting.pop()
        result: Any = SimpleNamespace(number=number)
        return [(number, None if number in self.lost else Kept(result, result, "", 0))]

    def close(self) -> None:
        self.closed = True


def points(count: int) -> list[PlannedPoint]:
    stream: Any = {"name": "x", "stream": [{"name": "s"}]}
    return [PlannedPoint(stream, {"seed": number}, Target("queue:?service=const:1ms"), left=count) for number in range(count)]


def taken(hands: Scripted, asked: list[PlannedPoint], foreseen: list[PlannedPoint]) -> list[int | None]:
    """Where each point came from: its number, None for one that is measured here."""
    with Brake() as brake, Ahead(foreseen, lambda _most: hands, brake) as found:
        kept = [found.taken(point) for point in asked]
    return [None if one is None else getattr(one.result, "number", -1) for one in kept]


@pytest.fixture
def worth(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead, "WORTH_S", -1.0)


@pytest.mark.usefixtures("worth")
def test_points_are_taken_in_their_order_however_they_end() -> None:
    hands = Scripted(3)
    assert taken(hands, points(20), points(20)) == [None, *range(1, 20)], "the first one shows how long they take"
    assert hands.begun == list(range(1, 20)), "each is handed out once"
    assert hands.closed


@pytest.mark.usefixtures("worth")
def test_what_was_lost_or_not_foreseen_is_measured_here() -> None:
    asked = points(6)
    other = PlannedPoint(asked[0].workload, {"seed": 99}, asked[0].target)
    found = taken(Scripted(2, lost=(3,)), [*asked[:2], other, *asked[2:]], points(6))
    assert found == [None, 1, None, 2, None, 4, 5]


def test_nobody_else_begins_what_takes_no_time() -> None:
    hands = Scripted(2)
    assert taken(hands, points(5), points(5)) == [None] * 5
    assert hands.begun == []


@pytest.mark.usefixtures("worth")
def test_results_that_wait_are_held_back() -> None:
    hands = Scripted(2)
    with Brake() as brake, Ahead(points(100), lambda _most: hands, brake) as found:
        found.taken(points(1)[0])
        found.taken(points(2)[1])
        assert len(hands.begun) <= 1 + ahead.WAITING_PER_HAND * 2 + 2


def test_only_points_in_virtual_time_that_build_on_nothing_are_foreseen() -> None:
    (point,) = points(1)
    assert is_modelled(point)
    assert not is_modelled(PlannedPoint(point.workload, {}, Target("./file")))
    assert not is_modelled(PlannedPoint(point.workload, {}, point.target, place={"role": "precondition"}))


def stored(out: Path) -> list[Any]:
    """Everything that was stored of each point, but for what is of the moment."""
    found = []
    for path in sorted(out.glob("*/points/*")):
        result = json.loads((path / "result.json").read_text())
        for *way, name in _OF_THE_MOMENT:
            within = result
            for step in way:
                within = within[step]
            within.pop(name, None)
        job = json.loads((path / "job.json").read_text())
        found.append((path.name, result, job["job"], (path / "intervals.jsonl").read_text(), sorted(os.listdir(path))))
    return found


def swept(out: Path, **more: Any) -> Any:
    over = {"queue_depth": [1, 2, 4], "block_size": ["4k", "8k"]}
    asked: Any = {"target": "array:msa2000-raid50", "over": over, "duration": "500ms", "warmup": "100ms", **more}
    return plimsoll.matrix("random-read-4k", out=str(out), **asked)


@pytest.mark.usefixtures("worth")
def test_points_of_other_processes_are_equal_in_every_figure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[int] = []
    begin = processes.Processes.begin

    def counted(self: Any, number: int, point: PlannedPoint) -> None:
        begun.append(number)
        begin(self, number, point)

    monkeypatch.setattr(processes.Processes, "begin", counted)
    together = swept(tmp_path / "together")
    assert begun == list(range(1, 6)), "all but the first"
    monkeypatch.setattr(ahead, "WORTH_S", 1e9)
    alone = swept(tmp_path / "alone")
    assert len(begun) == 5
    assert together.conclusions == alone.conclusions
    assert stored(tmp_path / "together") == stored(tmp_path / "alone")
    assert len(stored(tmp_path / "alone")) == 6


@pytest.mark.usefixtures("worth")
def test_a_process_that_is_killed_loses_no_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begin: Callable[..., None] = processes.Processes.begin
    killed: list[int] = []

    def killing(self: Any, number: int, point: PlannedPoint) -> None:
        begin(self, number, point)
        if not killed:
            killed.append(number)
            os.kill(next(hand for hand in self._hands if hand.busy == number).process.pid, signal.SIGKILL)

    monkeypatch.setattr(processes.Processes, "begin", killing)
    done = swept(tmp_path / "killed")
    assert killed == [1]
    assert [result.status for result in done.results] == ["complete"] * 6
    assert [name.partition("-")[0] for name, *_ in stored(tmp_path / "killed")] == [f"{number:04d}" for number in range(1, 7)]


@pytest.fixture
def hosts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """Two workers without Ray, with a state of their own."""
    monkeypatch.setenv("PLIMSOLL_GANG_CARRIER", "direct")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return "local:2"


@pytest.mark.usefixtures("worth")
@pytest.mark.parametrize("places", [1, 2])
def test_points_of_hosts_are_equal_in_every_figure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hosts: str, places: int) -> None:
    """A host measures a point at a time in its worker, or several in processes of their own."""
    monkeypatch.setattr(host_hands, "places_of", lambda engine: dict.fromkeys(engine.hosts, places))
    begun: list[int] = []
    begin = host_hands.HostHands.begin

    def counted(self: Any, number: int, point: PlannedPoint) -> None:
        begun.append(number)
        begin(self, number, point)

    monkeypatch.setattr(host_hands.HostHands, "begin", counted)
    together = swept(tmp_path / "together", hosts=hosts)
    assert begun == list(range(1, 6)), "all but the first"
    monkeypatch.setattr(ahead, "WORTH_S", 1e9)
    alone = swept(tmp_path / "alone")
    assert together.conclusions == alone.conclusions
    assert stored(tmp_path / "together") == stored(tmp_path / "alone")
    assert not list((tmp_path / "state").rglob("gang.json")), "what was copied need not stay"


@pytest.mark.usefixtures("worth")
def test_a_host_that_is_lost_loses_no_point_of_a_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hosts: str) -> None:
    begin = host_hands.HostHands.begin
    killed: list[int] = []

    def killing(self: Any, number: int, point: PlannedPoint) -> None:
        begin(self, number, point)
        if not killed:
            killed.append(number)
            (note,) = [json.loads(path.read_text()) for path in (tmp_path / "state").rglob("gang.json")]
            os.kill(worker_of(note["nest"], "local1"), signal.SIGKILL)

    monkeypatch.setattr(host_hands.HostHands, "begin", killing)
    done = swept(tmp_path / "killed", hosts=hosts)
    assert killed == [1]
    assert [result.status for result in done.results] == ["complete"] * 6
