"""A host over ssh that is lost, however: named with when and why, in time; the others go on, and what they measured is kept."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from plimsoll.gang.nest import marked
from support.lab import Lab, missing
from support.patience import HANGS_S, wait_until

pytestmark = [
    pytest.mark.skipif(missing() is not None, reason=str(missing())),
    pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed (pip install 'plimsoll[cluster]')"),
]
HIDDEN = (str(Path(__file__).resolve().parents[2]),)
#: What a machine that stands still for a moment may add.
STILL_S = 2.0
CARRIERS = pytest.mark.parametrize("carrier", ["ray", "ssh"])


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with Lab(tmp_path_factory.mktemp("lost"), 3, HIDDEN) as lab:
        yield lab


class Seen:
    """A run of 20 s in which something happens: what was seen of it."""

    def __init__(self, lab: Lab, carrier: str, happens: Callable[[], object], unseen: str = "") -> None:
        words = ("run", "random-read-4k", "--hosts", lab.file(carrier=carrier), "--target", "null:", "--set", "interval=100ms", "--fresh")
        process = lab.start(*words, "-d", "20s", "-w", "0s")
        lab.wait_for_load(process, but=unseen)
        happened_ns = time.monotonic_ns()
        happens()
        self.out, self.said = process.communicate(timeout=HANGS_S)
        self.code = process.returncode
        self.point: Any = lab.points()[-1]
        self.hosts = {host["name"]: host for host in self.point["hosts"]}
        lost = [float(host["error"].split("lost ")[1].split(" s")[0]) for host in self.hosts.values() if "lost " in (host["error"] or "")]
        begun_ns = int(self.point["engine"]["start"]["appointed_ns"])
        #: Seconds from when it happened until the command knew.
        self.noticed_s = [begun_ns / 1e9 + one - happened_ns / 1e9 for one in lost]

    def check_others(self) -> None:
        """The other two measured to the end, and their figures stand, marked as partial."""
        assert self.code == 4
        assert self.point["status"] == "failed"
        assert [self.hosts[name]["status"] for name in ("h1", "h3")] == ["complete", "complete"]
        assert "h2: " in self.point["error"]
        assert self.point["error"] in self.said
        assert "host_missing" in [flag["name"] for flag in self.point["flags"] if flag["severity"] == "invalid"]
        assert self.point["totals"]["read"]["count"] >= sum(self.hosts[name]["totals"]["read"]["count"] for name in ("h1", "h3")) > 0


def kill(lab: Lab, host: str, words: str) -> None:
    """Kill the process of a host whose command has these words in it; what is not of this host it does not see."""
    for line in lab.on(host, "ps", "-eo", "pid=,args=").stdout.splitlines():
        number, _, command = line.strip().partition(" ")
        if words in command and "ps -eo" not in command:
            assert lab.on(host, "kill", "-KILL", number).returncode == 0
            return
    raise AssertionError(f"{host} has no process {words}")


def tidied(lab: Lab) -> None:
    """Nothing of what was cut or killed is in the way of the next."""
    for host in lab.hosts:
        wait_until(lambda host=host: not lab.processes(host), f"everything has left {host}")


@CARRIERS
def test_a_killed_worker_is_noticed_at_once(lab: Lab, carrier: str) -> None:
    seen = Seen(lab, carrier, lambda: kill(lab, "h2", "plimsoll.worker"))
    seen.check_others()
    assert seen.hosts["h2"]["status"] == "lost"
    assert "its worker was killed by SIGKILL" in seen.hosts["h2"]["error"]
    print(f"{carrier}: a killed worker was noticed after {seen.noticed_s[0]:.2f} s")
    assert seen.noticed_s[0] < 1.0 + STILL_S
    tidied(lab)


@CARRIERS
def test_a_cut_link_is_noticed_within_ten_seconds_and_the_host_leaves_by_itself(lab: Lab, carrier: str) -> None:
    seen = Seen(lab, carrier, lambda: lab.cut("h2"))
    try:
        seen.check_others()
        assert seen.hosts["h2"]["status"] == "lost"
        print(f"{carrier}: a cut link was noticed after {seen.noticed_s[0]:.2f} s: {seen.hosts['h2']['error']}")
        assert seen.noticed_s[0] < 10.0 + STILL_S
        cut_s = time.monotonic()
        wait_until(lambda: not lab.listening("h2"), "nothing listens there any more, though nobody could tell it")
        wait_until(lambda: not lab.processes("h2"), "everything has left")
        print(f"{carrier}: {time.monotonic() - cut_s:.0f} s after the run nothing of it was left on the host")
    finally:
        lab.mend("h2")
    (run,) = sorted(lab.results.iterdir())[-1:]
    done = lab.run("hosts", "collect", run.name)
    assert done.returncode == 0, done.stderr
    assert list(run.glob("hosts/h2/points/*/result.json")), "what it measured after that is there"
    tidied(lab)


@CARRIERS
def test_a_machine_that_is_gone_is_noticed_within_ten_seconds(lab: Lab, carrier: str) -> None:
    seen = Seen(lab, carrier, lambda: lab.off("h2"))
    lab.mend("h2")
    lab.boot("h2")
    wait_until(lambda: lab.answers("h2"), "it is back")
    seen.check_others()
    assert seen.hosts["h2"]["status"] == "lost"
    print(f"{carrier}: a machine that went was noticed after {seen.noticed_s[0]:.2f} s: {seen.hosts['h2']['error']}")
    assert seen.noticed_s[0] < 10.0 + STILL_S
    tidied(lab)


def test_a_full_disk_of_one_host_ends_its_part_alone(lab: Lab) -> None:
    lab.on("h2", "mkdir", "-p", "/root/.local/state")
    assert lab.on("h2", "mount", "-t", "tmpfs", "-o", "size=600k", "none", "/root/.local/state").returncode == 0
    try:
        seen = Seen(lab, "ssh", lambda: lab.on("h2", "sh", "-c", "cat /dev/zero > /root/.local/state/filled"), unseen="h2")
        tidied(lab)
    finally:
        lab.on("h2", "umount", "/root/.local/state")
    seen.check_others()
    assert "space" in seen.hosts["h2"]["error"] or "full" in seen.hosts["h2"]["error"], seen.hosts["h2"]["error"]


def kill_head(lab: Lab, name: str) -> None:
    """Kill a process of Ray's on the commanding host."""
    ((nest, _),) = lab.heads()
    for process in marked(nest):
        if name in Path(f"/proc/{process}/comm").read_text():
            os.kill(process, signal.SIGKILL)
            return
    raise AssertionError(f"Ray has no {name}")


