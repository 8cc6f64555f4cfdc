"""No file of another tool, whatever is wrong with it, ends in anything but points, an experiment or a sentence with its place."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import strategies as st

from fuzz import readers, trial
from fuzz.conftest import SECONDS, seconds_of
from fuzz.readers import READERS, Reader
from fuzz.trial import Trial, tried
from plimsoll.errors import InputError
from plimsoll.formats import import_forms, tools
from plimsoll.formats.traces import FORMATS

#: Of a hundred texts at least so many are taken, and so many refused; else they say little of what a reader does with them.
_LEAST_PERCENT = 1


@pytest.mark.parametrize("reader", READERS)
def test_a_changed_file_is_taken_or_refused_in_a_sentence(reader: str, trial_of: Callable[[str], Trial]) -> None:
    verdict = trial_of(reader)
    assert not verdict.failure, f"{reader}:\n{verdict.failure}"
    print(f"{reader}: {verdict.taken} taken and {verdict.refused} refused in {verdict.seconds:.1f} s")
    assert verdict.seconds >= seconds_of(reader)
    if SECONDS >= 1:
        assert min(verdict.taken, verdict.refused) * 100 > (verdict.taken + verdict.refused) * _LEAST_PERCENT


def test_every_reader_is_tried() -> None:
    tried_ones = {
        "fio": "fio job", "vdbench": "vdbench file", "iometer": "iometer icf", "orion": "orion luns", "diskspd": "diskspd profile",
        "fio-json": "fio json", "fio-logs": "fio logs", "vdbench-flatfile": "vdbench flatfile", "iometer-csv": "iometer results",
        "orion-tables": "orion tables", "diskspd-xml": "diskspd results", "sysstat": "sysstat json",
    }  # fmt: skip
    assert set(tried_ones.values()) <= set(READERS)
    assert len(import_forms.READERS) + len(tools.TOOLS) == len(tried_ones)
    assert {f"{tool} command" for tool in tools.WITH_COMMANDS} <= set(READERS)
    assert {f"trace {form}" for form in FORMATS} <= set(READERS)


def _reader(monkeypatch: pytest.MonkeyPatch, said: BaseException | None) -> Trial:
    def attempt(text: str) -> bool:
        if said is not None and "x" in text:
            raise said
        return True

    monkeypatch.setitem(readers.READERS, "odd", Reader(lambda: st.text("xyz"), attempt, ("here:",)))  # type: ignore[arg-type]
    return tried("odd", 0.01)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (KeyError("timestamp"), "KeyError: 'timestamp'"),
        (InputError("here:1: two\nlines."), "more than a line"),
        (InputError("nowhere."), "begins with no place"),
        (InputError("here:1: cut"), "no sentence"),
        (RecursionError(), "RecursionError"),
    ],
)
def test_what_is_no_sentence_is_found_and_shortened(said: BaseException, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    failure = _reader(monkeypatch, said).failure
    assert why in failure and "text='x'" in failure


def test_a_reader_that_never_ends_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "_TEXT_S_MAX", 0.01)

    def attempt(text: str) -> bool:
        while True:
            pass

    monkeypatch.setitem(readers.READERS, "odd", Reader(lambda: st.just("x"), attempt, ()))  # type: ignore[arg-type]
    assert "takes more than 0.01 seconds" in tried("odd", 0.01).failure


def test_what_is_refused_in_a_sentence_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    verdict = _reader(monkeypatch, InputError("here:1: x is not known; write y."))
    assert not verdict.failure and verdict.taken and verdict.refused
