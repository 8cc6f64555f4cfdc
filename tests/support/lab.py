"""Hosts in network namespaces of this machine, each with a name, a home, processes and an sshd of its own, and one who commands them.

Model: the network of the commanding host holds a bridge (10.77.0.1); host N hangs on it with a cable `evN` (10.77.0.1N), which can be pulled
without a goodbye. A host sees neither the others' processes nor this machine's /tmp, home or `hide`: what runs there was carried there. What
lies in `shared`, all hosts reach as /root/shared, as on a file system of a network.
Their monotonic clocks are 1,000 s apart, exactly: what is estimated of them can be held against the truth.
Limits: root, iproute2, util-linux and openssh-server; all hosts share one kernel, so their clocks run alike, and wall clocks are one.

    with Lab(tmp_path, 3) as lab:
        done = lab.run("run", "oltp-db", "--hosts", "h1,h2,h3", "--target", "/root/t.dat")
        lab.cut("h2")
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from support.patience import HANGS_S, wait_until

COMMAND = os.path.join(os.path.dirname(sys.executable), "plimsoll")
_NET = "10.77.0"
_LOADS = ".local/state/plimsoll/gangs/*/*/*/points/*/intervals.jsonl"
_SSHD = """Port 22
ListenAddress {address}
HostKey /root/host_key
AuthorizedKeysFile /root/.ssh/authorized_keys
PidFile none
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin yes
StrictModes no
UsePAM no
MaxStartups 100
PrintMotd no
"""
_HOST = """set -e
hostname {name}
mount --bind {home} /root
mkdir -p /root/shared
mount --bind {shared} /root/shared
mount -t tmpfs -o size=2g none /tmp
{hide}
exec /usr/sbin/sshd -D -e -f /root/sshd_config
"""


def missing() -> str | None:
    """Why there can be no namespaces here."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    for command in ("ip", "unshare", "nsenter", "ssh", "ssh-keygen", "ss"):
        if shutil.which(command) is None:
            return f"{command} is not installed (dev/system.sh installs it)"
    if not os.path.exists("/usr/sbin/sshd"):
        return "sshd is not installed (dev/system.sh installs openssh-server)"
    if subprocess.run(["unshare", "--net", "--time", "--mount", "--pid", "--fork", "true"], capture_output=True, check=False).returncode:
        return "namespaces are not allowed here"
    return None


class Host:
    """One host: its address, its home as seen from here, and the process that is its first."""

    def __init__(self, name: str, number: int, home: Path) -> None:
        self.name = name
        self.number = number
        self.address = f"{_NET}.{10 + number}"
        self.home = home
        #: By how much its monotonic clock is ahead of ours, which nothing on it knows.
        self.ahead_s = 1000 * number
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def init(self) -> int:
        """The process that everything of the host hangs on, by its number here."""
        assert self.process is not None
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return int(children[0])


