"""Prometheus itself scrapes a run that goes on, with its native histogram or with buckets, and answers every query of the dashboard."""

import json
import shutil
import socket
import subprocess
import sys
import urllib.parse
import urllib.request
from importlib.resources import files

import pytest

from support.patience import wait_until
from web.served import served

TOKEN = "0123456789abcdef0123"
CONFIGURATION = """
global: {{scrape_interval: 1s, scrape_timeout: 1s}}
scrape_configs:
- job_name: plimsoll
  authorization: {{credentials_file: {token}}}
  static_configs: [{{targets: ["{place}"]}}]
"""


@pytest.fixture
def measured(tmp_path):
    """A run that goes on, and its server."""
    held = tmp_path / "token"
    held.write_text(TOKEN)
    held.chmod(0o600)
    server = served(tmp_path / "store", "--token-file", str(held))
    words = (
        "run",
        "random-read-4k",
        "--target",
        "null:",
        "--set",
        "arrival=poisson",
        "--set",
        "rate=500",
        "--duration",
        "10m",
        "--quiet",
        "--out",
        str(tmp_path / "store"),
    )
    run = subprocess.Popen([sys.executable, "-m", "plimsoll", *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    yield server, held
    run.terminate()
    run.wait()
    server.stop()


@pytest.fixture
def prometheus(measured, tmp_path, request):
    """Asks a Prometheus that scrapes it; the parameter is whether it keeps native histograms, and then no classic ones beside them."""
    if shutil.which("prometheus") is None:
        pytest.skip("prometheus is not installed (apt-get install prometheus): no true scrape")
    server, held = measured
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (tmp_path / "prometheus.yml").write_text(CONFIGURATION.format(token=held, place=server.place))
    command = ["prometheus", f"--config.file={tmp_path / 'prometheus.yml'}", f"--storage.tsdb.path={tmp_path / 'tsdb'}"]
    log = (tmp_path / "log").open("w")
    native = ["--enable-feature=native-histograms"] if request.param else []
    process = subprocess.Popen([*command, f"--web.listen-address=127.0.0.1:{port}", *native], stdout=log, stderr=log)

    def ask(query):
        address = f"http://127.0.0.1:{port}/api/v1/query?{urllib.parse.urlencode({'query': query})}"
        try:
            with urllib.request.urlopen(address, timeout=30) as answer:
                return json.load(answer)["data"]["result"]
        except OSError:
            return []

    yield ask
    process.terminate()
    process.wait()
    log.close()


@pytest.mark.parametrize("prometheus", [True], indirect=True)
def test_prometheus_keeps_rates_and_the_native_histogram(prometheus):
    wait_until(lambda: _number(prometheus('sum(rate(plimsoll_requests_total{op="read"}[5s]))')) > 0, "no rate came")
    native = "histogram_quantile(0.99, sum(rate(plimsoll_request_latency_seconds[10s])))"
    wait_until(lambda: 0 < _number(prometheus(native)) < 1, "no native histogram came")
    # What is counted in the histogram is what was counted beside it: both are of one scrape.
    (both,) = prometheus("sum(histogram_count(plimsoll_request_latency_seconds)) / sum(plimsoll_requests_total)")
    assert float(both["value"][1]) == 1.0
    for query in _queries(lambda query: "_bucket" not in query):
        wait_until(lambda: prometheus(query), f"no answer to {query}")  # noqa: B023
    assert prometheus("up")[0]["value"][1] == "1"


@pytest.mark.parametrize("prometheus", [False], indirect=True)
def test_prometheus_without_native_histograms_answers_from_buckets(prometheus):
    for query in _queries(lambda query: "plimsoll_request_latency_seconds{" not in query):
        wait_until(lambda: prometheus(query), f"no answer to {query}")  # noqa: B023
    (classic,) = _queries(lambda query: "histogram_quantile" in query and "_bucket" in query)
    wait_until(lambda: 0 < _number(prometheus(classic)) < 1, "no quantile came")
    (both,) = prometheus('sum(plimsoll_request_latency_seconds_bucket{le="+Inf"}) / sum(plimsoll_requests_total)')
    assert float(both["value"][1]) == 1.0


def _queries(wanted):
    """Those of the dashboard's panels that are wanted, with what Grafana puts in for its variables."""
    dashboard = json.loads((files("plimsoll.web") / "grafana.json").read_text())
    found = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"] if wanted(target["expr"])]
    assert found
    return [query.replace("$__rate_interval", "10s").replace("$run", ".*") for query in found]


def _number(found):
    return float(found[0]["value"][1]) if found else 0.0
