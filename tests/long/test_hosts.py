"""Several hosts as one: exact sums, a common start, permission judged on each, a dead worker named. Workers on this machine, no Ray."""

from __future__ import annotations

import json
import os
import signal
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from plimsoll.gang.nest import marked
from plimsoll.histogram import decoded
from plimsoll.store.reader import open_run
from support.gang import Gang, is_down, worker_of
from support.patience import HANGS_S, first_fair, wait_until

HOSTS = ("local1", "local2", "local3")
TIMES = ("-d", "400ms", "-w", "100ms", "--set", "interval=100ms", "-q")


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Gang:
    """One run on three workers."""
    gang = Gang(tmp_path_factory.mktemp("hosts"))
    done = gang.run("run", "random-read-4k", "--hosts", "local:3", "--target", "null:", *TIMES)
    assert done.returncode == 0, done.stderr
    return gang


def buckets(interval: Any) -> Counter[int]:
    cells = [cell for cell in interval["cells"] if cell.get("part") is None]
    return Counter({top: count for cell in cells for top, count in decoded(cell["latency"]).buckets()})


def test_the_sums_are_those_of_the_hosts_own_results(measured: Gang) -> None:
    point = measured.point()
    assert [host["name"] for host in point["hosts"]] == list(HOSTS)
    assert [host["status"] for host in point["hosts"]] == ["complete"] * 3
    for figure in ("count", "bytes", "errors"):
        assert point["totals"]["read"][figure] == sum(host["totals"]["read"][figure] for host in point["hosts"])
    assert point["job"]["threads"] == 3


def test_each_interval_holds_every_bucket_of_every_host(measured: Gang) -> None:
    (path,) = measured.results.iterdir()
    (whole,) = open_run(str(path)).points
    parts = [open_run(str(path / "hosts" / host)).points[0] for host in HOSTS]
    own = [{one["index"]: one for one in part.intervals() if one["phase"] != "drain"} for part in parts]
    told = [one for one in whole.intervals() if one["phase"] != "drain"]
    assert len(told) == 5
    for one in told:
        expected: Counter[int] = Counter()
        for host in own:
            expected.update(buckets(host[one["index"]]))
        assert buckets(one) == expected


def test_a_host_s_copy_is_a_run_like_any_other(measured: Gang) -> None:
    (path,) = measured.results.iterdir()
    for host, told in zip(HOSTS, measured.point()["hosts"], strict=True):
        run = open_run(str(path / "hosts" / host))
        assert run.status == "complete" or run.meta["status"] == "running"
        result = run.points[0].result
        assert result.totals["read"].count == told["totals"]["read"]["count"]
        assert (path / told["point"]).is_dir()
        assert result.host.get("machine"), "facts of the host stand in its own result"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("show",), "latest/hosts/local2: 1 point"),
        (("compare", "latest/hosts/local1"), "local2"),
        (("report", "-o", "local2.csv"), "local2.csv"),
        (("export", "--as", "csv"), "random-read-4k"),
    ],
)
def test_what_one_host_measured_is_named_behind_its_run(measured: Gang, words: tuple[str, ...], said: str) -> None:
    done = measured.run(*words, "latest/hosts/local2")
    assert done.returncode == 0, done.stderr
    assert said in done.stdout


def test_the_figures_shown_of_a_host_are_its_own(measured: Gang) -> None:
    done = measured.run("show", "latest/hosts/local2", "--json")
    (result,) = json.loads(done.stdout)
    own = next(host for host in measured.point()["hosts"] if host["name"] == "local2")
    assert result["totals"]["read"]["count"] == own["totals"]["read"]["count"]


def test_a_host_that_a_run_does_not_have_is_told_with_those_it_has(measured: Gang) -> None:
    (run,) = measured.results.iterdir()
    for verb in ("show", "compare", "report"):
        done = measured.run(verb, "latest/hosts/db9")
        assert (done.returncode, done.stdout) == (2, "")
        assert f"'db9' is no host of '{run.name}'; its hosts are 'local1', 'local2' and 'local3'." in done.stderr


def test_clocks_are_compared_and_the_start_is_common(measured: Gang) -> None:
    for host in measured.point()["hosts"]:
        # One machine has one monotonic clock.
        assert abs(host["offset_ns"]) <= host["offset_bound_ns"]
        assert abs(host["drift_ns"]) <= 2 * host["offset_bound_ns"] + 200_000
        assert host["skew_ns"] >= -host["offset_bound_ns"], "nobody begins before the instant"


def test_nothing_of_the_gang_is_left(measured: Gang) -> None:
    assert measured.notes() == []
    assert not list(measured.state.rglob("*.jsonl"))


def test_hosts_draw_from_seeds_of_their_own(measured: Gang) -> None:
    (path,) = measured.results.iterdir()
    seeds = {open_run(str(path / "hosts" / host)).points[0].result.job.seed for host in HOSTS}
    assert len(seeds) == 3


def killed(place: Path) -> tuple[Gang, str, int, str]:
    """A run of two workers, one of which is killed: where it is, its gang, its exit code and what it said."""
    gang = Gang(place / str(time.monotonic_ns()))
    gang.place.mkdir()
    words = ("run", "random-read-4k", "--hosts", "local:2", "--target", "null:", "-d", "5s", "-w", "0s", "--set", "interval=100ms")
    process = gang.start(*words)
    nest = gang.note(process)["nest"]
    gang.begun(2, process)
    with suppress(ProcessLookupError, AssertionError):
        os.kill(worker_of(nest, "local2"), signal.SIGKILL)
    _, said = process.communicate(timeout=HANGS_S)
    return gang, nest, process.returncode, said


