"""From a live host to a size: the workload of a demand, and what targets carry of it when they are measured."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

import plimsoll as package
from plimsoll.analysis.sizing.demand import COLUMNS, Demand, Observed, demand_at, demand_document
from plimsoll.analysis.sizing.demanded_workload import demanded_workload, measured_rates
from plimsoll.engine.block import native
from plimsoll.errors import InputError
from plimsoll.points.demand import arrays_like
from plimsoll.store.reader import open_run
from plimsoll.units import size_bytes
from support.said import Plimsoll, in_this_process


@pytest.fixture
def real(here: Path, capsys: pytest.CaptureFixture[str]) -> Plimsoll:
    """The command with the engine itself, for targets in virtual time."""
    return in_this_process(capsys)


def watched(reads_per_s: float = 400.0, writes_per_s: float = 100.0, read_kib: float = 8.0, write_kib: float = 8.0) -> Observed:
    """Ten alike seconds of a device."""
    observed = Observed("sda")
    figures = {"r/s": reads_per_s, "rkB/s": reads_per_s * read_kib, "rareq-sz": read_kib}
    figures |= {"w/s": writes_per_s, "wkB/s": writes_per_s * write_kib, "wareq-sz": write_kib}
    for _ in range(10):
        observed.add(1.0, {**dict.fromkeys(COLUMNS, 0.0), **figures})
    return observed


@pytest.fixture
def demand_json(here: Path) -> Path:
    path = here / "demand.json"
    path.write_text(json.dumps(demand_document([watched()], {"host": "bench"})))
    return path


@pytest.mark.parametrize("mean_bytes", [512, 600, 4096, 4100, 5000, 8806.4, 100_000, 1 << 20, 3_000_001])
def test_sizes_have_the_mean_of_the_demand(mean_bytes: float) -> None:
    (stream,) = demanded_workload(Demand(100, 100 * mean_bytes, 70, mean_bytes), "d")["stream"]
    sizes = stream["block_size"]
    shares = {sizes: 100} if isinstance(sizes, str) else sizes
    mean = sum(size_bytes(size) * share for size, share in shares.items()) / 100
    assert sum(shares.values()) == 100 and all(shares.values())
    # Shares are whole percents of a step of 4 KiB, below that of 512 bytes.
    assert mean == pytest.approx(mean_bytes, abs=(4096 if mean_bytes >= 4096 else 512) / 200 + 1e-6)


def test_a_workload_keeps_rate_mix_randomness_and_the_size_of_each_operation() -> None:
    demand = demand_at(watched(read_kib=8, write_kib=16))
    workload = demanded_workload(demand, "d")
    (stream,) = workload["stream"]
    assert (stream["rate"], stream["read_percent"], stream["random_percent"], stream["arrival"]) == (500, 80, 100, "poisson")
    assert (stream["read_block_size"], stream["write_block_size"]) == ("8KiB", "16KiB")
    assert native().check_workload(workload, "d")["stream"][0]["rate"] == 500


@pytest.mark.parametrize(("read_percent", "size"), [(100.0, "8KiB"), (0.0, "16KiB")])
def test_of_one_operation_alone_its_own_size_counts(read_percent: float, size: str) -> None:
    demand = Demand(100, 1e6, read_percent, 10_000, read_bytes=8192, write_bytes=16384)
    assert demanded_workload(demand, "d")["stream"][0]["block_size"] == size


def test_growth_is_part_of_the_rate_and_of_the_rates_that_are_tried() -> None:
    demand = Demand(1000, 8e6, 70, 8192, growth_percent=20)
    assert demanded_workload(demand, "d")["stream"][0]["rate"] == 1200
    assert measured_rates(demand) == "1200..9600"


def test_requests_that_may_wait_do_not_take_more_memory_than_there_is() -> None:
    (stream,) = demanded_workload(Demand(10, 1e8, 100, 8 << 20), "d")["stream"]
    assert stream["queue_depth"] == 8


def test_fit_makes_a_workload_file_of_a_demand_that_runs(real: Plimsoll, demand_json: Path) -> None:
    said = real("fit", "demand.json", "-o", "mine.toml")
    assert said.code == 0, said.err
    assert "demand     500 IOPS, 4.1 MB/s, 80 % reads of 8 KiB" in said.out
    assert "plimsoll ramp mine.toml --over rate=500..4000" in said.out
    assert tomllib.loads(Path("mine.toml").read_text())["name"] == "mine"
    (result,) = real("run", "mine.toml", "-t", "queue:?service=const:100us", "-d", "4s", "-w", "0s", "--json").json["results"]
    assert result["totals"]["read"]["iops"] == pytest.approx(400, rel=0.15)
    # Its own file is written again, another is not.
    assert real("fit", "demand.json", "-o", "mine.toml").code == 0
    Path("theirs.toml").write_text("mine\n")
    assert real("fit", "demand.json", "-o", "theirs.toml").code == 2


def test_fit_prints_the_workload_or_json(real: Plimsoll, demand_json: Path) -> None:
    assert tomllib.loads(real("fit", "demand.json").out.split("\n\n", 1)[1])["stream"][0]["rate"] == 500
    document = real("fit", "demand.json", "--json", "--percentile", "50").json
    assert document["workload"]["name"] == "demand" and document["demand"]["iops"] == 500


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("demand.json", "--format", "msr"), "--format is for traces, and demand.json is a demand; leave it out."),
        (("demand.json", "--device", "sdx"), "--device sdx: demand.json does not hold it; it holds sda."),
        (("demand.json", "--measured", "x"), "--measured is for arrays, such as array:se6920-raid1; leave it out."),
        (("demand.json", "-o", "x.json"), "x.json: 'plimsoll run' takes files that end in .toml for workloads; write x.json.toml."),
        (("trace.csv", "--percentile", "9"), "--percentile is for demands, which 'plimsoll watch -o FILE' keeps; leave it out."),
    ],
)
def test_options_of_another_kind_of_fit_are_refused(real: Plimsoll, demand_json: Path, words: tuple[str, ...], sentence: str) -> None:
    Path("trace.csv").write_text("128166372003061629,hm,0,Read,383496192,32768,413\n")
    said = real("fit", *words)
    assert (said.code, said.err) == (2, f"plimsoll: {sentence}\n")


def test_without_a_fitting_line_size_names_the_commands_that_measure_one(real: Plimsoll, demand_json: Path) -> None:
    said = real("size", "--from", "demand.json", "--growth", "20%", "--objective", "mean <= 2ms", "-t", "/dev/my disk")
    lines = [line.strip() for line in said.out.splitlines()]
    again = "plimsoll size --from demand.json --growth 20% --objective 'mean <= 2ms'"
    assert f"{again} --measure -t '/dev/my disk'" in lines
    assert f"{again} --arrays 'msa2000-*'" in lines
    assert "plimsoll fit demand.json -o demand.toml" in lines
    assert (
        "plimsoll size --iops 5k --read-percent 70 --block-size 8k --measure -t TARGET"
        in real("size", "--iops", "5k", "--read-percent", "70", "--block-size", "8k").out
    )


MEASURE = ("--objective", "mean <= 2ms", "--measure", "-q", "-w", "1s", "-d", "10s")


def test_a_measured_headroom_is_that_of_the_queue(real: Plimsoll, demand_json: Path) -> None:
    """One server of 1 ms answers in 2 ms on average at 2/3 of its 1,000 requests per second (M/D/1), which is 1.33 times 500."""
    said = real("size", "--from", "demand.json", *MEASURE, "-t", "queue:?service=const:1ms&servers=1", "--json")
    assert said.code == 0, said.err
    (line,) = said.json["lines"]
    assert line["headroom"] == pytest.approx(4 / 3, rel=0.1)
    assert said.json["answer"].startswith("1 of 1 target carries 500 requests per second: queue:?service=const:1ms&servers=1 1.")
    assert Path(said.json["results"], "run.json").exists()


def test_the_demand_itself_is_measured_first_and_a_tenth_is_near_enough(real: Plimsoll, demand_json: Path) -> None:
    """Where it is carried: 1 ×, 2 × (too much), then halves of what lies between; where it is not, halves down to what is."""
    said = real("size", "--from", "demand.json", *MEASURE, "-t", "queue:?service=const:1ms&servers=1", "--json")
    levels = [point.result.place["level"] for point in open_run(said.json["results"]).points]
    assert levels[:3] == [500, 1000, 750] and len(levels) <= 6
    said = real("size", "--from", "demand.json", *MEASURE, "-t", "queue:?service=const:3ms&servers=1", "--json")
    levels = [point.result.place["level"] for point in open_run(said.json["results"]).points]
    assert levels[0] == 500 and max(levels) == 500


def test_size_is_a_function_too(real: Plimsoll, demand_json: Path) -> None:
    queue = "queue:?service=const:1ms&servers=1"
    answer = package.size(from_file="demand.json", objective="mean <= 2ms", measure=True, target=queue, duration=10, warmup="1s")
    assert answer.carried and answer.path is not None
    (fit,) = answer.fits
    assert fit.line.target.startswith("queue:") and fit.headroom == pytest.approx(4 / 3, rel=0.1)
    # The same question of what is stored now; numbers stand for texts.
    again = package.size(iops=500, read_percent=80, block_size="8KiB", objective="mean <= 2ms")
    assert again.carried and again.path is None and again.fits[0].headroom == fit.headroom
    with pytest.raises(InputError, match="option 'iop' is not known; did you mean 'iops'"):
        package.size(iop=5)  # type: ignore[call-arg]
    with pytest.raises(InputError, match="--measure: what shall be measured"):
        package.size(from_file="demand.json", measure=True)


def test_targets_are_told_by_what_they_carry_the_answer_first(real: Plimsoll, demand_json: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    slow, quick = "queue:?service=const:5ms&servers=1", "queue:?service=const:100us&servers=1"
    said = real("size", "--from", "demand.json", *MEASURE, "-t", slow, "-t", quick, "--assert")
    assert said.text.startswith(f"1 of 2 targets carries 500 requests per second: {quick} at least ")
    assert said.text.partition(" demand ")[0].endswith(" × (modelled).")
    rows = [line.split() for line in said.out.splitlines() if line.endswith(("not_steady", "few_samples")) or "queue:" in line]
    assert any(row[:2] == ["–", "no"] and slow in row for row in rows)
    assert said.code == 0 and "results  results" in said.out
    assert real("size", "--from", "demand.json", *MEASURE, "-t", slow, "--assert").code == 1


def test_without_an_objective_the_rate_has_to_be_kept_up(real: Plimsoll, demand_json: Path) -> None:
    words = (
        "size",
        "--from",
        "demand.json",
        "--measure",
        "-q",
        "-w",
        "1s",
        "-d",
        "20s",
        "-t",
        "queue:?service=const:1ms&servers=1",
        "--json",
    )
    document = real(*words).json
    assert document["objective"] == "achieved >= 97%"
    assert document["lines"][0]["headroom"] == pytest.approx(2, rel=0.1)


def test_arrays_are_found_by_a_pattern_of_their_names() -> None:
    assert arrays_like("msa2000-raid5") == ["array:msa2000-raid5"] == arrays_like("array:msa2000-raid5")
    assert set(arrays_like("msa2000-raid[56]")) == {"array:msa2000-raid5", "array:msa2000-raid6"}
    assert len(arrays_like("msa2000-*")) > 5
    with pytest.raises(InputError, match=r"--arrays msa2000-raid5x: no shipped array is called so; .*'msa2000-raid5'"):
        arrays_like("msa2000-raid5x")


def test_a_shipped_array_is_measured_by_its_name(real: Plimsoll, demand_json: Path) -> None:
    said = real("size", "--from", "demand.json", "--arrays", "nvme", "-q", "-d", "1s", "-w", "0s", "--json")
    assert [line["target"] for line in said.json["lines"]] == ["array:nvme"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--measure", "-t", "queue:"), "--measure: there is no demand to measure; give one with --iops, --from or --mailboxes."),
        (("--arrays", "nvme"), "--arrays: there is no demand to measure; give one with --iops, --from or --mailboxes."),
        (("--from", "demand.json", "--measure"), "--measure: what shall be measured? Name it with --target"),
        (("--from", "demand.json", "-d", "5s"), "--duration is for measuring; add --measure, or leave it out."),
        (("--from", "demand.json", "--destroy-data"), "--destroy-data is for measuring; add --measure, or leave it out."),
        (("--from", "demand.json", "run1", "--arrays", "nvme"), "run1: stored runs are looked at without --measure and --arrays"),
        (("--from", "demand.json", "--arrays", "0", "--raid", "5"), "--arrays 0: give how many equal arrays there are"),
        (("--from", "demand.json", "--arrays", "2"), "--arrays means something only with --raid"),
    ],
)
def test_wrong_input_is_one_sentence(real: Plimsoll, demand_json: Path, words: tuple[str, ...], sentence: str) -> None:
    said = real("size", *words)
    assert said.code == 2 and said.err.startswith(f"plimsoll: {sentence}") and said.err.count("\n") == 1
    assert not Path("results").exists()
