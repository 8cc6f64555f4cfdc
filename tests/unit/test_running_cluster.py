"""A Ray cluster that runs already, without any: who is let in, whom it lets in, which nodes a lab means, what a porter carries, KubeRay's text."""

from __future__ import annotations

import base64
import os
import ssl
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from plimsoll.errors import EngineError, InputError, PlimsollError
from plimsoll.gang import cluster as clusters
from plimsoll.gang import exposure
from plimsoll.gang.admission import Admission, admission_of
from plimsoll.gang.cluster import Cluster, Papers, check_admission
from plimsoll.gang.credentials import Credentials
from plimsoll.gang.keeper import Keeper
from plimsoll.gang.nodes import Found, Node, check_versions, meant, names_of
from plimsoll.gang.porter import Porter
from plimsoll.lab.document import read_lab
from plimsoll.lab.manifest import manifest_of
from support.answerer import SETTINGS, answering

NAMES = ("ca.pem", "cert.pem", "key.pem")
#: Of stream 1 behind empty settings: headers and a message, or headers alone, which end the stream.
CARRIED_OUT = SETTINGS + b"\0\0\1\1\4\0\0\0\1\x88" + b"\0\0\5\0\0\0\0\0\1\0\0\0\0\0"
TURNED_AWAY = SETTINGS + b"\0\0\1\1\5\0\0\0\1\x88"


def papers_in(folder: Path, names: list[str]) -> tuple[str, str, str]:
    folder.mkdir(exist_ok=True)
    for name, text in Credentials().files(names).items():
        (folder / name).write_text(text)
    first, second, third = (str(folder / name) for name in NAMES)
    return first, second, third


def serving(papers: tuple[str, str, str]) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(papers[1], papers[2])
    context.load_verify_locations(papers[0])
    context.verify_mode = ssl.CERT_REQUIRED
    return context


def test_each_way_not_to_get_in_is_another(tmp_path: Path) -> None:
    own = papers_in(tmp_path / "own", ["127.0.0.1"])
    foreign = papers_in(tmp_path / "foreign", ["127.0.0.1"])
    with answering(CARRIED_OUT, serving(own)) as port:
        assert admission_of("127.0.0.1", port, own, "t") is Admission.GIVEN
        assert admission_of("127.0.0.1", port, (foreign[0], *own[1:]), "t") is Admission.FOREIGN
        assert admission_of("127.0.0.1", port, (own[0], *foreign[1:]), "t") is Admission.NO_CERTIFICATE
        assert admission_of("127.0.0.1", port, None, "t") is Admission.NOT_SPOKEN
    with answering(TURNED_AWAY, serving(own)) as port:
        assert admission_of("127.0.0.1", port, own, "t" * 500) is Admission.UNKNOWN
    with answering(CARRIED_OUT) as port:
        assert admission_of("127.0.0.1", port, None, None) is Admission.GIVEN
        assert admission_of("127.0.0.1", port, own, None) is Admission.NOT_SPOKEN
    assert admission_of("127.0.0.1", port, None, None) is Admission.NOT_SPOKEN, "nobody listens there any more"


def test_a_certificate_for_another_address_is_not_the_cluster_s(tmp_path: Path) -> None:
    own = papers_in(tmp_path / "own", ["127.0.0.1"])
    with answering(CARRIED_OUT, serving(own)) as port:
        assert admission_of("127.0.0.2", port, own, "t") is not Admission.GIVEN


def refused(cluster: Cluster) -> PlimsollError:
    with pytest.raises(PlimsollError) as caught:
        check_admission(cluster)
    assert "\n" not in str(caught.value)
    return caught.value


def test_on_loopback_the_cluster_decides_alone() -> None:
    with answering(CARRIED_OUT) as port:
        check_admission(Cluster(f"127.0.0.1:{port}"))
    with answering(TURNED_AWAY) as port:
        assert "the cluster asks for a token; name its file" in str(refused(Cluster(f"127.0.0.1:{port}")))
        assert "the cluster refuses the token of RAY_AUTH_TOKEN" in str(refused(Cluster(f"127.0.0.1:{port}", token="x")))
    assert "no Ray is reached there (connection refused)" in str(refused(Cluster(f"127.0.0.1:{port}")))
    assert "the name nobody.invalid is not known" in str(refused(Cluster("nobody.invalid:6379")))


