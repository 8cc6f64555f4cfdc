"""Decision support as a load: what is asked in which order, what is kept of it, and what is said when it goes wrong."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from plimsoll.apps.course import Course, Ended, Timing
from plimsoll.apps.databases.database import Counters, DatabaseError, Row
from plimsoll.apps.decision import dataset, options, procedure
from plimsoll.apps.decision.dataset import Hearing, Note
from plimsoll.apps.decision.driver import _storing_s
from plimsoll.apps.decision.observation import Glance, Observer, seen
from plimsoll.apps.decision.options import QueryOptions
from plimsoll.apps.decision.procedure import Plan, Procedure
from plimsoll.apps.decision.records import Done, Kept, Whole, figures
from plimsoll.decision import data
from plimsoll.errors import InputError, Interrupted
from plimsoll.monitor.counters import TICKS_PER_S
from support.patience import HANGS_S
from support.scripted_database import ScriptedDatabase, ScriptedSession

#: Sixty seconds, which no test comes near to.
PATIENT = Timing(warmup_ns=0, duration_ns=60_000_000_000, interval_ns=60_000_000_000)
NOTE = Note(scale=0.01, rows=1, text_bytes=1, data_bytes=1000, load_s=1.0, checked=tuple(range(1, 23)))


class Brake:
    stopped = False

    def stop(self) -> None:
        self.stopped = True

    abort = stop


def asked(**given: object) -> QueryOptions:
    return QueryOptions.of(options.canonical({"scale": 0.01, "refresh": False, **given}, "test"))


def carried_out(
    database: ScriptedDatabase, wanted: QueryOptions, control: Brake | None = None
) -> tuple[Procedure, Ended, list[dict[str, Any]]]:
    """The procedure on a scripted database, how its job ended, and its intervals."""
    observer = Observer((), database.processes)
    procedure = Procedure(Plan.of(wanted, NOTE, "duckdb", seed=1), database, observer)
    intervals: list[dict[str, Any]] = []

    def hear(kind: str, event: dict[str, Any]) -> None:
        if kind == "interval":
            intervals.append(event)

    course = Course(PATIENT, hear, control or Brake(), tells_silence=False)
    ended = course.run(procedure)
    observer.close()
    return procedure, ended, intervals


def test_the_power_test_asks_the_22_queries_in_order_0_between_both_refreshes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(procedure, "coming", lambda _session, _scale: lambda: 1)
    monkeypatch.setattr(procedure, "going", lambda _session, _scale: lambda: 1)
    found, ended, _ = carried_out(ScriptedDatabase(), asked(test="power", refresh=True))
    # Row 0 of appendix A of the specification.
    order = [14, 2, 9, 20, 6, 17, 18, 8, 21, 13, 3, 22, 16, 4, 11, 15, 1, 10, 19, 5, 7, 12]
    assert [done.op for done in found.kept.done] == ["rf1", *(f"q{number}" for number in order), "rf2"]
    assert ended.stopped_by == "amount"


def test_what_a_query_did_to_storage_is_parsed_by_nobody_who_asks_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[str] = []

    def noted(_self: Procedure, _before: Glance, _after: Glance) -> dict[str, object]:
        threads.append(threading.current_thread().name)
        return {"bytes_read": 4096}

    monkeypatch.setattr(Procedure, "seen", noted)
    found, _, _ = carried_out(ScriptedDatabase(), asked(test="power"))
    assert threads == []
    assert [query["bytes_read"] for query in found.kept.fresh()] == [4096] * 22
    assert [done.to_json()["bytes_read"] for done in found.kept.done] == [4096] * 22
    assert threads == [threading.current_thread().name] * 22, "each once, and not in the thread of the stream"


def test_each_stream_asks_in_its_own_order_beside_a_pair_of_refreshes_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(procedure, "coming", lambda _session, _scale: lambda: 1)
    monkeypatch.setattr(procedure, "going", lambda _session, _scale: lambda: 1)
    found, _, intervals = carried_out(ScriptedDatabase(), asked(test="throughput", streams=3, refresh=True))
    orders = {stream: [int(done.op[1:]) for done in found.kept.done if done.stream == stream] for stream in (1, 2, 3)}
    assert orders == {stream: list(data.ORDER[stream]) for stream in (1, 2, 3)}
    assert [done.op for done in found.kept.done if done.stream is None] == ["rf1", "rf2"] * 3
    cells = {(cell["stream"], cell["op"]) for interval in intervals for cell in interval["cells"]}
    assert ("stream 2", "q7") in cells
    assert ("refresh", "rf1") in cells


@pytest.mark.parametrize("tells", [True, False], ids=["an engine that tells of them", "an engine that does not"])
def test_a_query_that_runs_alone_has_what_went_to_temporary_files_meanwhile(*, tells: bool) -> None:
    class Spilling(ScriptedDatabase):
        asked = 0

        def counters(self) -> Counters:
            Spilling.asked += 1
            return Counters(spill_bytes=100 * self.said.count("spill") if tells else None)

    database = Spilling(lambda _statement, session: session._database.said.append("spill") or [])
    found, _, _ = carried_out(database, asked(test="power", queries="1,2"))
    assert [done.spill_bytes for done in found.kept.done] == ([100, 100] if tells else [None, None])
    assert [span.spill_bytes for span in found.kept.spans] == ([200] if tells else [None])
    assert Spilling.asked == (6 if tells else 2), "who tells nothing is not asked between two queries"


def test_a_part_of_the_queries_is_asked_in_the_order_of_all() -> None:
    found, _, _ = carried_out(ScriptedDatabase(), asked(test="power", queries="1,2,14"))
    assert [done.op for done in found.kept.done] == ["q14", "q2", "q1"]


def test_streams_ask_for_values_of_their_own() -> None:
    plan = Plan.of(asked(streams=2), NOTE, "duckdb", seed=1)
    of_query = [dict(texts)[6] for texts in plan.texts]
    assert len(set(of_query)) == 3
    assert [dict(texts)[6] for texts in Plan.of(asked(streams=2), NOTE, "duckdb", seed=1).texts] == of_query


def test_both_tests_begin_cold_when_that_is_asked_for() -> None:
    database = ScriptedDatabase()
    carried_out(database, asked(test="both", cache="cold", queries="1"))
    assert database.restarts == 2


def test_a_query_that_fails_ends_the_job_with_its_name_and_what_was_measured_stays() -> None:
    failing = Plan.of(asked(test="power", queries="1-22"), NOTE, "duckdb", seed=1).texts[0][3]

    def react(statement: str, _: ScriptedSession) -> list[Row]:
        if statement == failing[1]:
            raise DatabaseError("pg: the server closed the connection.", "lost")
        return [(1,)]

    found, ended, intervals = carried_out(ScriptedDatabase(react), asked(test="power"))
    assert ended.stopped_by == "error"
    assert ended.first_error is not None
    assert ended.first_error["message"] == f"query {failing[0]} of the power test: pg: the server closed the connection."
    assert [done.op for done in found.kept.done] == ["q14", "q2", "q9"]
    errors = {cell["op"]: cell["errors"] for interval in intervals for cell in interval["cells"] if cell["errors"]}
    assert errors == {f"q{failing[0]}": {"lost": 1}}


def test_when_one_stream_fails_the_others_are_cancelled_and_only_the_first_is_told() -> None:
    begun = threading.Barrier(3)
    plan = Plan.of(asked(streams=3), NOTE, "duckdb", seed=1)
    firsts = [texts[0][1] for texts in plan.texts[1:]]

    def react(statement: str, session: ScriptedSession) -> list[Row]:
        begun.wait(HANGS_S)
        if statement == firsts[1]:
            raise DatabaseError("no space left for temporary files.", "full")
        assert session.cancelled.wait(HANGS_S)
        raise DatabaseError("the statement was cancelled.", "cancelled")

    found, ended, _ = carried_out(ScriptedDatabase(react), asked(streams=3))
    assert ended.first_error is not None
    assert ended.first_error["message"] == "query 6 of stream 2: no space left for temporary files."
    assert found.kept.done == []


class LateDatabase(ScriptedDatabase):
    """Whoever wants the last of ``sessions`` gets it late or, where there is a ``refusal``, never; ``early`` are the statements before."""

    def __init__(self, sessions: int, refusal: DatabaseError | None = None) -> None:
        super().__init__(self.heard)
        self.left, self.refusal, self.early = sessions, refusal, 0
        self.counting, self.somebody_asked, self.all_there = threading.Lock(), threading.Event(), threading.Event()

    def heard(self, _statement: str, _session: ScriptedSession) -> list[Row]:
        self.early += not self.all_there.is_set()
        self.somebody_asked.set()
        return []

    def session(self) -> ScriptedSession:
        with self.counting:
            self.left -= 1
            is_last = self.left == 0
        if is_last:
            self.somebody_asked.wait(0.3)
            if self.refusal is not None:
                raise self.refusal
            self.all_there.set()
        return super().session()


def test_no_stream_asks_before_all_have_their_sessions() -> None:
    database = LateDatabase(sessions=3)
    found, ended, _ = carried_out(database, asked(test="throughput", streams=3, queries="6,14"))
    assert (ended.first_error, database.early) == (None, 0)
    assert len([done for done in found.kept.done if done.op in {"q6", "q14"}]) == 6


def test_a_stream_that_gets_no_session_leaves_no_other_waiting() -> None:
    database = LateDatabase(sessions=3, refusal=DatabaseError("no further connection; use fewer streams.", "refused"))
    found, ended, _ = carried_out(database, asked(test="throughput", streams=3))
    assert ended.first_error is not None
    assert ended.first_error["message"] == "throughput: no further connection; use fewer streams."
    assert (found.kept.done, database.early) == ([], 0)


def test_a_query_that_somebody_else_cancels_is_said_so() -> None:
    def react(_statement: str, _session: ScriptedSession) -> list[Row]:
        raise DatabaseError("the statement was cancelled.", "cancelled")

    _, ended, _ = carried_out(ScriptedDatabase(react), asked(test="power", queries="6"))
    assert ended.first_error is not None
    assert "somebody else cancelled it" in ended.first_error["message"]


def test_the_brake_cancels_what_is_under_way_and_keeps_the_rest() -> None:
    control = Brake()

    def react(statement: str, session: ScriptedSession) -> list[Row]:
        if control.stopped or len(database.said) < 3:
            return []
        control.stop()
        assert session.cancelled.wait(HANGS_S)
        raise DatabaseError("the statement was cancelled.", "cancelled")

    database = ScriptedDatabase(react)
    found, ended, intervals = carried_out(database, asked(test="power"), control)
    assert ended.stopped_by == "signal"
    assert ended.first_error is None
    assert [done.op for done in found.kept.done] == ["q14", "q2"]
    waiting = [one["op"] for interval in intervals for one in interval["outstanding"]]
    assert set(waiting) == {"q9"}


SECOND = 1_000_000_000


def whole_run(kept: Kept, *, power: int = 2, streams: int = 1, seconds: float = 2.0) -> Kept:
    """Two queries alone and in streams, a refresh pair each time."""
    for op in ("rf1", "q1", "q2", "rf2")[: power + 2]:
        kept.add(Done(op, "power", 0, 0, int(seconds * SECOND), 1))
    for stream in range(1, streams + 1):
        for op in ("q1", "q2"):
            kept.add(Done(op, "throughput", stream, 0, 4 * SECOND, 1))
        for op in ("rf1", "rf2"):
            kept.add(Done(op, "throughput", None, 0, 5 * SECOND, 1))
    return kept


def test_a_test_says_what_its_sessions_waited_for() -> None:
    database = ScriptedDatabase()
    database.waiting = {"locks": 3, "processor": 1}
    procedure_, _, _ = carried_out(database, asked(test="power"))
    (span,) = procedure_.kept.spans
    assert span.to_json()["waits"] == {"locks": 0.75, "processor": 0.25}
    database.waiting = None
    procedure_, _, _ = carried_out(database, asked(test="power"))
    assert procedure_.kept.spans[0].to_json()["waits"] is None, "an engine that does not tell"


def test_metrics_are_of_whole_tests() -> None:
    whole = Whole(scale=1.0, queries=(1, 2), streams=1, refresh=True, spec_rounding=False)
    # 3600 over 2 s; two queries in the 5 s to the end of the last refresh.
    assert figures(whole_run(Kept()), whole) == {
        "power": pytest.approx(1800.0),
        "throughput": 1440.0,
        "composite": pytest.approx(1609.968944),
    }
    cut = Whole(scale=1.0, queries=(1, 2, 3), streams=1, refresh=True, spec_rounding=False)
    assert figures(whole_run(Kept()), cut) == {"power": None, "throughput": None, "composite": None}
    more = Whole(scale=1.0, queries=(1, 2), streams=2, refresh=True, spec_rounding=False)
    assert figures(whole_run(Kept()), more)["throughput"] is None
    # All refreshes are done, and one query of the second stream is missing.
    without = whole_run(Kept(), streams=2)
    without.done = [done for done in without.done if (done.op, done.stream) != ("q2", 2)]
    assert figures(without, more)["throughput"] is None
    assert figures(whole_run(Kept(), streams=2), more)["throughput"] == 2880.0


def test_the_specification_counts_no_query_as_quicker_than_a_tenth_of_a_second() -> None:
    exact = Whole(scale=1.0, queries=(1, 2), streams=1, refresh=True, spec_rounding=False)
    rounded = Whole(scale=1.0, queries=(1, 2), streams=1, refresh=True, spec_rounding=True)
    kept = whole_run(Kept(), seconds=0.01)
    assert figures(kept, exact)["power"] == pytest.approx(360_000.0)
    assert figures(kept, rounded)["power"] == 36_000.0


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"scale": "0"}, "scale: '0' is no scale; write about how many GB"),
        ({"scale": "nan"}, "scale: 'nan' is no scale"),
        ({"streams": "2.5"}, "streams: '2.5' is no number of streams"),
        ({"streams": 0}, "streams: '0' is no number of streams"),
        ({"queries": "0-3"}, "queries: '0-3' names no queries"),
        ({"queries": "5-2"}, "queries: '5-2' names no queries"),
        ({"memory": "a lot"}, "memory: 'a lot' is no memory"),
        ({"memory": "1KiB"}, "memory: '1KiB' is no memory"),
        ({"refresh": "perhaps"}, "refresh: 'perhaps' is neither true nor false"),
        ({"test": "speed"}, "test: 'speed' is unknown"),
        ({"stream": 3}, "decision support has no option 'stream'; did you mean 'streams'?"),
    ],
)
def test_an_option_that_cannot_be_is_one_sentence(given: dict[str, object], said: str) -> None:
    with pytest.raises(InputError) as problem:
        options.canonical(given, "mine.toml: stream")
    assert str(problem.value).startswith("mine.toml: stream: ")
    assert said in str(problem.value)


def test_as_many_streams_ask_as_the_scale_wants_at_least() -> None:
    # The table of the specification: 2 streams at 1, 3 at 10, 6 at 300.
    assert [asked(scale=scale).streams for scale in (0.01, 1, 10, 300)] == [2, 2, 3, 6]
    later = options.changed(options.canonical({}, "test"), "scale", 300)
    assert later is not None
    assert QueryOptions.of(later).streams == 6
    fixed = options.changed(options.canonical({"streams": 5}, "test"), "scale", 300)
    assert fixed is not None
    assert QueryOptions.of(fixed).streams == 5


def test_the_engine_gets_a_quarter_of_the_data_unless_told_otherwise() -> None:
    assert asked().memory_bytes(8 << 30) == 2 << 30
    assert asked(memory="2GiB").memory_bytes(8 << 30) == 2 << 30
    assert asked(memory="50%").memory_bytes(1000) == 500
    assert asked(memory="engine").memory_bytes(8 << 30) is None


def test_queries_are_named_as_ranges() -> None:
    assert options.canonical({"queries": "3,1,2,q14"}, "test")["queries"] == "1-3,14"
    assert asked(queries="20-22,1").queries == (1, 20, 21, 22)


def block_stat(reads: int, sectors: int, read_ms: int, weighted_ms: int) -> str:
    return f"  {reads}        0  {sectors}  {read_ms}        0        0        0        0        0        0  {weighted_ms} 0 0 0 0 0 0\n"


def glance(at_s: float, disk: str, stalled_us: int | None = 0, cpu: str = "", engine: dict[int, Any] | None = None) -> Glance:
    pressure = None if stalled_us is None else f"some avg10=0.00 avg60=0.00 avg300=0.00 total={stalled_us}\nfull avg10=0.00 total=0\n"
    processes = {pid: process(*counted) for pid, counted in (engine or {}).items()}
    return Glance(int(at_s * SECOND), {"sdb": disk.encode()}, cpu.encode(), (pressure or "").encode(), processes)


def process(cpu_s: float, read: int, written: int) -> tuple[bytes, bytes]:
    """/proc/PID/stat and /proc/PID/io."""
    ticks = round(cpu_s * TICKS_PER_S)
    return (
        f"7 (duck (b)) S {' '.join(['0'] * 10)} {ticks} 0 0 0 20 0".encode(),
        f"rchar: 9\nread_bytes: {read}\nwrite_bytes: {written + 5}\ncancelled_write_bytes: 5\n".encode(),
    )


def test_a_query_has_what_its_devices_did_meanwhile() -> None:
    before = glance(10.0, block_stat(100, 8000, 500, 700), 1_000_000, "cpu  100 0 100 800 0 0 0 0\n")
    after = glance(12.0, block_stat(300, 59_200, 1_500, 4_700), 1_500_000, "cpu  150 0 110 820 20 0 0 0\n")
    found = seen(before, after)
    # 200 requests of 51,200 sectors of 512 bytes, 1,000 ms of waiting among them; 4,000 ms in flight in 2 s; half a second of stall.
    assert found["bytes_read"] == 26_214_400
    assert found["read_request_bytes"] == 131_072
    assert found["r_await_ms"] == 5.0
    assert found["queue_mean"] == 2.0
    assert found["waiting_share"] == 0.25
    assert found["cpu"] == {"user_percent": 50.0, "system_percent": 10.0, "iowait_percent": 20.0, "idle_percent": 20.0}
    assert found["w_await_ms"] is None
    assert found["bytes_of"] == "devices"


def test_what_the_kernel_does_not_say_is_none_and_never_0() -> None:
    found = seen(glance(10.0, "", None), glance(12.0, "", None))
    assert {name: found[name] for name in ("bytes_read", "bytes_written", "r_await_ms", "waiting_share", "cpu", "engine_cpu_s")} == {
        "bytes_read": None,
        "bytes_written": None,
        "r_await_ms": None,
        "waiting_share": None,
        "cpu": None,
        "engine_cpu_s": None,
    }


def test_without_a_device_the_bytes_are_those_of_the_engine() -> None:
    before = glance(1.0, "", engine={7: (1.0, 1000, 50), 8: (5.0, 600, 0)})
    after = glance(2.0, "", engine={7: (7.5, 5600, 150), 9: (0.25, 70, 0)})
    found = seen(before, after)
    # Process 8 ended, with a second and nothing read since then, and its parent 7 has what it counted; 9 began in between.
    assert (found["bytes_read"], found["bytes_written"], found["bytes_of"]) == (4070, 100, "engine")
    assert found["engine_cpu_s"] == 1.75


def test_what_processes_did_that_came_and_went_is_in_the_sum_of_their_parent() -> None:
    observer = Observer((), lambda: (os.getpid(),))
    before = observer.glance()
    # A child that works for three tenths of a second and is gone at the end, as a server of a parallel query is.
    subprocess.run([sys.executable, "-c", "import time\nwhile time.process_time() < 0.3: pass"], check=True)
    found = seen(before, observer.glance())
    observer.close()
    assert found["engine_cpu_s"] >= 0.25


def hearing(control: Brake | None = None, hear: Callable[[int, int], None] = lambda _done, _total: None) -> Hearing:
    return Hearing(hear, control or Brake())


def test_the_reason_of_the_part_that_failed_first_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dataset.data, "copy_text", lambda _table, _scale, **_part: iter([b"1\n"]))

    class Full(ScriptedSession):
        def copy(self, table: str, text: Any, columns: Any = ()) -> int:
            list(text)
            raise DatabaseError(f"{table}: no space left.", "full")

    database = ScriptedDatabase()
    monkeypatch.setattr(database, "session", lambda: Full(database))
    with pytest.raises(DatabaseError, match="no space left"):
        dataset.load(database, 0.01, hearing())


def test_a_load_ends_when_the_brake_is_pulled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dataset.data, "copy_text", lambda _table, _scale, **_part: iter([b"1\n"] * 3))
    control = Brake()
    control.stop()
    with pytest.raises(Interrupted):
        dataset.load(ScriptedDatabase(), 0.01, hearing(control))


def test_a_wrong_answer_is_kept_with_its_query_row_column_expected_and_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dataset.validation, "expected", lambda number, scale: [("1.00",)] if number == 6 else [])
    database = ScriptedDatabase(lambda statement, _: [(250,)] if "l_discount BETWEEN" in statement else [])
    note = dataset.checked(database, Note(0.01, 1, 1, 1, 1.0), hearing())
    assert note.wrong == (6,)
    assert note.differences[0] == "query 6, row 1, column revenue: expected 1.00, seen 250."
    assert note.validated(6) is False
    assert note.validated(7) is True
    assert Note(0.02, 1, 1, 1, 1.0).validated(6) is None


def test_processor_time_of_the_thread_that_stores_is_ours_as_well() -> None:
    def from_another_thread() -> float:
        found: list[float] = []
        thread = threading.Thread(target=lambda: found.append(_storing_s()))
        thread.start()
        thread.join()
        return found[0]

    before_s, begun_s = from_another_thread(), time.thread_time()
    while time.thread_time() < begun_s + 0.05:
        pass
    assert from_another_thread() - before_s >= 0.05
    assert _storing_s() == 0.0
