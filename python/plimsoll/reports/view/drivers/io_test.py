"""The section of the published I/O test: what a core gets in each phase, beside what is asked.

Model: figures are those of `plimsoll.analysis.analytics.io_test`, a bar for each side and phase.

    io_tests_view(members)["sides"][0]["write"]["per_core"]["value"]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from plimsoll.analysis.analytics.guidance import PUBLISHED, verdict
from plimsoll.analysis.analytics.io_test import IoTest, Phase, io_tests
from plimsoll.reports.view.experiments import Member
from plimsoll.reports.view.point import EstimateView, estimate_view


class IoTestPhase(TypedDict):
    """One phase on one side; rates are bytes per second."""

    per_core: EstimateView
    together_bytes_per_s: float
    fastest_s: float
    slowest_s: float
    repeats: int
    #: Against each of the published figures, in their order.
    verdicts: list[str]


class IoTestSide(TypedDict):
    """One configuration with one set of files."""

    configuration: int
    cores: int
    streams: int
    file_bytes: int
    memory_bytes: int
    content: str
    write: IoTestPhase | None
    read: IoTestPhase | None


class IoTestView(TypedDict):
    """The I/O test on all sides."""

    #: What is asked of a file system for each core: what for, and bytes per second.
    asked_per_core: list[tuple[str, float]]
    sides: list[IoTestSide]


def io_tests_view(members: Sequence[Member]) -> IoTestView | None:
    """None where no phase came to its end."""
    found: dict[int, list[Member]] = {}
    for member in members:
        found.setdefault(member.configuration, []).append(member)
    sides = [
        _side(one, configuration) for configuration in sorted(found) for one in io_tests([member.result for member in found[configuration]])
    ]
    return {"asked_per_core": list(PUBLISHED.items()), "sides": sides} if sides else None


def _side(one: IoTest, configuration: int) -> IoTestSide:
    return {
        "configuration": configuration,
        "cores": one.cores,
        "streams": one.streams,
        "file_bytes": one.file_bytes,
        "memory_bytes": one.memory_bytes,
        "content": one.content,
        "write": _phase(one.write),
        "read": _phase(one.read),
    }


def _phase(phase: Phase | None) -> IoTestPhase | None:
    if phase is None:
        return None
    return {
        "per_core": estimate_view(phase.per_core),
        "together_bytes_per_s": phase.together_bytes_per_s,
        "fastest_s": min(phase.stream_s),
        "slowest_s": max(phase.stream_s),
        "repeats": phase.repeats,
        "verdicts": [verdict(phase.per_core, asked) for asked in PUBLISHED.values()],
    }
