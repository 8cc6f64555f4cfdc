"""What hosts over ssh rest on, without any: who could reach a gang, what ssh's words mean, what is carried, whom a host lets in."""

from __future__ import annotations

import json
import os
import socket
import ssl
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from plimsoll.errors import InputError, PlimsollError
from plimsoll.gang import admission, exposure, switchboard
from plimsoll.gang.arrival import MARK
from plimsoll.gang.attendant import main as attend
from plimsoll.gang.credentials import Credentials, settings
from plimsoll.gang.environment import Environment, File, environment_of
from plimsoll.gang.exposure import answers_strangers
from plimsoll.gang.keeper import Keeper
from plimsoll.gang.ssh import Seat, command_to, failure, sentence
from plimsoll.gang.talk import Talk
from support.answerer import SETTINGS, answering

SEAT = Seat("db1")


def context_of(folder: Path, *, mutual: bool) -> ssl.SSLContext:
    for name, text in Credentials().files(["127.0.0.1"]).items():
        (folder / name).write_text(text)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    context.load_verify_locations(folder / "ca.pem")
    context.verify_mode = ssl.CERT_REQUIRED if mutual else ssl.CERT_NONE
    return context


def test_who_answers_in_the_clear_is_open_to_strangers() -> None:
    with answering() as port:
        assert answers_strangers("127.0.0.1", port)


def test_who_asks_for_no_certificate_is_open_to_strangers(tmp_path: Path) -> None:
    with answering(context=context_of(tmp_path, mutual=False)) as port:
        assert answers_strangers("127.0.0.1", port)


def test_who_asks_for_a_certificate_is_closed_to_strangers(tmp_path: Path) -> None:
    with answering(context=context_of(tmp_path, mutual=True)) as port:
        assert not answers_strangers("127.0.0.1", port)


def test_certificates_of_one_gang_are_nothing_to_another(tmp_path: Path) -> None:
    context = context_of(tmp_path, mutual=True)
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    for kind, credentials in (("own", None), ("foreign", Credentials())):
        client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        client.check_hostname, client.verify_mode = False, ssl.CERT_NONE
        folder = tmp_path if credentials is None else foreign
        for name, text in ({} if credentials is None else credentials.files(["127.0.0.1"])).items():
            (folder / name).write_text(text)
        client.load_cert_chain(folder / "cert.pem", folder / "key.pem")
        with answering(context=context) as port, socket.create_connection(("127.0.0.1", port)) as plain:
            said = b""
            with suppress(OSError), client.wrap_socket(plain) as connection:
                connection.sendall(b"x")
                said = connection.recv(9)
        assert bool(said) is (kind == "own")


@pytest.mark.parametrize(
    ("frames", "answered"),
    [
        # Headers, a message, headers that end the stream: the call was carried out.
        (b"\0\0\1\1\4\0\0\0\1\x88" + b"\0\0\5\0\0\0\0\0\1\0\0\0\0\0" + b"\0\0\1\1\5\0\0\0\1\x88", True),
        # Headers alone, which end the stream: it was refused.
        (b"\0\0\1\1\5\0\0\0\1\x88", False),
        # It goes away, or says nothing of the call.
        (b"\0\0\x08\7\0\0\0\0\0" + bytes(8), False),
    ],
)
def test_who_carries_a_call_out_without_the_token_is_told_from_who_refuses_it(tmp_path: Path, frames: bytes, answered: bool) -> None:
    with answering(SETTINGS + frames, context_of(tmp_path, mutual=True)) as port:
        assert admission.answers_without_token("127.0.0.1", port, str(tmp_path)) is answered


def test_a_gang_on_the_network_that_asks_for_no_token_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(switchboard, "answers_without_token", lambda host, port, folder: True)
    with pytest.raises(Exception, match=r"refused: who comes without the token is answered on 10\.0\.0\.1:7000"):
        switchboard._check_token("nest", "10.0.0.1", 7000, network=True)
    switchboard._check_token("nest", "127.0.0.1", 7000, network=False)


