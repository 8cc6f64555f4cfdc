"""What ``plimsoll show array:NAME`` and ``plimsoll list --arrays`` print: what bounds is named, and lines fit the terminal."""

from __future__ import annotations

from copy import deepcopy
from functools import cache
from pathlib import Path

import pytest

from plimsoll.catalog.arrays import array_names, families
from plimsoll.cli.program import main
from plimsoll.engine.block import NativeEngine, native
from plimsoll.stored import Json
from plimsoll.target import Target

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


@cache
def _described(target: Target, simulate: bool) -> Json:
    found: Json = DESCRIBE(native(), target, simulate=simulate)
    return found


DESCRIBE = NativeEngine.describe_array


@pytest.fixture(autouse=True)
def described_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What an array is takes a second to simulate, however wide the terminal."""

    def describe(_: NativeEngine, target: Target, *, simulate: bool = False) -> Json:
        return deepcopy(_described(target, simulate))

    monkeypatch.setattr(NativeEngine, "describe_array", describe)


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
    # A rate that only follows from that of a link is an upper bound, and is called one.
    assert found[3] == "limited by the link array-maximum, at most 1,153 MB/s (link arithmetic); simulated by the link array-maximum"


def test_a_data_path_of_a_controller_is_told_or_said_not_to_be_known(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    known, unknown = (" ".join(" ".join(shown(capsys, "show", f"array:{name}")).split()) for name in ("se6920-raid5", "msa2040"))
    assert ", data path of 108 MB/s" in known and "data path not known" not in known
    assert ", data path not known" in unknown
    written = " ".join(" ".join(shown(capsys, "show", "array:trimode-9670w-raid10-4")).split())
    assert ", writes pass raid-memory (30,400 MB/s, half duplex)" in written


def test_arrays_whose_sequential_rate_is_link_arithmetic_say_so_in_the_list(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    lines = [" ".join(line.split()) for line in shown(capsys, "list", "--arrays")]
    assert "sequential nvme reads at most 3,346 MB/s (link arithmetic)" in lines
    assert not any(line.startswith("sequential nearline") for line in lines), "its disks limit it"


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
        assert {f"array:{family.pattern}" for family in families() if family.axes} <= set(lines)
        # First a line for each family, those of today before all others.
        begins = [line.split()[0] for line in lines if line.startswith("array:") and len(line.split()) > 2]
        assert sorted(begins) == [f"array:{family.name}" for family in families()]
        today = [f"array:{family.name}" for family in families() if "today" in family.tags()]
        assert begins[: len(today)] == today


def test_a_choice_is_shown_although_nobody_says_where_it_comes_from(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    (tmp_path / "two.toml").write_text(TWO_KINDS)
    lines = [line.split() for line in shown(capsys, "show", f"array:{tmp_path}/two.toml")]
    # Of an array of one's own, numbers were shown and the level was not.
    assert lines.count(["level", "raid10", "not", "said"]) == 2
    assert not any(line[:1] == ["controller"] for line in lines)
