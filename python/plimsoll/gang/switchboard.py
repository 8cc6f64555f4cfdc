"""What carries the calls of a gang: Ray core, in a process of its own, and the lines that lead to it. Nothing else of Ray is used.

Model: the process starts a private Ray on this machine, with a token that nobody else has, makes a relay on every host, and answers over a
socket in the gang's directory. So the command itself never imports Ray, is not touched by its signal handlers, and its death is seen at
once. Ray measures nothing and keeps nothing: when it dies, workers go on. Where all hosts are this machine nothing but loopback is listened
on; where they are elsewhere everybody is asked for a certificate of this gang as well.
Limits: Ray listens on the machine's own address whatever `--node-ip-address` says, but for the switch that it has for desktops
(`RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER=0`). What listens is therefore looked at on every host before a worker is handed anything, and a gang
that is open to others is refused.

    python -m plimsoll.gang.switchboard /tmp/plimsoll-gang-x1
"""

from __future__ import annotations

import json
import logging
import os
import secrets
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from typing import Any

from plimsoll.errors import EngineError, InputError
from plimsoll.gang import confinement, credentials
from plimsoll.gang.admission import answers_without_token
from plimsoll.gang.exposure import open_to_others, open_to_strangers
from plimsoll.gang.line import Line, LineLost, Trip, round_trips
from plimsoll.gang.nest import FAILED
from plimsoll.gang.relay import Relay
from plimsoll.gang.wire import Wire, connected, listening
from plimsoll.stored import Json

_SOCKET, _TOLD, _PLACES = "switchboard.sock", "switchboard.json", "places.json"
#: How long Ray may take to come up on a busy machine.
_UP_S = 90.0
#: An answer takes that much longer than the relay itself.
_CARRYING_S = 2.0
#: A relay answers so many calls at once: news, requests, clocks, copies.
_CALLS = 4
#: No dashboard, no telemetry, no memory police; links that are cut are seen within ten seconds (docs/hosts.md has the figures).
SETTINGS = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
    "RAY_AUTH_MODE": "token",
    "RAY_DEDUP_LOGS": "0",
    # Of the same minor version, which is checked; compiled parts are carried.
    "RAY_DEFAULT_PYTHON_VERSION_MATCH_LEVEL": "minor",
    "RAY_enable_metrics_collection": "false",
    "RAY_memory_monitor_refresh_ms": "0",
    "RAY_health_check_initial_delay_ms": "2000",
    "RAY_health_check_period_ms": "1000",
    "RAY_health_check_timeout_ms": "2000",
    "RAY_health_check_failure_threshold": "3",
    # What Ray's processes look after while nothing is scheduled and no object is stored: seldom, on hosts that measure.
    "RAY_task_events_report_interval_ms": "0",
    "RAY_kill_idle_workers_interval_ms": "10000",
    "RAY_object_manager_timer_freq_ms": "1000",
    "RAY_raylet_report_resources_period_milliseconds": "1000",
    "RAY_raylet_check_gc_period_milliseconds": "10000",
    "RAY_free_objects_period_milliseconds": "10000",
    "RAY_report_worker_backlog_interval_ms": "10000",
    "RAY_metrics_report_interval_ms": "60000",
}
START = (
    "--disable-usage-stats", "--include-log-monitor=false", "--num-cpus=0", "--num-gpus=0", "--object-store-memory=80000000",
    "--min-worker-port=0", "--max-worker-port=0",
    "--dashboard-agent-listen-port=0", "--dashboard-agent-grpc-port=0", "--runtime-env-agent-port=0", "--metrics-export-port=0",
    "--log-style=record", "--log-color=false",
)  # fmt: skip


def check_installed() -> None:
    """Raise `InputError` where Ray is missing, before anything is begun."""
    if find_spec("ray") is None:
        raise InputError("--hosts needs Ray, which is not installed; install it with: pip install 'plimsoll[cluster]'.")


def carrier_here(nest: str, address: str, *, network: bool) -> Any:
    """What a keeper beside the command starts: its name, its command, and what stands in its environment besides."""
    with open(os.path.join(nest, _TOLD), "w", encoding="utf-8") as file:
        json.dump({"address": address, "network": network}, file)
    own = credentials.settings(nest) if network else {"RAY_AUTH_TOKEN": secrets.token_hex(32)}
    environment = {**_settings(network=network), **own, "PYTHONPATH": own_path()}
    return "switchboard", [sys.executable, "-m", "plimsoll.gang.switchboard", nest], environment


def own_path() -> str:
    """The path of Ray's processes beside the command."""
    return os.pathsep.join([confinement.__path__[0], *([os.environ["PYTHONPATH"]] if os.environ.get("PYTHONPATH") else [])])


