"""What a mail store's result says: the counters of the original's report, the verdict on its limits, and the mark of a suite, as text and JSON."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from plimsoll.analysis.mailstore.counters import counters
from plimsoll.analysis.mailstore.mark import store_mark
from plimsoll.analysis.mailstore.tuning import tuning_text
from plimsoll.analysis.mailstore.verdict import verdict
from plimsoll.result import Result
from plimsoll.store.reader import StoredRun, list_runs
from support.said import Plimsoll, in_this_process

#: Ten servers of 5 ms each: every request takes 5 ms unless eleven are outstanding.
SERVERS = "queue:?servers=10&service=const:5ms&size=8GiB"
BRIEF = ("-d", "10s", "-w", "1s")


@pytest.fixture
def plimsoll(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Plimsoll:
    """Commands on the real engine, in virtual time."""
    monkeypatch.chdir(tmp_path)
    return in_this_process(capsys)


@pytest.fixture
def measured(plimsoll: Plimsoll) -> Callable[..., tuple[Result, Any]]:
    """One point of a mail store: the result and the ``--json`` of the command."""

    folders = (f"results-{number}" for number in count())

    def run(*arguments: str) -> tuple[Result, Any]:
        folder = next(folders)
        said = plimsoll("run", *arguments, "-t", SERVERS, *BRIEF, "--out", folder, "--json")
        assert said.code == 0, said.err
        (run,) = list_runs(folder)
        assert isinstance(run, StoredRun)
        return run.points[0].result, said.json

    return run


def settings(**values: object) -> list[str]:
    return [word for key, value in values.items() for word in ("--set", f"{key}={value}")]


def test_every_database_has_its_columns_and_the_last_row_is_the_sum(measured: Callable[..., tuple[Result, Any]]) -> None:
    result, document = measured("mailstore-2010", *settings(databases=2, threads=3, copies=1, log_file_size="256KiB"))
    found = counters(result)
    one, other, total = found.transactional
    assert [row.name for row in found.transactional] == ["database-1", "database-2", "all databases"]
    assert total.reads_per_s == pytest.approx(one.reads_per_s + other.reads_per_s)
    assert total.log_writes_per_s == pytest.approx(one.log_writes_per_s + other.log_writes_per_s)
    assert one.read_mean_ns is not None and other.read_mean_ns is not None
    weighted = (one.read_mean_ns * one.reads_per_s + other.read_mean_ns * other.reads_per_s) / total.reads_per_s
    assert total.read_mean_ns == pytest.approx(weighted)
    assert total.read_bytes == 32768 and (total.write_bytes or 0) >= 32768
    # Achieved transfers are those of databases: no log, no maintenance, no copies.
    assert found.achieved_per_s == pytest.approx(total.reads_per_s + total.writes_per_s)
    assert document["stores"][0]["achieved_transfers_per_s"] == pytest.approx(found.achieved_per_s)
    assert found.threads == 6 and "not Jetstress" in document["derived"]


def test_what_goes_on_in_the_background_is_told_apart_and_added_where_everything_is(measured: Callable[..., tuple[Result, Any]]) -> None:
    result, _ = measured("mailstore-2010", *settings(threads=4, copies=2, log_file_size="256KiB"))
    found = counters(result)
    (maintenance, _), (replication, _) = found.maintenance, found.replication
    # 5 MB/s in pieces of 256 KiB are 19 reads per second.
    assert maintenance.reads_per_s == pytest.approx(5e6 / 262_144, rel=0.02) and maintenance.read_bytes == 262_144
    assert replication.reads_per_s > 0 and replication.read_bytes == 262_144
    apart, together = found.transactional[0], found.together[0]
    assert together.reads_per_s == pytest.approx(apart.reads_per_s + maintenance.reads_per_s)
    assert apart.log_reads_per_s == 0 and together.log_reads_per_s == pytest.approx(replication.reads_per_s)
    assert together.writes_per_s == apart.writes_per_s and together.log_writes_per_s == apart.log_writes_per_s


def test_a_store_passes_while_every_database_keeps_the_limits_of_its_generation(measured: Callable[..., tuple[Result, Any]]) -> None:
    well, document = measured("mailstore-2003", *settings(threads=4))
    held = verdict(well)
    assert held is not None and held.passed and document["stores"][0]["passed"] is True
    assert {(check.op, check.figure) for check in held.checks} == {("read", "mean"), ("write", "mean")}
    ill, document = measured("mailstore-2003", *settings(threads=64))
    broken = verdict(ill)
    assert broken is not None and not broken.passed and document["stores"][0]["passed"] is False
    assert [check.op for check in broken.checks if not check.holds] == ["read", "write"]
    failed = replace(well, totals={**well.totals, "read": replace(well.totals["read"], errors=1)})
    one_failed = verdict(failed)
    assert one_failed is not None and not one_failed.passed, "a store whose requests fail does not pass"


def test_a_store_without_a_generation_has_no_verdict(measured: Callable[..., tuple[Result, Any]], tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('driver = "mailstore"\nthreads = 2\n')
    result, document = measured("mine.toml")
    assert verdict(result) is None and document["stores"][0]["passed"] is None and document["stores"][0]["checks"] == []


def test_a_backup_is_counted_and_not_judged(measured: Callable[..., tuple[Result, Any]]) -> None:
    result, _ = measured("mailstore-2003", *settings(test="backup"))
    found = counters(result)
    assert verdict(result) is None
    assert found.maintenance[0].reads_per_s == pytest.approx(200, rel=0.01), "one request of 5 ms after the other"
    assert found.achieved_per_s == 0 and found.transactional[0].read_mean_ns is None


def test_the_suite_of_each_side_ends_with_its_mark_and_what_was_too_slow_first(plimsoll: Plimsoll, tmp_path: Path) -> None:
    (tmp_path / "short.toml").write_text(
        'title = "Short"\npurpose = "20 ms"\nsource = "here"\nrationale = "short"\n[[experiment]]\nname = "20 ms"\nkind = "ramp"\n'
        'workloads = ["mailstore-2003"]\nover = { threads = "1..128" }\nobjective = "read mean <= 20ms and write mean <= 20ms"\n'
        'resolution = "10%"\nset = { duration = "4s", warmup = "1s" }\n'
    )
    slow, fast = SERVERS.replace("servers=10", "servers=4"), SERVERS
    said = plimsoll("suite", "short.toml", "-t", f"four={slow}", "-t", f"ten={fast}", "--json")
    assert said.code == 0, said.err
    four, ten = said.json["sides"]
    assert (four["side"], ten["side"]) == ("four", "ten")
    for side in (four, ten):
        assert set(side["mark"]) == {"transfers_per_s", "threads", "crossed_first"}
        assert side["mark"]["crossed_first"] in ("read", "write")
    # At most as many of the servers' 200 per second each as are left beside the log.
    assert 400 < four["mark"]["transfers_per_s"] < 800 < ten["mark"]["transfers_per_s"] < 2000
    assert four["mark"]["threads"] < ten["mark"]["threads"]


def test_a_mark_above_which_nothing_failed_was_crossed_by_nothing() -> None:
    mark: Any = {"iops": 750.0, "level": 14.0, "failed_by": None}
    assert store_mark(mark) == {"transfers_per_s": 750.0, "threads": 14.0, "crossed_first": None}
    assert store_mark({**mark, "failed_by": "write mean <= 20ms"})["crossed_first"] == "write"
    assert store_mark({**mark, "failed_by": "iops >= 100"})["crossed_first"] is None


def test_a_terminal_shows_the_databases_the_verdict_and_the_warnings_of_the_original(plimsoll: Plimsoll) -> None:
    said = plimsoll("run", "mailstore-2010", "-t", SERVERS, *BRIEF, *settings(databases=2))
    for text in (
        "database-2",
        "all databases",
        "transfers/s of databases.",
        "Pass: every database keeps the limits",
        "The original warns: delete_percent 20 is above 10.",
        "modelled on Jetstress, not Jetstress",
    ):
        assert text in said.text, text
    assert "queue depth" not in said.text.partition("database-1")[0], "a thread of a store has no queue depth"


def test_what_tuning_found_is_a_sentence() -> None:
    cycle = {"write_ns": 1e5, "transient_s": 30, "holds": True}
    cycles = [{**cycle, "threads": 14, "read_ns": 19.6e6}, {**cycle, "threads": 15, "read_ns": 21e6, "holds": False}]
    found = {"threads": 14, "failed_at": 15, "cycles": cycles, "failure": None}
    assert tuning_text(found) == "Tuned to 14 threads: reads take 19.6 ms; with 15, reads take 21 ms. 2 numbers of threads tried."
    assert "; more were not allowed." in tuning_text({**found, "failed_at": None, "cycles": cycles[:1]})
    failed = {**found, "failure": "latency was not stable within ten minutes, with 16 threads"}
    assert tuning_text(failed).startswith("Not tuned: latency was not stable within ten minutes, with 16 threads. Up to 14 held.")


def test_a_run_of_more_than_six_hours_at_a_rate_is_held_against_the_limits_of_a_stress_test(plimsoll: Plimsoll) -> None:
    stress = ("-d", "7h", "-w", "1s", *settings(threads=4, rate=3, maintenance=0, interval="30m"))
    said = plimsoll("run", "mailstore-2010", "-t", SERVERS, *stress, "--json")
    assert said.code == 0, said.err
    (store,) = said.json["stores"]
    assert store["operations_per_s"] == pytest.approx(3, rel=0.01)
    limits = {(check["op"], check["figure"]): check["limit_ns"] / 1e6 for check in store["checks"]}
    assert limits["read", "max"] == limits["log-write", "max"] == 200 and store["passed"] is True