def test_a_gang_on_the_network_that_answers_strangers_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with answering() as port:
        monkeypatch.setattr(exposure, "marked", lambda nest: [os.getpid()])
        theirs = [(f"0.0.0.0:{port}", inode) for address, inode in exposure.listeners() if address.endswith(f":{port}")]
        monkeypatch.setattr(exposure, "listeners", lambda: iter(theirs))
        with pytest.raises(Exception, match=rf"refused: who comes without a certificate is answered on 0\.0\.0\.0:{port}"):
            switchboard._check_closed("nest", (), network=True, ask=list)


def test_a_gang_of_which_another_host_answers_strangers_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    class Verb:
        def remote(self) -> list[str]:
            return ["10.0.0.7:80 of db7"]

    class Relay:
        open_to_strangers = Verb()

    monkeypatch.setattr(exposure, "marked", lambda nest: [])
    with pytest.raises(Exception, match=r"answered on 10\.0\.0\.7:80 of db7"):
        switchboard._check_closed("nest", [Relay()], network=True, ask=lambda found: found)


def test_ray_beyond_loopback_is_told_token_and_certificates(tmp_path: Path) -> None:
    _, _, here = switchboard.carrier_here(str(tmp_path), "10.0.0.1:7000", network=True)
    _, _, there = switchboard.carrier_of_host("db1", "10.0.0.2", "10.0.0.1:7000")
    for environment in (here, there):
        assert {name: environment[name] for name in settings("")}.keys() == settings("").keys()
        assert (environment["RAY_USE_TLS"], environment["RAY_AUTH_MODE"]) == ("1", "token")
    assert not any(len(value) == 64 for value in there.values()), "the token lies in a file of its user's alone"


@pytest.mark.parametrize(
    ("said", "meaning"),
    [
        ("No ED25519 host key is known for db1 and you have requested strict checking.\nHost key verification failed.", "its key is not known here"),
        ("@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nHost key verification failed.", "its key is another than the one that is known"),
        ("bench@db1: Permission denied (publickey).", "ssh lets nobody in"),
        ("ssh: Could not resolve hostname db1: Name or service not known", "its name is not known"),
        ("ssh: connect to host db1 port 22: Connection refused", "nothing listens for ssh there"),
        ("ssh: connect to host db1 port 22: No route to host", "it does not answer"),
        ("kex_exchange_identification: banner", "ssh could not reach it (kex_exchange_identification: banner)"),
        ("", "the connection ended"),
    ],
)  # fmt: skip
def test_what_ssh_says_becomes_a_sentence(said: str, meaning: str) -> None:
    assert meaning in sentence(SEAT, said)
    assert str(failure(SEAT, 255, said)).startswith("db1: ")


def test_ssh_asks_nothing_and_accepts_nobody() -> None:
    words = command_to(Seat("db1", user="bench", port=2222, key="/k", known_hosts="/h"), 10)
    assert words[0] == "ssh"
    for option in ("BatchMode=yes", "StrictHostKeyChecking=yes", "ForwardAgent=no", "UserKnownHostsFile=/h", "UpdateHostKeys=no"):
        assert option in words
    assert words[words.index("-l") + 1] == "bench"
    assert words[-2] == "db1" and words[-3] == "--"


def tiny(folder: Path) -> Environment:
    """An environment that is carried at once: an attendant that answers one question."""
    package = folder / "package"
    (package / "gang").mkdir(parents=True, exist_ok=True)
    (package / "__init__.py").touch()
    (package / "gang" / "__init__.py").touch()
    (package / "gang" / "attendant.py").write_text("import sys; print(sys.argv[1:], flush=True)\n")
    names = ("__init__.py", "gang/__init__.py", "gang/attendant.py")
    return Environment((), tuple(File(f"plimsoll/{name}", str(package / name)) for name in names), "ab" * 16)


