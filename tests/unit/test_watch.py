"""Watching devices: readings from counters with known answers, distributions, and the command from start to Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from plimsoll.analysis.sizing.demand import COLUMNS, METRICS, Observed, demand_document, nearest_rank, observed_devices
from plimsoll.cli import watch as command
from plimsoll.errors import TargetError
from plimsoll.host import device as host_device
from plimsoll.monitor import watch
from plimsoll.monitor.counters import disk_rates, parse_diskstats
from plimsoll.monitor.sampler import Snapshot
from plimsoll.monitor.watch import Reading, Timing, columns
from plimsoll.reports.terminal.demand import distribution, head, line
from support.patience import HANGS_S
from support.said import Plimsoll


def counters(second: float, name: str = "sda") -> str:
    """A disk that reads 200 × 8 KiB and writes 100 × 16 KiB per second, reads waiting 2 ms and writes 5 ms, half of the time busy."""
    reads, writes = round(200 * second), round(100 * second)
    fields = [
        reads,
        0,
        reads * 16,
        reads * 2,
        writes,
        0,
        writes * 32,
        writes * 5,
        0,
        round(500 * second),
        round(900 * second),
        0,
        0,
        0,
        0,
        0,
        0,
    ]
    return f"   8       0 {name} {' '.join(map(str, fields))}\n"


class Clock:
    """Virtual time; waiting passes it."""

    def __init__(self) -> None:
        self.now = 100.0
        self.waits: list[float] = []
        self.stop_after = float("inf")

    def wait(self, seconds: float) -> bool:
        self.waits.append(seconds)
        left = self.stop_after - (self.now - 100.0)
        self.now += min(seconds, max(0.0, left))
        return seconds > left

    def __call__(self) -> float:
        return self.now


class Counters:
    """A sampler of scripted counters at the clock's time."""

    def __init__(self, clock: Clock, text: Callable[[float], str] = counters, delay: float = 0.0) -> None:
        self._clock, self._text, self._delay = clock, text, delay

    def snapshot(self) -> Snapshot:
        self._clock.now += self._delay
        second = self._clock.now - 100.0
        return Snapshot(round(self._clock.now * 1e9), {"diskstats": self._text(second)})

    def __enter__(self) -> Counters:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def readings(timing: Timing, clock: Clock, sampler: Counters | None = None, devices: tuple[str, ...] = ("sda",)) -> list[Reading]:
    return list(watch.watch(devices, timing, wait=clock.wait, sampler=sampler or Counters(clock), clock=clock))  # type: ignore[arg-type]


def test_readings_have_the_names_and_units_of_iostat() -> None:
    (reading,) = readings(Timing(2.0, 2.0), Clock())
    assert (reading.device, reading.seconds) == ("sda", 2.0)
    assert reading.columns == {
        "r/s": 200.0,
        "rkB/s": 1600.0,
        "r_await": 2.0,
        "rareq-sz": 8.0,
        "w/s": 100.0,
        "wkB/s": 1600.0,
        "w_await": 5.0,
        "wareq-sz": 16.0,
        "d/s": 0.0,
        "f/s": 0.0,
        "aqu-sz": 0.9,
        "%util": 50.0,
    }
    assert set(reading.columns) == set(COLUMNS)


def test_an_idle_interval_is_zero_and_divides_by_nothing() -> None:
    idle = parse_diskstats(counters(0))["sda"]
    assert set(columns(disk_rates(idle, idle, 1.0)).values()) == {0.0}


def test_late_readings_delay_no_other() -> None:
    clock = Clock()
    seen = readings(Timing(1.0, 4.0), clock, Counters(clock, delay=0.25))
    # The first reading is taken before time starts; every later one is 0.25 s late, and the wait is shorter by that.
    assert clock.waits == [1.0, 0.75, 0.75, 0.75]
    assert [reading.seconds for reading in seen] == [1.25, 1.0, 1.0, 1.0]


def test_instants_that_were_slept_through_are_one_long_interval() -> None:
    clock = Clock()
    going = watch.watch(["sda"], Timing(1.0, 9.0), wait=clock.wait, sampler=Counters(clock), clock=clock)  # type: ignore[arg-type]
    seconds = [next(going).seconds]
    clock.now += 3.25  # until 4.25 s after the start
    seconds += [reading.seconds for reading in going]
    assert seconds == [1.0, 4.0, 1.0, 1.0, 1.0, 1.0]


