"""Bounds of candidates against the simulation, over families and loads; what the unit tests try of a few."""

from __future__ import annotations

import itertools

import pytest

from support.choices import carried, demand, rate_beyond

TARGETS = (
    "array:msa50-sas-10k-raid5-8",
    "array:msa30-u320-15k-raid10-10",
    "array:msa50-sas-10k-raid6-6",
    "array:msa2000-raid6",
    "array:nearline-raid6",
    "array:se6920-raid5",
    "array:se6920-raid1-200g",
    "array:dl580-local",
    "array:nvme-raid10",
    "array:sata-ssd",
    "array:bcache-writethrough",
    "array:bcache-writeback?volumes.lun.size_bytes=800GB",
    "array:draid-24-1s",
    "array:zfs-raidz2-12",
    "array:erasure-coded-4-2",
)
LOADS = ((100, "8KiB"), (70, "8KiB"), (0, "8KiB"), (50, "64KiB"), (0, "256KiB"))
#: What a drive of flash answers a million times in a second is left out: it takes minutes.
RATE_MAX = 300_000


@pytest.mark.parametrize(("target", "load"), list(itertools.product(TARGETS, LOADS)))
def test_what_a_bound_excludes_is_never_carried(target: str, load: tuple[float, str]) -> None:
    rate = rate_beyond(target, *load)
    if rate <= RATE_MAX:
        assert not carried(target, demand(rate, *load))
