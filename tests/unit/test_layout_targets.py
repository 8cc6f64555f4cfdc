"""Layouts as targets: how they are written, what sides are called, where their load goes, and what is judged before one is made."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from plimsoll.cli import completions
from plimsoll.cli.options import check_there
from plimsoll.engine.protocol import Permission
from plimsoll.errors import InputError, SafetyRefusal, TargetError
from plimsoll.experiments.document import read_experiments
from plimsoll.experiments.layout_target import LayoutTarget, layout_target
from plimsoll.experiments.named_target import named_target
from plimsoll.layouts.step import Member
from plimsoll.points import planned_layout as planned_layouts
from plimsoll.points.layouts import Layouts, beside
from plimsoll.points.planned_layout import check_allowed
from plimsoll.target import Target

DISKS = {f"/dev/sd{letter}": Member(f"/dev/sd{letter}", f"sd{letter}", 64 << 30, (f"serial S{letter}",), {}) for letter in "bcde"}
BLOCKS: Any = SimpleNamespace()
FILES: Any = SimpleNamespace(default_target="./plimsoll-tree")
DATABASE: Any = SimpleNamespace(default_target="duckdb:./plimsoll-dss")


@pytest.fixture(autouse=True)
def _disks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Four disks that are there, and no layout made."""
    monkeypatch.setattr(planned_layouts, "members", lambda paths: tuple(DISKS[path] for path in paths))
    monkeypatch.setattr(planned_layouts, "still_there", lambda _member: None)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("layout:raid5-lun", LayoutTarget("raid5-lun")),
        ("layout:mine.toml?on=/dev/sdb,/dev/sdc", LayoutTarget("mine.toml", ("/dev/sdb", "/dev/sdc"))),
        ("layout:x?on=/dev/sdb&at=stripe:{a},{b}?unit=1MiB&", LayoutTarget("x", ("/dev/sdb",), "stripe:{a},{b}?unit=1MiB&")),
        ("layout:x?at={a}/f", LayoutTarget("x", (), "{a}/f")),
        ("/dev/sdb", None),
    ],
)
def test_a_layout_as_target_is_read_as_it_is_written(text: str, read: LayoutTarget | None) -> None:
    assert layout_target(text) == read
    assert read is None or read.text == text


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("layout:", "target 'layout:' names no layout; write for example layout:raid5-lun"),
        ("layout:x?of=/dev/sdb", "target 'layout:x?of=/dev/sdb': 'of=/dev/sdb' is not known; write ?on=/dev/sdb"),
    ],
)
def test_what_is_wrong_in_it_is_one_sentence(text: str, sentence: str) -> None:
    with pytest.raises(InputError) as raised:
        layout_target(text)
    assert str(raised.value).startswith(sentence)


def test_a_side_is_called_like_its_layout_unless_it_has_a_name() -> None:
    assert named_target("layout:shelves/mine.toml?on=/dev/sdb").called == "mine"
    assert named_target("A=layout:raid5-lun").called == "A"


def _configurations(*written: dict[str, Any]) -> list[tuple[str, str]]:
    experiment = {"name": "x", "kind": "single", "workloads": ["oltp-db"], "configurations": list(written)}
    (read,) = read_experiments({"experiment": [experiment]}, "mine.toml").experiments
    return [(one.name, one.target) for one in read.configurations]


def test_configurations_of_a_suite_vary_the_layout() -> None:
    read = _configurations(
        {"layout": "raid5-lun"},
        {"name": "mirrors", "layout": "raid1-lun", "on": ["/dev/sdb", "/dev/sdc"]},
        {"layout": "mine.toml", "target": "{work}/x.dat"},
    )
    assert read == [
        ("raid5-lun", "layout:raid5-lun"),
        ("mirrors", "layout:raid1-lun?on=/dev/sdb,/dev/sdc"),
        ("mine", "layout:mine.toml?at={work}/x.dat"),
    ]
    assert beside(read[2][1], "suites") == "layout:suites/mine.toml?at={work}/x.dat"


def test_layouts_are_completed_behind_their_word() -> None:
    found = [item.value for item in completions.targets(None, None, "layout:raid")]  # type: ignore[arg-type]
    assert found == ["layout:raid1-lun", "layout:raid5-lun"]


def test_a_command_that_looks_at_what_is_there_takes_no_layout() -> None:
    with pytest.raises(InputError, match="'plimsoll check' takes no layout:xfs, which is yet to be made; make it with"):
        check_there("check", ["/dev/sdb", "A=layout:xfs"])
    check_there("check", ["/dev/sdb", "array:nvme"])


def test_devices_without_a_layout_are_refused() -> None:
    with pytest.raises(InputError, match="key 'on' names the devices of a layout, and there is none"):
        _configurations({"name": "a", "on": ["/dev/sdb"]})