def test_beyond_loopback_a_cluster_without_tls_or_token_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters, "is_loopback", lambda address: False)
    own = papers_in(tmp_path / "own", ["127.0.0.1"])
    papers = Papers(str(tmp_path / "own" / "token"), *own)
    with answering(CARRIED_OUT) as port:
        assert str(refused(Cluster(f"127.0.0.1:{port}", papers))).startswith(
            f"refused: who comes without a certificate is answered on 127.0.0.1:{port}; beyond loopback Plimsoll joins a cluster only where"
        )
    with answering(CARRIED_OUT, serving(own)) as port:
        found = refused(Cluster(f"127.0.0.1:{port}", papers))
        assert isinstance(found, EngineError)
        assert str(found).startswith(f"refused: who comes without the token is answered on 127.0.0.1:{port}; ")
        assert "is joined with certificate and token" in str(refused(Cluster(f"127.0.0.1:{port}", Papers(token=papers.token))))
        assert "is joined with certificate and token" in str(refused(Cluster(f"127.0.0.1:{port}", Papers(None, *own))))


def test_what_a_lab_does_not_name_ray_s_environment_does(tmp_path: Path) -> None:
    own = papers_in(tmp_path / "own", ["127.0.0.1"])
    environment = {
        "RAY_USE_TLS": "1",
        **dict(zip(("RAY_TLS_CA_CERT", "RAY_TLS_SERVER_CERT", "RAY_TLS_SERVER_KEY"), own, strict=True)),
        "RAY_AUTH_TOKEN_PATH": str(tmp_path / "own" / "token"),
    }
    found = Cluster("127.0.0.1:1").resolved(environment)
    assert found.papers.for_tls == own
    assert found.secret() == (tmp_path / "own" / "token").read_text()
    assert Cluster("127.0.0.1:1").resolved({**environment, "RAY_USE_TLS": "0"}).papers.for_tls is None
    assert Cluster("127.0.0.1:1").resolved({"RAY_AUTH_TOKEN": "x"}).secret() == "x"
    settings = Cluster("127.0.0.1:1").resolved({}).settings()
    assert (settings["RAY_USE_TLS"], settings["RAY_AUTH_MODE"], settings["RAY_AUTH_TOKEN"]) == ("0", "disabled", ""), (
        "nothing of others counts"
    )


@pytest.mark.parametrize(
    ("papers", "said"),
    [
        (Papers(token="{0}/none"), "the token of the cluster: {0}/none: no such file or directory."),
        (Papers(token="{0}/empty"), "the token of the cluster: {0}/empty is empty."),
        (Papers(authority="{0}/key.pem"), "the authority of the cluster: {0}/key.pem holds no certificate (PEM)."),
        (Papers(key="{0}/ca.pem"), "the key of the cluster: {0}/ca.pem holds no private key (PEM)."),
        (Papers(authority="{0}/ca.pem"), "127.0.0.1:1: the cluster's authority, certificate and key belong together; name all three"),
    ],
)
def test_a_file_that_does_not_hold_what_it_should_is_said(tmp_path: Path, papers: Papers, said: str) -> None:
    papers_in(tmp_path, ["127.0.0.1"])
    (tmp_path / "empty").touch()
    named = {name: value.format(tmp_path) for name, value in vars(papers).items() if value}
    with pytest.raises(InputError) as caught:
        Cluster("127.0.0.1:1", Papers(**named)).resolved({})
    assert str(caught.value).startswith(said.format(tmp_path))


@pytest.mark.parametrize(
    ("answer", "guarded"),
    [
        (b"HTTP/1.1 401 Unauthorized\r\n\r\n", True),
        (b"HTTP/1.0 403 Forbidden\r\n\r\n", True),
        (b"HTTP/1.0 200 OK\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n\r\nx 1\n", True),
        (b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n[]", False),
        (b"HTTP/1.1 404 Not Found\r\n\r\n", False),
        (SETTINGS, False),
        (b"", False),
    ],
)
def test_http_in_the_clear_is_closed_only_where_the_token_is_asked_for_first(answer: bytes, guarded: bool) -> None:
    with answering(answer) as port:
        assert exposure.is_guarded("127.0.0.1", port) is guarded


def test_of_a_cluster_s_ports_those_that_run_something_for_strangers_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exposure, "marked", lambda nest: [os.getpid()])
    monkeypatch.setattr(exposure, "_is_loopback", lambda address: False)
    with (
        answering(b"HTTP/1.1 401 Unauthorized\r\n\r\n") as closed,
        answering(b"HTTP/1.1 200 OK\r\n\r\n") as open_,
        answering(SETTINGS) as grpc,
    ):
        found = exposure.open_to_runners("session")
        assert {f"127.0.0.1:{open_}", f"127.0.0.1:{grpc}"} <= set(found)
        assert f"127.0.0.1:{closed}" not in found


