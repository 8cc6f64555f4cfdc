"""Spark as a database of decision support: its answers beside DuckDB's, changes of its tables, a cluster, and its end with ours."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from long.conftest import COMMAND
from plimsoll.apps.databases import spark_cluster
from plimsoll.apps.databases.address import parse
from plimsoll.apps.databases.database import Database, DatabaseError, Settings
from plimsoll.apps.databases.duckdb import DuckDb
from plimsoll.apps.databases.java_process import running
from plimsoll.apps.databases.spark import Spark
from plimsoll.apps.decision import dataset, refresh
from plimsoll.apps.decision.dataset import Hearing
from plimsoll.decision.queries import QUERIES, qualification, text
from plimsoll.decision.validation import differences_between
from support.observed_queries import check_observed
from support.patience import HANGS_S, seen, wait_until
from support.said import Said
from support.spark import PACKAGES, master, missing_spark, spark_packages, worker

pytestmark = pytest.mark.skipif(missing_spark() is not None, reason=str(missing_spark()))
GIB = 1 << 30
SCALE = 0.1


class Going:
    """Nobody stops the load."""

    stopped = False

    def stop(self) -> None:
        """Not here."""

    abort = stop


@pytest.fixture(scope="module", autouse=True)
def packages() -> Iterator[None]:
    with spark_packages():
        yield


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Spark, DuckDb]]:
    """Spark and DuckDB with the same tables, scale 0.1. The name of the directory has what Hadoop would take for patterns."""
    home, other = tmp_path_factory.mktemp("spark [1] {a}"), tmp_path_factory.mktemp("duckdb")
    spark = Spark(parse("spark:local[2]"), str(home), Settings(GIB))
    duckdb = DuckDb(str(other), Settings(GIB))
    for database in (spark, duckdb):
        database.open()
        note = dataset.load(database, SCALE, Hearing(lambda *_: None, Going()))
        dataset.write(database, note)
    yield spark, duckdb
    spark.close()
    duckdb.close()
    assert running(str(home)) == []


def answers(database: Database, numbers: list[int]) -> dict[int, list[tuple[object, ...]]]:
    values = qualification(SCALE)
    with database.session() as session:
        return {number: session.run([text(number, values[number], database.dialect)]) for number in numbers}


def wrong(both: tuple[Spark, DuckDb], numbers: list[int]) -> list[str]:
    spark, duckdb = (answers(database, numbers) for database in both)
    return [said for number in numbers for said in differences_between(number, spark[number], duckdb[number], SCALE)]


def test_all_22_answers_are_those_of_duckdb_at_a_tenth(both: tuple[Spark, DuckDb]) -> None:
    assert wrong(both, list(QUERIES)) == []


def test_orders_that_come_and_go_leave_the_tables_of_duckdb(both: tuple[Spark, DuckDb]) -> None:
    found: list[object] = []
    for database in both:
        with database.session() as session:
            moved = [(refresh.coming(session, SCALE)(), refresh.going(session, SCALE)()) for _ in range(2)]
            items = session.run(["SELECT count(*), sum(l_extendedprice), min(l_orderkey), max(l_comment) FROM lineitem"])
            orders = session.run(["SELECT count(*), sum(o_totalprice), min(o_orderkey), max(o_comment) FROM orders"])
            found.append((moved, items, orders))
            assert refresh.Sets.of(session) == refresh.Sets(2, 2)
    assert found[0] == found[1]
    assert wrong(both, [1, 4, 18]) == []


def test_a_transaction_sees_its_changes_and_others_see_them_after_its_commit(both: tuple[Spark, DuckDb]) -> None:
    count = "SELECT count(*) FROM nation"
    with both[0].session() as session, both[0].session() as other:
        session.begin()
        session.run(["DELETE FROM nation WHERE n_nationkey < 5"])
        session.copy("nation", [b"95\tATLANTIS\t4\t", b"below\\N\n96\tTHULE\t4\t\\N\n"])
        assert (session.run([count]), other.run([count])) == ([(22,)], [(25,)])
        assert session.run(["SELECT n_comment FROM nation WHERE n_nationkey > 90 ORDER BY n_nationkey"]) == [("below\\N",), (None,)]
        session.rollback()
        assert session.run([count]) == [(25,)]
        session.run(["CREATE TABLE again (number BIGINT, word VARCHAR(9))", "DELETE FROM again WHERE number = 1"])
        session.copy("again", [b"1\ta\n2\tb\n"])
        session.run(["DELETE FROM again WHERE number IN (SELECT n_regionkey FROM nation WHERE n_name = 'CANADA')"])
        assert other.run(["SELECT * FROM again"]) == [(2, "b")]
        session.run(["DROP TABLE again"])


def test_a_statement_ends_when_another_thread_cancels_it(both: tuple[Spark, DuckDb]) -> None:
    with both[0].session() as session:
        stop = threading.Event()

        def cancel() -> None:
            while not stop.wait(0.05):
                session.cancel()

        helper = threading.Thread(target=cancel)
        helper.start()
        try:
            with pytest.raises(DatabaseError, match="was cancelled") as problem:
                session.run(["SELECT count(*) FROM lineitem a, lineitem b WHERE a.l_tax + b.l_tax = 7"])
        finally:
            stop.set()
            helper.join()
        assert problem.value.trouble == "cancelled"
        assert session.run(["SELECT count(*) FROM region"]) == [(5,)]


def test_what_a_statement_spilled_and_computed_is_counted(both: tuple[Spark, DuckDb]) -> None:
    with both[0].session() as session:
        session.run(["SELECT count(DISTINCT l_comment) FROM lineitem"])
        moved = session.moved()
        assert moved.spill_bytes == 0
        assert moved.cpu_s is not None
        assert moved.cpu_s > 0
        # Spark's counter leaves out what its vectored reader reads.
        assert moved.read_bytes is None


def test_a_wrong_statement_is_one_sentence(both: tuple[Spark, DuckDb]) -> None:
    with both[0].session() as session, pytest.raises(DatabaseError) as problem:
        session.run(["SELECT nothing_here FROM orders"])
    assert problem.value.trouble == "statement"
    assert "\n" not in str(problem.value)
    assert "nothing_here" in str(problem.value)
    assert "SQLSTATE" not in str(problem.value)


def test_spark_starts_again_with_cold_files_and_says_when_it_is_gone(both: tuple[Spark, DuckDb]) -> None:
    spark, _ = both
    spark.restart()
    assert "page cache of the target was dropped" in spark.cold_how()
    (pid,) = spark.processes()
    with spark.session() as session:
        assert session.run(["SELECT count(*) FROM region"]) == [(5,)]
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(DatabaseError, match="Spark's Java process is gone") as problem:
            session.run(["SELECT count(*) FROM region"])
    assert problem.value.trouble == "lost"
    # Only one is open in a process.
    spark.close()


def test_a_run_on_this_machine_is_observed_and_what_java_computes_is_the_loads(plimsoll: Callable[..., Said], tmp_path: Path) -> None:
    words = ("--scale", "0.02", "--queries", "1,6", "--set", "test=power", "--set", "memory=1GiB", "--json")
    said = plimsoll("run", "decision-support", "--target", f"spark:local?data={tmp_path}/target", *words)
    assert said.code == 0, said.err
    (result,) = json.loads(said.out)["results"]
    decision, cpu = result["engine"]["decision"], result["monitor"]["cpu"]
    check_observed(decision["phases"], decision["queries"])
    # Java computes in user mode most of the time, on some of the processors.
    processors = result["host"]["cpu"]["usable"] * result["monitor"]["seconds"]
    assert cpu["own_user_percent"] / 100 * processors > 0.4 * decision["phases"][0]["engine_cpu_s"]


def test_a_cluster_answers_and_a_worker_that_is_missing_is_said(
    plimsoll: Callable[..., Said], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with master(tmp_path) as address:
        monkeypatch.setattr(spark_cluster, "_WORKERS_S", 1.0)
        (tmp_path / "alone").mkdir()
        lonely = Spark(parse(f"{address}?data={tmp_path}/alone"), str(tmp_path / "alone"), Settings())
        lonely.open()
        with pytest.raises(DatabaseError, match="the master gave nobody who works within 1 s") as problem:
            lonely.started()
        assert problem.value.trouble == "refused"
        lonely.close()
        with worker(tmp_path, address):
            target = f"{address}?data={tmp_path}/shared"
            words = ("--scale", "0.02", "--queries", "1,6", "--set", "test=power", "--set", "memory=1GiB")
            said = plimsoll("run", "decision-support", "--target", target, *words, "--json")
    assert said.code == 0, said.err
    printed = json.loads(said.out)
    assert [(query["number"], query["rows"]) for query in printed["queries"]] == [(6, 1), (1, 4)]
    # Counted by Spark on the worker, since no process of this host is known to be the cluster's.
    assert all(query["engine_cpu_s"] > 0 for query in printed["queries"])
    assert [done["refresh"] for done in printed["refreshes"]] == ["rf1", "rf2"]
    assert not (tmp_path / "shared").exists()


def test_spark_ends_with_a_run_that_is_killed_and_one_that_hangs_is_stopped_by_the_next_command(
    plimsoll: Callable[..., Said], tmp_path: Path
) -> None:
    home = tmp_path / "target" / "spark"
    command = [COMMAND, "run", "decision-support", "--target", f"spark:local?data={tmp_path}/target", "--scale", "0.01", "--quiet"]
    for hangs in (False, True):
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
            try:
                pid = seen(lambda: _spark(home), "Spark starts")
                if hangs:
                    os.kill(pid, signal.SIGSTOP)
            finally:
                run.kill()
        if hangs:
            assert running(str(home)) == [pid]
            assert f"stopped Spark in {tmp_path}/target, which a killed run had left running (pid {pid})" in plimsoll("list").err
        wait_until(lambda: running(str(home)) == [], "nothing of Spark is left")


def _spark(home: Path) -> int | None:
    """Spark itself, when the script and the program that start it have become that."""
    found = [pid for pid in running(str(home)) if "launcher.Main" not in (words := _words(pid)) and "deploy.SparkSubmit" in words]
    return found[0] if len(found) == len(running(str(home))) == 1 else None


def _words(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


def test_a_missing_package_is_said_before_anything_is_written(tmp_path: Path) -> None:
    without = {**os.environ, "PYTHONPATH": ""}
    command = [COMMAND, "run", "decision-support", "--target", f"spark:local?data={tmp_path}/target", "--scale", "0.01"]
    said = subprocess.run(command, env=without, capture_output=True, text=True, check=False, timeout=HANGS_S, cwd=tmp_path)
    assert said.returncode == 2
    assert "pip install 'plimsoll[spark]'" in said.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_packages_are_those_of_the_lock() -> None:
    assert (PACKAGES / ".lock").read_text() == (PACKAGES.parents[2] / "dev/spark.lock").read_text()