def carrier_of_host(host: str, address: str, head: str) -> Any:
    """What the keeper of another host starts; words in braces stand for what only that host knows."""
    places = json.dumps({f"plimsoll-{host}": 1})
    joining = (f"--address={head}", f"--node-ip-address={address}", f"--resources={places}", "--temp-dir={nest}/r")
    environment = {
        **_settings(network=True),
        **credentials.settings("{nest}"),
        "PYTHONPATH": "{environment}/plimsoll/gang/confinement:{environment}",
    }
    return "ray", ["{python}", "-s", "-m", "ray.scripts.scripts", "start", "--block", *START, *joining], environment


def _settings(*, network: bool) -> dict[str, str]:
    return {**SETTINGS, "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "1" if network else "0"}


def tell_places(nest: str, places: Mapping[str, str]) -> None:
    """Where the worker of each host has its directory, on that host."""
    beside = os.path.join(nest, f".{_PLACES}")
    with open(beside, "w", encoding="utf-8") as file:
        json.dump(dict(places), file)
    os.rename(beside, os.path.join(nest, _PLACES))


def lines_to(nest: str, hosts: Sequence[str], failed: Callable[[], str | None] = lambda: None) -> dict[str, Line]:
    """A line to each host once everything is up. Raises `EngineError` when it does not come up."""
    path, until_s = os.path.join(nest, _SOCKET), time.monotonic() + _UP_S
    while not os.path.exists(path):
        if (why := _failure(nest) or failed()) is not None or time.monotonic() > until_s:
            raise EngineError(f"--hosts: Ray did not come up: {why or f'it took longer than {_UP_S:.0f} s'}.")
        time.sleep(0.02)
    return {host: _Carried(path, host) for host in hosts}


def line_in(nest: str, host: str) -> Line:
    """A line to a host of a gang that is up."""
    return _Carried(os.path.join(nest, _SOCKET), host)


def is_up(nest: str) -> bool:
    """Whether who carries the calls of a gang answers."""
    return os.path.exists(os.path.join(nest, _SOCKET))


def _failure(nest: str) -> str | None:
    with suppress(OSError, ValueError, KeyError):
        with open(os.path.join(nest, FAILED), encoding="utf-8") as file:
            said = json.load(file)
        with open(said["log"], encoding="utf-8", errors="replace") as log:
            lines = [line.strip() for line in log if line.strip()]
        return f"{said['how']} ({lines[-1]})" if lines else str(said["how"])
    return None


class _Carried:
    """A line that leads through the switchboard; each thread that asks has a connection of its own."""

    def __init__(self, path: str, host: str) -> None:
        self._path = path
        self._host = host
        self._own = threading.local()
        self._wires: list[Wire] = []

    def call(self, verb: str, *arguments: Any, within_s: float) -> Any:
        answer = self._asked({"host": self._host, "verb": verb, "arguments": arguments, "within_s": within_s}, within_s)
        if "lost" in answer:
            raise LineLost(answer["lost"])
        if "failed" in answer:
            raise OSError(answer["failed"])
        return answer["value"]

    def trips(self, count: int) -> list[Trip]:
        answer = self._asked({"host": self._host, "verb": "trips", "arguments": [count], "within_s": _UP_S}, _UP_S)
        if "value" not in answer:
            raise LineLost(answer.get("lost") or answer.get("failed") or "")
        return [(int(sent), int(theirs), int(received)) for sent, theirs, received in answer["value"]]

    def close(self) -> None:
        for wire in self._wires:
            wire.close()

    def _asked(self, request: Json, within_s: float) -> Json:
        try:
            wire = self._wire()
            wire.send(request)
            answer = wire.received(within_s + _CARRYING_S)
        except OSError:
            answer = None
        if answer is None:
            return {"lost": "what carries the calls to it has ended"}
        return answer

    def _wire(self) -> Wire:
        wire: Wire | None = getattr(self._own, "wire", None)
        if wire is None:
            wire = self._own.wire = connected(self._path, 1.0)
            self._wires.append(wire)
        return wire


class Switchboard:
    """The other end: each connection is served by a thread; ``relays`` are the actors that answer for hosts."""

    def __init__(self, ray: Any, relays: dict[str, Any]) -> None:
        self._ray = ray
        self._relays = relays

    def serve(self, server: socket.socket) -> None:
        while True:
            connection, _ = server.accept()
            threading.Thread(target=self._converse, args=(Wire(connection),), daemon=True).start()

    def _converse(self, wire: Wire) -> None:
        with wire, suppress(OSError):
            while (request := wire.received()) is not None:
                wire.send(self._answer(request))

    def _answer(self, request: Json) -> Json:
        relay, within_s = self._relays[request["host"]], float(request["within_s"])
        try:
            if request["verb"] == "trips":
                return {"value": round_trips(lambda: self._ray.get(relay.clock.remote(), timeout=within_s), *request["arguments"])}
            return {"value": self._ray.get(getattr(relay, request["verb"]).remote(*request["arguments"]), timeout=within_s)}
        except self._ray.exceptions.GetTimeoutError:
            return {"lost": f"it has not answered for {within_s:.0f} s"}
        except self._ray.exceptions.RayTaskError as problem:
            return {"failed": str(problem.cause)}
        except self._ray.exceptions.RayError as problem:
            return {"lost": f"the relay on it has ended ({_brief(problem)})"}


def serve_at(nest: str, switchboard: Switchboard) -> None:
    """Answer over the gang's socket, until killed."""
    beside = os.path.join(nest, f".{_SOCKET}")
    server = listening(beside)
    os.rename(beside, os.path.join(nest, _SOCKET))
    switchboard.serve(server)


def _brief(problem: BaseException) -> str:
    """Ray explains at length; what happened stands in one line of it."""
    lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
    said = next((line for line in lines if line.startswith("The actor is dead")), lines[0] if lines else type(problem).__name__)
    return said.split(". ")[0].rstrip(".")


def _started(nest: str, told: Json, places: Json) -> None:
    """A Ray of our own; on loopback it holds a place for every worker, elsewhere none, since hosts join with theirs."""
    host, _, port = str(told["address"]).rpartition(":")
    own = {} if told["network"] else {f"plimsoll-{name}": 1 for name in places}
    command = [sys.executable, "-m", "plimsoll.gang.ray_head", "start", "--head", "--include-dashboard=false", "--no-monitor", *START]
    command += [f"--node-ip-address={host}", f"--port={port}", f"--resources={json.dumps(own)}", f"--temp-dir={os.path.join(nest, 'r')}"]
    starting = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    # What comes next takes it, and it is read meanwhile.
    import ray  # noqa: F401

    if code := starting.wait():
        raise EngineError(f"ray start ended with exit code {code}")


def free_port(address: str) -> int:
    """A port that nobody listens on."""
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as found:
        found.bind((address, 0))
        port: int = found.getsockname()[1]
        return port


def _places(nest: str) -> Json:
    """Once they are told."""
    path = os.path.join(nest, _PLACES)
    while not os.path.exists(path):
        time.sleep(0.02)
    with open(path, encoding="utf-8") as file:
        found: Json = json.load(file)
    return found


def _check_closed(nest: str, relays: Iterable[Any], *, network: bool, ask: Callable[[Any], Any]) -> None:
    """Raises `EngineError` for a gang that others could reach, or that answers somebody who has no certificate of it."""
    found = open_to_strangers(nest) if network else open_to_others(nest)
    found += [place for relay in relays for place in ask(relay.open_to_strangers.remote())] if network else []
    if found:
        meaning = "who comes without a certificate is answered on" if network else "the gang would listen on"
        raise EngineError(f"refused: {meaning} {', '.join(found)}")


def _check_token(nest: str, host: str, port: int, *, network: bool) -> None:
    """Raises `EngineError` for a gang on the network that answers a certificate without the token."""
    if network and answers_without_token(host, port, nest):
        raise EngineError(f"refused: who comes without the token is answered on {host}:{port}")


def main(nest: str) -> int:
    """Bring Ray up, and serve until killed."""
    with open(os.path.join(nest, _TOLD), encoding="utf-8") as file:
        told = json.load(file)
    network = bool(told["network"])
    _started(nest, told, {} if network else _places(nest))
    import ray

    own, _, port = str(told["address"]).rpartition(":")
    _check_closed(nest, (), network=network, ask=ray.get)
    _check_token(nest, own, int(port), network=network)
    places = _places(nest)
    ray.init(address=told["address"], _node_ip_address=own, log_to_driver=False, configure_logging=False, logging_level=logging.ERROR)
    options = {"num_cpus": 0, "max_restarts": 0, "max_concurrency": _CALLS}
    actor: Any = ray.remote(Relay)
    relays = {host: actor.options(**options, resources={f"plimsoll-{host}": 1}).remote(folder) for host, folder in places.items()}
    ray.get([relay.clock.remote() for relay in relays.values()], timeout=_UP_S)
    _check_closed(nest, relays.values(), network=network, ask=ray.get)
    serve_at(nest, Switchboard(ray, relays))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except EngineError as failure:
        sys.exit(str(failure))
