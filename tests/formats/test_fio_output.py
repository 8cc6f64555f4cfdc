"""What is written in fio's forms: structure against the real fio, numbers against the points they come from."""

from __future__ import annotations

import csv
import json
import random
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from plimsoll.errors import InputError
from plimsoll.formats.fio.results import job_name, json_text, log_files, normal_text, terse_text
from plimsoll.formats.fio.results.bins import BINS, PERCENTILES, bin_of, binned, histogram_of, percentile, value_of
from plimsoll.formats.fio.results.figures import job_options
from plimsoll.formats.fio.results.read_json import known_options
from plimsoll.formats.fio.results.write_text import FIELDS, short
from plimsoll.formats.stored_point import Course, Recorded
from plimsoll.histogram import Histogram
from support.patience import HANGS_S
from support.recorded_point import Load, drawn, recorded_point

MIXED = Load(latencies_ns={"read": drawn(1), "write": drawn(2, 200, 300_000), "flush": drawn(3, 5)})
needs_fio = pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed here, so its own output cannot be compared")


def shape(value, key=""):
    """Keys in their order and the kind of every number; bins and percentiles only by the kind of their values."""
    if isinstance(value, dict):
        if key in ("bins", "percentile"):
            return {type(entry).__name__ for entry in value.values()}
        return [(name, shape(entry, name)) for name, entry in value.items()]
    if isinstance(value, list):
        return [shape(entry) for entry in value]
    return type(value).__name__


@pytest.fixture(scope="module")
def fio(tmp_path_factory):
    """What the real fio writes, by form and whether lat_percentiles is set."""
    folder = tmp_path_factory.mktemp("fio")

    def run(form: str, *more: str) -> str:
        out = folder / "out"
        job = ["--name=x", f"--filename={folder}/data", "--size=2m", "--rw=randrw", "--bs=8k", "--ioengine=psync", "--fsync=16"]
        command = ["fio", *job, "--time_based", "--runtime=1", f"--output-format={form}", f"--output={out}", *more]
        subprocess.run(command, check=True, capture_output=True, timeout=HANGS_S)
        return out.read_text()

    return run


@needs_fio
@pytest.mark.parametrize("form", ["json", "json+"])
@pytest.mark.parametrize("arrival", ["closed", "poisson"])
def test_json_has_fios_keys_in_its_order_and_its_kinds_of_numbers(fio, form, arrival):
    more = ["--lat_percentiles=1"] if arrival == "poisson" else []
    theirs = json.loads(fio(form, *more))
    load = Load(latencies_ns=MIXED.latencies_ns, options={"arrival": arrival, "rate": 500})
    ours = json.loads(json_text([recorded_point(load)], plus=form == "json+"))
    theirs["jobs"][0]["job options"] = ours["jobs"][0]["job options"] = {}
    # A disk is listed where there is one, which a container may not show.
    theirs["disk_util"] = ours["disk_util"] if "disk_util" not in theirs else theirs["disk_util"][:1]
    names = {"name", "read_ios", "write_ios", "read_merges", "write_merges", "read_ticks", "write_ticks", "in_queue", "util"}
    theirs["disk_util"] = [{key: value for key, value in disk.items() if key in names} for disk in theirs["disk_util"]]
    if "fio-3.33" in theirs["fio version"]:
        assert shape(ours) == shape(theirs)
    else:
        assert {key for key, _ in shape(ours["jobs"][0])} <= set(theirs["jobs"][0])


@needs_fio
def test_terse_has_as_many_fields_as_fios(fio):
    theirs = fio("terse", "--terse-version=3").strip().splitlines()[-1].split(";")
    ours = terse_text([recorded_point(MIXED)]).strip().split(";")
    assert len(theirs) in (FIELDS, FIELDS + 9)
    assert len(ours) == FIELDS + 9
    assert [field.endswith("%") for field in ours[:FIELDS]] == [field.endswith("%") for field in theirs[:FIELDS]]


@needs_fio
def test_normal_text_has_the_lines_of_fios(fio):
    def heads(text):
        return [re.sub(r"[\d.]+", "#", line).split("=")[0].split(":")[0].strip() for line in text.splitlines() if line.startswith("  ")]

    theirs, ours = set(heads(fio("normal"))), set(heads(normal_text([recorded_point(MIXED)])))
    expected = {"read", "write", "cpu", "IO depths", "submit", "complete", "issued rwts", "latency", "fsync/fdatasync/sync_file_range"}
    assert expected <= theirs & ours


