"""fio over NBD sees the response times that the same model has in virtual time.

The measure is the demerit of Ruemmler and Wilkes (An introduction to disk drive modeling, IEEE Computer 1994): the root mean square of the
horizontal distance between two distributions, quantile by quantile, over the mean. In virtual time the model answers hundreds of thousands
of requests, so what is left of chance comes from fio's sample: at depth 1 about 1 % of the mean for the 4,000 requests of one try.

Whoever asks over a socket waits for three wake-ups that the model knows nothing of: of the thread that reads the request, of the one that
sends the answer, and of fio. What they take here, a reference beside each try says (its median lateness), and so much is taken off every
response time. A try where that would be more than half of the demerit allowed says nothing.
"""

from __future__ import annotations

import math
import os
import random
import shutil
import signal
import subprocess
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from long import settings
from plimsoll.engine.block import native
from plimsoll.histogram import merged
from plimsoll.target import target_of
from support.patience import HANGS_S
from support.punctuality import Reference
from support.served_array import Served, missing_of_fio, served

ARRAY = "array:nearline-raid6"
DEMERIT_MAX = 0.03
#: Three of five have to be right, two of three in a small part of the suite. What is wrong while the machine was late by itself does not count;
#: chance alone makes about one attempt in a hundred wrong, so three of five less often than once in 10,000 sessions.
NEEDED = settings.SCALE.times(3, least=2)
LATE_MAX = 5
#: Half of what flags a session: 2 % of the 12 ms that this array takes.
REFERENCE_US_MAX = 250.0
#: Half of the demerit that is allowed; one standstill of five milliseconds takes it.
LOST_SHARE_MAX = DEMERIT_MAX / 2
REQUEST_S = 0.012
#: Of the reading thread, the sending thread, and fio.
WAKE_UPS = 3
WAKE_UPS_US_MAX = DEMERIT_MAX / 2 * REQUEST_S * 1e6
SECONDS = 10
#: Other angles and addresses with every try.
SEEDS = random.Random(settings.SEED)

pytestmark = [
    pytest.mark.skipif(missing_of_fio("nbd") is not None, reason=str(missing_of_fio("nbd"))),
]


def _in_virtual_time(depth: int) -> Any:
    """The distribution of response times of random reads of 4 KiB over the whole array."""
    engine = native()
    workload = engine.check_workload({"name": "read", "stream": [{"block_size": "4KiB", "queue_depth": depth}]}, "test")
    job = {
        "workload": workload,
        "job": engine.check_job({"warmup": "10s", "duration": "2000s"}),
        "target": target_of(ARRAY),
        "permission": None,
    }
    events: list[dict[str, Any]] = []
    engine.run_job(job, lambda kind, event: events.append(event) if kind == "interval" else None, engine.control())
    return merged(cell["latency"] for event in events if event["phase"] == "measure" for cell in event["cells"])


def _fio(server: Served, depth: int, number: int, seed: int) -> subprocess.Popen[bytes]:
    """fio with the same requests, writing down how long each took; ahead of other programs where that is allowed."""
    ahead = ["chrt", "-f", "2"] if not os.geteuid() and shutil.which("chrt") else []
    options = ["--rw=randread", "--bs=4k", f"--iodepth={depth}", "--time_based", f"--runtime={SECONDS}", f"--randseed={seed}"]
    whole = ["--norandommap", "--random_generator=tausworthe64", "--ioengine=nbd", f"--uri={server.addresses[0]}"]
    command = [*ahead, "fio", "--name=x", *options, *whole, f"--write_lat_log=log{number}"]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _over_nbd(depth: int, servers: int) -> list[int]:
    """Response times that so many fios saw at once, each on an array of its own that begins with other angles."""
    latencies_ns: list[int] = []
    seeds = [SEEDS.randrange(1, 1 << 31) for _ in range(servers)]
    with ExitStack() as stack:
        running = []
        for number, seed in enumerate(seeds, start=1):
            options = ["--socket", f"./{number}.sock", "--seed", str(seed), "--data", "derived"]
            running.append(_fio(stack.enter_context(served(ARRAY, *options)), depth, number, seed))
        for number, process in enumerate(running, start=1):
            assert process.wait(timeout=HANGS_S) == 0
            lines = Path(f"log{number}_lat.1.log").read_text().splitlines()
            latencies_ns += [int(line.split(",")[1]) for line in lines]
    return latencies_ns


