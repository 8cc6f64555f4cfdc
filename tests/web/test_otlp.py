"""Metrics on their way to an OpenTelemetry collector, which may be away, and a run that does not mind."""

import gzip
import http.server
import json
import socket
import subprocess
import sys
import threading

import pytest

from plimsoll.errors import InputError
from plimsoll.metrics.collector import Sender, collector
from plimsoll.metrics.families import Buckets, Sample, family
from plimsoll.metrics.opentelemetry import request
from plimsoll.metrics.progress import Measured
from support.patience import wait_until
from web.served import PATIENCE_S, GoingOn


class Collecting(http.server.BaseHTTPRequestHandler):
    """A collector, as far as it is needed."""

    def do_POST(self):
        body = gzip.decompress(self.rfile.read(int(self.headers["Content-Length"])))
        server = self.server
        server.got.append((self.path, dict(self.headers), json.loads(body)))
        status, headers = server.answers.pop(0) if server.answers else (200, {})
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": "2", **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(b"{}")

    def do_GET(self):
        """Nobody should come by."""
        self.server.got.append((self.path, dict(self.headers), None))
        self.send_error(404)

    def log_message(self, *_):
        """Nobody reads it."""


@pytest.fixture
def collecting():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collecting) as server:
        server.got, server.answers = [], []
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        server.url = f"http://127.0.0.1:{server.server_address[1]}"
        yield server
        server.shutdown()


def _metrics(body):
    (resource,) = body["resourceMetrics"]
    return {metric["name"]: metric for metric in resource["scopeMetrics"][0]["metrics"]}


def _op(point):
    return {one["key"]: one["value"]["stringValue"] for one in point["attributes"]}.get("op")


def test_metrics_arrive_as_they_stand_in_the_store(collecting, tmp_path):
    run = GoingOn(tmp_path)
    run.intervals(4)
    measured, said = Measured(), []
    sender = Sender(collector(collecting.url), lambda: measured.families([str(run.path)]), said.append)
    assert sender.send() == 10.0 and said == []
    ((path, headers, body),) = collecting.got
    assert (path, headers["Content-Type"]) == ("/v1/metrics", "application/json")
    written = [json.loads(line) for line in run._lines[:4]]
    for point in _metrics(body)["plimsoll.requests"]["sum"]["dataPoints"]:
        assert point["asDouble"] == sum(one["summary"].get(_op(point), {"count": 0})["count"] for one in written)
    assert _metrics(body)["plimsoll.requests"]["sum"]["isMonotonic"] is True
    for point in _metrics(body)["plimsoll.request_latency"]["exponentialHistogram"]["dataPoints"]:
        assert sum(map(int, point["positive"]["bucketCounts"])) + int(point["zeroCount"]) == int(point["count"]) > 0


def test_a_bucket_of_the_histogram_has_the_limits_that_otlp_gives_it():
    buckets = Buckets()
    # One second is the upper limit of the bucket that OTLP calls -1 (base^-1 to base^0), 1.01 s is in the next.
    buckets.add([(1_000_000_000, 2), (1_010_000_000, 3)], 5e9)
    ((metric,),) = [
        one["scopeMetrics"][0]["metrics"] for one in request([family("request_latency", [Sample({}, buckets)])], 1, 2)["resourceMetrics"]
    ]
    (point,) = metric["exponentialHistogram"]["dataPoints"]
    assert (point["scale"], point["positive"], point["count"]) == (4, {"offset": -1, "bucketCounts": ["2", "3"]}, "5")
    assert (point["startTimeUnixNano"], point["timeUnixNano"], metric["unit"]) == ("1", "2", "s")


def test_what_a_collector_cannot_take_now_is_sent_again(collecting):
    collecting.answers += [(503, {}), (429, {"Retry-After": "7"}), (504, {})]
    said = []
    sender = Sender(collector(collecting.url), list, said.append)
    assert [sender.send() for _ in range(5)] == [1.0, 7.0, 4.0, 10.0, 10.0]
    assert said == [
        f"{collecting.url} takes no metrics (answers 503); they are sent again until it does.",
        f"{collecting.url} takes metrics again.",
    ]


