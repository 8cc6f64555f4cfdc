"""Rules of Vdbench that translations keep, each asked for by itself."""

from __future__ import annotations

from bisect import bisect_left
from itertools import product
from typing import Any

import pytest

from plimsoll import catalog
from plimsoll.catalog.suites import suite_document
from plimsoll.errors import InputError
from plimsoll.experiments.document import read_experiments
from plimsoll.experiments.schedule import settings_of
from plimsoll.formats.translation import Translation
from plimsoll.formats.vdbench import translate
from plimsoll.formats.vdbench.load import dealt
from plimsoll.formats.vdbench.region import CURVE

DEVICE = "sd=sd1,lun=/dev/sdb\n"
WORKLOAD = "wd=wd1,sd=sd1\n"
RUN = "rd=run1,wd=*,iorate=max,elapsed=60,interval=1\n"


def read(text: str, **sizes: int) -> Translation:
    """A translation that knows the sizes of devices by their last part."""
    return translate(text, "job", None, {}, lambda path: sizes.get(path.rpartition("/")[2]))


def streams(text: str, **sizes: int) -> list[dict[str, Any]]:
    """The streams of the only workload."""
    (workload,) = read(text, **sizes).document["workload"]
    found: list[dict[str, Any]] = workload["stream"]
    return found


def experiment(run: str) -> dict[str, Any]:
    """The experiment of one run."""
    (found,) = read(DEVICE + WORKLOAD + run).document["experiment"]
    assert isinstance(found, dict)
    return found


def verdict(translation: Translation, text: str) -> str:
    """What was said of a parameter."""
    (found,) = [remark.kind for remark in translation.remarks if remark.text == text and remark.kind != "surprise"]
    return found


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("(1-10,3)", [1, 4, 7, 10]),
        ("(1-64,d)", [1, 2, 4, 8, 16, 32, 64]),
        ("(64-1,d)", [64, 32, 16, 8, 4, 2, 1]),
        ("(10-2,4)", [10, 6, 2]),
        ("(3,1,2)", [3, 1, 2]),
        ("(1-3,1,8,16-64,d)", [1, 2, 3, 8, 16, 32, 64]),
        ("(1k,2k)", [1024, 2048]),
    ],
)
def test_series_of_numbers(written: str, meant: list[int]) -> None:
    assert experiment(f"rd=run1,wd=wd1,iorate=max,forthreads={written},elapsed=60,interval=1\n")["over"] == {"threads": meant}


@pytest.mark.parametrize(
    ("size", "count"),
    [
        ("4k", 1 << 12),
        (".5g", 1 << 29),
        ("2m", 2 << 20),
        ("1g", 1 << 30),
        ("1t", 1 << 40),
        ("1.5g", 3 << 29),
        ("8KB", 8 << 10),
        ("4096", 4096),
    ],
)
def test_sizes_count_in_steps_of_1024(size: str, count: int) -> None:
    (stream,) = streams(f"sd=sd1,lun=/data/file,size={size}\nwd=wd1,sd=sd1,xfersize=512\n{RUN}")
    assert in_bytes(stream["region_length"]) == count


def test_minutes_and_hours_are_of_times_only() -> None:
    run = experiment("rd=run1,wd=wd1,iorate=max,elapsed=1h,interval=1m,warmup=5m\n")
    assert run["set"] == {"duration": "3600s", "warmup": "300s", "interval": "60s"}
    (stream,) = streams(f"{DEVICE}wd=wd1,sd=sd1,xfersize=1m\n{RUN}")
    assert stream["block_size"] == "1MiB"


def test_loops_are_nested_in_order_of_appearance_and_rates_are_innermost() -> None:
    run = experiment("rd=run1,iorate=(100,200),forxfersize=(4k,8k),wd=wd1,forthreads=(1,2),elapsed=60,interval=1\n")
    # Threads of an open loop are slots of one thread.
    assert list(run["over"]) == ["block_size", "queue_depth", "rate"]
    suite = read_experiments({"experiment": [run]}, "job")
    points = [(point["block_size"], point["queue_depth"], point["rate"]) for point in settings_of(suite.experiments[0])]
    assert points == list(product(("4KiB", "8KiB"), (1, 2), (100, 200)))


