"""What hosts work out of models: equal to one host bit for bit, whoever answers, and nothing is lost with one of them."""

from __future__ import annotations

import json
from collections import deque
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from plimsoll.cli import main
from plimsoll.errors import EngineError, InputError
from plimsoll.points.host_work import HostWork
from plimsoll.reproduction.readings import Reading

MACHINE = {"machine": "one", "processors": 5}


class Answering:
    """A gang whose hosts answer with what they are asked, in the order of `script`; a host in ``dying`` is lost with its first request."""

    def __init__(self, dying: tuple[str, ...] = ()) -> None:
        self.hosts = ("db1", "db2")
        self.lost: dict[str, Any] = {}
        self.asked: list[tuple[str, int]] = []
        self._dying = dying
        self._said: deque[tuple[str, Any]] = deque()

    def hand(self, host: str, request: Any) -> int:
        self.asked.append((host, request["place"]))
        number = len(self.asked)
        if host in self._dying:
            if host not in self.lost:
                self.lost[host] = SimpleNamespace(why="its worker was killed")
                self._said.append((host, {"say": "lost"}))
        else:
            answer = {"say": "refused", "kind": "InputError", "message": "no such array"} if request["place"] == 99 else {"say": "answer"}
            self._said.appendleft((host, {**answer, "id": number, "value": request["place"] * 10}))
        return number

    def heard(self, _within_s: float) -> tuple[str, Any] | None:
        return self._said.popleft() if self._said else None

    def abort(self) -> None: ...


def work(gang: Answering, machines: tuple[Any, Any] = (MACHINE, MACHINE)) -> HostWork:
    engine: Any = SimpleNamespace(gang=lambda: gang, hosts=gang.hosts, introduced=dict(zip(gang.hosts, machines, strict=True)))
    return HostWork(engine)


def requests(count: int) -> list[Any]:
    return [{"ask": "rate", "place": place} for place in range(count)]


def test_every_request_is_answered_once_whoever_answers() -> None:
    gang = Answering()
    assert dict(work(gang).done(requests(20))) == {place: 10 * place for place in range(20)}
    assert sorted(place for _, place in gang.asked) == list(range(20))
    assert {host for host, _ in gang.asked} == {"db1", "db2"}


def test_workers_on_one_machine_divide_its_processors_and_others_have_their_own() -> None:
    assert work(Answering()).count == 2 + 2
    assert work(Answering(), (MACHINE, {**MACHINE, "machine": "two"})).count == 5 + 5


def test_what_a_lost_host_had_under_way_is_asked_of_another() -> None:
    gang = Answering(dying=("db1",))
    assert dict(work(gang).done(requests(9))) == {place: 10 * place for place in range(9)}
    assert {place for host, place in gang.asked if host == "db2"} == set(range(9))


def test_without_hosts_there_is_a_sentence() -> None:
    with pytest.raises(EngineError, match=r"db1 is lost: its worker was killed; db2 is lost"):
        list(work(Answering(dying=("db1", "db2"))).done(requests(3)))


def test_what_a_host_refuses_is_its_sentence() -> None:
    with pytest.raises(InputError, match=r"db1: no such array"):
        list(work(Answering()).done([{"ask": "rate", "place": 99}]))


def test_a_reading_keeps_every_bit_on_its_way() -> None:
    beyond = Reading({"iops": 1 / 3}, {"disk": 0.1 + 0.2}, level=7, limited_by="disk")
    reading = Reading({"bytes_per_s": 2**53 - 1.0}, {}, beyond=beyond, problem=None)
    assert Reading.from_json(json.loads(json.dumps(reading.to_json()))) == reading


@pytest.fixture
def hosts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """Two workers without Ray, with a state of their own."""
    monkeypatch.setenv("PLIMSOLL_GANG_CARRIER", "direct")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return "local:2"


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What a command prints, with the real engine."""
    code = main(list(words))
    out, err = capsys.readouterr()
    assert code == 0, err
    return out


def test_claims_that_hosts_test_have_the_figures_of_one_host_bit_for_bit(capsys: pytest.CaptureFixture[str], hosts: str) -> None:
    asked = ("reproduce", "--claim", "36", "--json", "-q")
    assert said(capsys, *asked, "--hosts", hosts) == said(capsys, *asked)


def test_a_fit_on_hosts_finds_the_values_of_one_host_bit_for_bit(capsys: pytest.CaptureFixture[str], hosts: str, tmp_path: Path) -> None:
    rows = "iops,bytes_per_s,threads,queue_depth\n900,3686400,1,8\n500,2048000,1,2\n950,3891200,1,16\n"
    (tmp_path / "rows.csv").write_text(rows)
    asked = ["fit", "array:dl580-local", "--measured", str(tmp_path / "rows.csv"), "--workload", "random-read-4k"]
    asked += ["--hold-out", "queue_depth=16", "--unknown", "host.request_ns=20us..200us:log", "--search", "grid", "--levels", "3"]
    asked += ["--requests", "300", "--json"]
    assert said(capsys, *asked, "--hosts", hosts) == said(capsys, *asked, "--processes", "2")


def test_how_many_at_a_time_is_the_hosts_own_matter(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "--hosts", "local:2", "--jobs", "2"]) == 2
    assert "--jobs: with --hosts each host runs as many at a time" in capsys.readouterr().err
    assert main(["fit", "array:nvme", "--measured", "x.csv", "--unknown", "a=1..2", "--hosts", "local:2", "--processes", "2"]) == 2
    assert "--processes: with --hosts each host runs as many at a time" in capsys.readouterr().err
