"""What monitoring programs are told while something is measured."""

import json
import re
import shutil
import struct
import subprocess
from dataclasses import fields
from importlib.resources import files

import pytest

from plimsoll.metrics.families import DECLARED, SCHEMA, Buckets, Sample, family
from plimsoll.metrics.progress import Measured
from plimsoll.metrics.prometheus import PROTOBUF, TEXT, exposition
from plimsoll.monitor.counters import DiskCounters, disk_rates
from report.synthetic import PROFILES, Array, write_run
from web.served import GoingOn

ACCEPTED = (
    "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited,text/plain;version=0.0.4;q=0.3,*/*;q=0.1"
)


def _value(text, name, **labels):
    """The value of the one line of that name whose labels hold these."""
    found = [
        float(line.rpartition(" ")[2])
        for line in text.splitlines()
        if re.match(rf"{name}[{{ ]", line) and all(f'{key}="{value}"' in line for key, value in labels.items())
    ]
    assert len(found) == 1, (name, found)
    return found[0]


def _written(run, count):
    """What the first intervals of the point that goes on hold, added up."""
    intervals = [json.loads(line) for line in run._lines[:count]]
    return {
        op: sum(interval["summary"][op]["count"] for interval in intervals if op in interval["summary"])
        for op in {op for interval in intervals for op in interval["summary"]}
    }


def test_a_run_that_goes_on_is_counted_as_it_stands_in_the_store(serve, tmp_path):
    run = GoingOn(tmp_path)
    run.intervals(4)
    server = serve(tmp_path)
    status, headers, text = server.ask("/metrics")
    assert (status, headers["content-type"]) == (200, TEXT)
    name = run.path.name
    for op, count in _written(run, 4).items():
        assert _value(text, "plimsoll_requests_total", run=name, op=op) == count
        assert _value(text, "plimsoll_request_latency_seconds_count", run=name, op=op) > 0
        assert _value(text, "plimsoll_request_latency_seconds_bucket", run=name, op=op, le=r"+Inf") == _value(
            text, "plimsoll_request_latency_seconds_count", run=name, op=op
        )
    assert _value(text, "plimsoll_points_ended", run=name) == 2 and _value(text, "plimsoll_points_planned", run=name) == 3
    assert _value(text, "plimsoll_running_runs") == 1
    run.intervals(3)
    again = server.ask("/metrics")[2]
    for op, count in _written(run, 7).items():
        assert _value(again, "plimsoll_requests_total", run=name, op=op) == count
    run.end()
    gone = server.ask("/metrics")[2]
    assert _value(gone, "plimsoll_running_runs") == 0 and name not in gone


def test_metrics_are_told_to_whoever_has_the_token(serve, tmp_path):
    server = serve(tmp_path)
    assert json.loads(server.ask("/grafana.json")[2])["title"] == "Plimsoll"
    assert server.ask("/metrics", bearer=None)[0] == 401 and server.ask("/metrics", bearer="guessed")[0] == 401


def test_counters_go_on_from_point_to_point(tmp_path):
    run = GoingOn(tmp_path)
    run.intervals(2)
    measured = Measured()
    before = _requests(measured.families([str(run.path)]))
    (run.path / "points" / "0003-oltp-db-next").mkdir()
    shutil.copytree(run._last, run.path / "points" / "0004-next", dirs_exist_ok=True)
    run.intervals(3)
    after = _requests(measured.families([str(run.path)]))
    written = sum(_written(run, 5).values()) + sum(_written(run, 2).values())
    assert before == sum(_written(run, 2).values()) and after == written


def _requests(families):
    (found,) = [one for one in families if one.declared.name == "requests"]
    return sum(sample.value for sample in found.samples)


def test_the_number_of_series_has_a_bound(tmp_path):
    run = GoingOn(tmp_path)
    line = json.loads(run._lines[0])
    (entry,) = list(line["summary"].values())[:1]
    line["summary"] = {f"op{number}": entry for number in range(500)}
    devices = {f"sd{number}": {"r_per_s": 1.0} for number in range(500)}
    (run._last / "intervals.jsonl").write_text(json.dumps(line) + "\n")
    (run._last / "monitor.jsonl").write_text(json.dumps({"index": 0, "end_ns": 1, "seconds": 1.0, "devices": devices}) + "\n")
    counted = {one.declared.name: len(one.samples) for one in Measured().families([str(run.path)] * 1)}
    assert counted["requests"] == 32 and counted["host_device_reads_per_second"] == 64


