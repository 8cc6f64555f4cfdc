"""Blocks in and out of /proc/vmstat, counted in 4,096 bytes as vmstat-based reports do.

Model: ``pgpgin`` and ``pgpgout`` count KiB that block devices moved in and out of memory, direct I/O included
(Linux kernel, block/blk-core.c); a block here is 4,096 bytes.

    rates(parse(before), parse(after), 1.0)["blocks_in_per_s"]
"""

from __future__ import annotations

BLOCK_BYTES = 4096
_KIB = 1024


def parse(text: str) -> dict[str, int]:
    """``pgpgin`` and ``pgpgout`` in KiB since boot, as far as present."""
    counters = {}
    for line in text.splitlines():
        if line.startswith(("pgpgin ", "pgpgout ")):
            name, _, value = line.partition(" ")
            counters[name] = int(value)
    return counters


def rates(before: dict[str, int], after: dict[str, int], elapsed_s: float) -> dict[str, float] | None:
    """Blocks per second; None when the kernel does not count them."""
    if not {"pgpgin", "pgpgout"} <= before.keys() & after.keys():
        return None
    return {
        "blocks_in_per_s": _blocks(after["pgpgin"] - before["pgpgin"]) / elapsed_s,
        "blocks_out_per_s": _blocks(after["pgpgout"] - before["pgpgout"]) / elapsed_s,
    }


def _blocks(kib: int) -> float:
    return kib * _KIB / BLOCK_BYTES
