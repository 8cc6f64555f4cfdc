"""What reports and comparisons say of the layouts that were measured."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from plimsoll.reports.layouts import layout_views, layouts_text
from plimsoll.result import Result
from support.made_results import Load, made

FACTS: dict[str, Any] = {
    "name": "lvm-xfs",
    "title": "A stripe",
    "members": ["/dev/sdb (serial S0)", "/dev/sdc (serial S1)"],
    "volumes": [
        {"path": "/mnt/a", "stripe": {"unit_bytes": 65536, "width": 2}},
        {"path": "/mnt/b", "stripe": {"unit_bytes": 65536, "width": 2}},
    ],
    "options": {
        "members": 2,
        "layer": [{"kind": "lvm", "stripe_size": "64KiB", "volumes": [{"name": "a", "size": "50%"}, {"name": "b", "size": "50%"}]}],
        "filesystem": {"type": "xfs"},
        "settings": {"read_ahead": "64KiB"},
    },
    "steps": ["join 2 devices to the volume group plimsoll-lvm-xfs"],
    "remarks": ["Read-ahead of 64 KiB is less than a full stripe of 128 KiB."],
}


def on(facts: dict[str, Any] | None) -> Result:
    result = made(Load(1000.0, 1e6))
    return replace(result, host={"target": {} if facts is None else {"layout": facts}})


def test_each_layout_is_told_once_with_the_sides_on_it() -> None:
    other = {**FACTS, "name": "other"}
    views = layout_views([("A", [on(FACTS), on(FACTS)]), ("B", [on(other)]), ("C", [on(FACTS)]), ("D", [on(None)])])
    assert [(one["name"], one["sides"]) for one in views] == [("lvm-xfs", ["A", "C"]), ("other", ["B"])]
    assert views[0]["stripes"] == ["2 × 64 KiB"]
    assert views[0]["options"] == ["lvm: stripe_size 64KiB, volumes a 50%; b 50%", "filesystem: type xfs", "settings: read_ahead 64KiB"]


def test_members_stripes_options_and_advice_stand_in_the_text() -> None:
    assert layouts_text([("A", [on(FACTS)])]).splitlines() == [
        "layout lvm-xfs (A): A stripe",
        "  on /dev/sdb (serial S0), /dev/sdc (serial S1)",
        "  stripes of 2 × 64 KiB",
        "  lvm: stripe_size 64KiB, volumes a 50%; b 50%",
        "  filesystem: type xfs",
        "  settings: read_ahead 64KiB",
        "  ! Read-ahead of 64 KiB is less than a full stripe of 128 KiB.",
    ]


def test_results_of_earlier_versions_and_of_other_targets_say_what_they_know() -> None:
    earlier = {key: FACTS[key] for key in ("name", "title", "members", "steps", "remarks")}
    (view,) = layout_views([("A", [on(earlier)])])
    assert (view["stripes"], view["options"]) == ([], [])
    assert layouts_text([("A", [on(None)])]) == ""