def test_the_text_of_json_is_as_fio_prints_it():
    text = json_text([recorded_point(MIXED)])
    assert text.startswith('{\n  "fio version" : "fio-3.33-plimsoll-0.1.0",\n  "timestamp" : 1795255204,\n')
    assert re.search(r'^        "iops" : \d+\.\d{6},$', text, re.MULTILINE)
    assert re.search(r'^        "bw" : \d+,$', text, re.MULTILINE)


def test_totals_stand_in_fios_units():
    point = recorded_point(MIXED)
    (job,) = json.loads(json_text([point]))["jobs"]
    read = point.result.totals["read"]
    assert job["read"]["total_ios"] == read.count == 3000
    assert (job["read"]["io_bytes"], job["read"]["io_kbytes"]) == (read.bytes, read.bytes // 1024)
    assert (job["read"]["bw_bytes"], job["read"]["bw"]) == (8_192_000, 8000)
    assert job["read"]["iops"] == 1000.0
    assert job["read"]["clat_ns"]["mean"] == pytest.approx(read.service_ns.mean)
    assert (job["read"]["bw_mean"], job["read"]["bw_samples"], job["read"]["iops_stddev"]) == (8000.0, 6, 0.0)
    assert job["sync"]["total_ios"] == 30
    assert (job["usr_cpu"], job["sys_cpu"]) == (10.0, 20.0)
    assert job["iodepth_level"]["4"] == 100.0
    assert job["trim"]["total_ios"] == job["trim"]["clat_ns"]["N"] == 0


def test_bins_hold_every_request_in_at_most_1856_bins():
    point = recorded_point(MIXED)
    (job,) = json.loads(json_text([point], plus=True))["jobs"]
    middles = {value_of(index) for index in range(BINS)}
    for op in ("read", "write"):
        bins = {int(value): count for value, count in job[op]["clat_ns"]["bins"].items()}
        assert sum(bins.values()) == point.result.totals[op].count
        assert bins.keys() <= middles
        assert list(bins) == sorted(bins)


@pytest.mark.parametrize("seed", range(5))
def test_fios_reading_of_the_bins_gives_our_percentiles_within_one_bin(seed):
    """As fio_jsonplus_clat2csv reads them: the first bin up to which that share of all values is counted."""
    histogram = Histogram()
    for value in drawn(seed, 5000, 10 ** random.Random(seed).uniform(2, 8)):
        histogram.record(value)
    counts = binned(histogram)
    for percent in PERCENTILES:
        assert abs(bin_of(percentile(counts, percent)) - bin_of(histogram.percentile(percent))) <= 1


def tables(folder: Path, document: str) -> list[list[dict[str, str]]]:
    """What fio's own fio_jsonplus_clat2csv makes of a JSON+ document: for each job a row per bin."""
    (folder / "a.json").write_text(document)
    command = [shutil.which("fio_jsonplus_clat2csv") or "", str(folder / "a.json"), str(folder / "a.csv")]
    subprocess.run(command, check=True, capture_output=True, timeout=HANGS_S)
    return [list(csv.DictReader(path.read_text().splitlines(), skipinitialspace=True)) for path in sorted(folder.glob("a_job*.csv"))]


def percentile_in(rows: list[dict[str, str]], series: str, percent: float) -> int:
    """The first value up to which that share of all is counted."""
    shares = [(int(row["nsec"]), float(row[f"{series}_percentile"])) for row in rows if row.get(f"{series}_percentile", "").strip()]
    return next(value for value, share in shares if share >= percent / 100 - 1e-12)


@pytest.mark.skipif(shutil.which("fio_jsonplus_clat2csv") is None, reason="fio's fio_jsonplus_clat2csv is not installed here")
def test_fios_own_script_reads_our_percentiles_out_of_our_bins(tmp_path: Path):
    load = Load(
        latencies_ns={"read": drawn(1, 3000, 90_000), "write": drawn(2, 700, 9_000_000)}, service_ns={"read": drawn(3, 3000, 40_000)}
    )
    points = [recorded_point(load), recorded_point(Load(latencies_ns={"read": drawn(5, 500, 300)}))]
    jobs = tables(tmp_path, json_text(points, plus=True))
    assert len(jobs) == 2
    for point, rows in zip(points, jobs, strict=True):
        for op, total in point.result.totals.items():
            assert int([row[f"{op}_clat_ns_cumulative"] for row in rows if row[f"{op}_clat_ns_count"].strip()][-1]) == total.count
            # fio's clat is our service time.
            for percent, name in ((50.0, "p50"), (90.0, "p90"), (95.0, "p95"), (99.0, "p99"), (99.9, "p999")):
                read = percentile_in(rows, f"{op}_clat_ns", percent)
                assert abs(bin_of(read) - bin_of(getattr(total.service_ns, name))) <= 1, (op, name)


def test_bins_are_those_of_the_real_fio():
    # From the output of fio 3.33 on a disk: values it printed as bins and percentiles.
    for value in (34560, 35072, 36096, 2320, 2352, 4192, 1597440, 14090240, 55040, 12608):
        assert value_of(bin_of(value)) == value
    assert [value_of(index) for index in (0, 127, 128, 129, 191, 192)] == [0, 127, 129, 131, 255, 258]


@pytest.mark.parametrize("value", [0, 1, 127, 128, 129, 255, 256, 1000, 10**6, 10**9, 17_179_869_183])
def test_the_middle_of_a_bin_is_within_a_128th_of_what_it_counts(value):
    assert abs(value_of(bin_of(value)) - value) <= value / 128


def test_what_is_beyond_the_last_bin_is_counted_in_it():
    assert bin_of(10**12) == BINS - 1


def test_a_histogram_is_made_from_counts_of_any_size_at_once():
    histogram = histogram_of({100: 1_000_000_007, 5000: 3, 7000: 0})
    assert (histogram.count, histogram.min) == (1_000_000_010, 100)
    assert histogram.percentile(99.9) == 100


def test_json_plus_of_a_point_without_distributions_is_refused_in_a_sentence():
    point = recorded_point(MIXED)
    with pytest.raises(InputError, match=r"no distribution of its read latencies is stored.*--as fio-json"):
        json_text([Recorded(point.result)], plus=True)


def test_json_of_a_point_without_intervals_has_the_percentiles_that_are_known():
    point = recorded_point(MIXED)
    (job,) = json.loads(json_text([Recorded(point.result)]))["jobs"]
    assert list(job["read"]["clat_ns"]["percentile"]) == ["50.000000", "90.000000", "95.000000", "99.000000", "99.900000"]
    assert job["read"]["bw_samples"] == 0


def test_streams_are_jobs_of_one_group_and_points_are_groups():
    points = [recorded_point(Load("data"), Load("log", {"write": (50_000,) * 10})), recorded_point()]
    document = json.loads(json_text(points))
    assert [(job["jobname"], job["groupid"]) for job in document["jobs"]] == [("oltp-db.data", 0), ("oltp-db.log", 0), ("oltp-db", 1)]
    assert document["jobs"][1]["write"]["total_ios"] == 60
    assert document["jobs"][1]["read"]["total_ios"] == 0
    assert document["global options"]["ioengine"] == "io_uring"


def test_a_point_that_failed_has_an_error_number():
    assert json.loads(json_text([recorded_point(status="failed")]))["jobs"][0]["error"] == 5


def test_latency_from_the_intended_instant_stands_beside_service_time():
    load = Load(latencies_ns={"read": (900_000,) * 20}, service_ns={"read": (100_000,) * 20}, options={"arrival": "poisson", "rate": 40})
    (job,) = json.loads(json_text([recorded_point(load)]))["jobs"]
    assert job["read"]["clat_ns"]["percentile"]["50.000000"] == value_of(bin_of(100_000))
    assert job["read"]["lat_ns"]["percentile"]["50.000000"] == value_of(bin_of(900_000))
    assert (job["job options"]["rate_iops"], job["job options"]["rate_process"]) == ("40", "poisson")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"read_percent": 100}, {"rw": "randread", "bs": "8k"}),
        ({"read_percent": 0, "random_percent": 0}, {"rw": "write"}),
        ({"read_percent": 70}, {"rw": "randrw", "rwmixread": "70"}),
        ({"read_percent": 70, "random_percent": 25}, {"rw": "randrw", "percentage_random": "25"}),
        ({"read_percent": 0, "write_percent": 0, "trim_percent": 100}, {"rw": "randtrim"}),
        ({"block_size": {"4096": 60, "8192": 40}}, {"bs": "4k", "bssplit": "4k/60:8k/40"}),
        ({"block_size": "4096-65536"}, {"bs": "64k", "bsrange": "4k-64k"}),
        ({"block_size": 512}, {"bs": "512"}),
        ({"write_block_size": 65536}, {"bs": "8k,64k,8k"}),
        (
            {"access": [{"size": 8192, "read_percent": 67, "weight": 3}, {"size": 65536, "weight": 1}]},
            {"bs": "8k", "bssplit": "8k/75:64k/25"},
        ),
        ({"distribution": "zipf:1.1"}, {"random_distribution": "zipf:1.1", "norandommap": "1"}),
        ({"flush_every": 32, "think_time": 0.005}, {"fsync": "32", "thinktime": "5000"}),
        ({"direct": False, "threads": 4, "queue_depth": 16}, {"direct": "0", "numjobs": "4", "iodepth": "16"}),
    ],
)
def test_options_of_a_stream_become_fios_words(options, expected):
    course = Course(recorded_point(Load(options=options)))
    words = job_options(course.streams[0], course)
    assert {name: words.get(name) for name in expected} == expected
    assert all(isinstance(value, str) for value in words.values())


