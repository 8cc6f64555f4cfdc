"""Every shipped workload: it issues the requests it always issued, and it runs."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from plimsoll import _core, catalog
from plimsoll.engine import native
from system.conftest import COMMAND

GOLDEN = Path(__file__).with_name("fingerprints.json")
SIZE_BYTES = 8 << 30
REQUESTS = 1000
MIB = 1 << 20


def names_of_block_workloads() -> list[str]:
    """Those that the block engine carries out; others need a target of their own."""
    return sorted(name for name in catalog.names() if "driver" not in catalog.document(name))


def test_equal_seeds_issue_the_recorded_requests_of_every_shipped_workload() -> None:
    engine = native()
    prints = {}
    for name in names_of_block_workloads():
        canonical = engine.check_workload(catalog.document(name), f"{name}.toml")
        prints[name] = _core.fingerprint(json.dumps(canonical), SIZE_BYTES, REQUESTS)
    if os.environ.get("PLIMSOLL_RENEW"):
        GOLDEN.write_text(json.dumps(prints, indent=1) + "\n")
    assert prints == json.loads(GOLDEN.read_text())


def test_every_shipped_workload_runs_for_a_second_on_null(tmp_path: Path) -> None:
    names = names_of_block_workloads()
    options = ["--target", "null:", "--duration", "1s", "--warmup", "0", "--json"]
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    halves = [
        subprocess.Popen(
            [COMMAND, "run", *half, *options, "--out", str(tmp_path / str(number))],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
        for number, half in enumerate((names[::2], names[1::2]))
    ]
    ran = {}
    for process in halves:
        stdout, _ = process.communicate(timeout=300)
        assert process.returncode == 0
        ran.update({result["job"]["workload"]: result for result in json.loads(stdout)["results"]})
    assert sorted(ran) == names
    for name, result in ran.items():
        assert result["status"] == "complete", (name, result["error"])
        count, moved = (sum(total[figure] for total in result["totals"].values()) for figure in ("count", "bytes"))
        # Blocks of 100 MiB, which are filled, come some hundred times a second on an idle machine, and less often on a busy one.
        assert count > 100 or moved > 10 * 100 * MIB, name
        assert all(total["errors"] == 0 for total in result["totals"].values()), name