def test_a_duration_that_is_no_multiple_ends_on_time_and_leaves_out_a_short_rest() -> None:
    clock = Clock()
    assert [reading.seconds for reading in readings(Timing(1.0, 2.25), clock)] == [1.0, 1.0]
    assert clock.now == 102.25
    assert [reading.seconds for reading in readings(Timing(1.0, 2.75), Clock())] == [1.0, 1.0, 0.75]


def test_being_stopped_keeps_what_is_most_of_an_interval() -> None:
    for stop_after, seconds in ((2.75, [1.0, 1.0, 0.75]), (2.25, [1.0, 1.0]), (0.1, [])):
        clock = Clock()
        clock.stop_after = stop_after
        assert [round(reading.seconds, 9) for reading in readings(Timing(1.0), clock)] == seconds


def test_several_devices_are_read_at_the_same_instants() -> None:
    clock = Clock()
    both = Counters(clock, lambda second: counters(second) + counters(second * 2, "sdb"))
    seen = readings(Timing(1.0, 2.0), clock, both, ("sdb", "sda"))
    assert [(reading.device, reading.columns["r/s"]) for reading in seen] == [("sdb", 400.0), ("sda", 200.0)] * 2


def test_a_device_without_counters_is_refused_before_anything_is_shown() -> None:
    with pytest.raises(TargetError, match=r"sdz: the kernel keeps no counters of it; there are sda\."):
        readings(Timing(1.0, 1.0), Clock(), devices=("sdz",))


def test_a_host_without_diskstats_is_refused() -> None:
    with pytest.raises(TargetError, match="/proc/diskstats: cannot be read"):
        watch.check_counted(["sda"], Snapshot(0, {}))


def test_a_device_that_vanishes_ends_the_watch() -> None:
    clock = Clock()
    going = watch.watch(["sda"], Timing(1.0, 9.0), wait=clock.wait, sampler=Counters(clock, vanishing), clock=clock)  # type: ignore[arg-type]
    assert [next(going).seconds, next(going).seconds] == [1.0, 1.0]
    with pytest.raises(TargetError, match="sda: it has gone"):
        next(going)


def vanishing(second: float) -> str:
    return counters(second) if second < 3 else counters(second, "sdb")


def test_a_device_that_went_and_came_back_gives_no_nonsense() -> None:
    clock = Clock()
    replugged = Counters(clock, lambda second: counters(second + 50 if second < 2 else second - 2))
    assert [reading.columns["r/s"] for reading in readings(Timing(1.0, 4.0), clock, replugged)] == [200.0, 200.0, 200.0]


def observed(*intervals: tuple[float, dict[str, float]]) -> Observed:
    found = Observed("sda", {"model": "DISK"})
    for seconds, given in intervals:
        found.add(seconds, {**dict.fromkeys(COLUMNS, 0.0), **given})
    return found


def test_percentiles_are_values_that_occurred() -> None:
    values = [float(value) for value in range(1, 21)]
    assert [nearest_rank(values, percent) for percent in (0.1, 5, 50, 95, 95.1, 100)] == [1, 1, 10, 19, 20, 20]
    assert nearest_rank([7.0], 99) == 7


def test_means_of_rates_are_over_time_and_those_of_sizes_and_waits_over_requests() -> None:
    found = observed(
        (1.0, {"r/s": 100.0, "rkB/s": 400.0, "rareq-sz": 4.0, "r_await": 1.0}),
        (3.0, {"r/s": 10.0, "rkB/s": 640.0, "rareq-sz": 64.0, "r_await": 9.0}),
    )
    means = {name: figures.mean for name, figures in found.summary().items()}
    assert means["r/s"] == pytest.approx(130 / 4)
    assert means["rareq-sz"] == means["areq-sz"] == pytest.approx((400 + 3 * 640) / 130)
    assert means["r_await"] == pytest.approx((100 * 1 + 30 * 9) / 130)


def test_intervals_without_reads_say_nothing_of_their_size_and_wait() -> None:
    found = observed((1.0, {"r/s": 1.0, "r_await": 5.0, "rareq-sz": 4.0, "rkB/s": 4.0}), *[(1.0, {"w/s": 1.0})] * 9)
    reads, mix = found.distribution("r_await"), found.distribution("%read")
    assert reads is not None and (reads.p50, reads.intervals) == (5.0, 1)
    assert mix is not None and (mix.mean, mix.p50, mix.max, mix.intervals) == (10.0, 0.0, 100.0, 10)
    assert found.percentile("r/s", 50) == 0.0


