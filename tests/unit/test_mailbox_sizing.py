"""Mailboxes, their profile, what that asks of the databases, and how many of them a mail store on a target carries."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from plimsoll.analysis.sizing.stored_lines import fit, stored_lines
from plimsoll.points.demand_source import demand_asked
from plimsoll.points.sizing_arguments import SizingArguments
from plimsoll.store.reader import StoredRun, list_runs
from support.said import Plimsoll, in_this_process

TARGET = "queue:?servers=10&service=const:5ms&size=8GiB"
BRIEF = ("-d", "3s", "-w", "500ms")
MAILBOXES = ("--mailboxes", "1000", "--profile", "exchange-2003:average")


@pytest.fixture
def plimsoll(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Plimsoll:
    """Commands on the real engine, in virtual time."""
    monkeypatch.chdir(tmp_path)
    return in_this_process(capsys)


def test_mailboxes_are_measured_with_a_mail_store_of_their_generation(plimsoll: Plimsoll) -> None:
    said = plimsoll("size", *MAILBOXES, "--growth", "25%", "--measure", "-t", TARGET, *BRIEF, "--json")
    assert said.code == 0, said.err
    (line,) = said.json["lines"]
    assert line["workload"] == "mailstore-2003" and line["limited_by"] == "transfers"
    assert said.json["objective"] == "read mean <= 20ms and write mean <= 20ms"
    # 0.75 transfers per second each, and a quarter kept free (learn.microsoft.com/previous-versions/tn-archive/bb125019).
    assert line["headroom"] == pytest.approx(line["mark"]["iops"] / (1000 * 0.75 * 1.25))
    assert line["mailboxes"] == math.floor(line["mark"]["iops"] / (0.75 * 1.25))


def test_the_answer_names_how_many_mailboxes_of_which_profile(plimsoll: Plimsoll) -> None:
    said = plimsoll("size", *MAILBOXES, "--growth", "25%", "--measure", "-t", TARGET, *BRIEF)
    assert said.code == 0, said.err
    assert "mailboxes of exchange-2003:average, with 25 % kept free." in said.text
    assert "Modelled on Jetstress, not Jetstress" in said.text


@pytest.fixture
def line(plimsoll: Plimsoll, tmp_path: Path) -> Any:
    """The stored load line of a ramp over threads."""
    over = ("--over", "threads=1..64", "--objective", "read mean <= 20ms and write mean <= 20ms", "--resolution", "10%")
    assert plimsoll("ramp", "mailstore-2003", "-t", TARGET, *over, *BRIEF, "--quiet").code == 0
    (run,) = list_runs("results")
    assert isinstance(run, StoredRun)
    (found,) = stored_lines({"run": [point.result for point in run.points]})
    return found


def asked(profile: str) -> Any:
    return demand_asked(SizingArguments(mailboxes=1000, profile=profile))


def test_a_stored_line_of_a_store_answers_by_its_transfers_at_the_rule_of_the_original(line: Any) -> None:
    demand = asked("exchange-2003:light")
    found = fit(line, demand, None)
    assert found.refused is None and found.mark is not None and found.mark.failed_by is not None, "the rule was broken above the mark"
    assert found.headroom == pytest.approx(found.mark.iops / 500)
    assert found.mailboxes(demand) == math.floor(found.mark.iops / 0.5)


def test_a_store_of_another_generation_answers_nothing(line: Any) -> None:
    found = fit(line, asked("exchange-2010-copies:100"), None)
    assert found.refused == "a mail store of 2003 where mailboxes of 2010 are demanded"
    assert found.mailboxes(asked("exchange-2010-copies:100")) is None


def test_a_store_under_a_demand_of_plain_requests_is_held_to_its_mix_and_sizes(line: Any) -> None:
    plain = replace(asked("exchange-2003:light"), mailboxes=None, profile=None, read_percent=0.0)
    found = fit(line, plain, None)
    assert found.refused is not None and "% reads where 0 % are demanded" in found.refused


@pytest.mark.parametrize("profile", ["exchange-2003:heavy", "exchange-2007:light", "exchange-2010-copies:150", "exchange-2013:50"])
def test_every_profile_has_a_mail_store_of_its_generation(profile: str) -> None:
    from plimsoll import catalog

    assert catalog.document(f"mailstore-{asked(profile).generation}")["driver"] == "mailstore"
