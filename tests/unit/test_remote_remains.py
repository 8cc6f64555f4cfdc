"""A host that is not read yet, or not any more, is asked all the same, so that what attends there does not leave."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from plimsoll.gang import attendant, remote_remains
from plimsoll.gang.environment import Environment
from plimsoll.gang.lineup import Lineup
from plimsoll.gang.ssh import Seat
from support.patience import wait_until


class _Line:
    """Counts what it is asked; as `plimsoll.gang.ssh_line.SshLine`."""

    def __init__(self, talk: _Talk) -> None:
        self.asked: list[str] = []
        talk.lines.append(self)

    def call(self, verb: str, *_arguments: object, within_s: float) -> list[str]:
        self.asked.append(verb)
        return []

    def close(self) -> None:
        self.asked.append("close")


class _Talk:
    lines: list[_Line] = []  # noqa: RUF012 — of all that were made in one test

    #: Nobody goes on before all have come.
    together = threading.Barrier(3)

    def __init__(self, seat: Seat, _environment: object, _command: Callable[..., list[str]], _launcher: str) -> None:
        self.seat = seat

    def carry(self) -> None:
        self.together.wait(60.0)

    def become(self, _wanted: object) -> None: ...


def test_hosts_are_reached_together_and_each_is_asked_until_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_remains, "Talk", _Talk)
    monkeypatch.setattr(remote_remains, "SshLine", _Line)
    monkeypatch.setattr(remote_remains, "environment_of", lambda _packages: Environment((), (), "none"))
    monkeypatch.setattr(remote_remains, "_ASKED_S", 0.01)
    _Talk.lines.clear()
    seats = tuple(Seat(name) for name in ("h1", "h2", "h3"))
    lineup = Lineup("h1,h2,h3", tuple(seat.name for seat in seats), same_machine=False, seats=seats)
    with remote_remains.remote_remains(lineup, {seat.name: "x" for seat in seats}, print) as stores:
        assert list(stores) == ["h1", "h2", "h3"]
        stores["h1"].runs()
        wait_until(lambda: all(line.asked.count("clock") > 2 for line in _Talk.lines), "every host is asked")
    assert all(line.asked[-1] == "close" or "close" in line.asked for line in _Talk.lines)


def test_they_are_asked_well_within_the_patience_of_what_attends_there() -> None:
    assert min(attendant._PATIENCE_S.values()) > 3 * remote_remains._ASKED_S
