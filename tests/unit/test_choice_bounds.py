"""Bounds of candidates: what they exclude is never carried when it is simulated nevertheless."""

from __future__ import annotations

import pytest

from support.choices import bounded, carried, demand, rate_beyond

#: Mirrored drives without a cache limit the one, a link the other; tests/long has families and loads.
CASES = [
    ("array:dl360-g5-3g-10k-raid10-4-nocache", 0, "8KiB", "disk"),
    ("array:sata-ssd", 100, "8KiB", "sata"),
]


@pytest.mark.parametrize(("target", "reads", "size", "component"), CASES)
def test_what_a_bound_excludes_is_not_carried_when_it_is_simulated(target: str, reads: float, size: str, component: str) -> None:
    rate = rate_beyond(target, reads, size)
    tightest = bounded(target, demand(rate, reads, size)).tightest
    assert tightest is not None
    assert tightest.component == component
    assert not carried(target, demand(rate, reads, size))


def test_what_a_bound_excludes_by_response_is_not_carried_when_it_is_simulated() -> None:
    target = "array:msa50-sas-10k-raid10-10"
    # A turn of 6 ms, 16 commands of each of two copies to choose from: 99 % take 6 · (1 − 0.01^(1/32)) ms at least.
    impossible = demand(50, 100, "8KiB", "read p99 <= 0.8ms")
    assert "disks take 804 µs at least" in (bounded(target, impossible).rejection(impossible) or "")
    assert not carried(target, impossible)
    possible = demand(50, 100, "8KiB", "read p99 <= 0.81ms")
    assert bounded(target, possible).rejection(possible) is None


def test_writes_cost_what_the_raid_level_costs() -> None:
    """Without a cache a mirror writes each byte twice, so its drives are asked for twice as much as without redundancy."""
    used = {}
    for level in ("raid0", "raid10"):
        needs = bounded(f"array:nvme-raid10?group.mirror.raid.level={level}", demand(100_000, 0)).needs
        used[level] = next(need.used for need in needs if need.component == "nvme")
    assert used["raid10"] == pytest.approx(2 * used["raid0"], rel=0.02)


def test_writes_that_fill_rows_of_parity_are_not_taken_for_small_ones() -> None:
    """Four strips of data make a row of RAID 6 with six drives: 256 KiB at a random place need six writes, and no read before."""
    full = demand(220, 0, "256KiB")
    assert bounded("array:msa50-sas-10k-raid6-6", full).rejection(full) is None
    assert carried("array:msa50-sas-10k-raid6-6", full)


def test_a_skewed_load_is_not_excluded_by_its_drives() -> None:
    """Caches may answer all of it."""
    uniform, skewed = demand(5_000, 100), demand(5_000, 100, distribution="zipf:1.2")
    assert bounded("array:msa50-sas-10k-raid5-8", uniform).rejection(uniform) is not None
    assert bounded("array:msa50-sas-10k-raid5-8", skewed).rejection(skewed) is None


def test_what_a_flash_cache_answers_is_not_excluded_by_the_disks_behind_it() -> None:
    """Twelve disks of 7,200 rpm do some 2,000 random reads per second; the flash holds four fifths of 250 GB."""
    target, load = "array:bcache-writethrough?volumes.lun.size_bytes=250GB", demand(4_000, 100)
    assert bounded(target, load).rejection(load) is None
    assert carried(target, load)
    whole = demand(4_000, 100)
    assert bounded("array:bcache-writethrough", whole).rejection(whole) is not None
    # A fifth of the reads is left for the disks.
    sizes = (target, f"{target}&group.raid.flash_cache.size_bytes=1MiB")
    large, small = (next(need.used for need in bounded(one, load).needs if need.component == "disk") for one in sizes)
    assert large == pytest.approx(0.2 * small, rel=0.1)


def test_a_load_within_the_bound_is_left_to_the_simulation() -> None:
    # It carries 1,500 in the simulation; the bound is twice that.
    load = demand(1_500, 70)
    assert bounded("array:msa50-sas-10k-raid5-8", load).rejection(load) is None