def node(number: str, called: str, host: str, address: str) -> Node:
    return Node(number, called, host, address, f"/tmp/{number}/sockets/plasma_store", f"/tmp/{number}")


NODES = (node("a1", "n1", "db1", "10.0.0.1"), node("a2", "n2", "db2", "10.0.0.2"), node("a3", "n3", "db2", "10.0.0.2"))


def test_a_node_is_called_by_its_host_or_by_its_own_name() -> None:
    assert {name: one.id for name, one in names_of(NODES, "c:1").items()} == {"db1": "a1", "n2": "a2", "n3": "a3"}
    with pytest.raises(InputError, match="several nodes are called n2; start each with a name of its own"):
        names_of([*NODES, node("a4", "n2", "db2", "10.0.0.2")], "c:1")


def test_a_lab_means_a_node_by_any_of_its_names_and_one_for_each_host() -> None:
    found = meant(NODES, [("x", "10.0.0.1"), ("y", "n2"), ("z", "a3")], "c:1")
    assert {name: one.id for name, one in found.items()} == {"x": "a1", "y": "a2", "z": "a3"}
    for seats, said in (
        ([("x", "db3")], "x: the cluster at c:1 has no node db3 that is alive; it has n1, n2, n3."),
        ([("x", "db2")], "x: db2 is the name of 2 nodes of the cluster at c:1; say which by its name or id."),
        ([("x", "db1"), ("y", "n1")], "y: it is the same node of the cluster as x; name each node once."),
    ):
        with pytest.raises(InputError) as caught:
            meant(NODES, seats, "c:1")
        assert str(caught.value) == said


def test_another_ray_or_python_is_refused() -> None:
    check_versions(Found("2.60.0", "3.11.2", ()), "c:1", "2.60.0", "3.11.7")
    with pytest.raises(
        InputError, match=r"c:1: the cluster runs Ray 2\.59\.0, and 2\.60\.0 is here; both have to be the same: pip install ray==2"
    ):
        check_versions(Found("2.59.0", "3.11.2", ()), "c:1", "2.60.0", "3.11.7")
    with pytest.raises(InputError, match=r"c:1: the cluster runs Python 3\.12, and 3\.11 is here"):
        check_versions(Found("2.60.0", "3.12.1", ()), "c:1", "2.60.0", "3.11.7")


def said_by(porter: Porter) -> dict[str, str]:
    """All that it passes on until the end."""
    said = {"out": b"", "said": b""}
    while True:
        found = porter.drawn(5.0)
        for name in said:
            said[name] += base64.b64decode(found.get(name, ""))
        if found["ended"]:
            return {name: data.decode() for name, data in said.items()}


def test_a_porter_passes_on_what_a_python_hears_and_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_AUTH_TOKEN", "secret")
    porter = Porter()
    text = "import os, sys; data = sys.stdin.buffer.read(); print(len(data), os.environ.get('RAY_AUTH_TOKEN')); sys.stderr.write('said')"
    assert porter.begin(None, text)
    porter.pour(base64.b64encode(bytes(200_000)).decode())
    porter.shut()
    assert said_by(porter) == {"out": "200000 None\n", "said": "said"}
    assert not Porter().begin("/no/such/python", "")


def test_what_a_porter_starts_is_no_child_of_it_and_hears_of_its_end() -> None:
    """Ray kills the children of an actor that ends: a worker could not finish its point."""
    porter = Porter()
    porter.begin(None, "import os, sys; print(os.getppid(), os.getsid(0) == os.getpid(), flush=True); sys.stdin.read(); print('left')")
    found = ""
    while "\n" not in found:
        found += base64.b64decode(porter.drawn(5.0).get("out", "")).decode()
    parent, leads = found.split()
    assert int(parent) != os.getpid() and leads == "True"
    os.close(porter._input)
    porter._input = -1
    assert said_by(porter)["out"] == "left\n"