def test_options_read_back_are_those_that_were_written():
    stream = {"read_percent": 70, "random_percent": 25, "block_size": 8192, "threads": 4, "queue_depth": 16, "direct": False}
    course = Course(recorded_point(Load(options=stream)))
    assert known_options(job_options(course.streams[0], course)) == stream


@pytest.mark.parametrize(
    ("value", "binary", "text"),
    [
        (4590, False, "4590"),
        (10753, False, "10.8k"),
        (44_040_192, True, "42.0Mi"),
        (2_048_000, True, "2000Ki"),
        (228_000_000, False, "228M"),
    ],
)
def test_numbers_are_shortened_as_fio_shortens_them(value, binary, text):
    assert short(value, binary=binary) == text


def test_normal_text_can_be_searched_for_rates():
    text = normal_text([recorded_point(MIXED)])
    assert "  read: IOPS=1000, BW=8000KiB/s (8192kB/s)(23.4MiB/3000msec)" in text
    assert "  write: IOPS=400, BW=3200KiB/s (3277kB/s)(9600KiB/3000msec); 0 zone resets" in text
    assert "issued rwts: total=3000,1200,0,30" in text
    assert "  sda: ios=300/150" in text


def test_terse_fields_stand_where_scripts_look_for_them():
    fields = terse_text([recorded_point(MIXED)]).strip().split(";")
    assert fields[:3] == ["3", "fio-3.33-plimsoll-0.1.0", "oltp-db"]
    assert fields[5:9] == ["24000", "8000", "1000", "3000"]
    assert fields[17].startswith("1.000000%=")
    assert fields[46:50] == ["9600", "3200", "400", "3000"]
    assert fields[FIELDS] == "sda"


