"""Several hosts as clients of one PostgreSQL server: filled once, checked once, exact sums, seeds of their own. Workers here, no Ray."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from support.gang import Gang

pytestmark = pytest.mark.usefixtures("postgresql", "held")
SMALL = ("--set", "warehouses=1", "--set", "customers=10", "--set", "items=100", "--set", "terminals=2", "-d", "500ms", "--warmup", "100ms")


def host_points(gang: Gang) -> list[Any]:
    return [json.loads(path.read_text()) for path in sorted(gang.results.glob("*/hosts/*/points/*/result.json"))]


def test_terminals_of_several_hosts_work_at_a_server_that_this_host_starts_once(place: Path) -> None:
    gang = Gang(place)
    words = ("run", "order-entry", "--hosts", "local:2", "--target", "postgresql:new:./pg", *SMALL, "--set", "rate=40.001", "-q")
    done = gang.run(*words)
    assert done.returncode == 0, done.stderr
    point, own = gang.point(), host_points(gang)
    assert [host["status"] for host in point["hosts"]] == ["complete"] * 2
    section, sections = point["engine"]["orders"], [one["engine"]["orders"] for one in own]
    committed: Counter[str] = Counter()
    for one in sections:
        committed.update(one["committed"])
    assert section["committed"] == dict(committed)
    assert committed.total() > 0
    for op, total in point["totals"].items():
        assert total["count"] == sum(one["totals"][op]["count"] for one in own if op in one["totals"])
    rates = [one["job"]["definition"]["stream"][0]["rate"] for one in own]
    assert sum(Fraction(str(rate)) for rate in rates) == Fraction("40.001")
    assert len({one["job"]["seed"] for one in own}) == 2
    # Checked once for all, when both had ended, and by nobody before.
    assert (section["consistent"], [one["consistent"] for one in sections]) == (True, [None, None])
    assert section["orders_before"] == 10 * 10, "filled once"
    assert section["wal_bytes"] > 0, "what the server counted stands in the sum"
    assert [one["wal_bytes"] for one in sections] == [None, None], "and once"
    assert section["terminals"] == 4
    assert "The server that all hosts ask" in point["cache"]["how"]
    assert not (place / "pg").exists(), "what was made is removed"