def test_a_keeper_gives_what_it_carries_time_for_a_goodbye(tmp_path: Path) -> None:
    (tmp_path / "keeper.json").write_text('{"workers": [], "carriers": [], "leaves_s": 20}')
    keeper = Keeper(str(tmp_path))
    script = f"trap 'echo bye > {tmp_path}/bye; exit 0' TERM; touch {tmp_path}/up; while :; do sleep 0.02; done"
    process = subprocess.Popen(["sh", "-c", script])
    keeper._carriers = {process.pid: "guest"}
    while not (tmp_path / "up").exists():
        time.sleep(0.01)
    keeper._let_leave()
    process.returncode = 0
    assert (tmp_path / "bye").read_text() == "bye\n"


def manifest(folder: Path) -> str:
    path = folder / "lab.toml"
    path.write_text('launcher = "ray"\ncluster = "lab-head-svc:6379"\n[[host]]\nname = "db1"\n[[host]]\nname = "on"\n')
    return manifest_of(read_lab(str(path)))


def test_a_cluster_for_kuberay_has_a_node_for_each_host_and_asks_for_both(tmp_path: Path) -> None:
    yaml: Any = pytest.importorskip("yaml")
    token, authority, cluster = yaml.safe_load_all(manifest(tmp_path))
    assert (token["kind"], authority["kind"], cluster["kind"]) == ("Secret", "Secret", "RayCluster")
    assert len(token["stringData"]["token"]) == 64
    groups = cluster["spec"]["workerGroupSpecs"]
    assert [(group["groupName"], group["rayStartParams"]["node-name"], group["replicas"]) for group in groups] == [
        ("db1", "db1", 1),
        ("on", "on", 1),
    ]
    pods = [cluster["spec"]["headGroupSpec"]["template"], *(group["template"] for group in groups)]
    for pod in pods:
        (container,), (certify,) = pod["spec"]["containers"], pod["spec"]["initContainers"]
        said = {one["name"]: one.get("value") for one in container["env"]}
        assert (said["RAY_USE_TLS"], said["RAY_AUTH_MODE"]) == ("1", "token")
        assert "authority" not in {mount["name"] for mount in container["volumeMounts"]}, "its key is for one step alone"
        assert "authority" in {mount["name"] for mount in certify["volumeMounts"]}
        assert "podAntiAffinity" in pod["spec"]["affinity"]
    assert manifest(tmp_path) != manifest(tmp_path), "token and authority are made anew"


def test_what_a_pod_makes_for_itself_is_a_certificate_of_the_cluster(tmp_path: Path) -> None:
    yaml: Any = pytest.importorskip("yaml")
    _, authority, cluster = yaml.safe_load_all(manifest(tmp_path))
    for folder, files in (("authority", authority["stringData"]), ("own", {})):
        (tmp_path / folder).mkdir()
        for name, text in files.items():
            (tmp_path / folder / name).write_text(text)
    script = cluster["spec"]["headGroupSpec"]["template"]["spec"]["initContainers"][0]["args"][0].replace("/etc/plimsoll", str(tmp_path))
    environment = {**os.environ, "POD_IP": "127.0.0.1", "POD_NAMESPACE": "lab"}
    done = subprocess.run(["sh", "-c", script], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in (tmp_path / "own").iterdir()) == sorted(NAMES)
    assert (tmp_path / "own" / "key.pem").stat().st_mode & 0o077 == 0
    first, second, third = (str(tmp_path / "own" / name) for name in NAMES)
    with answering(CARRIED_OUT, serving((first, second, third))) as port:
        assert admission_of("127.0.0.1", port, (first, second, third), "t") is Admission.GIVEN
    names = subprocess.run(
        ["openssl", "x509", "-in", second, "-noout", "-ext", "subjectAltName"], capture_output=True, text=True, check=True
    ).stdout
    assert "DNS:lab-head-svc.lab.svc.cluster.local" in names and "IP Address:127.0.0.1" in names
