"""A mistake of our own: one sentence, exit code 70, details in a file; never what a failed objective looks like."""

from __future__ import annotations

import os
import re
import threading
from pathlib import Path
from typing import Any

import pytest

from plimsoll.cli import list as list_verb
from plimsoll.cli import main
from support.said import Plimsoll
from support.scripted_engine import Script, ScriptedEngine


class PanicException(BaseException):
    """As pyo3 raises it: no `Exception`."""


@pytest.fixture(autouse=True)
def folder(here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where details are written."""
    monkeypatch.setattr("tempfile.tempdir", str(here))
    monkeypatch.delenv("PLIMSOLL_DEBUG", raising=False)
    return here


def breaks(monkeypatch: pytest.MonkeyPatch, problem: BaseException) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise problem

    monkeypatch.setattr(list_verb.command, "callback", broken)


def details(said_err: str) -> str:
    found = re.search(r"The details are in (\S+)\. Please send that file to whoever maintains your Plimsoll\.\n", said_err)
    assert found, said_err
    return Path(found[1]).read_text()


@pytest.mark.parametrize(
    "problem",
    [KeyError("cells"), AssertionError(), OSError(5, "Input/output error"), RecursionError("deep"), PanicException("index out of bounds")],
    ids=lambda problem: type(problem).__name__,
)
def test_a_mistake_of_ours_is_a_sentence_and_70(plimsoll: Plimsoll, monkeypatch: pytest.MonkeyPatch, problem: BaseException) -> None:
    breaks(monkeypatch, problem)
    said = plimsoll("list", "--tag", "a\x1bb")
    assert said.code == 70 and "Traceback" not in said.err and said.err.count("\n") == 1
    assert said.err.startswith(f"plimsoll: this is a mistake in Plimsoll, not in what you typed ({type(problem).__name__}: ")
    kept = details(said.err)
    assert "Traceback" in kept and "['list', '--tag', 'a\\x1bb']" in kept and "plimsoll 0." in kept and "Python 3." in kept


def test_memory_that_ran_out_is_told_as_that(plimsoll: Plimsoll, monkeypatch: pytest.MonkeyPatch) -> None:
    breaks(monkeypatch, MemoryError())
    said = plimsoll("list")
    assert said.code == 70 and "there is not enough memory for this" in said.err


def test_debugging_shows_the_traceback(plimsoll: Plimsoll, monkeypatch: pytest.MonkeyPatch) -> None:
    breaks(monkeypatch, KeyError("cells"))
    monkeypatch.setenv("PLIMSOLL_DEBUG", "1")
    said = plimsoll("list")
    assert said.code == 70 and "Traceback" in said.err


def test_details_that_cannot_be_written_are_a_sentence_too(plimsoll: Plimsoll, monkeypatch: pytest.MonkeyPatch, here: Path) -> None:
    breaks(monkeypatch, KeyError("cells"))
    monkeypatch.setattr("tempfile.tempdir", str(here / "absent"))
    said = plimsoll("list")
    assert said.code == 70 and "could not be written (no such file or directory); PLIMSOLL_DEBUG=1 shows them" in said.err


def test_a_signal_is_130_and_no_mistake(plimsoll: Plimsoll, monkeypatch: pytest.MonkeyPatch) -> None:
    breaks(monkeypatch, KeyboardInterrupt())
    said = plimsoll("list")
    assert said.code == 130 and said.err.split("\n")[-2:] == ["plimsoll: stopped.", ""]


def test_a_mistake_in_a_thread_is_told_as_well(plimsoll: Plimsoll, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> None:
        thread = threading.Thread(target=lambda: {}["cells"])
        thread.start()
        thread.join()

    monkeypatch.setattr(list_verb.command, "callback", broken)
    said = plimsoll("list")
    assert said.code == 70 and "Traceback" not in said.err and "in <lambda>" in details(said.err)


def test_a_mistake_while_measuring_leaves_a_run_that_can_be_read(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    def broken(index: int) -> None:
        if index == 5:
            raise KeyError("cells")

    engine.scripts = [Script(on_interval=broken)]
    said = plimsoll("run", "small.toml", "-t", "null:", "--objective", "p99 <= 1ns", "--assert")
    assert said.code == 70
    (entry,) = plimsoll("runs", "--json").json
    assert (entry["status"], entry["points"]) == ("failed", ["incomplete"])


def test_a_panic_of_the_engine_says_where_and_ends_with_70(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from plimsoll import _core

    # What a mistake in the engine would be: a panic below a call of the module.
    with pytest.raises(BaseException) as raised:
        _core.panic_on_purpose("on purpose")
    assert not isinstance(raised.value, Exception)
    assert "a mistake in Plimsoll's engine: on purpose at " in capfd.readouterr().err
    breaks(monkeypatch, raised.value)
    assert main(["list"]) == 70


def test_the_environment_is_not_in_the_details(plimsoll: Plimsoll, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_TOKEN", "secret-secret")
    breaks(monkeypatch, KeyError("cells"))
    assert os.environ["SOME_TOKEN"] not in details(plimsoll("list").err)
