"""How a host is reached: ssh with the user's own keys, agent and configuration, and one sentence for whatever it says when it cannot.

`srun` and `kubectl exec` take its place on nodes of Slurm and in pods.

Model: nothing is ever asked and nobody is accepted: a host whose key is not among the known ones is refused. The command that runs there is
Python with the text of `plimsoll.gang.arrival`, which comes over standard input.

    command_to(Seat("db1"), 7000)            # ["ssh", …, "db1", "exec sh -c …"]
    sentence(Seat("db1"), "Host key verification failed.")
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from dataclasses import dataclass

from plimsoll.displayed import displayed
from plimsoll.errors import EngineError, InputError, PlimsollError

#: A host that says nothing for three times this long is gone, and ssh with it.
_ALIVE_S = 3
_OPTIONS = (
    "BatchMode=yes", "StrictHostKeyChecking=yes", "UpdateHostKeys=no", "ConnectTimeout=10", "ConnectionAttempts=1", "LogLevel=ERROR",
    f"ServerAliveInterval={_ALIVE_S}", "ServerAliveCountMax=3", "ControlMaster=no", "ControlPath=none", "ClearAllForwardings=yes",
    "ForwardAgent=no", "ForwardX11=no", "PermitLocalCommand=no", "RequestTTY=no", "EscapeChar=none",
)  # fmt: skip
#: Python of this version before any other: compiled parts are made for it.
_PYTHONS = (f"python{sys.version_info[0]}.{sys.version_info[1]}", "python3")
_NO_PYTHON = 127


@dataclass(frozen=True)
class Seat:
    """Where a host is and who is let in there; None is what ssh's own configuration says."""

    name: str
    address: str | None = None
    user: str | None = None
    port: int | None = None
    key: str | None = None
    known_hosts: str | None = None
    python: str | None = None
    #: Where relative paths of its targets begin.
    directory: str = "~"


def command_to(seat: Seat, length: int) -> list[str]:
    """What runs a text of so many bytes, that comes over standard input, in the host's Python."""
    words = ["ssh", *(word for option in _OPTIONS for word in ("-o", option))]
    if seat.user:
        words += ["-l", seat.user]
    if seat.port:
        words += ["-p", str(seat.port)]
    if seat.key:
        words += ["-o", "IdentitiesOnly=yes", "-i", os.path.expanduser(seat.key)]
    if seat.known_hosts:
        words += ["-o", f"UserKnownHostsFile={os.path.expanduser(seat.known_hosts)}", "-o", "GlobalKnownHostsFile=/dev/null"]
    return [*words, "--", seat.address or seat.name, remote_command(seat, length)]


def srun_to(seat: Seat, length: int) -> list[str]:
    """The same on a node of the allocation of Slurm that this command runs in."""
    node = seat.address or seat.name
    step = ("--nodes=1", "--ntasks=1", f"--nodelist={node}", "--overlap", "--unbuffered", "--export=NONE", "--job-name=plimsoll")
    return ["srun", *step, "sh", "-c", remote_command(seat, length)]


def kubectl_to(seat: Seat, length: int) -> list[str]:
    """The same in a pod."""
    return ["kubectl", "exec", "--stdin", "--quiet", seat.address or seat.name, "--", "sh", "-c", remote_command(seat, length)]


COMMANDS = {"ssh": command_to, "slurm": srun_to, "kubernetes": kubectl_to}


def remote_command(seat: Seat, length: int) -> str:
    """The same for the shell of the host, whichever it is."""
    boot = f"import sys; exec(compile(sys.stdin.buffer.read({length}), 'arrival', 'exec'), {{'__name__': 'arrival'}})"
    pythons = [seat.python] if seat.python else _PYTHONS
    tried = " ".join(shlex.quote(python) for python in pythons)
    script = (
        f'for python in {tried}; do if command -v "$python" >/dev/null 2>&1; then exec "$python" -c {shlex.quote(boot)}; fi; done; exit 127'
    )
    return f"exec sh -c {shlex.quote(script)}"


def failure(seat: Seat, code: int, said: str) -> PlimsollError:
    """What a talk that ended early is told as."""
    if code == _NO_PYTHON:
        wanted = seat.python or " and ".join(_PYTHONS)
        return InputError(f"{seat.name}: there is no {wanted}; a host needs Python 3.11 or later, named with 'python' in a lab's file.")
    return (InputError if code == 255 else EngineError)(f"{seat.name}: {sentence(seat, said)}")


def sentence(seat: Seat, said: str) -> str:
    """What ssh's words mean, and what would be right."""
    reached = f"{seat.user}@{seat.address or seat.name}" if seat.user else seat.address or seat.name
    for pattern, meaning in _MEANINGS:
        if re.search(pattern, said, re.IGNORECASE):
            return meaning.format(reached=reached)
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return f"ssh could not reach it ({displayed(lines[-1].rstrip('.'))})." if lines else "the connection ended."


_MEANINGS = (
    (
        r"identification has changed|offending .* key",
        "its key is another than the one that is known; somebody may be in between. When it was made anew, remove the old one: "
        "ssh-keygen -R {reached}.",
    ),
    (r"host key verification failed|no .* host key is known", "its key is not known here; look at it and accept it once: ssh {reached}."),
    (
        r"permission denied|too many authentication",
        "ssh lets nobody in with the keys that are here; try: ssh {reached}, or name a 'key' in a lab's file.",
    ),
    (r"could not resolve", "its name is not known; give its 'address' in a lab's file."),
    (r"connection refused", "nothing listens for ssh there."),
    (r"no route to host|network is unreachable|timed out|timeout", "it does not answer."),
    (r"identity file .* not accessible|load key", "the key file cannot be read."),
)  # fmt: skip
