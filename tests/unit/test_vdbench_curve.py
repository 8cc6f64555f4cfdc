"""The curve of a translated Vdbench file against queueing theory: never more outstanding than the SD has threads, response as Vdbench counts it.

A single exponential server at rate μ gets Poisson arrivals at λ = ρ μ, of which at most T are handed over at a time; the others wait outside.
Who waits where changes nothing for the whole, M/M/1 with N in it: a request takes 1 / (μ - λ) from when it was due. Within the server there
are min(N, T), on average ρ + ρ² + … + ρ^T (P(N ≥ k) is ρ^k), so by Little's law the service time, Vdbench's response, is that over λ.
"""

from __future__ import annotations

import pytest

from plimsoll.experiments.curve import Pace, curve
from plimsoll.formats.vdbench import translate
from plimsoll.result import Result
from support.known_theory import MU, Bench, Known

THREADS = 4
TEXT = f"sd=sd1,lun=/dev/sdb,threads={THREADS}\nwd=wd1,sd=sd1,xfersize=512\n"
CURVE = "rd=run1,wd=wd1,iorate=curve,curve=(50,70,90),elapsed=60,interval=1\n"
#: At 90 % of the server, means over 400 s have a standard error of 3 % (V of test_known_marks.py: 0.1 √(41,000 / 360,000)).
SECONDS = 400


def points(run: str = CURVE) -> dict[int, Result]:
    """The points of the curve that a file asks for, by their percentage."""
    document = translate(TEXT + run, "job", None, {}).document
    ((experiment,), (workload,)) = document["experiment"], document["workload"]
    (stream,) = workload["stream"]
    options = {name: value for name, value in stream.items() if not name.startswith("region")}
    bench = Bench(Known("queue:?service=exp:1ms", {}, {}), seed=1, seconds=SECONDS, streams=[options])
    bench.conclusion(curve(experiment["percent"], Pace(**{key: experiment[key] for key in ("rounding", "arrival", "outstanding")})))
    rates = {result.offered_per_s: result for result in bench.results.values()}
    return {round(rate / 10): result for rate, result in rates.items() if rate}


@pytest.mark.parametrize("percent", [50, 70, 90])
def test_latency_and_response_at_the_points_of_a_curve_are_those_of_theory(percent: int) -> None:
    result = points()[percent]
    total = result.totals["read"]
    assert total.latency_ns is not None and total.service_ns is not None
    load = percent / 100
    rate = load * MU
    within = sum(load**k for k in range(1, THREADS + 1))
    assert total.iops == pytest.approx(rate, rel=0.02)
    assert total.service_ns.mean / 1e9 == pytest.approx(within / rate, rel=0.03)
    assert total.latency_ns.mean / 1e9 == pytest.approx(1 / (MU - rate), rel=0.1)


def test_no_point_of_a_curve_has_more_outstanding_than_threads() -> None:
    """Exponential service of one server ends one request after the other, so more than T at a time would show in the longest service."""
    found = points()
    assert [result.job.threads * (result.job.queue_depth or 0) for result in found.values()] == [THREADS] * 3
    # Of the maximum, which is a closed loop of T threads, the mean service time is T services; no point of the open loop has a longer one.
    assert max(result.totals["read"].service_ns.mean for result in found.values() if result.totals["read"].service_ns) < THREADS * 1e6
