"""Hosts that are nodes of a Ray cluster that runs already: measured as any others, and left as they were; a cluster that is open is refused."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from plimsoll.gang.credentials import Credentials
from support.clusters import Cluster
from support.lab import Lab, missing
from support.patience import HANGS_S, wait_until

pytestmark = [
    pytest.mark.skipif(missing() is not None, reason=str(missing())),
    pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed (pip install 'plimsoll[cluster]')"),
]
HOSTS = ("h1", "h2", "h3")
#: Nodes have Ray and no Plimsoll, which is carried there.
HIDDEN = (str(Path(__file__).resolve().parents[2] / "python"),)
LOAD = ("run", "random-read-4k", "--target", "null:", "-w", "0s", "--fresh", "-q", "--set", "interval=100ms")
OURS = re.compile(r"plimsoll|Porter")


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with Lab(tmp_path_factory.mktemp("cluster"), 3, HIDDEN) as lab:
        yield lab


@pytest.fixture(scope="module")
def cluster(lab: Lab) -> Iterator[Cluster]:
    with Cluster(lab, HOSTS) as cluster:
        yield cluster


def of_all(lab: Lab, cluster: Cluster, **papers: str) -> str:
    """The file of a lab that names the cluster and no hosts."""
    path = lab.place / "all.toml"
    said = {"launcher": "ray", "cluster": cluster.address, **cluster.papers, **papers}
    path.write_text("\n".join(f'{key} = "{value}"' for key, value in said.items() if value) + "\n")
    return str(path)


def assert_as_it_was(lab: Lab, cluster: Cluster) -> None:
    """Nothing of Plimsoll's is left on a node or here, and the cluster has the nodes, actors and ports that it had."""
    wait_until(lambda: not [line for host in HOSTS for line in lab.processes(host) if OURS.search(line)], "everything has left")
    wait_until(lambda: all(sorted(lab.listening(host)) == sorted(cluster.before[host]) for host in HOSTS), "hosts listen as before")
    here = ["ip", "netns", "exec", lab.namespace, "ss", "-Hltn"]
    wait_until(lambda: not subprocess.run(here, capture_output=True, check=True).stdout, "nothing listens here")
    # A node that joined is told from one that was lost as soon as its connection is gone.
    wait_until(lambda: cluster.state() == {"nodes": list(HOSTS), "actors": []}, "the cluster is as it was")


def test_all_nodes_measure_with_exact_sums_and_the_cluster_is_as_it_was(lab: Lab, cluster: Cluster) -> None:
    done = lab.run(
        "run",
        "random-read-4k",
        "--hosts",
        of_all(lab, cluster),
        "--target",
        "/root/{host}.dat",
        "--size",
        "16MiB",
        "-d",
        "1s",
        "-w",
        "0s",
        "--fresh",
    )
    assert done.returncode == 0, done.stderr
    point = lab.points()[-1]
    assert [(host["name"], host["status"]) for host in point["hosts"]] == [(host, "complete") for host in HOSTS]
    assert point["totals"]["read"]["count"] == sum(host["totals"]["read"]["count"] for host in point["hosts"]) > 0
    ahead = {host.name: host.ahead_s * 1_000_000_000 for host in lab.hosts.values()}
    assert all(abs(host["offset_ns"] - ahead[host["name"]]) <= host["offset_bound_ns"] for host in point["hosts"])
    assert all(host["gang"]["processes"] == 1 for host in point["hosts"]), "of the cluster what carries the calls is counted, no other"
    assert_as_it_was(lab, cluster)
    assert not [path for host in HOSTS for path in lab.hosts[host].home.glob("*.dat")], "scratch files are removed"
    assert not kept(lab), "what was collected does not stay"


def test_hosts_are_nodes_by_name_address_or_host_and_those_alone(lab: Lab, cluster: Cluster) -> None:
    path = lab.place / "some.toml"
    keys = {"launcher": "ray", "cluster": cluster.address, **cluster.papers}
    text = "\n".join(f'{key} = "{value}"' for key, value in keys.items())
    path.write_text(f'{text}\n[[host]]\nname = "one"\naddress = "10.77.0.13"\n[[host]]\nname = "two"\naddress = "h2"\n')
    done = lab.run(*LOAD, "--hosts", str(path), "-d", "500ms")
    assert done.returncode == 0, done.stderr
    assert {host["name"]: round(host["offset_ns"] / 10**12) for host in lab.points()[-1]["hosts"]} == {"one": 3, "two": 2}
    path.write_text(f'{text}\n[[host]]\nname = "one"\naddress = "h2"\n[[host]]\nname = "two"\naddress = "10.77.0.12"\n')
    done = lab.run(*LOAD, "--hosts", str(path), "-d", "500ms")
    assert (done.returncode, done.stderr) == (2, "plimsoll: two: it is the same node of the cluster as one; name each node once.\n")
    path.write_text(f'{text}\n[[host]]\nname = "one"\naddress = "h4"\n')
    done = lab.run(*LOAD, "--hosts", str(path), "-d", "500ms")
    assert done.returncode == 2
    assert done.stderr == f"plimsoll: one: the cluster at {cluster.address} has no node h4 that is alive; it has h1, h2, h3.\n"


