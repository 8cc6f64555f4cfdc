"""Hosts over ssh that cannot be reached, on real sshds: one sentence for each with what to do, nothing measured, nothing left."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support.lab import Lab, missing
from support.patience import wait_until

pytestmark = pytest.mark.skipif(missing() is not None, reason=str(missing()))
HIDDEN = (str(Path(__file__).resolve().parents[2]),)
LOAD = ("run", "random-read-4k", "--target", "null:", "-d", "200ms", "-w", "0s", "--fresh", "-q")


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with Lab(tmp_path_factory.mktemp("unreached"), 2, HIDDEN) as lab:
        yield lab


def written(lab: Lab, of_h2: str) -> str:
    """The file of a lab in which keys of h2 are these."""
    file = lab.file(carrier="ssh")
    path = Path(file)
    path.write_text(path.read_text().replace('name = "h2"', f'name = "h2"\n{of_h2}'))
    return file


def unknown_name(_lab: Lab) -> str:
    return 'address = "nobody.invalid"'


def unknown_key(lab: Lab) -> str:
    (lab.place / "empty").touch()
    return 'known_hosts = "empty"'


def other_key(lab: Lab) -> str:
    """The host was made anew: its key is not the one that was known."""
    lines = lab.known_hosts.read_text().splitlines()
    foreign = next(line.split(" ", 1)[1] for line in lines if line.startswith("h1,"))
    (lab.place / "changed").write_text(f"h2,10.77.0.12 {foreign}\n")
    return 'known_hosts = "changed"'


def not_let_in(_lab: Lab) -> str:
    return 'user = "stranger"'


def no_key_file(_lab: Lab) -> str:
    return 'key = "none"'


def no_sshd(_lab: Lab) -> str:
    return "port = 2222"


def nobody_there(_lab: Lab) -> str:
    return 'address = "10.77.0.99"'


def no_python(_lab: Lab) -> str:
    return 'python = "/opt/none/python3"'


def no_directory(_lab: Lab) -> str:
    return 'directory = "/mnt/none"'


@pytest.mark.parametrize(
    ("arrange", "sentence"),
    [
        (unknown_name, r"h2: its name is not known; give its 'address' in a lab's file\."),
        (unknown_key, r"h2: its key is not known here; look at it and accept it once: ssh h2\."),
        (
            other_key,
            r"h2: its key is another than the one that is known; somebody may be in between\. When it was made anew, remove the old one: "
            r"ssh-keygen -R h2 -f \S+/changed\.",
        ),
        (not_let_in, r"h2: ssh lets nobody in with the keys that are here; try: ssh stranger@h2, or name a 'key' in a lab's file\."),
        (no_key_file, r"h2: the key file \S+/none cannot be read \(no such file or directory\); name another with 'key'\."),
        (no_sshd, r"h2: nothing listens for ssh there; start sshd on it, or name its 'port' in a lab's file\."),
        (nobody_there, r"h2: it does not answer; switch it on, or give its 'address' in a lab's file\."),
        (no_python, r"h2: there is no /opt/none/python3; a host needs Python 3\.11 or later, named with 'python' in a lab's file\."),
        (no_directory, r"h2: /mnt/none is no directory here; name another with 'directory', or make it\."),
    ],
)
def test_a_host_that_is_not_reached_is_one_sentence_and_nothing_stays(lab: Lab, arrange: Callable[[Lab], str], sentence: str) -> None:
    before = len(lab.points())
    done = lab.run(*LOAD, "--hosts", written(lab, arrange(lab)))
    assert done.returncode == 2, done.stderr
    assert re.fullmatch(rf"plimsoll: {sentence}\n", done.stderr), done.stderr
    assert len(lab.points()) == before, "nothing was measured"
    # One that was reached goes when it hears that another was not.
    wait_until(lambda: not any(_left(lab, host) for host in lab.hosts), "nothing stays on a host")
    ssh = subprocess.run(["pgrep", "-af", f"ssh .*{lab.place}"], capture_output=True, text=True, check=False)
    assert not ssh.stdout, "no connection is left here"


def _left(lab: Lab, host: str) -> list[str]:
    files = lab.on(host, "find", "/tmp", "/root/.local/state/plimsoll", "-mindepth", "1", "-not", "-name", "gangs").stdout
    return [*lab.processes(host), *lab.listening(host), *files.splitlines()]
