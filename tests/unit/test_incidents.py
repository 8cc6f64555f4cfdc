"""What happened to members of a modelled array, read from the engine's line."""

from __future__ import annotations

from typing import Any

from plimsoll.analysis.point.array import Rebuild, copies_s, copying, incidents, lost, rebuilds


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


def test_copying_back_begins_when_the_spare_holds_everything_and_is_no_rebuild() -> None:
    told = engine(
        "1.000 s: member 0 of group a failed",
        "1.000 s: member 0 of group a replaced by a spare",
        "9.000 s: member 0 of group a given a new drive",
        "50.000 s: member 0 of group a rebuilt",
        "50.000 s: member 0 of group a copying back to a new drive",
        "80.000 s: member 0 of group a copied back",
    )
    assert len(incidents(told)) == 6
    assert rebuilds(told) == [Rebuild("a", 0, 1.0, 50.0), Rebuild("a", 0, 50.0, 80.0, copied=True)]
    assert lost(told) is None


def test_how_long_copying_back_took_and_how_far_it_came_stand_in_the_facts() -> None:
    facts = {"copy_back_s": "30.000, 4.500", "copying_back": "12.0 % of member 1 of group a"}
    assert copies_s({"engine": {"facts": facts}}) == [30.0, 4.5]
    assert copying({"engine": {"facts": facts}}) == "12.0 % of member 1 of group a"
    assert (copies_s({}), copying({})) == ([], "")
