"""Options that a modelled target or ``null:`` does not take are refused where they were typed, and told where a file sets them."""

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


@pytest.mark.parametrize("target", ["null:", "queue:?service=const:1ms"])
@pytest.mark.parametrize(
    ("words", "because"),
    [
        (["--size", "8GiB"], "--size 8GiB has no effect on {}: its size is part of its name, as in '{kind}:?size=8GiB'; leave it out."),
        (["-s", "size=8GiB"], "--set size=8GiB has no effect on {}: its size is part of its name"),
        (["--cache", "cold"], "--cache cold has no effect on {}: it has no cache; leave it out."),
        (
            ["--cache", "warm"],
            "--cache warm has no effect on {}: it has no cache; --warmup says how long the load runs before it is measured",
        ),
        (["--keep"], "--keep has no effect on {}: nothing of it is kept"),
        (["-s", "direct=false"], "--set direct=false has no effect on {}: it has no page cache"),
        (["-s", "dsync=true"], "--set dsync=true has no effect on {}: its writes complete alike with and without O_DSYNC"),
        (["-s", "polled=true"], "--set polled=true has no effect on {}: it is no device that could be polled"),
    ],
    ids=str,
)
def test_what_has_no_effect_without_storage_is_refused(
    here: Path, capsys: pytest.CaptureFixture[str], target: str, words: list[str], because: str
) -> None:
    """They were ignored without a word."""
    assert main(["run", "small.toml", "-t", target, *words, *QUICK]) == 2
    named = f"'{target}'" if target == "null:" else target
    assert because.format(named, kind=target.partition(":")[0]) in capsys.readouterr().err
    assert not (here / "results").exists()


@pytest.mark.parametrize("target", ["array:nvme", "queue:?service=const:1ms"])
@pytest.mark.parametrize(
    ("setting", "because"),
    [
        ("dsync=true", "its writes complete alike with and without O_DSYNC"),
        ("polled=true", "it is no device that could be polled"),
        ("memory=pages", "it moves no data"),
        ("workers=2", "it runs in virtual time, in one thread"),
        ("content=zeros", "what is written does not change how it answers"),
        ("pattern=0xff", "what is written does not change how it answers"),
        ("compress_ratio=2", "what is written does not change how it answers"),
        ("duplicate_ratio=2", "what is written does not change how it answers"),
    ],
)
def test_what_has_no_effect_in_virtual_time_is_refused(
    here: Path, capsys: pytest.CaptureFixture[str], target: str, setting: str, because: str
) -> None:
    """They were ignored without a word."""
    words = ["-s", "write_percent=100", "-s", setting]
    assert main(["run", "small.toml", "-t", target, *words, *QUICK]) == 2
    assert f"has no effect on {target}: {because}; leave it out." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("null:", ["-s", "compress_ratio=2", "-s", "write_percent=100", "-s", "workers=2", "-s", "memory=pages"]),
        ("null:", ["--cache", "as found", "-s", "direct=true", "-s", "dsync=false", "-s", "polled=false"]),
        ("queue:?size=1MiB", ["-s", "memory=arena", "-s", "content=stamps", "-s", "write_percent=100", "-s", "workers=1"]),
    ],
    ids=str,
)
def test_what_has_an_effect_or_agrees_is_taken_without_a_word(
    here: Path, capsys: pytest.CaptureFixture[str], target: str, words: list[str]
) -> None:
    assert main(["run", "small.toml", "-t", target, *words, *QUICK]) == 0
    assert "no effect" not in capsys.readouterr().err


def test_beside_storage_an_option_is_told_of_what_is_none(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    targets = ["-t", "null:", "-t", "array:nvme", "-t", "null:?size=1TiB", "-t", "disk.dat"]
    assert main(["run", "small.toml", *targets, "--size", "1MiB", *QUICK]) == 0
    told = [line for line in capsys.readouterr().err.splitlines() if "no effect" in line]
    assert [line.split(";")[0] for line in told] == [
        "--size 1MiB has no effect on 'null:', null:?size=1TiB: its size is part of its name, as in 'null:?size=1MiB'.",
        "--size 1MiB has no effect on array:nvme: its volumes have the size that the array's file gives them (volumes.size_bytes)",
    ]


def test_the_other_way_through_the_host_is_named_as_it_is_typed(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "small.toml", "-t", "array:dl580-local", "-s", "direct=true", *QUICK]) == 2
    assert "as in 'array:dl580-local?host.mode=direct'; leave it out." in capsys.readouterr().err
    assert main(["run", "small.toml", "-t", "array:dl580-local?host.mode=direct", "-s", "direct=true", *QUICK]) == 0


@pytest.mark.parametrize("words", [["--cache", "warm"], ["--cache", "as found"], ["-s", "direct=true"]], ids=" ".join)
def test_what_agrees_with_the_array_is_taken_without_a_word(here: Path, capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    assert main(["run", "small.toml", "-t", "array:nvme", *words, *QUICK]) == 0
    assert "no effect" not in capsys.readouterr().err


def test_beside_a_target_that_takes_it_an_option_is_told(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "small.toml", "-t", "array:nvme", "-t", "disk.dat", "--size", "64KiB", "--keep", *QUICK]) == 0
    told = [line for line in capsys.readouterr().err.splitlines() if "no effect" in line]
    assert told[-1] == "--keep has no effect on array:nvme: nothing of a modelled array is kept, it begins anew with every point."


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
