"""The command on real targets: what it prints, stores, refuses and leaves behind."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hdrh.histogram import HdrHistogram

from support.fairness import excused
from support.patience import HANGS_S
from system.conftest import COMMAND

QUICK = ("--duration", "500ms", "--warmup", "100ms", "--size", "32MiB")
#: A disk that stands still for the half second completes hardly any requests.
ENOUGH = 20


@pytest.fixture
def quickly(results: Callable[..., list[dict[str, Any]]], tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Run a workload on a disk that does its work meanwhile, with nothing that breaks Little's law; only that run is stored."""

    def attempt(*arguments: str) -> dict[str, Any]:
        shutil.rmtree(tmp_path / "results", ignore_errors=True)
        (result,) = results(*arguments)
        return result

    def worked(result: dict[str, Any]) -> bool:
        # A host that loses time between two stamps breaks Little's law, as its flag says; a wrong account breaks it every time.
        lost_time = "littles_law" in {flag["name"] for flag in result["flags"]}
        return not lost_time and sum(total["count"] for total in result["totals"].values()) >= ENOUGH

    return lambda *arguments: excused(tmp_path, lambda: attempt(*arguments), worked)


def test_the_json_contract_holds_on_a_scratch_file_that_is_gone_afterwards(quickly, tmp_path) -> None:
    result = quickly("oltp-db", *QUICK)
    assert result["job"]["workload"] == "oltp-db"
    assert set(result["totals"]) == {"read", "write"}
    for total in result["totals"].values():
        assert total["count"] > 0 and total["errors"] == 0
        assert total["iops"] == pytest.approx(total["count"] / 0.5)
        assert total["bytes_per_s"] == pytest.approx(total["iops"] * 8192)
        for kind in ("latency_ns", "service_ns"):
            figures = total[kind]
            assert figures["p50"] <= figures["p90"] <= figures["p95"] <= figures["p99"] <= figures["p999"] <= figures["max"]
    assert all({"name", "advice"} <= set(flag) for flag in result["flags"])
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("plimsoll")] == []


def test_a_third_party_reader_opens_the_stored_histograms(quickly, tmp_path) -> None:
    result = quickly("random-read-4k", *QUICK)
    (stored,) = (tmp_path / "results").glob("*/points/*/intervals.jsonl")
    merged = HdrHistogram(1, (1 << 42) - 1, 3)
    for line in stored.read_text().splitlines():
        interval = json.loads(line)
        if interval["phase"] == "measure":
            for cell in interval["cells"]:
                merged.decode_and_add(cell["latency"])
    total = result["totals"]["read"]
    assert merged.get_total_count() == total["count"]
    # That reader rounds the rank of a percentile, ours takes the next one up; neighbours may lie in different buckets.
    rank = math.ceil(0.99 * total["count"])
    assert merged.get_value_at_percentile(100 * rank / total["count"]) == pytest.approx(total["latency_ns"]["p99"], rel=1 / 1024)


def test_an_open_loop_on_a_model_meets_theory(results) -> None:
    # M/M/1 at 80 %: mean response 1 / (1000/s − 800/s) = 5 ms; 800,000 requests give a standard error of about 1 %.
    arguments = ("--target", "queue:?service=exp:1ms", "--set", "arrival=poisson", "--set", "rate=800", "--set", "queue_depth=4096")
    (result,) = results("random-read-4k", *arguments, "--duration", "1000s", "--warmup", "10s")
    assert result["modelled"]
    assert result["totals"]["read"]["latency_ns"]["mean"] == pytest.approx(5e6, rel=0.03)
    assert "virtual_time" in {flag["name"] for flag in result["flags"]}


def test_parts_of_a_stripe_are_kept_and_add_up(quickly, tmp_path) -> None:
    paths = [str(tmp_path / name) for name in ("a", "b", "c")]
    result = quickly("random-read-4k", "--target", f"stripe:{','.join(paths)}?unit=64KiB", *QUICK[:-1], "48MiB")
    total = result["totals"]["read"]["count"]
    counts = [part["read"]["count"] for part in result["parts"].values()]
    assert len(counts) == 3
    # A request that ends in another interval than its piece may be counted apart: at most the queue depth at each end.
    assert sum(counts) == pytest.approx(total, abs=2 * 32)
    assert "bandwidth_identity" not in {flag["name"] for flag in result["flags"]}


def test_equal_seeds_give_equal_results_on_a_model(results) -> None:
    arguments = ("workstation", "--target", "queue:?service=exp:100us", "--duration", "20s", "--warmup", "0")
    first, second = results(*arguments)[0], results(*arguments)[0]
    assert first["totals"] == second["totals"]


def test_interrupting_keeps_what_was_measured(tmp_path) -> None:
    command = [COMMAND, "run", "random-read-4k", "--size", "32MiB", "--duration", "10m", "--warmup", "0", "--out", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=tmp_path) as process:
        assert process.stderr is not None
        next(line for line in process.stderr if re.search(r"measure .* read [1-9]", line))
        process.send_signal(signal.SIGINT)
        process.stderr.read()
        assert process.wait(timeout=HANGS_S) == 130
    (stored,) = tmp_path.glob("*/points/*/result.json")
    result = json.loads(stored.read_text())
    assert result["status"] == "interrupted" and result["totals"]["read"]["count"] > 0


def test_a_file_that_plimsoll_did_not_make_is_read_but_not_written(plimsoll, tmp_path) -> None:
    precious = tmp_path / "precious.dat"
    content = os.urandom(1 << 20)
    precious.write_bytes(content)
    refused = plimsoll("run", "oltp-db", "--target", str(precious), "--duration", "200ms", "--warmup", "0")
    assert refused.returncode == 3 and "--destroy-data" in refused.stdout + refused.stderr
    read = plimsoll("run", "random-read-4k", "--target", str(precious), "--duration", "200ms", "--warmup", "0")
    assert read.returncode == 0, read.stderr
    assert precious.read_bytes() == content
    amount = ("--duration", "10m", "--warmup", "0", "--set", "requests=50")
    allowed = plimsoll("run", "oltp-db", "--target", str(precious), *amount, "--destroy-data")
    assert allowed.returncode == 0, allowed.stderr
    assert precious.read_bytes() != content and precious.exists()


@pytest.mark.parametrize("fault", ["lost", "torn", "misdirected", "stale"])
def test_wrong_data_is_named(plimsoll, fault) -> None:
    Path("checked.toml").write_text('title = "Checked"\n[[stream]]\nname = "s"\nblock_size = "8KiB"\nread_percent = 50\nverify = "all"\n')
    target = f"queue:?service=const:100us&size=4MiB&{fault}_percent=5"
    ended = plimsoll("run", "checked.toml", "--target", target, "--duration", "2s", "--warmup", "0", "--json")
    (result,) = json.loads(ended.stdout)["results"]
    assert (ended.returncode, result["status"]) == (6, "failed")
    (flag,) = [flag for flag in result["flags"] if flag["name"] == "wrong_data"]
    assert flag["severity"] == "invalid" and fault in flag["message"]


def test_calibration_reports_what_one_request_costs(plimsoll) -> None:
    ended = plimsoll("calibrate", "--json", "--seconds", "0.4")
    figures = json.loads(ended.stdout)
    assert figures["null"]["iops_per_core"] > 1e6
    assert figures["nop"] is None or figures["nop"]["iops_per_core"] > 1e5
    assert figures["parts"]["stamp_ns"] > 0
