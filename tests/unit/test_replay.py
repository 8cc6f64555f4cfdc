"""``plimsoll replay`` over the real engine: what was issued is what the trace holds, request by request, in virtual time and on files."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path
from typing import Any

import pytest

from plimsoll.cli import main
from plimsoll.formats.traces import open_trace
from plimsoll.formats.traces.request import TraceRequest
from support import trace_samples as samples

Json = dict[str, Any]

MODEL = "queue:?service=const:100us&servers=64&size=1GiB"
SIXTEEN_TIB = "queue:?service=const:100us&servers=64&size=16TiB"
SAMPLES = {
    "iolog": samples.IOLOG_3,
    "blkparse": samples.BLKPARSE,
    "blktrace": samples.blktrace("<"),
    "msr": samples.MSR,
    "alibaba": samples.ALIBABA,
    "mqsim": samples.MQSIM,
    "cloudphysics": samples.CLOUDPHYSICS,
    "vscsi 1": samples.vscsi(1, *samples.VSCSI),
    "vscsi 2": samples.vscsi(2, *samples.VSCSI),
    "oracle-general": samples.ORACLE_GENERAL,
}
Said = tuple[Json, list[Json]]


@pytest.fixture
def replay(here: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    """Replays a trace and gives the result and the lines of its lateness report, in the order of the trace."""

    def run(*arguments: str) -> Said:
        code = main(["replay", *arguments, "--json", "--lateness", "late.csv"])
        said = capsys.readouterr()
        assert code == 0, said.err
        with open("late.csv", newline="") as file:
            rows = sorted(csv.DictReader(file), key=lambda row: int(row["number"]))
        (result,) = json.loads(said.out)["results"]
        return result, rows

    return run


def requests(path: Path) -> list[TraceRequest]:
    with open(path, "rb") as file:
        return list(open_trace(file, str(path)).requests())


def write_msr(path: Path, count: int = 400, *, hosts: tuple[str, ...] = ("hm,0",), gap_us: int = 250) -> Path:
    """A read or write of 1 to 16 blocks every ``gap_us``, with a pause every 50th."""
    start, lines = 128166372003061629, []
    for at in range(count):
        ticks = start + at * gap_us * 10 + at // 50 * 100_000
        op, offset, blocks = ("Read", "Write")[at % 3 == 2], at * 7919 % 4000 * 4096, at % 16 + 1
        lines.append(f"{ticks},{hosts[at % len(hosts)]},{op},{offset},{blocks * 4096},4000\n")
    path.write_text("".join(lines))
    return path


def stacked(trace: list[TraceRequest]) -> dict[str, int]:
    """Where each device begins when they stand one above the other at multiples of 1 MiB."""
    bases, end = {}, 0
    for target in dict.fromkeys(request.target for request in trace):
        bases[target] = -(-end // (1 << 20)) * (1 << 20)
        end = bases[target] + max(request.offset + request.length for request in trace if request.target == target)
    return bases


@pytest.mark.parametrize("form", SAMPLES)
def test_every_format_is_issued_as_it_was_recorded(here: Path, replay: Any, form: str) -> None:
    path = here / "trace"
    path.write_bytes(SAMPLES[form])
    trace = requests(path)
    result, rows = replay("trace", "-t", SIXTEEN_TIB)
    first_ns, bases = trace[0].at_ns or 0, stacked(trace)
    ordered = sorted(trace, key=lambda request: request.at_ns or 0)
    assert [(row["op"], int(row["length"])) for row in rows] == [(request.op, request.length) for request in ordered]
    for row, request in zip(rows, ordered, strict=True):
        due_ns = (request.at_ns or 0) - first_ns
        assert (int(row["due_ns"]), int(row["submitted_ns"]), int(row["lateness_ns"])) == (due_ns, due_ns, 0)
        assert int(row["completed_ns"]) - int(row["submitted_ns"]) == int(row["latency_ns"]) == 100_000
        if request.op != "flush":
            assert int(row["offset"]) == bases[request.target] + request.offset
    (found,) = result["replay"]
    assert found["requests"] == {"asked": len(trace), "issued": len(trace), "completed": len(trace), "failed": 0}
    assert found["source"]["name"] == "trace" and len(found["source"]["sha256"]) == 64
    assert found["pace"] == "as recorded" and found["lateness_ns"]["max"] == 0


def test_an_iolog_without_times_is_replayed_as_fast_as_possible_only(here: Path, replay: Any, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "log").write_bytes(samples.IOLOG_2)
    assert main(["replay", "log", "-t", MODEL]) == 2
    assert capsys.readouterr().err == "plimsoll: log: the trace has no times, so nothing is due when it says; give --as-fast-as-possible.\n"
    result, rows = replay("log", "-t", MODEL, "--as-fast-as-possible", "-s", "queue_depth=1")
    issued = [(row["op"], int(row["offset"]), int(row["length"])) for row in rows]
    assert issued == [("read", 4096, 8192), ("write", 0, 512), ("flush", 0, 0), ("trim", 1 << 20, 65536)]
    assert [int(row["submitted_ns"]) for row in rows] == [0, 100_000, 200_000, 300_000]
    assert all(row["due_ns"] == row["lateness_ns"] == "" for row in rows)
    assert result["replay"][0]["late"] is None


def test_a_speed_and_a_limit_hold(here: Path, replay: Any) -> None:
    trace = requests(write_msr(here / "hm.csv"))
    _, rows = replay("hm.csv", "-t", MODEL, "--speed", "4x", "--limit", "100")
    assert [int(row["due_ns"]) for row in rows] == [round((request.at_ns or 0) / 4) for request in trace[:100]]
    _, rows = replay("hm.csv", "-t", MODEL, "--limit", "10ms")
    assert len(rows) == sum((request.at_ns or 0) <= 10_000_000 for request in trace) < len(trace)


def test_what_waits_for_a_slot_is_late_and_flagged(here: Path, replay: Any) -> None:
    write_msr(here / "hm.csv", 200, gap_us=100)
    # One slot, 2 ms each: request i leaves at 2 i ms.
    result, rows = replay("hm.csv", "-t", "queue:?service=const:2ms&size=1GiB", "-s", "queue_depth=1")
    assert [int(row["submitted_ns"]) for row in rows] == [2_000_000 * at for at in range(200)]
    (found,) = result["replay"]
    assert found["waited"] == pytest.approx(199 / 200)
    assert found["late"]["1ms"] == pytest.approx(199 / 200), "1.9 i ms from the second on"
    assert found["lateness_ns"]["max"] == pytest.approx(max(int(row["lateness_ns"]) for row in rows), rel=0.001)
    assert found["outstanding"]["achieved"] == pytest.approx(1, rel=1e-6)
    flag = next(flag for flag in result["flags"] if flag["name"] == "replay_late")
    assert "99.5% of the requests of stream replay left more than 1 ms after they were due" in flag["message"]
    assert "99.5% waited for a free slot" in flag["message"] and "larger queue_depth" in flag["advice"]
    assert "generator_lag" not in {flag["name"] for flag in result["flags"]}


def test_outstanding_and_response_times_stand_beside_those_of_the_trace(here: Path, replay: Any) -> None:
    trace = requests(write_msr(here / "hm.csv"))
    (found,) = replay("hm.csv", "-t", MODEL, "--speed", "2")[0]["replay"]
    span_ns = trace[-1].at_ns or 0
    assert found["outstanding"]["asked"] == pytest.approx(2 * 400 * 400_000 / span_ns)
    assert found["outstanding"]["achieved"] == pytest.approx(400 * 100_000 / (span_ns / 2 + 100_000), rel=1e-4)
    assert found["response_ns"] == {"recorded": 400_000, "achieved": 100_000}
    assert found["gaps"]["distance"] == 0


def test_devices_stand_one_above_the_other_in_the_order_they_are_named(here: Path, replay: Any) -> None:
    write_msr(here / "hm.csv", hosts=("hm,0", "hm,1", "src,2"))
    trace = [request for request in requests(here / "hm.csv") if request.target in ("hm 0", "hm 1")]
    result, rows = replay("hm.csv", "-t", MODEL, "--device", "hm 1", "--device", "hm 0")
    end = max(request.offset + request.length for request in trace if request.target == "hm 1")
    bases = {"hm 1": 0, "hm 0": -(-end // (1 << 20)) * (1 << 20)}
    assert [int(row["offset"]) for row in rows] == [bases[request.target] + request.offset for request in trace]
    assert [int(row["due_ns"]) for row in rows] == [(request.at_ns or 0) - (trace[0].at_ns or 0) for request in trace]
    assert result["replay"][0]["devices"] == ["hm 1", "hm 0"]


def test_devices_go_to_the_parts_of_a_concatenation(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "log").write_text("fio version 3 iolog\n1 x write 8192 4096\n2 y write 65536 4096\n3 x write 0 4096\n")
    arguments = ["-t", "concat:a,b", "--size", "2MiB", "--keep"]
    assert main(["replay", "log", *arguments, "-s", "content=zeros"]) == 0, capsys.readouterr().err
    blocks = {name: [not any(block) for block in _blocks(name)] for name in "ab"}
    assert [at for at, zero in enumerate(blocks["a"]) if zero] == [0, 2]
    assert [at for at, zero in enumerate(blocks["b"]) if zero] == [16]
    capsys.readouterr()


def _blocks(name: str) -> list[bytes]:
    content = Path(name).read_bytes()
    return [content[at : at + 4096] for at in range(0, len(content), 4096)]


def test_a_trace_beyond_the_target_is_refused_unless_it_is_mapped(here: Path, replay: Any, capsys: pytest.CaptureFixture[str]) -> None:
    trace = requests(write_msr(here / "hm.csv"))
    small = "queue:?service=const:100us&servers=64&size=4MiB"
    assert main(["replay", "hm.csv", "-t", small]) == 2
    assert "write --map wrap, scale or squeeze, or give a larger target or --size" in capsys.readouterr().err
    result, rows = replay("hm.csv", "-t", small, "--map", "wrap")
    expected = [request.offset % (4 << 20) for request in trace]
    expected = [min(offset, (4 << 20) - request.length) for offset, request in zip(expected, trace, strict=True)]
    assert [int(row["offset"]) for row in rows] == expected
    moved = sum(offset != request.offset for offset, request in zip(expected, trace, strict=True))
    assert result["replay"][0]["changes"] == {"moved": moved, "rounded": 0, "shortened": 0}
    note = next(flag for flag in result["flags"] if flag["name"] == "replay_changed")
    assert f"{moved} went to another address" in note["message"]
    squeezed = "queue:?service=const:100us&servers=64&size=17MiB"
    _, rows = replay("hm.csv", "-t", squeezed, "--map", "squeeze")
    places = sorted({place for r in trace for place in range(r.offset >> 20, (r.offset + r.length - 1 >> 20) + 1)})
    assert [int(row["offset"]) for row in rows] == [(places.index(r.offset >> 20) << 20) + r.offset % (1 << 20) for r in trace]


def test_a_scratch_file_is_made_as_large_as_the_trace_and_written_where_it_says(here: Path, replay: Any) -> None:
    trace = requests(write_msr(here / "hm.csv", 300))
    result, rows = replay("hm.csv", "-t", "data", "--speed", "20", "--keep")
    assert [(row["op"], int(row["offset"]), int(row["length"])) for row in rows] == [(r.op, r.offset, r.length) for r in trace]
    end = max(request.offset + request.length for request in trace)
    assert os.path.getsize("data") == -(-end // (1 << 20)) * (1 << 20)
    assert result["totals"]["write"]["bytes"] == sum(request.length for request in trace if request.op == "write")
    assert result["ended"]["by"] == "amount" and result["status"] == "complete"
    for row in rows:
        due, submitted, completed = (int(row[name]) for name in ("due_ns", "submitted_ns", "completed_ns"))
        assert due <= submitted <= completed
        assert (int(row["lateness_ns"]), int(row["latency_ns"])) == (submitted - due, completed - due)


def test_direct_requests_are_rounded_to_blocks_and_counted(here: Path, replay: Any) -> None:
    (here / "log").write_text("fio version 3 iolog\n1 a read 100 50\n2 a read 512 512\n3 a write 1000 100\n")
    result, rows = replay("log", "-t", MODEL)
    assert [(int(row["offset"]), int(row["length"])) for row in rows] == [(0, 512), (512, 512), (512, 1024)]
    assert result["replay"][0]["changes"]["rounded"] == 2


def test_writing_a_trace_to_a_file_of_others_needs_permission_and_reading_does_not(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("mine").write_bytes(bytes(1 << 20))
    (here / "writes").write_text("fio version 3 iolog\n1 a write 0 4096\n")
    (here / "reads").write_text("fio version 3 iolog\n1 a read 0 4096\n")
    assert main(["replay", "writes", "-t", "mine"]) == 3
    assert not os.path.exists("results"), "refused before a run is made"
    assert main(["replay", "writes", "-t", "mine", "-s", 'trace_skip=["write"]']) != 3
    assert main(["replay", "reads", "-t", "mine"]) == 0
    assert Path("mine").read_bytes() == bytes(1 << 20)
    capsys.readouterr()


def test_a_workload_file_names_its_trace_beside_it(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "folder").mkdir()
    write_msr(here / "folder" / "hm.csv", 100)
    (here / "folder" / "again.toml").write_text(
        '[[stream]]\nname = "again"\ntrace = "hm.csv"\narrival = "trace"\ntrace_skip = ["write"]\nqueue_depth = 16\n'
    )
    assert main(["run", "folder/again.toml", "-t", MODEL, "-w", "0", "-d", "10s", "--json"]) == 0
    (result,) = json.loads(capsys.readouterr().out)["results"]
    assert result["totals"]["read"]["count"] == 67 and "write" not in result["totals"]
    assert result["replay"][0]["requests"]["asked"] == 67


def test_a_time_too_short_leaves_a_flag(here: Path, replay: Any) -> None:
    write_msr(here / "hm.csv", 400)
    result, rows = replay("hm.csv", "-t", MODEL, "-s", "duration=50ms", "-s", "interval=10ms")
    flag = next(flag for flag in result["flags"] if flag["name"] == "replay_cut")
    assert len(rows) < 400 and "of the 400 requests of stream replay were replayed before the time was over" in flag["message"]


def test_a_converted_trace_stands_for_the_trace(here: Path, replay: Any, capsys: pytest.CaptureFixture[str]) -> None:
    write_msr(here / "hm.csv")
    assert main(["replay", "hm.csv", "--convert", "hm.trace"]) == 0
    assert capsys.readouterr().out == "hm.trace: 400 requests of 1 device, 170 ms\n"
    assert requests(here / "hm.trace") == [request._replace(service_ns=None) for request in requests(here / "hm.csv")]
    first, second = replay("hm.csv", "-t", MODEL)[1], replay("hm.trace", "-t", MODEL)[1]
    assert first == second
    assert main(["fit", "hm.trace", "--json"]) == 0


def test_a_trace_is_converted_once_and_again_when_it_changed(here: Path, replay: Any) -> None:
    folder = here / "cache" / "plimsoll" / "traces"
    write_msr(here / "hm.csv")
    replay("hm.csv", "-t", MODEL)
    replay("hm.csv", "-t", MODEL, "--speed", "2")
    assert len(list(folder.iterdir())) == 1
    write_msr(here / "hm.csv", 399)
    assert len(replay("hm.csv", "-t", MODEL)[1]) == 399
    assert len(list(folder.iterdir())) == 2


def test_requests_that_lost_their_order_are_put_back_into_it(here: Path, replay: Any) -> None:
    write_msr(here / "hm.csv", 100)
    lines = (here / "hm.csv").read_text().splitlines(keepends=True)
    (here / "mixed.csv").write_text("".join(lines[:1] + lines[50:] + lines[1:50]))
    assert replay("hm.csv", "-t", MODEL)[1] == replay("mixed.csv", "-t", MODEL)[1]


def test_the_terminal_says_how_late_requests_were(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_msr(here / "hm.csv", 200)
    assert main(["replay", "hm.csv", "-t", MODEL, "--speed", "2"]) == 0
    said = capsys.readouterr().out
    assert "replay    hm.csv (MSR-Cambridge CSV), as recorded at 2× speed: 200 requests\n" in said
    assert "late      p50 0 ns, p99 0 ns, max 0 ns; 0 % over 100 µs, 0 % over 1 ms, 0 % over a tenth of the gap\n" in said
    assert "distance 0.000" in said and "response  recorded 400 µs; achieved 100 µs" in said


def test_what_a_trace_does_not_say_is_said_where_it_is_replayed_converted_and_fitted(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("w01.bin").write_bytes(samples.ORACLE_GENERAL)
    taken = "every request is taken as a read, as the format does not say what was done"
    assert main(["replay", "w01.bin", "-t", SIXTEEN_TIB, "--as-fast-as-possible", "--json"]) == 0
    said = capsys.readouterr()
    assert taken in said.err
    (result,) = json.loads(said.out)["results"]
    assert taken in result["job"]["definition"]["rationale"]
    assert main(["replay", "w01.bin", "--convert", "w01.trace"]) == 0
    assert taken in capsys.readouterr().err
    assert main(["fit", "w01.bin", "--json"]) == 0
    assert taken in json.loads(capsys.readouterr().out)["trace"]["assumed"]
    assert main(["fit", "w01.bin"]) == 0
    assert f"assumed   {taken}" in capsys.readouterr().out
