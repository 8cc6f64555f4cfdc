"""Totals of three hosts over ssh, against the files and devices that they wrote to: each its own, and one for all."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from support.devices import loops, seen
from support.lab import Lab, missing
from support.patience import HANGS_S
from support.stamps import PASS, stamped

pytestmark = [
    pytest.mark.skipif(missing() is not None, reason=str(missing())),
    pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed (pip install 'plimsoll[cluster]')"),
]
MIB = 1 << 20
HOSTS = ("h1", "h2", "h3")
HIDDEN = (str(Path(__file__).resolve().parents[2]),)
#: Amounts end it; what the time allows is only a limit.
TIMES = ("-d", "60s", "-w", "0s", "-q", "--fresh")


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with Lab(tmp_path_factory.mktemp("sums"), 3, HIDDEN) as lab:
        (lab.place / "pass.toml").write_text(PASS)
        yield lab


def measured(lab: Lab, *words: str) -> Any:
    """The point of a run that came to its end."""
    done = lab.run("run", *words, *TIMES)
    assert done.returncode == 0, done.stderr
    point = lab.points()[-1]
    assert [host["status"] for host in point["hosts"]] == ["complete"] * 3
    for operation in point["totals"]:
        for figure in ("count", "bytes", "errors"):
            parts = [host["totals"].get(operation, {}).get(figure, 0) for host in point["hosts"]]
            assert point["totals"][operation][figure] == sum(parts)
    return point


def test_the_totals_are_what_lies_in_the_files_of_the_hosts(lab: Lab) -> None:
    """Each host passes once over its own file: every sector bears the stamp of that host, and the sum is their sizes."""
    point = measured(lab, "./pass.toml", "--hosts", lab.file(carrier="ray"), "--target", "./{host}.dat", "--size", "8MiB", "--keep")
    files = [lab.hosts[host].home / f"{host}.dat" for host in HOSTS]
    runs = [stamped(path) for path in files]
    assert all(len(found) == 1 and b"" not in found for found in runs), "one run has written all of it"
    assert len({next(iter(found)) for found in runs}) == 3, "each its own"
    assert [host["totals"]["write"]["bytes"] for host in point["hosts"]] == [path.stat().st_size for path in files] == [8 * MIB] * 3
    assert point["totals"]["write"]["bytes"] == 24 * MIB
    for host in HOSTS:
        own = json.loads((lab.results / _run(lab) / "hosts" / host / "points" / point["id"] / "result.json").read_text())
        told = next(one for one in point["hosts"] if one["name"] == host)
        assert own["totals"]["write"]["count"] == told["totals"]["write"]["count"]


def _run(lab: Lab) -> str:
    return sorted(path.name for path in lab.results.iterdir())[-1]


@pytest.mark.parametrize("carrier", ["ray", "ssh"])
def test_three_hosts_write_one_shared_file_once(lab: Lab, carrier: str) -> None:
    """Slices of a file that all of them reach: disjoint, together the whole, and each read back by who wrote it."""
    path = lab.shared / f"{carrier}.dat"
    words = ("--share", "slices", "--target", f"/root/shared/{carrier}.dat", "--size", "25MiB", "--keep")
    point = measured(lab, "./pass.toml", "--hosts", lab.file(carrier=carrier), *words)
    assert point["totals"]["write"]["bytes"] == path.stat().st_size == 25 * MIB
    touches = [host["touches"] for host in point["hosts"]]
    runs = stamped(path)
    assert b"" not in runs, "every sector bears a stamp"
    assert sorted((places[0], places[-1] + 512) for places in runs.values()) == [tuple(ranges[0]) for ranges in touches]
    assert all(len(places) * 512 == places[-1] + 512 - places[0] for places in runs.values()), "no sector is another host's"
    assert point["engine"]["verify"]["sectors_checked"] == 25 * MIB // 512
    marker = json.loads(path.with_suffix(".dat.plimsoll").read_text())
    assert (marker["state"], marker["run"]) == ("kept", None)
    assert marker["wrote_ns"] == path.stat().st_mtime_ns, "released once all had written"


def test_a_shared_file_is_nobody_else_s_meanwhile_and_is_removed_at_the_end(lab: Lab) -> None:
    words = ("random-write-4k", "--share", "full", "--target", "/root/shared/one.dat", "--size", "8MiB", "-w", "0s", "-q", "--fresh")
    process = lab.start("run", *words, "--hosts", lab.file(carrier="ssh"), "-d", "600s")
    try:
        lab.wait_for_load(process)
        here = lab.run("run", "random-write-4k", "--target", str(lab.shared / "one.dat"), *TIMES)
        assert here.returncode == 3
        assert "one.dat" in here.stderr
        others = lab.run("run", *words, "--hosts", "h2,h3", "-d", "60s")
        assert others.returncode != 0
        assert "h2: " in others.stderr
    finally:
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=HANGS_S)
    assert process.returncode == 130, said
    assert not list(lab.shared.glob("one.dat*")), "who made it removes it"


def test_a_shared_file_is_read_first_and_written_afterwards(lab: Lab) -> None:
    """For reading hosts have it beside others; for writing they have to have it alone, all together."""
    (lab.place / "both.toml").write_text(BOTH)
    words = ("--share", "full", "--target", "/root/shared/both.dat", "--size", "8MiB", "-d", "200ms", "-w", "0s", "--fresh")
    before = len(lab.points())
    done = lab.run("suite", str(lab.place / "both.toml"), "--hosts", lab.file(carrier="ssh"), *words)
    assert done.returncode == 0, done.stderr
    points = lab.points()[before:]
    assert [sorted(point["totals"]) for point in points] == [["read"], ["write"], ["read"]]
    assert all(host["status"] == "complete" for point in points for host in point["hosts"])


BOTH = "".join(
    f'\n[[experiment]]\nname = "{name}"\nkind = "steps"\nworkloads = ["{workload}"]\nover = {{ queue_depth = [2] }}\n'
    for name, workload in (("one", "random-read-4k"), ("two", "random-write-4k"), ("three", "random-read-4k"))
)


@pytest.mark.parametrize("share", ["slices", "full"])
def test_the_totals_are_what_one_shared_device_saw(lab: Lab, share: str) -> None:
    """One loop device that all hosts reach: what the kernel counted equals the sum, but for what is read to look at it."""
    with loops(lab.place, ["shared"], 24 * MIB) as device_of:
        device = device_of["shared"]
        before = seen(device)
        words = ("--share", share, "--target", device, f"--destroy-data={device}", "--set", "requests=400", "--set", "read_percent=50")
        point = measured(lab, "random-read-4k", "--hosts", lab.file(carrier="ssh"), *words)
        after = seen(device)
    assert sum(point["totals"][operation]["count"] for operation in ("read", "write")) >= 400
    for place, operation in enumerate(("read", "write")):
        told = point["totals"][operation]["bytes"]
        looked_at = 64 * MIB if operation == "read" else 0
        assert 0 < told <= after[place] - before[place] <= told + looked_at
