"""Every shipped workload: it issues the requests it always issued, and it runs."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from plimsoll import _core, catalog
from plimsoll.engine.block import native
from support.fairness import excused
from support.patience import HANGS_S
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


def ran_on_null(names: list[str], duration: str, folder: Path) -> dict[str, dict[str, Any]]:
    """The results of these workloads, one half beside the other."""
    options = ["--target", "null:", "--duration", duration, "--warmup", "0", "--json"]
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache")}
    halves = [
        subprocess.Popen(
            [COMMAND, "run", *half, *options, "--out", str(folder / str(number))],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
        for number, half in enumerate((names[::2], names[1::2]))
        if half
    ]
    ran = {}
    for process in halves:
        stdout, _ = process.communicate(timeout=HANGS_S)
        assert process.returncode == 0
        ran.update({result["job"]["workload"]: result for result in json.loads(stdout)["results"]})
    assert sorted(ran) == names
    return ran


def issued_enough(result: dict[str, Any]) -> bool:
    """Blocks of 100 MiB, which are filled, come some hundred times a second on an idle machine, and less often on a busy one."""
    count, moved = (sum(total[figure] for total in result["totals"].values()) for figure in ("count", "bytes"))
    return count > 100 or moved > 10 * 100 * MIB


def test_every_shipped_workload_runs_on_null(tmp_path: Path) -> None:
    # A quarter of a second is enough for nearly all of them; the others get a whole one.
    left = names_of_block_workloads()

    def attempt(duration: str) -> list[str]:
        ran = ran_on_null(left, duration, tmp_path)
        for name, result in ran.items():
            assert result["status"] == "complete", (name, result["error"])
            assert all(total["errors"] == 0 for total in result["totals"].values()), name
        left[:] = [name for name in left if not issued_enough(ran[name])]
        return left

    if attempt("250ms"):
        excused(tmp_path, lambda: attempt("1s"), lambda left: not left)