def test_a_loop_of_the_default_comes_before_those_of_the_run() -> None:
    document = read(
        f"{DEVICE}{WORKLOAD}rd=default,forthreads=(1,2),elapsed=60,interval=1\nrd=run1,wd=wd1,iorate=max,forxfersize=(4k,8k)\n"
    ).document
    assert list(document["experiment"][0]["over"]) == ["threads", "block_size"]


@pytest.mark.parametrize(
    ("elapsed", "interval", "warmup", "expected"),
    [
        # The report's procedure: 150 s in intervals of 5 s, of which the first does not count.
        ("150", "5", None, ("145s", "5s", "5s")),
        # warmup=15, elapsed=60, interval=1 were 75 intervals with average avg_16-75.
        ("60", "1", "15", ("60s", "15s", "1s")),
        # Defaults: 30 s, half of it per interval.
        (None, None, None, ("15s", "15s", "15s")),
        ("600", None, None, ("540s", "60s", "60s")),
        ("600", None, "0", ("600s", "0s", "60s")),
    ],
)
def test_what_is_measured_when(elapsed: str | None, interval: str | None, warmup: str | None, expected: tuple[str, str, str]) -> None:
    given = {"elapsed": elapsed, "interval": interval, "warmup": warmup}
    run = experiment("rd=run1,wd=wd1,iorate=max" + "".join(f",{key}={value}" for key, value in given.items() if value is not None) + "\n")
    assert (run["set"]["duration"], run["set"]["warmup"], run["set"]["interval"]) == expected


def test_threads_are_of_the_sd_and_shared_by_skew() -> None:
    both = "wd=wd1,sd=sd1,skew=75\nwd=wd2,sd=sd1,seekpct=0\n"
    assert [stream["threads"] for stream in streams(f"{DEVICE}{both}{RUN}")] == [6, 2]
    assert [stream["threads"] for stream in streams(f"{DEVICE}{WORKLOAD}{RUN}")] == [8]


def test_skew_without_rate_is_held_by_one_stream_where_all_is_random() -> None:
    text = f"{DEVICE}wd=wd1,sd=sd1,skew=75,rdpct=0\nwd=wd2,sd=sd1,xfersize=8k\n"
    (stream,) = streams(f"{text}{RUN}")
    assert [(line["weight"], line["size"], line["read_percent"]) for line in stream["access"]] == [(75, "4KiB", 0), (25, "8KiB", 100)]
    assert stream["threads"] == 8
    # As many threads as the SD has, also with fewer than WDs.
    (stream,) = streams(f"{text}rd=run1,wd=*,iorate=max,threads=1,elapsed=60,interval=1\n")
    assert stream["threads"] == 1
    # With a rate each WD keeps its own stream.
    assert len(streams(f"{text}rd=run1,wd=*,iorate=100,elapsed=60,interval=1\n")) == 2


def test_every_sharer_has_a_thread() -> None:
    assert dealt(16, [0.7, 0.3]) == [11, 5]
    assert dealt(8, [0.98, 0.01, 0.01]) == [6, 1, 1]
    assert dealt(1, [0.5, 0.5]) == [1, 1]
    for many in range(1, 40):
        counts = dealt(many, [0.5, 0.3, 0.2])
        assert min(counts) >= 1 and sum(counts) == max(many, 3)


def test_the_rate_is_divided_by_skew_and_equally_by_sds() -> None:
    text = (
        "sd=sd1,lun=/dev/sdb\nsd=sd2,lun=/dev/sdc\nwd=wd1,sd=sd*,skew=80\nwd=wd2,sd=sd1\nrd=run1,wd=*,iorate=1000,elapsed=60,interval=1\n"
    )
    rates = {stream["name"]: stream["rate"] for stream in streams(text, sdb=1 << 40, sdc=1 << 40)}
    assert rates == {"wd1-sd1": 400, "wd1-sd2": 400, "wd2": 200}


def test_each_sd_is_a_part_of_the_target_whatever_the_sizes() -> None:
    text = "sd=sd1,lun=/dev/sdb,size=1g\nsd=sd2,lun=/dev/sdc,size=2g\nwd=wd1,sd=*\n" + RUN
    assert read(text).refusal() is None
    for found in (streams(text), streams(text, sdb=10 << 30, sdc=10 << 30)):
        places = [(stream["parts"], stream["region_start"], stream["region_length"]) for stream in found]
        assert places == [(0, 512, (1 << 30) - 512), (1, 512, (2 << 30) - 512)]