def test_logs_have_a_line_per_window_and_direction():
    files = log_files([recorded_point(MIXED)])
    prefix = "randrw-iodepth-4-numjobs-1"
    assert sorted(files) == sorted(f"{prefix}_{kind}.1.log" for kind in ("bw", "iops", "lat", "clat", "clat_hist"))
    assert files[f"{prefix}_iops.1.log"].splitlines()[:3] == ["500, 1000, 0, 0, 0", "500, 400, 1, 0, 0", "1000, 1000, 0, 0, 0"]
    assert files[f"{prefix}_bw.1.log"].splitlines()[0] == "500, 8000, 0, 0, 0"
    time_ms, direction, size, *counts = map(int, files[f"{prefix}_clat_hist.1.log"].splitlines()[0].split(", "))
    assert (time_ms, direction, size, len(counts), sum(counts)) == (500, 0, 8192, BINS, 500)


def test_logs_of_points_of_equal_names_are_numbered_on():
    files = log_files([recorded_point(), recorded_point()])
    assert {name for name in files if "_bw." in name} == {f"randread-iodepth-4-numjobs-1_bw.{number}.log" for number in (1, 2)}


def test_logs_of_a_point_without_intervals_are_refused_in_a_sentence():
    with pytest.raises(InputError, match="no intervals are stored"):
        log_files([Recorded(recorded_point().result)])


@pytest.mark.skipif(shutil.which("fio-plot") is None, reason="fio-plot is not installed here (pip install fio-plot)")
@pytest.mark.parametrize(("graph", "more"), [("-l", []), ("-H", []), ("-N", []), ("-L", ["-t", "iops"]), ("-g", ["-t", "iops", "lat"])])
def test_fio_plot_draws_our_json_and_logs(tmp_path: Path, graph, more):
    points = [recorded_point(Load(options={"queue_depth": depth, "threads": threads})) for depth in (1, 4) for threads in (1, 2)]
    for point in points:
        (tmp_path / f"{job_name(point)}.json").write_text(json_text([point], plus=True))
    for name, text in log_files(points).items():
        (tmp_path / name).write_text(text)
    depths, threads = {"-l": ("1 4", "1"), "-N": ("1", "1 2"), "-L": ("1 4", "1 2"), "-H": ("4", "1"), "-g": ("1 4", "1")}[graph]
    command = ["fio-plot", "-i", str(tmp_path), "-T", "t", graph, *more, "-r", "randread", "-o", str(tmp_path / "out.png")]
    ran = subprocess.run(
        [*command, "-d", *depths.split(), "-n", *threads.split()], capture_output=True, text=True, check=False, timeout=HANGS_S
    )
    assert ran.returncode == 0, ran.stderr
    assert (tmp_path / "out.png").read_bytes().startswith(b"\x89PNG")
