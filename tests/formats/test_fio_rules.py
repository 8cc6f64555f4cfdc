"""Rules of fio that are easier to see beside a few lines than in a golden file: command lines, numbers, sizes that the caller knows."""

from __future__ import annotations

from typing import Any

import pytest

from plimsoll.errors import InputError
from plimsoll.formats.fio import recognises, translate, translate_command
from plimsoll.formats.fio.quantity import Numbers, time_ns
from plimsoll.formats.translation import Translation

FILES = {
    "one.fio": "[global]\nbs=16k\nfilename=/data/f\nsize=1m\ndirect=1\n[a]\nrw=read\n[b]\nrw=write\n",
    "two.fio": "[c]\nfilename=/data/f\nsize=1m\ndirect=1\n",
}


def command(words: str) -> Translation:
    return translate_command(words.split(), "command line", FILES.__getitem__, {})


def streams(translation: Translation) -> list[dict[str, Any]]:
    return [stream for workload in translation.document["workload"] for stream in workload["stream"]]


def stream(*lines: str) -> dict[str, Any]:
    found = streams(translate("\n".join(["[job]", "filename=/dev/sdb", "direct=1", *lines, ""]), "job.fio"))
    assert len(found) == 1
    return found[0]


def remarked(translation: Translation, text: str) -> list[tuple[str, str]]:
    return [(remark.kind, remark.why) for remark in translation.remarks if remark.text == text]


# Command lines


def test_options_before_the_first_name_are_defaults_of_all_jobs() -> None:
    found = streams(command("fio --bs=8k --filename=/data/f --size=1m --name=x --rw=read --name=y --rw=write --bs=64k"))
    assert [(each["name"], each["block_size"]) for each in found] == [("x", "8KiB"), ("y", "64KiB")]


def test_a_value_may_follow_as_a_word_of_its_own() -> None:
    found = streams(command("fio --name x --rw randread --bs 8k --direct 1 --norandommap --filename /dev/sdb --runtime 5 --time_based"))
    assert (found[0]["block_size"], found[0]["direct"], found[0]["distribution"]) == ("8KiB", True, "uniform")


def test_one_dash_is_as_good_as_two() -> None:
    assert streams(command("fio -name=x -rw=write -bs=8k -filename=/dev/sdb"))[0]["block_size"] == "8KiB"


def test_a_name_that_begins_with_global_holds_defaults() -> None:
    assert streams(command("fio --name=global --bs=8k --name=x --filename=/dev/sdb"))[0]["block_size"] == "8KiB"


def test_output_options_are_ignored_with_a_remark() -> None:
    translation = command("fio --output=x.json --output-format json --eta=never --name=x --filename=/dev/sdb")
    assert translation.refusal() is None
    for word in ("--output=x.json", "--output-format json", "--eta=never"):
        assert [kind for kind, _ in remarked(translation, word)] == ["ignored"]


def test_another_host_is_refused() -> None:
    assert "other hosts are not driven" in str(command("fio --client=db1 one.fio").refusal())


def test_a_remark_on_a_command_line_has_no_line() -> None:
    assert {remark.line for remark in command("fio --name=x --filename=/dev/sdb").remarks} == {None}


def test_only_the_sections_that_are_named_run() -> None:
    assert [each["name"] for each in streams(command("fio one.fio --section=b"))] == ["b"]


def test_files_run_one_after_the_other_and_keep_their_defaults_to_themselves() -> None:
    # As fio 3.33 does it: the defaults of a command line hold for the first file only.
    translation = command("fio --iodepth=4 --ioengine=libaio one.fio two.fio")
    assert [workload["title"] for workload in translation.document["workload"]] == ["a and b", "c"]
    assert [(each["block_size"], each["queue_depth"]) for each in streams(translation)] == [("16KiB", 4), ("16KiB", 4), ("4KiB", 1)]


def test_jobs_of_a_command_line_run_together_with_those_of_the_first_file() -> None:
    translation = command("fio --name=x --filename=/data/f --size=1m two.fio")
    assert [workload["title"] for workload in translation.document["workload"]] == ["x and c"]


# Numbers


@pytest.mark.parametrize(
    ("text", "bytes_"),
    [("4k", 4096), ("4K", 4096), ("4kb", 4096), ("4ki", 4096), ("4kib", 4000), ("1mib", 10**6), ("0x10", 16), ("010", 10), ("512b", 512)],
)
def test_sizes_with_a_base_of_1024(text: str, bytes_: int) -> None:
    assert Numbers(1024).size(text).number == bytes_


@pytest.mark.parametrize(("text", "bytes_"), [("4k", 4000), ("4ki", 4000), ("4kib", 4096), ("1m", 10**6), ("1mib", 1 << 20)])
def test_sizes_with_a_base_of_1000(text: str, bytes_: int) -> None:
    assert Numbers(1000).size(text).number == bytes_


@pytest.mark.parametrize(
    ("text", "unit", "ns"),
    [("10", "s", 10**10), ("10", "us", 10**4), ("10", "ms", 10**7), ("2m", "us", 120 * 10**9), ("1d", "s", 86400 * 10**9)],
)
def test_a_bare_time_is_in_the_units_of_its_option(text: str, unit: str, ns: int) -> None:
    assert time_ns(text, unit) == ns