def here(script: str = "") -> Any:
    """A host that is this machine: the shell runs what ssh would."""

    def command(_seat: Seat, length: int) -> list[str]:
        boot = f"import sys; {script}exec(compile(sys.stdin.buffer.read({length}), 'arrival', 'exec'), {{'__name__': 'arrival'}})"
        return [sys.executable, "-c", boot]

    return command


def talked(seat: Seat, environment: Environment, command: Any) -> tuple[int, str]:
    """What was carried, and what the host became."""
    talk = Talk(seat, environment, command)
    talk.carry()
    talk.become({"be": "attendant", "words": ["store", "x"]})
    line = talk.line()
    talk.close()
    return talk.carried_bytes, (line or b"").decode()


def test_an_environment_is_carried_once_and_again_when_it_is_damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    environment = tiny(tmp_path)
    assert talked(SEAT, environment, here()) == (environment.size_bytes, "['store', 'x']")
    assert talked(SEAT, environment, here())[0] == 0, "it lies in the cache"
    (place,) = (tmp_path / "cache" / "plimsoll" / "environments").iterdir()
    (place / "plimsoll" / "gang" / "attendant.py").write_text("")
    assert talked(SEAT, environment, here()) == (environment.size_bytes, "['store', 'x']")
    assert place.stat().st_mode & 0o077 == 0, "it is its user's alone"


def test_an_authority_that_a_host_adds_to_certificates_damages_no_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Seen where every Python gets the authority of its network at its start: 180 MB were carried for every run.
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    bare = tiny(tmp_path)
    (tmp_path / "cacert.pem").write_text("those of the world\n")
    environment = replace(bare, files=(*bare.files, File("certifi/cacert.pem", str(tmp_path / "cacert.pem"))))
    assert talked(SEAT, environment, here())[0] == environment.size_bytes
    (place,) = (tmp_path / "cache" / "plimsoll" / "environments").iterdir()
    with (place / "certifi" / "cacert.pem").open("a") as file:
        file.write("that of this network\n")
    assert talked(SEAT, environment, here())[0] == 0
    (place / "certifi" / "cacert.pem").unlink()
    assert talked(SEAT, environment, here())[0] == environment.size_bytes, "it has to be there"


def test_a_shell_that_greets_is_no_harm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert talked(SEAT, tiny(tmp_path), here("print('Welcome!'); "))[1] == "['store', 'x']"


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("sys.version_info = (3, 9, 2); ", "db1: Python 3.9 is there and "),
        (
            "import os; os.uname = lambda: type('U', (), dict(nodename='n', machine='aarch64', sysname='Linux')); ",
            "db1: architecture aarch64 is there",
        ),
    ],
)
def test_a_host_on_which_this_plimsoll_cannot_run_is_refused(tmp_path: Path, script: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        Talk(SEAT, tiny(tmp_path), here(script))


def test_a_cache_that_cannot_be_written_to_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    talk = Talk(SEAT, tiny(tmp_path), here())
    with pytest.raises(PlimsollError) as caught:
        talk.carry()
    why = "cannot be made here (not a directory); give its user a home that can be written, or set XDG_CACHE_HOME."
    assert str(caught.value) == f"db1: {tmp_path}/file/plimsoll {why}"


@pytest.mark.parametrize(
    ("launcher", "said", "meaning"),
    [
        (
            "slurm",
            "srun: error: Unable to create step for job 7: Requested node configuration is not available",
            "Slurm has no node db1 for this",
        ),
        (
            "slurm",
            "srun: error: Unable to confirm allocation for job 7: Invalid job id specified",
            "there is no allocation of Slurm here; run the",
        ),
        (
            "slurm",
            "srun: error: Unable to contact slurm controller (connect failure)",
            "Slurm does not answer; run the command where srun works.",
        ),
        ("slurm", "srun: fatal: gone", "srun could not reach it (srun: fatal: gone)."),
        (
            "kubernetes",
            'Error from server (NotFound): pods "db1" not found',
            "there is no pod db1; make the pods first: plimsoll hosts manifest",
        ),
        (
            "kubernetes",
            "The connection to the server localhost:8080 was refused",
            "the cluster of Kubernetes is not reached; kubectl get pods",
        ),
        ("kubernetes", 'Error from server (Forbidden): pods "db1" is forbidden', "Kubernetes does not let you exec into the pod db1."),
        (
            "kubernetes",
            "error: cannot exec into a container in a completed pod; current phase is Succeeded",
            "the pod db1 does not run yet, or no",
        ),
        (
            "kubernetes",
            'exec: "sh": executable file not found in $PATH: unknown',
            "the pod db1 has no sh; it needs an image that has Python.",
        ),
        ("kubernetes", "error: gone", "kubectl exec could not reach it (error: gone)."),
    ],
)
def test_what_srun_and_kubectl_say_becomes_a_sentence(launcher: str, said: str, meaning: str) -> None:
    assert meaning in str(failure(SEAT, 1, said, launcher)) and str(failure(SEAT, 1, said, launcher)).startswith("db1: ")


def test_what_is_not_installed_here_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"--hosts: /no/such/srun is not installed here, by which db1 is to be reached\."):
        Talk(SEAT, tiny(tmp_path), lambda _seat, _length: ["/no/such/srun"])