def test_what_a_collector_refuses_is_said_once_and_nothing_more_is_sent(collecting):
    collecting.answers += [(401, {})]
    said = []
    Sender(collector(collecting.url), list, said.append).run(threading.Event())
    assert said == [f"{collecting.url} refuses metrics (401: {{}}); no more are sent."] and len(collecting.got) == 1


def test_credentials_follow_no_redirection(collecting, monkeypatch):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "api-key=s%20ecret")
    collecting.answers += [(302, {"Location": f"{collecting.url}/elsewhere"})]
    said = []
    Sender(collector(collecting.url), list, said.append).send()
    ((path, headers, _),) = collecting.got
    sent = {name.lower(): value for name, value in headers.items()}
    assert (path, sent["api-key"]) == ("/v1/metrics", "s ecret") and "refuses metrics (302" in said[0]


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("localhost:4318", "is no address of a collector; write for example http://127.0.0.1:4318."),
        ("grpc://x:4317", "is no address of a collector"),
        ("http://", "is no address of a collector"),
        ("http://[x", "is no address of a collector"),
        ("http://x:99999", "is no address of a collector"),
        ("http://me:secret@x", "credentials belong in OTEL_EXPORTER_OTLP_HEADERS"),
    ],
)
def test_an_address_that_is_none_is_said(url, said):
    with pytest.raises(InputError) as refused:
        collector(url)
    assert said in str(refused.value) and "secret" not in str(refused.value)


def test_an_environment_that_says_nothing_right_is_said(monkeypatch):
    monkeypatch.setenv("OTEL_METRIC_EXPORT_INTERVAL", "soon")
    with pytest.raises(InputError, match="is no time in milliseconds"):
        collector("http://x")
    monkeypatch.setenv("OTEL_METRIC_EXPORT_INTERVAL", "250")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "Authorization")
    with pytest.raises(InputError, match="is no list of headers"):
        collector("http://x")
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_HEADERS")
    assert (collector("http://x/otlp/").url, collector("http://x").every_s) == ("http://x/otlp/v1/metrics", 0.25)


def _run(tmp_path, *words):
    command = [sys.executable, "-m", "plimsoll", "run", "random-read-4k", "-t", "queue:?service=exp:1ms", "-d", "2s", "-w", "0s", "--quiet"]
    return subprocess.run(
        [*command, "--out", str(tmp_path / "store"), *words], check=False, capture_output=True, text=True, timeout=PATIENCE_S
    )


def test_a_run_sends_its_last_state_before_its_command_ends(collecting, tmp_path):
    done = _run(tmp_path, "--otlp", collecting.url)
    assert (done.returncode, done.stderr) == (0, "")
    (path,) = (tmp_path / "store").iterdir()
    result = json.loads(next((path / "points").glob("*/result.json")).read_text())
    last = _metrics(collecting.got[-1][2])
    (point,) = last["plimsoll.requests"]["sum"]["dataPoints"]
    lines = next((path / "points").glob("*/intervals.jsonl")).read_text().splitlines()
    assert point["asDouble"] == sum(json.loads(line)["summary"].get("read", {"count": 0})["count"] for line in lines) > 0
    assert last["plimsoll.points_ended"]["gauge"]["dataPoints"][0]["asDouble"] == 1 and result["status"] == "complete"


def test_a_collector_that_is_away_is_said_once_and_changes_nothing(tmp_path):
    # It takes connections and never answers one.
    with socket.create_server(("127.0.0.1", 0)) as silent:
        done = _run(tmp_path, "--otlp", f"http://127.0.0.1:{silent.getsockname()[1]}")
    assert done.returncode == 0 and done.stderr.count("takes no metrics") == 1 and "Traceback" not in done.stderr
    (path,) = (tmp_path / "store").iterdir()
    assert json.loads((path / "run.json").read_text())["status"] == "complete"


def test_an_address_that_is_none_stops_the_run_before_it_begins(tmp_path):
    done = _run(tmp_path, "--otlp", "nowhere")
    assert done.returncode == 2 and "is no address of a collector" in done.stderr and not (tmp_path / "store").exists()


def test_a_server_sends_what_others_measure(collecting, serve, tmp_path):
    run = GoingOn(tmp_path)
    run.intervals(2)
    serve(tmp_path, "--otlp", collecting.url)
    wait_until(lambda: any("plimsoll.requests" in _metrics(body) for _, _, body in collecting.got), "nothing came")