def test_a_load_that_is_derived_from_a_published_benchmark_says_so(tmp_path):
    run = GoingOn(tmp_path)
    run.intervals(1)
    path = run._last / "job.json"
    document = json.loads(path.read_text())
    document["job"]["definition"]["driver"] = "order-entry"
    path.write_text(json.dumps(document))
    (info,) = [one for one in Measured().families([str(run.path)]) if one.declared.name == "run_info"]
    (sample,) = info.samples
    assert sample.labels["derived"] == "derived from TPC-C, not comparable with published TPC-C results"


def test_hostile_names_stay_within_their_quotes(tmp_path):
    run = GoingOn(tmp_path, 'a"} 1\nplimsoll_requests_total 666\\')
    run.intervals(1)
    body, _ = exposition(Measured().families([str(run.path)]), "")
    text = body.decode()
    assert "\nplimsoll_requests_total 666" not in text and r"a\"} 1" in text
    for line in text.splitlines():
        assert re.fullmatch(r'# (HELP|TYPE) .+|\w+(\{(\w+="([^"\\]|\\.)*",?)*\})? [-+.\deInf]+', line), line


def _messages(body):
    """Fields of a message as (number, value)."""
    place = 0

    def varint():
        nonlocal place
        value, shift = 0, 0
        while True:
            byte = body[place]
            place += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    found = []
    while place < len(body):
        key = varint()
        if key & 7 == 0:
            found.append((key >> 3, varint()))
        elif key & 7 == 1:
            found.append((key >> 3, struct.unpack("<d", body[place : place + 8])[0]))
            place += 8
        else:
            length = varint()
            found.append((key >> 3, body[place : place + length]))
            place += length
    return found


def _signed(value):
    return value // 2 if value % 2 == 0 else -(value + 1) // 2


def test_a_native_histogram_holds_every_request_in_its_bucket():
    buckets = Buckets()
    buckets.add([(0, 1), (1_000_000_000, 2), (1_000_000_001, 3), (2_000_000_000, 5), (250_000, 7)], 13e9)
    # Above 2^((i-1)/16) and not above 2^(i/16): one second is in bucket 0, the next nanosecond in 1, two seconds in 16, 250 µs at -191.
    assert buckets.counts == {0: 2, 1: 3, 16: 5, -191: 7} and SCHEMA == 4
    body, kind = exposition([family("request_latency", [Sample({"op": "read"}, buckets)])], ACCEPTED)
    assert kind == PROTOBUF
    length_bytes = 1 if body[0] < 0x80 else 2
    of_family = dict(_messages(body[length_bytes:]))
    histogram = _messages(dict(_messages(of_family[4]))[7])
    single = dict(histogram)
    assert (single[1], single[2], _signed(single[5]), single[7]) == (18, 13.0, 4, 1)
    spans = [dict(_messages(value)) for number, value in histogram if number == 12]
    assert [(_signed(span[1]), span[2]) for span in spans] == [(-191, 1), (190, 2), (14, 1)]
    assert [_signed(value) for number, value in histogram if number == 13] == [7, -5, 1, 2]


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        (ACCEPTED, PROTOBUF),
        ("", TEXT),
        ("*/*", TEXT),
        ("application/openmetrics-text;version=1.0.0,text/plain;q=0.5", TEXT),
        ("application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.2,text/plain;q=0.5", TEXT),
        ("application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=text", TEXT),
        ("application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=x", TEXT),
    ],
)
def test_protobuf_is_written_for_those_that_ask_for_it(accept, kind):
    assert exposition([], accept)[1] == kind


@pytest.fixture
def told(tmp_path):
    """The text of a run whose host was looked at as a real one is."""
    run = GoingOn(tmp_path)
    run.intervals(4)
    before, after = (DiskCounters(**dict.fromkeys((one.name for one in fields(DiskCounters)), value)) for value in (1, 9))
    sample = {"index": 0, "end_ns": 1, "seconds": 1.0, "devices": {"sdb": disk_rates(before, after, 1.0)}, "cpu": {"idle_percent": 25.0}}
    (run._last / "monitor.jsonl").write_text(json.dumps(sample) + "\n")
    body, _ = exposition(Measured().families([str(run.path)]), "")
    return body.decode()


def test_what_the_host_does_is_told(told):
    assert _value(told, "plimsoll_host_cpu_busy_ratio") == 0.75
    assert _value(told, "plimsoll_host_device_reads_per_second", device="sdb") == 8


