"""Where a demand comes from: rates that were typed, what ``plimsoll watch`` observed, or mailboxes.

Model: a demand has one source; what is typed of its mix goes over that of the source, and growth multiplies its rates.

    demand_asked(SizingArguments(iops="5k", read_percent="70", block_size="8KiB")).iops        # 5000.0
    observed_demand("demand.json", None, "95")
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from plimsoll.analysis.sizing.demand import Demand, demand_at, mailbox_profile, observed_devices
from plimsoll.errors import InputError
from plimsoll.points.quantity import block_bytes, percent, rate_per_s
from plimsoll.units import count

if TYPE_CHECKING:
    from plimsoll.points.sizing_arguments import SizingArguments

#: Rates of an observed demand that this part of its intervals did not exceed, unless typed.
PERCENTILE = "95"


def demand_asked(arguments: SizingArguments) -> Demand | None:
    """The demand from its source, with what was typed over it and growth; None where none was asked."""
    source = _sourced(arguments)
    if source is None:
        return None
    if arguments.read_percent is not None:
        source = replace(source, read_percent=percent("--read-percent", arguments.read_percent))
    if arguments.block_size is not None:
        size = float(block_bytes("--block-size", arguments.block_size))
        source = replace(source, block_bytes=size, bytes_per_s=source.iops * size, read_bytes=None, write_bytes=None)
    if arguments.random_percent is not None:
        source = replace(source, random_percent=percent("--random-percent", arguments.random_percent))
    if arguments.growth is not None:
        source = replace(source, growth_percent=percent("--growth", arguments.growth))
    return source


def observed_demand(path: str, wanted: str | None, percentile: str | None) -> Demand:
    """The demand of a device in a file that ``plimsoll watch`` wrote, at a percentile of its intervals; ``-`` reads stdin."""
    devices = {observed.name: observed for observed in observed_devices(_read(path), path)}
    if wanted is None and len(devices) == 1:
        wanted = next(iter(devices))
    if not devices:
        raise InputError(f"{path}: it holds no device; watch again.")
    if wanted is None:
        raise InputError(f"{path}: it holds {', '.join(devices)}; say which with --device.")
    if wanted not in devices:
        raise InputError(f"--device {wanted}: {path} does not hold it; it holds {', '.join(devices)}.")
    return demand_at(devices[wanted], percent("--percentile", percentile or PERCENTILE))


def _sourced(arguments: SizingArguments) -> Demand | None:
    if arguments.from_file is not None:
        return observed_demand(arguments.from_file, arguments.device, arguments.percentile)
    if arguments.mailboxes is not None and arguments.profile is not None:
        return _of_mailboxes(arguments.mailboxes, arguments.profile)
    return None if arguments.iops is None else _typed(arguments.iops, arguments)


def _typed(rate: str, arguments: SizingArguments) -> Demand:
    iops = rate_per_s("--iops", rate)
    if arguments.read_percent is None:
        raise InputError("--iops: a rate alone is no demand; add --read-percent, for example --read-percent 70.")
    if arguments.block_size is None:
        raise InputError("--iops: a rate alone is no demand; add --block-size, for example --block-size 8KiB.")
    size = float(block_bytes("--block-size", arguments.block_size))
    return Demand(iops, iops * size, percent("--read-percent", arguments.read_percent), size)


def _of_mailboxes(mailboxes: int, name: str) -> Demand:
    profile = mailbox_profile(name)
    iops = profile.database_iops(mailboxes)
    log = profile.log_writes_per_s(mailboxes)
    logs = () if log is None else (f"the log volume takes about {count(log)} sequential writes/s more, which are not part of this demand",)
    return Demand(
        iops=iops,
        bytes_per_s=iops * profile.block_bytes,
        read_percent=profile.read_percent,
        block_bytes=profile.block_bytes,
        source=f"{mailboxes:,} mailboxes {profile.name}: {profile.iops:g} IOPS each, {profile.messages} ({profile.source})",
        notes=(*profile.notes, *logs),
        mailboxes=mailboxes,
        profile=profile.name,
    )


def _read(path: str) -> Any:
    try:
        if path == "-":
            return json.load(sys.stdin)
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except OSError as problem:
        raise InputError(f"{path}: cannot be read ({str(problem.strerror).lower()}); 'plimsoll watch -o FILE' makes one.") from None
    except (ValueError, RecursionError):
        raise InputError(f"{path}: not JSON; give a file that 'plimsoll watch -o FILE' made.") from None
