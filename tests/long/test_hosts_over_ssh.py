"""Hosts over ssh, in network namespaces of this machine: what is carried there, exact sums, nothing left, nobody let in."""

from __future__ import annotations

import json
import re
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from plimsoll.gang.credentials import Credentials, settings
from plimsoll.gang.switchboard import SETTINGS
from support.devices import loops
from support.lab import Lab, missing
from support.patience import HANGS_S, wait_until

pytestmark = [
    pytest.mark.skipif(missing() is not None, reason=str(missing())),
    pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed (pip install 'plimsoll[cluster]')"),
]
HOSTS = ("h1", "h2", "h3")
#: What runs on a host was carried there: this Plimsoll and its environment are hidden.
HIDDEN = (str(Path(__file__).resolve().parents[2]),)
TIMES = ("-d", "1s", "-w", "0s", "--set", "interval=100ms")


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with Lab(tmp_path_factory.mktemp("lab"), 3, HIDDEN) as lab:
        yield lab


def is_clean(lab: Lab, host: str) -> bool:
    """Whether nothing of a gang is left on a host but the cache."""
    left = lab.on(host, "find", "/tmp", "/root/.local/state/plimsoll", "-mindepth", "1", "-not", "-name", "gangs").stdout
    return not lab.processes(host) and not lab.listening(host) and not left


def newest(lab: Lab) -> Any:
    return lab.points()[-1]


def wrongly_estimated(lab: Lab, point: Any) -> list[str]:
    """Hosts whose clock is not where it was said to be; namespaces of one kernel have clocks that are apart by a known time."""
    ahead = {host.name: host.ahead_s * 1_000_000_000 for host in lab.hosts.values()}
    return [host["name"] for host in point["hosts"] if abs(host["offset_ns"] - ahead[host["name"]]) > host["offset_bound_ns"]]


@pytest.mark.parametrize("carrier", ["ray", "ssh"])
def test_a_run_over_ssh_has_the_exact_sums_of_its_hosts_and_leaves_nothing(lab: Lab, carrier: str) -> None:
    words = (
        "run",
        "random-read-4k",
        "--hosts",
        lab.file(carrier=carrier),
        "--target",
        "./{host}.dat",
        "--size",
        "16MiB",
        "--fresh",
        *TIMES,
    )
    done = lab.run(*words)
    assert done.returncode == 0, done.stderr
    point = newest(lab)
    assert [(host["name"], host["status"]) for host in point["hosts"]] == [(host, "complete") for host in HOSTS]
    assert point["totals"]["read"]["count"] == sum(host["totals"]["read"]["count"] for host in point["hosts"]) > 0
    assert not wrongly_estimated(lab, point)
    for host in HOSTS:
        wait_until(lambda host=host: is_clean(lab, host), f"nothing is left on {host}")
        assert not list(lab.hosts[host].home.glob("*.dat")), "scratch files are removed"


def test_each_host_loads_the_target_that_the_file_names(lab: Lab) -> None:
    done = lab.run(
        "run", "random-read-4k", "--hosts", lab.file(carrier="ssh", text='target = "/root/{host}-own.dat"'), "--size", "4MiB", *TIMES
    )
    assert done.returncode == 0, done.stderr
    assert [host["target"] for host in newest(lab)["hosts"]] == [f"/root/{host}-own.dat" for host in HOSTS]


