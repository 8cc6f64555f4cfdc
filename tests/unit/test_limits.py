"""What is said of the limits of modelled arrays."""

from __future__ import annotations

from dataclasses import replace

import pytest

from plimsoll.analysis.point.array import ComponentSet, copies_s, rebuilds_s
from plimsoll.reports.limits import configuration_words, incident_words, limit_words
from support.made_results import Load, made

DISK, NONE = "limited by the disks", "no bottleneck"
LINK = "limited by the link hba, at most 3,200 MB/s (link arithmetic)"


def component_set(name: str, kind: str, busy: float = 0.97, count: int = 1) -> ComponentSet:
    return ComponentSet(name, kind, count, busy, busy, operations_per_s=1.0, bytes_per_s=busy * 3.2e9, queue=1.0)


@pytest.mark.parametrize(
    ("sets", "words"),
    [
        ([], ""),
        ([component_set("disk", "disk", 0.5, 8)], NONE),
        ([component_set("disk", "disk", count=8)], DISK),
        ([component_set("disk", "disk")], "limited by the disk"),
        ([component_set("front", "disk", count=12)], "limited by the disks front"),
        ([component_set("rear", "disk", count=12), component_set("front", "disk", 0.95, 12)], "limited by the disks front and rear"),
        ([component_set(f"a{shelf}", "disk", 0.99 - shelf / 100, 12) for shelf in (3, 1, 0, 2)], "limited by the disks a0, a1 and 2 more"),
        ([component_set("nvme", "flash")], "limited by the flash drive nvme"),
        ([component_set("nvme", "flash", count=4)], "limited by the flash drives nvme"),
        ([component_set("hba", "link")], LINK),
        ([component_set("shelf-phy", "link", count=10)], "limited by the links shelf-phy, at most 3,200 MB/s (link arithmetic)"),
        ([component_set("raid.cpu", "cpu")], "limited by the processor of controller raid"),
        ([component_set("a.cpu", "cpu"), component_set("b.cpu", "cpu", 0.95)], "limited by the processors of controllers a and b"),
        ([component_set("host", "host"), component_set("disk", "disk", 0.95)], "limited by the processor of the host"),
    ],
)
def test_what_limits_is_named_with_what_it_is(sets: list[ComponentSet], words: str) -> None:
    # "limited by disk" and "limited by a" told an administrator little; several alike were told as one.
    assert limit_words(sets) == words


@pytest.mark.parametrize(
    ("limits", "sentence"),
    [
        ([DISK], "a (modelled): limited by the disks."),
        ([DISK, DISK], "a (modelled): limited by the disks in all 2 measurements."),
        ([NONE, NONE], "a (modelled): no bottleneck in any of the 2 measurements."),
        (
            [LINK, DISK, DISK],
            "a (modelled): limited by the disks in 2 of 3 measurements, limited by the link hba (link arithmetic) in 1.",
        ),
        # Points of other sizes carry other figures over the same link.
        ([LINK, LINK.replace("3,200", "31.5")], "a (modelled): limited by the link hba (link arithmetic) in all 2 measurements."),
        ([NONE, DISK, NONE], "a (modelled): limited by the disks in 1 of 3 measurements; the other 2 had no bottleneck."),
    ],
)
def test_a_configuration_is_limited_by_what_limits_its_points(limits: list[str], sentence: str) -> None:
    assert configuration_words("a", limits) == sentence


@pytest.mark.parametrize(
    ("facts", "ending"),
    [
        ({}, ""),
        ({"rebuild_s": "412.731"}, "; the rebuild took 412.731 s"),
        ({"rebuild_s": "412.731, 3.500"}, "; the rebuilds took 412.731 s, 3.500 s"),
        ({"rebuilding": "23.4 % of member 0 of group vd0"}, "; rebuilt when the run ended: 23.4 % of member 0 of group vd0"),
        (
            {"rebuild_s": "3.500", "rebuilding": "1.0 % of member 1 of group g"},
            "; the rebuild took 3.500 s; rebuilt when the run ended: 1.0 % of member 1 of group g",
        ),
        ({"copying_back": "7.0 % of member 1 of group g"}, "; copied back when the run ended: 7.0 % of member 1 of group g"),
        ({"rebuild_s": "3.500", "copy_back_s": "4.000, 5.000"}, "; the rebuild took 3.500 s; copying back took 4.000 s, 5.000 s"),
    ],
)
def test_failures_are_told_with_the_length_of_their_rebuilds(facts: dict[str, str], ending: str) -> None:
    result = replace(made(Load(1000, 1e6)), engine={"engine": {"facts": {"incidents": "1.000 s: gone", **facts}}})
    assert incident_words(result) == f"1.000 s: gone (modelled, seconds from the beginning of the warm-up){ending}"
    assert len(rebuilds_s(result.engine)) + len(copies_s(result.engine)) == ending.count(" s")


def test_nothing_is_told_where_nothing_failed() -> None:
    assert incident_words(made(Load(1000, 1e6))) == ""
