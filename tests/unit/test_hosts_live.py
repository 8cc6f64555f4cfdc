"""Hosts while they measure: a line for each, what is wrong with one at once, and no more lines than people read."""

from __future__ import annotations

import io
from typing import Any

import pytest

from plimsoll.gang.progress import Progress
from plimsoll.reports.host_lines import HOSTS_MAX, host_rows
from plimsoll.reports.live import LiveView
from plimsoll.reports.progress import FailuresOnly, PlainLines
from plimsoll.stored import HostAt
from support.scripted_engine import Script, interval
from unit.test_reports import Clock, Terminal, skeleton

WHY = "lost 4.37 s after the start: its worker was killed by SIGKILL"


def host(name: str, **changes: Any) -> HostAt:
    known: Any = {
        "name": name, "state": "measuring", "why": None, "passed_s": 3.0, "per_s": 1200.0, "bytes_per_s": 4.9e6, "mean_ns": 1e6,
    }  # fmt: skip
    return {**known, **changes}


def lost(name: str) -> HostAt:
    return host(name, state="lost", why=WHY, per_s=None, bytes_per_s=None, mean_ns=None)


def test_plain_progress_has_a_line_for_all_hosts_and_one_for_each() -> None:
    stream = io.StringIO()
    progress = PlainLines(stream, Clock())
    progress.begin(1, 1, skeleton())
    progress.hosts([host("db1"), lost("db2"), host("db3", state="ended")])
    progress.interval(interval(Script(warmup_intervals=0), 0, ["main"]))
    progress.hosts([host("db1"), lost("db2"), host("db3", state="ended")])
    lines = stream.getvalue().splitlines()
    assert lines[1] == f"[1/1] small  db2: {WHY}", "at once, and once"
    assert lines[2].startswith("[1/1] small  measure  0.1 s  read ")
    assert [line.split("  ")[-1] for line in lines[3:]] == ["mean 1.00 ms", WHY, "ended"]
    assert lines[3].strip() == "db1  1,200/s  4.9 MB/s  mean 1.00 ms"
    assert len(lines) == 6


def test_the_quiet_form_says_that_a_host_was_lost() -> None:
    stream = io.StringIO()
    progress = FailuresOnly(stream, Clock())
    progress.begin(1, 1, skeleton())
    progress.hosts([host("db1"), host("db2")])
    progress.hosts([host("db1"), lost("db2")])
    assert stream.getvalue() == f"[1/1] small  db2: {WHY}\n"


def test_of_many_hosts_those_that_are_not_well_are_shown() -> None:
    rows = host_rows([*(host(f"db{number}") for number in range(60)), lost("db60")])
    assert rows[0] == ("db60", WHY)
    assert (len(rows), rows[-1]) == (HOSTS_MAX + 1, (f"and {61 - HOSTS_MAX} more hosts",))


def test_a_terminal_shows_each_host_below_the_figures_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("NO_COLOR", "1")
    stream = Terminal()
    view = LiveView(stream)
    view.begin(1, 1, skeleton())
    view.hosts([host("db1"), host("db2")])
    view.interval(interval(Script(warmup_intervals=0), 0, ["main"]))
    before = stream.getvalue()
    assert "db1" in before and "1,200/s" in before
    view.hosts([host("db1"), lost("db2")])
    view.close()
    assert WHY in stream.getvalue()[len(before) :], "drawn when it happens, not with the next interval"


def test_what_hosts_tell_is_told_together_and_a_loss_at_once() -> None:
    told: list[Any] = []
    progress = Progress(["db1", "db2"], lambda kind, event: told.append((kind, event["hosts"])))
    script = Script(warmup_intervals=0)
    progress.tell()
    for index in range(3):
        progress.interval("db1", interval(script, index, ["main"]))
    progress.interval("db2", interval(script, 0, ["main"]))
    assert told[-1][1][1]["per_s"] is not None
    progress.put("db2", "lost", WHY)
    assert {kind for kind, _ in told} == {"hosts"}
    # The first interval is another state; the following ones come within a quarter of a second, unless this machine stands still.
    assert [one["state"] for one in told[1][1]] == ["measuring", "getting ready"]
    assert [(one["state"], one["why"]) for one in told[-1][1]] == [("measuring", None), ("lost", WHY)]
    summary = interval(script, 2, ["main"])["summary"]
    assert told[-1][1][0]["per_s"] == pytest.approx(10 * sum(entry["count"] for entry in summary.values()))
    assert told[-1][1][1]["per_s"] is None, "a lost host has no rate, and not a zero"