@pytest.mark.parametrize(
    ("layout", "at", "driver", "name", "text"),
    [
        ("raid5-lun", "", BLOCKS, None, "/dev/md/plimsoll-raid5-lun"),
        ("md-raid10-xfs", "", BLOCKS, None, "/mnt/plimsoll/md-raid10-xfs/plimsoll-scratch.dat"),
        ("md-raid10-xfs", "", FILES, "files", "/mnt/plimsoll/md-raid10-xfs/plimsoll-tree"),
        ("md-raid10-xfs", "", DATABASE, "decision", "duckdb:/mnt/plimsoll/md-raid10-xfs/plimsoll-dss"),
        ("xfs", "", BLOCKS, None, "concat:" + ",".join(f"/mnt/plimsoll/xfs/sd{letter}/plimsoll-scratch.dat" for letter in "bcde")),
        ("xfs", "{sdc}/tree", FILES, "files", "/mnt/plimsoll/xfs/sdc/tree"),
        ("xfs", "stripe:{volumes}", BLOCKS, None, "stripe:" + ",".join(f"/mnt/plimsoll/xfs/sd{letter}" for letter in "bcde")),
    ],
)
def test_the_load_goes_to_what_the_layout_gives(layout: str, at: str, driver: Any, name: str | None, text: str) -> None:
    target = Layouts(tuple(DISKS)).target(LayoutTarget(layout, (), at).text, driver, name)
    assert (target.text, target.driver, target.layout) == (text, name, LayoutTarget(layout, (), at).text)


@pytest.mark.parametrize(
    ("layout", "at", "driver", "on", "sentence"),
    [
        ("raid5-lun", "", BLOCKS, (), "the layout 'raid5-lun' needs devices to be made of; add --on"),
        ("raid5-lun", "", BLOCKS, ("/dev/sdb",), "layout 'raid5-lun': the layout is made of 4 devices; --on names 1."),
        ("raid5-lun", "", FILES, tuple(DISKS), "layout 'raid5-lun' has no file system, which this workload needs"),
        ("xfs", "", FILES, tuple(DISKS), "layout 'xfs' has several volumes; say which with 'target', for example {sdb}."),
        ("xfs", "{sdx}/a", BLOCKS, tuple(DISKS), "layout 'xfs' has no volume 'sdx'; there are sdb, sdc, sdd, sde, volumes."),
    ],
)
def test_a_layout_that_cannot_carry_the_load_is_one_sentence(layout: str, at: str, driver: Any, on: tuple[str, ...], sentence: str) -> None:
    with pytest.raises(InputError) as raised:
        Layouts(on).target(LayoutTarget(layout, (), at).text, driver, None if driver is BLOCKS else "x")
    assert str(raised.value).startswith(sentence)


def test_two_layouts_of_one_name_do_not_share_their_places() -> None:
    layouts = Layouts(tuple(DISKS))
    first, second = (layouts.target(LayoutTarget("raid5-lun", on).text, BLOCKS, None) for on in ((), tuple(reversed(DISKS))))
    assert (first.text, second.text) == ("/dev/md/plimsoll-raid5-lun", "/dev/md/plimsoll-raid5-lun-2")


class Weighing:
    """An engine that refuses to write to devices unless what it was told names them, and remembers what it was asked."""

    def __init__(self, in_use: str = "") -> None:
        self.in_use = in_use

    def write_refusal(self, target: Target, permission: Permission | None) -> str | None:
        if target.text == self.in_use:
            return f"{target.text} is mounted."
        return None if permission is not None and permission.typed == target.text else f"{target.text} carries data."


def test_every_member_is_judged_by_what_was_typed() -> None:
    layouts = Layouts(tuple(DISKS))
    layouts.target("layout:raid5-lun", BLOCKS, None)
    (layout,), engine = layouts.all(), Weighing()
    check_allowed(layout, engine, ",".join(DISKS), own=set())  # type: ignore[arg-type]
    for typed in (None, "", "/dev/sdb,/dev/sdc,/dev/sdd"):
        with pytest.raises(SafetyRefusal, match="carries data"):
            check_allowed(layout, engine, typed, own=set())  # type: ignore[arg-type]


def test_what_a_run_has_laid_out_itself_needs_no_words_of_its_own_but_may_not_be_in_use() -> None:
    layouts = Layouts(tuple(DISKS))
    layouts.target("layout:raid5-lun", BLOCKS, None)
    (layout,), own = layouts.all(), {member.name for member in DISKS.values()}
    check_allowed(layout, Weighing(), "", own=own)  # type: ignore[arg-type]
    with pytest.raises(SafetyRefusal, match="carries data"):
        check_allowed(layout, Weighing(), None, own=own)  # type: ignore[arg-type]
    with pytest.raises(SafetyRefusal, match="/dev/sdd is mounted"):
        check_allowed(layout, Weighing("/dev/sdd"), "", own=own)  # type: ignore[arg-type]


def test_a_member_that_is_another_device_by_now_stops_the_layout(monkeypatch: pytest.MonkeyPatch) -> None:
    layouts = Layouts(tuple(DISKS))
    layouts.target("layout:raid5-lun", BLOCKS, None)

    def gone(member: Member) -> None:
        raise TargetError(f"{member.path} is another device by now.")

    monkeypatch.setattr(planned_layouts, "still_there", gone)
    with pytest.raises(TargetError, match="is another device by now"):
        check_allowed(layouts.all()[0], Weighing(), ",".join(DISKS), own=set())  # type: ignore[arg-type]
