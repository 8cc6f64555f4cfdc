"""All hundred seeds of `tests/unit/test_known_marks.py`, of which `make test` tries twenty."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from long.settings import Scale

FILE = Path(__file__).parents[1] / "unit" / "test_known_marks.py"


def test_ramp_and_search_find_the_mark_within_2_percent_for_95_of_100_seeds(scale: Scale) -> None:
    seeds = scale.times(100)
    if seeds <= 20:
        pytest.skip(f"{seeds} seeds: make test tries twenty")
    words = [sys.executable, "-m", "pytest", "-q", str(FILE), "-k", "ramp_and_search"]
    environment = os.environ | {"PLIMSOLL_SEEDS": str(seeds)}
    ended = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=1800, check=False)
    assert ended.returncode == 0, ended.stdout
