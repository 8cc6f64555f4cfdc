"""Hosts that share a target: slices that are disjoint and together the whole, sums that are what the device saw, one claim for all.

Workers on this machine, no Ray. The loop device needs root.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.devices import loops, seen
from support.gang import Gang
from support.stamps import PASS, stamped

MIB = 1 << 20
HOSTS = ("--hosts", "local:3")
TIMES = ("-d", "300ms", "-w", "0s", "--set", "interval=100ms", "-q")


def test_slices_are_disjoint_verified_and_together_the_whole(tmp_path: Path) -> None:
    gang = Gang(tmp_path)
    (tmp_path / "pass.toml").write_text(PASS)
    words = ("run", "./pass.toml", *HOSTS, "--share", "slices", "--target", "./one.dat", "--size", "25MiB", "--keep")
    # The amount ends it; what the time allows is only a limit.
    done = gang.run(*words, "-d", "60s", "-w", "0s", "-q")
    assert done.returncode == 0, done.stderr
    point = gang.point()
    size = 25 * MIB
    written = [host["totals"]["write"]["bytes"] for host in point["hosts"]]
    assert sum(written) == point["totals"]["write"]["bytes"] == size, "one pass, whoever wrote what"
    touches = [host["touches"] for host in point["hosts"]]
    assert [ranges[0][0] for ranges in touches] == [0, *[ranges[0][1] for ranges in touches[:-1]]]
    assert touches[-1][0][1] == size
    runs = stamped(tmp_path / "one.dat")
    assert b"" not in runs, "every sector bears a stamp"
    assert sorted((places[0], places[-1] + 512) for places in runs.values()) == [tuple(ranges[0]) for ranges in touches]
    assert all(len(places) * 512 == places[-1] + 512 - places[0] for places in runs.values()), "no sector is another host's"
    assert point["engine"]["verify"]["sectors_checked"] == size // 512
    assert all(found["findings"] == 0 for name, found in point["engine"]["verify"].items() if name in ("lost", "stale", "misdirected"))
    marker = json.loads((tmp_path / "one.dat.plimsoll").read_text())
    assert (marker["state"], marker["run"]) == ("kept", None)
    assert marker["wrote_ns"] == (tmp_path / "one.dat").stat().st_mtime_ns, "released once all had written"


@pytest.fixture
def loop(tmp_path: Path) -> Iterator[str]:
    """A loop device of our own, 24 MiB."""
    if os.geteuid() != 0 or not shutil.which("losetup"):
        pytest.skip("a loop device needs root and losetup")
    with loops(tmp_path, ["image"], 24 * MIB) as device_of:
        yield device_of["image"]


def points(gang: Gang) -> list[Any]:
    return [json.loads(path.read_text()) for path in sorted(gang.results.glob("*/points/*/result.json"))]


@pytest.mark.parametrize("share", ["slices", "full", "0..40%,40%..70%,60%..100%"])
def test_the_sums_are_what_a_shared_device_saw(loop: str, tmp_path: Path, share: str) -> None:
    gang = Gang(tmp_path)
    words = ("scale", "random-read-4k", *HOSTS, "--share", share, "--target", loop, f"--destroy-data={loop}", "--over", "hosts=1,3")
    before = seen(loop)
    # Without a warm-up, and ended by its requests, all of them are in the totals.
    done = gang.run(*words, "-d", "60s", "-w", "0s", "-q", "--set", "requests=400", "--set", "read_percent=50")
    after = seen(loop)
    assert done.returncode == 0, done.stderr
    measured = points(gang)
    assert [len(point["hosts"]) for point in measured] == [1, 3]
    for place, operation in enumerate(("read", "write")):
        told = sum(point["totals"].get(operation, {}).get("bytes", 0) for point in measured)
        parts = sum(host["totals"].get(operation, {}).get("bytes", 0) for point in measured for host in point["hosts"])
        assert told == parts > 0
        looked_at = 64 * MIB if operation == "read" else 0
        assert told <= after[place] - before[place] <= told + looked_at, "of reads, whoever looks what is there reads besides"


def test_one_claim_is_for_all_hosts_and_keeps_others_away(tmp_path: Path) -> None:
    gang = Gang(tmp_path)
    process = gang.start(
        "run",
        "random-write-4k",
        "--hosts",
        "local:2",
        "--share",
        "slices",
        "--target",
        "./one.dat",
        "--size",
        "8MiB",
        "-d",
        "60s",
        "-w",
        "0s",
    )
    try:
        gang.begun(2, process)
        other = gang.run("run", "random-write-4k", "--target", "./one.dat", *TIMES)
        assert other.returncode == 3, other.stderr
        assert "one.dat" in other.stderr
    finally:
        process.terminate()
        process.communicate()
    assert not list(tmp_path.glob("one.dat*")), "who made it removes it"


def test_one_file_behind_two_names_is_recognised(tmp_path: Path) -> None:
    gang = Gang(tmp_path)
    (tmp_path / "one.dat").write_bytes(bytes(4 * MIB))
    for host in ("local1", "local2"):
        (tmp_path / f"{host}.dat").symlink_to("one.dat")
    words = ("run", "random-read-4k", "--hosts", "local:2", "--target", "./{host}.dat", *TIMES)
    refused = gang.run(*words)
    assert refused.returncode == 2
    assert "local1 and local2 of local:2 reach the same file or device; say how they share it with --share slices" in refused.stderr
    done = gang.run(*words, "--share", "slices")
    assert done.returncode == 0, done.stderr
    assert [host["touches"] for host in gang.point()["hosts"]] == [[[0, 2 * MIB]], [[2 * MIB, 4 * MIB]]]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("--hosts", "local:2", "--share", "halves", "-t", "./x.dat"),
            "'--share halves' says no way to share a target; write slices, full",
        ),
        (("--hosts", "local:2", "--share", "0..50%", "-t", "./x.dat"), "1 region for 2 hosts; name one for each"),
        (("--hosts", "local:2", "--share", "full", "-t", "./{host}.dat"), "every host has a target of its own behind ./{host}.dat"),
        (("--hosts", "local:2", "--share", "full", "-t", "null:"), "null: holds nothing that hosts could share"),
        (("--share", "full", "-t", "./x.dat"), "this host measures alone; name several with --hosts, or leave --share out"),
        (("--hosts", "local:2", "--share", "full", "-t", "./x.dat", "--set", "verify=all", "--size", "4MiB"), "cannot verify them"),
    ],
)
def test_what_cannot_be_shared_is_one_sentence(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    done = Gang(tmp_path).run("run", "random-write-4k", *words, *TIMES)
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not list(tmp_path.glob("*.dat")), "nothing was made"