class Lab:
    """See the module."""

    def __init__(self, place: Path, count: int, hide: Sequence[str] = ()) -> None:
        self.place = place
        self.results = place / "results"
        self.home = place / "home"
        self.shared = place / "shared"
        self.hosts = {f"h{number}": Host(f"h{number}", number, place / f"h{number}") for number in range(1, count + 1)}
        self._hide = hide
        #: What hosts had stored when the last command began.
        self._loads: set[Path] = set()
        self._tag = f"plimsoll{os.getpid()}-{place.name[-4:]}"

    def __enter__(self) -> Self:
        try:
            self._make()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, _kind: type[BaseException] | None, _problem: BaseException | None, _trace: TracebackType | None) -> None:
        self.close()

    def _make(self) -> None:
        (self.home / ".ssh").mkdir(parents=True, mode=0o700)
        self.shared.mkdir()
        self._key(self.home / ".ssh" / "id_ed25519")
        self._namespace(self.namespace)
        self._ip("link", "add", "br0", "type", "bridge")
        self._ip("link", "set", "br0", "up")
        self._ip("addr", "add", f"{_NET}.1/24", "dev", "br0")
        for host in self.hosts.values():
            self._host(host)
        known = [f"{host.name},{host.address} {self._public(host)}" for host in self.hosts.values()]
        self.known_hosts.write_text("\n".join(known) + "\n")
        config = [f"Host {host.name}\n  HostName {host.address}\n  HostKeyAlias {host.name}" for host in self.hosts.values()]
        common = f"Host *\n  IdentityFile {self.home}/.ssh/id_ed25519\n  IdentitiesOnly yes\n  UserKnownHostsFile {self.known_hosts}\n"
        (self.home / ".ssh" / "config").write_text("\n".join(config) + f"\n{common}")
        for host in self.hosts.values():
            wait_until(partial(self.answers, host.name), f"the sshd of {host.name} answers")

    @property
    def namespace(self) -> str:
        """The network of who commands."""
        return f"{self._tag}-0"

    @property
    def known_hosts(self) -> Path:
        return self.home / ".ssh" / "known_hosts"

    def _host(self, host: Host) -> None:
        space = f"{self._tag}-{host.number}"
        self._namespace(space)
        here, there = f"ev{host.number}", "eth0"
        self._ip("link", "add", here, "type", "veth", "peer", "name", there, "netns", space)
        self._ip("link", "set", here, "master", "br0")
        self._ip("link", "set", here, "up")
        self._ip("addr", "add", f"{host.address}/24", "dev", there, space=space)
        self._ip("link", "set", there, "up", space=space)
        (host.home / ".ssh").mkdir(parents=True)
        self._key(host.home / "host_key")
        shutil.copy(self.home / ".ssh" / "id_ed25519.pub", host.home / ".ssh" / "authorized_keys")
        (host.home / "sshd_config").write_text(_SSHD.format(address=host.address))
        self.boot(host.name)

    def boot(self, name: str) -> None:
        """Start a host, with what its home has kept."""
        host = self.hosts[name]
        os.makedirs("/run/sshd", exist_ok=True)
        hidden = "\n".join(f"mount -t tmpfs none {path}" for path in self._hide)
        script = _HOST.format(name=host.name, home=host.home, shared=self.shared, hide=hidden)
        clock = ["--time", "--monotonic", str(host.ahead_s)]
        spaces = ["unshare", *clock, "--uts", "--mount", "--pid", "--ipc", "--fork", "--kill-child=SIGKILL", "--mount-proc"]
        with open(self.place / f"{name}.log", "ab") as log:
            host.process = subprocess.Popen(
                ["ip", "netns", "exec", f"{self._tag}-{host.number}", *spaces, "sh", "-c", script],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root"},
            )  # fmt: skip

    def file(self, name: str = "lab.toml", text: str = "", **keys: str) -> str:
        """The file of a lab of these hosts, with keys of its own, and lines for each host."""
        lines = [f'{key} = "{value}"' for key, value in keys.items()]
        for host in self.hosts.values():
            lines += ["", "[[host]]", f'name = "{host.name}"', text.replace("{host}", host.name)]
        path = self.place / name
        path.write_text("\n".join(lines) + "\n")
        return str(path)

    def environment(self, **more: str) -> dict[str, str]:
        """What a command of the commanding host finds around itself."""
        bare = {name: value for name, value in os.environ.items() if not name.startswith(("SSH_", "XDG_", "PLIMSOLL_"))}
        return {**bare, "HOME": str(self.home), **more}

    @property
    def entering(self) -> list[str]:
        """What brings a command to the commanding host, whose keys and configuration of ssh are its own."""
        # ssh looks into the home that the system knows, whatever HOME is.
        own = f'mkdir -p ~root/.ssh && mount --bind {self.home}/.ssh ~root/.ssh && exec "$@"'
        return ["ip", "netns", "exec", self.namespace, "unshare", "--mount", "sh", "-c", own, "sh"]

    def start(self, *words: str, **more: str) -> subprocess.Popen[str]:
        """Plimsoll's command on the commanding host, running."""
        self._loads = {path for host in self.hosts.values() for path in host.home.glob(_LOADS)}
        out = [] if words[:2] == ("hosts", "check") else ["--out", str(self.results)]
        return subprocess.Popen(
            [*self.entering, COMMAND, *words, *out],
            cwd=self.place, env=self.environment(**more), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def run(self, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
        """Plimsoll's command on the commanding host, ended."""
        process = self.start(*words, **more)
        out, err = process.communicate(timeout=HANGS_S)
        return subprocess.CompletedProcess(words, process.returncode, out, err)

    def cut(self, name: str) -> None:
        """Pull the cable: nothing arrives any more, and nobody is told."""
        self._ip("link", "set", f"ev{self.hosts[name].number}", "down")

    def mend(self, name: str) -> None:
        """Plug it in again."""
        self._ip("link", "set", f"ev{self.hosts[name].number}", "up")

    def off(self, name: str) -> None:
        """Switch a host off: the cable is dead first, so that nothing says goodbye."""
        self.cut(name)
        host = self.hosts[name]
        with suppress(ProcessLookupError):
            os.kill(host.init, signal.SIGKILL)
        assert host.process is not None
        host.process.wait(HANGS_S)

    def on(self, name: str, *command: str) -> subprocess.CompletedProcess[str]:
        """What a command says that runs on a host."""
        return subprocess.run(
            ["nsenter", f"--target={self.hosts[name].init}", "--all", *command], capture_output=True, text=True, check=False
        )

    def processes(self, name: str) -> list[str]:
        """The commands that run on a host, its sshd not among them."""
        said = self.on(name, "ps", "-eo", "args=").stdout.splitlines()
        return [line for line in said if not line.startswith(("ps ", "sshd", "/usr/sbin/sshd", "nsenter"))]

    def listening(self, name: str) -> list[str]:
        """Where a host listens, its sshd not among them, as ``address:port``."""
        said = self.on(name, "ss", "-Hltn").stdout.splitlines()
        return [line.split()[3] for line in said if not line.split()[3].endswith(":22")]

    def wait_for_load(self, process: subprocess.Popen[str], but: str = "") -> None:
        """Until every host has stored an interval; that of one may not be seen from here."""
        known = self._loads
        homes = [host.home for host in self.hosts.values() if host.name != but]

        def is_loaded(home: Path) -> bool:
            return any(path not in known and path.stat().st_size > 0 for path in home.glob(_LOADS))

        wait_until(lambda: all(map(is_loaded, homes)) or process.poll() is not None, "every host measures")
        assert process.poll() is None, process.communicate()

    def heads(self) -> list[tuple[str, str]]:
        """The directory of each gang on the commanding host, and where its Ray is reached."""
        import json

        found = []
        for path in self.home.glob(".local/state/plimsoll/gangs/*/gang.json"):
            nest = json.loads(path.read_text())["nest"]
            found.append((nest, json.loads(Path(nest, "switchboard.json").read_text())["address"]))
        return found

    def points(self) -> list[Any]:
        """The stored results of all points."""
        import json

        return [json.loads(path.read_text()) for path in sorted(self.results.glob("*/points/*/result.json"))]

    def close(self) -> None:
        """Switch everything off and take it away."""
        for host in self.hosts.values():
            if host.process is not None:
                with suppress(ProcessLookupError, OSError, IndexError):
                    os.kill(host.init, signal.SIGKILL)
                with suppress(ProcessLookupError):
                    host.process.kill()
                host.process.wait()
        for number in range(len(self.hosts) + 1):
            subprocess.run(["ip", "netns", "del", f"{self._tag}-{number}"], capture_output=True, check=False)

    def _namespace(self, name: str) -> None:
        subprocess.run(["ip", "netns", "add", name], check=True)
        self._ip("link", "set", "lo", "up", space=name)

    def _ip(self, *words: str, space: str | None = None) -> None:
        subprocess.run(["ip", "-n", space or self.namespace, *words], check=True)

    def answers(self, name: str) -> bool:
        """Whether its sshd lets the commanding host in."""
        command = [*self.entering, "ssh", "-oBatchMode=yes", "-oConnectTimeout=5", name, "true"]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0

    def _public(self, host: Host) -> str:
        return (host.home / "host_key.pub").read_text().strip()

    def _key(self, path: Path) -> None:
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)], check=True)
