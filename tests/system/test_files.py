"""File operations through the installed command: what the result says happened is what happened on the disk, and nothing else is touched."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from plimsoll import _core, catalog
from plimsoll.engine.files import native_files
from support.fairness import excused
from support.patience import HANGS_S
from system.conftest import COMMAND

Run = Callable[..., CompletedProcess[str]]
Results = Callable[..., list[dict[str, Any]]]

GOLDEN = Path(__file__).with_name("file_fingerprints.json")
DRAWS = 500
#: By operation: the tree at the beginning, what the stream draws, and what is left of the tree in (files, directories).
TREE = {"depth": 1, "width": 3, "files": 8, "sizes": "8KiB"}
OPERATIONS: dict[str, tuple[dict[str, Any], dict[str, Any], Callable[[dict[str, int]], tuple[int, int]]]] = {
    "read": (TREE, {}, lambda count: (24, 3)),
    "write": (TREE, {}, lambda count: (24, 3)),
    "flush": (TREE, {}, lambda count: (24, 3)),
    "open": (TREE, {}, lambda count: (24, 3)),
    "close": (TREE, {}, lambda count: (24, 3)),
    "stat": (TREE, {}, lambda count: (24, 3)),
    "access": (TREE, {}, lambda count: (24, 3)),
    "setattr": (TREE, {}, lambda count: (24, 3)),
    "rename": (TREE, {}, lambda count: (24, 3)),
    "create": ({**TREE, "filled": 25}, {}, lambda count: (24, 3)),
    "delete": (TREE, {}, lambda count: (24 - count["delete"], 3)),
    "copy": ({**TREE, "filled": 50}, {}, lambda count: (24, 3)),
    "move": ({**TREE, "filled": 50}, {"requests": 10}, lambda count: (-1, 3)),
    "mkdir": ({"depth": 2, "width": 3, "files": 0, "lay_out": "nothing"}, {}, lambda count: (0, count["mkdir"])),
    "rmdir": ({"depth": 2, "width": 3, "files": 0}, {}, lambda count: (0, 12 - count["rmdir"])),
}


def written(path: Path, trees: list[dict[str, Any]], streams: list[dict[str, Any]]) -> str:
    """A workload file, as TOML."""

    def lines(table: str, record: dict[str, Any]) -> str:
        def text(value: Any) -> str:
            if isinstance(value, dict):
                return "{ " + ", ".join(f"{json.dumps(key)} = {share}" for key, share in value.items()) + " }"
            return json.dumps(value)

        return "\n".join([f"[[{table}]]", *(f"{key} = {text(value)}" for key, value in record.items())])

    parts = ['driver = "files"', *(lines("tree", tree) for tree in trees), *(lines("stream", stream) for stream in streams)]
    path.write_text("\n\n".join(parts) + "\n")
    return str(path)


def found(root: Path) -> tuple[int, int]:
    """Files and directories below ``root``; Plimsoll's marker is none of them."""
    files = directories = 0
    for _, below, names in os.walk(root):
        directories += len(below)
        files += len([name for name in names if not name.startswith(".plimsoll")])
    return files, directories


def test_equal_seeds_draw_the_recorded_operations_of_every_shipped_workload_of_files() -> None:
    prints = {}
    for name in sorted(name for name in catalog.names() if catalog.document(name).get("driver") == "files"):
        canonical = native_files().check(catalog.document(name), f"{name}.toml")
        prints[name] = _core.files_fingerprint(json.dumps(canonical), DRAWS)
    if os.environ.get("PLIMSOLL_RENEW"):
        GOLDEN.write_text(json.dumps(prints, indent=1) + "\n")
    assert len(prints) >= 4 and prints == json.loads(GOLDEN.read_text())


