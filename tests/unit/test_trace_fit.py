"""Traces made by a process that is known: the fit finds it again within sampling error, and the match says how near it is."""

from __future__ import annotations

import json
import math
import random
import time
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

import pytest

from plimsoll.analysis.trace.addresses import MOST_START_GRANULES, MOST_STARTS, WINDOW, Addresses, Runs, WorkingSet
from plimsoll.analysis.trace.arrivals import MOST_STEPS, MOST_WINDOWS, Spacing
from plimsoll.analysis.trace.fit import Fit, fit_workload
from plimsoll.analysis.trace.match import Measure, compare_profiles, noise
from plimsoll.analysis.trace.popularity import expected_counts, uniform, zipf, zones
from plimsoll.analysis.trace.profile import MOST_SIZES, Profile, Request, Sizes, profile_requests
from plimsoll.analysis.trace.sample import draw_requests
from plimsoll.cli import main
from plimsoll.engine.block import native
from plimsoll.errors import InputError
from plimsoll.target import Target

FUZZ_SECONDS = 3.0
MS = 1_000_000
KIB = 1024
BLOCKS = 1 << 16
REQUESTS = 20_000


@dataclass
class Process:
    """What makes a trace: each part draws from the generator it is given."""

    place: Callable[[random.Random], int] = lambda generator: generator.randrange(BLOCKS)
    gap_ns: Callable[[random.Random, float], float] = lambda generator, at_ns: generator.expovariate(1 / MS)
    read: float = 0.7
    sizes: dict[int, float] | None = None
    sequential: float = 0.0
    target: str = "a"

    def trace(self, requests: int = REQUESTS, seed: int = 1) -> Iterator[Request]:
        generator = random.Random(seed)
        sizes = self.sizes or {4 * KIB: 1.0}
        at_ns, end = 0.0, 0
        for _ in range(requests):
            op = "read" if generator.random() < self.read else "write"
            size = generator.choices(list(sizes), list(sizes.values()))[0]
            offset = end if generator.random() < self.sequential else self.place(generator) * 4 * KIB
            end = offset + size
            yield int(at_ns), op, offset, size, self.target, None
            at_ns += self.gap_ns(generator, at_ns)


def zipf_place(theta: float) -> Callable[[random.Random], int]:
    """Ranks scattered over the region by a permutation."""
    bounds = list(accumulate(rank**-theta for rank in range(1, BLOCKS + 1)))
    scattered = list(range(BLOCKS))
    random.Random(5).shuffle(scattered)
    return lambda generator: scattered[generator.choices(range(BLOCKS), cum_weights=bounds)[0]]


