"""The long suite can be collected: whoever renames a helper learns here, and not half an hour into ``make test-long``."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

FILES = sorted(Path(__file__).with_name("long").glob("*.py"))


@pytest.mark.parametrize("name", [path.stem for path in FILES])
def test_a_file_of_the_long_suite_is_imported(name: str) -> None:
    importlib.import_module(f"long.{name}")
