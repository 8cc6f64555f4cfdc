"""What is a Spark cluster's fault is told as that, from what Spark says; a minute without workers ends what waits for them."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Sequence
from typing import Any, cast

import pytest

from plimsoll.apps.databases import spark_cluster
from plimsoll.apps.databases.address import parse
from plimsoll.apps.databases.database import DatabaseError
from plimsoll.apps.databases.spark_cluster import Watch, check_masters, told_of
from plimsoll.errors import InputError
from support.patience import HANGS_S

ADDRESS = parse("spark://127.0.0.1:7077?data=/mnt/dss")
ABORTED = "Job aborted due to stage failure: Task 0 in stage 0.0 failed 4 times"


class Context:
    """A pyspark SparkContext whose cluster has so many workers, one number for each look and the last from then on."""

    def __init__(self, workers: Sequence[int]) -> None:
        self._workers = list(workers)
        self.cancelled = threading.Event()

    def cancelAllJobs(self) -> None:  # noqa: N802
        self.cancelled.set()

    def getConf(self) -> dict[str, str]:  # noqa: N802
        return {"spark.executor.memory": "3g"}

    def size(self) -> int:
        """Spark counts its driver as well."""
        return 1 + (self._workers.pop(0) if len(self._workers) > 1 else self._workers[0])

    @property
    def _jsc(self) -> Context:
        return self

    def sc(self) -> Context:
        return self

    def statusStore(self) -> Context:  # noqa: N802
        return self

    def executorList(self, _only: bool) -> Context:  # noqa: N802
        return self


def failing(*failures: str) -> Callable[[str], str | None]:
    return lambda words: next((said for said in failures if words.split("|")[0] in said), None)


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """A minute is short."""
    for name, seconds in (("_WORKERS_S", 0.05), ("_WATCH_S", 0.005), ("_AWAIT_S", 0.001)):
        monkeypatch.setattr(spark_cluster, name, seconds)


@pytest.mark.usefixtures("hasty")
def test_jobs_end_when_the_last_worker_is_gone_and_none_comes() -> None:
    context = Context([0, 2, 2, 0])
    watch = Watch(ADDRESS, cast("Any", context))
    watch.await_workers()
    assert context.cancelled.wait(HANGS_S)
    told = told_of(ADDRESS, "Job 3 cancelled as part of cancellation of all jobs", failing(), watch)
    watch.stop()
    assert told is not None
    assert told.trouble == "lost"
    assert "the cluster's last worker is gone, and no other came" in str(told)


def test_workers_that_are_there_are_left_in_peace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark_cluster, "_WATCH_S", 0.001)
    context = Context([1, 0, 0, 1])
    watch = Watch(ADDRESS, cast("Any", context))
    watch.await_workers()
    assert not context.cancelled.wait(0.1)
    assert not watch.is_deserted
    watch.stop()


@pytest.mark.usefixtures("hasty")
def test_nobody_who_works_is_said_with_what_was_asked_of_them() -> None:
    watch = Watch(ADDRESS, cast("Any", Context([0])))
    with pytest.raises(DatabaseError, match="no worker lives, none has 3g of memory to spare, or none reaches this host") as problem:
        watch.await_workers()
    assert problem.value.trouble == "refused"
    watch.stop()


@pytest.mark.parametrize(
    ("said", "failures", "sentence"),
    [
        (
            "Cannot call methods on a stopped SparkContext",
            ["Reason: All masters are unresponsive! Giving up."],
            "does not answer as a Spark",
        ),
        ("stopped SparkContext", ["Application has been killed. Reason: Master removed our application: FAILED"], "the master ended our"),
        (f"{ABORTED}: java.io.FileNotFoundException: File file:/mnt/dss/x does not exist", [], "a worker cannot read /mnt/dss; name a"),
        (f"{ABORTED}: java.io.FileNotFoundException: /mnt/dss/x (Permission denied)", [], "a worker cannot read /mnt/dss; name a"),
        (f"{ABORTED}: java.io.IOException: Mkdirs failed to create file:/mnt/dss/making/_temporary", [], "a worker cannot write below"),
        (f"{ABORTED}: java.io.IOException: /mnt/dss/_temporary/0 (Read-only file system)", [], "a worker cannot write below /mnt/dss; let"),
    ],
)
def test_what_is_the_clusters_fault_is_one_sentence(said: str, failures: Sequence[str], sentence: str) -> None:
    told = told_of(ADDRESS, said, failing(*failures), None)
    assert told is not None
    assert sentence in str(told)
    assert "java" not in str(told)


@pytest.mark.parametrize("said", ["Path does not exist: file:/mnt/dss/x", f"{ABORTED}: java.lang.ArithmeticException: / by zero"])
def test_what_is_not_its_fault_is_not_said_to_be(said: str) -> None:
    assert told_of(ADDRESS, said, failing(), None) is None


def test_one_of_two_masters_is_enough_and_none_is_said() -> None:
    with socket.create_server(("127.0.0.1", 0)) as one:
        port = one.getsockname()[1]
        check_masters(parse(f"spark://127.0.0.1:1,127.0.0.1:{port}?data=/mnt/dss"))
    with pytest.raises(InputError, match=r"no Spark master answers .*; start it, or write the address that it shows"):
        check_masters(parse(f"spark://127.0.0.1:{port}?data=/mnt/dss"))
