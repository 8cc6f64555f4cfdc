"""Goals for several hosts: how far apart they begin, how soon, what a gang costs while it idles, and that it loses no rate.

Model: three hosts over ssh and Ray with TLS, in network namespaces of this machine (`tests/support/lab.py`), whose monotonic clocks are
apart by a known time, so that the true skew is known. The environment is in their caches, as from the second run on. Starts are measured
as the machine is, and once more with the workers before all others (chrt -f): a machine of one's own has nobody who takes a processor
away. The rate of the gang is held against three runs that know nothing of each other, started together in the same namespaces,
with the same environment: by the clock over the time in which all three make requests, since runs that nobody starts together have others
beside them for a part of theirs only. Beside it stands what the three do on the processors that a gang leaves to its workers. Fio with
servers there stands beside three of its own, where it is installed.
Limits: root; all hosts share the processors, and what others do on the machine is in every figure by the clock.
"""

from __future__ import annotations

import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from plimsoll.gang.keeper import divided
from speed.process import BenchError
from speed.row import Row, unmeasured
from speed.setting import Setting

_ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(_ROOT / "tests"))

from support.lab import Host, Lab, missing  # noqa: E402 — tests and bench have the same hosts
from support.patience import wait_until  # noqa: E402

COUNT = 3
STARTS = 20
SKEW_US, FIRST_IO_S, IDLE_PERCENT, SHARE = 200.0, 8.0, 2.0, 0.99
LOAD = ("run", "random-read-4k", "--target", "null:", "-w", "0s", "--fresh", "-q")
PACED = ("--set", "arrival=constant", "--set", "interval=100ms")
FIO_PORT = 8765
FIO_JOB = "[bench]\nioengine=null\nrw=randread\nbs=4k\nsize=1g\ntime_based\nthread\nruntime={seconds:.0f}\n"


def rows(setting: Setting) -> list[Row]:
    """All goals of this group."""
    why = missing() or (None if find_spec("ray") else "Ray is not installed (pip install 'plimsoll[cluster]')")
    if why is not None:
        return [unmeasured("hosts", why)]
    with tempfile.TemporaryDirectory(prefix="plimsoll-bench-", dir="/var/tmp") as place, Lab(Path(place), COUNT, (str(_ROOT),)) as lab:
        # Carries the environment, which hosts keep.
        _measured(lab, "-d", "200ms")
        return [*_starts(setting, lab), _first_io(setting, lab), _idle(setting, lab), *_rates(setting, lab)]


def _measured(lab: Lab, *words: str, first: bool = False) -> list[Any]:
    """The points of a run; with ``first`` its workers come before all others on the machine."""
    before = len(lab.points())
    process = lab.start(*LOAD, "--hosts", lab.file(), *words)
    if first:
        wait_until(lambda: process.poll() is not None or all(map(_put_first, lab.hosts.values())), "every host has a worker")
    _, said = process.communicate()
    if process.returncode:
        raise BenchError(f"a run on {COUNT} hosts ended with {process.returncode}: {said.strip()[-300:]}")
    return lab.points()[before:]


def _put_first(host: Host) -> bool:
    """Whether the host had a worker, whose threads now get a processor whenever they want one."""
    script = "chrt --all-tasks --fifo --pid 1 $(pgrep -o -f plimsoll[.]worker)"
    return subprocess.run([*_entering(host), "sh", "-c", script], capture_output=True, check=False).returncode == 0


def _starts(setting: Setting, lab: Lab) -> list[Row]:
    return [
        _skew("start skew of three hosts", _apart_us(setting, lab, first=False)),
        _skew("start skew, workers before all others", _apart_us(setting, lab, first=True)),
    ]


def _skew(what: str, apart_us: Sequence[float]) -> Row:
    good = sum(one <= SKEW_US for one in apart_us)
    detail = f"{len(apart_us)} starts, {good} of them within {SKEW_US:.0f} µs, worst {max(apart_us):,.0f} µs"
    return Row(what, "at most", SKEW_US, "µs", statistics.median(apart_us), detail)