def hot_place(generator: random.Random) -> int:
    """80 % of the requests on the quarter that begins at a half."""
    return generator.randrange(BLOCKS // 2, BLOCKS * 3 // 4) if generator.random() < 0.8 else generator.randrange(BLOCKS)


def fit_of(process: Process, requests: int = REQUESTS) -> Fit:
    return fit_workload(profile_requests(process.trace(requests)))


def deviation(share: float, requests: int = REQUESTS) -> float:
    """Four standard deviations of a share."""
    return 4 * math.sqrt(share * (1 - share) / requests)


def measures(process: Process) -> dict[str, Measure]:
    fit = fit_of(process)
    found = compare_profiles(fit.profile, profile_requests(draw_requests(fit, fit.profile.count)))
    return {f"{measure.group}: {measure.name}": measure for measure in found}


@pytest.mark.parametrize("read", [0.0, 0.3, 0.95, 1.0])
def test_the_mix_is_found(read: float) -> None:
    fit = fit_of(Process(read=read))
    reads = sum(stream.requests * stream.ops.get("read", 0) / 100 for stream in fit.streams) / REQUESTS
    assert abs(reads - read) <= deviation(read)
    assert all(sum(stream.ops.values()) == pytest.approx(100) for stream in fit.streams)


def test_sizes_are_found_with_their_shares() -> None:
    truth = {4 * KIB: 0.5, 8 * KIB: 0.3, 64 * KIB: 0.2}
    (stream,) = fit_of(Process(sizes=truth)).streams
    assert set(stream.sizes["read"]) == set(truth)
    reads = round(0.7 * REQUESTS)
    assert all(abs(stream.sizes["read"][size] - share) <= deviation(share, reads) for size, share in truth.items())


def test_sizes_too_many_to_list_keep_their_mean() -> None:
    truth = {4 * KIB: 0.7, **{number * 4 * KIB: 0.3 / 60 for number in range(4, 64)}}
    (stream,) = fit_of(Process(sizes=truth)).streams
    mix = stream.sizes["write"]
    assert len(mix) < 12
    mean = sum(size * share for size, share in mix.items())
    assert mean == pytest.approx(sum(size * share for size, share in truth.items()), rel=0.05)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_the_sequential_share_is_found_also_across_operations(share: float) -> None:
    (stream,) = fit_of(Process(sequential=share)).streams
    assert abs(stream.random_percent / 100 - (1 - share)) <= deviation(share) + 0.002


def test_a_purely_sequential_trace_has_no_random_requests() -> None:
    (stream,) = fit_of(Process(sequential=1.0, read=1.0)).streams
    assert stream.random_percent == 0
    assert "distribution" not in stream.options(0)


def test_interleaved_runs_get_a_thread_each() -> None:
    def runs() -> Iterator[Request]:
        ends = [0, 1 << 30, 2 << 30, 3 << 30]
        for number in range(8000):
            at = number % 4
            yield number * MS, "read", ends[at], 4 * KIB, "a", None
            ends[at] += 4 * KIB

    (stream,) = fit_workload(profile_requests(runs())).streams
    assert (stream.random_percent, stream.threads) == (0, 4)
    assert stream.options(0)["sequential"] == "per_thread"


def test_even_addresses_are_uniform() -> None:
    (stream,) = fit_of(Process()).streams
    assert stream.spread.option == "uniform"


@pytest.mark.parametrize("theta", [0.6, 0.9, 1.2])
def test_the_skew_of_zipf_is_found(theta: float) -> None:
    (stream,) = fit_of(Process(place=zipf_place(theta))).streams
    assert stream.spread.theta == pytest.approx(theta, abs=0.05)


def test_hot_zones_are_found_where_they_are() -> None:
    (stream,) = fit_of(Process(place=hot_place)).streams
    assert stream.spread.option.startswith("hot:")
    covered = 0.0
    inside = 0.0
    for requests, region in stream.spread.parts:
        if 0.49 <= covered < 0.74:
            inside += requests
        covered += region
    assert inside == pytest.approx(0.8 + 0.2 / 4, abs=0.03)


@pytest.mark.parametrize(("gap_ns", "kind"), [(lambda g, at: MS, "constant"), (lambda g, at: g.expovariate(1 / MS), "poisson")])
def test_the_arrival_and_its_rate_are_found(gap_ns: Callable[[random.Random, float], float], kind: str) -> None:
    (stream,) = fit_of(Process(gap_ns=gap_ns)).streams
    assert stream.arrival.kind == kind
    assert stream.arrival.rate_per_s == pytest.approx(1000, rel=4 / math.sqrt(REQUESTS))
    assert stream.arrival.warning is None


def test_a_rate_that_changes_becomes_a_schedule() -> None:
    def gap_ns(generator: random.Random, at_ns: float) -> float:
        return generator.expovariate(1 / MS if at_ns < 8_000 * MS else 4 / MS)

    (stream,) = fit_of(Process(gap_ns=gap_ns)).streams
    assert stream.arrival.kind == "schedule"
    assert 2 <= len(stream.arrival.steps) < MOST_STEPS
    assert stream.arrival.steps[0][1] == pytest.approx(1000, rel=0.1)
    assert stream.arrival.steps[-1][1] == pytest.approx(4000, rel=0.1)
    turn = next(at_ns for at_ns, rate in stream.arrival.steps if rate > 2000)
    assert turn == pytest.approx(8_000 * MS, rel=0.05)


def test_bunches_that_no_arrival_of_ours_has_are_said() -> None:
    def gap_ns(generator: random.Random, at_ns: float) -> float:
        return 0.0 if generator.random() < 0.75 else generator.expovariate(1 / (4 * MS))

    fit = fit_of(Process(gap_ns=gap_ns))
    assert any("come in bunches" in warning for warning in fit.warnings)


def test_a_trace_without_times_becomes_a_closed_load_that_says_so() -> None:
    fit = fit_workload(profile_requests((None, *request[1:]) for request in Process().trace(500)))
    assert fit.streams[0].options(0)["arrival"] == "closed"
    assert any("has no times" in warning for warning in fit.warnings)


def test_reads_and_writes_that_differ_get_streams_of_their_own() -> None:
    def both() -> Iterator[Request]:
        reads = Process(read=1.0).trace(4000)
        end = 1 << 40
        for request in reads:
            yield request
            yield request[0], "write", end, 64 * KIB, "a", None
            end += 64 * KIB

    fit = fit_workload(profile_requests(both()))
    assert [(stream.name, round(stream.random_percent)) for stream in fit.streams] == [("reads", 100), ("writes", 0)]
    assert fit.streams[1].options(0)["block_size"] == "64KiB"


def test_trims_have_a_stream_and_flushes_go_with_the_writes() -> None:
    def mixed() -> Iterator[Request]:
        for number, request in enumerate(Process(read=0.5).trace(4000)):
            yield request
            if number % 10 == 0:
                yield request[0], "trim", request[2], 1 << 20, "a", None
                yield request[0], "flush", 0, 0, "a", None

    fit = fit_workload(profile_requests(mixed()))
    assert [stream.name for stream in fit.streams] == ["requests", "trims"]
    assert fit.streams[0].ops["flush"] == pytest.approx(100 * 400 / 4400, abs=0.01)
    assert fit.streams[1].ops == {"trim": 100}
    assert fit.streams[1].arrival.rate_per_s == pytest.approx(100, rel=0.1)


def test_the_mean_number_outstanding_follows_littles_law() -> None:
    served = ((*request[:5], 5 * MS) for request in Process().trace())
    profile = profile_requests(served)
    assert profile.outstanding == pytest.approx(5.0, rel=0.05)


def test_regions_move_to_the_start_of_the_target() -> None:
    far = Process(place=lambda generator: (1 << 28) + generator.randrange(BLOCKS))
    fit = fit_of(far)
    assert fit.base == 1 << 40
    assert fit.size_bytes <= BLOCKS * 4 * KIB


def test_the_synthetic_side_of_its_own_process_differs_by_noise_only() -> None:
    found = measures(Process(place=zipf_place(0.9), sizes={4 * KIB: 0.6, 16 * KIB: 0.4}, sequential=0.3))
    assert found["arrival: gap distance"].difference < noise(REQUESTS)
    assert found["sizes: read distance"].difference < noise(round(0.7 * REQUESTS))
    assert abs(found["operations: read"].difference) < deviation(0.7)
    assert abs(found["hot spots: hottest 16 starts"].difference) < 0.02
    assert abs(found["hot spots: different starts"].difference) < 0.05 * (found["hot spots: different starts"].original or 0)
    assert abs(found["sequentiality: read follows"].difference) < 0.02


def test_a_difference_between_trace_and_workload_is_shown() -> None:
    def gap_ns(generator: random.Random, at_ns: float) -> float:
        return 0.0 if generator.random() < 0.75 else generator.expovariate(1 / (4 * MS))

    found = measures(Process(gap_ns=gap_ns))
    assert found["arrival: gap distance"].difference > 0.5
    assert found["arrival: gap p50"].original == 0


def test_equal_traces_give_equal_fits_and_equal_matches() -> None:
    assert measures(Process(sequential=0.2)) == measures(Process(sequential=0.2))


def test_memory_does_not_grow_with_the_trace() -> None:
    addresses, spacing, sizes = Addresses(), Spacing(), Sizes()
    generator = random.Random(3)
    for number in range(200_000):
        addresses.add(generator.randrange(1 << 32) * 512, 512)
        spacing.add(number * 7 * MS)
        sizes.add(generator.randrange(1, 1 << 30))
    assert len(addresses.granules) <= MOST_START_GRANULES and len(addresses.starts) <= MOST_STARTS
    assert len(spacing.windows) <= MOST_WINDOWS
    assert len(sizes.counts) <= MOST_SIZES + 30 * 16
    assert addresses.different == pytest.approx(200_000, rel=0.05)
    assert sum(addresses.granules.values()) == sum(spacing.windows) == sizes.total == 200_000


def test_the_working_set_counts_every_byte_once_also_of_sequential_requests() -> None:
    touched = WorkingSet()
    for offset in (0, 0, 1 << 20, (1 << 40) - 512):
        touched.add(offset, 1 << 20 if offset < 1 << 30 else 512)
    assert touched.size_bytes == (2 << 20) + 4096
    touched.add(0, 1 << 40)
    assert touched.size_bytes == 1 << 40
    assert len(touched.granules) <= 1 << 14


def test_a_request_follows_only_within_the_window_and_its_target() -> None:
    runs = Runs()
    assert [runs.follows("a", 0, 8), runs.follows("a", 8, 8), runs.follows("b", 16, 8)] == [False, True, False]
    for number in range(WINDOW):
        runs.follows("a", 1000 * (number + 1), 8)
    assert not runs.follows("a", 16, 8)


def test_times_that_step_back_count_as_together_and_are_said() -> None:
    fit = fit_workload(profile_requests([(at, "read", 4096 * at, 4096, "a", None) for at in (0, 10, 5, 20)]))
    assert fit.profile.total.spacing.out_of_order == 1
    assert any("older than the one before" in warning for warning in fit.warnings)


@pytest.mark.parametrize("classes", [uniform(1000), zones(1000, [(0.8, 0.2), (0.2, 0.8)]), zipf(1000, 0.99), zipf(1000, 1.0)])
def test_expected_counts_keep_starts_and_requests(classes: list[tuple[float, float]]) -> None:
    assert sum(starts for starts, _ in classes) == pytest.approx(1000)
    assert sum(share for _, share in classes) == pytest.approx(1)
    expected = expected_counts(classes, 5000)
    assert sum(count * starts for count, starts in expected) == pytest.approx(5000, rel=0.01)
    assert sum(starts for _, starts in expected) <= 1000.001


def test_a_trace_of_flushes_alone_has_nothing_to_fit() -> None:
    with pytest.raises(InputError, match="no read, write or trim"):
        fit_workload(profile_requests([(0, "flush", 0, 0, "a", None)]))


def test_every_shape_of_fit_is_a_workload_the_engine_takes() -> None:
    shapes = [
        Process(),
        Process(place=hot_place),
        Process(place=zipf_place(1.1)),
        Process(sequential=1.0),
        Process(sequential=0.5, read=0.0),
    ]
    shapes.append(Process(sizes={512: 0.5, 1536: 0.3, 100_000: 0.2}))
    shapes.append(Process(gap_ns=lambda generator, at_ns: generator.expovariate(1 / MS if at_ns < 1000 * MS else 9 / MS)))
    for process in shapes:
        native().check_workload(fit_of(process, 3000).workload("fitted", "a test"), "fitted.toml")


# The command.


def write_msr(path: Path, requests: int = 4000) -> None:
    lines = [
        f"{128166372003061629 + at_ns // 100},hm,{0 if number % 4 else 1},{op.title()},{offset},{length},200"
        for number, (at_ns, op, offset, length, _, _) in enumerate(Process(place=hot_place).trace(requests))
        if at_ns is not None
    ]
    path.write_text("\n".join(lines))


def test_the_written_workload_runs(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_msr(here / "hm.csv")
    assert main(["fit", "hm.csv", "--device", "hm 0", "-o", "hm.toml"]) == 0
    said = capsys.readouterr()
    assert "3,000 requests" in said.out and "MSR-Cambridge CSV" in said.out
    assert "hot spots" in said.out and "The engine issued" in said.out
    workload = tomllib.loads((here / "hm.toml").read_text())
    assert workload["source"] == "hm.csv (MSR-Cambridge CSV, target hm 0)"
    assert workload["rationale"].startswith("Fitted: requests: 3,000 requests")
    target = "queue:?size=1GiB&service=const:10us"
    assert main(["run", "hm.toml", "--target", target, "--set", "duration=2s", "--set", "warmup=0s", "-o", "results"]) == 0


def test_the_engine_issues_what_the_fit_says(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_msr(here / "hm.csv")
    assert main(["fit", "hm.csv", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "plimsoll.fit/1"
    assert document["trace"]["targets"] == {"hm 0": 3000, "hm 1": 1000}
    assert document["trace"]["outstanding"] == pytest.approx(0.02, rel=0.1)
    assert document["engine"]["ops"]["read"] == pytest.approx(0.7, abs=deviation(0.7, 4000))
    assert document["engine"]["rate_per_s"] == pytest.approx(1000, rel=0.1)
    assert {measure["group"] for measure in document["match"]} == {"operations", "sizes", "arrival", "sequentiality", "hot spots"}
    assert any("2 targets are taken together" in warning for warning in document["warnings"])


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["missing.csv"], "missing.csv: cannot be read (no such file or directory); give a trace."),
        (["."], ".: a directory; give the trace in it."),
        (["hm.csv", "--device", "usr 0"], "--device usr 0: hm.csv has no request of it; it has those of hm 1, hm 0."),
        (["hm.csv", "--format", "mqsim"], "hm.csv:1: the line has 1 columns instead of 5; write time, device, sector, sectors and type."),
        (["hm.csv", "--action", "queue"], "hm.csv:1: a trace in the format msr has one entry per request; leave --action queue out."),
        (["hm.csv", "-o", "hm.txt"], "hm.txt: 'plimsoll run' takes files that end in .toml for workloads; write hm.txt.toml."),
        (["hm.csv", "-o", "no/hm.toml"], "no/hm.toml: there is no directory 'no'; make it first."),
        (["empty"], "empty:1: the file is empty; give a trace with at least one request."),
        (["added"], "added: there is no request in it; give a trace with at least one."),
        (["synced"], "synced: the trace has no read, write or trim, so there is no load to fit; give a trace of block requests."),
    ],
)
def test_what_cannot_be_fitted_is_one_sentence(here: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str) -> None:
    write_msr(here / "hm.csv", 40)
    (here / "empty").touch()
    (here / "added").write_text("fio version 2 iolog\na add\n")
    (here / "synced").write_text("fio version 2 iolog\na add\na sync 0 0\n")
    assert main(["fit", *arguments]) == 2
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", f"plimsoll: {sentence}\n")


def test_a_profile_of_nothing_shares_nothing() -> None:
    assert Profile().share("read") == 0


def odd_trace(generator: random.Random) -> list[Request]:
    """Few or many requests, anywhere up to the end of any storage, of any length, at times of any kind."""
    most = generator.choice([1, 512, 1 << 20, 1 << 34, 1 << 62])
    longest = generator.choice([1, 512, 1 << 20, 1 << 31, 1 << 40])
    unit = generator.choice([1, 512, 4096])
    pause = generator.choice([0, 1, MS, 10**15])
    timed = generator.random() < 0.8
    requests: list[Request] = []
    at_ns = end = 0
    for _ in range(generator.choice([1, 2, 3, 60, 400])):
        at_ns += generator.randrange(pause + 1) if generator.random() < 0.7 else 0
        op = generator.choice(["read", "read", "write", "trim", "flush"])
        length = max(1, generator.randrange(1, longest + 1) // unit * unit)
        offset = end if generator.random() < 0.3 else generator.randrange(most) // unit * unit
        end = min(offset + length, 1 << 62)
        data = op != "flush"
        requests.append((at_ns if timed else None, op, offset if data else 0, length if data else 0, generator.choice("ab"), None))
    return requests


def test_any_trace_becomes_a_workload_that_the_engine_takes() -> None:
    generator, engine = random.Random(17), native()
    until = time.monotonic() + FUZZ_SECONDS
    tried = fitted_ones = 0
    # However little of that time the machine grants, so many traces tell something.
    while time.monotonic() < until or tried < 50:
        tried += 1
        trace = odd_trace(generator)
        try:
            fit = fit_workload(profile_requests(trace))
        except InputError as refused:
            assert "no read, write or trim" in str(refused) or "longer than 1000 days" in str(refused)
            continue
        workload = engine.check_workload(fit.workload("odd", "a test"), "odd.toml")
        assert all(request[2] >= 0 for request in draw_requests(fit, 50))
        compare_profiles(fit.profile, profile_requests(draw_requests(fit, fit.profile.count)))
        if fit.size_bytes <= 1 << 50 and all(size < 1 << 24 for stream in fit.streams for mix in stream.sizes.values() for size in mix):
            runnable = {"workload": workload, "job": engine.check_job({"duration": "1ms", "warmup": "0s"}), "permission": None}
            engine.run_job(
                {**runnable, "target": Target(f"queue:?size={max(4, -(-fit.size_bytes // KIB))}KiB")},
                lambda kind, event: None,
                engine.control(),
            )
        fitted_ones += 1
    assert fitted_ones > 20
