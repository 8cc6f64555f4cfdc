"""A Spark cluster of the user's as a target, a real one on loopback: the suite runs on it, and what is wrong with it is one sentence.

Model: a master lives for all tests, each has a worker of its own or none. Nothing of the user's is touched: the directory that holds the data
has a file of theirs, which is there afterwards, and nothing of ours is.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from long.conftest import COMMAND
from plimsoll.store.reader import StoredRun, list_runs
from support.patience import HANGS_S, wait_until
from support.reachable import reachable_place
from support.said import Said
from support.spark import master, missing_spark, spark_packages, worker

pytestmark = pytest.mark.skipif(missing_spark() is not None, reason=str(missing_spark()))
SMALL = ("--scale", "0.02", "--queries", "6", "--memory", "1GiB", "--json")
POWER = ("run", "decision-support", *SMALL, "--set", "test=power")


@pytest.fixture(scope="module", autouse=True)
def packages() -> Iterator[None]:
    with spark_packages():
        yield


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with master(tmp_path_factory.mktemp("master")) as found:
        yield found


@pytest.fixture
def theirs(tmp_path: Path) -> Iterator[Path]:
    """A directory of the user's, which every user reaches; at the end it is as it was."""
    with reachable_place() as place:
        (place / "letter").write_text("mine")
        yield place
        assert {path.name: path.read_text() for path in place.iterdir()} == {"letter": "mine"}


def refused(said: Said, code: int, sentence: str) -> None:
    """It ended so, and the sentence was said, without what Java and Python say."""
    assert said.code == code, said.err
    told = f"{said.out}\n{said.err}"
    assert re.search(sentence, " ".join(told.split())), told
    for word in ("Traceback", "org.apache", "py4j", "Exception"):
        assert word not in told


def target(address: str, directory: Path) -> tuple[str, str]:
    return "--target", f"{address}?data={directory}/data"


def test_the_suite_runs_on_a_cluster_and_leaves_nothing(plimsoll: Callable[..., Said], address: str, theirs: Path, tmp_path: Path) -> None:
    with worker(tmp_path, address):
        said = plimsoll("suite", "decision-support", *SMALL, "--streams", "1", *target(address, theirs))
    assert said.code == 0, said.err
    printed = json.loads(said.out)
    assert all(printed["metrics"][name] > 0 for name in ("power", "throughput", "composite"))
    assert printed["metrics"]["price_per_composite"] is None
    (side,) = printed["sides"]
    assert printed["metrics"]["composite"] == min(run["composite"] for run in side["runs"])
    # Of the run that is reported; refreshes came beside both.
    assert sorted((query["phase"], query["number"]) for query in printed["queries"]) == [("power", 6), ("throughput", 6)]
    assert all(query["engine_cpu_s"] > 0 and query["rows"] == 1 for query in printed["queries"])
    assert "not comparable with published TPC-H results" in said.out


def test_a_wrong_port_and_a_master_that_was_stopped_are_said_before_anything_is_written(
    plimsoll: Callable[..., Said], theirs: Path, tmp_path: Path
) -> None:
    with master(tmp_path) as stopped:
        pass
    refused(plimsoll(*POWER, *target(stopped, theirs)), 2, r"no Spark master answers \(127.0.0.1:\d+: connection refused\); start it, or")
    assert not (tmp_path / "results").exists()


def test_a_port_where_something_else_listens_is_said_before_anything_is_loaded(plimsoll: Callable[..., Said], theirs: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        said = plimsoll(*POWER, *target(f"spark://127.0.0.1:{other.getsockname()[1]}", theirs))
    refused(said, 4, r"what listens there does not answer as a Spark master of this version does; write the address that the master's page")
    assert "preparing" not in said.err


def test_a_cluster_without_workers_is_not_waited_for(plimsoll: Callable[..., Said], address: str, theirs: Path) -> None:
    said = plimsoll(*POWER, *target(address, theirs))
    refused(said, 4, r"the master gave nobody who works within 60 s: no worker lives, none has 1g of memory to spare, or none reaches this")
    assert "preparing" not in said.err


def test_a_directory_that_the_worker_does_not_see_is_said_before_anything_is_loaded(
    plimsoll: Callable[..., Said], address: str, theirs: Path, tmp_path: Path
) -> None:
    """The worker has another file system at the same path."""
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        pytest.skip("skipped: file systems of a worker's own need root and unshare")
    hidden = ("unshare", "--mount", "--propagation", "private", "sh", "-c", 'mount -t tmpfs none "$0" && exec "$@"', str(theirs))
    with worker(tmp_path, address, through=hidden):
        said = plimsoll(*POWER, *target(address, theirs))
    refused(said, 4, rf"a worker cannot read {theirs}/data; name a directory that every worker sees by the same path")
    assert "preparing" not in said.err


def test_a_directory_that_the_worker_may_not_write_to_is_said_and_queries_need_no_more(
    plimsoll: Callable[..., Said], address: str, theirs: Path
) -> None:
    """The worker is another user's."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("skipped: a worker of another user's needs root and setpriv")
    with reachable_place() as place:
        place.chmod(0o777)
        with worker(place, address, through=("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")):
            said = plimsoll(*POWER, *target(address, theirs))
            refused(
                said, 4, rf"RF1 of the power test: .*a worker cannot write below {theirs}/data; let the user of the workers write there"
            )
            said = plimsoll(*POWER, "--no-refresh", *target(address, theirs))
            assert said.code == 0, said.err


def test_a_query_does_not_wait_for_ever_for_a_worker_that_died(address: str, theirs: Path, tmp_path: Path) -> None:
    """Many streams, so that it dies while they ask; what was measured before stays."""
    asked = ("run", "decision-support", *SMALL, "--set", "test=throughput", "--no-refresh", "--streams", "60")
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    with (
        worker(tmp_path, address) as struck,
        subprocess.Popen(
            [COMMAND, *asked, *target(address, theirs)],
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as run,
    ):
        try:
            wait_until(lambda: run.poll() is not None or _ended(tmp_path) > 0, "a query has ended")
            struck.send_signal(signal.SIGKILL)
            out, err = run.communicate(timeout=HANGS_S)
        finally:
            run.kill()
    refused(
        Said(run.returncode, out, err), 4, r"the cluster's last worker is gone, and no other came within 60 s; start workers, then give"
    )
    (stored,) = list_runs(str(tmp_path / "results"))
    assert isinstance(stored, StoredRun)
    (point,) = stored.points
    assert 0 < len(point.result.engine["decision"]["queries"]) < 60


def _ended(folder: Path) -> int:
    """Queries that the stored intervals have."""
    return sum(text.count('"number"') for text in (path.read_text() for path in folder.glob("results/*/points/*/intervals.jsonl")))
