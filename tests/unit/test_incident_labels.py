"""Failures and rebuilds as labelled lines in time charts."""

from __future__ import annotations

import pytest

from plimsoll.reports.limits import incident_labels


@pytest.mark.parametrize(
    ("told", "labels"),
    [
        ("", []),
        (
            "30.000 s: member 0 of group vd0 failed; 30.000 s: member 0 of group vd0 replaced by a spare; "
            "95.500 s: member 0 of group vd0 rebuilt",
            [(30.0, "member 0 failed, rebuild begins"), (95.5, "member 0 rebuilt")],
        ),
        (
            "1.000 s: member 0 of group vd0 failed; 1.000 s: member 3 of group vd1 failed; 9.000 s: member 3 of group vd1 replaced by a new drive",
            [(1.0, "member 0 of vd0 failed; member 3 of vd1 failed"), (9.0, "member 3 of vd1 has a new drive, rebuild begins")],
        ),
        (
            "2.000 s: member 1 of group vd given a new spare; 3.000 s: member 1 of group vd cannot be rebuilt",
            [(2.0, "member 1 has a new spare"), (3.0, "member 1 cannot be rebuilt")],
        ),
        (
            "2.000 s: member 1 of group vd given a new drive; 3.000 s: member 1 of group vd rebuilt; "
            "3.000 s: member 1 of group vd copying back to a new drive; 9.000 s: member 1 of group vd copied back",
            [
                (2.0, "member 1 has a new drive"),
                (3.0, "member 1 rebuilt, copying back"),
                (9.0, "member 1 copied back"),
            ],
        ),
    ],
)
def test_what_happened_at_one_instant_is_one_line(told: str, labels: list[tuple[float, str]]) -> None:
    found = incident_labels({"engine": {"facts": {"incidents": told}}})
    assert [(one["time_s"], one["label"]) for one in found] == labels


def test_a_real_target_has_none() -> None:
    assert incident_labels({"backend": {"used": "io_uring"}}) == []