@pytest.mark.parametrize("op", OPERATIONS)
def test_an_operation_does_to_the_tree_what_the_result_says(op: str, results: Results, tmp_path: Path) -> None:
    tree, more, expected = OPERATIONS[op]
    target = tmp_path / "tree"
    workload = written(tmp_path / "one.toml", [tree], [{"operation": op, "requests": 200, **more}])
    (result,) = results(workload, "-t", str(target), "--keep", "--warmup", "0", "--duration", "10m", "--set", "interval=50ms")
    assert (result["status"], result["error"], result["ended"]["by"]) == ("complete", None, "amount")
    total = result["totals"][op]
    assert total["count"] > 0 and total["errors"] == 0 and total["latency_ns"]["p50"] > 0
    files, directories = expected({name: figures["count"] for name, figures in result["totals"].items()})
    laid_out = json.loads(_core.prepare_files(json.dumps(result["job"]["definition"]), str(tmp_path / "twin"), None, None, _core.Control()))
    assert found(target) == (laid_out["files"] if files < 0 else files, directories)
    left = result["engine"]["files"]["left"]["tree-1"]
    assert (left["files"], left["directories"]) == found(target)


def test_files_created_less_files_deleted_are_the_files_on_the_disk(results: Results, tmp_path: Path) -> None:
    tree = {"depth": 2, "width": 4, "files": 20, "sizes": "1KiB-16KiB", "filled": 50}
    stream = {"operation": {"create": 30, "delete": 30, "read": 20, "stat": 20}, "threads": 6, "write_created": True}
    workload = written(tmp_path / "mixed.toml", [tree], [stream])
    (result,) = results(workload, "-t", str(tmp_path / "tree"), "--keep", "--warmup", "0", "--duration", "1s")
    # What a thread was doing when the time was up completed in the drain, and belongs to no total: 6 threads, one operation each.
    first = json.loads(_core.prepare_files(json.dumps(result["job"]["definition"]), str(tmp_path / "twin"), None, None, _core.Control()))
    totals = result["totals"]
    created, deleted = (totals[op]["count"] if op in totals else 0 for op in ("create", "delete"))
    expected = first["files"] + created - deleted
    assert abs(found(tmp_path / "tree")[0] - expected) <= 6
    assert all(total["errors"] == 0 for total in totals.values())


def test_every_shipped_workload_of_files_runs_on_a_small_tree_and_leaves_nothing(results: Results, tmp_path: Path) -> None:
    """Trees as large as they are shipped are in `tests/long`."""
    names = catalog.names_tagged("files")
    ran = results("files", "-t", str(tmp_path / "tree"), "--set", "width=3", "--warmup", "0", "--duration", "250ms")
    assert sorted(result["job"]["workload"] for result in ran) == sorted(names)
    for result in ran:
        assert result["status"] == "complete", (result["job"]["workload"], result["error"])
        assert all(total["errors"] == 0 for total in result["totals"].values())
    assert not (tmp_path / "tree").exists()


def test_every_point_of_an_experiment_begins_with_the_same_tree(plimsoll: Run, tmp_path: Path) -> None:
    tree = {"files": 300, "sizes": "1KiB", "lay_out": "directories"}
    workload = written(tmp_path / "create.toml", [tree], [{"operation": "create"}])
    ended = plimsoll(
        "steps", workload, "--over", "threads=1,2,4", "-t", str(tmp_path / "tree"), "--warmup", "0", "--duration", "10m", "--json"
    )
    assert ended.returncode == 0, ended.stderr
    points = json.loads(ended.stdout)["results"]
    assert [point["totals"]["create"]["count"] for point in points] == [300, 300, 300]
    assert all(point["ended"]["how"].startswith("nothing was left to do") for point in points)
    assert all("ran_out" in {flag["name"] for flag in point["flags"]} for point in points)


def test_a_rate_counts_the_operations_drawn_and_is_achieved(results: Results, tmp_path: Path) -> None:
    tree = {"files": 50, "sizes": "4KiB"}
    stream = {"operation": "read", "arrival": "constant", "rate": 400, "threads": 2}
    workload = written(tmp_path / "rate.toml", [tree], [stream])

    def attempt() -> int:
        (result,) = results(workload, "-t", str(tmp_path / "tree"), "--warmup", "0", "--duration", "2s")
        count = {op: total["count"] for op, total in result["totals"].items()}
        # 400 per second for 2 s fall due, a request more or less at the end; a machine that stands still leaves some undone.
        assert count.get("read", 0) + result["unfinished"] == pytest.approx(800, abs=1)
        assert count.get("open", 0) == pytest.approx(count.get("read", 0), abs=4)
        assert result["offered_per_s"] == 400
        return count.get("read", 0)

    assert excused(tmp_path, attempt, lambda reads: reads >= 0.9 * 800) <= 801


