"""What every engine's queries and tests are stored with: what storage, processors and the engine did on their own time.

check_observed(document["phases"][1:], document["queries"])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from support.made_drivers import SEEN

#: What is null on a host that has no device of the target's to count.
_OF_DEVICES = ("read_request_bytes", "write_request_bytes", "r_await_ms", "w_await_ms", "queue_mean")


def check_observed(phases: Sequence[dict[str, Any]], queries: Sequence[dict[str, Any]]) -> None:
    """Fails where one of them lacks what it has to have."""
    for seen in (*phases, *queries):
        assert SEEN.keys() <= seen.keys(), SEEN.keys() - seen.keys()
        if seen["bytes_of"] == "devices":
            assert seen["queue_mean"] is not None
        else:
            assert all(seen[name] is None for name in _OF_DEVICES)
    for phase in phases:
        assert phase["bytes_read"] is not None and phase["bytes_written"] is not None
        assert phase["cpu"]["user_percent"] > 0 and phase["engine_cpu_s"] > 0
        assert phase["waiting_share"] is None or 0 <= phase["waiting_share"] <= 1
        assert "waits" in phase and phase["spill_bytes"] is not None
    alone = [query for query in queries if query["phase"] == "power"]
    assert alone
    assert all(
        query["bytes_read"] is not None and query["engine_cpu_s"] is not None and query["spill_bytes"] is not None for query in alone
    )
