"""`make bench-compare` with a commit that cannot be compared with: a sentence, not a traceback."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest


def _compare() -> ModuleType:
    spec = importlib.util.spec_from_file_location("compare", Path(__file__).parents[2] / "dev/compare.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_base_that_cannot_be_built_is_told_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as told:
        _compare()._built(tmp_path)
    assert str(told.value).startswith("compare: the example loop_cost of ") and f"which lies in {tmp_path}" in str(told.value)


def test_a_program_that_measures_nothing_is_told_in_a_sentence(tmp_path: Path) -> None:
    program = tmp_path / "loop_cost"
    program.write_text("#!/bin/sh\necho 'no such backend' >&2\nexit 3\n")
    program.chmod(0o755)
    with pytest.raises(SystemExit) as told:
        _compare()._ns(program, "null: auto 1 1 1s")
    assert str(told.value) == f"compare: '{program} null: auto 1 1 1s' could not be measured: no such backend"
