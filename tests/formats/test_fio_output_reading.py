"""fio's results read back: totals, distributions and intervals, and what is wrong with a file in one sentence."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest

from plimsoll.errors import InputError
from plimsoll.formats.fio.results import is_log, json_text, log_files, read_json, read_logs
from plimsoll.formats.fio.results.bins import bin_of
from support.patience import HANGS_S
from support.recorded_point import Load, drawn, recorded_point

MIXED = Load(latencies_ns={"read": drawn(1), "write": drawn(2, 200, 300_000), "flush": drawn(3, 5)})
FIGURES = ("p50", "p90", "p95", "p99", "p999")


def same(one, other, bins: int = 1) -> None:
    assert one.count == other.count
    assert (one.bytes, one.iops) == (other.bytes, pytest.approx(other.iops))
    assert one.bytes_per_s == pytest.approx(other.bytes_per_s, abs=1)
    assert one.latency_ns.mean == pytest.approx(other.latency_ns.mean, rel=1e-6)
    assert (one.latency_ns.min, one.latency_ns.max) == (other.latency_ns.min, other.latency_ns.max)
    for figure in FIGURES:
        assert abs(bin_of(getattr(one.latency_ns, figure)) - bin_of(getattr(other.latency_ns, figure))) <= bins, figure


@pytest.mark.parametrize("plus", [False, True])
def test_what_is_written_as_json_reads_back_within_a_bin(plus):
    point = recorded_point(MIXED)
    (read,) = read_json(json_text([point], plus=plus), "a.json")
    for op in ("read", "write", "flush"):
        same(read.result.totals[op], point.result.totals[op])
    assert read.result.job.workload == "oltp-db"
    assert read.result.job.target == "/dev/sda"
    assert read.result.job.duration_s == 3.0
    assert bool(read.intervals) == plus


def test_streams_read_back_as_streams_of_one_point():
    point = recorded_point(Load("data", {"read": drawn(1)}), Load("log", {"write": drawn(2)}))
    (read,) = read_json(json_text([point], plus=True), "a.json")
    assert sorted(read.result.streams) == ["data", "log"]
    same(read.result.streams["log"]["write"], point.result.streams["log"]["write"])
    same(read.result.totals["read"], point.result.totals["read"])


def test_the_origin_is_marked_and_the_host_is_not_invented():
    (read,) = read_json(json_text([recorded_point(MIXED)]), "a.json")
    assert read.result.versions["origin"].startswith("fio-3.33")
    assert read.result.host == {}
    assert [flag.name for flag in read.result.flags] == ["imported"]
    assert read.result.started == "2026-11-21T10:00:01+00:00"


def test_open_loops_keep_latency_and_service_time_apart():
    load = Load(latencies_ns={"read": (900_000,) * 20}, service_ns={"read": (100_000,) * 20}, options={"arrival": "poisson", "rate": 40})
    (read,) = read_json(json_text([recorded_point(load)], plus=True), "a.json")
    total = read.result.totals["read"]
    assert (bin_of(total.latency_ns.p50), bin_of(total.service_ns.p50)) == (bin_of(900_000), bin_of(100_000))
    assert read.result.job.arrival == "open"


def jobs_of(*jobs, **more) -> str:
    return json.dumps({"fio version": "fio-3.33", "jobs": list(jobs), **more})


def job(**more):
    (made,) = json.loads(json_text([recorded_point(MIXED)], plus=more.pop("plus", False)))["jobs"]
    return {**made, **more}


def test_jobs_of_one_name_and_group_are_added_up():
    (read,) = read_json(jobs_of(job(plus=True), job(plus=True)), "a.json")
    (alone,) = read_json(jobs_of(job(plus=True)), "a.json")
    assert read.result.totals["read"].count == 2 * alone.result.totals["read"].count
    assert read.result.totals["read"].iops == pytest.approx(2 * alone.result.totals["read"].iops)
    assert read.result.totals["read"].latency_ns.p99 == alone.result.totals["read"].latency_ns.p99


def test_percentiles_of_several_jobs_cannot_be_added_up_without_bins():
    (read,) = read_json(jobs_of(job(), job()), "a.json")
    assert read.result.totals["read"].latency_ns is None
    assert set(read.result.estimates["read"]) == {"mean", "max"}
    assert "no distribution of latencies: read latency mean" in read.result.flags[0].message


def test_groups_are_points_in_their_order():
    points = read_json(jobs_of(job(groupid=0, jobname="a"), job(groupid=1, jobname="b")), "a.json")
    assert [point.result.job.workload for point in points] == ["a", "b"]


def test_clients_are_read_and_their_sum_is_left_out():
    text = json.dumps({"fio version": "fio-3.33", "client_stats": [job(hostname="h1"), job(jobname="All clients", groupid=0)]})
    (read,) = read_json(text, "a.json")
    assert read.result.totals["read"].count == 3000


def clients(*of: tuple[str, str, int], **more: object) -> str:
    """A document of fio's client/server mode: job, host and port of each client, and their sum, which has no percentiles."""
    jobs = [job(jobname=name, hostname=host, port=port, **more) for name, host, port in of]
    whole = job(jobname="All clients", groupid=0)
    for op in ("read", "write"):
        whole.get(op, {}).get("clat_ns", {}).pop("percentile", None)
    return json.dumps({"fio version": "fio-3.33", "client_stats": [*jobs, whole]})


