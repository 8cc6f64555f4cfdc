"""Each validity flag: raised by the numbers that should raise it, silent otherwise."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from plimsoll.analysis.point.observation import Observation
from plimsoll.analysis.point.summary import Summary
from plimsoll.analysis.validity import RULES, Evidence, samples, target
from plimsoll.analysis.validity.conclusion import conclude
from plimsoll.analysis.validity.evidence import at_least
from plimsoll.histogram import Histogram
from plimsoll.measure import Job, unfinished
from plimsoll.result import Flag, HostResult, OpTotals, Result
from plimsoll.target import Target
from support.scripted_engine import Script, ScriptedEngine, encoded, interval

#: A run that nothing is to be said against: 200 intervals, 20,000 requests of 1 ms at depth 10.
SOUND = Script(intervals=200, warmup_intervals=0, latencies_ns=(1_000_000,) * 1000)
ENGINE = {
    "backend": {"asked": "auto", "used": "uring", "fallback_reason": None},
    "engine": {"workers": 1, "clock": {"source": "tsc", "drift_ppm": 0.1}},
    "end_ns": 20_000_000_000,
    "cpu_ns": {"user": 1_000_000_000, "system": 1_000_000_000},
}
CALIBRATION = {"null": {"iops_per_core": 40e6}, "nop": {"iops_per_core": 10e6}}


def sound_result(stream: dict[str, Any] | None = None) -> Result:
    """A complete result before anything of its numbers is known."""
    engine = ScriptedEngine()
    workload = engine.check_workload({"stream": [{"name": "main", **(stream or {})}]}, "sound.toml")
    job = Job("0001-sound", workload, engine.check_job({"duration": 20, "warmup": 0}), Target("/dev/x"), {"target": {}})
    return replace(unfinished(job), status="complete", error=None, engine=ENGINE, calibration=CALIBRATION)


def judge(intervals: list[dict[str, Any]] | Script = SOUND, stream: dict[str, Any] | None = None, **changes: Any) -> dict[str, Flag]:
    """The flags of a run by name; ``changes`` replace fields of its result."""
    result = replace(sound_result(stream), **changes)
    if isinstance(intervals, Script):
        intervals = [interval(intervals, index, ["main"]) for index in range(intervals.warmup_intervals + intervals.intervals)]
    summary, observation = Summary(), Observation()
    for one in intervals:
        summary.add(one)
        observation.add(one)
    flags = conclude(result, summary, observation).flags
    return {flag.name: flag for flag in flags}


def altered(change: Any, script: Script = SOUND) -> list[dict[str, Any]]:
    """The intervals of a script, each passed through ``change(index, interval)``."""
    made = []
    for index in range(script.warmup_intervals + script.intervals):
        one = interval(script, index, ["main"])
        change(index, one)
        made.append(one)
    return made


def test_a_sound_run_has_no_flags() -> None:
    assert judge() == {}


def test_every_flag_has_a_message_with_numbers_and_advice() -> None:
    flags = judge(Script(intervals=3, warmup_intervals=0, latencies_ns=(100,) * 9, errors={"EIO": 1}), status="interrupted")
    assert len(flags) >= 4
    for flag in flags.values():
        assert any(character.isdigit() for character in flag.message), flag
        assert flag.message.endswith(".") and flag.advice.endswith(".")


def test_the_gravest_flag_stands_first() -> None:
    flags = list(judge(Script(intervals=3, warmup_intervals=0, latencies_ns=(1_000_000,) * 9, errors={"EIO": 1})).values())
    order = [("invalid", "doubt", "note").index(flag.severity) for flag in flags]
    assert order == sorted(order) and order[0] == 0


@pytest.mark.parametrize(("factor", "raised"), [(1.0, False), (0.96, False), (1.04, False), (0.9, True), (1.1, True)])
def test_littles_law_holds_within_five_percent(factor: float, raised: bool) -> None:
    def change(_: int, one: dict[str, Any]) -> None:
        one["inflight_mean"] *= factor

    assert ("littles_law" in judge(altered(change))) is raised


def test_a_queue_that_grew_until_the_end_does_not_break_littles_law() -> None:
    # Over 20 s the queue grows to 5,000, all of which complete afterwards after up to 10 s: on average 2,000 more in flight than counted.
    drain = interval(SOUND, SOUND.intervals, ["main"]) | {"phase": "drain", "summary": {"read": {"count": 5000, "max_ns": 10_000_000_000}}}
    intervals = altered(lambda _, one: one.update(inflight_mean=2010.0))
    assert "littles_law" in judge(intervals)
    assert "littles_law" not in judge([*intervals, drain])


@pytest.mark.parametrize(("factor", "raised"), [(1.5, False), (0.5, True)])
def test_failed_requests_were_in_flight_too(factor: float, raised: bool) -> None:
    # Half of all requests failed with EROFS: their time in flight is in no latency, so the law was said to be broken.
    def change(_: int, one: dict[str, Any]) -> None:
        one["inflight_mean"] *= factor

    failing = replace(SOUND, errors={"EROFS": 1000})
    assert ("littles_law" in judge(altered(change, failing))) is raised


def test_littles_law_is_not_asked_of_stamps() -> None:
    # 200 ns of service time is the clock's own cost, not time in flight.
    assert "littles_law" not in judge(altered(lambda _, one: one.update(inflight_mean=9.0), Script(latencies_ns=(200,) * 1000)))


def test_bytes_are_requests_times_size() -> None:
    assert "bandwidth_identity" not in judge(stream={"block_size": "4KiB"})
    flag = judge(stream={"block_size": "8KiB"})["bandwidth_identity"]
    assert flag.severity == "invalid"
    assert "4,096 bytes per request, but 8,192 were asked for" in flag.message
    assert "bandwidth_identity" not in judge(stream={"block_size": "4KiB-64KiB", "align": "4KiB"})
    assert "bandwidth_identity" not in judge(stream={"block_size": {"4KiB": 60, "8KiB": 40}})


def test_a_trend_is_not_steady() -> None:
    def climb(index: int, one: dict[str, Any]) -> None:
        one["summary"]["read"]["count"] += 5 * index

    flag = judge(altered(climb))["not_steady"]
    assert "SNIA SSS PTS" in flag.message
    assert re.search(r"changed by \+\d+ % across the measured time", flag.message)


def test_a_trend_of_more_than_the_mean_is_said_as_a_multiple_of_it() -> None:
    def fall(index: int, one: dict[str, Any]) -> None:
        one["summary"]["read"]["count"] = max(1, one["summary"]["read"]["count"] // 10**index)

    assert re.search(r" fell by [1-9]\.\d times its mean across the measured time", judge(altered(fall))["not_steady"].message)


def test_in_an_open_loop_latency_is_what_must_be_steady() -> None:
    def climb(index: int, one: dict[str, Any]) -> None:
        one["summary"]["read"]["mean_ns"] *= 1 + index / 100

    stream = {"arrival": "poisson", "rate": 10_000}
    assert "mean latency" in judge(altered(climb), stream)["not_steady"].message
    assert "not_steady" not in judge(altered(climb))


def rising(index: int, one: dict[str, Any]) -> None:
    """The first 30 of 200 intervals complete less, and all of them vary by some percent."""
    one["summary"]["read"]["count"] = round(1000 * (0.8 if index < 30 else 1.0) + (index * 37) % 41 - 20)


def test_a_beginning_that_still_settled_asks_for_a_longer_warm_up() -> None:
    flag = judge(altered(rising))["warmup_too_short"]
    assert "in the first 3 s" in flag.message and "IOPS 20% lower" in flag.message and "-3.0%" in flag.message
    assert "--warmup 3s" in flag.advice


@pytest.mark.parametrize(
    ("held", "begun_at", "raised"),
    [
        (lambda index: index, None, True),  # fills from the beginning to the end
        (lambda index: 100 + index, 0, False),  # destaged before it was measured
        (lambda index: 80, None, False),  # a load that destaging in pauses keeps up with
        (lambda index: min(20 + index, 100), 22, False),  # had filled after a hundredth of the time
    ],
)
def test_a_write_cache_that_fills_is_told_from_one_in_balance(held: Any, begun_at: int | None, raised: bool) -> None:
    script = replace(SOUND, warmup_intervals=20, intervals=200)

    def change(index: int, one: dict[str, Any]) -> None:
        destages = begun_at is not None and index >= begun_at
        one["write_caches"] = {"dirty_bytes": held(index) << 20, "begins_bytes": 100 << 20, "destages": destages}

    found = judge(altered(change, script)).get("cache_filling")
    assert (found is not None) is raised
    if found is not None:
        assert "filled from 19 to 100 %" in found.message and "--warmup 38s" in found.advice  # 81 MiB in 20 s: half as much again as 25 s


@pytest.mark.parametrize(("kept", "raised"), [(1.0, True), (0.3, True), (0.1, False), (0.0, False)])
def test_a_huge_write_cache_that_fills_slowly_is_told_by_how_much_of_what_was_written_stays_in_it(kept: float, raised: bool) -> None:
    # Of 64 GiB less than 1 % filled while it was measured: every write cost the drives nothing, and no share of the cache told so.
    script = replace(SOUND, warmup_intervals=20, intervals=200, ops=("write",))

    def change(index: int, one: dict[str, Any]) -> None:
        held = kept * (index + 1) * one["summary"]["write"]["bytes"]
        one["write_caches"] = {"dirty_bytes": round(held), "begins_bytes": 64 << 30, "destages": False}

    found = judge(altered(change, script)).get("cache_filling")
    assert (found is not None) is raised
    if found is not None:
        assert "%" in found.message and "from 0 to 0" not in found.message


@pytest.mark.parametrize(("op", "suspected"), [("write", True), ("read", False)])
def test_writes_that_were_faster_at_first_may_have_gone_into_a_cache(op: str, suspected: bool) -> None:
    def falling(index: int, one: dict[str, Any]) -> None:
        one["summary"][op]["count"] = round(1000 * (1.5 if index < 30 else 1.0) + (index * 37) % 41 - 20)

    flag = judge(altered(falling, replace(SOUND, ops=(op,))))["warmup_too_short"]
    assert ("A write cache that became full looks like this." in flag.advice) is suspected and "--warmup" in flag.advice


def test_advised_times_are_rounded_up_and_can_be_typed() -> None:
    # "--warmup 2.4e+03s" was refused when it was typed, and was less than the time it was about.
    assert [at_least(seconds) for seconds in (0.0411, 4.42, 10.0, 95.1, 2440.0, 123_456.0)] == [
        "0.042",
        "4.5",
        "10",
        "96",
        "2500",
        "130000",
    ]


def test_noise_alone_asks_for_no_longer_warm_up() -> None:
    alarms, sound = 0, sound_result()
    for seed in range(100):
        random, level = Random(seed), 0.0
        series = Observation()
        for index in range(100):
            level = 0.6 * level + random.gauss(0.0, 0.05)
            series.add({**interval(SOUND, index, ["main"]), "summary": {"read": {"count": round(1000 * (1 + level)), "mean_ns": 1e6}}})
        alarms += any(samples.warmup_too_short(Evidence(sound, series)))
    assert alarms <= 2


def test_a_short_or_slight_beginning_is_not_worth_a_word() -> None:
    def shortly(index: int, one: dict[str, Any]) -> None:
        rising(index + 22, one)

    def slightly(index: int, one: dict[str, Any]) -> None:
        one["summary"]["read"]["count"] = 980 if index < 30 else 1000

    assert "warmup_too_short" not in judge(altered(shortly))
    assert "warmup_too_short" not in judge(altered(slightly))


@pytest.mark.parametrize("goal", ["precision", "amount"])
def test_a_goal_that_was_not_reached_is_doubted(goal: str) -> None:
    name = {"precision": "precision_not_reached", "amount": "amount_not_reached"}[goal]
    flags = judge(ended={"by": "limit", "goal": goal, "how": "time limit of 60 s reached at ±3.1 % of mean, 2 % were asked"})
    assert flags[name].severity == "doubt" and "±3.1 %" in flags[name].message
    assert name not in judge(ended={"by": goal, "goal": goal, "how": "precise to ±1.8 % of mean after 12.0 s"})


def test_what_came_after_the_goal_is_not_judged() -> None:
    late = interval(replace(SOUND, latencies_ns=(30_000_000,)), 200, ["main"])
    late["phase"] = "after"
    assert judge([*(interval(SOUND, index, ["main"]) for index in range(200)), late]) == {}


def test_own_cost_above_a_tenth_of_the_service_time_is_generator_bound() -> None:
    # 1e9 / 10e6 = 100 ns of own cost against 800 ns.
    assert "12%" in judge(Script(intervals=100, latencies_ns=(800,) * 1000))["generator_bound"].message
    assert "generator_bound" not in judge(Script(intervals=100, latencies_ns=(2_000,) * 1000))


@pytest.mark.parametrize(("service_ns", "raised"), [(1_090, False), (920, True)])
def test_the_limit_is_a_tenth_of_the_service_time(service_ns: int, raised: bool) -> None:
    assert ("generator_bound" in judge(Script(intervals=100, latencies_ns=(service_ns,) * 1000))) is raised


def test_own_cost_is_that_of_the_path_that_was_used() -> None:
    # Without io_uring, 1e9 / 40e6 = 25 ns: little of 800 ns, and an eighth of 200 ns.
    threads = {**ENGINE, "backend": {"asked": "sync", "used": "sync", "fallback_reason": None}}
    assert "generator_bound" not in judge(Script(intervals=100, latencies_ns=(800,) * 1000), engine=threads)
    assert "generator_bound" in judge(Script(intervals=100, latencies_ns=(200,) * 1000), engine=threads)


def test_without_a_calibration_own_cost_is_not_judged() -> None:
    assert "generator_bound" not in judge(Script(intervals=100, latencies_ns=(800,) * 1000), calibration=None)


def test_own_cost_counts_against_service_time_not_against_waiting() -> None:
    waiting = Script(intervals=100, latencies_ns=(100_000,) * 1000, service_ns=(800,) * 1000)
    assert "generator_bound" in judge(waiting)


def test_a_busy_worker_at_small_latencies_is_generator_bound() -> None:
    busy = {**ENGINE, "cpu_ns": {"user": 5_000_000_000, "system": 14_800_000_000}}
    fast = Script(intervals=100, latencies_ns=(10_000,) * 1000)
    assert "99%" in judge(fast, engine=busy)["generator_bound"].message
    assert "generator_bound" not in judge(SOUND, engine=busy), "a slow target is not the CPU's fault"


@pytest.mark.parametrize("backend", ["null", "nop"])
def test_a_backend_without_data_says_so(backend: str) -> None:
    flag = judge(engine={**ENGINE, "backend": {"used": backend}})["generator_bound"]
    assert flag.severity == "note"


def _device(read_bytes_per_s: float) -> dict[str, Any]:
    return {"seconds": 20.0, "devices": {"sda": {"read_bytes_per_s": read_bytes_per_s}}}


TARGET = {"target": {"devices": [{"name": "sda", "below": None}]}}
#: SOUND moves 200 intervals × 1000 × 4096 bytes in 20 s.
WORKLOAD_BYTES_PER_S = 200 * 1000 * 4096 / 20


def test_reads_that_the_device_did_not_do_came_from_elsewhere() -> None:
    assert "page_cache_suspected" not in judge(host=TARGET, monitor=_device(WORKLOAD_BYTES_PER_S))
    direct = judge(host=TARGET, monitor=_device(WORKLOAD_BYTES_PER_S / 2))["page_cache_suspected"]
    assert direct.severity == "doubt" and "781 MiB" in direct.message and "391 MiB" in direct.message
    buffered = judge(stream={"direct": False}, host=TARGET, monitor=_device(0.0))["page_cache_suspected"]
    assert buffered.severity == "invalid"


def test_counters_that_were_read_late_make_no_doubt_of_a_run_of_300_ms() -> None:
    """Reading them 40 ms late at one end and 40 ms early at the other leaves 220 ms of 300, which is 73 % of the bytes."""
    rate = WORKLOAD_BYTES_PER_S

    def suspected(missed_s: float, run_s: float) -> bool:
        read = OpTotals(1000, 1000.0, int(rate * run_s), rate, 0, None, None)
        seen = {"seconds": run_s - missed_s, "devices": {"sda": {"read_bytes_per_s": rate}}}
        result = replace(sound_result(), host=TARGET, engine=ENGINE, monitor=seen, totals={"read": read})
        return any(target.page_cache_suspected(Evidence(result, Observation())))

    assert not suspected(0.08, 0.3)
    assert suspected(0.25, 0.3)
    assert suspected(7.0, 30.0)


def test_buffered_reads_are_doubted_when_the_device_cannot_be_seen() -> None:
    assert judge(stream={"direct": False})["page_cache_suspected"].severity == "doubt"
    seen = judge(stream={"direct": False}, host=TARGET, monitor=_device(WORKLOAD_BYTES_PER_S))
    assert seen["page_cache_suspected"].severity == "note"


def test_a_device_below_another_is_not_counted_twice() -> None:
    host = {"target": {"devices": [{"name": "md0", "below": None}, {"name": "sda", "below": "md0"}, {"name": "sdb", "below": "md0"}]}}
    counters = {"md0": {"read_bytes_per_s": WORKLOAD_BYTES_PER_S}, "sda": {"read_bytes_per_s": 0.0}, "sdb": {"read_bytes_per_s": 0.0}}
    assert "page_cache_suspected" not in judge(host=host, monitor={"seconds": 20.0, "devices": counters})


def _received(op: str, requests_per_s: float, mean_bytes: float) -> dict[str, Any]:
    """What a device counted, of one operation."""
    counters = {"r_per_s": 0.0, "w_per_s": 0.0, "read_bytes_per_s": 0.0, "write_bytes_per_s": 0.0}
    counters |= {f"{op[0]}_per_s": requests_per_s, f"{op}_bytes_per_s": requests_per_s * mean_bytes}
    return {"seconds": 20.0, "devices": {"sda": counters}}


@pytest.mark.parametrize("op", ["read", "write"])
@pytest.mark.parametrize(
    ("requests_per_s", "mean_bytes", "words"),
    [
        # 10,000 per second of 4 KiB are issued.
        (10_000, 4096, ""),
        (909, 45_056, "merged"),
        (8_900, 4_602, "merged"),
        (9_100, 4_501, ""),
        (3_000, 4096, ""),  # most of it was answered by something else
        (13_000, 24_000, ""),  # others read long ones beside it
        (20_000, 2048, "split"),
        (14_000, 2_926, ""),
        (20_000, 4096, ""),  # others
    ],
)
def test_requests_that_are_joined_or_cut_on_their_way_are_seen(op: str, requests_per_s: float, mean_bytes: float, words: str) -> None:
    monitor = _received(op, requests_per_s, mean_bytes)
    flag = judge(replace(SOUND, ops=(op,)), stream={"read_percent": 100 * (op == "read")}, host=TARGET, monitor=monitor).get(
        "requests_changed"
    )
    assert (flag is not None) is bool(words)
    if flag is not None:
        assert f"{words} on their way" in flag.message and "10,000" in flag.message and "4 KiB" in flag.message
        assert flag.severity == ("doubt" if words == "merged" else "note")


def test_who_asks_for_other_requests_at_the_device_is_told_how_many_they_are() -> None:
    merged = {"host": TARGET, "monitor": _received("read", 909, 45_056)}
    assert judge(**merged)["requests_changed"].severity == "doubt"
    assert "merge_depth" in judge(stream={"merge_depth": 8}, **merged)["requests_changed"].advice
    assert judge(stream={"merge_depth": 8}, **merged)["requests_changed"].severity == "note"
    assert judge(stream={"direct": False}, **merged)["requests_changed"].severity == "note"
    limited = {"target": {"devices": [{"name": "sda", "below": None, "request_bytes_max": 2048}]}}
    split = judge(host=limited, monitor=_received("read", 20_000, 2048))["requests_changed"]
    assert (split.severity, split.advice[:24]) == ("note", "The device takes 2 KiB a")


def test_pieces_are_what_devices_of_several_parts_receive() -> None:
    host = {"target": {"devices": [{"name": name, "below": None} for name in ("sda", "sdb")]}}
    counters = _received("read", 5_000, 4096)["devices"]["sda"]
    monitor = {"seconds": 20.0, "devices": {"sda": counters, "sdb": counters}}
    parted = replace(SOUND, parts=("0:/dev/sda", "1:/dev/sdb"), latencies_ns=(1_000_000,) * 500)
    assert "requests_changed" not in judge(parted, host=host, monitor=monitor)
    half = {**monitor, "devices": {"sda": counters, "sdb": {**counters, "r_per_s": 500.0}}}
    assert "sda, sdb received 5,500/s of" in judge(parted, host=host, monitor=half)["requests_changed"].message


def test_few_requests_and_unseen_devices_are_not_compared() -> None:
    few = Script(intervals=200, warmup_intervals=0, latencies_ns=(1_000_000,) * 4)
    assert "requests_changed" not in judge(few, host=TARGET, monitor=_received("read", 10, 16_384))
    assert "requests_changed" not in judge(host=TARGET, monitor={"seconds": 20.0, "devices": {"sdb": {}}})
    modelled = {**ENGINE, "backend": {"used": "array"}}
    assert "requests_changed" not in judge(engine=modelled, host=TARGET, monitor=_received("read", 909, 45_056))


def test_a_sound_run_beside_others_says_so() -> None:
    assert "other_load" not in judge(host=TARGET, monitor=_received("read", 10_000, 4096))
    assert judge(host=TARGET, monitor=_received("read", 15_000, 4096))["other_load"].severity == "doubt"


def test_holes_are_flagged_when_they_are_read() -> None:
    sparse = {"target": {"allocated_bytes": 300, "apparent_bytes": 1000}}
    assert "30%" in judge(host=sparse)["sparse_target"].message
    assert "sparse_target" not in judge(host={"target": {"allocated_bytes": 1000, "apparent_bytes": 1000}})
    assert "sparse_target" not in judge(
        Script(intervals=200, warmup_intervals=0, ops=("write",), latencies_ns=(1_000_000,) * 1000), host=sparse
    )


@pytest.mark.parametrize(
    ("size_gib", "stream", "severity", "words"),
    [
        (4.0, {}, None, ""),
        (1.0, {}, "note", "the cache of many controllers"),
        (0.0625, {}, "doubt", "the cache of many drives"),
        (16.0, {"direct": False}, "doubt", "the memory of this host (23 GiB)"),
        (64.0, {"direct": False}, None, ""),
        (64.0, {"region_length": "100MiB"}, "doubt", "The loaded area (100 MiB) fits into the cache of many drives"),
    ],
)
def test_a_load_that_a_cache_could_hold_is_flagged(size_gib: float, stream: dict[str, Any], severity: str | None, words: str) -> None:
    host = {"target": {**TARGET["target"], "size_bytes": int(size_gib * (1 << 30))}, "memory": {"total_bytes": 23 << 30}}
    flag = judge(stream=stream, host=host).get("fits_cache")
    assert (flag.severity if flag else None) == severity
    assert flag is None or words in flag.message
    in_memory = {**host, "target": {**host["target"], "medium": {"kind": "memory", "name": "tmpfs"}}}
    assert "fits_cache" not in judge(stream=stream, host=in_memory)


def test_a_target_in_memory_or_without_a_device_of_this_host_is_flagged() -> None:
    for kind, severity in (("memory", "doubt"), ("elsewhere", "note")):
        flag = judge(host={"target": {"medium": {"kind": kind, "name": "xfs over there"}}})["memory_backed"]
        assert flag.severity == severity and "xfs over there" in flag.message
    assert "memory_backed" not in judge(host=TARGET)


@pytest.mark.parametrize("stream", [{"content": "zeros"}, {"compress_ratio": 2}, {"duplicate_ratio": 3}, {"pattern": "0xdeadbeef"}])
def test_data_that_can_be_stored_smaller_is_noted(stream: dict[str, Any]) -> None:
    writes = replace_ops(SOUND, "write")
    assert judge(writes, {"read_percent": 0, **stream})["compressible_target"].severity == "note"
    assert "compressible_target" not in judge(writes, {"read_percent": 0})


def replace_ops(script: Script, *ops: str) -> Script:
    return replace(script, ops=ops)


@pytest.mark.parametrize(
    "facts",
    [
        {"filesystem": {"mount": {"type": "btrfs", "options": "rw,compress=zstd"}}},
        {"filesystem": {"mount": {"type": "zfs", "options": "rw"}}},
        {"devices": [{"name": "zram0"}]},
    ],
)
def test_a_layer_that_compresses_is_doubted(facts: dict[str, Any]) -> None:
    assert judge(replace_ops(SOUND, "write"), host={"target": facts})["compressible_target"].severity == "doubt"


def test_a_rate_that_is_not_achieved_is_flagged_below_97_percent() -> None:
    # SOUND completes 10,000/s.
    assert "rate_not_achieved" not in judge(stream={"arrival": "poisson", "rate": 10_200})
    flag = judge(stream={"arrival": "poisson", "rate": 12_500})["rate_not_achieved"]
    assert "80.0%" in flag.message


def test_a_rate_is_achieved_when_nothing_that_was_due_is_left() -> None:
    poisson = {"arrival": "poisson", "rate": 12_500}
    assert "rate_not_achieved" not in judge(stream=poisson, offered_per_s=12_500.0, engine=owing(0))
    assert "rate_not_achieved" in judge(stream=poisson, offered_per_s=12_500.0, engine=owing(50_000))


def test_a_point_whose_requests_all_fell_into_the_warm_up_is_invalid() -> None:
    flag = judge(Script(intervals=0, warmup_intervals=5))["nothing_measured"]
    assert flag.severity == "invalid" and "all 500 requests completed in the warm-up" in flag.message


def owing(unissued: int) -> dict[str, Any]:
    """What the engine says after a run with requests that were due and never issued."""
    return ENGINE | {"engine": ENGINE["engine"] | {"unissued": unissued}}


def test_lateness_of_the_generator_itself_is_flagged() -> None:
    def late(_: int, one: dict[str, Any]) -> None:
        one["lag"] = {"late": 50, "p99_ns": 2_000_000, "max_ns": 9_000_000}

    assert "5.0% of the requests" in judge(altered(late))["generator_lag"].message

    def hardly(_: int, one: dict[str, Any]) -> None:
        one["lag"] = {"late": 50, "p99_ns": 20_000, "max_ns": 30_000}

    assert "generator_lag" not in judge(altered(hardly))


@pytest.mark.parametrize(
    ("clock", "severity"),
    [
        ({"source": "clock_gettime", "drift_ppm": 0.0}, "note"),
        ({"source": "tsc", "drift_ppm": -80.0}, "note"),
        ({"source": "tsc", "drift_ppm": 2e5}, "doubt"),
    ],
)
def test_a_slow_or_drifting_clock_is_flagged(clock: dict[str, Any], severity: str) -> None:
    assert judge(engine={**ENGINE, "engine": {"workers": 1, "clock": clock}})["clock_source"].severity == severity


def test_a_fallback_from_io_uring_says_why() -> None:
    engine = {**ENGINE, "backend": {"asked": "auto", "used": "sync", "fallback_reason": "io_uring_setup: operation not permitted"}}
    assert "operation not permitted" in judge(engine=engine)["uring_fallback"].message


def test_a_hand_over_to_kernel_workers_is_flagged() -> None:
    engine = {**ENGINE, "engine": {**ENGINE["engine"], "iou_wrk_threads": 3}}
    assert "3 worker threads" in judge(engine=engine)["uring_handoff"].message


def test_a_change_to_system_calls_is_told_and_a_ring_that_stayed_says_what_was_tried() -> None:
    told = "the kernel handed requests of the ring to 3 threads of its own; since 0.4 s of the warm-up"
    changed = {
        **ENGINE,
        "backend": {"asked": "auto", "used": "sync", "fallback_reason": None},
        "engine": {**ENGINE["engine"], "facts": {"changeover": f"{told} system calls carry them"}},
    }
    flag = judge(engine=changed)["changed_over"]
    assert flag.severity == "note" and told in flag.message
    stayed = {**ENGINE, "engine": {**ENGINE["engine"], "iou_wrk_threads": 3, "facts": {"changeover": f"{told} they stay with the ring"}}}
    found = judge(engine=stayed)
    assert "changed_over" not in found
    assert "they stay with the ring" in found["uring_handoff"].advice


def test_failed_requests_make_a_result_invalid() -> None:
    flag = judge(replace(SOUND, errors={"EIO": 1}))["io_errors"]
    assert flag.severity == "invalid" and "200 × EIO on read" in flag.message


NONE = {"findings": 0, "sectors": 0}
VERIFY = {
    "sectors_checked": 100,
    "lost": {"findings": 1, "sectors": 8},
    "torn": NONE,
    "stale": {"findings": 2, "sectors": 2},
    "examples": [{"fault": "lost", "address": 4096}],
}


def test_wrong_data_makes_a_result_invalid() -> None:
    flag = judge(engine={**ENGINE, "verify": VERIFY})["wrong_data"]
    assert flag.severity == "invalid" and "1 lost, 2 stale" in flag.message
    assert "wrong_data" not in judge(engine={**ENGINE, "verify": {**VERIFY, "lost": NONE, "stale": NONE}})


def test_a_short_run_is_noted() -> None:
    assert "short_run" in judge(replace(SOUND, intervals=40))
    assert "short_run" not in judge(replace(SOUND, intervals=60))


@pytest.mark.parametrize(("count", "severity"), [(99, "doubt"), (999, "note"), (1_000, "note"), (9_999, "note"), (10_000, None)])
def test_percentiles_need_ten_samples_beyond_them(count: int, severity: str | None) -> None:
    script = Script(intervals=1, warmup_intervals=0, latencies_ns=(1_000_000,) * count)
    flag = judge(script).get("few_samples")
    assert (flag.severity if flag else None) == severity


def test_a_slow_request_in_the_drain_is_flagged() -> None:
    drain = interval(replace(SOUND, latencies_ns=(30_000_000,)), 200, ["main"])
    drain["phase"] = "drain"
    intervals = [*(interval(SOUND, index, ["main"]) for index in range(200)), drain]
    assert "30 ms" in judge(intervals)["drain_slower"].message


def test_a_target_that_gave_no_answer_is_named() -> None:
    said = judge(engine={"silence": {"ns": 12_300_000_000, "waiting": 64}})["no_answer"]
    assert said.message == "The target did not answer for 12.3 s while 64 requests waited."
    assert "no_answer" not in judge(engine={"silence": None})


def test_requests_without_an_answer_that_raise_a_latency_are_said() -> None:
    last = interval(SOUND, 0, ["main"])
    count = sum(cell["count"] for cell in last["cells"])
    ages = encoded((2_000_000_000,) * count)
    last["outstanding"] = [{"stream": "main", "op": "read", "count": count, "latency": ages}]
    said = judge([last])["unanswered"]
    assert f"{count:,} of {2 * count:,} requests were due and had no answer" in said.message and "2 s" in said.message


def test_a_wait_that_the_maximum_holds_is_not_called_understated() -> None:
    drain = interval(replace(SOUND, latencies_ns=(30_000_000,)), 200, ["main"])
    drain["phase"] = "drain"
    flags = judge([*(interval(SOUND, index, ["main"]) for index in range(200)), drain])
    assert "unanswered" in flags
    assert "marked ≥ include its wait" in flags["drain_slower"].message and "understated" not in flags["drain_slower"].message


@pytest.mark.parametrize(("status", "name"), [("interrupted", "interrupted"), ("incomplete", "incomplete")])
def test_a_point_cut_short_says_so(status: str, name: str) -> None:
    assert name in judge(status=status)


def test_modelled_results_say_so_and_are_not_judged_as_storage() -> None:
    flags = judge(modelled=True, host={"target": {"allocated_bytes": 0, "apparent_bytes": 9}}, engine={"backend": {"used": "queue"}})
    assert "Modelled" in flags["virtual_time"].message
    assert "generator_bound" not in flags


def on_array(*incidents: str, **facts: Any) -> dict[str, Any]:
    """What a result on a modelled array says of it; ``facts`` are of its target."""
    told = {"incidents": "; ".join(incidents)} if incidents else {}
    engine = {**ENGINE, "backend": {"asked": "auto", "used": "array", "fallback_reason": None}, "engine": {"facts": told}}
    return {"modelled": True, "engine": engine, "host": {"target": facts}}


FAILED, REPLACED = "1.000 s: member 0 of group vd1 failed", "1.000 s: member 0 of group vd1 replaced by a spare"


@pytest.mark.parametrize(("kind", "told"), [("disk", False), ("flash", True)])
def test_only_arrays_with_flash_are_to_be_preconditioned(kind: str, told: bool) -> None:
    # Arrays of 10K disks were to have their flash preconditioned.
    def climb(index: int, one: dict[str, Any]) -> None:
        one["summary"]["read"]["count"] += 5 * index

    array = on_array()
    array["engine"]["engine"]["components"] = [{"name": "one", "set": "one", "kind": kind}]
    advice = judge(altered(climb), **array)["not_steady"].advice
    assert advice.startswith("Warm up and measure longer")
    assert ("precondition flash" in advice) == told


def test_a_modelled_array_is_not_kept_from_measurements_which_claims_and_fits_compare_it_with() -> None:
    advice = judge(**on_array())["virtual_time"].advice
    assert "plimsoll reproduce" in advice and "never" not in advice
    queue = judge(modelled=True, engine={**ENGINE, "backend": {"asked": "auto", "used": "queue", "fallback_reason": None}})
    assert "never with real storage" in queue["virtual_time"].advice


def test_failed_requests_of_a_modelled_array_are_told_by_what_it_lost() -> None:
    script = replace(SOUND, errors={"EIO": 1})
    flag = judge(script, **on_array(FAILED, "2.500 s: member 3 of group vd1 failed"))["io_errors"]
    lost = "the modelled group vd1 lost data: its member 0 failed at 1.000 s and member 3 failed at 2.500 s."
    assert flag.message.endswith(lost) and "kernel" not in flag.advice
    rebuilt = judge(
        script, **on_array(FAILED, REPLACED, "2.000 s: member 0 of group vd1 rebuilt", "9.000 s: member 0 of group b; 2 failed")
    )
    assert "the modelled group b; 2 lost data: its member 0 failed at 9.000 s." in rebuilt["io_errors"].message
    both = judge(script, **on_array(FAILED, "9.000 s: member 0 of group b; 2 failed"))["io_errors"].message
    assert "at least one lost data: group vd1: member 0 failed at 1.000 s; group b; 2: member 0 failed at 9.000 s." in both
    assert "kernel" not in judge(script, **on_array())["io_errors"].advice
    assert "kernel log" in judge(script)["io_errors"].advice


@pytest.mark.parametrize(
    ("incidents", "cause"),
    [
        ((FAILED, REPLACED), "rebuild of member 0 of the modelled group vd1, from 1.000 s to beyond the end"),
        (
            (FAILED, REPLACED, "3.000 s: member 0 of group vd1 rebuilt"),
            "rebuild of member 0 of the modelled group vd1, from 1.000 s to 3.000 s",
        ),
        (
            ("2.000 s: member 0 of group vd1 copying back to a new drive", "9.000 s: member 0 of group vd1 copied back"),
            "cause is the copying back of member 0 of the modelled group vd1, from 2.000 s to 9.000 s",
        ),
        ((FAILED,), "failure of member 0 of the modelled group vd1 at 1.000 s"),
        (("30.000 s: member 0 of group vd1 failed",), "Warm up and measure longer"),
        ((), "Warm up and measure longer"),
    ],
)
def test_a_rebuild_is_named_where_the_response_is_not_steady(incidents: tuple[str, ...], cause: str) -> None:
    def halved(index: int, one: dict[str, Any]) -> None:
        if index >= 100:
            one["end_ns"], one["start_ns"] = one["end_ns"] + (index - 99) * 100_000_000, one["start_ns"] + (index - 100) * 100_000_000

    flag = judge(altered(halved), **on_array(*incidents))["not_steady"]
    assert cause in flag.advice
    assert ("Warm up" in cause) == ("longer" in flag.advice)


def test_a_failure_beyond_the_end_of_the_run_is_told() -> None:
    due = [{"group": "vd0", "member": 3, "time_s": time_s} for time_s in (5.0, 600.0)]
    flag = judge(**on_array(failures=due))["failure_not_reached"]
    assert flag.message == "The failure of member 3 of vd0 at 600 s comes after the end of the run (20 s)."
    assert "failure_not_reached" not in judge(**on_array(failures=due[:1]))
    flag = judge(**on_array(replacements=due))["failure_not_reached"]
    assert flag.message == "The replacement of member 3 of vd0 at 600 s comes after the end of the run (20 s)."
    assert "let new drives come sooner" in flag.advice


def of_files(**files: Any) -> dict[str, Any]:
    """What the engine says after a run of file operations."""
    return {
        **ENGINE,
        "backend": {"asked": "auto", "used": "files", "fallback_reason": None},
        "files": {"ran_out": False, "skipped": {}, **files},
    }


def test_operations_that_found_nothing_are_flagged_when_they_bend_the_mix() -> None:
    script = replace(SOUND, ops=("create", "delete"))
    flags = judge(script, engine=of_files(skipped={"main": {"create": 4000, "delete": 3}}))
    assert list(flags) == ["operations_skipped"]
    assert "skipped create 4,000 times because there was nothing to create" in flags["operations_skipped"].message
    # 3 of 200,000 deletions are no matter.
    assert judge(script, engine=of_files(skipped={"main": {"delete": 3}})) == {}


def test_a_run_in_which_nothing_was_left_to_do_says_so() -> None:
    assert [flag.severity for flag in judge(engine=of_files(ran_out=True)).values()] == ["note"]
    assert "ran_out" in judge(engine=of_files(ran_out=True))


def test_files_read_from_memory_are_a_doubt_because_a_cache_is_part_of_a_file_system() -> None:
    quiet = {"seconds": 20.0, "devices": {"sda": {"read_bytes_per_s": 1000.0}}}
    facts = {"target": {"devices": [{"name": "sda", "below": None}]}}
    flags = judge(replace(SOUND, ops=("read",)), engine=of_files(), monitor=quiet, host=facts)
    assert flags["page_cache_suspected"].severity == "doubt"


def test_only_operations_that_were_drawn_count_against_a_rate_of_file_operations() -> None:
    # 10,000 of each kind per second: a stream that draws reads and is offered 20,000 is not saved by its opening and closing.
    script = replace(SOUND, ops=("read", "open", "close"))
    stream = {"operation": "read", "arrival": "constant", "rate": 20_000}
    job = sound_result().job
    definition = {"stream": [{"name": "main", **stream}]}
    measured = judge(script, engine=of_files(), job=replace(job, definition=definition))
    offered = {flag: measured[flag].message for flag in measured if flag == "rate_not_achieved"}
    assert offered and "was offered 20,000/s" in offered["rate_not_achieved"]
    assert "(50.0%)" in offered["rate_not_achieved"], offered
    # 10,000 a second found no file: that is no fault of the target.
    nothing_there = of_files(skipped={"main": {"read": 200_000}})
    assert list(judge(script, engine=nothing_there, job=replace(job, definition=definition))) == ["operations_skipped"]


def replayed(**changes: Any) -> dict[str, Any]:
    """What the engine says of a trace of 1,000 requests that was replayed without fault."""
    histogram = Histogram()
    for _ in range(1000):
        histogram.record(1000)
    found = {
        "stream": "main",
        "speed": 1.0,
        "asked": 1000,
        "issued": 1000,
        "completed": 1000,
        "failed": 0,
        "changes": {"moved": 0, "rounded": 0, "shortened": 0},
        **dict.fromkeys(("lateness", "gaps_asked", "gaps_left"), histogram.encode()),
        "late": {"100us": 0, "1ms": 0},
        "late_for_gap": {"late": 0, "of": 999},
        "waited": 0,
        "outstanding": 1.0,
        "service_mean_ns": 1000,
        "course_ns": 20_000_000_000,
        "trace": {
            "span_ns": 20_000_000_000,
            "timed": True,
            "device_count": 1,
            "devices": ["sda"],
            "service": {"count": 0, "sum_ns": 0},
            "source": {"name": "t", "format": "a test", "sha256": ""},
        },
        **changes,
    }
    return {**ENGINE, "replays": [found], "lateness_report": changes.get("report")}


@pytest.mark.parametrize(
    ("late", "waited", "said"), [(10, 0, None), (11, 0, "the host was busy elsewhere"), (20, 10, "1.0% waited for a free slot")]
)
def test_a_replay_is_late_when_more_than_a_hundredth_is_later_than_a_millisecond(late: int, waited: int, said: str | None) -> None:
    flag = judge(engine=replayed(late={"100us": late, "1ms": late}, waited=waited)).get("replay_late")
    assert said in flag.message if flag and said else flag is None is said


def test_a_trace_that_was_not_replayed_to_its_end_says_so_unless_that_was_asked_for() -> None:
    cut = replayed(issued=400, completed=399)
    assert "399 of the 1,000 requests" in judge(engine=cut)["replay_cut"].message
    assert "replay_cut" not in judge(engine=cut, stream={"requests": 399})
    assert "replay_cut" not in judge(engine=replayed(completed=990, failed=10))


def test_what_differs_from_a_trace_is_noted() -> None:
    flag = judge(engine=replayed(changes={"moved": 5, "rounded": 1000, "shortened": 0}))["replay_changed"]
    assert (flag.severity, " 5 went to another address" in flag.message) == ("note", True)
    assert "1,000 were rounded to blocks" in flag.message and "shortened" not in flag.message
    assert "replay_changed" not in judge(engine=replayed())


def test_a_lateness_report_that_misses_requests_is_noted_and_one_that_could_not_be_written_doubted() -> None:
    report = {"path": "late.csv", "written": 900, "dropped": 100, "failure": None}
    flag = judge(engine=replayed(report=report))["report_incomplete"]
    assert flag.severity == "note" and "100 requests are missing in late.csv" in flag.message
    flag = judge(engine=replayed(report={**report, "dropped": 1, "failure": "No space left."}))["report_incomplete"]
    assert (flag.severity, flag.message) == (
        "doubt",
        "1 request is missing in late.csv, which could not be written to its end: No space left.",
    )
    assert "report_incomplete" not in judge(engine=replayed(report={**report, "dropped": 0}))


def decided(**changes: Any) -> dict[str, Any]:
    """What the driver of decision support says at the end of a whole run of scale 10, whose data no host holds."""
    load = {"data_bytes": 1 << 50, "checked": list(range(1, 23)), "wrong": [], "differences": []}
    found = {
        "scale": 10,
        "standard": True,
        "test": "both",
        "streams": 3,
        "least_streams": 3,
        "refresh": True,
        "queries_asked": list(range(1, 23)),
        "memory_bytes": 1 << 40,
        "own_cpu_share": 0.1,
        "whole": True,
    }
    return {**ENGINE, "decision": {**found, **changes, "load": {**load, **changes.get("load", {})}}}


def test_a_whole_run_of_decision_support_has_no_flags() -> None:
    assert judge(engine=decided()) == {}


def worked(number: int = 1, **changes: Any) -> dict[str, Any]:
    """A workflow that came to its end within its memory."""
    found = {"number": number, "iteration": 1, "status": "complete", "failure": None, "check": "ok"}
    return {**found, "max_rss_bytes": 100 << 20, "memory_bytes": 100 << 20, **changes}


def of_workflows(*workflows: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """What the engine says of a point of analytics: two workflows of 1 GiB on four processors, unless changed."""
    asked = {"workflows": 2, "direct": False}
    found = {
        "asked": asked,
        "data_bytes": 1 << 30,
        "cores": 4,
        "watching_cpu_s": 0.1,
        "workflows": list(workflows or (worked(), worked(2))),
    }
    return {**ENGINE, "analytics": {**found, **changes}}


def test_workflows_that_all_ended_within_their_memory_have_no_flags() -> None:
    assert judge(engine=of_workflows()) == {}


def test_a_workflow_that_failed_makes_its_level_invalid_and_says_why() -> None:
    failed = worked(2, status="failed", failure="its process was killed by SIGKILL in step sort.", check=None)
    flag = judge(engine=of_workflows(worked(), failed))["workflow_failed"]
    assert flag.severity == "invalid"
    assert flag.message.endswith(
        "1 of 2 workflows failed and the others went on without; workflow 2: its process was killed by SIGKILL in step sort."
    )
    assert "workflow_failed" not in judge(engine=of_workflows(worked(), worked(2, status="stopped")))


def test_rows_that_were_wrong_make_a_point_invalid() -> None:
    wrong = worked(2, status="failed", failure="…", check="wrong data: b.rows: row 3 does not have its checksum.", iteration=2)
    flag = judge(engine=of_workflows(worked(), wrong))["wrong_data"]
    assert flag.severity == "invalid"
    said = "Wrong data was read by 1 of 2 workflows; workflow 2 of iteration 2: b.rows: row 3 does not have its checksum."
    assert flag.message == said


def test_a_process_beyond_a_tenth_over_its_memory_is_doubted() -> None:
    assert "over_memory" not in judge(engine=of_workflows(worked(max_rss_bytes=110 << 20)))
    flag = judge(engine=of_workflows(worked(), worked(2, max_rss_bytes=(110 << 20) + 4096)))["over_memory"]
    assert (flag.severity, "Workflow 2 took 110 MiB; its cap is 100 MiB" in flag.message) == ("doubt", True)


def test_rows_that_the_page_cache_can_hold_are_doubted() -> None:
    host = {"target": {}, "memory": {"total_bytes": (1 << 30) + 1}}
    assert "rows_in_memory" in judge(engine=of_workflows(), host=host)
    assert "rows_in_memory" not in judge(engine=of_workflows(), host={**host, "memory": {"total_bytes": 1 << 30}})
    assert "rows_in_memory" not in judge(engine=of_workflows(asked={"workflows": 2, "direct": True}), host=host)


def test_watching_that_takes_more_than_a_hundredth_of_the_processors_is_doubted() -> None:
    # 20 s of four processors.
    assert "harness_share" not in judge(engine=of_workflows(watching_cpu_s=0.79))
    assert "used 1.1% of the processors" in judge(engine=of_workflows(watching_cpu_s=0.88))["harness_share"].message


def test_a_wrong_answer_makes_a_point_invalid() -> None:
    said = "query 6, row 1, column revenue: expected 123141078.2283, seen 0."
    flag = judge(engine=decided(load={"wrong": [6], "differences": [said]}))["wrong_answer"]
    assert flag.severity == "invalid"
    assert flag.message == f"1 of 22 answers are wrong (query 6): {said}"


def test_data_that_memory_holds_are_doubted() -> None:
    of_engine = judge(engine=decided(load={"data_bytes": 1 << 40}))["data_in_memory"]
    assert "fit into the 1 TiB that the engine may use" in of_engine.message
    host = {"target": {}, "memory": {"total_bytes": 1 << 50}}
    assert "page cache" in judge(engine=decided(), host=host)["data_in_memory"].message
    assert "data_in_memory" not in judge(engine=decided(memory_bytes=None), host={"target": {}, "memory": {"total_bytes": (1 << 50) - 1}})


def test_a_harness_that_uses_more_than_a_tenth_of_a_processor_is_doubted() -> None:
    assert "14% of one processor" in judge(engine=decided(own_cpu_share=0.14))["harness_share"].message


def test_less_than_the_whole_procedure_is_noted() -> None:
    partly = decided(scale=0.5, standard=False, queries_asked=[1, 6], refresh=False, streams=1)
    message = judge(engine=partly)["part_of_procedure"].message
    for said in ("scale 0.5 is none that", "2 of 22 queries", "no orders came and went", "1 streams are fewer than the 3"):
        assert said in message
    assert "part_of_procedure" not in judge(engine=decided(test="power", streams=1))


def test_a_procedure_that_the_time_cut_off_is_doubted() -> None:
    assert judge(engine=decided(whole=False))["procedure_cut"].severity == "doubt"
    assert "procedure_cut" not in judge(engine=decided(whole=False), status="interrupted")


def of_orders(**section: Any) -> dict[str, Any]:
    """The outcome of order entry that nothing is to be said against, with changes of its section."""
    stream = {"terminals": 10, "warehouses": 1, "customers": 3_000, "items": 100_000}
    sound = {"stream": stream, "broken": [], "size_bytes": 2 << 30, "orders_before": 30_000, "retries": {}, "own_share": None}
    return {**ENGINE, "backend": {**ENGINE["backend"], "used": "order-entry"}, "orders": {**sound, "loop_cpu_ns": 0, **section}}


HOST = {"cpu": {"usable": 4}, "memory": {"total_bytes": 1 << 30}}
OF_ORDERS = ("wrong_data", "harness_share", "small_tables", "crowded_warehouses", "tables_in_memory", "conflicts", "grown_tables")


def test_order_entry_without_doubts_has_no_flag_of_its_own() -> None:
    assert not judge(engine=of_orders(), host=HOST).keys() & set(OF_ORDERS)


@pytest.mark.parametrize(
    ("section", "name", "severity"),
    [
        ({"broken": ["consistency condition 1 does not hold in warehouse 1."]}, "wrong_data", "invalid"),
        ({"stream": {"customers": 2_999, "items": 100_000, "terminals": 1, "warehouses": 1}}, "small_tables", "doubt"),
        ({"stream": {"customers": 3_000, "items": 100_000, "terminals": 11, "warehouses": 1}}, "crowded_warehouses", "note"),
        ({"size_bytes": 1 << 30}, "tables_in_memory", "note"),
        ({"retries": {"deadlock": 300_000}}, "conflicts", "doubt"),
        ({"orders_before": 60_001}, "grown_tables", "note"),
        ({"loop_cpu_ns": 17_000_000_000}, "harness_share", "doubt"),
        ({"starved_ns": 10_200_000_000, "watched_s": 100.0}, "harness_share", "note"),
        ({"starved_ns": 200_000_000_000, "watched_s": 100.0}, "harness_share", "doubt"),
        ({"own_share": 0.5, "waits": {"locks": 0.6, "storage": 0.2, "processor": 0.2}}, "harness_share", "doubt"),
    ],
)
def test_flags_of_order_entry(section: dict[str, Any], name: str, severity: str) -> None:
    found = judge(engine=of_orders(**section), host=HOST)
    assert found[name].severity == severity
    assert [other for other in OF_ORDERS if other in found] == [name]


def test_a_harness_that_takes_a_tenth_of_the_processors_is_flagged() -> None:
    # 10 % of four processors for 20 s are 8 s.
    assert "harness_share" not in judge(engine={**of_orders(), "cpu_ns": {"user": 7_900_000_000, "system": 0}}, host=HOST)
    found = judge(engine={**of_orders(), "cpu_ns": {"user": 8_000_000_000, "system": 100_000_000}}, host=HOST)
    assert "Plimsoll itself used 10% of this host's processors" in found["harness_share"].message


def hosts(*changes: dict[str, Any]) -> list[HostResult]:
    """Hosts that began together on clocks that are known to 20 µs, each with changes."""
    sound = HostResult("db", "complete", offset_ns=5_000, offset_bound_ns=20_000, skew_ns=10_000, drift_ns=1_000, clock_set_ns=0)
    return [replace(sound, **{"name": f"db{number}", **change}) for number, change in enumerate(changes, start=1)]


def test_hosts_that_are_sound_raise_no_flag() -> None:
    assert judge(hosts=hosts({}, {}, {})) == {}


DOUBT = Flag("fits_cache", "doubt", "The loaded area (64 MiB) fits.", "Load more.")


@pytest.mark.parametrize(
    ("changes", "name", "severity", "said"),
    [
        (
            {"status": "lost", "error": "lost 3.2 s after the start: killed"},
            "host_missing",
            "invalid",
            "db2: lost 3.2 s after the start: killed;",
        ),
        ({"skew_ns": 1_020_000}, "start_apart", "note", "began 1.01 ms apart, db2 last"),
        # Intervals of the script last 100 ms.
        ({"skew_ns": 200_010_000}, "start_apart", "doubt", "began 200 ms apart"),
        ({"offset_bound_ns": 100_000_001}, "clocks_unknown", "doubt", "known to 100 ms, and an interval lasts 100 ms"),
        # 20 s at 200 ppm are 4 ms, and twice 20 µs are not known.
        ({"drift_ns": -4_050_000}, "clock_moved", "doubt", "moved by 4.05 ms"),
        ({"clock_set_ns": 3_000_000_000}, "clock_moved", "note", "set by 3 s"),
        ({"flags": [DOUBT]}, "host_doubts", "doubt", "fits cache on db2. The loaded area (64 MiB) fits."),
        ({"flags": [replace(DOUBT, severity="invalid")]}, "host_doubts", "invalid", "fits cache on db2"),
    ],
)
def test_flags_of_several_hosts(changes: dict[str, Any], name: str, severity: str, said: str) -> None:
    found = judge(hosts=hosts({}, changes))
    assert set(found) == {name}
    assert found[name].severity == severity
    assert said in found[name].message


@pytest.mark.parametrize(
    "changes",
    [{"skew_ns": 1_009_000}, {"offset_bound_ns": 100_000_000}, {"drift_ns": 4_030_000}, {"clock_set_ns": -49_000_000}],
)
def test_hosts_are_not_flagged_below_the_thresholds(changes: dict[str, Any]) -> None:
    assert judge(hosts=hosts({}, changes)) == {}


def rated(iops: float) -> dict[str, Any]:
    return {"totals": {"read": OpTotals(int(iops), iops, 0, 0.0, 0, None, None)}}


def test_a_host_that_is_no_equal_of_the_others_is_named() -> None:
    assert judge(hosts=hosts(rated(1000), rated(1200), rated(800))) == {}
    found = judge(hosts=hosts(rated(1000), rated(1000), rated(790)))
    assert found["hosts_unequal"].message == "db3 did 0.79 × the median of the hosts (790 of 1,000 per second)."
    assert judge(hosts=hosts(rated(1000), rated(10))) == {}, "of two nobody is the odd one out"


def test_notes_of_hosts_are_theirs_alone() -> None:
    assert judge(hosts=hosts({}, {"flags": [replace(DOUBT, severity="note")]})) == {}


def test_files_of_the_io_test_that_found_no_room_are_flagged() -> None:
    sizes = {"total_bytes": 4 << 30, "wanted_bytes": 64 << 30, "memory_bytes": 64 << 30}
    assert judge(engine={"io_test": {**sizes, "is_shrunk": True}})["files_shrunk"].severity == "doubt"
    assert "files_shrunk" not in judge(engine={"io_test": {**sizes, "is_shrunk": False}})


def test_every_rule_is_exercised_in_this_file() -> None:
    here = Path(__file__).read_text()
    flags = {"verification": "wrong_data", "inconsistent": "wrong_data", "wrong_rows": "wrong_data", "watching_share": "harness_share"}
    names = {flags.get(rule.__name__, rule.__name__) for rule in RULES}
    assert {name for name in names if here.count(f'"{name}"') == 0} == set()


def test_an_unmeasured_result_is_judged_without_numbers() -> None:
    assert judge([], status="failed") == {}


def test_a_target_without_any_stamp_is_not_called_corrupt() -> None:
    none = {"findings": 0, "bytes": 0}
    found = {
        "sectors_checked": 8192,
        "corrupt": {"findings": 8192, "bytes": 8192 * 512},
        **dict.fromkeys(("lost", "torn", "misdirected", "stale"), none),
    }
    flags = judge(engine={**ENGINE, "verify": found}, stream={"verify": "found"})
    assert "wrong_data" not in flags and "None of the 8,192 sectors" in flags["nothing_stamped"].message
    some = {**found, "corrupt": {"findings": 8191, "bytes": 8191 * 512}}
    assert "wrong_data" in judge(engine={**ENGINE, "verify": some}, stream={"verify": "found"})
