"""All hundred seeds of `tests/unit/test_known_marks.py`, of which `make test` tries twenty, and twice as many series with known intervals."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from long.settings import Scale

UNIT = Path(__file__).parents[1] / "unit"


def test_ramp_and_search_find_the_mark_within_2_percent_for_95_of_100_seeds(scale: Scale) -> None:
    seeds = scale.times(100)
    if seeds <= 20:
        pytest.skip(f"{seeds} seeds: make test tries twenty")
    _passes("test_known_marks.py", "-k", "ramp_and_search", PLIMSOLL_SEEDS=str(seeds))


def test_intervals_of_two_thousand_series_cover_as_often_as_they_say(scale: Scale) -> None:
    series = scale.times(2000)
    if series <= 1000:
        pytest.skip(f"{series} series: make test tries a thousand")
    _passes("test_confidence.py", PLIMSOLL_REPLICATIONS=str(series))


def _passes(file: str, *words: str, **settings: str) -> None:
    command = [sys.executable, "-m", "pytest", "-q", str(UNIT / file), *words]
    ended = subprocess.run(command, env=os.environ | settings, capture_output=True, text=True, timeout=1800, check=False)
    assert ended.returncode == 0, ended.stdout