def test_what_was_there_before_stays(plimsoll: Run, tmp_path: Path) -> None:
    target = tmp_path / "mine"
    target.mkdir()
    (target / "letter.txt").write_text("dear")
    workload = written(tmp_path / "one.toml", [{"files": 5}], [{"operation": "delete"}])
    refused = plimsoll("run", workload, "-t", str(target), "--duration", "1s")
    assert refused.returncode == 3 and "holds files that Plimsoll did not make, for example letter.txt" in refused.stderr
    assert [path.name for path in target.iterdir()] == ["letter.txt"]
    allowed = plimsoll("run", workload, "-t", str(target), "--destroy-data", "--warmup", "0", "--duration", "1s")
    assert allowed.returncode == 0, allowed.stderr
    assert {path.name: path.read_text() for path in target.iterdir()} == {"letter.txt": "dear"}
    (target / "f3").write_text("not a file of the tree")
    refused = plimsoll("run", workload, "-t", str(target), "--destroy-data", "--warmup", "0", "--duration", "1s")
    assert refused.returncode != 0 and "f3 is in the way" in refused.stdout + refused.stderr
    assert (target / "f3").read_text() == "not a file of the tree"


def test_an_empty_directory_is_used_and_left_empty(results: Results, tmp_path: Path) -> None:
    target = tmp_path / "empty"
    target.mkdir()
    workload = written(tmp_path / "one.toml", [{"depth": 1, "width": 2, "files": 5, "path": "a/b"}], [{"operation": "stat"}])
    results(workload, "-t", str(target), "--warmup", "0", "--duration", "200ms")
    assert target.is_dir() and not list(target.iterdir())