def test_devices_saw_what_the_hosts_count_and_each_host_judges_its_own(lab: Lab) -> None:
    """Block devices: refused without permission on the host, then written; what the kernel counted equals the sum, host by host."""
    with loops(lab.place, HOSTS, 64 << 20) as device_of:
        file = lab.file(carrier="ssh", text='target = "{target}"')
        text = Path(file).read_text()
        for device in device_of.values():
            text = text.replace('target = "{target}"', f'target = "{device}"', 1)
        Path(file).write_text(text)
        # By amount: what is under way when time is up reaches the device as well, and counts nowhere.
        words = ("run", "random-write-4k", "--hosts", file, "--fresh", "--set", "amount=1MiB", "-d", "60s", "-w", "0s")
        before = {host: written(device) for host, device in device_of.items()}
        refused = lab.run(*words)
        assert refused.returncode == 3
        assert re.search(r"h\d: ", refused.stderr), refused.stderr
        assert {host: written(device) for host, device in device_of.items()} == before, "nothing was written without permission"
        done = lab.run(*words, "--destroy-data")
        assert done.returncode == 0, done.stderr
        point = newest(lab)
        for host in point["hosts"]:
            assert written(device_of[host["name"]]) - before[host["name"]] == host["totals"]["write"]["count"]
        assert point["totals"]["write"]["count"] == sum(host["totals"]["write"]["count"] for host in point["hosts"])
        # Permission travels, and what a host finds on its own device weighs more.
        subprocess.run(["mkfs.ext4", "-q", "-F", device_of["h2"]], check=True)
        lab.on("h2", "mkdir", "-p", "/root/mounted")
        assert lab.on("h2", "mount", device_of["h2"], "/root/mounted").returncode == 0
        try:
            refused = lab.run(*words, "--destroy-data")
            assert refused.returncode == 3
            assert "h2: " in refused.stderr and "mounted" in refused.stderr, refused.stderr
        finally:
            lab.on("h2", "umount", "/root/mounted")


def written(device: str) -> int:
    """Requests that a device has completed for writers (Documentation/admin-guide/iostats.rst)."""
    return int(Path(f"/sys/block/{Path(device).name}/stat").read_text().split()[4])


def test_twenty_starts_lie_together(lab: Lab) -> None:
    """How far threads of three hosts begin from each other, by clocks whose distance is known: printed, and held against a millisecond."""
    words = ("run", "random-read-4k", "--hosts", lab.file(), "--target", "null:", "-d", "200ms", "-w", "0s", "--repeat", "20", "--fresh")
    done = lab.run(*words, "--set", "rate=100", "--set", "arrival=constant", "--set", "interval=100ms")
    assert done.returncode == 0, done.stderr
    apart_us = []
    for point in lab.points()[-20:]:
        assert not wrongly_estimated(lab, point)
        # From the instant on each host's own clock to its first request; the true one, without what the estimate was wrong by.
        ahead = {host.name: host.ahead_s * 1_000_000_000 for host in lab.hosts.values()}
        begun = [host["skew_ns"] + host["offset_ns"] - ahead[host["name"]] for host in point["hosts"]]
        apart_us.append((max(begun) - min(begun)) / 1e3)
    said = ", ".join(f"{one:.0f}" for one in sorted(apart_us))
    print(f"start skew of three hosts over ssh, twenty starts: median {statistics.median(apart_us):.0f} µs, all {said} µs")
    assert statistics.median(apart_us) < 1_000


def strange(lab: Lab, address: str, waits_s: float, **settings: str) -> str:
    """What somebody with these settings gets of a gang's Ray: `in`, or why not."""
    program = (
        "import ray, sys; ray.init(address=sys.argv[1], _node_ip_address='10.77.0.1', log_to_driver=False, configure_logging=False); "
        "print('in', len(ray.nodes()))"
    )
    command = [*lab.entering, sys.executable, "-c", program, address]
    try:
        done = subprocess.run(command, env={**lab.environment(), **settings}, capture_output=True, text=True, timeout=waits_s, check=False)
    except subprocess.TimeoutExpired:
        return "no answer"
    return done.stdout.strip() or done.stderr.strip()[-300:] or f"exit {done.returncode}"