def test_each_client_keeps_its_percentiles_and_all_together_have_mean_and_maximum():
    (read,) = read_json(clients(("a", "h1", 8765), ("a", "h2", 8765)), "a.json")
    assert (read.result.job.workload, list(read.result.streams)) == ("a", ["a@h1", "a@h2"])
    alone = read.result.streams["a@h1"]["read"].latency_ns
    assert alone is not None and alone.p99 > 0
    assert read.result.totals["read"].count == 6000
    assert {name: found.value for name, found in read.result.estimates["read"].items()} == {"mean": alone.mean, "max": alone.max}
    slowest = [totals.latency_ns.max for totals in read.result.streams["a@h1"].values() if totals.latency_ns]
    assert slowest and read.result.estimates["all"]["max"].value == max(slowest)
    assert "Of its streams together it tells no distribution" in read.result.flags[0].message


def test_clients_on_one_host_are_told_apart_by_their_port():
    (read,) = read_json(clients(("a", "h1", 8765), ("a", "h1", 8766), ("b", "h1", 8765)), "a.json")
    assert list(read.result.streams) == ["a@h1:8765", "a@h1:8766", "b"]


def test_jobs_of_one_client_are_added_up_as_ever():
    (read,) = read_json(clients(("a", "h1", 8765), ("a", "h1", 8765)), "a.json")
    assert list(read.result.streams) == ["stream-1"]
    assert read.result.estimates["read"]["max"].value > 0


def test_text_that_fio_mixes_in_before_the_document_is_skipped():
    noise = "fio: this platform does not support process shared mutexes\nnote: both iodepth >= 1\n"
    assert read_json(noise + jobs_of(job()), "a.json")[0].result.totals


def test_an_error_of_fios_makes_the_point_failed():
    (read,) = read_json(jobs_of(job(error=5)), "a.json")
    assert (read.result.status, read.result.error) == ("failed", "fio ended oltp-db with error 5.")


WRONG = [
    ("", "no JSON document begins in it"),
    ("fio: job failed\n", "no JSON document begins in it"),
    ("{", "a.json:1: not JSON"),
    ('note\n{\n  "jobs" : [\n', "a.json:4: not JSON"),
    ("{}", "neither 'jobs' nor 'client_stats'"),
    ('{"jobs":[{}],"fio version":"fio-3.33"}', "a.json, jobs[0]: it has none of 'read', 'write' and 'trim'"),
    ('{"jobs": {}}', "'jobs' is not a list"),
    ('{"jobs": [1]}', "jobs[0] is not an object"),
    ('{"jobs": [{"read": []}]}', "'read' is not an object"),
    ('{"jobs": [{"groupid": "x"}]}', "'groupid' is 'x'"),
    ('{"jobs": [{"read": {"total_ios": -1, "clat_ns": {}}}]}', "'total_ios' is -1"),
    ('{"jobs": [{"read": {"total_ios": true, "clat_ns": {}}}]}', "'total_ios' is true"),
    ('{"jobs": [{"read": {"total_ios": 1}}]}', "there is no 'clat_ns'; fio before version 3"),
    ('{"jobs": [{"read": {"total_ios": 1, "clat_ns": {"percentile": {"x": 1}}}}]}', "'x' is no percentage"),
    ('{"jobs": [{"read": {"total_ios": 1, "clat_ns": {"bins": {"-5": 1}}}}]}', "'-5' is no number of nanoseconds"),
    ('{"jobs": [{"read": {"total_ios": NaN, "clat_ns": {}}}]}', "'total_ios' is NaN"),
    ('{"jobs": [{"mixed": {"total_ios": 5, "runtime": 10}}]}', "unified_rw_reporting=mixed"),
    ("[" * 100_000, "no JSON document begins in it"),
    ('{"a":' * 100_000, "nested too deeply"),
]


@pytest.mark.parametrize(("text", "part"), WRONG, ids=[part for _, part in WRONG])
def test_a_wrong_document_is_answered_in_one_sentence(text, part):
    with pytest.raises(InputError) as refused:
        read_json(text, "a.json")
    message = str(refused.value)
    assert part in message
    assert message.startswith("a.json") and message.endswith(".") and "\n" not in message


