"""Nobody gets into a gang over ssh: whoever lacks its certificate or its token is refused on every port; without either nothing starts."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

from plimsoll.gang.credentials import Credentials
from support.lab import Lab, missing
from support.patience import HANGS_S, first_fair, wait_until

pytestmark = [
    pytest.mark.skipif(missing() is not None, reason=str(missing())),
    pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed (pip install 'plimsoll[cluster]')"),
    pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed (dev/system.sh installs it)"),
]
HOSTS = ("h1", "h2", "h3")
HIDDEN = (str(Path(__file__).resolve().parents[2]),)
LOAD = ("run", "random-read-4k", "--target", "null:", "-w", "0s", "--fresh", "-q", "--set", "interval=100ms")
#: One call of every service that a process of Ray offers; each process offers one or more of them.
CALLS = (
    "ray.rpc.NodeInfoGcsService/CheckAlive",
    "ray.rpc.NodeManagerService/GetSystemConfig",
    "ray.rpc.ObjectManagerService/Pull",
    "ray.rpc.CoreWorkerService/GetCoreWorkerStats",
)
DONE, REFUSED, UNKNOWN = "0", "16", "12"
#: Settings of the user's own, which count for nothing.
HARMFUL = {"RAY_USE_TLS": "0", "RAY_AUTH_MODE": "disabled"}
WITHOUT = """import sys
if any(word.endswith("plimsoll") for word in sys.orig_argv):
    from plimsoll.gang import credentials
    kept = credentials.settings
    credentials.settings = lambda folder: {{**kept(folder), {setting!r}: {value!r}}}