def test_nobody_gets_in_without_token_and_certificate(lab: Lab, tmp_path: Path) -> None:
    process = lab.start("run", "random-read-4k", "--hosts", lab.file(), "--target", "null:", "-d", "600s", "-w", "0s", "--fresh", "-q")
    try:
        lab.wait_for_load(process)
        ((nest, address),) = lab.heads()
        right = {**SETTINGS, **settings(nest), "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "1"}
        began_s = time.monotonic()
        assert strange(lab, address, HANGS_S, **right).startswith("in "), "who has both gets in: the others are refused for what they lack"
        # Whoever is not refused in words would have been in by then, however busy the machine is.
        waits_s = max(45, 3 * (time.monotonic() - began_s))
        plain = {**right, "RAY_USE_TLS": "0"}
        assert not strange(lab, address, waits_s, **plain).startswith("in ")
        foreign = tmp_path / "foreign"
        foreign.mkdir()
        for name, text in Credentials().files(["10.77.0.1"]).items():
            (foreign / name).write_text(text)
        certificate = {**right, **settings(str(foreign)), "RAY_AUTH_TOKEN_PATH": f"{nest}/token"}
        assert not strange(lab, address, waits_s, **certificate).startswith("in ")
        token = {**right, "RAY_AUTH_TOKEN_PATH": f"{foreign}/token"}
        assert not strange(lab, address, waits_s, **token).startswith("in ")
        # Wherever any host listens, nobody without a certificate is answered, from any other host.
        for host in HOSTS:
            places = [place.rpartition(":") for place in lab.listening(host) if not place.startswith(("127.", "[::1]"))]
            assert places, "Ray listens"
            for _, _, port in places:
                program = f"from plimsoll.gang.exposure import answers_strangers as a; print(a('{lab.hosts[host].address}', {port}))"
                said = subprocess.run([*lab.entering, sys.executable, "-c", program], capture_output=True, text=True, check=True)
                assert said.stdout.strip() == "False", (host, port)
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=HANGS_S)


def test_a_command_that_is_killed_leaves_no_port_and_its_hosts_measure_to_the_end(lab: Lab) -> None:
    process = lab.start("run", "random-read-4k", "--hosts", lab.file(), "--target", "null:", "-d", "20s", "-w", "0s", "--fresh", "-q")
    lab.wait_for_load(process)
    assert all(lab.listening(host) for host in HOSTS)
    process.kill()
    killed_s = time.monotonic()
    process.communicate()
    wait_until(lambda: not any(lab.listening(host) for host in HOSTS), "no host listens any more")
    assert time.monotonic() - killed_s < 30.0
    assert any("plimsoll.worker" in line for line in lab.processes("h1")), "workers end their point"
    for host in HOSTS:
        wait_until(lambda host=host: not lab.processes(host), f"everything has left {host}")
    (run,) = sorted(lab.results.iterdir())[-1:]
    done = lab.run("hosts", "collect", run.name)
    assert done.returncode == 0, done.stderr
    point = newest(lab)
    assert point["status"] == "complete"
    assert point["totals"]["read"]["count"] == sum(host["totals"]["read"]["count"] for host in point["hosts"]) > 0
    assert all(is_clean(lab, host) for host in HOSTS), "what was collected need not be kept twice"


def test_a_suite_goes_on_after_its_command_was_killed(lab: Lab) -> None:
    suite = lab.place / "suite.toml"
    suite.write_text(SUITE)
    words = ("suite", str(suite), "--hosts", lab.file(carrier="ssh"), "--target", "null:", "-d", "2s", "-w", "0s")
    before = len(lab.points())
    process = lab.start(*words)
    wait_until(lambda: len(lab.points()) > before or process.poll() is not None, "a point has ended")
    process.kill()
    process.communicate()
    for host in HOSTS:
        wait_until(lambda host=host: not lab.processes(host), f"everything has left {host}")
    (run,) = sorted(lab.results.iterdir())[-1:]
    assert lab.run("hosts", "collect", run.name).returncode == 0
    # The point that hosts were just getting ready for never began, and is measured by whoever goes on.
    whole = [path for path in run.glob("points/*/result.json") if json.loads(path.read_text())["status"] == "complete"]
    ended = {path: path.stat().st_mtime_ns for path in whole}
    assert 0 < len(ended) < 6
    resumed = lab.run(*words)
    assert resumed.returncode == 0, resumed.stderr
    assert sorted(lab.results.iterdir())[-1] == run, "the same run goes on"
    points = [json.loads(path.read_text()) for path in sorted(run.glob("points/*/result.json"))]
    assert [point["status"] for point in points] == ["complete"] * 6
    assert {path: path.stat().st_mtime_ns for path in ended} == ended, "what was there is not measured again"


SUITE = """
[[experiment]]
name = "depths"
kind = "steps"
workloads = ["random-read-4k"]
over = { queue_depth = [1, 2, 4, 8, 16, 32] }
"""
