"""fio's grammar as the installed fio has it: what its parser refuses is refused, and what is refused names the line; all in `tests/long`."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from formats.fio_grammar import drawn, every_line, fio_takes, job_file, outcome, replaced
from plimsoll.errors import InputError
from plimsoll.formats.fio import translate

needs_fio = pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")
#: Lines and job files that are tried here, of twenty thousand.
LINES, JOBS = 800, 100


@needs_fio
def test_what_fio_refuses_is_refused(tmp_path: Path) -> None:
    # Words of fio's lists (sync=maybe was refused, fallocate=maybe was not), ranges, bare switches such as direct, and bsrange=4k.
    taken = [[line] for line in random.Random(12).sample(every_line(), LINES) if outcome([line]) is None]
    taken += [lines for lines in drawn(12, JOBS) if outcome(lines) is None]
    assert len(taken) > LINES // 10
    assert [lines for lines, fio in zip(taken, fio_takes(taken, tmp_path), strict=True) if not fio] == []


@needs_fio
def test_a_line_that_a_later_one_replaces_is_refused_as_fio_refuses_it(tmp_path: Path) -> None:
    # rwmixread=10ms before rwmixread=50 was taken, as were all values that do not hold in the end.
    jobs = [["rw=rw", "rwmixread=10ms", "rwmixread=50"], ["direct=2", "buffered=1"], ["kb_base=1001", "kb_base=1000"]]
    jobs += replaced(12, 300)
    taken = [lines for lines in jobs if outcome(lines) is None]
    assert len(taken) > 30
    assert [lines for lines, fio in zip(taken, fio_takes(taken, tmp_path), strict=True) if not fio] == []


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[global]\nrwmixread=10ms\n[a]\nrw=rw\nsize=1m\nrwmixread=50\n", 2),
        ("[a]\nrw=read\nsize=1m\n[global]\nrwmixread=10ms\n", 5),
        ("[a]\nrw=rw\nsize=1m\nrwmixwrite=101\nrwmixread=50\n", 4),
        ("[a]\nfilename=x\nrw=foo\nsize=1m\nrw=read\n", 3),
    ],
)
def test_a_value_that_does_not_hold_has_to_be_one_as_well(text: str, line: int) -> None:
    with pytest.raises(InputError, match=rf"^job.fio:{line}: "):
        translate(text, "job.fio")


def test_sizes_are_read_in_the_steps_of_their_own_section() -> None:
    # fio 3.33 lays out 102400 bytes for the first and 100000 for the second: a job's kb_base comes after the globals were read.
    for globals_, own, length in (("", "kb_base=1000\n", "100KiB"), ("kb_base=1000\n", "", 100_000)):
        text = f"[global]\nsize=100k\nfilename=x\nrw=write\n{globals_}[a]\n{own}"
        stream = translate(text, "job.fio").document["workload"][0]["stream"][0]
        assert stream["region_length"] == length


@needs_fio
def test_what_is_refused_names_its_line() -> None:
    for lines in ([line] for line in random.Random(13).sample(every_line(), LINES)):
        refusal = outcome(lines)
        assert refusal is None or refusal.startswith(("job.fio:2:", "job.fio:3:", "job.fio:4:", "job.fio:1: '[job]'")), (lines, refusal)


@needs_fio
@pytest.mark.parametrize(
    "lines",
    [
        ["ioengine=aio", "iodepth=8", "direct=1"],
        ["ioengine=linuxaio", "iodepth=8", "direct=1"],
        ["name= X"],
        ["description= what it does"],
        ["numjobs= 2"],
        ["runtime = 10", "time_based = 1"],
        ["bs= 8192"],
        ["size=100%%"],
        ["offset=10%%", "size=50%%"],
        ["random_distribution=normal", "rw=randread"],
        ["random_distribution=normal:0", "rw=randread"],
    ],
)
def test_what_files_of_others_say_is_taken(lines: list[str], tmp_path: Path) -> None:
    assert fio_takes([lines], tmp_path) == [True]
    assert outcome(lines) is None


@needs_fio
@pytest.mark.parametrize(
    ("lines", "says"), [(["ioengine=splice"], "'ioengine=splice' is not supported"), (["flow=-8"], "write positive ones")]
)
def test_what_has_no_counterpart_is_refused_by_its_name(lines: list[str], says: str, tmp_path: Path) -> None:
    assert fio_takes([lines], tmp_path) == [True]
    assert says in (outcome(lines) or "")


def test_a_normal_distribution_without_a_number_has_the_deviation_of_fio() -> None:
    # fio 3.33, 3.6 million addresses over 256 blocks: the most popular one had 1.85 %, which is a deviation of 21.6 blocks, a twelfth.
    document = translate(job_file(["random_distribution=normal", "rw=randread"]), "job.fio").document
    assert document["workload"][0]["stream"][0]["distribution"] == "normal:8.33333"


def test_other_names_of_an_engine_mean_the_engine() -> None:
    for name in ("aio", "linuxaio"):
        remarks = translate(job_file([f"ioengine={name}", "iodepth=8"]), "job.fio").remarks
        assert any("libaio waits for each request" in remark.why for remark in remarks)
