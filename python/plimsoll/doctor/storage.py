"""Checks of what a target is put together from: partitions, stripes, read-ahead, barriers, RAID, paths, thin volumes.

Model: rules over the layers that `plimsoll.host.stack` found, each with what would be better. A rule speaks where there is something to
judge: of a plain disk none does. Sources: Linux, Documentation/admin-guide/md.rst; mkfs.xfs(8); lvmthin(7); btrfs(5).
"""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.displayed import displayed, quoted
from plimsoll.doctor.examination import Check, Examination
from plimsoll.host.stack import Btrfs, Filesystem, Layer, Lvm, Md, Stripe, ToldStripe
from plimsoll.units import binary

#: Where partitions begin that fit every array and flash block in use.
_MIB = 1 << 20
#: Blocks of flash and of disks are this large at least, whatever they say.
_BLOCK = 4096
#: From here on file systems look long for room and fragment, and flash has little to collect garbage with.
FULL_SHARE_MAX = 0.9
#: From here on a pool may run full within a measurement.
POOL_PERCENT_MAX = 80.0
_NO_BARRIERS = ("nobarrier", "barrier=0")
#: How a path says that it works.
_GOOD_PATHS = ("running", "live", "unknown")


def alignment(examination: Examination) -> Iterator[Check]:
    """Whether partitions begin where stripes and blocks of the device below do."""
    layers = _by_name(examination)
    for layer in layers.values():
        if layer.kind != "partition":
            if layer.alignment_offset:
                yield _misaligned(layer.name, "does not begin on a block of what is below", "Lay it out anew, at a multiple of 1 MiB.")
            continue
        below = layers.get(layer.below[0], layer)
        unit = int((below.stripe and below.stripe.unit_bytes) or max(below.physical_block_bytes, _BLOCK))
        start = int(layer.start_bytes)
        if start % unit or layer.alignment_offset:
            what = f"begins at byte {start:,}, no multiple of {binary(unit)} of {below.name}: aligned requests touch two blocks or disks"
            yield _misaligned(layer.name, what, f"Make the partition anew, beginning at {binary(-(-start // _MIB) * _MIB or _MIB)}.")
        else:
            yield Check("alignment", "ok", f"{layer.name} begins at {_size(start)}, a multiple of {binary(unit)}.")


def _misaligned(name: str, what: str, advice: str) -> Check:
    return Check("alignment", "warn", f"{name} {what}.", advice)


def stripes(examination: Examination) -> Iterator[Check]:
    """Whether the stripes of each layer are multiples of those below, and those that the file system was told are the device's."""
    layers = _by_name(examination)
    for upper in layers.values():
        for lower in (layers[name] for name in upper.below if name in layers):
            if upper.stripe and lower.stripe and upper.kind != "partition":
                yield _on_each_other((upper.name, lower.name), upper.stripe.unit_bytes, lower.stripe.unit_bytes)
    for filesystem in examination.stack.filesystems:
        told = filesystem.stripe
        has = next((layer.stripe for name in filesystem.devices for layer in _down(layers, name) if layer.stripe), None)
        if told and has:
            yield _told(filesystem, told, has)
        elif has and filesystem.type in ("xfs", "ext4"):
            yield Check(
                "stripes",
                "warn",
                f"{_point(filesystem)} was not told the stripes below it ({_shown(has)}): its files begin anywhere on them.",
                f"Make it anew: mkfs.xfs -d su={has.unit_bytes},sw={has.full_bytes // has.unit_bytes}, or mkfs.ext4 -E stride, "
                "stripe_width.",
            )


def _on_each_other(names: tuple[str, str], unit: int, strip: int) -> Check:
    """Of a device on another, whose units are ``unit`` and ``strip`` bytes."""
    upper, lower = names
    if unit % strip:
        return Check(
            "stripes",
            "warn",
            f"{upper} writes {binary(unit)} to one device in turn, no multiple of the {binary(strip)} of {lower} below: "
            "units touch two disks.",
            f"Lay {upper} out with a stripe unit of {binary(-(-unit // strip) * strip)}.",
        )
    return Check("stripes", "ok", f"The stripe unit of {upper} ({binary(unit)}) is a multiple of that of {lower}.")


def _told(filesystem: Filesystem, told: ToldStripe, has: Stripe) -> Check:
    unit_differs = told.unit_bytes is not None and told.unit_bytes != has.unit_bytes
    if unit_differs or told.full_bytes != has.full_bytes:
        return Check(
            "stripes",
            "warn",
            f"{_point(filesystem)} was told stripes of {_shown(told)}, and what lies below has {_shown(has)}: full stripes are written in "
            "parts.",
            "Make the file system anew without stripe options, which then follow from the device; XFS takes sunit and swidth as mount "
            "options, too.",
        )
    return Check("stripes", "ok", f"{_point(filesystem)} knows the stripes below it ({_shown(has)}).")


