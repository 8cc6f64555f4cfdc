"""Machines of a rack, as the live image brings them together: hosts in network namespaces, each with the image's course and the rack's key."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib.resources import files
from pathlib import Path

import pytest

from plimsoll.image.rack import KEY, Rack, admitted, sshd
from support.lab import COMMAND, Lab, missing
from support.patience import HANGS_S, wait_until

pytestmark = pytest.mark.skipif(missing() is not None, reason=str(missing()))

#: What `plimsoll.image.machine` does with what was asked for, but for the disk: a file of each host's own.
COURSE = """
import socket, subprocess, sys
from plimsoll.image.course import Course, Home
from plimsoll.image.disks import Disk
from plimsoll.image.plan import plan_of
from plimsoll.image.programs import Processes
from plimsoll.image.rack import rack_of
from plimsoll.image.settings import read
settings = read(sys.argv[1])
said = subprocess.run(["ip", "-brief", "address", "show", "scope", "global"], capture_output=True, text=True).stdout
rack = rack_of(settings, {word.partition("/")[0] for line in said.splitlines() for word in line.split()[2:]}, "/root/secret")
plan = plan_of(settings, [Disk("t", "/root/disk", "file", "/root/disk", 64 << 20)], rack)
home = Home("/root/plimsoll", "/root/secret", socket.gethostname())
sys.exit(0 if Course(plan, settings, home, Processes(), lambda line: print(line, flush=True)).carry_out() else 1)
"""
#: The system's, since that of the tests may lie in a home.
PYTHON = f"python3.{sys.version_info[1]}"
#: Where this Plimsoll and what it requires lie.
PACKAGES = tuple(sorted({str(Path(str(files(name))).parent) for name in ("plimsoll", "click")}))
SUITE = """
title = "Two points"
[[experiment]]
name = "two"
kind = "matrix"
workloads = ["oltp-db"]
set = { duration = "1s", warmup = "0s", interval = "200ms", size = "32MiB" }
over = { queue_depth = [1, 4] }
"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    place = tmp_path_factory.mktemp("rack")
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(place / KEY)], check=True)
    with Lab(place, 3) as lab:
        (lab.shared / "two.toml").write_text(SUITE)
        (lab.shared / "plimsoll").write_text(f'#!/bin/sh\nexec {PYTHON} -m plimsoll "$@"\n')
        (lab.shared / "plimsoll").chmod(0o755)
        for name in lab.hosts:
            as_in_the_image(lab, name)
        yield lab


def as_in_the_image(lab: Lab, name: str) -> None:
    """What the image prepares on a machine of a rack."""
    host = lab.hosts[name]
    public = (lab.place / f"{KEY}.pub").read_text().strip()
    secret = host.home / "secret"
    secret.mkdir(mode=0o700)
    shutil.copy(lab.place / KEY, secret / KEY)
    (secret / f"{KEY}-known-hosts").write_text(f"* {public}\n")
    (host.home / ".ssh" / "authorized_keys").write_text(admitted(public))
    (host.home / "plimsoll").mkdir()
    configuration = (
        (host.home / "sshd_config").read_text().replace("HostKey /root/host_key\n", sshd(f"/root/secret/{KEY}", "/root/plimsoll"))
    )
    (host.home / "sshd_config").write_text(f"{configuration}Subsystem sftp internal-sftp\n")
    with (host.home / "disk").open("wb") as file:
        file.write(os.urandom(1 << 20))
        file.truncate(64 << 20)
    lab.off(name)
    lab.mend(name)
    lab.boot(name)


def tidied(lab: Lab, *names: str) -> None:
    """What lies in the memory of a machine, and is gone after a boot."""
    for name in names or lab.hosts:
        for left in (lab.hosts[name].home / "secret").glob(f"{KEY}-o*"):
            left.unlink()


def listens(lab: Lab, name: str) -> bool:
    """Whether its sshd is there, on a host that has just been switched on."""
    with suppress(IndexError):
        return bool(lab.on(name, "ss", "-Hltn", "sport = :22").stdout)
    return False


