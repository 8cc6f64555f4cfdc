"""What ``plimsoll show array:NAME`` and ``plimsoll list --arrays`` print: what bounds is named, and lines fit the terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.catalog.arrays import array_names, families
from plimsoll.cli.program import main

TWO_KINDS = """
name = "two"
controller = [{ name = "raid", part = "smart-array-p600" }]
devices = [
    { name = "disk", count = 4, model = { part = "nearline-16t" } },
    { name = "quick", count = 4, model = { part = "savvio-15k2-146g" } },
]
group = [
    { name = "slow-group", controller = "raid", members = ["disk"], raid = { level = "raid10", devices = 4 } },
    { name = "quick-group", controller = "raid", members = ["quick"], raid = { level = "raid10", devices = 4 } },
]
volumes = [{ name = "lun", groups = ["slow-group", "quick-group"] }]
"""


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    assert main(arguments) == 0
    return capsys.readouterr().out.splitlines()


def limits(lines: list[str]) -> list[str]:
    return [line.strip() for line in lines if line.startswith("  limited by ")]


def test_of_several_kinds_of_disk_the_one_that_bounds_is_named_with_its_group(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    (tmp_path / "two.toml").write_text(TWO_KINDS)
    found = limits(shown(capsys, "show", f"array:{tmp_path}/two.toml"))
    # "the disk" was said, though there are two kinds.
    assert found[0].startswith("limited by the disks disk (group slow-group); simulated by the disks disk")


def test_sets_that_bound_alike_are_named_together(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    # 24 and 25 drives, of which one is a spare that no request reaches: "the disk front" was said.
    monkeypatch.setenv("COLUMNS", "200")
    found = limits(shown(capsys, "show", "array:msa2000-raid5"))
    assert found[0] == "limited by the disks front and rear; simulated by the disks front and rear"
    assert found[3] == "limited by the link array-maximum; simulated by the link array-maximum"


def test_the_only_disks_of_an_array_need_no_name(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert limits(shown(capsys, "show", "array:msa50-sas-10k-raid5-8"))[0].startswith("limited by the disks; ")


@pytest.mark.parametrize("name", ["dl585-tpch", "msa2000x4-raid5-2hosts", "nvme", "se6920-raid5"])
@pytest.mark.parametrize("width", [80, 100])
def test_what_is_shown_of_an_array_fits_the_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    lines = shown(capsys, "show", f"array:{name}")
    assert max(map(len, lines)) <= width
    assert name in array_names()


def test_the_list_of_arrays_fits_the_terminal_and_120_columns_where_there_is_none(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for columns, width in (("80", 80), (None, 120)):
        monkeypatch.setenv("COLUMNS", columns) if columns else monkeypatch.delenv("COLUMNS")
        lines = shown(capsys, "list", "--arrays")
        assert max(map(len, lines)) <= width
        assert {f"array:{family.pattern}" for family in families()} <= set(lines)


def test_a_choice_is_shown_although_nobody_says_where_it_comes_from(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    (tmp_path / "two.toml").write_text(TWO_KINDS)
    lines = [line.split() for line in shown(capsys, "show", f"array:{tmp_path}/two.toml")]
    # Of an array of one's own, numbers were shown and the level was not.
    assert lines.count(["level", "raid10", "not", "said"]) == 2
    assert not any(line[:1] == ["controller"] for line in lines)
