"""The nodes of a Ray cluster that runs already, as its directory tells them, and which of them a lab means.

Model: asked of the directory alone, so that nothing has to run here for it; in a process of its own, since the command never imports Ray. A
node is called by its host's name, or where several have that, by the name that it was started with (`ray start --node-name`).

    python -m plimsoll.gang.nodes 10.0.0.1:6379           # {"ray": "2.60.0", "python": "3.11.7", "nodes": [{"id": …, "name": "db1", …}]}
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from typing import Any

from plimsoll.displayed import displayed
from plimsoll.errors import EngineError, InputError

_ANSWERS_S = 20.0
#: Where Ray keeps what a cluster was started with (`ray._common.usage`).
_METADATA, _NAMESPACE = b"CLUSTER_METADATA", b"cluster"


@dataclass(frozen=True)
class Node:
    """One that is alive: ``called`` is how it was named, ``host`` its host's name, ``socket`` where its objects are reached."""

    id: str
    called: str
    host: str
    address: str
    socket: str
    session: str

    @property
    def names(self) -> set[str]:
        """All by which a lab can mean it."""
        return {self.id, self.called, self.host, self.address}


@dataclass(frozen=True)
class Found:
    """A cluster's versions and the nodes that are alive."""

    ray: str
    python: str
    nodes: tuple[Node, ...]


def found_at(address: str) -> Found:
    """What the directory says; for a process that may import Ray, with its settings in the environment."""
    # Compiled and generated, both without types.
    raylet: Any = import_module("ray._raylet")
    messages: Any = import_module("ray.core.generated.gcs_pb2")
    client = raylet.GcsClient(address=address)
    said = json.loads(client.internal_kv_get(_METADATA, _NAMESPACE, timeout=_ANSWERS_S) or b"{}")
    alive = [one for one in client.get_all_node_info(timeout=_ANSWERS_S).values() if one.state == messages.GcsNodeInfo.GcsNodeState.ALIVE]
    nodes = [
        Node(
            one.node_id.hex(),
            one.node_name,
            one.node_manager_hostname,
            one.node_manager_address,
            one.object_store_socket_name,
            one.object_store_socket_name.rpartition("/sockets/")[0],
        )
        for one in alive
    ]
    return Found(
        str(said.get("ray_version")),
        str(said.get("python_version")),
        tuple(sorted(nodes, key=lambda node: (node.host, node.called, node.id))),
    )


def nodes_from(address: str, settings: Mapping[str, str]) -> Found:
    """The same for the command. Raises `EngineError` where the directory does not answer."""
    done = subprocess.run(
        [sys.executable, "-m", "plimsoll.gang.nodes", address],
        env={**os.environ, **settings}, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        raise EngineError(
            f"{address}: the cluster does not say what its nodes are ({displayed(lines[-1] if lines else 'it said nothing')})."
        )
    said = json.loads(done.stdout)
    return Found(said["ray"], said["python"], tuple(Node(**node) for node in said["nodes"]))


def check_versions(found: Found, address: str, ray: str, python: str) -> None:
    """Raises `InputError` for a cluster that this Ray cannot join, or that runs what was not made for its Python."""
    if found.ray != ray:
        raise InputError(
            f"{address}: the cluster runs Ray {displayed(found.ray)}, and {ray} is here; both have to be the same: "
            f"pip install ray=={displayed(found.ray)}."
        )
    if found.python.split(".")[:2] != python.split(".")[:2]:
        theirs, ours = ".".join(found.python.split(".")[:2]), ".".join(python.split(".")[:2])
        raise InputError(f"{address}: the cluster runs Python {displayed(theirs)}, and {ours} is here; install Plimsoll for the cluster's.")


def names_of(nodes: Sequence[Node], address: str) -> dict[str, Node]:
    """Every node by the name that it gets in results. Raises `InputError` where two cannot be told apart."""
    hosts = Counter(node.host for node in nodes)
    named = [(node.host if hosts[node.host] == 1 else node.called, node) for node in nodes]
    twice = [name for name, count in Counter(name for name, _ in named).items() if count > 1]
    if twice:
        raise InputError(
            f"{address}: several nodes are called {displayed(twice[0])}; start each with a name of its own (ray start --node-name=…), "
            "or name them as [[host]] with their 'address', which may be a node's id."
        )
    return dict(named)


def meant(nodes: Sequence[Node], seats: Iterable[tuple[str, str]], address: str) -> dict[str, Node]:
    """The node of each host, by the word that a lab has for it. Raises `InputError` where that is none, several, or another's."""
    chosen: dict[str, Node] = {}
    for name, word in seats:
        fitting = [node for node in nodes if word in node.names]
        if not fitting:
            known = ", ".join(sorted({node.called if node.called != node.address else node.host for node in nodes})) or "none"
            raise InputError(f"{name}: the cluster at {address} has no node {displayed(word)} that is alive; it has {displayed(known)}.")
        if len(fitting) > 1:
            raise InputError(
                f"{name}: {displayed(word)} is the name of {len(fitting)} nodes of the cluster at {address}; say which by its name or id."
            )
        for other, node in chosen.items():
            if node.id == fitting[0].id:
                raise InputError(f"{name}: it is the same node of the cluster as {other}; name each node once.")
        chosen[name] = fitting[0]
    return chosen


def main(address: str) -> int:
    """Print what the directory says."""
    found = found_at(address)
    said: dict[str, Any] = {"ray": found.ray, "python": found.python, "nodes": [asdict(node) for node in found.nodes]}
    sys.stdout.write(json.dumps(said))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
