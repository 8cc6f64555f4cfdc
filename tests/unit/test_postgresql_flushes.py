"""Whose times of PostgreSQL's flushes are told: the kernel's of each where it saw as many as the server counted, else the server's sum."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

import pytest

pytest.importorskip("psycopg", reason="skipped: psycopg is not installed")

from plimsoll.apps.order_entry import postgresql_store
from plimsoll.apps.order_entry.postgresql_store import PostgresqlWatch


class Seen:
    """What `FlushTimes` would have."""

    def __init__(self, took_ns: Sequence[int], *, is_whole: bool = True) -> None:
        self.took_ns = took_ns
        self.is_whole = is_whole


def flushes(
    monkeypatch: pytest.MonkeyPatch, seen: Seen | None, count: float, sum_ms: float = 0.0, seconds: float = 100.0
) -> dict[str, float]:
    readings: Iterator[dict[str, float]] = iter(
        [{"wal_sync": 5.0, "wal_sync_time_ms": 0.0}, {"wal_sync": 5.0 + count, "wal_sync_time_ms": sum_ms}]
    )
    watch = PostgresqlWatch(cast("Any", None))
    monkeypatch.setattr(postgresql_store, "first_process", lambda _session: None)
    clock = iter([7.0, 7.0 + seconds])
    monkeypatch.setattr(watch, "_now", lambda: (next(clock), next(readings)))
    watch.begin()
    watch.end()
    watch._flushes = cast("Any", seen)
    return watch.watched().flush


TIMES = [1_000_000] * 99 + [50_000_000]


def test_the_kernels_times_have_percentiles(monkeypatch: pytest.MonkeyPatch) -> None:
    found = flushes(monkeypatch, Seen(TIMES), 104, sum_ms=104.0)
    assert found["count"] == 100
    assert found["mean"] == pytest.approx(1.49e6, rel=0.01)
    assert [found[name] for name in ("p50", "p90", "p99")] == [pytest.approx(1e6, rel=0.01)] * 3
    assert found["max"] == pytest.approx(50e6, rel=0.01)


@pytest.mark.parametrize("seen", [None, Seen([]), Seen(TIMES, is_whole=False), Seen(TIMES[:80]), Seen([*TIMES, *TIMES])])
def test_the_servers_sum_is_told_where_the_kernel_saw_none_or_other_flushes(monkeypatch: pytest.MonkeyPatch, seen: Seen | None) -> None:
    assert flushes(monkeypatch, seen, 100, sum_ms=200.0) == {"count": 100, "mean": 2e6}
    # Without track_wal_io_timing the server takes no time.
    assert flushes(monkeypatch, seen, 100) == {}


def test_in_a_short_time_the_server_may_not_have_been_handed_all_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    assert flushes(monkeypatch, Seen(TIMES), 75, seconds=3.0)["count"] == 100
    assert flushes(monkeypatch, Seen(TIMES), 75, sum_ms=75.0, seconds=30.0) == {"count": 75, "mean": 1e6}


def test_a_server_that_counted_nothing_tells_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert flushes(monkeypatch, Seen(TIMES), 0) == {}
