"""Vdbench's workloads on file systems, run as they are: what reaches the tree is what the file asks for, and results go out and in again."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from support.fairness import excused


@pytest.fixture
def carried_out(plimsoll, tmp_path):
    """Run a parameter file; its results in order, and only those stored."""

    def run(text: str, *words: str) -> list[dict[str, Any]]:
        shutil.rmtree(tmp_path / "results", ignore_errors=True)
        job = tmp_path / "job.vdb"
        job.write_text(text.format(here=tmp_path), encoding="utf-8")
        ended = plimsoll("run", str(job), "--json", *words)
        assert ended.returncode == 0, ended.stderr
        results = json.loads(ended.stdout)["results"]
        assert [(result["status"], result["error"]) for result in results] == [("complete", None)] * len(results)
        return results

    return run


def counts(result: dict[str, Any]) -> dict[str, int]:
    return {op: total["count"] for op, total in result["totals"].items()}


def requests_of(result: dict[str, Any]) -> int:
    return sum(count for op, count in counts(result).items() if op in ("read", "write"))


def test_a_random_mix_leaves_each_file_after_as_many_requests_as_asked(carried_out, tmp_path: Path) -> None:
    job = (
        "fsd=fsd1,anchor={here}/tree,depth=2,width=2,files=10,sizes=64k\n"
        "fwd=fwd1,fsd=fsd1,rdpct=70,fileio=random,fileselect=random,xfersize=4k,threads=4,stopafter=20\n"
        "rd=rd1,fwd=fwd1,fwdrate=max,format=yes,elapsed=2,interval=1,warmup=0\n"
    )
    (result,) = excused(tmp_path, lambda: carried_out(job, "--keep"), lambda results: requests_of(results[0]) > 1000)
    found, requests = counts(result), requests_of(result)
    # Reads are drawn with probability 0.7: five standard deviations.
    assert abs(found["read"] - 0.7 * requests) < 5 * (0.21 * requests) ** 0.5
    # Every thread has at most one file open that it has not left yet.
    assert abs(found["open"] - requests / 20) <= 4 + 1 and abs(found["open"] - found["close"]) <= 4
    assert all(result["totals"][op]["bytes"] == 4096 * found[op] for op in ("read", "write"))
    tree = [path for path in (tmp_path / "tree").rglob("*") if not path.name.startswith(".")]
    assert len([path for path in tree if path.is_dir()]) == 2 + 4
    assert [path.stat().st_size for path in tree if path.is_file()] == [65536] * 40


def test_operations_in_turn_do_all_there_is_to_do_and_no_more(carried_out) -> None:
    results = carried_out(
        "fsd=fsd1,anchor={here}/tree,depth=2,width=3,files=7,sizes=4k,distribution=all\n"
        "fwd=fwd1,fsd=fsd1,fileselect=seq,threads=3\n"
        "rd=rd1,fwd=fwd1,fwdrate=max,foroperations=(mkdir,create,delete,rmdir),format=no,elapsed=600,interval=1,warmup=0\n"
    )
    # 3 + 9 directories, each with 7 files.
    assert [counts(result)[op] for result, op in zip(results, ("mkdir", "create", "delete", "rmdir"), strict=True)] == [12, 84, 84, 12]


def test_rates_divide_by_skew_over_two_trees_and_come_out_and_in_again(carried_out, plimsoll, tmp_path: Path) -> None:
    job = (
        "fsd=default,depth=1,width=2,files=20,sizes=16k\nfsd=fsd1,anchor={here}/a\nfsd=fsd2,anchor={here}/b\n"
        "fwd=fwd1,fsd=fsd1,operation=read,xfersize=8k,skew=75\nfwd=fwd2,fsd=fsd2,operation=getattr\n"
        "rd=rd1,fwd=fwd*,fwdrate=400,distribution=deterministic,format=restart,elapsed=3,interval=1,warmup=0\n"
    )

    def attempt() -> dict[str, Any]:
        (result,) = carried_out(job)
        # What was due is exact even where the machine stood still: it was done or is owed.
        assert sum(counts(result).get(op, 0) for op in ("read", "stat")) + result["unfinished"] == pytest.approx(1200, abs=4)
        return result

    result = excused(tmp_path, attempt, lambda result: result["unfinished"] <= 2)
    assert result["job"]["target"] == f"concat:{tmp_path}/a,{tmp_path}/b"
    assert set(result["streams"]) == {"fwd1", "fwd2"}
    found = counts(result)
    # 300 and 100 per second for 3 s, to a request at each end.
    assert (found["read"], found["stat"]) == (pytest.approx(900, abs=2), pytest.approx(300, abs=2))
    # Files of two requests each.
    assert found["open"] == pytest.approx(450, abs=2)

    (run,) = (tmp_path / "results").iterdir()
    exported = plimsoll("export", str(run), "--as", "vdbench", "-o", f"{tmp_path}/output/")
    assert exported.returncode == 0, exported.stderr
    rows = [line.split() for line in (tmp_path / "output" / "flatfile.html").read_text().splitlines() if line and line[0] not in "*<"]
    average = dict(zip(rows[0], rows[-1], strict=True))
    assert float(average["Rate"]) == pytest.approx(400, rel=0.01) and float(average["Getattr_rate"]) == pytest.approx(100, rel=0.02)
    imported = plimsoll("import", str(tmp_path / "output" / "flatfile.html"))
    assert imported.returncode == 0, imported.stderr
    (again,) = (one for one in (tmp_path / "results").iterdir() if one != run)
    (stored,) = again.glob("points/*/result.json")
    assert counts(json.loads(stored.read_text())) == {op: pytest.approx(count, abs=3) for op, count in found.items()}


def test_files_that_are_created_and_empty_are_each_written_once(carried_out) -> None:
    (result,) = carried_out(
        "fsd=fsd1,anchor={here}/tree,depth=1,width=2,files=10,sizes=16k\n"
        "fwd=fwd1,fsd=fsd1,fileio=seq,fileselect=empty,xfersize=4k,threads=2\n"
        "rd=rd1,fwd=fwd1,fwdrate=max,operations=(create,write),format=directories,elapsed=600,interval=1,warmup=0\n"
    )
    assert (counts(result)["create"], counts(result)["write"]) == (20, 80)
