"""A trace goes to hosts that lack it, piece by piece, and lies there under the hash of what has arrived; no part of one is ever shown."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from plimsoll.errors import StoreError
from plimsoll.gang.traces import Arriving, Carried
from plimsoll.stored import Json

BYTES = bytes(range(256)) * 10_000


class Hosts:
    """Hosts that answer what a worker does; ``asked`` is what each was asked."""

    def __init__(self, place: Path) -> None:
        self.arriving = {host: Arriving(str(place / host), lambda: None) for host in ("h1", "h2")}
        self.asked: list[tuple[str, str]] = []

    def ask(self, requests: Mapping[str, Json]) -> dict[str, Any]:
        return {host: self._answer(host, request) for host, request in requests.items()}

    def _answer(self, host: str, request: Json) -> Any:
        self.asked.append((host, request["ask"]))
        if request["ask"] == "take_trace":
            return self.arriving[host].begin(request["digest"], request["size"])
        return self.arriving[host].take(request["digest"], base64.b64decode(request["piece"]))


def workload(path: Path) -> Any:
    return {"name": "replay", "stream": [{"name": "replay", "trace": str(path)}, {"name": "other"}]}


def test_a_trace_is_carried_to_the_hosts_that_lack_it_and_once(tmp_path: Path) -> None:
    (tmp_path / "t.trace").write_bytes(BYTES)
    hosts = Hosts(tmp_path)
    name = f"carried-{hashlib.sha256(BYTES).hexdigest()}.trace"
    (tmp_path / "h2").mkdir()
    (tmp_path / "h2" / name).write_bytes(BYTES)
    carried = Carried(hosts.ask, ("h1", "h2"))
    for host in ("h1", "h2", "h1"):
        own = carried.at(host, workload(tmp_path / "t.trace"))["stream"]
        assert own[0]["trace"] == str(tmp_path / host / name)
        assert own[1] == {"name": "other"}
        assert [path.read_bytes() == BYTES for path in (tmp_path / host).iterdir()] == [True]
    assert hosts.asked == [("h1", "take_trace"), ("h2", "take_trace"), *[("h1", "take_piece")] * 3]


def test_a_workload_without_traces_asks_nobody(tmp_path: Path) -> None:
    hosts = Hosts(tmp_path)
    plain: Any = {"name": "x", "stream": [{"name": "s"}]}
    assert Carried(hosts.ask, ("h1", "h2")).at("h1", plain) is plain
    assert hosts.asked == []


def test_a_trace_that_arrives_damaged_is_refused_and_never_shown(tmp_path: Path) -> None:
    arriving = Arriving(str(tmp_path / "h1"), lambda: None)
    digest = hashlib.sha256(BYTES).hexdigest()
    assert arriving.begin(digest, len(BYTES))["there"] is False
    with pytest.raises(StoreError, match="arrived damaged"):
        arriving.take(digest, BYTES[:-1] + b"x")
    assert list((tmp_path / "h1").iterdir()) == []