def test_the_document_keeps_every_interval_and_reads_back() -> None:
    found = observed((1.0, {"r/s": 123.456789, "rkB/s": 400.0}), (0.99987654, {"w/s": 3.0}))
    document = json.loads(json.dumps(demand_document([found], {"interval_s": 1.0, "ended_by": "stopped"})))
    assert (document["schema"], document["ended_by"]) == ("plimsoll.demand/1", "stopped")
    device = document["devices"][0]
    assert (device["name"], device["model"], device["intervals"]) == ("sda", "DISK", 2)
    assert device["columns"]["r/s"] == [123.46, 0.0]
    assert device["seconds"] == [1.0, 0.99988]
    assert set(device["summary"]) <= set(METRICS)
    (again,) = observed_devices(document, "d.json")
    assert again.percentile("iops", 100) == 123.46


def test_columns_stand_below_their_heads() -> None:
    text = line("nvme0n1p2", dict.fromkeys(COLUMNS, 1.5))
    assert len(text) == len(head())
    assert head().split()[:3] == ["Device", "r/s", "rkB/s"]


def test_the_distribution_says_what_was_watched() -> None:
    shown = distribution(observed(*[(1.0, {"r/s": 4000.0, "rkB/s": 16000.0, "rareq-sz": 4.0, "r_await": 0.25, "%util": 40.0})] * 65))
    assert shown.splitlines()[0] == "sda (DISK): 65 intervals in 1:05"
    rows = {row.split()[0]: row.split()[1:] for row in shown.splitlines()[3:]}
    assert rows["iops"] == ["4,000"] * 6 + ["65"]
    assert rows["r_await"][0] == "ms" and rows["%read"][0] == "100"
    assert distribution(observed((1.0, {}), (1.0, {}))) == "sda (DISK): 2 intervals in 2.0 s, in which it did nothing"
    assert distribution(observed()).endswith("0 intervals in 0.0 s")


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Clock]:
    """A host with the disks sda and sdb, in virtual time."""
    made = Clock()
    for name in ("sda", "sdb"):
        (tmp_path / "block" / name).mkdir(parents=True)
    for module in (watch, host_device):
        monkeypatch.setattr(module, "SYS_BLOCK", str(tmp_path / "block"))
    monkeypatch.setattr(watch, "Sampler", lambda: Counters(made, lambda second: counters(second) + counters(0, "sdb")))
    monkeypatch.setattr(watch.watch, "__kwdefaults__", {"sampler": None, "clock": made})
    monkeypatch.setattr(command._Stop, "wait", lambda self, seconds: made.wait(seconds) or self.pulled)
    yield made


def test_the_command_shows_a_line_per_interval_and_the_distribution(plimsoll: Plimsoll, clock: Clock) -> None:
    said = plimsoll("watch", "sda", "--duration", "3s")
    assert (said.code, said.err) == (0, "")
    lines = said.out.splitlines()
    assert lines[0].split()[0] == "Device"
    assert [text.split()[:2] for text in lines[1:4]] == [["sda", "200.00"]] * 3
    assert "sda: 3 intervals in 3.0 s" in said.out


def test_the_command_prints_json_and_keeps_the_lines_off_it(plimsoll: Plimsoll, clock: Clock) -> None:
    said = plimsoll("watch", "sda", "sdb", "sda", "-d", "2s", "--json")
    assert [(device["name"], device["asked"], device["intervals"]) for device in said.json["devices"]] == [
        ("sda", ["sda"], 2),
        ("sdb", ["sdb"], 2),
    ]
    assert said.json["ended_by"] == "duration"
    assert said.err.startswith("Device")


def test_what_was_watched_can_be_sized(plimsoll: Plimsoll, clock: Clock) -> None:
    said = plimsoll("watch", "sda", "-d", "30s", "-o", "demand.json")
    assert said.err == "demand   demand.json\n"
    demand = plimsoll("size", "--from", "demand.json", "--json").json["demand"]
    assert (demand["iops"], demand["bytes_per_s"]) == (300, 3200 * 1024)
    assert demand["read_percent"] == pytest.approx(200 / 3)
    assert demand["block_bytes"] == pytest.approx(3200 * 1024 / 300)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_it_normally(plimsoll: Plimsoll, clock: Clock, monkeypatch: pytest.MonkeyPatch, number: signal.Signals) -> None:
    def wait(stop: command._Stop, seconds: float) -> bool:
        if len(clock.waits) == 3:
            os.kill(os.getpid(), number)
            os.kill(os.getpid(), number)  # impatience changes nothing
            seconds *= 0.8
        return clock.wait(seconds) or stop.pulled

    monkeypatch.setattr(command._Stop, "wait", wait)
    before = signal.getsignal(number)
    said = plimsoll("watch", "sda", "-o", "demand.json")
    assert said.code == 0
    assert "sda: 4 intervals in 3.8 s" in said.out
    assert json.loads(Path("demand.json").read_text())["ended_by"] == "stopped"
    assert signal.getsignal(number) == before


