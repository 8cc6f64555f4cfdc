"""File systems: xfs and ext4 on each volume; btrfs and ZFS on all of them together.

Model: the file system gets a UUID that the plan chose (ZFS: a comment), which is asked for before anything is taken away. Stripe unit and
width follow from the layer below unless they are given. What ext4 would do in the background after mkfs is done at once, since it would be
measured otherwise. Sources: mkfs.xfs(8), mke2fs(8), mkfs.btrfs(8), zpool-create(8).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.experiments.forms import Form, whole, words
from plimsoll.experiments.option import Option
from plimsoll.layouts.kinds.forms import UNIT
from plimsoll.layouts.kinds.kind import Host, Kind, Laid, Options, unlike, wiped
from plimsoll.layouts.kinds.superblocks import copies
from plimsoll.layouts.step import Command, Facts, Named, Step, Stripe, Volume
from plimsoll.units import binary

_SIGNATURES = {
    "xfs": frozenset({"xfs", "copy of an xfs superblock", "xfs log"}),
    "ext4": frozenset({"ext2/3/4", "journal of ext3/4"}),
    "btrfs": frozenset({"btrfs"}),
    "zfs": frozenset({"ZFS member"}),
}
_TYPES = {
    "xfs": "one on each volume",
    "ext4": "one on each volume",
    "btrfs": "one over all volumes",
    "zfs": "a pool over all volumes",
}
_PROFILES = {
    "single": "one copy",
    "raid0": "stripes",
    "raid1": "two copies",
    "raid10": "two copies, striped",
    "raid5": "one parity",
    "raid6": "two parities",
}
_VDEVS = {"stripe": "no protection", "mirror": "copies", "raidz": "one parity", "raidz2": "two parities", "raidz3": "three parities"}
#: The least volumes of profiles that need several.
_LEAST = {"raid0": 2, "raid1": 2, "raid10": 2, "raid5": 2, "raid6": 3, "mirror": 2, "raidz": 2, "raidz2": 3, "raidz3": 4}
_BLOCK = 4096

_WORD = re.compile(r"[A-Za-z0-9_^=,.:+-]+")


def _further(value: Any) -> str:
    """Options for mkfs. A path among them could name a device that nobody allowed to be written to."""
    if isinstance(value, str) and all(_WORD.fullmatch(word) for word in value.split()):
        return value
    raise InputError(f"{quoted(value)} are no options of mkfs without a path; write for example '-m reflink=0 -i size=1024'.")


OPTIONS = (
    Option("type", words(_TYPES), "The file system.", "xfs", required=True),
    Option("block_size", UNIT, "Its block; xfs and ext4.", "4KiB", default=_BLOCK),
    Option("stripe_unit", UNIT, "What one device takes before the next; xfs and ext4.", "64KiB", absent="as the layer below has it"),
    Option("stripe_width", whole(1, 256), "How many devices hold data; goes with `stripe_unit`.", 8, absent="as the layer below has it"),
    Option("data", words(_PROFILES), "Where btrfs keeps data.", "raid10", default="single"),
    Option(
        "metadata",
        words({**_PROFILES, "dup": "two copies on one device"}),
        "Where btrfs keeps its own tables.",
        "raid10",
        absent="as `data`",
    ),
    Option(
        "options",
        Form(
            "words for mkfs",
            'as mkfs.xfs(8), mke2fs(8) or mkfs.btrfs(8) have them, `"-m reflink=0 -i size=1024"`; no paths.',
            _further,
            {"type": "string", "pattern": "^[^/]*$"},
        ),
        "Further options, which come before those of the layout.",
        "-m reflink=0",
        default="",
    ),
    Option("pool", words(_VDEVS), "How ZFS joins the volumes.", "raidz", default="stripe"),
)


def _lay(options: Options, volumes: Sequence[Volume], named: Named) -> Laid:
    type_ = str(options["type"])
    _check(type_, options)
    if type_ in ("xfs", "ext4"):
        made = [volume.striped(_stripe(options, volume)) for volume in volumes]
        return Laid(tuple(_each(type_, options, volume, named) for volume in made), tuple(made))
    together = _btrfs if type_ == "btrfs" else _zfs
    return Laid((together(options, volumes, named),), (Volume(volumes[0].path if type_ == "btrfs" else named.ours, "data"),))


#: Options that some file systems alone have.
_OF = {"options": ("xfs", "ext4", "btrfs"), "stripe_unit": ("xfs", "ext4"), "stripe_width": ("xfs", "ext4"), "metadata": ("btrfs",)}


def _check(type_: str, options: Options) -> None:
    for name, owners in _OF.items():
        if options[name] not in (None, "") and type_ not in owners:
            raise InputError(f"'{name}' is for {' and '.join(owners)}; leave it out with {type_}.")
    if (options["stripe_unit"] is None) != (options["stripe_width"] is None):
        raise InputError("'stripe_unit' and 'stripe_width' belong together; give both or neither.")


def _stripe(options: Options, volume: Volume) -> Stripe | None:
    if options["stripe_unit"] is not None:
        return Stripe(int(options["stripe_unit"]), int(options["stripe_width"]))
    return volume.stripe


def _each(type_: str, options: Options, volume: Volume, named: Named) -> Step:
    uuid, block = named.uuid(f"file system {volume.path}"), int(options["block_size"])
    stripe = volume.stripe
    if type_ == "xfs":
        create = ["mkfs.xfs", "-q", "-f", *str(options["options"]).split(), "-b", f"size={block}", "-m", f"uuid={uuid}"]
        create += ["-d", f"su={stripe.unit_bytes},sw={stripe.width}"] if stripe else []
    else:
        extended = [f"stride={stripe.unit_bytes // block}", f"stripe_width={stripe.full_bytes // block}"] if stripe else []
        extended += ["lazy_itable_init=0", "lazy_journal_init=0"]
        create = ["mkfs.ext4", "-q", "-F", *str(options["options"]).split(), "-b", str(block), "-U", uuid, "-E", ",".join(extended)]
    what = f"make the file system {type_} on {volume.path}"
    why = f"Its files begin on stripes of {stripe.width} × {binary(stripe.unit_bytes)}." if stripe else "No stripes are known below it."
    facts = {"type": type_, "devices": [volume.path], "uuid": uuid}
    return Step("file system", what, why, (Command((*create, volume.path)),), facts)


def _btrfs(options: Options, volumes: Sequence[Volume], named: Named) -> Step:
    data, metadata = str(options["data"]), str(options["metadata"] or options["data"])
    for profile in (data, metadata):
        _check_count(profile, len(volumes))
    uuid, paths = named.uuid("file system"), [volume.path for volume in volumes]
    further = str(options["options"]).split()
    create = ("mkfs.btrfs", "--quiet", "--force", *further, "--uuid", uuid, "--data", data, "--metadata", metadata, *paths)
    where = f"{len(paths)} devices" if len(paths) > 1 else paths[0]
    why = f"Data lie as {data} ({_PROFILES[data]}), its own tables as {metadata}."
    facts = {"type": "btrfs", "devices": paths, "uuid": uuid}
    # The kernel looks for the other devices of a file system only where it was told to.
    commands = (Command(create), Command(("btrfs", "device", "scan", *paths)))
    return Step("file system", f"make the file system btrfs on {where}", why, commands, facts)


def _zfs(options: Options, volumes: Sequence[Volume], named: Named) -> Step:
    pool = str(options["pool"])
    _check_count(pool, len(volumes))
    paths = [volume.path for volume in volumes]
    create = ("zpool", "create", "-f", "-m", "none", "-o", f"comment=plimsoll.{named.id}", named.ours)
    kind = () if pool == "stripe" else (pool,)
    facts = {"type": "zfs", "devices": paths, "pool": named.ours, "comment": f"plimsoll.{named.id}"}
    what = f"make the ZFS pool {named.ours} of {len(paths)} devices"
    return Step("file system", what, f"They are joined as {pool} ({_VDEVS[pool]}).", (Command((*create, *kind, *paths)),), facts)


def _check_count(profile: str, count: int) -> None:
    least = _LEAST.get(profile, 1)
    if count < least:
        raise InputError(f"{profile} needs {least} devices at least; there {'is 1' if count == 1 else f'are {count}'}.")


def _unmake(host: Host, facts: Facts) -> None:
    type_ = str(facts["type"])
    if type_ == "zfs":
        _destroy_pool(host, facts)
        return
    for device in map(str, facts["devices"]):
        if not host.exists(device):
            continue
        seen = host.probe(device)
        if seen.get("TYPE") and seen.get("UUID") != facts["uuid"]:
            raise unlike(device, seen["TYPE"], f"file system {type_}")
        if type_ == "btrfs" and seen:
            host.ask("btrfs", "device", "scan", "--forget", device)
        for offset in copies(type_, host, device):
            host.erase(device, offset)
        if seen:
            host.act(Command(("wipefs", "--quiet", "--all", device)))
        wiped(host, device, _SIGNATURES[type_])


def _destroy_pool(host: Host, facts: Facts) -> None:
    comment = host.ask("zpool", "get", "-H", "-o", "value", "comment", str(facts["pool"]))
    if comment is not None:
        if comment.strip() != facts["comment"]:
            raise unlike(str(facts["pool"]), "another pool", "pool")
        host.act(Command(("zpool", "destroy", "-f", str(facts["pool"]))))
    for device in map(str, facts["devices"]):
        host.ask("zpool", "labelclear", "-f", device)


KIND = Kind("filesystem", "A file system.", OPTIONS, _lay, {"file system": _unmake})
