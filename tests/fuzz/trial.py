"""One reader tried with changed texts for so many seconds, of which the processor was its own for half at least.

Model: Hypothesis draws the texts in rounds, each with its own seed, and shortens the first text that fails. A text fails when anything but
`InputError` is raised, when the sentence has more than a line, does not begin with a place or does not end as a sentence does, or when a
text takes more than ten seconds. Memory is limited, so that a text that asks for all of it fails alone.
Limits: time runs in steps of a round of at most a hundred texts.

    tried("fio job", 60.0).taken
"""

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from hypothesis import HealthCheck, Phase, given, seed, settings

from fuzz.readers import READERS
from plimsoll.errors import InputError

_ROUND = 100
_TEXT_S_MAX = 10.0
_MEMORY_BYTES = 4 << 30
_SENTENCE_MAX = 1000
_LINE_MAX = 1500
_QUIET = settings(
    max_examples=_ROUND, deadline=None, database=None, phases=[Phase.generate, Phase.shrink], suppress_health_check=list(HealthCheck)
)


@dataclass
class Trial:
    """How many texts a reader took and refused, in how many seconds and how many of processor time, and what went wrong."""

    taken: int = 0
    refused: int = 0
    seconds: float = 0.0
    processor_s: float = 0.0
    failure: str = ""


def begin() -> None:
    """Begin a process of which a text that asks for all memory fails alone, and which ends with the session, however that ends."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    if parent := multiprocessing.parent_process():
        parent.join()
        os._exit(1)


def tried(name: str, seconds: float) -> Trial:
    """Try the reader called ``name`` until the time is over or a text fails."""
    trial, began, processor_began, number = Trial(), time.monotonic(), time.process_time(), 0
    while not trial.failure and (trial.seconds < seconds or trial.processor_s < seconds / 2 or not number):
        try:
            _round(name, number, trial)
        except BaseException as problem:  # whatever it is, it is what is looked for
            trial.failure = shortened("".join(traceback.format_exception(problem)))
        number += 1
        trial.seconds = time.monotonic() - began
        trial.processor_s = time.process_time() - processor_began
    return trial


def shortened(said: str) -> str:
    """The last lines of a traceback; long ones, which hold a text that failed, without their middle."""
    lines = said.splitlines()[-60:]
    return "\n".join(line if len(line) < _LINE_MAX else f"{line[: _LINE_MAX // 2]} … {line[-_LINE_MAX // 2 :]}" for line in lines)


def _round(name: str, number: int, trial: Trial) -> None:
    reader = READERS[name]

    @seed(number)
    @_QUIET
    @given(reader.texts())
    def attempt(text: str) -> None:
        try:
            with _limit():
                taken = reader.attempt(text)
        except InputError as problem:
            check_sentence(str(problem), reader.places)
            trial.refused += 1
        else:
            trial.taken += taken
            trial.refused += not taken

    attempt()


def check_sentence(said: str, places: tuple[str, ...]) -> None:
    assert said.startswith(places), f"begins with no place: {said}"
    assert "\n" not in said, f"more than a line: {said}"
    assert said.endswith((".", "?")), f"no sentence: {said}"
    assert len(said) < _SENTENCE_MAX, f"too long: {said}"


@contextmanager
def _limit() -> Iterator[None]:
    def over(*_: object) -> None:
        raise AssertionError(f"takes more than {_TEXT_S_MAX:g} seconds")

    before = signal.signal(signal.SIGVTALRM, over)
    signal.setitimer(signal.ITIMER_VIRTUAL, _TEXT_S_MAX)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
