"""Hosts that measure together while they do: one row for each, and what state one is in that does not.

Model: the rate is that of the newest interval that a host has told; a host that is lost keeps its row, with why. Of more hosts than
`HOSTS_MAX` those that are not well come first, and the others are counted.

    host_rows(hosts)        # [("local1", "12,345/s", "101 MB/s", "mean 1.20 ms"), ("local2", "lost 3.2 s after the start: …")]
"""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.displayed import displayed_in_line
from plimsoll.stored import HostAt
from plimsoll.units import count, duration, megabytes

#: More hosts than these are counted and not shown.
HOSTS_MAX = 16
#: States that need nobody's attention.
_WELL = ("getting ready", "ready", "measuring", "ended")


def is_well(host: HostAt) -> bool:
    """Whether nothing is wrong with a host."""
    return host["state"] in _WELL


def host_rows(hosts: Sequence[HostAt]) -> list[tuple[str, ...]]:
    """Name and figures, or name and what is wrong."""
    shown = sorted(hosts, key=is_well)[:HOSTS_MAX] if len(hosts) > HOSTS_MAX else hosts
    rows = [_row(host) for host in shown]
    rest = len(hosts) - len(rows)
    return [*rows, (f"and {rest} more hosts",)] if rest else rows


def _row(host: HostAt) -> tuple[str, ...]:
    name = displayed_in_line(host["name"])
    if not is_well(host):
        return name, displayed_in_line(host["why"] or host["state"])
    if host["per_s"] is None:
        return name, host["state"]
    figures = (f"{count(host['per_s'])}/s", f"{megabytes(host['bytes_per_s'] or 0.0)} MB/s", f"mean {duration(host['mean_ns'])}")
    return name, *figures, *(() if host["state"] == "measuring" else (host["state"],))
