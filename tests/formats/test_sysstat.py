"""iostat's and sadf's output as points, one per device."""

from __future__ import annotations

import json

import pytest

from plimsoll.errors import InputError
from plimsoll.formats.sysstat import is_sysstat, read_sysstat

TEXT = """\
Linux 6.1.0 (bench) \t11/21/26 \t_x86_64_\t(8 CPU)

11/21/26 10:00:00
avg-cpu:  %user   %nice %system %iowait  %steal   %idle
           1.00    0.00    1.00    0.00    0.00   98.00

Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s   wrqm/s  %wrqm w_await wareq-sz  aqu-sz  %util
sda              9.00     36.00     0.00   0.00    0.10     4.00    9.00     36.00     0.00   0.00    0.10     4.00    0.01   1.00
sdb              0.00      0.00     0.00   0.00    0.00     0.00    0.00      0.00     0.00   0.00    0.00     0.00    0.00   0.00

11/21/26 10:00:10
avg-cpu:  %user   %nice %system %iowait  %steal   %idle
          10.00    2.00    5.00    3.00    0.00   80.00

Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s   wrqm/s  %wrqm w_await wareq-sz  aqu-sz  %util
sda            100.00    400.00     0.00   0.00    2.00     4.00   50.00    200.00     0.00   0.00    1.00     4.00    0.25  30.00
sdb              0.00      0.00     0.00   0.00    0.00     0.00    0.00      0.00     0.00   0.00    0.00     0.00    0.00   0.00

11/21/26 10:00:20
avg-cpu:  %user   %nice %system %iowait  %steal   %idle
          20.00    0.00    5.00    5.00    0.00   70.00

Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s   wrqm/s  %wrqm w_await wareq-sz  aqu-sz  %util
sda            300.00   1200.00     0.00   0.00    4.00     4.00   50.00    200.00     0.00   0.00    1.00     4.00    1.25  90.00
sdb              0.00      0.00     0.00   0.00    0.00     0.00    0.00      0.00     0.00   0.00    0.00     0.00    0.00   0.00

"""


def iostat_json() -> str:
    def disk(reads: float, wait: float) -> dict:
        return {
            "disk_device": "sda",
            "r/s": reads,
            "rkB/s": 4 * reads,
            "r_await": wait,
            "w/s": 50.0,
            "wkB/s": 200.0,
            "w_await": 1.0,
            "util": 90.0,
        }

    cpu = {"user": 10.0, "nice": 2.0, "system": 5.0, "iowait": 3.0, "steal": 0.0, "idle": 80.0}
    stamps = ("11/21/26 10:00:00", "11/21/26 10:00:10", "11/21/26 10:00:20")
    reports = [
        {"timestamp": stamp, "avg-cpu": cpu, "disk": [disk(*figures)]}
        for stamp, figures in zip(stamps, ((9, 0.1), (100, 2.0), (300, 4.0)), strict=True)
    ]
    return json.dumps({"sysstat": {"hosts": [{"nodename": "bench", "statistics": reports}]}})


@pytest.mark.parametrize("text", [TEXT, iostat_json(), TEXT.replace(".", ",")], ids=["text", "json", "decimal comma"])
def test_a_device_is_a_point_and_the_report_since_boot_is_left_out(text):
    (point,) = read_sysstat(text, "iostat.txt")
    read, write = (point.result.totals[op] for op in ("read", "write"))
    assert (point.result.job.target, point.result.job.workload, point.result.job.duration_s) == ("sda", "observed", 20.0)
    assert (read.count, read.iops, read.bytes) == (4000, 200.0, 4000 * 4096)
    assert (write.count, write.bytes_per_s) == (1000, 200.0 * 1024)
    # Weighted with requests: (1000 × 2 ms + 3000 × 4 ms) / 4000.
    assert point.result.estimates["read"]["mean"].value == pytest.approx(3_500_000)
    assert point.result.monitor["devices"]["sda"]["r_per_s"] == pytest.approx(200.0)
    assert [interval["end_ns"] for interval in point.intervals] == [10_000_000_000, 20_000_000_000]


def test_cpu_shares_are_those_of_the_reports():
    (point,) = read_sysstat(TEXT, "iostat.txt")
    assert point.result.monitor["cpu"] == pytest.approx(
        {"user_percent": 16.0, "system_percent": 5.0, "idle_percent": 75.0, "iowait_percent": 4.0}
    )


def test_reports_without_times_are_taken_as_seconds_and_the_point_says_so():
    text = "\n".join(line for line in TEXT.splitlines() if not line.startswith("11/21"))
    (point,) = read_sysstat(text, "iostat.txt")
    assert point.result.job.duration_s == 2.0
    assert "each is taken as one second" in point.result.flags[0].message


def test_sadf_divides_requests_as_amounts_of_data_are():
    disks = [{"disk-device": "sda", "tps": 300.0, "rkB": 800.0, "wkB": 400.0, "aqu-sz": 1.0, "await": 2.0, "util": 50.0}]
    stamps = [{"date": "2026-11-21", "time": f"10:0{minute}:00", "utc": 1, "interval": 60} for minute in (0, 1)]
    statistics = [{"timestamp": stamp, "disk": disks} for stamp in stamps]
    (point,) = read_sysstat(json.dumps({"sysstat": {"hosts": [{"statistics": statistics}]}}), "sar.json")
    assert point.result.versions["origin"] == "sar"
    assert point.result.totals["read"].iops == pytest.approx(200.0)
    assert point.result.job.duration_s == 60.0


def test_a_report_of_sadf_without_a_time_is_a_second_long_like_those_of_iostat():
    # One entry with a timestamp made all of them sadf's, and the others raised KeyError.
    disks = [{"disk-device": "sda", "tps": 300.0, "rkB": 800.0, "wkB": 400.0, "await": 2.0}]
    stamp = {"date": "2026-11-21", "time": "10:00:00", "interval": 60}
    (point,) = read_sysstat(
        json.dumps({"sysstat": {"hosts": [{"statistics": [{"timestamp": stamp, "disk": disks}, {"disk": disks}]}]}}), "x"
    )
    assert point.result.totals["read"].count > 0


def test_the_beginning_is_known():
    assert is_sysstat(TEXT) and is_sysstat(iostat_json())
    assert not is_sysstat("Device names are letters\n")


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "x: there is no table of devices in it"),
        ("{", "x:1: not JSON"),
        ("{}", "there are no statistics in it"),
        ('{"sysstat": {"hosts": [{"statistics": [{"disk": [{"disk_device": "sda"}]}]}]}}', "sda has no 'r/s'"),
        ("Device r/s w/s\nsda 1\n", "x:2: 1 values under 2 columns"),
        ("Device r/s w/s\nsda 1 y\n", "x:2: 'y' is no number"),
        ("Device tps\nsda 1\n", "x:1: the table has no column 'r/s'"),
        ("Device r/s w/s\nsda 0 0\n", "no device did anything in it"),
    ],
)
def test_wrong_output_is_answered_in_one_sentence(text, part):
    with pytest.raises(InputError) as refused:
        read_sysstat(text, "x")
    assert part in str(refused.value)
    assert "\n" not in str(refused.value)
