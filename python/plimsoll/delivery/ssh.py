"""Delivery through SSH: to a server of SFTP, and by scp to one that has a shell.

Model: OpenSSH's own programs carry it, so keys, agents, hardware keys, ~/.ssh/config and jump hosts work as they do by hand. They are never
asked anything: a host key that is not known yet, or another than before, ends it, whatever the user's configuration says. A server of SFTP
needs nothing else; scp also runs sha256sum, mv and rm there.
Limits: no passwords. What went wrong is told by what the programs say on stderr, in English.

    sftp_destination(address_of("sftp://lab@nas7/inbox", ""), SshKeys(identity="id_ed25519"))
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import IO

from plimsoll.delivery.address import Address
from plimsoll.delivery.dispatch import NotNow, said
from plimsoll.delivery.inbox import Box, InboxDestination
from plimsoll.displayed import displayed, quoted
from plimsoll.errors import InputError, TargetError
from plimsoll.passwords import kept
from plimsoll.units import binary

#: What no configuration may turn off: nothing is asked, no unknown host is believed, and a host that falls silent is given up.
_ALWAYS = {
    "BatchMode": "yes",
    "StrictHostKeyChecking": "yes",
    "NoHostAuthenticationForLocalhost": "no",
    "UpdateHostKeys": "no",
    "CheckHostIP": "no",
    "ClearAllForwardings": "yes",
    "ForwardAgent": "no",
    "PermitLocalCommand": "no",
    "RequestTTY": "no",
    "LogLevel": "ERROR",
    "ConnectTimeout": "30",
    "ServerAliveInterval": "15",
    "ServerAliveCountMax": "4",
}
#: Exit codes of our commands over there.
_NO_FOLDER, _NO_FILE = 97, 98
_LOST = 255
_NO_ROOM = "it has no room left"
#: In what the programs say, what it means; the first that is found counts.
_FINAL = (
    (r"REMOTE HOST IDENTIFICATION HAS CHANGED|Host key for \S+ has changed|Offending", "its host key is another than the known one"),
    (
        r"Host key verification failed|host key is known for",
        "its host key is not known here; compare it at that machine, add it to ~/.ssh/known_hosts, or name a file with --known-hosts FILE",
    ),
    (
        r"Permission denied \(|Too many authentication failures|no mutual signature",
        "it takes none of the keys; give one with --identity FILE, or load it into the agent",
    ),
    (r"subsystem request failed", "it has no SFTP; use scp://"),
    (
        r"ermission denied|perations? (not permitted|unsupported)|[Rr]ead-only file system",
        "it does not let files be written or renamed there",
    ),
)


@dataclass(frozen=True)
class SshKeys:
    """A file with a private key, and one with the keys of hosts; None leaves it to ssh's own."""

    identity: str | None = None
    known_hosts: str | None = None