def read_ahead(examination: Examination) -> Iterator[Check]:
    """Whether one reader through the page cache keeps every device of a stripe at work."""
    layers = _by_name(examination)
    for layer in _tops(examination):
        # A partition has the queue of its disk.
        disk = layers.get(layer.below[0], layer) if layer.kind == "partition" else layer
        ahead, stripe = layer.read_ahead_bytes, disk.stripe
        if ahead is None or stripe is None:
            continue
        if ahead < stripe.full_bytes:
            sectors = stripe.full_bytes // 512
            yield Check(
                "read_ahead",
                "warn",
                f"{layer.name} reads {binary(ahead)} ahead, less than a full stripe of {binary(stripe.full_bytes)}: one buffered "
                "reader never has all devices at work.",
                f"As root: blockdev --setra {sectors} /dev/{layer.name}. Direct I/O is not concerned.",
            )
        else:
            yield Check("read_ahead", "ok", f"{layer.name} reads {binary(ahead)} ahead, a full stripe or more.")


def barriers(examination: Examination) -> Iterator[Check]:
    """Whether the file system lets the device's cache be flushed."""
    for filesystem in examination.stack.filesystems:
        found = [word for word in _NO_BARRIERS if word in str(filesystem.options).split(",")]
        if found:
            yield Check(
                "write_barriers",
                "warn",
                f"{_point(filesystem)} is mounted with {found[0]}: fsync does not reach the medium, so durable writes look quicker than "
                "they are.",
                f"Mount it without {found[0]}, unless every cache below has a battery; say so beside the numbers.",
            )
        elif filesystem.type in ("xfs", "ext3", "ext4", "btrfs"):
            yield Check("write_barriers", "ok", f"{_point(filesystem)} flushes the device's cache where it has to.")


def nearly_full(examination: Examination) -> Iterator[Check]:
    """Whether the file system has room enough to behave as usual."""
    for filesystem in examination.stack.filesystems:
        used = filesystem.used_share
        if used is not None and used > FULL_SHARE_MAX:
            yield Check(
                "nearly_full",
                "warn",
                f"{_point(filesystem)} is {used:.0%} full: new files lie in pieces, and finding room takes time.",
                f"Free some space: below {FULL_SHARE_MAX:.0%} file systems behave as when they are new.",
            )


def raid(examination: Examination) -> Iterator[Check]:
    """Whether RAID of md, LVM or btrfs has all its members, and nothing rebuilds it beside the load."""
    for layer in _by_name(examination).values():
        if layer.md is not None:
            yield from _md(layer.name, layer.md)
        elif layer.lvm is not None:
            yield from _lvm(layer.lvm)
    for filesystem in examination.stack.filesystems:
        if filesystem.btrfs is not None:
            yield from _btrfs(filesystem, filesystem.btrfs)


def _md(name: str, md: Md) -> Iterator[Check]:
    what = f"{name} ({md.level} of {md.devices} devices)"
    if md.degraded:
        yield _degraded(f"{what} has lost {_devices(md.degraded)}", f"mdadm --detail /dev/{name} says which; add a new one and wait.")
    if md.action not in ("idle", "frozen", ""):
        done = f", {md.done:.0%} done" if md.done is not None else ""
        yield _rebuilding(f"{what} does a {md.action}{done}", f"mdadm --wait /dev/{name}")
    elif not md.degraded:
        yield Check("raid", "ok", f"{what} is whole, and nothing synchronises it.")


def _lvm(lvm: Lvm) -> Iterator[Check]:
    if not lvm.segtype.startswith(("raid", "mirror")):
        return
    what = f"{displayed(lvm.lv_full_name)} ({lvm.segtype})"
    if lvm.lv_health_status:
        yield _degraded(f"{what}: {lvm.lv_health_status}", "lvs -o +devices,lv_health_status says which; lvconvert --repair replaces it.")
    done = _percent(lvm.copy_percent)
    if done is not None and done < 100:
        yield _rebuilding(f"{what} synchronises, {done:.0f} % done", "lvs -o +copy_percent shows 100")
    elif not lvm.lv_health_status:
        yield Check("raid", "ok", f"{what} is whole and synchronised.")


