"""In a Ray cluster that runs already: joins it from this machine, has a porter on every node, and answers the command over a socket.

Model: a process that goes with its keeper, like a switchboard; when it goes, Ray ends its porters, and nothing of it stays in the cluster
but the entry of a job that has ended. Ray needs a node on every machine from which it is asked: where this one is none, a node of its own
joins for as long, with no place for anybody's work, and listens as the cluster's others do. Before any host is handed anything, every node
is looked at from inside: where somebody without certificate and token could run something, nothing begins.
Limits: what the cluster does for others meanwhile is not known here. Ray's own processes run wherever its owner has them run.

    python -m plimsoll.gang.guest /tmp/plimsoll-gang-x1
"""

from __future__ import annotations

import json
import logging
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, NoReturn

from plimsoll.errors import EngineError, PlimsollError
from plimsoll.gang import exposure, porter
from plimsoll.gang import nest as nests
from plimsoll.gang.exposure import open_to_runners
from plimsoll.gang.nodes import Found, Node, check_versions, found_at, meant
from plimsoll.gang.switchboard import SETTINGS, START, Switchboard, own_path, serve_at

TOLD, REFUSED = "guest.json", "refused.json"
_UP_S = 60.0
#: Calls that a porter answers at once: a relay's, and two of a pipe.
_CALLS = 6
_LOOK_S = 0.1


def guest_here(nest: str, told: Any, settings: dict[str, str]) -> Any:
    """What a keeper beside the command starts: its name, its command, and what stands in its environment besides."""
    with open(os.path.join(nest, TOLD), "w", encoding="utf-8") as file:
        json.dump(told, file)
    return "guest", [sys.executable, "-m", "plimsoll.gang.guest", nest], {**SETTINGS, **settings, "PYTHONPATH": own_path()}


def _own_addresses(address: str) -> set[str]:
    """Those of this machine by which it would be reached by the cluster, and loopback."""
    host, _, port = address.rpartition(":")
    family, kind, protocol, _, place = socket.getaddrinfo(host.strip("[]"), int(port), type=socket.SOCK_DGRAM)[0]
    with socket.socket(family, kind, protocol) as asking:
        # Nothing is sent: the kernel says from where it would be.
        asking.connect(place)
        return {str(asking.getsockname()[0]), "127.0.0.1", "::1"}


def _is_here(node: Node, own: Iterable[str]) -> bool:
    """Whether a node is one of this machine that this user may go through."""
    return node.address in own and os.access(node.socket, os.W_OK)


def _node_here(nest: str, told: Any, found: Found) -> str:
    """The address of a node of the cluster on this machine; one of our own joins where there is none."""
    own = _own_addresses(told["address"]) | ({told["own"]} if told["own"] else set())
    for node in found.nodes:
        if _is_here(node, own):
            return node.address
    address: str = told["own"] or next(one for one in sorted(own, key=lambda one: one in ("127.0.0.1", "::1")))
    joining = (f"--address={told['address']}", f"--node-ip-address={address}", "--resources={}", f"--temp-dir={os.path.join(nest, 'r')}")
    name = f"--node-name=plimsoll-{os.uname().nodename}-{os.getpid()}"
    started = subprocess.run(
        [sys.executable, "-m", "ray.scripts.scripts", "start", name, *START, *joining], stdin=subprocess.DEVNULL, check=False
    )
    if started.returncode:
        raise EngineError(
            f"{told['address']}: this machine is no node of the cluster and cannot become one (ray start said {started.returncode})"
        )
    return address


def _check_closed(ray: Any, nest: str, porters: dict[str, Any], nodes: dict[str, Node]) -> None:
    """Raises `EngineError` for a cluster, or a node of ours, in which strangers could run something."""
    found = open_to_runners(nest)
    found += [
        place for places in ray.get([porters[one].exposed.remote(nodes[one].session) for one in porters], timeout=_UP_S) for place in places
    ]
    if found:
        raise EngineError(f"refused: who comes without certificate and token is answered on {', '.join(found)}")


def _porters(ray: Any, nodes: Iterable[Node]) -> dict[str, Any]:
    """One on each node, without a place of anybody else's."""
    from ray import cloudpickle
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    # Nodes have no Plimsoll before it is carried there.
    for module in (porter, exposure, nests):
        cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]
    actor: Any = ray.remote(porter.Porter)
    return {
        node.id: actor.options(
            num_cpus=0,
            max_restarts=0,
            max_concurrency=_CALLS,
            scheduling_strategy=NodeAffinitySchedulingStrategy(node_id=node.id, soft=False),
        ).remote()
        for node in nodes
    }


def _joined(nest: str) -> None:
    """Join, look at every node, and serve until killed."""
    with open(os.path.join(nest, TOLD), encoding="utf-8") as file:
        told = json.load(file)
    import ray

    found = found_at(told["address"])
    check_versions(found, told["address"], ray.__version__, sys.version.split()[0])
    chosen = meant(found.nodes, told["seats"], told["address"])
    here = _node_here(nest, told, found)
    ray.init(address=told["address"], _node_ip_address=here, log_to_driver=False, configure_logging=False, logging_level=logging.ERROR)
    nodes = {node.id: node for node in found.nodes}
    porters = _porters(ray, found.nodes)
    try:
        ray.get([one.introduce.remote() for one in porters.values()], timeout=_UP_S)
        _check_closed(ray, nest, porters, nodes)
    except ray.exceptions.GetTimeoutError:
        raise EngineError(f"{told['address']}: a node of the cluster has not answered for {_UP_S:.0f} s") from None
    except ray.exceptions.RayError as problem:
        raise EngineError(f"{told['address']}: a node of the cluster cannot be asked ({str(problem).splitlines()[0]})") from None
    signal.signal(signal.SIGTERM, lambda *_: _leave(ray, nest))
    wanted = {node.id for node in chosen.values()}
    for place, one in porters.items():
        if place not in wanted:
            ray.kill(one)
    serve_at(nest, Switchboard(ray, {host: porters[node.id] for host, node in chosen.items()}))


def _leave(ray: Any, nest: str) -> NoReturn:
    """Say goodbye: the job has ended, and a node of ours goes."""
    ray.shutdown()
    own = [process for process in nests.marked(nest) if _name(process) == "raylet"]
    for process in own:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGTERM)
    while any(map(os.path.exists, (f"/proc/{process}" for process in own if _name(process)))):
        time.sleep(_LOOK_S)
    os._exit(0)


def _name(process: int) -> str:
    """What runs there; nothing where it has ended."""
    with suppress(OSError), open(f"/proc/{process}/comm", encoding="utf-8", errors="replace") as file:
        return file.read().strip()
    return ""


def main(nest: str) -> int:
    """Serve; what cannot be is one sentence for who waits."""
    try:
        _joined(nest)
    except PlimsollError as problem:
        said = {"kind": type(problem).__name__, "message": str(problem)}
    except Exception as problem:
        lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
        said = {"kind": "EngineError", "message": f"Ray did not let this machine join ({lines[-1] if lines else type(problem).__name__})"}
    else:
        return 0
    beside = os.path.join(nest, f".{REFUSED}")
    with open(beside, "w", encoding="utf-8") as file:
        json.dump(said, file)
    os.rename(beside, os.path.join(nest, REFUSED))
    # Whoever waits reads it, and has all of this taken down.
    time.sleep(_UP_S)
    return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
