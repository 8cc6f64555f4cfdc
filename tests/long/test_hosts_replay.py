"""A trace at hosts that have no part of this machine's disks: carried there once, replayed whole by each, refused as it is here."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.devices import loops
from support.lab import Lab, missing

pytestmark = pytest.mark.skipif(missing() is not None, reason=str(missing()))
HIDDEN = (str(Path(__file__).resolve().parents[2]),)
REQUESTS = 70_000


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with Lab(tmp_path_factory.mktemp("replay"), 2, HIDDEN) as lab:
        rows = [
            f"{128166372003061629 + 100 * number},hm,0,{('Read', 'Write')[number % 3 == 0]},{number * 7919 % 2000 * 4096},4096,100"
            for number in range(REQUESTS)
        ]
        (lab.place / "trace.csv").write_text("\n".join(rows) + "\n")
        yield lab


def carried(lab: Lab) -> dict[str, list[tuple[str, int, str]]]:
    """The traces in the cache of each host: name, node on the disk and hash."""
    found = {}
    for host in lab.hosts.values():
        paths = sorted((host.home / ".cache/plimsoll/traces").glob("*"))
        found[host.name] = [(path.name, path.stat().st_ino, hashlib.sha256(path.read_bytes()).hexdigest()) for path in paths]
    return found


def lab_of(lab: Lab, name: str, devices: dict[str, str]) -> str:
    """The file of a lab whose hosts have a device of their own each."""
    hosts = [f'[[host]]\nname = "{host}"\ntarget = "{device}"\n' for host, device in devices.items()]
    (lab.place / name).write_text("\n".join(['carrier = "ssh"', *hosts]))
    return str(lab.place / name)


def test_a_trace_is_carried_once_and_replayed_whole_by_every_host(lab: Lab) -> None:
    words = ("replay", "trace.csv", "--hosts", lab.file(carrier="ssh"), "--target", "./{host}.dat", "--as-fast-as-possible", "-q")
    done = lab.run(*words)
    assert done.returncode == 0, done.stderr
    point = lab.points()[-1]
    assert [host["status"] for host in point["hosts"]] == ["complete"] * 2
    writes = -(-REQUESTS // 3)
    for host in point["hosts"]:
        assert {op: total["count"] for op, total in host["totals"].items()} == {"read": REQUESTS - writes, "write": writes}
    assert {op: total["count"] for op, total in point["totals"].items()} == {"read": 2 * (REQUESTS - writes), "write": 2 * writes}
    first = carried(lab)
    for traces in first.values():
        ((name, _, digest),) = traces
        assert name == f"carried-{digest}.trace", "what lies there is what its name says, and nothing is left beside it"
    assert lab.home.joinpath(".cache/plimsoll/traces").exists()
    again = lab.run(*words)
    assert again.returncode == 0, again.stderr
    assert carried(lab) == first, "what is there is not carried again"


def test_what_each_host_has_decides_whether_a_trace_fits(lab: Lab) -> None:
    made = (
        "run",
        "random-read-4k",
        "--hosts",
        lab.file(carrier="ssh"),
        "--target",
        "./{host}.made",
        "--keep",
        "-d",
        "100ms",
        "-w",
        "0s",
        "-q",
    )
    assert lab.run(*made, "--size", "16MiB").returncode == 0
    words = ("replay", "trace.csv", "--hosts", lab.file(carrier="ssh"), "--target", "./{host}.made", "--as-fast-as-possible", "-q")
    done = lab.run(*words)
    assert done.returncode == 0, done.stderr
    assert lab.points()[-1]["hosts"][0]["totals"]["read"]["count"] > 0
    small = lab.run(*words, "--size", "1MiB", "--target", "./{host}.small")
    assert small.returncode == 2, small.stderr
    assert "Traceback" not in small.stderr and len(small.stderr.strip().splitlines()) == 1, small.stderr


def test_a_trace_goes_to_devices_that_only_the_hosts_have_and_must_fit_them(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "tight").mkdir()
    with loops(tmp_path, list(lab.hosts), 16 << 20) as fitting, loops(tmp_path / "tight", list(lab.hosts), 1 << 20) as small:
        fits, tight = lab_of(lab, "fits.toml", fitting), lab_of(lab, "tight.toml", small)
        words = ("replay", "trace.csv", "--target", "{target}", "--as-fast-as-possible", "--destroy-data", "-q", "--hosts")
        done = lab.run(*words, fits)
        assert done.returncode == 0, done.stderr
        assert [host["status"] for host in lab.points()[-1]["hosts"]] == ["complete"] * 2
        refused = lab.run(*words, tight)
        assert refused.returncode == 4, refused.stderr
        assert "h1: " in refused.stderr and "take a larger target" in refused.stderr and "Nothing was measured" in refused.stderr
        # What hosts refused is a result that can be read.
        assert lab.points()[-1]["status"] == "failed"
        assert "not a whole" not in refused.stderr
