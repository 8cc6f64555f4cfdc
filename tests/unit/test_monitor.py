"""iostat's, vmstat's and /proc/stat's definitions on readings with known answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.monitor import counters
from plimsoll.monitor.sampler import Sampler, Snapshot, sample

#: Two readings of the same disk two seconds apart; the columns are those of Documentation/admin-guide/iostats.rst.
BEFORE = "   8       0 sda 1000 5 80000 3000 500 9 40000 2000 0 4000 5000 10 0 800 1 20 30\n"
AFTER = "   8       0 sda 1400 7 112000 3800 600 9 44000 2500 3 5000 7000 12 0 880 1 24 31\n"


def test_device_rates_have_the_definitions_of_iostat() -> None:
    rates = counters.disk_rates(counters.parse_diskstats(BEFORE)["sda"], counters.parse_diskstats(AFTER)["sda"], 2.0)
    assert rates == {
        "r_per_s": 200.0,  # 400 reads / 2 s
        "w_per_s": 50.0,  # 100 writes / 2 s
        "read_bytes_per_s": 16_000 * 512.0,  # 32,000 sectors / 2 s
        "write_bytes_per_s": 2_000 * 512.0,
        "r_await_ms": 2.0,  # 800 ms / 400 reads
        "w_await_ms": 5.0,  # 500 ms / 100 writes
        "queue_mean": 1.0,  # 2000 weighted ms / 2000 ms
        "util_percent": 50.0,  # 1000 busy ms / 2000 ms
        "discards_per_s": 1.0,
        "flushes_per_s": 2.0,
    }


def test_an_idle_device_waits_for_nothing() -> None:
    idle = counters.parse_diskstats(BEFORE)["sda"]
    rates = counters.disk_rates(idle, idle, 1.0)
    assert set(rates.values()) == {0.0}
    assert not counters.did_something(idle, idle)


def test_utilisation_never_exceeds_all_of_the_time() -> None:
    before, after = counters.parse_diskstats(BEFORE)["sda"], counters.parse_diskstats(AFTER)["sda"]
    assert counters.disk_rates(before, after, 0.9)["util_percent"] == 100.0


def test_counters_of_old_kernels_read_zero_where_they_lack_columns() -> None:
    old = counters.parse_diskstats("8 0 sda 1 2 3 4 5 6 7 8 9 10 11\n")["sda"]
    assert (old.weighted_ms, old.discards, old.flushes) == (11, 0, 0)


def test_cpu_shares_add_up_to_the_whole() -> None:
    before = counters.parse_cpu("cpu  100 10 50 800 20 5 5 10 0 0\ncpu0 1 2 3\n")
    after = counters.parse_cpu("cpu  130 20 80 840 60 10 10 50 0 0\n")
    assert before is not None and after is not None
    # 200 ticks: 40 user (nice included), 40 system (interrupts included), 40 idle, 40 iowait, 40 steal.
    assert counters.cpu_shares(before, after) == dict.fromkeys(
        ("user_percent", "system_percent", "idle_percent", "iowait_percent", "steal_percent"), 20.0
    )
    assert counters.cpu_shares(before, before) is None


def test_a_stat_file_without_cpu_is_absent() -> None:
    assert counters.parse_cpu("") is None
    assert counters.parse_cpu("intr 1 2 3") is None


def test_blocks_are_of_4096_bytes() -> None:
    before = counters.parse_paging("nr_free_pages 7\npgpgin 1000\npgpgout 2000\n")
    after = counters.parse_paging("pgpgin 5000\npgpgout 2400\npswpin 3\n")
    # 4,000 KiB in and 400 KiB out in 2 s, four KiB to a block.
    assert counters.paging_rates(before, after, 2.0) == {"blocks_in_per_s": 500.0, "blocks_out_per_s": 50.0}
    assert counters.paging_rates({}, after, 2.0) is None


def _snapshot(seconds: float, diskstats_text: str) -> Snapshot:
    return Snapshot(round(seconds * 1e9), {"diskstats": diskstats_text, "stat": "", "vmstat": ""})


def test_a_sample_names_active_devices_and_those_of_the_target() -> None:
    idle = "7 0 loop0 0 0 0 0 0 0 0 0 0 0 0\n8 16 sdb 5 0 0 0 0 0 0 0 0 0 0\n"
    made = sample(_snapshot(1.0, BEFORE + idle), _snapshot(3.0, AFTER + idle), always=["sdb"])
    assert list(made["devices"]) == ["sda", "sdb"]
    assert made["devices"]["sda"]["r_per_s"] == 200.0
    assert made["seconds"] == 2.0
    assert "cpu" not in made and "paging" not in made


def test_a_device_that_appears_during_the_run_is_left_out_once() -> None:
    assert sample(_snapshot(0, ""), _snapshot(1, BEFORE))["devices"] == {}


def test_a_counter_file_that_is_absent_leaves_its_section_out(tmp_path: Path) -> None:
    (tmp_path / "stat").write_text("cpu 1 2 3 4 5 6 7 8\n")
    with Sampler(str(tmp_path)) as sampler:
        before, after = sampler.snapshot(), sampler.snapshot()
    assert list(before.texts) == ["stat"]
    assert "devices" not in sample(before, after)


def test_long_counter_files_are_read_to_their_end(tmp_path: Path) -> None:
    lines = "".join(f"8 {index} sd{index} 1 2 3 4 5 6 7 8 9 10 11\n" for index in range(1000))
    (tmp_path / "diskstats").write_text(lines)
    with Sampler(str(tmp_path)) as sampler:
        assert len(counters.parse_diskstats(sampler.snapshot().texts["diskstats"])) == 1000


@pytest.mark.skipif(not Path("/proc/diskstats").exists(), reason="no /proc/diskstats here")
def test_this_host_can_be_sampled() -> None:
    with Sampler() as sampler:
        before = sampler.snapshot()
        after = sampler.snapshot()
    assert after.monotonic_ns > before.monotonic_ns
    assert "devices" in sample(before, after)


def test_the_file_of_a_device_says_what_its_line_among_all_says() -> None:
    line = BEFORE.splitlines()[0].split()
    assert counters.parse_block_stat(" ".join(line[3:]) + "\n") == counters.parse_diskstats(BEFORE)[line[2]]
    assert counters.parse_block_stat("") is None