def test_shares_of_devices_of_unknown_size_are_of_each_by_itself() -> None:
    text = "sd=sd1,lun=/dev/sdb\nsd=sd2,lun=/dev/sdc\nwd=wd1,sd=*,range=(10,20)\n" + RUN
    places = [(stream["parts"], stream["region_start"], stream["region_length"]) for stream in streams(text)]
    assert places == [(0, "10%", "10%"), (1, "10%", "10%")]


def test_sds_are_as_many_as_there_are() -> None:
    sds = "".join(f"sd=sd{number},lun=/data/f{number},size=1m\n" for number in range(100))
    assert [stream["parts"] for stream in streams(f"{sds}wd=wd1,sd=*\n{RUN}")] == list(range(100))


def test_the_first_block_of_a_device_is_never_touched_and_that_of_a_file_is() -> None:
    assert streams(f"{DEVICE}{WORKLOAD}{RUN}")[0]["region_start"] == 512
    assert "region_start" not in streams(f"sd=sd1,lun=/data/file,size=1g\n{WORKLOAD}{RUN}")[0]
    assert "region_start" not in streams(f"sd=sd1,lun=/dev/shm/file,size=1g\n{WORKLOAD}{RUN}")[0]


def test_devices_are_direct_by_default_and_files_are_not() -> None:
    assert streams(f"{DEVICE}{WORKLOAD}{RUN}")[0]["direct"] is True
    assert streams(f"sd=sd1,lun=/data/file,size=1g\n{WORKLOAD}{RUN}")[0]["direct"] is False
    assert streams(f"sd=sd1,lun=/data/file,size=1g,openflags=o_direct\n{WORKLOAD}{RUN}")[0]["direct"] is True


def test_curves_round_as_vdbench() -> None:
    run = experiment("rd=run1,wd=wd1,iorate=curve,elapsed=60,interval=1\n")
    assert (run["kind"], run["rounding"], run["percent"]) == ("curve", "vdbench", [10, 50, 70, 80, 90, 100])


def test_percentages_of_another_workload_are_refused() -> None:
    text = f"{DEVICE}{WORKLOAD}wd=wd2,sd=sd1\nrd=run1,wd=wd2,iorate=max,elapsed=60,interval=1\nrd=run2,wd=wd1,iorate=50%,elapsed=60,interval=1\n"
    assert verdict(read(text), "iorate=50%") == "unsupported"


def test_percentages_are_taken_after_the_same_at_its_maximum_only() -> None:
    maximum = f"{DEVICE}{WORKLOAD}rd=run1,wd=wd1,iorate=max,elapsed=60,interval=1\n"
    same = read(f"{maximum}rd=run2,wd=wd1,iorate=50%,elapsed=60,interval=1\n")
    assert verdict(same, "iorate=50%") == "native" and same.document["experiment"][1]["percent"] == [50]
    # Other threads have another maximum than the one that Vdbench would take.
    assert verdict(read(f"{maximum}rd=run2,wd=wd1,iorate=50%,threads=2,elapsed=60,interval=1\n"), "iorate=50%") == "unsupported"


def test_a_run_may_name_sds_alone_and_say_what_its_requests_are() -> None:
    text = f"{DEVICE}rd=run1,sd=*,iorate=max,xfersize=8k,rdpct=30,seekpct=.1,elapsed=60,interval=1\n"
    (stream,) = streams(text)
    assert (stream["name"], stream["block_size"], stream["read_percent"], stream["random_percent"]) == ("run1", "8KiB", 30, 0.1)
    # What a run says holds for its WDs.
    (stream,) = streams(f"{DEVICE}wd=wd1,sd=sd1,xfersize=64k,rdpct=0\nrd=run1,wd=wd1,iorate=max,xfersize=8k,elapsed=60,interval=1\n")
    assert (stream["block_size"], stream["read_percent"]) == ("8KiB", 0)


