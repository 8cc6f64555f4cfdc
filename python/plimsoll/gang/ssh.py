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


def check_key(seat: Seat) -> None:
    """Raises `InputError` for a key that cannot be read: ssh would only say that nobody is let in."""
    if seat.key:
        try:
            with open(os.path.expanduser(seat.key), "rb"):
                pass
        except OSError as problem:
            why = (problem.strerror or str(problem)).lower()
            raise InputError(f"{seat.name}: the key file {displayed(seat.key)} cannot be read ({why}); name another with 'key'.") from None


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


def failure(seat: Seat, code: int, said: str, launcher: str = "ssh") -> PlimsollError:
    """What a talk that ended early is told as, in the words of what reached the host."""
    if code == _NO_PYTHON:
        wanted = seat.python or " and ".join(_PYTHONS)
        return InputError(f"{seat.name}: there is no {wanted}; a host needs Python 3.11 or later, named with 'python' in a lab's file.")
    meant = _meant(seat, said, launcher)
    return (InputError if meant or code == _SSH_FAILED else EngineError)(f"{seat.name}: {sentence(seat, said, launcher)}")


def sentence(seat: Seat, said: str, launcher: str = "ssh") -> str:
    """What the words of ssh, srun or kubectl mean, and what would be right."""
    if (meant := _meant(seat, said, launcher)) is not None:
        return meant
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    tool = _TOOLS.get(launcher, launcher)
    return f"{tool} could not reach it ({displayed(lines[-1].rstrip('.'))})." if lines else "the connection ended."


def _meant(seat: Seat, said: str, launcher: str) -> str | None:
    """What words that are known mean."""
    address = seat.address or seat.name
    reached = f"{seat.user}@{address}" if seat.user else address
    # ssh-keygen calls a host at another port so.
    known = f"'[{address}]:{seat.port}'" if seat.port and seat.port != _SSH_PORT else address
    if seat.known_hosts:
        known = f"{known} -f {shlex.quote(seat.known_hosts)}"
    where = f" -p {seat.port}" if seat.port else ""
    for pattern, meaning in _MEANINGS.get(launcher, ()):
        if re.search(pattern, said, re.IGNORECASE):
            return meaning.format(reached=reached, address=address, known=known, port=where, key=seat.key)
    return None


_TOOLS = {"slurm": "srun", "kubernetes": "kubectl exec", "ray": "the cluster"}
_SSH_FAILED, _SSH_PORT = 255, 22
_OF_SSH = (
    (
        r"identification has changed|offending .* key",
        "its key is another than the one that is known; somebody may be in between. When it was made anew, remove the old one: "
        "ssh-keygen -R {known}.",
    ),
    (
        r"host key verification failed|no .* host key is known",
        "its key is not known here; look at it and accept it once: ssh{port} {reached}.",
    ),
    (r"load key", "the key file {key} is no key that ssh can use here; name another with 'key', or have the agent hold it."),
    (
        r"permission denied|too many authentication",
        "ssh lets nobody in with the keys that are here; try: ssh{port} {reached}, or name a 'key' in a lab's file.",
    ),
    (r"could not resolve", "its name is not known; give its 'address' in a lab's file."),
    (r"connection refused", "nothing listens for ssh there; start sshd on it, or name its 'port' in a lab's file."),
    (
        r"no route to host|network is unreachable|timed out|timeout",
        "it does not answer; switch it on, or give its 'address' in a lab's file.",
    ),
)  # fmt: skip
_OF_SRUN = (
    (
        r"invalid node name|node configuration is not available|requested node.* not in",
        "Slurm has no node {address} for this job; name nodes of the allocation that this command runs in.",
    ),
    (
        r"unable to confirm allocation|no such job|invalid job id|expired|job has been (cancelled|revoked)|unable to create step",
        "there is no allocation of Slurm here; run the command in one: plimsoll hosts manifest prints the line.",
    ),
    (
        r"unable to contact slurm|slurm_load|connection refused|unable to resolve",
        "Slurm does not answer; run the command where srun works.",
    ),
    (
        r"task launch failed|node failure|communication connection failure",
        "Slurm cannot start anything on {address}; look at it with sinfo.",
    ),
)
_OF_KUBECTL = (
    (
        r"pods? \"?.*\"? not found",
        "there is no pod {address}; make the pods first: plimsoll hosts manifest --hosts LAB.toml | kubectl apply -f -",
    ),
    (
        r"connection .*refused|unable to connect|couldn't get|no configuration has been provided|context .*does not exist",
        "the cluster of Kubernetes is not reached; kubectl get pods has to work here.",
    ),
    (r"forbidden|unauthorized|you must be logged in", "Kubernetes does not let you exec into the pod {address}."),
    (
        r"container not found|unable to upgrade connection|not assigned|cannot exec into|is not running|current phase",
        "the pod {address} does not run yet, or no longer; look at it: kubectl describe pod {address}.",
    ),
    (r"executable file not found|no such file", "the pod {address} has no sh; it needs an image that has Python."),
)
_MEANINGS = {"ssh": _OF_SSH, "slurm": _OF_SRUN, "kubernetes": _OF_KUBECTL}
