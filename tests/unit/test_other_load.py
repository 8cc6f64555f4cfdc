"""What others do on the devices and processors while it is measured is told with its amounts; what is our own is not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from plimsoll.monitor import counters
from plimsoll.monitor.sampler import Snapshot, sample
from plimsoll.result import Flag
from unit.test_validity import ENGINE, SOUND, judge

Json = dict[str, Any]

DISK: Json = {"name": "sda", "below": None, "request_bytes_max": 1 << 20}
PARTITION: Json = {"name": "sda1", "below": None}
BELOW: Json = {"name": "sda", "below": "sda1"}


def counted(reads: tuple[float, float] = (0, 0), writes: tuple[float, float] = (0, 0)) -> Json:
    """Counters of a device: requests and bytes per second."""
    return {"r_per_s": reads[0], "read_bytes_per_s": reads[1], "w_per_s": writes[0], "write_bytes_per_s": writes[1]}


def told(*devices: Json, stream: Json | None = None, script: Any = SOUND, seconds: float = 20.0, **monitored: Any) -> Flag | None:
    """The flag of 10,000 reads/s of 4 KiB each (40.96 MB/s) on these devices, whose counters are ``monitored`` under their names."""
    cpu = monitored.pop("cpu", None)
    filesystem = monitored.pop("filesystem", None)
    backend = monitored.pop("backend", "uring")
    host = {"target": {"devices": list(devices)} | ({"filesystem": filesystem} if filesystem else {})}
    monitor = {"seconds": seconds, "devices": monitored, **({"cpu": cpu} if cpu else {})}
    engine = {**ENGINE, "backend": {"used": backend}}
    return judge(script, stream, host=host, monitor=monitor, engine=engine).get("other_load")


OWN = (10_000.0, 40_960_000.0)


def test_a_device_that_did_more_than_was_asked_of_it_has_other_users() -> None:
    flag = told(DISK, sda=counted((15_000, 61_440_000)))
    assert flag is not None and flag.severity == "doubt"
    assert "5,000 reads/s (20.5 MB/s) on sda" in flag.message


def test_writes_of_others_beside_reads_of_ours_are_told() -> None:
    flag = told(DISK, sda=counted(OWN, (800, 3_276_800)))
    assert flag is not None and "800 writes/s (3.3 MB/s) on sda" in flag.message


def test_few_large_requests_of_others_are_found_by_their_bytes() -> None:
    flag = told(DISK, sda=counted((10_010, 40_960_000 + 10_485_760)))
    assert flag is not None and "10 reads/s (10.5 MB/s) on sda" in flag.message


@pytest.mark.parametrize(
    "counters_",
    [
        counted(OWN),
        counted((10_040, 41_120_000), (12, 98_304)),  # housekeeping and the results of this run
        counted((10_049, 41_160_000)),  # the counters were read 50 ms off at either end
        counted((909, 40_960_000)),  # merged on their way
    ],
)
def test_what_this_run_did_itself_is_no_other_load(counters_: Json) -> None:
    assert told(DISK, sda=counters_) is None


def test_long_requests_that_were_split_are_our_own() -> None:
    long = replace(SOUND, request_bytes=1 << 20, latencies_ns=(1_000_000,) * 100)  # 1,000/s of 1 MiB
    assert told(DISK, script=long, sda=counted((4_000, 1_048_576_000))) is None


@pytest.mark.parametrize("stream", [{"dsync": True}, {"flush_every": 1}])
def test_a_journal_that_writes_for_our_synchronous_writes_is_no_other_load(stream: Json) -> None:
    writes = replace(SOUND, ops=("write", "flush") if "flush_every" in stream else ("write",))
    seen = counted(writes=(30_000, 40_960_000 + 10_000 * 12_288))
    mount = {"mount": {"type": "ext4"}}
    asked = {"read_percent": 0, **stream}
    assert told(DISK, script=writes, stream=asked, filesystem=mount, sda=seen) is None
    assert told(DISK, script=writes, stream=asked, sda=seen) is not None, "a device has no journal"


def test_what_the_page_cache_reads_or_writes_back_is_not_judged() -> None:
    assert told(DISK, stream={"direct": False}, sda=counted((40_000, 400_000_000))) is None
    assert told(DISK, stream={"direct": False}, sda=counted((0, 0), (500, 8_192_000))) is not None, "reads bring no writes"
    assert told(DISK, backend="mmap", sda=counted((40_000, 400_000_000))) is None


def test_users_of_another_partition_are_seen_on_the_disk_below() -> None:
    flag = told(PARTITION, BELOW, sda1=counted(OWN), sda=counted((12_000, 49_152_000)))
    assert flag is not None and "2,000 reads/s (8.2 MB/s) on sda" in flag.message and "sda1" not in flag.message


def test_what_others_do_on_the_partition_is_not_told_again_of_its_disk() -> None:
    both = counted((12_000, 49_152_000))
    flag = told(PARTITION, BELOW, sda1=both, sda=both)
    assert flag is not None and flag.message.count("reads/s") == 1 and "on sda1" in flag.message


def test_the_disk_below_a_loop_device_is_looked_at_if_nothing_is_cached_in_between() -> None:
    below = {"name": "sda", "below": "loop0"}
    for direct, found in ((True, True), (False, False)):
        loop = {"name": "loop0", "below": None, "backing": {"path": "/x", "type": "ext4", "direct": direct}}
        flag = told(loop, below, loop0=counted(OWN), sda=counted((12_000, 49_152_000)))
        assert (flag is not None) is found


def test_the_members_of_a_raid_multiply_and_are_not_looked_at() -> None:
    below = [{"name": name, "below": "md0"} for name in ("sda", "sdb")]
    seen = counted((20_000, 81_920_000), (9_000, 90_000_000))
    assert told({"name": "md0", "below": None}, *below, md0=counted(OWN), sda=seen, sdb=seen) is None


def test_programs_of_others_and_stolen_time_are_told_with_their_shares() -> None:
    cpu = {"user_percent": 76.0, "own_user_percent": 4.0, "system_percent": 10.0, "idle_percent": 2.0, "steal_percent": 12.0}
    flag = told(DISK, sda=counted(OWN), cpu=cpu)
    assert flag is not None and flag.severity == "doubt"
    assert "other programs had 72 % of the processors' time" in flag.message and "gave 12.0 % of the processors' time" in flag.message


@pytest.mark.parametrize(("steal", "severity"), [(0.9, None), (1.0, "note"), (9.9, "note"), (10.0, "doubt"), (39.9, "doubt")])
def test_stolen_time_is_as_grave_as_it_can_move_the_rate(steal: float, severity: str | None) -> None:
    flag = told(DISK, sda=counted(OWN), cpu={"user_percent": 5.0, "own_user_percent": 5.0, "steal_percent": steal})
    assert (flag.severity if flag else None) == severity


@pytest.mark.parametrize(("own", "raised"), [(60.0, False), (41.0, False), (39.0, True)])
def test_the_work_of_this_process_is_not_that_of_others(own: float, raised: bool) -> None:
    assert (told(DISK, sda=counted(OWN), cpu={"user_percent": 60.0, "own_user_percent": own}) is not None) is raised


def test_results_without_the_evidence_have_no_flag() -> None:
    assert told(DISK, sda=counted(OWN), cpu={"user_percent": 90.0}) is None
    assert told(DISK, sdb=counted((50_000, 1e9))) is None


def test_a_sample_tells_the_part_of_user_time_that_is_this_processs_own() -> None:
    per_s = counters.TICKS_PER_S
    stat = ["cpu  0 0 0 0 0 0 0 0\n", f"cpu  {2 * per_s} 0 0 {6 * per_s} 0 0 0 0\n"]
    before, after = (Snapshot(second * 10**9, {"stat": text}, own) for second, text, own in ((0, stat[0], 7.0), (2, stat[1], 7.5)))
    # Two seconds of four processors: 8 s, of which 2 s in user mode, 0.5 s of them here.
    assert sample(before, after)["cpu"]["user_percent"] == 25.0
    assert sample(before, after)["cpu"]["own_user_percent"] == pytest.approx(6.25)