def test_a_directory_that_is_not_there_is_refused_before_anything_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Seen: the directories of a gang stayed on a host that had refused.
    for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    talk = Talk(SEAT, tiny(tmp_path), here())
    talk.carry()
    with pytest.raises(InputError, match=r"db1: /no/such is no directory here; name another with 'directory', or make it\."):
        talk.become({"be": "keeper", "gang": "g", "host": "db1", "directory": "/no/such", "files": {}})
    assert not list((tmp_path / "XDG_STATE_HOME").rglob("g"))


def test_a_host_that_says_nothing_useful_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(PlimsollError, match=r"db1: ssh could not reach it \(gone\)"):
        Talk(SEAT, tiny(tmp_path), lambda _seat, _length: ["sh", "-c", "echo gone >&2; exit 255"])
    with pytest.raises(InputError, match=r"there is no python3\.\d+ and python3; a host needs Python 3\.11 or later"):
        Talk(SEAT, tiny(tmp_path), lambda _seat, _length: ["sh", "-c", "exit 127"])


def test_what_is_carried_runs_plimsoll_and_has_another_name_when_it_is_another(tmp_path: Path) -> None:
    environment = environment_of([])
    paths = {file.path for file in environment.files}
    assert {"plimsoll/worker.py", "plimsoll/gang/arrival.py", "click/__init__.py"} <= paths
    assert any(path.startswith("plimsoll/_core") for path in paths)
    assert not any("__pycache__" in path or ".." in path for path in paths)
    assert environment_of([]).name == environment.name


def test_arrival_reads_on_an_old_python() -> None:
    """Its text compiles for Python 3.7, so that an older one on a host can say what it is."""
    import ast

    ast.parse(Path(attend.__code__.co_filename).with_name("arrival.py").read_text(), feature_version=(3, 7))
    assert MARK.endswith(" ")


def test_a_keeper_whose_last_worker_died_stays_until_that_was_heard(tmp_path: Path) -> None:
    (tmp_path / "keeper.json").write_text(json.dumps({"workers": ["db1"], "carriers": [["ray", [], {}]], "store": str(tmp_path)}))
    (tmp_path / "db1").mkdir()
    keeper = Keeper(str(tmp_path))
    keeper._carriers = {1: "ray"}
    process = subprocess.Popen(["false"])
    keeper._workers = {process.pid: "db1"}
    while keeper._workers:
        keeper._reap()
    assert keeper._is_wanted(), "who asks has to hear how it ended"
    assert json.loads((tmp_path / "db1" / "ended.json").read_text()) == {"how": "its worker ended with exit code 1"}
    process.returncode = 1
    keeper._carriers = {}
    assert not keeper._is_wanted(), "nobody can ask"