def test_ray_s_head_dies_and_what_hosts_measure_is_collected(lab: Lab) -> None:
    seen = Seen(lab, "ray", lambda: kill_head(lab, "raylet"))
    assert seen.code == 4
    assert {host["status"] for host in seen.hosts.values()} == {"lost"}
    print(f"Ray's head was missed after {min(seen.noticed_s):.2f} to {max(seen.noticed_s):.2f} s: {seen.hosts['h1']['error']}")
    assert max(seen.noticed_s) < 10.0 + STILL_S
    tidied(lab)
    (run,) = sorted(lab.results.iterdir())[-1:]
    assert lab.run("hosts", "collect", run.name).returncode == 0
    assert len(list(run.glob("hosts/*/points/*/result.json"))) == 3, "each measured to the end"


def test_ray_s_directory_dies_and_the_point_that_is_measured_loses_nothing(lab: Lab) -> None:
    """Calls go from process to process; what finds processes is needed for none that is found."""
    seen = Seen(lab, "ray", lambda: kill_head(lab, "gcs_server"))
    assert seen.code == 0, seen.said
    assert {host["status"] for host in seen.hosts.values()} == {"complete"}
    assert seen.point["totals"]["read"]["count"] == sum(host["totals"]["read"]["count"] for host in seen.hosts.values())
    tidied(lab)


def test_a_host_whose_key_is_not_known_or_another_is_refused(lab: Lab) -> None:
    known = lab.known_hosts.read_text()
    words = ("run", "random-read-4k", "--hosts", "h1,h2,h3", "--target", "null:", "-d", "1s", "--fresh", "-q")
    lines = known.splitlines()
    try:
        lab.known_hosts.write_text("\n".join(lines[:2]) + "\n")
        done = lab.run(*words)
        assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
        assert "h3: its key is not known here; look at it and accept it once: ssh h3." in done.stderr
        assert lab.known_hosts.read_text().splitlines() == lines[:2], "nothing is accepted by itself"
        swapped = [*lines[:2], f"{lines[2].split(' ')[0]} {' '.join(lines[0].split(' ')[1:])}"]
        lab.known_hosts.write_text("\n".join(swapped) + "\n")
        done = lab.run(*words)
        assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
        assert "h3: its key is another than the one that is known" in done.stderr
    finally:
        lab.known_hosts.write_text(known)
    tidied(lab)


def test_a_host_that_lets_nobody_in_or_has_no_python_is_one_sentence(lab: Lab) -> None:
    words = ("run", "random-read-4k", "--target", "null:", "-d", "1s", "--fresh", "-q", "--hosts")
    keys = lab.hosts["h1"].home / ".ssh" / "authorized_keys"
    kept = keys.read_text()
    keys.write_text("")
    try:
        done = lab.run(*words, "h1,h2")
    finally:
        keys.write_text(kept)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "h1: ssh lets nobody in with the keys that are here" in done.stderr
    done = lab.run(*words, lab.file(python="/nowhere/python3"))
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "there is no /nowhere/python3; a host needs Python 3.11 or later" in done.stderr
    tidied(lab)
