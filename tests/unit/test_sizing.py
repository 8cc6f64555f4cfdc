"""Which load lines carry a demand: on made lines of known headroom, and through the command on stored runs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from plimsoll.analysis.objective.judgement import parse_objective
from plimsoll.analysis.sizing.demand import COLUMNS, Demand, Observed, demand_at, demand_document, observed_devices
from plimsoll.analysis.sizing.stored_lines import Fit, size_lines, stored_lines
from plimsoll.errors import InputError
from plimsoll.result import Estimate, Flag, Result
from plimsoll.store.writer import RunInfo, RunWriter
from support.made_results import Load, Setting, failed, made
from support.said import Plimsoll

OBJECTIVE = parse_objective("mean <= 20ms")
#: Rates and mean responses of a line whose mark at 20 ms is 1,600 IOPS at level 8; level 16 fails.
LINE = {1: (400.0, 5e6), 4: (1200.0, 9e6), 8: (1600.0, 18e6), 16: (1700.0, 40e6)}


def mixed(result: Result, read_percent: float) -> Result:
    """The same point with its requests shared out to reads and writes."""
    shares = {"read": read_percent / 100, "write": 1 - read_percent / 100}
    whole = result.totals["read"]
    totals = {
        op: replace(whole, iops=whole.iops * share, bytes_per_s=whole.bytes_per_s * share, count=round(whole.count * share))
        for op, share in shares.items()
        if share
    }
    estimates = {
        op: {
            name: scaled(estimate, shares.get(op, 1.0) if name in ("iops", "bytes_per_s") else 1.0)
            for name, estimate in result.estimates["all"].items()
        }
        for op in ("all", *totals)
    }
    stream = {**result.job.definition["stream"][0], "read_percent": read_percent}
    job = replace(result.job, definition={**result.job.definition, "stream": [stream]})
    return replace(result, job=job, totals=totals, estimates=estimates, streams={"main": totals})


def scaled(estimate: Estimate, share: float) -> Estimate:
    assert estimate.low is not None and estimate.high is not None
    return Estimate(estimate.value * share, estimate.low * share, estimate.high * share, estimate.batches)


def line(read_percent: float = 70, block_bytes: int = 8192, levels: tuple[int, ...] = tuple(LINE), **options: Any) -> list[Result]:
    setting = Setting(options=options)
    return [mixed(made(Load(*LINE[level], block_bytes=block_bytes), level, setting=setting), read_percent) for level in levels]


def demand(iops: float = 1000.0, read_percent: float = 70.0, block_bytes: float = 8192.0, **more: Any) -> Demand:
    return Demand(iops, iops * block_bytes, read_percent, block_bytes, **more)


def only(results: list[Result], asked: Demand, objective: Any = OBJECTIVE) -> Fit:
    fits = size_lines({"r1": results}, asked, objective)
    assert len(fits) == 1
    return fits[0]


def test_the_headroom_is_the_mark_over_the_demand() -> None:
    fit = only(line(), demand())
    assert fit.mark is not None and (fit.mark.iops, fit.mark.level) == (1600, 8)
    assert fit.headroom == pytest.approx(1.6)
    assert (fit.carries, fit.verdict, fit.refused) == (True, "yes", None)


def test_growth_is_part_of_the_demand() -> None:
    assert only(line(), demand(growth_percent=60)).headroom == pytest.approx(1.0)
    fit = only(line(), demand(growth_percent=100))
    assert fit.headroom == pytest.approx(0.8)
    assert (fit.carries, fit.verdict) == (False, "no")


def test_a_verdict_within_the_marks_interval_is_not_settled() -> None:
    # The line crosses 20 ms between 1,600 and 1,700 IOPS; intervals of 1 % leave 1,605 undecided.
    fit = only(line(), demand(1605))
    assert fit.interval is not None and fit.interval[0] < 1 < fit.interval[1]
    assert fit.verdict == "no, not settled"


def test_a_line_that_never_failed_shows_only_a_lower_end() -> None:
    climbing = line(levels=(1, 4))
    assert only(climbing, demand(1000)).verdict == "yes"
    fit = only(climbing, demand(3000))
    assert (fit.headroom, fit.at_least, fit.carries) == (pytest.approx(0.4), True, False)
    assert fit.verdict == "not shown"


def test_without_an_objective_the_highest_throughput_counts() -> None:
    fit = only(line(), demand(), None)
    assert fit.mark is not None and (fit.mark.level, fit.mark.iops) == (16, 1700)
    assert fit.at_least


def test_repeats_of_a_level_are_pooled() -> None:
    again = [replace(result, id=f"{result.id}-again") for result in line()]
    assert only(line() + again, demand()).headroom == pytest.approx(1.6)


@pytest.mark.parametrize(
    ("read_percent", "headroom", "limited_by"),
    [
        # The line does 1,120 reads/s and 480 writes/s at its mark.
        (70, 1600 / 1000, "reads"),
        (75, 1120 / 750, "reads"),
        (80, 1120 / 800, "reads"),
        (65, 480 / 350, "writes"),
        (60, 480 / 400, "writes"),
    ],
)
def test_reads_and_writes_are_each_carried(read_percent: float, headroom: float, limited_by: str) -> None:
    fit = only(line(70), demand(read_percent=read_percent))
    assert (fit.headroom, fit.limited_by) == (pytest.approx(headroom), limited_by)


@pytest.mark.parametrize(
    ("measured", "demanded", "headroom", "limited_by"),
    [(16384, 8192, 1.6, "reads"), (4096, 8192, 0.8, "bandwidth"), (8192, 6144, 1.6, "reads"), (8192, 12288, 1.6 / 1.5, "bandwidth")],
)
def test_another_size_within_a_factor_of_two_is_held_to_rate_and_bandwidth(
    measured: int, demanded: float, headroom: float, limited_by: str
) -> None:
    fit = only(line(block_bytes=measured), demand(block_bytes=demanded))
    assert (fit.headroom, fit.limited_by) == (pytest.approx(headroom), limited_by)


@pytest.mark.parametrize(
    ("results", "asked", "reason"),
    [
        (line(100), demand(), "it measured no writes, and 30 % of the demand are writes"),
        (line(0), demand(), "it measured no reads, and 70 % of the demand are reads"),
        (line(59), demand(), "59 % reads where 70 % are demanded, more than 10 points away"),
        (line(block_bytes=32768), demand(), "requests 4 times as large as demanded, beyond a factor of 2"),
        (line(block_bytes=2048), demand(), "requests 1/4 as large as demanded, beyond a factor of 2"),
        (line(random_percent=75), demand(), "75 % random where 100 % are demanded, more than 20 points away"),
        (line(), demand(random_percent=0), "100 % random where 0 % are demanded, more than 20 points away"),
        (line(levels=(16,)), demand(), "the objective did not hold at its lowest level, 16"),
        ([failed(1)], demand(), "nothing was measured: every point failed"),
    ],
)
def test_what_would_be_extrapolation_is_refused_with_the_reason(results: list[Result], asked: Demand, reason: str) -> None:
    fit = only(results, asked)
    assert fit.refused == reason
    assert (fit.carries, fit.verdict) == (False, "refused")
    assert fit.to_json(asked)["headroom"] is None


def test_a_few_writes_do_not_shut_out_a_line_of_reads() -> None:
    assert only(line(100), demand(read_percent=99.5)).headroom == pytest.approx(1600 / 1000)


def test_an_objective_about_writes_cannot_be_held_by_reads_alone() -> None:
    fit = only(line(100), demand(read_percent=100), parse_objective("write mean <= 20ms"))
    assert fit.refused is not None and "about writes" in fit.refused


def test_an_invalid_number_carries_nothing() -> None:
    flag = Flag("page_cache", "invalid", "m", "a")
    flagged = [replace(result, flags=[flag]) if result.place["level"] == 8 else result for result in line()]
    fit = only(flagged, demand())
    assert fit.refused == "its mark is flagged invalid (page cache), so the number does not mean what it says"
    # Only the mark's own point counts.
    elsewhere = [replace(result, flags=[flag]) if result.place["level"] == 1 else result for result in line()]
    assert only(elsewhere, demand()).carries


def test_a_target_that_moves_no_data_carries_nothing() -> None:
    nothing = [replace(result, engine={"backend": {"asked": "auto", "used": "null"}}) for result in line()]
    fit = only(nothing, demand())
    assert fit.refused == "its target moves no data, so it says what this host can generate and nothing of storage"


def test_a_doubtful_number_is_named() -> None:
    doubtful = [replace(result, flags=[Flag("few_samples", "doubt", "m", "a")]) for result in line()]
    fit = only(doubtful, demand())
    assert fit.carries
    assert fit.to_json(demand())["flags"] == ["few_samples"]


def test_lines_differ_by_what_is_issued_and_not_by_how_hard() -> None:
    other_region = line(region_length=1 << 30)
    assert len(stored_lines({"r1": line() + other_region})) == 2
    assert len(stored_lines({"r1": line(), "r2": line()})) == 2
    elsewhere = [replace(result, job=replace(result.job, target="/dev/sdc")) for result in line()]
    cold = [replace(result, cache={"state": "cold", "how": ""}) for result in line()]
    assert len(stored_lines({"r1": line() + elsewhere + cold})) == 3
    by_rate = [
        mixed(made(Load(*LINE[level]), level, setting=Setting(options={"arrival": "poisson", "rate": 100 * level})), 70) for level in LINE
    ]
    assert len(stored_lines({"r1": by_rate})) == 1


def test_conditioning_and_the_search_for_the_maximum_are_no_part_of_a_line() -> None:
    conditioning = [replace(result, place={**result.place, "role": "precondition"}) for result in line()]
    assert stored_lines({"r1": conditioning}) == []


def test_points_of_a_plain_run_are_a_line_too() -> None:
    plain = [replace(result, place={}) for result in line()]
    fit = only(plain, demand())
    assert fit.mark is not None and fit.mark.iops == 1600


def test_the_largest_headroom_comes_first_and_the_refused_last() -> None:
    small = [replace(result, job=replace(result.job, workload="small")) for result in line(levels=(1, 4))]
    refused = line(block_bytes=65536)
    fits = size_lines({"r1": small + refused + line()}, demand(), OBJECTIVE)
    assert [fit.headroom for fit in fits] == [pytest.approx(1.6), pytest.approx(1.2), 0.0]
    assert [fit.verdict for fit in fits] == ["yes", "yes", "refused"]


def test_the_share_of_random_requests_counts_what_streams_completed() -> None:
    (fit,) = size_lines({"r1": [two_streams(result) for result in line()]}, demand(random_percent=75), OBJECTIVE)
    assert fit.shape is not None
    # Half of the completed requests random, half by a list of 3:1 random to sequential.
    assert fit.shape.random_percent == pytest.approx((100 + 75) / 2)


def two_streams(result: Result) -> Result:
    access = [
        {"weight": 3, "size": 8192, "read_percent": 70, "random_percent": 100},
        {"weight": 1, "size": 8192, "read_percent": 70, "random_percent": 0},
    ]
    streams = [{"name": "a", "read_percent": 70}, {"name": "b", "access": access}]
    job = replace(result.job, definition={**result.job.definition, "stream": streams})
    return replace(result, job=job, streams={"a": result.totals, "b": result.totals})


def test_a_demand_that_is_none_is_refused() -> None:
    for changes, words in (
        ({"iops": 0.0}, "0 IOPS is none"),
        ({"read_percent": 101.0}, "read share of 101 %"),
        ({"random_percent": -1.0}, "random share of -1 %"),
        ({"growth_percent": -100.0}, "leaves no demand"),
        ({"block_bytes": 0.0}, "0 bytes"),
    ):
        with pytest.raises(InputError, match=words):
            demand(**changes)


def watched(*intervals: dict[str, float]) -> Observed:
    observed = Observed("sda")
    for columns in intervals:
        observed.add(1.0, {**dict.fromkeys(COLUMNS, 0.0), **columns})
    return observed


def test_an_observed_demand_is_a_percentile_of_rates_at_the_mean_mix() -> None:
    observed = watched(
        *({"r/s": 10.0 * number, "rkB/s": 40.0 * number, "w/s": 10.0 * number, "wkB/s": 120.0 * number} for number in range(1, 21))
    )
    asked = demand_at(observed, 95)
    assert asked.iops == 380  # the 19th of 20
    assert asked.bytes_per_s == 160 * 19 * 1024
    assert (asked.read_percent, asked.block_bytes) == (50, 8 * 1024)
    assert demand_at(observed, 100).iops == 400
    assert "sda as watched, percentile 95 of 20 intervals" in asked.source


def test_rate_and_bandwidth_have_their_own_peaks() -> None:
    burst = [{"r/s": 1000.0, "rkB/s": 4000.0}] * 19 + [{"w/s": 10.0, "wkB/s": 10240.0}]
    asked = demand_at(watched(*burst), 100)
    assert (asked.iops, asked.bytes_per_s) == (1000, 10240 * 1024)


def test_doubts_about_an_observed_demand_are_told() -> None:
    changing = [{"r/s": 100.0, "rkB/s": 400.0}, {"w/s": 100.0, "wkB/s": 6400.0}] * 3
    notes = " | ".join(demand_at(watched(*changing)).notes)
    assert "6 intervals are too few for percentile 95" in notes
    assert "the read share went from 0 to 100 %" in notes
    assert "the request size went from 4 to 64 kB" in notes
    assert "random is supposed" in notes
    steady = " | ".join(demand_at(watched(*[{"r/s": 100.0, "rkB/s": 400.0}] * 100)).notes)
    assert steady == "counters do not tell random from sequential; random is supposed (change it with --random-percent)"


def test_an_idle_device_demands_nothing() -> None:
    with pytest.raises(InputError, match="it did nothing while it was watched"):
        demand_at(watched({}, {}))
    with pytest.raises(InputError, match="idle in 50 % of the intervals"):
        demand_at(watched({}, {}, {"r/s": 1.0, "rkB/s": 4.0}), 50)


@pytest.fixture
def stored(here: Path) -> str:
    """A run of one line that carries 1,600 IOPS at 20 ms, and one of large requests."""
    run = RunWriter.create("results", RunInfo("oltp", ["plimsoll", "steps"], 8, host={}, versions={}))
    results = line() + [replace(result, job=replace(result.job, workload="large")) for result in line(block_bytes=65536)]
    for result in [replace(result, id=f"{number:04}-{result.job.workload}") for number, result in enumerate(results)]:
        with run.begin_point(result) as writer:
            writer.finish(result)
    run.finish("complete")
    return Path(run.path).name


TYPED = ("--iops", "1k", "--read-percent", "70", "--block-size", "8k", "--objective", "mean <= 20ms")


def test_the_command_shows_demand_headroom_and_refusals(plimsoll: Plimsoll, stored: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    said = plimsoll("size", *TYPED, "--growth", "25%")
    assert said.code == 0 and said.err == ""
    assert "demand 1,250 IOPS (1,000 and +25 %), 10.2 MB/s, 70 % reads of 8 KiB, 100 % random" in said.text
    assert "objective  mean <= 20ms" in said.out
    row = next(text for text in said.out.splitlines() if "1,600" in text)
    assert row.split()[:5] == ["1.28", "×", "yes", "oltp-db", "/dev/sdb"]
    assert "Your only comparable load line carries this load." in said.out
    assert f"  large on /dev/sdb ({stored}): requests 8 times as large as demanded, beyond a factor of 2" in said.out


def test_the_command_prints_json(plimsoll: Plimsoll, stored: str) -> None:
    document = plimsoll("size", stored, *TYPED, "--price", "3200", "--json").json
    assert document["schema"] == "plimsoll.sizing/1"
    assert (document["carried"], document["objective"], document["raid"]) == (True, "mean <= 20ms", None)
    first, second = document["lines"]
    assert first["headroom"] == pytest.approx(1.6)
    assert (first["mark"]["iops"], first["mark"]["level"], first["mark"]["failed_by"]) == (1600, 8, "read mean <= 20ms")
    assert (first["mix_points_away"], first["size_factor"]) == (pytest.approx(0, abs=1e-9), 1)
    assert first["price_per_iops"] == 2.0
    assert second["refused"] and second["headroom"] is None and second["price_per_iops"] is None


def test_assert_fails_when_nothing_carries_the_demand(plimsoll: Plimsoll, stored: str) -> None:
    assert plimsoll("size", *TYPED, "--assert").code == 0
    assert plimsoll("size", *TYPED, "--growth", "100%", "--assert").code == 1
    assert plimsoll("size", *TYPED, "--growth", "100%").code == 0
    # Disks that are computed prove nothing.
    assert plimsoll("size", *TYPED, "--out", "nowhere", "--raid", "0", "--disks", "99", "--disk-iops", "1000", "--assert").code == 1


def test_what_cannot_be_read_is_said_and_left_out(plimsoll: Plimsoll, stored: str) -> None:
    point = next(Path("results").glob("*/points/*-oltp-db"))
    (point / "result.json").write_text("{")
    (Path("results") / "torn").mkdir()
    (Path("results") / "torn" / "run.json").write_text("{")
    said = plimsoll("size", *TYPED)
    assert said.code == 0 and "1.60 ×" in said.out
    assert [text.split(":")[0] for text in said.err.splitlines()] == ["left out", "left out"]


def test_a_store_without_runs_is_said(plimsoll: Plimsoll) -> None:
    assert "There are no stored results" in plimsoll("size", *TYPED).out


def test_mailboxes_are_sized_with_their_notes(plimsoll: Plimsoll) -> None:
    said = plimsoll(
        "size", "--mailboxes", "5000", "--profile", "exchange-2010:100", "--raid", "5", "--disk-iops", "180", "--disk-size", "600GB"
    )
    assert "demand     600 IOPS" in said.out
    assert "note       the IOPS per mailbox of Exchange 2010 are from memory" in said.out
    # 600 × (0.5 + 4 × 0.5) = 1,500 over 180 are 8.3 disks.
    assert "600 IOPS × (0.5 + 4 × 0.5) = 1,500 disk operations/s; at 180 per disk 9 disks" in said.text
    assert "usable     4.8 TB (4.366 TiB)" in said.out
    typed_over = plimsoll("size", "--mailboxes", "5000", "--profile", "exchange-2007:average", "--read-percent", "60", "--json").json
    assert typed_over["demand"]["read_percent"] == 60
    assert any("342 sequential writes/s" in note for note in typed_over["demand"]["notes"])


def test_capacity_alone_is_computed_as_report_003_had_it(plimsoll: Plimsoll) -> None:
    asked = (
        "size",
        "--raid",
        "5",
        "--disks",
        "48",
        "--groups",
        "4",
        "--spares",
        "1",
        "--arrays",
        "4",
        "--disk-size",
        "146GB",
        "--volumes",
        "16",
    )
    said = plimsoll(*asked)
    assert "4 arrays of RAID 5 of 4 × 12 disks and 1 spare (computed, not measured)" in said.out
    assert "usable     25.7 TB (23.37 TiB) of 28.62 TB" in said.out
    assert "volumes    16 of 1.606 TB" in said.out
    assert "survives the failure of any one disk, and of up to 16 if they fall in different groups" in said.text
    mirrored = plimsoll(*asked, "--mirror-arrays", "--json").json["raid"]
    assert mirrored["usable_bytes"] == pytest.approx(12.848e12)
    assert mirrored["failures_survived"] == 3


def test_a_watched_demand_is_sized(plimsoll: Plimsoll, stored: str) -> None:
    observed = watched(*[{"r/s": 700.0, "rkB/s": 5600.0, "w/s": 300.0, "wkB/s": 2400.0}] * 40)
    Path("demand.json").write_text(json.dumps(demand_document([observed], {"interval_s": 1.0})))
    document = plimsoll("size", "--from", "demand.json", "--objective", "mean <= 20ms", "--json").json
    assert document["demand"]["iops"] == 1000
    assert document["lines"][0]["headroom"] == pytest.approx(1.6)


def test_a_file_of_several_devices_needs_one_named(plimsoll: Plimsoll) -> None:
    busy = {"r/s": 5.0, "rkB/s": 20.0}
    other = watched(busy)
    other.name = "sdb"
    Path("demand.json").write_text(json.dumps(demand_document([watched(busy), other], {})))
    assert plimsoll("size", "--from", "demand.json").err == "plimsoll: demand.json: it holds sda, sdb; say which with --device.\n"
    assert plimsoll("size", "--from", "demand.json", "--device", "sdc").err.endswith("does not hold it; it holds sda, sdb.\n")
    assert plimsoll("size", "--from", "demand.json", "--device", "sdb", "--json").json["demand"]["iops"] == 5


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "not JSON"),
        ('{"schema": "plimsoll.demand/9"}', "a newer Plimsoll wrote it"),
        ('{"schema": "plimsoll.demand/1"}', "'devices' is missing"),
        ('{"schema": "plimsoll.demand/1", "devices": []}', "holds no device"),
        ('{"schema": "plimsoll.demand/1", "devices": [{"name": "sda", "seconds": [1], "columns": {}}]}', "'r/s' is missing"),
    ],
)
def test_a_file_that_is_no_demand_is_refused(plimsoll: Plimsoll, content: str, words: str) -> None:
    Path("demand.json").write_text(content)
    said = plimsoll("size", "--from", "demand.json")
    assert said.code == 2 and said.err.startswith("plimsoll: demand.json: ") and words in said.err


def test_columns_that_do_not_fit_together_are_refused() -> None:
    document = json.loads(json.dumps(demand_document([watched({"r/s": 1.0}, {})], {})))
    document["devices"][0]["columns"]["w/s"] = [1.0]
    with pytest.raises(InputError, match="columns of different length"):
        observed_devices(document, "d.json")
    document["devices"][0]["columns"]["w/s"] = [1.0, -1.0]
    with pytest.raises(InputError, match="a figure below 0"):
        observed_devices(document, "d.json")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "nothing is asked; give a demand with --iops, --from or --mailboxes, or have disks computed with --raid."),
        (("--iops", "5k"), "--iops: a rate alone is no demand; add --read-percent, for example --read-percent 70."),
        (("--iops", "5k", "--read-percent", "70"), "--iops: a rate alone is no demand; add --block-size, for example --block-size 8KiB."),
        (("--iops", "many"), "--iops: 'many' is not a rate; write requests per second above 0, for example 5000 or 5k."),
        ((*TYPED, "--growth", "much"), "--growth: 'much' is not a percentage; write for example 20%."),
        ((*TYPED[:-4], "--block-size", "8q"), "--block-size: '8q' is not a size; write for example 4KiB, 64k or 1GiB."),
        ((*TYPED[:-4], "--block-size", "4k-8k"), "--block-size: '4k-8k' is more than one size; write the mean, for example 8KiB."),
        (("--iops", "5", "--mailboxes", "5"), "--iops and --mailboxes: a demand has one source; give one of them."),
        (("--mailboxes", "5"), "--mailboxes: of which kind? Give --profile, for example --profile exchange-2010:100."),
        (("--disks", "8"), "--disks means something only with --raid; give that as well, or leave it out."),
        ((*TYPED, "--percentile", "9"), "--percentile means something only with --from; give that as well, or leave it out."),
        (("--raid", "5"), "RAID 5 of how many disks? Give --disks, or a demand and --disk-iops to have them computed."),
        (("--raid", "7", "--disks", "8"), "RAID level '7' is unknown; there are 0, 1, 10, 5, 50, 6, 60."),
        (("--raid", "5", "--disks", "8", "--disk-size", "big"), "--disk-size: 'big' is not a size; write for example 4KiB, 64k or 1GiB."),
        (("--raid", "5", "--disks", "8", "--price", "0"), "--price: '0' is not an amount; write a number above 0, for example 42000."),
        (
            ("--raid", "5", "--disks", "8", "--assert"),
            "--assert: there is no demand to carry; give one with --iops, --from or --mailboxes.",
        ),
        (
            ("--raid", "5", "--disks", "8", "--growth", "5"),
            "--growth describes a demand, and there is none; give --iops, --from or --mailboxes.",
        ),
        (
            ("run-1", "--raid", "5", "--disks", "8"),
            "run-1: there is no demand to hold it against; give one with --iops, --from or --mailboxes.",
        ),
        (("--from", "gone.json"), "gone.json: cannot be read (no such file or directory); 'plimsoll watch -o FILE' makes one."),
    ],
)
def test_wrong_input_is_one_sentence(plimsoll: Plimsoll, arguments: tuple[str, ...], sentence: str) -> None:
    said = plimsoll("size", *arguments)
    assert (said.code, said.out, said.err) == (2, "", f"plimsoll: {sentence}\n")