def test_a_worker_that_is_killed_is_told_and_the_others_are_kept(lab: Lab, cluster: Cluster) -> None:
    process = lab.start(*LOAD, "--hosts", of_all(lab, cluster), "-d", "4s")
    lab.wait_for_load(process)
    assert lab.on("h2", "pkill", "-9", "-f", "plimsoll.worker").returncode == 0
    _, said = process.communicate(timeout=HANGS_S)
    assert process.returncode == 4, said
    assert re.search(r"h2\b.*its worker was killed by SIGKILL", said), said
    assert [host["status"] for host in lab.points()[-1]["hosts"]] == ["complete", "lost", "complete"]
    assert_as_it_was(lab, cluster)


def kept(lab: Lab) -> set[Path]:
    """What hosts hold of gangs."""
    return {path for host in lab.hosts.values() for path in host.home.glob(".local/state/plimsoll/gangs/*")}


def test_what_was_killed_leaves_the_cluster_and_is_collected(lab: Lab, cluster: Cluster) -> None:
    known = kept(lab)
    process = lab.start(*LOAD, "--hosts", of_all(lab, cluster), "-d", "4s")
    lab.wait_for_load(process)
    process.kill()
    process.communicate()
    assert_as_it_was(lab, cluster)
    run = sorted(lab.results.iterdir())[-1].name
    done = lab.run("hosts", "collect", run)
    assert done.returncode == 0, done.stderr
    assert [host["status"] for host in lab.points()[-1]["hosts"]] == ["complete"] * 3
    assert_as_it_was(lab, cluster)
    assert kept(lab) == known, "what was collected does not stay"


@pytest.fixture(scope="module")
def strange(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Papers of another authority, and another token."""
    folder = tmp_path_factory.mktemp("strange")
    for name, text in Credentials().files(["10.77.0.1"]).items():
        (folder / name).write_text(text)
    return {
        "token": f"{folder}/token",
        "authority": f"{folder}/ca.pem",
        "certificate": f"{folder}/cert.pem",
        "certificate_key": f"{folder}/key.pem",
    }


@pytest.mark.parametrize(
    ("keys", "code", "sentence"),
    [
        (("token",), 2, "the cluster refuses the token of {token}; use the one that its nodes were started with."),
        (("authority",), 2, "its certificate is not for this address, or not of the authority in {authority}; "),
        (("certificate", "certificate_key"), 2, "it does not accept the certificate in {certificate}; "),
        ((), 2, "a cluster beyond loopback is joined with certificate and token; name 'authority', "),
    ],
)
def test_who_lacks_what_lets_in_hears_so_in_one_sentence(
    lab: Lab, cluster: Cluster, strange: dict[str, str], keys: tuple[str, ...], code: int, sentence: str
) -> None:
    papers = {key: strange[key] for key in keys} or dict.fromkeys(strange, "")
    done = lab.run(*LOAD, "--hosts", of_all(lab, cluster, **papers), "-d", "500ms")
    assert (done.returncode, len(done.stderr.splitlines())) == (code, 1), done.stderr
    assert done.stderr.startswith(f"plimsoll: {cluster.address}: {sentence.format(**strange)}"), done.stderr
    assert_as_it_was(lab, cluster)


@pytest.mark.parametrize(
    ("lacking", "sentence"),
    [
        ("tls", "refused: who comes without a certificate is answered on "),
        ("token", "refused: who comes without the token is answered on "),
    ],
)
def test_a_cluster_that_lets_others_in_is_refused(lab: Lab, lacking: str, sentence: str) -> None:
    with Cluster(lab, ("h1",), port=6400, lacking=lacking) as cluster:
        done = lab.run(*LOAD, "--hosts", of_all(lab, cluster), "-d", "500ms")
        assert (done.returncode, len(done.stderr.splitlines())) == (4, 1), done.stderr
        assert done.stderr.startswith(f"plimsoll: {sentence}{cluster.address}; beyond loopback Plimsoll joins a cluster only where")


@pytest.mark.parametrize(
    ("versions", "sentence"),
    [
        ({"ray_version": "2.59.0"}, "the cluster runs Ray 2.59.0, and "),
        ({"python_version": "3.9.2"}, "the cluster runs Python 3.9, and "),
    ],
)
def test_a_cluster_of_another_version_is_refused(lab: Lab, cluster: Cluster, versions: dict[str, str], sentence: str) -> None:
    import platform

    import ray

    own: dict[str, Any] = {"ray_version": ray.__version__, "python_version": platform.python_version()}
    cluster.says_it_was_started_with(**{**own, **versions})
    try:
        path = lab.place / "one.toml"
        path.write_text(Path(of_all(lab, cluster)).read_text() + '[[host]]\nname = "h1"\n')
        done = lab.run(*LOAD, "--hosts", str(path), "-d", "500ms")
        assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr
        assert done.stderr.startswith(f"plimsoll: {cluster.address}: {sentence}"), done.stderr
    finally:
        cluster.says_it_was_started_with(**own)


def test_a_node_that_is_cut_off_is_lost_after_seven_seconds(lab: Lab) -> None:
    """Ray itself takes such a node out of its cluster after a while, so this one is of its own."""
    with Cluster(lab, HOSTS, port=6390) as cluster:
        _cut_off(lab, cluster)


def _cut_off(lab: Lab, cluster: Cluster) -> None:
    process = lab.start(*LOAD, "--hosts", of_all(lab, cluster), "-d", "12s")
    lab.wait_for_load(process)
    lab.cut("h3")
    try:
        _, said = process.communicate(timeout=HANGS_S)
    finally:
        lab.mend("h3")
    assert process.returncode == 4, said
    point = lab.points()[-1]
    assert [host["status"] for host in point["hosts"]] == ["complete", "complete", "lost"]
    assert "it has not answered for 7 s" in said
