"""A target that gives no answer is told while it happens, and stays in the result."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from plimsoll import foreground
from plimsoll.foreground import served
from plimsoll.measure import Job, _Recording, measure
from plimsoll.reports.live import LiveView
from plimsoll.reports.progress import FailuresOnly, PlainLines, silence_text
from plimsoll.result import Result
from plimsoll.target import Target
from support.patience import HANGS_S
from support.scripted_engine import Script, ScriptedEngine

Json = dict[str, Any]
S = 1_000_000_000


def silence(seconds: float, waiting: int | None = 64) -> Json:
    return {"target": "/dev/sdb", "ns": round(seconds * S), "waiting": waiting}


def lines(progress: type[PlainLines], told_s: Iterator[float]) -> list[str]:
    """What is written of silences that last so long, told as they grow."""
    stream, clock = io.StringIO(), iter(range(1_000))
    shown = progress(stream, lambda: float(next(clock)))
    for seconds in told_s:
        shown.silent(silence(seconds))
    return stream.getvalue().splitlines()


def measured(engine: ScriptedEngine, silent: Callable[[Json], None], hosts: tuple[str, ...] = ()) -> Result:
    """What comes of a point of one second on a disk, whose intervals nobody wants."""

    class Nowhere:
        def interval(self, interval: Json) -> None: ...

        def monitor(self, sample: Json) -> None: ...

    workload = {"name": "w", "stream": [{"name": "main"}]}
    job = Job("p1", workload, {"duration": 1, "warmup": 0}, Target("/dev/sdb"), {}, hosts=hosts)
    return measure(job, engine, Nowhere(), engine.control(), silent)


def test_a_sentence_names_target_seconds_and_requests() -> None:
    assert silence_text(silence(12.2)) == "no answer from /dev/sdb for 12 s, 64 requests waiting"
    assert silence_text(silence(5, 1)) == "no answer from /dev/sdb for 5 s, 1 request waiting"
    assert silence_text(silence(5, None)) == "no answer from /dev/sdb for 5 s"


def test_lines_come_at_once_and_then_every_ten_seconds() -> None:
    said = lines(PlainLines, iter(range(5, 37)))
    assert [line.split()[5] for line in said] == ["5", "15", "25", "35"]


def test_a_quiet_run_says_it_once_and_again_of_another_silence() -> None:
    assert [line.split()[5] for line in lines(FailuresOnly, iter((5, 6, 20, 300, 5, 6)))] == ["5", "5"]


def test_the_live_view_shows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"TERM": "xterm", "COLUMNS": "100", "NO_COLOR": "1"}.items():
        monkeypatch.setenv(name, value)

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    stream = Terminal()
    view = LiveView(stream)
    view.silent(silence(6))
    view.close()
    assert "no answer from /dev/sdb for 6 s, 64 requests waiting" in stream.getvalue()


def test_a_measurement_tells_it_and_keeps_the_longest_though_it_was_left() -> None:
    class Silent(ScriptedEngine):
        def run_job(self, job: Json, on_event: Any, control: Any) -> Json:
            outcome = super().run_job(job, on_event, control)
            for seconds in (5, 9, 7):
                on_event("silence", {"ns": seconds * S, "waiting": 3})
            return {key: value for key, value in outcome.items() if key != "silence"}

    told: list[Json] = []
    result = measured(Silent(Script()), told.append)
    assert [one["ns"] // S for one in told] == [5, 9, 7] and told[0]["target"] == "/dev/sdb"
    assert result.engine["silence"] == {"ns": 9 * S, "waiting": 3}
    assert [flag.name for flag in result.flags if flag.name == "no_answer"]


@pytest.mark.parametrize(
    ("hosts", "ready", "told"),
    [((), False, True), ((), True, False), (("a", "b"), False, False)],
    ids=["it opens the target", "it waits for the instant", "hosts open theirs"],
)
def test_an_engine_that_says_nothing_waits_for_the_target_only_while_it_opens_it(
    hosts: tuple[str, ...], ready: bool, told: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(foreground, "QUIET_FROM_S", 0.02)
    monkeypatch.setattr(foreground, "_LOOK_S", 0.01)
    looks = threading.Event()
    quiet = _Recording.quiet

    def looked(self: _Recording, seconds: float) -> None:
        quiet(self, seconds)
        looks.set()

    class Mute(ScriptedEngine):
        def run_job(self, job: Json, on_event: Any, control: Any) -> Json:
            if ready:
                on_event("ready", {})
            assert looks.wait(HANGS_S)
            return super().run_job(job, on_event, control)

    monkeypatch.setattr(_Recording, "quiet", looked)
    heard: list[Json] = []
    measured(Mute(Script()), heard.append, hosts)
    assert bool(heard) is told


def test_a_host_that_was_opening_its_target_has_measured_no_silence() -> None:
    class Lost(ScriptedEngine):
        def run_job(self, job: Json, on_event: Any, control: Any) -> Json:
            on_event("silence", {"ns": 10 * S, "waiting": None})
            return {key: value for key, value in super().run_job(job, on_event, control).items() if key != "silence"}

    heard: list[Json] = []
    result = measured(Lost(Script()), heard.append, ("a", "b"))
    assert [one["ns"] // S for one in heard] == [10]
    assert "silence" not in result.engine and "no_answer" not in {flag.name for flag in result.flags}


def test_a_verb_that_says_nothing_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foreground, "QUIET_FROM_S", 0.02)
    monkeypatch.setattr(foreground, "_LOOK_S", 0.01)
    heard = threading.Event()
    seconds: list[float] = []

    def quiet(silent_s: float) -> None:
        seconds.append(silent_s)
        heard.set()

    result, failure = served(lambda _: heard.wait(HANGS_S), lambda *_: None, give_up=lambda: None, quiet=quiet)
    assert (result, failure) == (True, None) and seconds[0] >= 0.02