def test_every_metric_of_the_dashboard_is_told(told):
    dashboard = json.loads((files("plimsoll.web") / "grafana.json").read_text())
    assert len({panel["id"] for panel in dashboard["panels"]}) == len(dashboard["panels"])
    queries = [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", ())]
    queries += [one["query"]["query"] for one in dashboard["templating"]["list"] if one["type"] == "query"]
    asked = {name for query in queries for name in re.findall(r"plimsoll_\w+", query)}
    there = set(re.findall(r"^(plimsoll_\w+)[{ ]", told, re.MULTILINE)) | set(re.findall(r"# TYPE (\w+)", told))
    assert len(queries) >= 10 and asked <= there


def _labels_told(told, name):
    """The labels that every sample of a metric has, of a native histogram those of its count."""
    lines = [[line for line in told.splitlines() if re.match(rf"{name}{end}[{{ ]", line)] for end in ("", "_count")]
    found = [set(re.findall(r'(\w+)="', line)) for line in lines[0] or lines[1]]
    assert found, name
    return set.intersection(*found)


def test_every_label_of_the_dashboard_is_one_of_its_metric(told):
    dashboard = json.loads((files("plimsoll.web") / "grafana.json").read_text())
    targets = [target for panel in dashboard["panels"] for target in panel.get("targets", ())]
    looked_at = set()
    for target in targets:
        (selector,) = re.findall(r"(plimsoll_\w+)\{([^}]*)\}", target["expr"])
        there = _labels_told(told, selector[0])
        asked = set(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", selector[1]))
        grouped = re.findall(r"\bby \(([^)]*)\)", target["expr"])
        left = {word.strip() for word in grouped[0].split(",")} if grouped else there
        # What a quantile is made of has no le any more.
        left -= {"le"} if "histogram_quantile" in target["expr"] else set()
        named = set(re.findall(r"\{\{\s*(\w+)\s*\}\}", target.get("legendFormat", "")))
        wanted = asked | ({word.strip() for word in grouped[0].split(",")} if grouped else set())
        assert wanted <= there, (target["expr"], there)
        assert named <= left, (target["legendFormat"], left)
        looked_at |= asked | named
    assert {"run", "op"} <= looked_at
    for one in dashboard["templating"]["list"]:
        for name, label in re.findall(r"label_values\((\w+), (\w+)\)", str(one["query"])):
            assert label in _labels_told(told, name)


def test_every_declared_metric_is_told(told):
    assert {one for one in DECLARED if re.search(rf"# TYPE plimsoll_{one}(_|\b)", told)} == set(DECLARED)


def test_each_name_is_right_by_the_rules_of_prometheus(told):
    if shutil.which("promtool") is None:
        pytest.skip("promtool is not installed (apt-get install prometheus): names are not checked by Prometheus")
    done = subprocess.run(["promtool", "check", "metrics"], check=False, input=told, capture_output=True, text=True)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "")


def test_a_scrape_reads_only_what_is_new(tmp_path, monkeypatch):
    run = GoingOn(tmp_path)
    run.intervals(4)
    measured = Measured()
    measured.families([str(run.path)])
    read = []
    from plimsoll.store import tail

    kept = tail.line_value
    monkeypatch.setattr(tail, "line_value", lambda line, *more: read.append(line) or kept(line, *more))
    measured.families([str(run.path)])
    assert read == []
    run.intervals(1)
    measured.families([str(run.path)])
    assert len(read) == 1


def test_a_store_that_cannot_be_read_tells_what_it_can(serve, tmp_path):
    path = write_run(tmp_path / "2026-11-21T03-44-10_one", Array("one", seconds=5), PROFILES[:1])
    (path / "run.json").write_text("{")
    assert _value(serve(tmp_path).ask("/metrics")[2], "plimsoll_running_runs") == 0


def test_what_the_parts_of_a_target_saw_is_not_counted_again(tmp_path):
    run = GoingOn(tmp_path)
    line = json.loads(run._lines[-1])
    line["cells"] += [{**cell, "part": f"{number}:/dev/sdb"} for cell in line["cells"] for number in range(2)]
    counted = []
    for cells in (json.loads(run._lines[-1])["cells"], line["cells"]):
        (run._last / "intervals.jsonl").write_text(json.dumps({**line, "cells": cells}) + "\n")
        (latency,) = [one for one in Measured().families([str(run.path)]) if one.declared.name == "request_latency"]
        counted.append([sample.value.count for sample in latency.samples])
    assert counted[0] == counted[1] and sum(counted[0]) > 0
