"""A Ray cluster that somebody has started on the hosts of a lab, by hand, as Ray's documentation says: nothing of it is Plimsoll's.

with Cluster(lab, {"h1": {...}, "h2": {...}}) as cluster:
    lab.file(launcher="ray", cluster=cluster.address, **cluster.papers)
    cluster.state()                      # its nodes, actors and jobs that are alive
"""

from __future__ import annotations

import json
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from plimsoll.gang.credentials import Credentials, settings
from support.lab import Lab

#: The Python of the hosts, which reach this environment and not Plimsoll in it.
_PYTHON = f"/usr/bin/python{sysconfig.get_python_version()}"
_RAY = (_PYTHON, "-s", "-m", "ray.scripts.scripts")
_START = ("--disable-usage-stats", "--num-cpus=0", "--object-store-memory=80000000")
_STATE = """import json, sys
from ray._raylet import GcsClient
from ray.core.generated.gcs_pb2 import ActorTableData
client = GcsClient(address=sys.argv[1])
nodes = sorted(one.node_name for one in client.get_all_node_info(timeout=20).values() if one.state == 0)
import ray
ray.init(address=sys.argv[1], _node_ip_address=sys.argv[2], log_to_driver=False, logging_level="ERROR")
from ray._private.state import actors
alive = [one["ActorClassName"] for one in actors().values() if one["State"] == "ALIVE"]
print(json.dumps({"nodes": nodes, "actors": alive}))
"""
_VERSION = """import sys
from ray._raylet import GcsClient
client = GcsClient(address=sys.argv[1])
client.internal_kv_put(b"CLUSTER_METADATA", sys.argv[2].encode(), True, b"cluster")
"""


class Cluster:
    """See the module: the head is the first of ``hosts``. ``lacking`` is what it is started without: "tls", "token"."""

    def __init__(self, lab: Lab, hosts: Sequence[str], port: int = 6379, lacking: str = "") -> None:
        self._lab = lab
        self._hosts = hosts
        self._port = port
        self._lacking = lacking
        self.credentials = Credentials()
        self.folder = lab.place / f"papers-{port}"
        self.before: dict[str, list[str]] = {}
        self._own: dict[str, set[int]] = {}

    @property
    def address(self) -> str:
        """Where its head is."""
        return f"{self._lab.hosts[self._hosts[0]].address}:{self._port}"

    @property
    def papers(self) -> dict[str, str]:
        """What a lab's file says of them, for the commanding host."""
        names = {"token": "token", "authority": "ca.pem", "certificate": "cert.pem", "certificate_key": "key.pem"}
        return {key: str(self.folder / name) for key, name in names.items()}

    def __enter__(self) -> Self:
        _written(self.folder, self.credentials, "10.77.0.1")
        for number, name in enumerate(self._hosts):
            host = self._lab.hosts[name]
            _written(host.home / f"ray{self._port}", self.credentials, host.address)
            joining = [f"--address={self.address}"] if number else ["--head", f"--port={self._port}", "--include-dashboard=false"]
            known = self._processes(name)
            done = self._on(
                name,
                *_RAY,
                "start",
                *joining,
                f"--node-ip-address={host.address}",
                f"--node-name={name}",
                f"--temp-dir=/tmp/ray{self._port}",
                *_START,
            )
            assert done.returncode == 0, done.stdout + done.stderr
            self._own[name] = self._processes(name) - known
            self.before[name] = self._lab.listening(name)
        return self

    def __exit__(self, _kind: type[BaseException] | None, _problem: BaseException | None, _trace: TracebackType | None) -> None:
        for name, processes in self._own.items():
            for process in processes | self._children(name, processes):
                self._lab.on(name, "kill", "-9", str(process))

    def state(self) -> Any:
        """Its nodes and actors that are alive, as its head says."""
        name = self._hosts[0]
        done = self._on(name, _PYTHON, "-c", _STATE, self.address, self._lab.hosts[name].address)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[0])

    def says_it_was_started_with(self, **versions: str) -> None:
        """What its directory tells whoever joins."""
        done = self._on(self._hosts[0], _PYTHON, "-c", _VERSION, self.address, json.dumps({**versions, "ray_init_cluster": False}))
        assert done.returncode == 0, done.stderr

    def _on(self, name: str, *command: str) -> Any:
        words = {
            **settings(f"/root/ray{self._port}"),
            "RAY_USAGE_STATS_ENABLED": "0",
            "HOME": "/root",
            "PYTHONPATH": sysconfig.get_path("purelib"),
        }
        if "tls" in self._lacking:
            words["RAY_USE_TLS"] = "0"
        if "token" in self._lacking:
            words["RAY_AUTH_MODE"] = "disabled"
        return self._lab.on(name, "env", "-C", "/root", *(f"{key}={value}" for key, value in words.items()), *command)

    def _processes(self, name: str) -> set[int]:
        return {int(line) for line in self._lab.on(name, "ps", "-eo", "pid=").stdout.split()}

    def _children(self, name: str, processes: set[int]) -> set[int]:
        found = [line.split() for line in self._lab.on(name, "ps", "-eo", "pid=,ppid=").stdout.splitlines()]
        return {int(child) for child, parent in found if int(parent) in processes}


def _written(folder: Path, credentials: Credentials, address: str) -> None:
    folder.mkdir(exist_ok=True)
    for name, text in credentials.files([address]).items():
        (folder / name).write_text(text)