def test_logs_read_back_as_they_were_written():
    point = recorded_point(MIXED)
    (read,) = read_logs(log_files([point]))
    for op in ("read", "write"):
        ours, theirs = read.result.totals[op], point.result.totals[op]
        assert (ours.count, ours.bytes) == (theirs.count, theirs.bytes)
        assert abs(bin_of(ours.latency_ns.p99) - bin_of(theirs.latency_ns.p99)) <= 1
    assert len(read.intervals) == 6
    assert (read.result.job.queue_depth, read.result.job.threads) == (4, 1)


def test_logs_without_histograms_tell_the_mean():
    files = {name: text for name, text in log_files([recorded_point(MIXED)]).items() if "hist" not in name}
    (read,) = read_logs(files)
    assert read.result.totals["read"].latency_ns is None
    expected = recorded_point(MIXED).result.totals["read"].latency_ns.mean
    assert read.result.estimates["read"]["mean"].value == pytest.approx(expected, rel=0.01)


def test_a_log_of_every_request_is_enough_alone():
    lines = "".join(f"{number}, {1000 * (number % 10 + 1)}, 0, 4096, 0\n" for number in range(1000))
    (read,) = read_logs({"job_lat.1.log": lines})
    total = read.result.totals["read"]
    assert (total.count, total.bytes, read.result.job.duration_s) == (1000, 4_096_000, 1.0)
    assert total.latency_ns.mean == pytest.approx(5500, rel=0.01)


def test_logs_of_several_jobs_are_added_up():
    lines = "100, 50, 0, 0, 0\n200, 50, 0, 0, 0\n"
    (read,) = read_logs({"j_iops.1.log": lines, "j_iops.2.log": lines.replace("100,", "101,")})
    assert read.result.totals["read"].count == 20
    assert "There is no bandwidth log" in read.result.flags[0].message
    assert "Logs do not say whether they were modelled" in read.result.flags[0].message


def test_complete_logs_say_that_they_may_be_modelled():
    (read,) = read_logs(log_files([recorded_point(MIXED)]))
    assert "Logs do not say whether they were modelled; they are taken as measured." in read.result.flags[0].message


@pytest.mark.parametrize(
    ("files", "part"),
    [
        ({"x.txt": ""}, "x.txt: not the name of a log of fio's"),
        ({"j_iops.1.log": ""}, "its logs hold no line"),
        ({"j_bw.1.log": "1, 2, 0, 0, 0\n"}, "its iops log is missing"),
        ({"j_iops.1.log": "1, 2, 0\nx, 2, 0\n"}, "j_iops.1.log:2: not numbers separated by commas"),
        ({"j_iops.1.log": "1, 2\n"}, "j_iops.1.log:1: 2 numbers, where"),
        ({"j_iops.1.log": "1, 2, 7, 0\n"}, "j_iops.1.log:1"),
        ({"j_clat_hist.1.log": "1, 0, 4096, 1, 2\n"}, "j_clat_hist.1.log:1: 5 numbers, where 1856 bins"),
        ({"j_iops.1.log": "-1, 2, 0\n"}, "j_iops.1.log:1"),
    ],
)
def test_a_wrong_log_is_answered_in_one_sentence(files, part):
    with pytest.raises(InputError) as refused:
        read_logs(files)
    assert part in str(refused.value)
    assert "\n" not in str(refused.value)


def test_names_of_logs_are_known():
    assert is_log("out/randread_clat_hist.12.log") and is_log("x_bw.log")
    assert not is_log("messages.log") and not is_log("x_bw.1.txt")


@pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed here, so its own results cannot be read")
def test_results_of_the_real_fio_are_read(tmp_path):
    log = tmp_path / "l"
    options = ["--name=a", "--ioengine=null", "--size=64m", "--rw=randrw", "--bs=4k", "--time_based", "--runtime=2", "--log_avg_msec=200"]
    # A rate that hardly needs a processor, so that one who has to wait for it makes up for that and intervals are alike.
    options += ["--rate_iops=1000", "--rate_process=linear"]
    logs = [f"--write_{kind}_log={log}" for kind in ("bw", "iops", "lat")] + [f"--write_hist_log={log}", "--log_hist_msec=200"]
    out = tmp_path / "o.json"
    command = ["fio", *options, *logs, "--output-format=json+", f"--output={out}"]
    subprocess.run(command, check=True, capture_output=True, cwd=tmp_path, timeout=HANGS_S)
    document = json.loads(out.read_text())["jobs"][0]
    (read,) = read_json(out.read_text(), "o.json")
    total = read.result.totals["read"]
    assert (total.count, total.bytes) == (document["read"]["total_ios"], document["read"]["io_bytes"])
    assert abs(bin_of(total.latency_ns.p99) - bin_of(document["read"]["clat_ns"]["percentile"]["99.000000"])) <= 1
    (logged,) = read_logs({path.name: path.read_text() for path in tmp_path.glob("l_*.log")})
    assert logged.result.totals["read"].iops == pytest.approx(total.iops, rel=0.5)
