"""Servers on loopback that runs are sent to: OpenSSH's sshd, pyftpdlib with TLS, aiosmtpd; each a process of its own, with keys of its own.

Model: each listens on a free port that it was given as an open socket or has found itself. Faults are files in the server's directory or
words at its start, so that a test can change them while it runs.

    with ssh_server(tmp_path) as server:
        server.url("inbox")                # sftp://user@127.0.0.1:40001//tmp/…/inbox
"""

from __future__ import annotations

import contextlib
import datetime
import getpass
import ipaddress
import os
import shutil
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from support.patience import HANGS_S

SSHD = "/usr/sbin/sshd"
_SSHD = """\
Port {port}
ListenAddress 127.0.0.1
HostKey {home}/host_key
PidFile none
AuthorizedKeysFile {home}/authorized
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin yes
PermitUserEnvironment no
Subsystem sftp {sftp}
{more}
"""


def missing_ssh() -> str | None:
    """Why there can be no server of SSH here; None where there can."""
    if not (os.path.exists(SSHD) and shutil.which("sftp") and shutil.which("ssh-keygen")):
        return "sshd is not installed (dev/system.sh installs openssh-server)"
    return None


def free_port() -> int:
    """A port that nobody has at the moment."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@dataclass
class Server:
    """A server that runs; ``inbox`` is its directory, ``home`` has its keys."""

    scheme: str
    port: int
    home: Path
    inbox: Path
    process: subprocess.Popen
    words: list[str] = field(default_factory=list)
    user: str = getpass.getuser()

    def url(self, path: str = "", user: str | None = None, scheme: str | None = None) -> str:
        """Its address, with a password behind the user where one is given there."""
        return f"{scheme or self.scheme}://{user or self.user}@127.0.0.1:{self.port}/{path}"

    def files(self) -> list[str]:
        """What lies in the inbox, hidden files as well."""
        return sorted(os.listdir(self.inbox))


@contextlib.contextmanager
def ssh_server(home: Path, sftp: str = "internal-sftp", more: str = ""):
    """sshd for this user alone, who comes in with ``home/key``; ``known_hosts`` names it."""
    home.mkdir(parents=True, exist_ok=True)
    inbox = home / "in box"
    inbox.mkdir(exist_ok=True)
    for name in ("host_key", "key"):
        if not (home / name).exists():
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(home / name)], check=True)
    shutil.copy(home / "key.pub", home / "authorized")
    if os.geteuid() == 0:
        os.makedirs("/run/sshd", exist_ok=True)
    for _ in range(5):
        port = free_port()
        (home / "config").write_text(_SSHD.format(port=port, home=home, sftp=sftp, more=more))
        with open(home / "log", "wb") as log:
            process = subprocess.Popen([SSHD, "-D", "-e", "-f", str(home / "config")], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        if _listens(process, port):
            break
    else:
        raise AssertionError((home / "log").read_text())
    kind, key, _ = (home / "host_key.pub").read_text().split()
    (home / "known_hosts").write_text(f"[127.0.0.1]:{port} {kind} {key}\n")
    words = ["--identity", str(home / "key"), "--known-hosts", str(home / "known_hosts")]
    try:
        yield Server("sftp", port, home, inbox, process, words)
    finally:
        _end(process)


@contextlib.contextmanager
def python_server(program: str, home: Path, *words: str, scheme: str, user: str = "lab"):
    """One of ``support/{program}.py``, which prints its port."""
    inbox = home / "in box"
    inbox.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, str(Path(__file__).with_name(f"{program}.py")), str(inbox), *words]
    with open(home / "log", "wb") as log:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
    try:
        line = process.stdout.readline()
        assert line.strip().isdigit(), (home / "log").read_text()
        yield Server(scheme, int(line), home, inbox, process, user=user)
    finally:
        _end(process)
        process.stdout.close()


def certificate(home: Path, name: str = "127.0.0.1") -> Path:
    """A certificate of a server and its key, in one file; who has the file trusts the server."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    named = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    alternative = x509.IPAddress(ipaddress.ip_address(name)) if name[0].isdigit() else x509.DNSName(name)
    made = (
        x509.CertificateBuilder()
        .subject_name(named)
        .issuer_name(named)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=2))
        .add_extension(x509.SubjectAlternativeName([alternative]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    home.mkdir(parents=True, exist_ok=True)
    path = home / f"{name}.pem"
    private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return path


def _listens(process: subprocess.Popen, port: int) -> bool:
    deadline = time.monotonic() + HANGS_S
    while process.poll() is None and time.monotonic() < deadline:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 5):
            return True
        time.sleep(0.02)
    return False


def _end(process: subprocess.Popen) -> None:
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
