"""What one host of several measured, named behind its run: ``RUN/hosts/db1``, ``latest/hosts/db1``.

Model: RUN is called in any way that a run is; its directory keeps a copy of what each host stored, which is a run as well.
Limits: a host that has not handed over what it stored has no copy; collecting brings it.

    divided("latest/hosts/db1")                       # ("latest", "db1")
    host_path("results/r1", {"gang": …}, "db1")       # "results/r1/hosts/db1"
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from plimsoll.displayed import quoted
from plimsoll.errors import InputError

HOSTS = "hosts"


def divided(asked: str) -> tuple[str, str] | None:
    """The run and the host that ``asked`` names; None when it names no host."""
    run, behind, host = asked.rstrip("/").rpartition(f"/{HOSTS}/")
    return (run, host) if behind and run and host and "/" not in host else None


def hosts_of(path: str, meta: Mapping[str, Any]) -> list[str]:
    """The hosts of the run at ``path``, in the order they were named; empty for a run of one host."""
    named = list((meta.get("gang") or {}).get("stores") or {})
    return [*named, *sorted(set(_copied(path)) - set(named))]


def host_path(path: str, meta: Mapping[str, Any], host: str) -> str:
    """Where the copy of ``host`` is. Raises `InputError` with what there is instead."""
    hosts, run = hosts_of(path, meta), quoted(os.path.basename(os.path.abspath(path)))
    if not hosts:
        raise InputError(f"{run} was measured by one host alone; name it without /{HOSTS}/{host}.")
    if host not in hosts:
        raise InputError(f"{quoted(host)} is no host of {run}; its hosts are {_listed(hosts)}.")
    if host not in _copied(path):
        raise InputError(f"{run} holds nothing that {quoted(host)} stored; 'plimsoll hosts collect' brings what is still there.")
    return os.path.join(path, HOSTS, host)


def _copied(path: str) -> list[str]:
    """Hosts of which there is a copy."""
    folder = os.path.join(path, HOSTS)
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    return [name for name in names if os.path.lexists(os.path.join(folder, name, "run.json"))]


def _listed(hosts: Iterable[str]) -> str:
    *others, last = map(quoted, hosts)
    return f"{', '.join(others)} and {last}" if others else last