@dataclass(frozen=True)
class _Server:
    """The machine at the other end, for the programs."""

    address: Address
    keys: SshKeys

    def words(self, program: str) -> list[str]:
        """The program with everything but what it is for."""
        options = {**_ALWAYS, **({"User": self.address.user} if self.address.user else {})}
        options |= {} if self.address.port is None else {"Port": str(self.address.port)}
        if self.keys.identity is not None:
            options |= {"IdentityFile": _file(self.keys.identity), "IdentitiesOnly": "yes"}
        if self.keys.known_hosts is not None:
            options |= {"UserKnownHostsFile": _file(self.keys.known_hosts), "GlobalKnownHostsFile": "/dev/null"}
        return [program, *(word for key, value in options.items() for word in ("-o", f"{key}={value}"))]

    def run(self, words: Sequence[str], stdin: str = "", **more: str | tuple[int, ...]) -> subprocess.CompletedProcess[str]:
        """Run a program to its end; raises `NotNow` where the connection broke or never was."""
        environment = {**os.environ, "LC_ALL": "C"}
        try:
            done = subprocess.run(
                words,
                check=False,
                input=stdin,
                capture_output=True,
                text=True,
                errors="replace",
                env=environment,
                **more,  # type: ignore[call-overload]
            )
        except OSError as problem:
            raise TargetError(f"{words[0]} cannot be started ({str(problem.strerror).lower()}); install openssh-client.") from None
        assert isinstance(done, subprocess.CompletedProcess)
        if done.returncode == _LOST or "onnection closed" in done.stderr or "lost connection" in done.stderr:
            raise self.trouble(done.stderr)
        return done

    def trouble(self, stderr: str) -> TargetError | NotNow:
        """What a program's last words mean."""
        for pattern, sentence in _FINAL:
            if re.search(pattern, stderr):
                return TargetError(f"{self.address.shown}: {sentence}.")
        if re.search(r"[Nn]o space left|[Qq]uota exceeded", stderr):
            return NotNow(_NO_ROOM)
        lines = [
            line for line in stderr.splitlines() if line.strip() and not re.match(r"Connection closed\.?\s*$|scp: Connection closed", line)
        ]
        return NotNow(said(lines[-1]) if lines else "the connection was closed")

    def no_folder(self) -> TargetError:
        """What is said where the directory is not there."""
        path = self.address.path
        where = "" if path.startswith("/") else " below the directory in which its user begins; a whole path has two slashes, //srv/inbox"
        return TargetError(f"{self.address.shown}: there is no directory {quoted(displayed(path or '.'))}{where}.")


