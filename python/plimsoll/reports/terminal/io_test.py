"""The published I/O test on a terminal: a row per side and phase, per core and together, beside what is asked.

print(io_test(results))

target      phase  files           MB/s per core  of 4 cores  asked per core              streams took
/mnt/array  write  4 of 768.0 MiB            121         485  100 reached, 150 missed     6.2 to 6.6 s
"""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.analysis.analytics.guidance import PUBLISHED, verdict
from plimsoll.analysis.analytics.io_test import IoTest, Phase, io_tests, rate_text
from plimsoll.analysis.comparison.names import names_of
from plimsoll.reports.terminal.screen import ANY, Screen
from plimsoll.reports.terminal.table import table
from plimsoll.result import Result
from plimsoll.units import binary, megabytes, three_digits

_SAID = {"reaches": "reached", "misses": "missed", "too close to tell": "too close to tell"}


def io_test(results: Sequence[Result], screen: Screen = ANY) -> str:
    """The table, and how its figures come about; empty without an I/O test."""
    found = io_tests(results)
    if not found:
        return ""
    names = names_of(results)
    head = ("target", "phase", "files", "MB/s per core", "all cores", "moved together", "streams took", "asked per core")
    rows = [
        _row(names.get(one.side, one.side), one, word, phase, screen)
        for one in found
        for word, phase in (("write", one.write), ("read", one.read))
        if phase is not None
    ]
    note = (
        "Per core: the size of a file over the mean time of a stream, its flush included. Together: all files over the time from the first "
        "request to the last answer. MB are 10^6 bytes."
    )
    return f"{table([head, *rows], left=3, screen=screen)}\n{screen.wrapped(note)}"


def _row(side: str, one: IoTest, word: str, phase: Phase, screen: Screen) -> tuple[str, ...]:
    said = {asked: verdict(phase.per_core, asked) for asked in PUBLISHED.values()}
    asked_text = ", ".join(f"{megabytes(asked)} {_SAID[found]}" for asked, found in said.items())
    times = (three_digits(min(phase.stream_s)), three_digits(max(phase.stream_s)))
    zeros = " (zeros)" if one.content == "zeros" else ""
    return (
        side,
        word,
        f"{one.streams} of {binary(one.file_bytes)}{zeros}",
        rate_text(phase.per_core),
        megabytes(phase.per_core.value * one.cores),
        megabytes(phase.together_bytes_per_s),
        f"{times[0]} s" if times[0] == times[1] else f"{times[0]} to {times[1]} s",
        screen.paint(asked_text, "bad") if "misses" in said.values() else asked_text,
    )
