"""Clients that keep to nothing end their own connections, and nothing else; the 60 s of it are in ``tests/long``."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from support.hostile_nbd import ATTACKS, attack, connected, request, taken
from support.served_array import served

#: Quick to answer, with a cache that takes writes at once.
ARRAY = "array:sata-ssd"


def test_hostile_clients_end_their_own_connections_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with served(ARRAY, "--socket", "./array.sock") as server:
        attacked = attack("array.sock", seconds=2, draws=Random(1))
        assert not attacked.trouble, attacked
        assert server.process.poll() is None
        assert attacked.connections > 20 and attacked.witnessed > 0, attacked
        report = server.stop()
    assert report["counts"]["reads"] > attacked.witnessed


@pytest.mark.parametrize("one", dict.fromkeys(ATTACKS), ids=lambda one: one.__name__.strip("_"))
def test_no_attack_alone_ends_the_server(one: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    draws = Random(2)
    with served(ARRAY, "--socket", "./array.sock") as server:
        for _ in range(40):
            try:
                one("array.sock", draws)  # type: ignore[operator]
            except OSError:
                continue
        with connected("array.sock") as client:
            client.sendall(request(0, 0, 4096))
            taken(client, 16 + 4096)
        assert server.process.poll() is None