# What reaches the device


def test_a_capped_number_of_requests_counts_in_the_least_size() -> None:
    # fio 3.33 issues 100 · 4 KiB/s at 4 to 64 KiB: 11.8 requests of 34 KiB on average.
    assert stream("rw=randread", "bsrange=4k-64k", "rate_iops=100")["rate"] == pytest.approx(100 * 4 / 34, abs=1e-5)


def test_a_range_that_is_aligned_to_more_is_spelled_out() -> None:
    found = stream("rw=randread", "bsrange=4k-16k", "ba=64k")
    assert found["block_size"] == {"4KiB": 25, "8KiB": 25, "12KiB": 25, "16KiB": 25}
    assert found["align"] == "64KiB"


def test_rates_of_reads_and_writes_decide_the_mix_of_an_access_list() -> None:
    found = stream("rw=randrw", "bs=4k,8k", "rate_iops=300,100")
    assert [(line["weight"], line["size"]) for line in found["access"]] == [(75, "4KiB"), (25, "8KiB")]


def test_a_pass_with_gaps_transfers_what_lies_between_them() -> None:
    # fio 3.33 issues 4 requests at 0, 16k, 32k and 48k of 64k and ends, where more follows behind the region.
    assert stream("rw=read:12k", "bs=4k", "size=64k")["amount"] == "16KiB"


@pytest.mark.parametrize(
    ("lines", "requests"),
    [
        # As counted with fio 3.33 on files made for it.
        (["bs=64k", "size=1000k"], 15),
        (["bs=64k", "size=1000k", "loops=2"], 30),
        (["bs=16k", "size=100k", "nrfiles=3"], 6),
        (["bs=4k", "size=1m", "rw=read:12k"], 256),
    ],
)
def test_an_amount_is_of_whole_requests_in_each_file(lines: list[str], requests: int) -> None:
    found = streams(translate("\n".join(["[job]", "directory=/data", "direct=1", *lines, ""]), "job.fio"))[0]
    assert Numbers().size(str(found["amount"]).removesuffix("iB")).number == requests * Numbers().size(lines[0][3:]).number


def test_every_percentile_that_is_not_judged_becomes_the_next_stricter_one() -> None:
    text = (
        "[job]\nfilename=/dev/sdb\ndirect=1\nioengine=libaio\niodepth=8\nlatency_target=5ms\nlatency_percentile=99.5\nlatency_window=1s\n"
    )
    assert translate(text, "job.fio").document["experiment"][0]["objective"] == "p99.9 <= 5ms"


def test_blank_zones_share_what_the_others_leave() -> None:
    assert stream("rw=randread", "random_distribution=zoned:50/5:30/15:20/")["distribution"] == "hot:50/5,30/15,20/80"


# Sizes that the caller knows

TWO_DEVICES = "[global]\ndirect=1\nrw=randread\n[one]\nfilename=/dev/sdb\noffset=25%\nsize=50%\n[two]\nfilename=/dev/sdc\n"


def test_devices_at_once_are_joined_when_their_lengths_are_known() -> None:
    translation = translate(TWO_DEVICES, "job.fio", size_of={"/dev/sdb": 1 << 30, "/dev/sdc": 2 << 30}.get)
    assert translation.refusal() is None
    assert translation.document["experiment"][0]["configurations"][0]["target"] == "concat:/dev/sdb,/dev/sdc"
    regions = [(each.get("region_start"), each["region_length"], each["amount"]) for each in streams(translation)]
    assert regions == [("256MiB", "512MiB", "512MiB"), ("1GiB", "2GiB", "2GiB")]


def test_devices_at_once_are_refused_when_their_lengths_are_not_known() -> None:
    assert "how long these files are is not known" in str(translate(TWO_DEVICES, "job.fio").refusal())


def test_what_lies_behind_an_offset_is_transferred_once_when_it_is_known() -> None:
    text = "[job]\nfilename=/dev/sdb\ndirect=1\nrw=write\noffset=1g\n"
    assert streams(translate(text, "job.fio", size_of=lambda _: 3 << 30))[0]["amount"] == "2GiB"
    assert "would not end" in str(translate(text, "job.fio").refusal())


# Recognition


def test_a_job_file_is_recognised_by_its_name() -> None:
    assert recognises("mine.fio", "")


def test_an_included_line_is_remarked_at_the_line_that_includes_it() -> None:
    translation = translate("[job]\nfilename=/dev/sdb\ninclude common.inc\n", "job.fio", {"common.inc": "\nbs=8k\n"}.__getitem__)
    assert [remark.text for remark in translation.remarks if remark.line == 3] == ["include common.inc", "bs=8k (common.inc:2)"]


def test_an_error_of_the_reader_is_an_input_error_with_a_full_stop() -> None:
    with pytest.raises(InputError, match=r"^job\.fio:2: .*\.$"):
        translate("[job]\nbs=4.5k\n", "job.fio")
