"""The list of planted bugs can be planted: whoever moves a file or a line learns it here, and not in ``make mutants``."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import replace
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
_SPEC = importlib.util.spec_from_file_location("mutants", ROOT / "dev" / "mutants.py")
assert _SPEC is not None and _SPEC.loader is not None
mutants = importlib.util.module_from_spec(_SPEC)
sys.modules["mutants"] = mutants
_SPEC.loader.exec_module(mutants)
ALL = mutants.mutants()


def test_every_bug_has_its_place_and_its_tests() -> None:
    assert [f"{mutant.name}: {complaint}" for mutant in ALL if (complaint := _complaint(mutant))] == []


def _complaint(mutant) -> str:
    """Why it cannot be planted, or what it names that there is not; empty where all is well."""
    try:
        text = (ROOT / mutant.file).read_text()
        if mutant.planted(text) == text:
            return "it changes nothing"
    except (OSError, SystemExit) as problem:
        return str(problem)
    if not mutant.is_rust:
        return "" if mutant.tests and all((ROOT / name).is_file() for name in mutant.tests) else f"no such test: {mutant.tests}"
    if mutant.tests[0] != "--package":
        return f"its tests are those of a package: {mutant.tests}"
    folder = ROOT / "crates" / mutant.tests[1].removeprefix("plimsoll-") / "tests"
    programs = [name for option, name in zip(mutant.tests, mutant.tests[1:], strict=False) if option == "--test"]
    there = all((folder / f"{name}.rs").is_file() or (folder / name / "main.rs").is_file() for name in programs)
    return "" if there else f"no such program: {programs}"


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"file": "gone.py"}, "No such file"),
        ({"old": "never there"}, "occurs 0 times"),
        ({"new": "def planted"}, "it changes nothing"),
        ({"tests": ()}, "no such test"),
        ({"tests": ("tests/test_gone.py",)}, "no such test"),
        (
            {"file": "crates/array/src/lib.rs", "old": "mod notation;", "tests": ("--package", "plimsoll-array", "--test", "gone")},
            "no such program",
        ),
        ({"file": "crates/array/src/lib.rs", "old": "mod notation;", "tests": ("--test", "all")}, "of a package"),
    ],
)
def test_a_bug_without_its_place_or_its_tests_is_complained_of(changes, complaint) -> None:
    sound = mutants.Mutant("odd", "dev/mutants.py", "def planted", "def sown", ("tests/test_mutants.py",))
    assert _complaint(sound) == ""
    assert complaint in _complaint(replace(sound, **changes))


def test_each_bug_has_a_name_of_its_own() -> None:
    assert len(ALL) >= 28
    assert len({mutant.name for mutant in ALL}) == len({(mutant.file, mutant.old, mutant.new) for mutant in ALL}) == len(ALL)


def test_an_old_text_that_is_gone_is_named() -> None:
    with pytest.raises(SystemExit, match=r"mutants\.toml: odd: the old text occurs 0 times in a\.py; it must occur once\."):
        mutants.Mutant("odd", "a.py", "x", "y", ()).planted("z")


def test_a_test_that_fails_without_the_bug_as_well_has_caught_nothing(tmp_path: Path) -> None:
    asked: list[str] = []

    class Clean(mutants.Tree):
        def pytest(self, words) -> list[str]:
            asked.extend(word for word in words if "::" in word)
            return ["tests/test_a.py::test_shaky[a"]

    def verdict(by: str):
        return mutants.Verdict(mutants.Mutant("odd", "a.py", "x", "y", ("tests/test_a.py",)), by, 1.0)

    verdicts = [verdict("tests/test_a.py::test_shaky[a b]"), verdict("tests/test_a.py::test_sound[1]"), verdict("")]
    assert mutants.failing_without(verdicts, Clean(tmp_path)) == {"tests/test_a.py::test_shaky"}
    assert asked == ["tests/test_a.py::test_shaky", "tests/test_a.py::test_sound"]
