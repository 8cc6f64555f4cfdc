"""The judge of the long suite catches a Plimsoll that lies: false or missing words, codes and records are complaints."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from long.fault_mount import Injection
from long.test_faults import LOADS
from long.trial import Outcome, Plan
from long.wanted import judge

LOST = Injection(1, 0, 1, "lost", "write", "a.dat", 8192, 4096, ((8192, 12288),), seen=True)
UNREAD = replace(LOST, number=2, offset=40960, wrong=((40960, 45056),), seen=False)
EIO = replace(LOST, fault="eio", wrong=(), seen=False)
LATE = replace(EIO, fault="stall")
_FAULTS = ("lost", "torn", "stale", "misdirected", "corrupt")


def point(**changes: Any) -> dict[str, Any]:
    latency = {"latency_ns": {"max": 2_000_000}}
    return {"status": "complete", "error": None, "errors": {}, "flags": [], "engine": {}, "totals": {"read": latency}} | changes


def wrong(*addresses: int, fault: str = "lost", **changes: Any) -> dict[str, Any]:
    """A point that names faults at addresses."""
    counts = {name: {"findings": len(addresses) if name == fault else 0} for name in _FAULTS}
    examples = [{"fault": fault, "address": address, "len": 4096} for address in addresses]
    flags = [{"name": "wrong_data"}]
    return point(status="failed", error="wrong data was read", flags=flags, engine={"verify": counts | {"examples": examples}}) | changes


def outcome(load: str, fault: str, injections: list[Injection], **changes: Any) -> Outcome:
    keys = {"ms": 1500} if fault == "stall" else {}
    return replace(Outcome(LOADS[load], Plan(fault, keys), 0, "", [point()], "<html>", injections), **changes)


HONEST = outcome("verified", "lost", [LOST, UNREAD], code=6, said="lost at byte 8,192", results=[wrong(8192)], page="wrong_data")
FAILED = point(status="failed", error="read at byte 0 failed with EIO", errors={"read": {"EIO": 1}}, flags=[{"name": "io_errors"}])
REFUSED = outcome("plain", "eio", [EIO], code=4, said="failed with EIO", results=[FAILED], page="EIO")
HELD = "  open on /mnt/a.dat: held"


def test_who_tells_the_truth_is_not_complained_of() -> None:
    for honest in (HONEST, REFUSED, outcome("plain", "lost", [LOST])):
        assert judge(honest).complaints == []
    assert [judge(honest).named for honest in (HONEST, REFUSED, outcome("plain", "lost", [LOST]))] == [True, True, None]


@pytest.mark.parametrize(
    ("lie", "complaint"),
    [
        (replace(HONEST, code=0), "exit code 0, not 6"),
        (replace(HONEST, said=""), "nobody said it"),
        (replace(HONEST, page="<html>"), "the report does not name it"),
        (replace(HONEST, results=[wrong(8192, status="complete")]), "the point is complete"),
        (replace(HONEST, results=[wrong(8192, flags=[])]), "no flag says so"),
        (replace(HONEST, results=[wrong()]), "read and not named"),
        (replace(HONEST, injections=[LOST, replace(UNREAD, seen=True)]), "read and not named"),
        (replace(HONEST, results=[wrong(8192, 1 << 20)]), "where nothing was injected"),
        (replace(HONEST, results=[wrong(8192, fault="misdirected")]), "misdirected where it was lost"),
        (replace(HONEST, said=HONEST.said + "\n" + HELD), "an objective is held"),
        (replace(HONEST, results=[]), "0 points in the store"),
        (replace(HONEST, page=""), "no report"),
        (replace(HONEST, said="Traceback (most recent call last):\nlost at byte"), "a traceback"),
        (replace(REFUSED, code=0), "exit code 0, not 4"),
        (replace(REFUSED, code=1), "exit code 1, not 4"),
        (replace(REFUSED, said="failed"), "nobody said EIO"),
        (replace(REFUSED, results=[point()]), "no error is counted"),
        (replace(REFUSED, results=[FAILED | {"error": "it failed"}]), "the error is 'it failed'"),
        (replace(REFUSED, said=REFUSED.said + "\n" + HELD), "an objective is held"),
        (outcome("plain", "lost", [LOST], results=[wrong(8192)]), "wrong data is named where nothing was verified"),
        (outcome("plain", "reordered", [], code=4), "exit code 4, not 0"),
        (outcome("plain", "stall", [LATE]), "the slowest took 2.0 ms"),
        (outcome("open", "stall", [LATE], said=HELD), "the objective is held"),
        (outcome("open", "hang", [LATE], code=0, said="no answer from /mnt/a.dat"), "exit code 0 of an objective that cannot hold"),
        (outcome("plain", "hang", [LATE]), "nobody said that there was no answer"),
    ],
)  # fmt: skip
def test_a_lie_is_caught(lie: Outcome, complaint: str) -> None:
    assert any(complaint in found for found in judge(lie).complaints), judge(lie).complaints


@pytest.mark.parametrize(("kind", "believed"), [("unstamped", True), ("stamp", False)])
def test_old_data_is_corrupt_only_where_it_is_older_than_the_run(kind: str, believed: bool) -> None:
    result = wrong(8192, fault="corrupt")
    result["engine"]["verify"]["examples"][0]["found"] = {"kind": kind}
    stale = replace(
        HONEST, plan=Plan("stale", {}), injections=[replace(LOST, fault="stale")], results=[result], said="corrupt at byte 8,192"
    )
    assert bool(judge(stale).complaints) is not believed


def test_an_address_that_no_example_has_room_for_is_no_lie() -> None:
    many = [replace(LOST, number=at, offset=at * 8192, wrong=((at * 8192, at * 8192 + 4096),)) for at in range(1, 12)]
    result = wrong(*(injection.offset for injection in many[:8]))
    result["engine"]["verify"]["lost"]["findings"] = 11
    assert judge(replace(HONEST, injections=many, results=[result])).complaints == []