def _apart_us(setting: Setting, lab: Lab, *, first: bool) -> list[float]:
    """How far apart the hosts began, by clocks whose distance is known, without what the estimates were wrong by."""
    starts = 5 if setting.quick else STARTS
    ahead_ns = {host.name: host.ahead_s * 1_000_000_000 for host in lab.hosts.values()}
    apart_us = []
    for point in _measured(lab, "-d", "200ms", "--repeat", str(starts), "--set", "rate=100", *PACED, first=first):
        begun = [host["skew_ns"] + host["offset_ns"] - ahead_ns[host["name"]] for host in point["hosts"]]
        apart_us.append((max(begun) - min(begun)) / 1e3)
    return apart_us


def _first_io(setting: Setting, lab: Lab) -> Row:
    seconds = []
    for _ in range(setting.long_rounds):
        begun_ns = time.monotonic_ns()
        (point,) = _measured(lab, "-d", "200ms")
        last_ns = max(host["skew_ns"] for host in point["hosts"])
        seconds.append((point["engine"]["start"]["appointed_ns"] + last_ns - begun_ns) / 1e9)
    detail = f"over ssh and Ray with TLS, environment in the hosts' caches: {min(seconds):.1f} to {max(seconds):.1f} s"
    return Row("command to first I/O on three hosts", "at most", FIRST_IO_S, "s", statistics.median(seconds), detail)


def _idle(setting: Setting, lab: Lab) -> Row:
    """One request per second and host: what the gang uses is its own.

    Comparing clocks before the start is in it as well, so that a second or two would say more of that than of idling.
    """
    (point,) = _measured(lab, "-d", "10s" if setting.quick else "30s", "--set", f"rate={COUNT}", "--set", "arrival=constant")
    costs = [host["gang"] for host in point["hosts"]]
    percent = [cost["cpu_ns"] / 1e7 / cost["seconds"] for cost in costs]
    memory = max(cost["memory_bytes"] for cost in costs) / 1e6
    detail = f"of each host {min(percent):.1f} to {max(percent):.1f} %, up to {memory:.0f} MB in {costs[0]['processes']} processes"
    return Row("CPU of an idle gang", "at most", IDLE_PERCENT, "% of a core per host", statistics.median(percent), detail)


def _rates(setting: Setting, lab: Lab) -> list[Row]:
    """The gang against three runs that know nothing of each other, in turn."""
    contestants = {
        "gang": lambda _: _gang(setting, lab),
        "alone": lambda _: _alone(setting, lab, os.sched_getaffinity(0)),
        "left": lambda _: _alone(setting, lab, divided(os.sched_getaffinity(0), carried=True)[0]),
    }
    found = setting.interleaved("three hosts", contestants, 3, turning=True)
    cpu = {name: statistics.median(one[0] for one in loads) for name, loads in found.items()}
    clock = {name: statistics.median(one[1] for one in loads) for name, loads in found.items()}
    what = "three hosts against three runs of their own"
    beside = _fio(setting, lab)
    left = f"; {clock['gang'] / clock['left']:.3f} × those of three runs on the processors that a gang leaves to its workers"
    return [
        Row(what, "at least", SHARE, "× by CPU", cpu["gang"] / cpu["alone"], _against(cpu, "per CPU-second")),
        Row(what, "at least", SHARE, "× by the clock", clock["gang"] / clock["alone"], _against(clock, "per second") + left + beside),
    ]


def _against(rates: dict[str, float], unit: str) -> str:
    return f"{rates['gang'] / 1e6:.2f} M against {rates['alone'] / 1e6:.2f} M {unit}"


def _figures(points: Sequence[Path]) -> tuple[float, float]:
    """Requests per CPU-second of the threads that make them, and per second while all made some, of the hosts' points together."""
    results = [json.loads((point / "result.json").read_text()) for point in points]
    counts = [result["totals"]["read"]["count"] for result in results]
    cpu_s = sum(sum(result["engine"]["cpu_ns"].values()) for result in results) / 1e9
    starts_ns = [result["engine"]["start"]["wall_ns"] for result in results]
    from_ns = max(starts_ns)
    to_ns = min(start_ns + round(result["job"]["duration_s"] * 1e9) for start_ns, result in zip(starts_ns, results, strict=True))
    if to_ns <= from_ns:
        raise BenchError(f"runs that were started together had all ended {(from_ns - to_ns) / 1e9:.1f} s before the last one began")
    done = sum(_done(point, from_ns - start_ns, to_ns - start_ns) for point, start_ns in zip(points, starts_ns, strict=True))
    return sum(counts) / cpu_s, done * 1e9 / (to_ns - from_ns)