def _demerit(sample_ns: list[int], wanted: Any, wake_ups_us: float = 0.0) -> float:
    """Root mean square of the distances between quantiles over the mean; ``wake_ups_us`` are in every response time of the sample."""
    count = len(sample_ns)
    sample_ns = [latency_ns - round(wake_ups_us * 1e3) for latency_ns in sample_ns]
    squares = ((latency_ns - wanted.percentile((place + 0.5) / count * 100)) ** 2 for place, latency_ns in enumerate(sorted(sample_ns)))
    return math.sqrt(sum(squares) / count) / wanted.mean


def _judged(attempt: Callable[[], Callable[[float], str | None]]) -> None:
    """Try until so many attempts are right, or as many wrong although the machine was in time.

    ``attempt`` returns a judge: it takes the microseconds of the wake-ups and says what is wrong, or None.
    """
    wrong: list[str] = []
    late: list[str] = []
    right = 0
    while right < NEEDED and len(wrong) < NEEDED and len(late) < LATE_MAX:
        with Reference() as reference:
            judge = attempt()
        lost = reference.lost_share(REQUEST_S)
        wake_ups_us = WAKE_UPS * reference.p50_us
        found = judge(min(wake_ups_us, WAKE_UPS_US_MAX))
        if found is None:
            right += 1
        elif reference.p99_us <= REFERENCE_US_MAX and lost <= LOST_SHARE_MAX and wake_ups_us <= WAKE_UPS_US_MAX:
            wrong.append(f"{found} (reference: p50 {reference.p50_us:.0f} µs, p99 {reference.p99_us:.0f} µs)")
        else:
            late.append(f"{reference.p99_us:.0f} µs ({lost:.1%})")
    if len(wrong) >= NEEDED:
        pytest.fail("; ".join(wrong))
    if right < NEEDED:
        pytest.skip(f"the machine wakes programs too late to judge: p99 (root mean square over 12 ms) of {', '.join(late)}")


@pytest.mark.parametrize(("depth", "servers", "least"), [(1, 5, 3000), (4, 2, 4000)])
def test_response_times_over_nbd_are_those_of_virtual_time(
    depth: int, servers: int, least: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    wanted = _in_virtual_time(depth)

    def attempt() -> Callable[[float], str | None]:
        sample_ns = _over_nbd(depth, servers)

        def judge(wake_ups_us: float) -> str | None:
            found = _demerit(sample_ns, wanted, wake_ups_us)
            said = (
                f"depth {depth}: {len(sample_ns)} requests over NBD, {wanted.count} in virtual time, "
                f"demerit {found:.2%} less {wake_ups_us:.0f} µs for three wake-ups"
            )
            print(said)
            return None if len(sample_ns) > least and found <= DEMERIT_MAX else said

        return judge

    _judged(attempt)


def test_a_clock_that_is_four_percent_off_would_be_seen() -> None:
    wanted = _in_virtual_time(1)
    sample_ns = [round(wanted.percentile((place + 0.5) / 20) * 1.04) for place in range(2000)]
    assert 0.035 < _demerit(sample_ns, wanted) < 0.05
    assert _demerit([latency_ns + 150_000 for latency_ns in sample_ns], wanted, wake_ups_us=150) > 0.035


def test_a_served_session_on_a_disk_array_is_not_late(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    def attempt() -> Callable[[float], str | None]:
        with served(ARRAY, "--socket", "./1.sock", "--data", "derived") as server:
            process = _fio(server, 1, 1, 1)
            process.wait(timeout=HANGS_S)
            report = server.stop(signal.SIGTERM)
        Path("log1_lat.1.log").unlink()
        return lambda _wake_ups_us: str(report) if report["flags"] else None

    _judged(attempt)