def began(lab: Lab, name: str, words: str) -> subprocess.Popen[str]:
    """The image's course on a host, as it goes on."""
    hosts = ",".join(host.address for host in lab.hosts.values())
    asked = f"plimsoll.suite=/root/shared/two.toml plimsoll.target=serial:/root/disk plimsoll.hosts={hosts} {words}"
    environment = ["PATH=/root/shared:/usr/sbin:/usr/bin:/sbin:/bin", f"PYTHONPATH={':'.join(PACKAGES)}", "HOME=/root"]
    wait_until(lambda: listens(lab, name), f"the sshd of {name} listens")
    return subprocess.Popen(
        ["nsenter", f"--target={lab.hosts[name].init}", "--all", "env", "-i", *environment, PYTHON, "-c", COURSE, asked],
        cwd="/", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip


def test_the_first_measures_on_all_and_each_keeps_its_part(lab: Lab) -> None:
    words = "plimsoll.destroy=/root/disk plimsoll.label=rack-7 plimsoll.send=file:/root/home"
    going = {name: began(lab, name, words) for name in ("h2", "h3", "h1")}
    said = {name: process.communicate(timeout=HANGS_S)[0] for name, process in going.items()}
    assert [going[name].returncode for name in lab.hosts] == [0, 0, 0], said
    home = lab.hosts["h1"].home
    (stored,) = (home / "plimsoll" / "results").glob("*/run.json")
    run = json.loads(stored.read_text())
    assert (run["status"], run["label"]) == ("complete", "rack-7")
    points = [json.loads(path.read_text()) for path in sorted(stored.parent.glob("points/*/result.json"))]
    assert len(points) == 2
    for point in points:
        assert [host["name"] for host in point["hosts"]] == [host.address for host in lab.hosts.values()]
        assert point["totals"]["read"]["count"] == sum(host["totals"]["read"]["count"] for host in point["hosts"])
    # The machine that commands sends it home, once; the others have their own part of it.
    assert len(list((home / "home").iterdir())) == 1
    for name in ("h2", "h3"):
        host = lab.hosts[name]
        assert "10.77.0.11 commands; this machine waits for it." in said[name]
        (part,) = (host.home / "plimsoll" / "results").glob("*/run.json")
        assert part.parent.name == stored.parent.name
        measured = [json.loads(path.read_text()) for path in sorted(part.parent.glob("points/*/result.json"))]
        own = [next(one for one in point["hosts"] if one["name"] == host.address) for point in points]
        assert [point["totals"] for point in measured] == [one["totals"] for one in own]
        listed = subprocess.run(
            [COMMAND, "list", "--runs", "--out", str(part.parents[1])], capture_output=True, text=True, check=True
        ).stdout
        assert host.address in listed
        assert not list((host.home / "plimsoll" / "state").rglob("result.json")), "what was collected is gone from the hosts' state"
        assert list((host.home / "plimsoll" / "doctor").iterdir())


def test_after_a_power_cut_of_the_first_it_goes_on_where_it_was(lab: Lab) -> None:
    tidied(lab)
    (lab.shared / "two.toml").write_text(SUITE.replace("[1, 4]", "[1, 2, 4, 8]"))
    words = "plimsoll.destroy=/root/disk plimsoll.label=cut"
    results = lab.hosts["h1"].home / "plimsoll" / "results"
    known = set(results.glob("*"))
    others = {name: began(lab, name, words) for name in ("h2", "h3")}
    first = began(lab, "h1", words)
    wait_until(
        lambda: any(path.parents[2] not in known for path in results.glob("*/points/0002*/intervals.jsonl")), "the second point begins"
    )
    lab.off("h1")
    first.communicate(timeout=HANGS_S)
    lab.mend("h1")
    lab.boot("h1")
    tidied(lab, "h1")
    process = began(lab, "h1", words)
    again, _ = process.communicate(timeout=HANGS_S)
    assert process.returncode == 0, again
    assert [(other.communicate(timeout=HANGS_S), other.returncode)[1] for other in others.values()] == [0, 0]
    (run,) = set(results.glob("*")) - known
    points = [json.loads(path.read_text()) for path in sorted(run.glob("points/*/result.json"))]
    assert [(point["status"], len(point["hosts"])) for point in points] == [("complete", 3)] * 4
    assert "[1/4]" not in again


def test_a_machine_that_refuses_its_disk_keeps_all_from_being_measured(lab: Lab) -> None:
    before = {name: (host.home / "disk").read_bytes() for name, host in lab.hosts.items()}
    tidied(lab)
    going = {name: began(lab, name, "plimsoll.label=again") for name in lab.hosts}
    said = {name: process.communicate(timeout=HANGS_S)[0] for name, process in going.items()}
    assert [going[name].returncode for name in lab.hosts] == [1, 1, 1], said
    assert "Nothing was begun." in said["h1"]
    assert "was not made by Plimsoll, and this workload would overwrite it" in said["h2"]
    assert {name: (host.home / "disk").read_bytes() for name, host in lab.hosts.items()} == before


def test_only_the_racks_key_is_let_in_and_only_a_machine_that_has_it_is_asked(lab: Lab, tmp_path: Path) -> None:
    address = lab.hosts["h2"].address

    def asked(key: Path, known: Path, *words: str) -> subprocess.CompletedProcess[str]:
        (tmp_path / "asking").mkdir(exist_ok=True)
        shutil.copy(key, tmp_path / "asking" / KEY)
        shutil.copy(known, tmp_path / "asking" / f"{KEY}-known-hosts")
        rack = Rack(("10.77.0.1", address), 0, str(tmp_path / "asking"))
        command = rack.over_ssh(address, *(words or ("echo", "let in")))
        return subprocess.run([*lab.entering, *command], capture_output=True, text=True, check=False, timeout=HANGS_S)

    stranger = tmp_path / "stranger"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(stranger)], check=True)
    ours, known = lab.hosts["h1"].home / "secret" / KEY, lab.hosts["h1"].home / "secret" / f"{KEY}-known-hosts"
    assert asked(ours, known).stdout == "let in\n"
    refused = asked(stranger, known)
    assert (refused.returncode, refused.stdout) == (255, "")
    assert "Permission denied" in refused.stderr
    # A machine that answers with another key, as one does that only has the address.
    others = tmp_path / "others"
    others.write_text(f"* {stranger.with_suffix('.pub').read_text()}")
    refused = asked(ours, others)
    assert (refused.returncode, refused.stdout) == (255, "")
    assert "Host key verification failed" in refused.stderr
    # The key runs commands; it opens no way through the machine.
    words = Rack(("10.77.0.1", address), 0, str(ours.parent)).over_ssh(address, "true")
    through = [*lab.entering, "ssh", "-W", f"{address}:22", *words[1:-1]]
    shutil.copy(known, tmp_path / "asking" / f"{KEY}-known-hosts")
    through = [word.replace(str(ours.parent), str(tmp_path / "asking")) for word in through]
    done = subprocess.run(through, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=HANGS_S)
    assert (done.stdout, done.stderr) == ("", "stdio forwarding failed\n")