def test_a_signal_ends_the_real_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    with command._Stop() as stop:
        assert stop.wait(0) is False
        os.kill(os.getpid(), signal.SIGINT)
        assert stop.wait(HANGS_S) is True


def test_stopping_before_the_first_interval_is_said(plimsoll: Plimsoll, clock: Clock) -> None:
    clock.stop_after = 0.1
    said = plimsoll("watch", "sda")
    assert (said.code, said.out) == (0, "")
    assert said.err == "\nsda: stopped before the first interval had ended\n"


def test_the_file_is_kept_up_to_date_meanwhile(plimsoll: Plimsoll, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    saved: list[int] = []
    save = command._Session.save
    monkeypatch.setattr(command._Session, "save", lambda self: (saved.append(len(self.devices["sda"].seconds)), save(self)))
    monkeypatch.setattr(command, "_SAVE_EVERY_S", 0.0)
    monkeypatch.setattr(command, "_SAVE_SHARE", 0)
    plimsoll("watch", "sda", "-d", "3s", "-o", "demand.json")
    assert saved == [1, 2, 3, 3]


def test_a_device_that_vanishes_keeps_what_was_seen_and_fails(plimsoll: Plimsoll, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "Sampler", lambda: Counters(clock, vanishing))
    said = plimsoll("watch", "sda", "-d", "9s", "-o", "demand.json")
    assert said.code == 4
    assert said.err.endswith("plimsoll: sda: it has gone since the last interval; what was seen until then is kept.\n")
    document = json.loads(Path("demand.json").read_text())
    assert document["devices"][0]["intervals"] == 2 and "has gone" in document["ended_by"]


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (("sdaa", "-d", "1s"), 4, "sdaa: there is no block device and no file of this name; did you mean 'sda'?"),
        (("/nowhere/at/all",), 4, "/nowhere/at/all: there is no block device and no file of this name; there are sda, sdb."),
        (
            ("/dev/null",),
            4,
            "/dev/null: this is neither a block device nor a file or directory on one; name the device, for example /dev/sda.",
        ),
        (("/proc",), 4, "/proc: it is on proc, which has no block device of its own; name the device below it, if there is one."),
        (("sda", "-i", "20ms"), 2, "--interval 20ms: the kernel counts waits in milliseconds; write at least 100ms."),
        (("sda", "-i", "often"), 2, "--interval: 'often' is not a duration; write for example 250ms, 10s or 1m30s."),
        (("sda", "-i", "2s", "-d", "1s"), 2, "--duration 1s is shorter than one interval of 2s; watch longer or read more often."),
        (("sda", "-o", "gone/d.json"), 2, "gone/d.json: there is no directory 'gone'; make it first."),
        (("sda", "-o", "."), 2, ".: this is a directory; name a file in it, for example './demand.json'."),
    ],
)
def test_wrong_input_is_one_sentence(plimsoll: Plimsoll, clock: Clock, arguments: tuple[str, ...], code: int, sentence: str) -> None:
    said = plimsoll("watch", *arguments)
    assert (said.code, said.out, said.err) == (code, "", f"plimsoll: {sentence}\n")


def test_a_file_is_watched_on_the_device_below_it(plimsoll: Plimsoll, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_device, "name_of_number", lambda number: "sdb")
    Path("data").write_text("")
    device = plimsoll("watch", "data", "-d", "1s", "--json").json["devices"][0]
    assert (device["name"], device["asked"]) == ("sdb", ["data"])


def test_a_file_system_whose_files_have_no_devices_number_is_found_by_its_mount(
    plimsoll: Plimsoll, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    from plimsoll.host.facts import Absent

    def absent(number: int) -> str:
        raise Absent("no block device has number 0:33")

    monkeypatch.setattr(host_device, "name_of_number", absent)
    monkeypatch.setattr(host_device, "mount_of", lambda path: host_device.Mount("/dev/sdb", "/", "btrfs", "rw"))
    monkeypatch.setattr(host_device, "device_name", os.path.basename)
    Path("data").write_text("")
    assert plimsoll("watch", "data", "-d", "1s", "--json").json["devices"][0]["name"] == "sdb"