@dataclass(frozen=True)
class _SftpBox:
    """The directory, by sftp; programs work in the directory ``here``, where nothing needs quoting."""

    server: _Server
    here: str

    def sha256(self, name: str) -> str | None:
        back = os.path.join(self.here, "back")
        try:
            # A server may open the file and then refuse to read it: what is here then is empty, or half of it.
            if self._tried(f"get {name} back").returncode != 0:
                return None
            with open(back, "rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
        finally:
            if os.path.exists(back):
                os.unlink(back)

    def size(self, name: str) -> int | None:
        for line in self._do(f"-ls -ln {name}").splitlines():
            words = line.split()
            if words[-1:] == [name] and len(words) > 5 and words[4].isdigit():
                return int(words[4])
        return None

    def put(self, name: str, parcel: IO[bytes]) -> None:
        # Flushed at the other end where it can be.
        done = self._tried(f"put -f /dev/fd/{parcel.fileno()} {name}", parcel.fileno())
        if done.returncode == 0:
            return
        problem = self.server.trouble(done.stderr)
        # The protocol has no word for a full disk: a write fails, and how much is free can be asked.
        left = self._free_bytes() if isinstance(problem, NotNow) else None
        if left is not None and left < os.fstat(parcel.fileno()).st_size:
            raise NotNow(f"{_NO_ROOM} ({binary(left)} free)")
        raise problem

    def _free_bytes(self) -> int | None:
        """What users have left there; None where the server does not tell. Format: sftp(1), df, in KiB."""
        words = self._tried("df").stdout.splitlines()[-1:]
        found = re.match(r"\s*\d+\s+\d+\s+(\d+)\s+\d+\s+\d+%", words[0]) if words else None
        return None if found is None else int(found[1]) << 10

    def rename(self, name: str, to: str) -> None:
        self._do(f"rename {name} {to}")

    def remove(self, name: str) -> None:
        self._do(f"-rm {name}")

    def _do(self, command: str, *passed: int) -> str:
        done = self._tried(command, *passed)
        if done.returncode != 0:
            raise self.server.trouble(done.stderr)
        return done.stdout

    def _tried(self, command: str, *passed: int) -> subprocess.CompletedProcess[str]:
        """The command carried out in the directory, whatever came of it."""
        path = re.sub(r'(["\\])', r"\\\1", self.server.address.path)
        into = [f'cd "{path}"'] if path not in ("", ".") else []
        done = self.server.run(
            [*self.server.words("sftp"), "-b", "-", "--", _bracketed(self.server.address.host)],
            stdin="\n".join([*into, command, ""]),
            cwd=self.here,
            pass_fds=passed,
        )
        # Only a command is echoed before it is tried.
        if done.returncode != 0 and into and not re.search(rf"^sftp> {re.escape(command)}$", done.stdout, re.MULTILINE):
            raise self.server.no_folder()
        return done


@dataclass(frozen=True)
class _ScpBox:
    """The directory, by scp and a shell over there."""

    server: _Server

    def sha256(self, name: str) -> str | None:
        script = (
            f"[ -r {name} ] || exit {_NO_FILE}; for with in sha256sum 'shasum -a 256' 'openssl dgst -sha256'; do"
            f" command -v ${{with%% *}} >/dev/null && exec $with <{name}; done; exit 1"
        )
        done = self._do(script)
        found = re.search(r"\b[0-9a-f]{64}\b", done.stdout)
        return found[0] if found and done.returncode == 0 else None

    def size(self, name: str) -> int | None:
        found = self._do(f"wc -c <{name}").stdout.strip()
        return int(found) if found.isdigit() else None

    def put(self, name: str, parcel: IO[bytes]) -> None:
        folder = self.server.address.path or "."
        whole = shlex.quote(os.path.join(folder if folder.startswith("/") else f"./{folder}", name))
        source = parcel.fileno()
        words = [*self.server.words("scp"), "-O", "--", f"/dev/fd/{source}", f"{_bracketed(self.server.address.host)}:{whole}"]
        done = self.server.run(words, pass_fds=(source,))
        if done.returncode != 0:
            raise self.server.trouble(done.stderr)

    def rename(self, name: str, to: str) -> None:
        self._done(f"(sync -- {name}) 2>/dev/null; mv -f -- {name} {to}")

    def remove(self, name: str) -> None:
        self._done(f"rm -f -- {name}")

    def _done(self, script: str) -> None:
        done = self._do(script)
        if done.returncode != 0:
            raise self.server.trouble(done.stderr)

    def _do(self, script: str) -> subprocess.CompletedProcess[str]:
        folder = self.server.address.path or "."
        # Whatever the user's shell there is, it hands the script to the one that we know.
        whole = shlex.quote(f"cd -- {shlex.quote(folder if folder.startswith('/') else f'./{folder}')} || exit {_NO_FOLDER}; {script}")
        done = self.server.run([*self.server.words("ssh"), "--", self.server.address.host, f"exec sh -c {whole}"])
        if done.returncode == _NO_FOLDER:
            raise self.server.no_folder()
        return done


def ssh_destination(address: Address, keys: SshKeys) -> InboxDestination:
    """The directory of ``address``, by sftp or scp as its scheme says. Raises `InputError` for a password or an absent file."""
    if kept(address.url).get("password"):
        raise InputError(f"{address.shown}: a password is not taken for {address.scheme}; use a key: --identity FILE, or the agent.")
    for option, path in (("--identity", keys.identity), ("--known-hosts", keys.known_hosts)):
        if path is not None and not os.access(path, os.R_OK):
            raise InputError(f"{option} {path}: it is not there or cannot be read; name a file.")
    return InboxDestination(address.shown, partial(_opened, _Server(address, keys)))


@contextmanager
def _opened(server: _Server) -> Iterator[Box]:
    if server.address.scheme == "scp":
        yield _ScpBox(server)
        return
    with tempfile.TemporaryDirectory(prefix="plimsoll-sftp-") as here:
        yield _SftpBox(server, here)


def _file(path: str) -> str:
    """A file's name as an option of ssh: whole, since programs work elsewhere, and without a meaning of its own."""
    escaped = os.path.abspath(path).replace("%", "%%").replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