def test_a_report_draws_every_operation(plimsoll: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    stream = {"operation": {"create": 40, "delete": 40, "stat": 20}}
    workload = written(tmp_path / "one.toml", [{"files": 100, "sizes": "1KiB", "filled": 50}], [stream])
    words = ("--warmup", "0", "--duration", "10m", "--set", "requests=1000", "--out", str(tmp_path / "runs"))
    ended = plimsoll("run", workload, "-t", str(tmp_path / "tree"), *words)
    assert ended.returncode == 0, ended.stderr
    rows = [line.split() for line in ended.stdout.splitlines()]
    assert [row[2] for row in rows if len(row) > 6 and row[2] in ("create", "close", "stat", "delete")] == [
        "create",
        "close",
        "stat",
        "delete",
    ]
    (run,) = (tmp_path / "runs").iterdir()
    page = (run / "report.html").read_text()
    assert '"create"' in page and '"delete"' in page
    exported = plimsoll("export", str(run), "--as", "csv")
    assert exported.returncode == 0 and ",create," in exported.stdout


WRONG = [
    (["--set", "thread=2"], "key 'thread' is not known; did you mean 'threads'?"),
    (["--set", "operation=raed"], "'raed' is not an operation; did you mean 'read'?"),
    (["--set", "backend=uring"], "backend 'uring' does not go with file operations"),
    (["--set", "operation=mkdir"], "mkdir needs directories below the anchor"),
    (["-t", "null:"], "target 'null:': file operations need a directory"),
    (["-t", "missing/tree"], "the directory {here}/missing does not exist"),
    (["-t", "one.toml"], "one.toml is no directory; file operations need one"),
    (["--size", "1GiB"], "a tree is as large as its files and sizes make it"),
    (["--set", "sizes=1TiB", "--set", "files=100000"], "its trees need"),
    (["--objective", "trim p99 <= 5ms"], "is about trims, but no stream of one trims; name stat"),
]


@pytest.mark.parametrize(("arguments", "sentence"), WRONG, ids=lambda value: str(value)[:40])
def test_wrong_inputs_get_a_sentence_and_leave_nothing(plimsoll: Run, tmp_path: Path, arguments: list[str], sentence: str) -> None:
    written(tmp_path / "one.toml", [{"files": 5}], [{"operation": "stat"}])
    ended = plimsoll("run", "one.toml", "--warmup", "0", "--duration", "200ms", *arguments)
    said = ended.stdout + ended.stderr
    assert ended.returncode != 0 and sentence.format(here=tmp_path) in said, said
    assert "Traceback" not in said
    assert not list(tmp_path.glob("plimsoll-scratch*")) and not list(tmp_path.glob("tree*"))


def test_what_cannot_be_is_refused_before_anything_is_made(plimsoll: Run, tmp_path: Path) -> None:
    workload = written(tmp_path / "small.toml", [{"depth": 1, "width": 2, "files": 3, "sizes": "4KiB"}], [{"operation": "stat"}])
    target = str(tmp_path / "both")
    for words, said in (
        ((workload, "--size", "1GiB"), "a tree is as large as its files and sizes make it"),
        ((workload, "--set", "depth=60", "--set", "width=60"), "lower one of them"),
        (("oltp-db", workload), "small takes it for a directory and oltp-db for a file"),
    ):
        ended = plimsoll("run", *words, "-t", target, "--out", str(tmp_path / "out"))
        assert ended.returncode == 2 and said in ended.stderr, (words, ended.stderr)
        assert not os.path.exists(target) and not (tmp_path / "out").exists(), words


def test_a_kept_tree_with_missing_files_is_brought_back(results: Results, tmp_path: Path) -> None:
    workload = written(tmp_path / "small.toml", [{"depth": 1, "width": 2, "files": 30, "sizes": "1KiB"}], [{"operation": "stat"}])
    words = (workload, "-t", str(tmp_path / "tree"), "--keep", "--warmup", "0", "--duration", "10m", "--set", "requests=1000")
    results(*words)
    for path in (tmp_path / "tree" / "d1").glob("f3*"):
        path.unlink()
    (result,) = results(*words)
    assert result["totals"]["stat"]["errors"] == 0
    assert found(tmp_path / "tree") == (60, 2)


@contextmanager
def running(workload: str, tree: Path, *words: str) -> Iterator[subprocess.Popen[str]]:
    """A run on a tree that is killed at the end; the body begins once the tree is laid out and being used."""
    command = [COMMAND, "run", workload, "-t", str(tree), "--duration", "10m", "--out", "killed", *words]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            until = time.monotonic() + HANGS_S
            while not any(path.stat().st_size for path in Path("killed").glob("*/*/*/intervals.jsonl")) and process.poll() is None:
                assert time.monotonic() < until
                time.sleep(0.02)
            assert process.poll() is None
            yield process
        finally:
            process.send_signal(signal.SIGKILL)


@pytest.mark.parametrize("keep", [(), ("--keep",)])
def test_a_tree_that_a_killed_run_left_behind_is_told_of_and_removed_at_the_end_of_the_next(
    plimsoll: Run, tmp_path: Path, keep: tuple[str, ...]
) -> None:
    workload = written(tmp_path / "small.toml", [{"files": 30, "sizes": "1KiB"}], [{"operation": {"create": 50, "delete": 50}}])
    tree, words = tmp_path / "tr", ("--warmup", "0", "--duration", "10m", "--set", "requests=200")
    with running(workload, tree, *keep) as process:
        busy = plimsoll("run", workload, "-t", str(tree), *words)
        assert busy.returncode == 4 and f"is in use by another run of Plimsoll (pid {process.pid})" in busy.stderr, busy.stderr
        assert "leftovers" not in plimsoll("doctor").stdout
    # The doctor's lines are folded.
    told = " ".join(plimsoll("doctor").stdout.split())
    assert "tr (0 MiB) was left behind by a run that was killed" in told, told
    # Whoever finds it says whether it stays, whatever the killed run was to do with it.
    ended = plimsoll("run", workload, "-t", str(tree), *words, *keep)
    assert ended.returncode == 0, ended.stderr
    assert tree.exists() is bool(keep)
    assert "left behind" not in plimsoll("doctor").stdout
