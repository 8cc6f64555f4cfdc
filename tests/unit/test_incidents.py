"""What happened to members of a modelled array, read from the engine's line."""

from __future__ import annotations

from typing import Any

from plimsoll.analysis.incidents import Rebuild, incidents, lost, rebuilds


def engine(*told: str) -> dict[str, Any]:
    return {"engine": {"facts": {"incidents": "; ".join(told)}}}


def test_a_rebuild_begins_with_a_spare_or_a_new_drive() -> None:
    told = engine(
        "1.000 s: member 0 of group a failed",
        "1.000 s: member 0 of group a replaced by a spare",
        "2.000 s: member 3 of group a failed",
        "38.000 s: member 3 of group a replaced by a new drive",
        "50.000 s: member 3 of group a rebuilt",
    )
    assert [one.what for one in incidents(told)][3:] == ["replaced by a new drive", "rebuilt"]
    assert rebuilds(told) == [Rebuild("a", 0, 1.0, None), Rebuild("a", 3, 38.0, 50.0)]


def test_a_new_spare_does_not_end_the_rebuild_on_the_one_before() -> None:
    told = engine(
        "1.000 s: member 0 of group a failed",
        "1.000 s: member 0 of group a replaced by a spare",
        "37.000 s: member 0 of group a given a new spare",
        "99.000 s: member 0 of group a rebuilt",
    )
    assert len(incidents(told)) == 4
    assert rebuilds(told) == [Rebuild("a", 0, 1.0, 99.0)]
    assert lost(told) is None