def _done(point: Path, from_ns: int, to_ns: int) -> float:
    """Requests that a point completed between two instants from its start; of an interval that lies there in part, that part."""
    done = 0.0
    for line in (point / "intervals.jsonl").read_text().splitlines():
        interval = json.loads(line)
        inside_ns = min(to_ns, interval["end_ns"]) - max(from_ns, interval["start_ns"])
        if inside_ns > 0:
            share = inside_ns / (interval["end_ns"] - interval["start_ns"])
            done += share * sum(cell["count"] for cell in interval["cells"])
    return done


def _newest(places: Sequence[Path]) -> list[Path]:
    """The only point of the newest run at each of these places."""
    return [max(place.glob("*/points/*/result.json"), key=lambda path: path.stat().st_mtime).parent for place in places]


def _seconds(setting: Setting) -> float:
    """So long that what starting leaves to do, and intervals of which only a part is common to all, are little of it."""
    return 5.0 if setting.quick else 20.0


def _gang(setting: Setting, lab: Lab) -> tuple[float, float]:
    _measured(lab, "-d", f"{_seconds(setting):g}s")
    run = max((path for path in lab.results.iterdir() if path.is_dir()), key=lambda path: path.stat().st_mtime)
    return _figures(sorted(path.parent for path in run.glob("hosts/*/points/*/result.json")))


def _alone(setting: Setting, lab: Lab, cores: Collection[int]) -> tuple[float, float]:
    """Plimsoll of each host's cache, started there at the same time, on these processors."""
    python = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    script = (
        f'export HOME=/root PYTHONPATH="$(ls -d /root/.cache/plimsoll/environments/*/ | head -1)"; cd /root; '
        f'exec {python} -s -m plimsoll "$@" --out /root/results --json'
    )
    running = []
    for host in lab.hosts.values():
        bound = ["taskset", "--cpu-list", ",".join(map(str, sorted(cores)))]
        words = [*bound, "sh", "-c", script, "sh", *LOAD, "-d", f"{_seconds(setting):g}s"]
        running.append(_started([*_entering(host), *words]))
    said = [one.communicate() for one in running]
    if any(one.returncode for one in running):
        raise BenchError(f"a run of its own on a host failed: {said[0][1].strip()[-300:]}")
    return _figures(_newest([host.home / "results" for host in lab.hosts.values()]))


def _started(command: list[str]) -> subprocess.Popen[str]:
    """In a session of its own, as over ssh: the kernel divides processors among sessions first (sched(7), autogroups)."""
    return subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def _entering(host: Host) -> list[str]:
    """What brings a command to a host."""
    return ["nsenter", f"--target={host.init}", "--all"]


def _fio(setting: Setting, lab: Lab) -> str:
    """fio the same way: one client for three servers, against three of its own; what it says of them."""
    if setting.fio is None:
        return ""
    job = lab.shared / "bench.fio"
    job.write_text(FIO_JOB.format(seconds=_seconds(setting)))
    hosts = lab.hosts.values()
    command = setting.fio.command
    servers = [_started([*_entering(host), command, f"--server=ip:{host.address},{FIO_PORT}"]) for host in hosts]
    try:
        time.sleep(1.0)
        clients = [word for host in hosts for word in (f"--client=ip:{host.address},{FIO_PORT}", str(job))]
        together = _fio_rate([[*lab.entering, command, "--output-format=json", *clients]], "client_stats")
        alone = _fio_rate([[*_entering(host), command, "--output-format=json", "/root/shared/bench.fio"] for host in hosts], "jobs")
    finally:
        for server in servers:
            # What brings a command to a host waits for it outside.
            os.killpg(server.pid, signal.SIGTERM)
            server.communicate()
    return f"; fio --client {together / alone:.2f} × of its own three" if together and alone else "; fio --client gave no figures"


def _fio_rate(commands: list[list[str]], key: str) -> float:
    """Requests per second of all jobs of these, started together."""
    running = [_started(one) for one in commands]
    rate = 0.0
    for one in running:
        said = one.communicate()[0]
        if one.returncode or "{" not in said:
            return 0.0
        jobs = [job for job in json.loads(said[said.index("{") :])[key] if job["jobname"] == "bench"]
        rate += sum(job["read"]["total_ios"] / job["read"]["runtime"] * 1e3 for job in jobs)
    return rate
