"""Who hears that a target gives no answer while it is looked at, and how that ends. Scripted engine."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from plimsoll.cli.silence import Silence
from plimsoll.points.listener import Listener
from plimsoll.points.loop import conduct
from plimsoll.points.setup import Setup
from plimsoll.silence import heard, no_answer
from plimsoll.store.writer import RunInfo, RunWriter
from plimsoll.target import Target
from support.scripted_engine import ScriptedEngine
from unit.test_conducting import Silence as Unmoved
from unit.test_conducting import in_order, planned


class Dead(ScriptedEngine):
    """An engine whose target gives no answer for six seconds, in which ``meanwhile`` happens."""

    meanwhile = staticmethod(lambda: None)

    def inspect_target(self, target: Target) -> dict[str, Any]:
        self.meanwhile()
        no_answer(target.text, 6.0)
        return super().inspect_target(target)


class Listening(Unmoved):
    """`Progress` that remembers what was silent."""

    def __init__(self) -> None:
        super().__init__()
        self.silences: list[dict[str, Any]] = []

    def silent(self, silence: dict[str, Any]) -> None:
        self.silences.append(silence)


def conducted(engine: Dead, progress: Listening) -> Any:
    run = RunWriter.create("results", RunInfo("x", ["plimsoll"], None, host={}, versions={}))
    return conduct(in_order([planned(ScriptedEngine())]), Setup(engine, run, Listener(progress, stopping=lambda: None), host={}))


def test_a_run_says_it_through_its_progress(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    progress = Listening()
    outcome = conducted(Dead(), progress)
    assert progress.silences[0]["ns"] == 6_000_000_000 and progress.silences[0]["waiting"] is None
    assert not outcome.interrupted and len(outcome.results) == 1


def test_a_signal_ends_the_wait_of_a_run_for_its_target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    engine, progress = Dead(), Listening()
    engine.meanwhile = lambda: os.kill(os.getpid(), signal.SIGINT)
    outcome = conducted(engine, progress)
    assert outcome.interrupted and not outcome.results and not progress.silences


def test_a_command_without_a_run_says_it_at_once_and_every_ten_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    with heard(Silence()):
        for seconds in (5.0, 6.0, 14.9, 15.0, 16.0):
            no_answer("/mnt/dead", seconds)
        no_answer("/mnt/dead", 5.0)  # it answered in between
        no_answer("/mnt/other", 6.0)
    no_answer("/mnt/dead", 7.0)
    said = capsys.readouterr().err.splitlines()
    assert said == [
        "plimsoll: no answer from /mnt/dead for 5 s (Ctrl-C ends this)",
        "plimsoll: no answer from /mnt/dead for 15 s (Ctrl-C ends this)",
        "plimsoll: no answer from /mnt/dead for 5 s (Ctrl-C ends this)",
        "plimsoll: no answer from /mnt/other for 6 s (Ctrl-C ends this)",
    ]
