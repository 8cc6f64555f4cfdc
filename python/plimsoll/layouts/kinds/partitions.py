"""Partitions: a GUID partition table on each device, in equal parts that begin at an aligned place.

Model: sfdisk(8) writes the table with an identifier that the plan chose; the kernel then shows the parts. Taking away needs that
identifier. Source: util-linux, sfdisk(8), "Input formats".
"""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.errors import InputError
from plimsoll.experiments.forms import whole
from plimsoll.experiments.option import Option
from plimsoll.layouts.kinds.forms import SIZE
from plimsoll.layouts.kinds.kind import Host, Kind, Laid, Options, unlike, wiped
from plimsoll.layouts.step import Await, Command, Facts, Named, Step, Volume
from plimsoll.units import binary

_SIGNATURES = frozenset({"GPT", "MBR"})
_SECTOR = 512
_MIB = 1 << 20

OPTIONS = (
    Option("count", whole(1, 64), "How many equal parts each device gets.", 4, default=1),
    Option("offset", SIZE, "Where the first part begins; the others begin at whole multiples of 1 MiB.", "1MiB", default=_MIB),
)


def _lay(options: Options, volumes: Sequence[Volume], named: Named) -> Laid:
    steps, made = [], []
    for volume in volumes:
        parts = _parts(volume, int(options["count"]), int(options["offset"]))
        label = named.uuid(f"table {volume.path}")
        what = f"divide {volume.path} into {len(parts)} equal parts" if len(parts) > 1 else f"make one partition on {volume.path}"
        why = f"The first begins at {binary(int(options['offset']))}, so that what is aligned on it is aligned on the device."
        make = Command(("sfdisk", "--quiet", "--wipe", "always", "--wipe-partitions", "always", volume.path), _table(label, parts))
        paths = [part_path(volume.path, number) for number in range(1, len(parts) + 1)]
        steps.append(Step("partition table", what, why, (make, *map(Await, paths)), {"device": volume.path, "table": label}))
        made += [
            Volume(path, f"{volume.name}-{number}" if len(parts) > 1 else volume.name, part[1])
            for number, (path, part) in enumerate(zip(paths, parts, strict=True), 1)
        ]
    return Laid(tuple(steps), tuple(made))


def _parts(volume: Volume, count: int, offset: int) -> list[tuple[int, int]]:
    """Start and size in bytes of each part; the copy of the table behind the last one has room."""
    if volume.size_bytes is None:
        raise InputError(f"the size of {volume.path} is not known before it exists; divide the members, or make volumes with 'lvm'.")
    each = (volume.size_bytes - offset - _MIB) // count // _MIB * _MIB
    if each <= 0:
        raise InputError(f"{volume.path} has {binary(volume.size_bytes)}, which is too small for {count} parts from {binary(offset)} on.")
    return [(offset + number * each, each) for number in range(count)]


def part_path(device: str, number: int) -> str:
    """The kernel's name of a part: ``/dev/sdb1``, but ``/dev/nvme0n1p1``."""
    return f"{device}{'p' if device[-1].isdigit() else ''}{number}"


def _table(label: str, parts: Sequence[tuple[int, int]]) -> str:
    """What sfdisk reads, in sectors."""
    lines = [f"start={start // _SECTOR}, size={size // _SECTOR}" for start, size in parts]
    return "\n".join(["label: gpt", f"label-id: {label}", *lines, ""])


def _unmake(host: Host, facts: Facts) -> None:
    device = str(facts["device"])
    seen = host.probe(device)
    if seen.get("PTUUID", "").lower() == facts["table"]:
        host.act(Command(("sfdisk", "--quiet", "--delete", device)))
        host.act(Command(("wipefs", "--quiet", "--all", device)))
        wiped(host, device, _SIGNATURES)
    elif seen.get("PTTYPE") or seen.get("TYPE"):
        raise unlike(device, seen.get("PTTYPE") or seen["TYPE"], "partition table")


KIND = Kind("partitions", "A partition table on each device, in equal parts.", OPTIONS, _lay, {"partition table": _unmake})