def test_a_killed_worker_is_named_and_the_others_figures_are_kept(tmp_path: Path) -> None:
    # On a machine that stands still the run may end before the kill.
    gang, nest, code, said = first_fair(lambda: killed(tmp_path), lambda found: "lost before" not in found[3] and found[2] != 0)
    assert code == 4
    point = gang.point()
    lived, died = point["hosts"]
    assert point["status"] == "failed"
    assert (lived["status"], died["status"]) == ("complete", "lost")
    assert "local2: lost " in point["error"]
    assert "its worker was killed by SIGKILL" in point["error"]
    assert point["error"] in said
    assert "random-read-4k  local2: lost " in said, "said when it happened, before the end"
    assert not list(gang.results.glob("*/points/*/hosts.json")), "how far hosts are is of a point that goes on"
    assert point["totals"]["read"]["count"] >= lived["totals"]["read"]["count"] > 0, "a dead host is not a zero"
    assert "host_missing" in [flag["name"] for flag in point["flags"] if flag["severity"] == "invalid"]
    assert is_down(nest)


def test_what_workers_measure_after_their_command_was_killed_is_collected(tmp_path: Path) -> None:
    gang = Gang(tmp_path)
    words = ("run", "random-read-4k", "--hosts", "local:2", "--target", "null:", "-d", "5s", "-w", "0s", "--set", "interval=100ms")
    process = gang.start(*words)
    nest = gang.note(process)["nest"]
    gang.begun(2, process)
    process.kill()
    process.communicate()
    if not list(gang.state.glob("plimsoll/gangs/*/*/*/points/*/result.json")):
        early = gang.run("hosts", "collect", "latest")
        assert early.returncode == 4 or not list(marked(nest)), early.stderr
    wait_until(lambda: is_down(nest), "the workers finish their point and leave, the keeper with them")
    (run,) = gang.results.iterdir()
    done = gang.run("hosts", "collect", run.name)
    assert done.returncode == 0, done.stderr
    point = gang.point()
    assert point["status"] == "complete"
    assert [host["status"] for host in point["hosts"]] == ["complete", "complete"]
    assert all(host["offset_bound_ns"] is not None and host["skew_ns"] is not None for host in point["hosts"])
    # Nobody was there for most of it.
    assert sum(1 for one in open_run(str(run)).points[0].intervals() if one["phase"] == "measure") == 50
    assert point["totals"]["read"]["count"] == sum(host["totals"]["read"]["count"] for host in point["hosts"])
    again = gang.run("hosts", "collect", run.name)
    assert (again.returncode, "0 points of hosts copied, 0 made" in again.stdout) == (0, True)
    assert gang.notes() == [], "what was collected need not be kept twice"
    resumed = gang.run(*words)
    assert resumed.returncode == 0, resumed.stderr
    assert "1 point is there" in resumed.stderr
    assert gang.point()["started"] == point["started"]


def test_hosts_are_examined_before_they_measure(tmp_path: Path) -> None:
    done = Gang(tmp_path).run("hosts", "check", "--hosts", "local:2", "--json")
    found = json.loads(done.stdout)
    assert [host["name"] for host in found] == ["local1", "local2"]
    for host in found:
        assert abs(host["clock"]["offset_ns"]) <= host["clock"]["bound_ns"]
        assert {check["name"] for check in host["checks"]} >= {"clocksource", "io_uring"}
        assert host["versions"]["plimsoll"]


def test_a_run_of_one_host_has_nothing_to_collect(tmp_path: Path) -> None:
    gang = Gang(tmp_path)
    assert gang.run("run", "random-read-4k", "--target", "null:", "-d", "20ms", "-w", "0s", "-q").returncode == 0
    done = gang.run("hosts", "collect", "latest")
    assert done.returncode == 2
    assert "was measured by this host alone, so there is nothing to collect" in done.stderr


def test_each_host_prepares_and_removes_its_own_scratch_file(tmp_path: Path) -> None:
    gang = Gang(tmp_path)
    done = gang.run("run", "random-write-4k", "--hosts", "local:2", "--target", "./{host}.dat", "--size", "4MiB", *TIMES)
    assert done.returncode == 0, done.stderr
    assert [host["target"] for host in gang.point()["hosts"]] == ["./local1.dat", "./local2.dat"]
    assert not list(tmp_path.glob("local*")), "what was made is removed"


def test_a_host_refuses_what_it_must_not_write_to_and_nothing_is_measured(tmp_path: Path) -> None:
    gang = Gang(tmp_path)
    theirs = b"\x01\x02" * 2048
    (tmp_path / "local2.dat").write_bytes(theirs)
    done = gang.run("run", "random-write-4k", "--hosts", "local:2", "--target", "./{host}.dat", "--size", "4MiB", *TIMES)
    assert done.returncode == 3
    assert "local2: " in done.stderr
    assert "was not made by Plimsoll" in done.stderr
    assert (tmp_path / "local2.dat").read_bytes() == theirs
    assert not list(gang.results.glob("*"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--hosts", "db1,-oProxyCommand=x", "--target", "null:"), "'-oProxyCommand=x' names no host that can be reached"),
        (("--hosts", "db1,db1", "--target", "null:"), "db1 is named twice"),
        (("--hosts", "missing.toml", "--target", "null:"), "missing.toml: no such file or directory"),
        (("--hosts", "local:0", "--target", "null:"), "0 workers cannot be"),
    ],
)
def test_hosts_that_cannot_be_are_one_sentence(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    done = Gang(tmp_path).run("run", "random-read-4k", *words, *TIMES)
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