def test_names_must_have_a_value() -> None:
    text = f"sd=sd1,lun=$lun\n{WORKLOAD}{RUN}"
    with pytest.raises(InputError, match=r"job:1: '\$lun' has no value"):
        translate(text, "job", None, {})
    # Of an environment only what is named is taken.
    assert translate(text, "job", None, {"lun": "/dev/sdb", "HOME": "/root"}).refusal() is None


def test_included_files_are_read_where_they_stand_and_name_no_others() -> None:
    files = {"a": "sd=sd1,lun=/dev/sdb\n", "b": "include=a\n", "c": "sd=sd1,lun=/dev/sdb\nsd=sd2,line\n"}
    assert translate(f"include=a\n{WORKLOAD}{RUN}", "job", files.__getitem__, {}).refusal() is None
    with pytest.raises(InputError, match="b:1: 'include=a': an included file includes no other"):
        translate(f"include=b\n{WORKLOAD}{RUN}", "job", files.__getitem__, {})
    # A mistake is told by the place in the file that holds it.
    with pytest.raises(InputError, match="c:2:"):
        translate(f"include=c\n{WORKLOAD}{RUN}", "job", files.__getitem__, {})


def test_quotes_protect_blanks_commas_and_signs() -> None:
    document = read(f'sd=sd1,lun="/data/a b,c=d",size=1g,openflags=o_direct comment\n{WORKLOAD}{RUN}').document
    assert document["experiment"][0]["configurations"][0]["target"] == "/data/a b,c=d"


def test_paths_in_a_concatenation_are_escaped() -> None:
    document = read(f'sd=default,size=1g\nsd=sd1,lun="/data/a,b"\nsd=sd2,lun=/data/100%?\nwd=wd1,sd=*\n{RUN}').document
    assert document["experiment"][0]["configurations"][0]["target"] == "concat:/data/a%2Cb,/data/100%25%3F"


def test_uniform_gaps_are_said_to_become_exponential() -> None:
    translation = read(f"{DEVICE}{WORKLOAD}rd=run1,wd=wd1,iorate=100,distribution=uniform,elapsed=60,interval=1\n")
    assert (
        verdict(translation, "distribution=uniform") == "ignored"
        and translation.document["workload"][0]["stream"][0]["arrival"] == "poisson"
    )


def test_poisson_addresses_fall_as_the_formula_says() -> None:
    import math
    import random

    (stream,) = streams(f"{DEVICE}wd=wd1,sd=sd1,seekpct=(poisson,3)\n{RUN}")
    shares = [float(zone.split("/")[0]) for zone in stream["distribution"].removeprefix("hot:").split(",")]
    # Vdbench: position = −ln(u) · N / midpoint, modulo N.
    draw = random.Random(1)
    counts = [0] * 20
    for _ in range(200_000):
        counts[int(-math.log(1 - draw.random()) / 3 % 1 * 20)] += 1
    assert all(abs(share - 100 * count / 200_000) < 0.3 for share, count in zip(shares, counts, strict=False))


def test_the_procedure_of_report_004_is_the_shipped_matrix() -> None:
    """24 points of each LUN: areas, sizes, order, threads, mix and times are those of the suite ``vdbench-matrix``, in its order."""
    from pathlib import Path

    text = (Path(__file__).parent / "vdbench" / "report_004.vdb").read_text(encoding="utf-8")
    document = read(text).document
    workloads = {item["name"]: item["stream"] for item in document["workload"]}
    ours = read_experiments(document, "job")
    shipped = read_experiments(suite_document("vdbench-matrix"), "suite")
    theirs = {name: catalog.load(name)["stream"] for item in shipped.experiments for name in item.workloads}
    assert [point for item in ours.experiments for point in points(item, workloads)] == [
        point for item in shipped.experiments for point in points(item, theirs)
    ]


