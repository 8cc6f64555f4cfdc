"""A minute of hostile NBD clients: the server goes on for those who keep to the protocol, takes no more memory, and ends when it is told to."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from long.settings import Scale
from long.tally import Tally
from support.hostile_nbd import attack
from support.served_array import served

_MIB = 1 << 20


def _resident_bytes(process: int) -> int:
    for line in Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise AssertionError("the kernel says nothing of its memory")


def test_a_minute_of_hostile_clients(draws: Random, scale: Scale, tally: Tally, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with served("array:sata-ssd", "--socket", "./array.sock", "--memory", "64MiB") as server:
        first = attack("array.sock", seconds=scale.seconds(10, least=2), draws=draws, kills=scale.times(5))
        early_bytes = _resident_bytes(server.process.pid)
        rest = attack("array.sock", seconds=scale.seconds(50, least=2), draws=draws, kills=scale.times(10))
        late_bytes = _resident_bytes(server.process.pid)
        for attacked in (first, rest):
            for kind, times in attacked.tried.items():
                for _ in range(times):
                    tally.count(f"NBD client: {kind}", survived=server.process.poll() is None, named=None)
        print(f"{first.connections + rest.connections} hostile connections, {first.witnessed + rest.witnessed} answers checked meanwhile")
        assert not first.trouble + rest.trouble
        assert server.process.poll() is None
        assert late_bytes < early_bytes + 512 * _MIB, f"{early_bytes} became {late_bytes} bytes"
        server.stop()