"""


@dataclass(frozen=True)
class Ways:
    """A gang that measures: where each of its processes listens, and the directory with its credentials."""

    lab: Lab
    nest: Path
    places: list[tuple[str, str]]

    def says(self, place: tuple[str, str], *words: str, call: str = CALLS[0], message: bool = True) -> tuple[int, str]:
        """What curl gets there: its exit code, and how gRPC says that the call ended; empty where there is no word of it."""
        address, port = place
        grpc = (
            "-H",
            "content-type: application/grpc",
            "-H",
            "te: trailers",
            *(("--data-binary", f"@{self.lab.place}/empty") if message else ("-X", "POST")),
        )
        said = ("-sk", "--max-time", "5", "--http2", "--output", "/dev/null", "--dump-header", "-")
        command = [*self.lab.entering, "curl", *said, *grpc, *words, f"https://{address}:{port}/{call}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        status = [line.split(":")[1].strip() for line in done.stdout.splitlines() if line.startswith("grpc-status:")]
        return done.returncode, status[0] if status else ""

    def answers(self, place: tuple[str, str], *words: str, call: str) -> str:
        """How gRPC says that the call ended, to somebody whose certificate is right.

        Who is refused, or asks for what is not there, is answered before the message has come, and curl loses an answer whose stream is
        closed while it still sends (92): the same without a message then has nothing to send.
        """
        for _ in range(20):
            code, status = self.says(place, *words, call=call)
            if status:
                return status
            code, status = self.says(place, *words, call=call, message=False)
            if status in (REFUSED, UNKNOWN):
                return status
        return f"nothing (curl: {code})"

    def certificate(self, folder: Path) -> tuple[str, ...]:
        return ("--cert", str(folder / "cert.pem"), "--key", str(folder / "key.pem"))


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with Lab(tmp_path_factory.mktemp("strangers"), 3, HIDDEN) as lab:
        yield lab


@pytest.fixture(scope="module")
def ways(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ways]:
    """In a lab of its own, where the gang measures as long as it is looked at."""
    with Lab(tmp_path_factory.mktemp("ways"), 3, HIDDEN) as lab:
        (lab.place / "empty").write_bytes(bytes(5))
        process = lab.start(*LOAD, "--hosts", lab.file(), "-d", "1h", **HARMFUL)
        try:
            lab.wait_for_load(process)
            ((nest, _),) = lab.heads()
            found = [("10.77.0.1", place) for place in listening_here(lab)]
            found += [(host.address, place) for host in lab.hosts.values() for place in lab.listening(host.name)]
            yield Ways(lab, Path(nest), [(address, port_of(place)) for address, place in found if not place.startswith(("127.", "[::1]"))])
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=HANGS_S)


def listening_here(lab: Lab) -> list[str]:
    """Where anything listens in the network of the commanding host."""
    said = subprocess.run(["ip", "netns", "exec", lab.namespace, "ss", "-Hltn"], capture_output=True, text=True, check=True)
    return [line.split()[3] for line in said.stdout.splitlines()]


def port_of(place: str) -> str:
    return place.rpartition(":")[2]


def test_who_has_certificate_and_token_is_answered_on_every_port(ways: Ways) -> None:
    """So what the others get, they get for what they lack."""
    assert len(ways.places) >= 4 + 3 * len(HOSTS), ways.places
    token = ("-H", f"authorization: Bearer {(ways.nest / 'token').read_text()}")
    for place in ways.places:
        said = [ways.answers(place, *ways.certificate(ways.nest), *token, call=call) for call in CALLS]
        assert DONE in said and set(said) <= {DONE, UNKNOWN}, (place, said)


@pytest.mark.parametrize("token", [None, "0" * 64, ""])
def test_a_certificate_without_the_token_is_refused_on_every_port(ways: Ways, token: str | None) -> None:
    words = () if token is None else ("-H", f"authorization: Bearer {token}")
    for place in ways.places:
        said = [ways.answers(place, *ways.certificate(ways.nest), *words, call=call) for call in CALLS]
        assert REFUSED in said and set(said) <= {REFUSED, UNKNOWN}, (place, said)


def test_a_foreign_certificate_is_refused_on_every_port(ways: Ways, tmp_path: Path) -> None:
    for name, text in Credentials().files(["10.77.0.1"]).items():
        (tmp_path / name).write_text(text)
    token = ("-H", f"authorization: Bearer {(ways.nest / 'token').read_text()}")
    for place in ways.places:
        assert ways.says(place, *ways.certificate(tmp_path), *token)[1] == "", place


def test_no_certificate_and_no_tls_are_refused_on_every_port(ways: Ways) -> None:
    program = "import sys; from plimsoll.gang.exposure import answers_strangers as a; print([a(*p.split(' ')) for p in sys.argv[1:]])"
    places = [" ".join(place) for place in ways.places]
    said = subprocess.run([*ways.lab.entering, sys.executable, "-c", program, *places], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == str([False] * len(places))
    token = ("-H", f"authorization: Bearer {(ways.nest / 'token').read_text()}")
    for place in ways.places:
        assert ways.says(place, *token)[1] == "", place


def test_the_gang_s_own_look_tells_a_token_from_none(ways: Ways) -> None:
    """What refuses a gang that answers without a token does see an answer where there is one."""
    program = (
        "import json, sys; from plimsoll.gang.admission import answers_without_token as a; nest, port = sys.argv[1], int(sys.argv[2]);"
        "print(json.dumps([a('10.77.0.1', port, nest), a('10.77.0.1', port, nest, open(nest + '/token').read())]))"
    )
    answered = []
    for address, port in ways.places:
        if address == "10.77.0.1":
            command = [*ways.lab.entering, sys.executable, "-c", program, str(ways.nest), port]
            answered.append(json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout))
    assert [False, True] in answered, "the directory answers who has the token"
    assert not any(without for without, _ in answered)


@pytest.mark.parametrize(
    ("setting", "value", "sentence"),
    [
        ("RAY_USE_TLS", "0", "refused: who comes without a certificate is answered on "),
        ("RAY_AUTH_MODE", "disabled", "refused: who comes without the token is answered on "),
    ],
)
def test_beyond_loopback_nothing_starts_without(lab: Lab, tmp_path: Path, setting: str, value: str, sentence: str) -> None:
    """A Plimsoll whose settings lack one of both: the gang is refused before a worker is handed anything, and goes."""
    (tmp_path / "sitecustomize.py").write_text(WITHOUT.format(setting=setting, value=value))
    # Ray's own deadlines ended its start on a machine with load 40, before anybody could be refused.
    done = first_fair(
        lambda: lab.run(*LOAD, "--hosts", lab.file(), "-d", "1s", PYTHONPATH=str(tmp_path)),
        lambda done: "ray start ended with exit code" not in done.stderr,
    )
    assert done.returncode == 4
    assert sentence in done.stderr, done.stderr
    assert len(done.stderr.splitlines()) == 1
    _nothing_listens(lab, HOSTS)


def _nothing_listens(lab: Lab, hosts: Sequence[str], within_s: float | None = None) -> None:
    begun_s = time.monotonic()
    wait_until(lambda: not any(map(lab.listening, hosts)) and not listening_here(lab), "nothing of the gang listens any more")
    assert within_s is None or time.monotonic() - begun_s < within_s


def test_no_port_listens_on_any_machine_after_the_command_was_killed(lab: Lab) -> None:
    """The commanding host's own, too, whoever is gone."""
    process = lab.start(*LOAD, "--hosts", lab.file(), "-d", "10s")
    lab.wait_for_load(process)
    assert listening_here(lab)
    assert all(map(lab.listening, HOSTS))
    process.kill()
    process.communicate()
    _nothing_listens(lab, HOSTS, within_s=30.0)
    for host in HOSTS:
        wait_until(lambda host=host: not lab.processes(host), f"everything has left {host}")
    run = sorted(lab.results.iterdir())[-1].name
    done = lab.run("hosts", "collect", run)
    assert done.returncode == 0, done.stderr
    assert [host["status"] for host in lab.points()[-1]["hosts"]] == ["complete"] * 3