def points(item: Any, workloads: dict[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """What each point of an experiment sets, in bytes. Vdbench's region leaves out the first block of the device, and ends where ours does."""
    found = []
    for settings in settings_of(item):
        for name in item.workloads:
            (stream,) = workloads[name]
            every = {**stream, **settings}
            end = in_bytes(every.get("region_start", 0)) + in_bytes(every["region_length"])
            kept = ("read_percent", "random_percent", "threads", "duration", "warmup", "interval")
            found.append({key: every[key] for key in kept} | {"end": end, "size": in_bytes(every["block_size"])})
    return found


def in_bytes(size: str | int) -> int:
    if isinstance(size, int):
        return size
    return int(size[:-3]) * {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}[size[-3:]]


@pytest.mark.parametrize(
    ("written", "reads"),
    [
        ("readpct=70", 70),
        ("rea=70", 70),
        ("writepct=70", 30),
        ("wrpct=30", 70),
        ("rdpct=70,wrpct=20", 80),
        ("wrpct=20,rdpct=70", 70),
        ("rdpct=10,rdpct=60", 60),
        ("rdpct=70.9", 70),
        ("writepct=20.5", 80),
    ],
)
def test_reads_and_writes_have_two_names_and_the_last_one_holds(written: str, reads: int) -> None:
    assert streams(f"{DEVICE}wd=wd1,sd=sd1,{written}\n{RUN}")[0]["read_percent"] == reads


def test_the_mix_of_a_wd_holds_over_that_of_the_default() -> None:
    assert streams(f"{DEVICE}wd=default,wrpct=30\nwd=wd1,sd=sd1,rdpct=50\n{RUN}")[0]["read_percent"] == 50
    assert streams(f"{DEVICE}wd=default,rdpct=30\nwd=wd1,sd=sd1,wrpct=50\n{RUN}")[0]["read_percent"] == 50


@pytest.mark.parametrize(
    ("sizes", "shares"),
    [
        ("4k,50,8k,49.5", {"4KiB": 50.251256, "8KiB": 49.748744}),
        ("4k,33.3,8k,33.3,16k,33.3", {"4KiB": 33.333334, "8KiB": 33.333333, "16KiB": 33.333333}),
        ("4k,50.4,8k,50", {"4KiB": 50.199203, "8KiB": 49.800797}),
    ],
)
def test_shares_that_make_100_when_rounded_are_taken_in_proportion(sizes: str, shares: dict[str, float]) -> None:
    found = streams(f"{DEVICE}wd=wd1,sd=sd1,xfersize=({sizes})\n{RUN}")[0]["block_size"]
    assert found == pytest.approx(shares, abs=2e-6) and sum(found.values()) == pytest.approx(100, abs=1e-9)


def test_a_list_of_rates_may_end_with_the_maximum() -> None:
    translation = read(f"{DEVICE}{WORKLOAD}rd=run1,wd=wd1,iorate=(100,200,max),elapsed=60,interval=1\n")
    loads = [(workload["stream"][0].get("rate"), workload["stream"][0].get("arrival")) for workload in translation.document["workload"]]
    assert loads == [(100, "poisson"), (200, "poisson"), (None, None)]
    assert [found["name"] for found in translation.document["experiment"]] == ["run1 rate 100", "run1 rate 200", "run1 rate max"]


def test_the_maximum_and_percentages_of_it_are_a_curve() -> None:
    run = experiment("rd=run1,wd=wd1,iorate=(max,50%,80%),elapsed=60,interval=1\n")
    assert (run["kind"], run["percent"], run["rounding"]) == ("curve", [50, 80], "vdbench")


ONE_LINE_EACH = (
    "sd=sd1,lun=/dev/sdb,threads=4\nsd=sd2,lun=/dev/sdc,threads=6\nwd=wd1,sd=sd2\nrd=run1,wd=wd1,iorate=max,elapsed=60,interval=1\n"
)


@pytest.mark.parametrize(
    "text",
    [
        # A comma before the next definition, as files have it that were cut and pasted.
        "sd=sd1,lun=/dev/sdb,threads=4,\nsd=sd2,lun=/dev/sdc,threads=6,\nwd=wd1,sd=sd2,\nrd=run1,wd=wd1,iorate=max,elapsed=60,interval=1,\n",
        # Two definitions in one line.
        "sd=sd1,lun=/dev/sdb,threads=4,sd=sd2,lun=/dev/sdc,threads=6\nwd=wd1,sd=sd2\nrd=run1,wd=wd1,iorate=max,elapsed=60,interval=1\n",
        # A parameter per line, with and without commas.
        "sd=sd1\nlun=/dev/sdb\nthreads=4\nsd=sd2\nlun=/dev/sdc\nthreads=6\nwd=wd1\nsd=sd2\nrd=run1\nwd=wd1\niorate=max\nelapsed=60\ninterval=1\n",
        "sd=sd1,\n  lun=/dev/sdb,\n threads=4\nsd=sd2,\nlun=/dev/sdc\nthreads=6\nwd=wd1,\nsd=sd2,\nrd=run1,wd=wd1\niorate=max,elapsed=60\ninterval=1",
        # What stands twice.
        "sd=sd1,lun=/dev/sdx,lun=/dev/sdb,threads=4\nsd=sd2,th=1,lun=/dev/sdc,threads=6\nwd=wd1,sd=sd1,sd=sd2\n"
        "rd=run1,wd=wd1,iorate=7,iorate=max,elapsed=60,interval=1\n",
        # The file ends with whatever begins like eof.
        ONE_LINE_EACH + "eof here\nnonsense\n",
    ],
)
def test_definitions_are_told_apart_by_their_words_and_not_by_lines(text: str) -> None:
    assert read(text).document == read(ONE_LINE_EACH).document


def test_of_two_loops_over_the_same_the_last_one_holds_in_its_place() -> None:
    run = experiment("rd=run1,wd=wd1,iorate=max,xfersize=1k,forthreads=(1,2),forxfersize=(4k,8k),elapsed=60,interval=1\n")
    assert run["over"] == {"threads": [1, 2], "block_size": ["4KiB", "8KiB"]}


def band(size: str, more: str) -> list[tuple[float, float]]:
    """The zones of a hotband over a whole file: percent of requests, percent of the region."""
    (stream,) = streams(f"sd=sd1,lun=/data/file,size={size}\nwd=wd1,sd=sd1,hotband=(0,100),{more}\n{RUN}")
    pairs = [zone.split("/") for zone in stream["distribution"].removeprefix("hot:").split(",")]
    zones = [(float(requests), float(region)) for requests, region in pairs]
    return [*zones, (100 - sum(zone[0] for zone in zones), 100 - sum(zone[1] for zone in zones))]


def drawn(random: float, size: int, xfersize: int, *, read: bool) -> int:
    """The record that Vdbench draws, step by step as its source does it, in its whole numbers and with its table in MB."""
    places, shares = [place // 1000 for place, _ in CURVE], [share for _, share in CURVE]
    index = max(at for at, share in enumerate(shares[:-1]) if share <= random)
    slope = (places[index + 1] - places[index]) / (shares[index + 1] - shares[index])
    kilobytes = int((random - shares[index]) * slope + places[index]) * 1000
    record = kilobytes * 1_000_000 // xfersize // 1_000_000
    records = size // 1_000_000 * 1_000_000 // xfersize
    return (record if read else record + records // 100) % records


@pytest.mark.parametrize(("size", "many"), [("100m", 100 << 20), ("10g", 10 << 30)])
@pytest.mark.parametrize("read", [True, False])
def test_a_hotband_draws_as_many_requests_from_each_zone_as_vdbench(size: str, many: int, read: bool) -> None:
    zones = band(size, f"xfersize=8k,rdpct={100 if read else 0}")
    steps = 200_000
    records = sorted(drawn((step + 0.5) / steps, many, 8192, read=read) for step in range(steps))
    asked = covered = 0.0
    for requests, region in zones:
        asked, covered = asked + requests, covered + region
        found = bisect_left(records, round(covered / 100 * many / 8192)) / steps
        # A thousandth of the requests is what whole megabytes of the source's table and the steps of this sum leave open.
        assert found == pytest.approx(asked / 100, abs=1e-3), (covered, zones)
    assert asked == pytest.approx(100)


def test_a_hotband_is_a_range_with_more_requests_at_its_beginning() -> None:
    (stream,) = streams(f"sd=sd1,lun=/data/file,size=10g\nwd=wd1,sd=sd1,hotband=(10,20)\n{RUN}")
    assert (in_bytes(stream["region_start"]), in_bytes(stream["region_length"])) == (1 << 30, 1 << 30)
    first = band("1g", "xfersize=4k")[0]
    assert first[0] / first[1] > 1000


@pytest.mark.parametrize(
    ("more", "part"),
    [
        ("hotband=(90,110)", "a range does not wrap around the end; the nearest thing is hotband=(90,100)"),
        ("hotband=(0,50),seekpct=seq", "sequential requests have no hot places"),
        ("hotband=(0,50),rhpct=20", "another parameter says a second one"),
        ("hotband=(0,512k)", "Vdbench takes bands of a megabyte or more"),
    ],
)
def test_a_hotband_that_cannot_be_is_unsupported_and_says_what_is_nearest(more: str, part: str) -> None:
    translation = read(f"sd=sd1,lun=/data/file,size=1g\nwd=wd1,sd=sd1,{more}\n{RUN}")
    assert any(part in remark.why for remark in translation.remarks if remark.kind == "unsupported"), translation.remarks


def test_a_hotband_needs_the_size_of_its_sd() -> None:
    assert verdict(read(f"{DEVICE}wd=wd1,sd=sd1,hotband=(0,50)\n{RUN}"), "hotband=(0,50)") == "unsupported"
    assert verdict(read(f"{DEVICE}wd=wd1,sd=sd1,hotband=(0,50)\n{RUN}", sdb=1 << 40), "hotband=(0,50)") == "native"
    assert verdict(read(f"{DEVICE}wd=wd1,sd=sd1,rdpct=70,hotband=(0,50)\n{RUN}", sdb=1 << 40), "hotband=(0,50)") == "ignored"


def test_a_hotband_holds_for_the_requests_that_look_for_a_place() -> None:
    (stream,) = streams(f"sd=sd1,lun=/data/file,size=1g\nwd=wd1,sd=sd1,hotband=(0,50),seekpct=60\n{RUN}")
    assert (stream["random_percent"], stream["distribution"][:4]) == (60, "hot:")


def test_several_luns_of_several_hosts_need_the_cluster() -> None:
    translation = read(f"sd=sd1,host=localhost,lun=/dev/sdb,host=h2,lun=/dev/sdc\n{WORKLOAD}{RUN}")
    assert verdict(translation, "lun=/dev/sdb") == "unsupported"


def test_at_a_rate_no_more_requests_are_outstanding_than_the_sd_has_threads() -> None:
    text = "sd=sd1,lun=/dev/sdb,threads=12\nwd=wd1,sd=sd1,skew=75\nwd=wd2,sd=sd1\n"
    found = streams(f"{text}rd=run1,wd=*,iorate=1000,elapsed=60,interval=1\n")
    assert [(stream["threads"], stream["queue_depth"]) for stream in found] == [(1, 9), (1, 3)]
    closed = streams(f"{text}rd=run1,wd=wd2,iorate=max,elapsed=60,interval=1\n")
    assert (closed[0]["threads"], closed[0].get("queue_depth")) == (12, None)


def test_an_amount_is_the_same_whether_threads_or_slots_transfer_it() -> None:
    def whole(rate: str) -> int:
        (stream,) = streams(f"{DEVICE}{WORKLOAD}rd=run1,wd=wd1,iorate={rate},maxdata=8g,elapsed=60,interval=1\n")
        return int(stream["amount"] * stream["threads"])

    assert whole("max") == whole("1000") == 8 << 30
    (stream,) = streams("sd=sd1,lun=/data/file,size=1g\nwd=wd1,sd=sd1,seekpct=eof\nrd=run1,wd=wd1,iorate=9,elapsed=60,interval=1\n")
    assert stream["amount"] == 1 << 30


@pytest.mark.parametrize(("word", "share"), [("r", 100), ("ran", 100), ("random", 100), ("s", 0), ("sequ", 0), ("seqnz", 0), ("SEQ", 0)])
def test_words_of_seekpct_may_be_as_short_as_one_likes(word: str, share: int) -> None:
    assert streams(f"{DEVICE}wd=wd1,sd=sd1,seekpct={word}\n{RUN}")[0]["random_percent"] == share


@pytest.mark.parametrize("word", ["single", "setsof2"])
def test_runs_that_take_their_sds_one_by_one_or_in_sets_say_what_is_nearest(word: str) -> None:
    translation = read(f"{DEVICE}{WORKLOAD}rd=run1,wd=wd1,sd={word},iorate=max,elapsed=60,interval=1\n")
    assert verdict(translation, f"sd={word}") == "unsupported"
    assert any("the nearest thing is an RD for each" in remark.why for remark in translation.remarks)
