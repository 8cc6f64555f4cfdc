"""Options that a modelled array does not take are refused where they were typed, and told where a file sets them."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.cli import main

QUICK = ["-d", "10ms", "-w", "0", "-q"]
EXPERIMENT = """
[[experiment]]
name = "a"
kind = "single"
workloads = ["small.toml"]
cache = "cold"
set = { size = "64MiB", direct = false }
"""


@pytest.mark.parametrize("verb", [["run"], ["steps"], ["suite"]], ids=" ".join)
@pytest.mark.parametrize(
    ("words", "because"),
    [
        (["--size", "8GiB"], "--size 8GiB has no effect on array:nvme: its volumes have the size that the array's file gives them"),
        (["-s", "size=8GiB"], "--set size=8GiB has no effect on array:nvme: its volumes have the size"),
        (["--cache", "cold"], "--cache cold has no effect on array:nvme: a modelled array begins every point with empty caches"),
        (["--keep"], "--keep has no effect on array:nvme: nothing of a modelled array is kept"),
        (["-s", "direct=false"], "--set direct=false has no effect on array:nvme: its host has no page cache; host.mode"),
        (["-s", "main.direct=false"], "--set main.direct=false has no effect on array:nvme"),
    ],
    ids=str,
)
def test_what_was_typed_in_vain_is_refused(
    here: Path, capsys: pytest.CaptureFixture[str], verb: list[str], words: list[str], because: str
) -> None:
    (here / "suite.toml").write_text('[[experiment]]\nname = "a"\nkind = "single"\nworkloads = ["small.toml"]\n')
    assert main([*verb, "suite.toml" if verb == ["suite"] else "small.toml", "-t", "array:nvme", *words, *QUICK]) == 2
    said = capsys.readouterr()
    assert said.err.startswith(f"plimsoll: {because}") and len(said.err.splitlines()) == 1
    assert not (here / "results").exists()


def test_the_other_way_through_the_host_is_named_as_it_is_typed(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "small.toml", "-t", "array:dl580-local", "-s", "direct=true", *QUICK]) == 2
    assert "as in 'array:dl580-local?host.mode=direct'; leave it out." in capsys.readouterr().err
    assert main(["run", "small.toml", "-t", "array:dl580-local?host.mode=direct", "-s", "direct=true", *QUICK]) == 0


@pytest.mark.parametrize("words", [["--cache", "warm"], ["--cache", "as found"], ["-s", "direct=true"]], ids=" ".join)
def test_what_agrees_with_the_array_is_taken_without_a_word(here: Path, capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    assert main(["run", "small.toml", "-t", "array:nvme", *words, *QUICK]) == 0
    assert "no effect" not in capsys.readouterr().err


def test_beside_a_target_that_takes_it_an_option_is_told(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "small.toml", "-t", "array:nvme", "-t", "null:", "--keep", *QUICK]) == 0
    told = [line for line in capsys.readouterr().err.splitlines() if "no effect" in line]
    assert told == ["--keep has no effect on array:nvme: nothing of a modelled array is kept, it begins anew with every point."]


def test_what_a_file_sets_for_real_storage_is_told_and_the_points_are_run(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "suite.toml").write_text(EXPERIMENT)
    assert main(["suite", "suite.toml", "-t", "array:nvme", *QUICK]) == 0
    told = [line for line in capsys.readouterr().err.splitlines() if "no effect" in line]
    assert [line.split(" has ")[0] for line in told] == ["size=64MiB", 'cache="cold"', "direct=false"]
    (here / "small.toml").write_text('[[stream]]\nblock_size = "4KiB"\ndirect = false\n')
    assert main(["run", "small.toml", "-t", "array:nvme", *QUICK]) == 0
    assert capsys.readouterr().err.splitlines()[0].startswith("direct=false has no effect on array:nvme: its host has no page cache")
    assert main(["run", "small.toml", "-t", "array:dl580-local", *QUICK]) == 0
    assert "no effect" not in capsys.readouterr().err
