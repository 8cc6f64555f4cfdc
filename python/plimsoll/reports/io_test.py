"""The published I/O test in words: the sentence of a run, and the JSON of its figures.

Model: `plimsoll.analysis.analytics.io_test` says what each side has.

    sentence(results, names_of(results))     # "/mnt/a: writing 143 MB/s per core, which reaches the 100 MB/s asked …; reading …"
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from plimsoll.analysis.analytics.guidance import judged
from plimsoll.analysis.analytics.io_test import io_tests, rate_text
from plimsoll.result import Result


def sentence(results: Sequence[Result], names: Mapping[str, str]) -> str:
    """What was found of every side; empty without an I/O test, without full stop."""
    return ". ".join(f"{names.get(one.side, one.side)}: {one.sentence()}" for one in io_tests(results))


def cards(results: Sequence[Result], names: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """What a core gets in each phase of every side: label, value and detail."""
    found = io_tests(results)
    return [
        (
            f"{word} per core{f', {names.get(one.side, one.side)}' if len(found) > 1 else ''}",
            f"{rate_text(phase.per_core)} MB/s",
            judged(phase.per_core),
        )
        for one in found
        for word, phase in (("Writing", one.write), ("Reading", one.read))
        if phase is not None
    ]


def document(results: Sequence[Result]) -> dict[str, Any]:
    """The key ``io_test`` of ``--json``; empty for other loads."""
    found = [one.to_json() for one in io_tests(results)]
    return {"io_test": found} if found else {}
