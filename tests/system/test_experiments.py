"""Experiments on real targets and models: marks, interleaved scratch files, caches, resuming, comparing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

QUEUE = ("--target", "queue:?service=exp:1ms")


def test_a_ramp_on_a_closed_queue_finds_the_level_that_theory_names(plimsoll) -> None:
    # One exponential server, n requests outstanding: the mean response is n × 1 ms (closed queueing network with one station).
    words = ("--objective", "mean <= 12.5ms", "--duration", "200s", "--warmup", "2s", "--resolution", "1", "--json")
    ended = plimsoll("ramp", "random-read-4k", *QUEUE, *words)
    assert ended.returncode == 0, ended.stderr
    mark = json.loads(ended.stdout)["mark"]
    assert (mark["level"], mark["next_level"]) == (12, 13)
    assert mark["iops"] == pytest.approx(1000, rel=0.02)


def test_interleaved_scratch_files_stand_beside_each_other_and_are_gone_afterwards(plimsoll, tmp_path) -> None:
    words = ("--over", "queue_depth=1,4", "--interleave", "--cache", "cold", "--set", "direct=false", "--size", "16MiB")
    ended = plimsoll("steps", "random-read-4k", "-t", "a.dat", "-t", "b.dat", *words, "-d", "200ms", "-w", "0", "--json")
    assert ended.returncode == 0, ended.stderr
    results = json.loads(ended.stdout)["results"]
    assert [result["job"]["target"] for result in results] == ["a.dat", "b.dat"] * 2
    assert all(result["cache"]["state"] in ("cold", "as found") and result["cache"]["how"] for result in results)
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix == ".dat") == []


def test_a_quick_suite_on_a_scratch_file_with_published_figures_beside_it(plimsoll, tmp_path) -> None:
    ended = plimsoll("suite", "four-corners", "--quick", "-d", "200ms", "-w", "0", "--size", "32MiB", "--json")
    assert ended.returncode == 0, ended.stderr
    assert len(json.loads(ended.stdout)["results"]) == 4
    (run,) = (tmp_path / "results").iterdir()
    assert (run / "report.html").stat().st_size > 10_000
    assert not list(Path(tmp_path).glob("plimsoll-scratch*"))


def test_a_faster_model_is_called_faster(plimsoll, tmp_path) -> None:
    configurations = '[{ name = "1 ms", target = "queue:?service=exp:1ms" }, { name = "0.5 ms", target = "queue:?service=exp:500us" }]'
    Path("two.toml").write_text(
        '[[experiment]]\nname = "depth"\nkind = "steps"\nworkloads = ["random-read-4k"]\nover = { queue_depth = [1, 4] }\n'
        f'repeat = 3\ninterleave = true\nset = {{ duration = "20s", warmup = "1s" }}\nconfigurations = {configurations}\n'
    )
    assert plimsoll("suite", "two.toml").returncode == 0
    (run,) = (tmp_path / "results").iterdir()
    compared = json.loads(plimsoll("compare", run.name, "--json").stdout)
    assert {row["verdict"] for row in compared["points"]} == {"faster"}
    assert all(row["low"] < 2 < row["high"] for row in compared["points"])
