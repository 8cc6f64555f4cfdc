"""Several hosts as clients of one PostgreSQL server: one of the user's with a password, and streams of decision support. No Ray."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from plimsoll.engine.claims import holding
from support.gang import Gang
from support.private_server import missing_server, private_server, server_url
from support.reachable import reachable_place

SMALL = ("--set", "warehouses=1", "--set", "customers=10", "--set", "items=100", "--set", "terminals=2", "-d", "500ms", "--warmup", "100ms")
CANARY = "canary-51ce"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty directory that the server's user reaches."""
    if reason := missing_server():
        pytest.skip(reason)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with reachable_place() as made, holding():
        yield made


def host_points(gang: Gang) -> list[Any]:
    return [json.loads(path.read_text()) for path in sorted(gang.results.glob("*/hosts/*/points/*/result.json"))]


def test_hosts_reach_a_server_of_the_user_s_with_a_password_that_is_stored_nowhere(place: Path) -> None:
    server = private_server(place / "theirs")
    server.start()
    try:
        with psycopg.connect(**server.connection, autocommit=True) as connection:
            connection.execute(f"CREATE ROLE me LOGIN PASSWORD '{CANARY}'")
            connection.execute("GRANT CREATE ON DATABASE postgres TO me")
            hba = Path(server.data) / "pg_hba.conf"
            hba.write_text("local all me scram-sha-256\n" + hba.read_text())
            connection.execute("SELECT pg_reload_conf()")
        url = server_url(server.connection, "me", password=CANARY)
        gang = Gang(place)
        done = gang.run("run", "order-entry", "--hosts", "local:2", "--target", url, *SMALL, "--over", "hosts=1,2", "-q")
        assert done.returncode == 0, done.stderr
        points = [json.loads(path.read_text()) for path in sorted(gang.results.glob("*/points/*/result.json"))]
        assert [len(point["hosts"]) for point in points] == [1, 2]
        assert [point["engine"]["orders"]["consistent"] for point in points] == [True, True]
        assert points[1]["engine"]["orders"]["orders_before"] > 100, "the next point goes on with the same tables"
        stored = [path for folder in (gang.results, gang.state) for path in folder.rglob("*") if path.is_file()]
        assert stored
        assert not [path for path in stored if CANARY.encode() in path.read_bytes()]
        with psycopg.connect(**server.connection) as connection:
            assert connection.execute("SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'plimsoll%'").fetchone() == (0,)
    finally:
        server.stop(discarding=True)


def test_streams_of_several_hosts_are_numbered_on_and_have_one_metric(place: Path) -> None:
    gang = Gang(place)
    words = ("--set", "scale=0.01", "--set", "streams=1", "--set", "queries=1,6", "-q")
    done = gang.run("run", "decision-support", "--hosts", "local:2", "--target", "postgresql:new:./pg", *words)
    assert done.returncode == 0, done.stderr
    point, own = gang.point(), host_points(gang)
    decision = point["engine"]["decision"]
    assert (decision["streams"], decision["whole"]) == (2, True)
    assert sorted((one["stream"], one["number"]) for one in decision["queries"]) == [(1, 1), (1, 6), (2, 1), (2, 6)]
    assert len(decision["refreshes"]) == 4, "a pair for each stream, from one host"
    assert [len(one["engine"]["decision"]["refreshes"]) for one in own] == [4, 0]
    records = [*decision["queries"], *decision["refreshes"]]
    elapsed_s = (max(one["end_ns"] for one in records) - min(one["start_ns"] for one in records)) / 1e9
    assert decision["metrics"]["throughput"] == pytest.approx(4 * 3600 / elapsed_s * 0.01)
    assert point["totals"]["q1"]["count"] == 2