def _btrfs(filesystem: Filesystem, btrfs: Btrfs) -> Iterator[Check]:
    what = f"{_point(filesystem)} over {_devices(btrfs.count)}"
    if btrfs.missing:
        yield _degraded(f"{what} lacks {_devices(btrfs.missing)}", "btrfs filesystem show says which; btrfs replace puts a new one in.")
    if btrfs.operation not in ("none", ""):
        yield _rebuilding(f"{what} does a {btrfs.operation}", "btrfs balance status or btrfs replace status says that it ended")
    if btrfs.errors:
        yield Check(
            "raid",
            "warn",
            f"{what} has counted {btrfs.errors:,} errors of its devices.",
            f"btrfs device stats {filesystem.point} says of which; a disk that fails is slow first.",
        )
    elif not btrfs.missing and btrfs.operation in ("none", ""):
        yield Check("raid", "ok", f"{what} is whole.")


def _degraded(what: str, advice: str) -> Check:
    return Check("raid", "warn", f"{what}: what is missing is computed or read twice elsewhere.", f"Measure a whole one. {advice}")


def _rebuilding(what: str, until: str) -> Check:
    return Check("raid", "warn", f"{what}: that load is part of every number.", f"Wait for it: {until}.")


def paths(examination: Examination) -> Iterator[Check]:
    """Whether every path to the storage works."""
    for layer in _by_name(examination).values():
        known = layer.paths
        if not known:
            continue
        bad = [f"{path.name} ({path.state})" for path in known if path.state not in _GOOD_PATHS]
        if bad:
            yield Check(
                "paths",
                "warn",
                f"{layer.name}: {len(known) - len(bad)} of {len(known)} paths work; {', '.join(map(displayed, bad))} "
                f"{'does' if len(bad) == 1 else 'do'} not.",
                "multipath -ll or nvme list-subsys shows them; measure with all, or say how many there were.",
            )
        elif len(known) == 1:
            yield Check(
                "paths", "warn", f"{layer.name} has a single path.", "Others are missing or not configured; multipath -ll shows them."
            )
        else:
            yield Check("paths", "ok", f"{layer.name} has {len(known)} paths, and all work.")


def thin_pools(examination: Examination) -> Iterator[Check]:
    """Whether room is given out with the first write only, and whether there is enough."""
    for layer in _by_name(examination).values():
        lvm = layer.lvm
        if lvm is None or lvm.segtype not in ("thin", "thin-pool"):
            continue
        name = displayed(lvm.lv_full_name)
        pool = lvm.pool or (lvm if lvm.segtype == "thin-pool" else None)
        written = _percent(lvm.data_percent)
        if lvm.segtype == "thin" and (written is None or written < 100):
            share = "" if written is None else f", of which {written:.0f} % was ever written"
            yield Check(
                "thin_pools",
                "warn",
                f"{name} is thin{share}: reads of the rest reach no disk, and first writes take room from the pool.",
                "Write all of it once before measuring (plimsoll steady does), or measure a thick volume.",
            )
        shares = () if pool is None else (("data", pool.data_percent), ("metadata", pool.metadata_percent))
        for what, share in shares:
            percent = _percent(share)
            if pool is not None and percent is not None and percent > POOL_PERCENT_MAX:
                yield Check(
                    "thin_pools",
                    "warn",
                    f"The pool of {name} is {percent:.0f} % full of {what}: when it is full, writes wait or fail.",
                    f"Extend it: lvextend {quoted(pool.lv_full_name)}.",
                )


def _by_name(examination: Examination) -> dict[str, Layer]:
    return {layer.name: layer for layer in examination.stack.layers}


def _tops(examination: Examination) -> list[Layer]:
    """The layers that nothing else of the stack lies on."""
    layers = _by_name(examination)
    below = {name for layer in layers.values() for name in layer.below}
    return [layer for name, layer in layers.items() if name not in below]


def _down(layers: dict[str, Layer], name: str) -> Iterator[Layer]:
    """A layer and what is below it, first below first."""
    while name in layers:
        yield layers[name]
        name = next(iter(layers[name].below), "")


def _shown(stripe: Stripe | ToldStripe) -> str:
    if stripe.unit_bytes is None:
        return binary(stripe.full_bytes)
    return f"{stripe.full_bytes // stripe.unit_bytes} × {binary(stripe.unit_bytes)}"


def _point(filesystem: Filesystem) -> str:
    return f"{displayed(str(filesystem.point))} ({filesystem.type})"


def _devices(count: int) -> str:
    return f"{count} device{'' if count == 1 else 's'}"


def _size(size: int) -> str:
    return binary(size) if size else "0"


def _percent(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
