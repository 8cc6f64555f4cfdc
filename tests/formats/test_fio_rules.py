"""Rules of fio that are easier to see beside a few lines than in a golden file: command lines, numbers, sizes that the caller knows."""

from __future__ import annotations

from typing import Any

import pytest

from plimsoll.engine.block import native
from plimsoll.errors import InputError
from plimsoll.formats.fio import recognises, translate, translate_command
from plimsoll.formats.fio.quantity import Numbers, time_ns
from plimsoll.formats.known_targets import KnownTargets
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


@pytest.mark.parametrize(("written", "meant"), [("5000", "5ms"), ("5ms", "5ms"), ("700", "700us")])
def test_a_latency_without_a_unit_is_in_microseconds(written: str, meant: str) -> None:
    job = f"[job]\nfilename=/dev/sdb\ndirect=1\nruntime=10\ntime_based\nmax_latency={written}\n"
    assert translate(job, "job.fio").document["experiment"][0]["objective"] == f"max <= {meant}"


def test_every_percentile_that_is_not_judged_becomes_the_next_stricter_one() -> None:
    text = (
        "[job]\nfilename=/dev/sdb\ndirect=1\nioengine=libaio\niodepth=8\nlatency_target=5ms\nlatency_percentile=99.5\nlatency_window=1s\n"
    )
    assert translate(text, "job.fio").document["experiment"][0]["objective"] == "p99.9 <= 5ms"


def test_blank_zones_share_what_the_others_leave() -> None:
    assert stream("rw=randread", "random_distribution=zoned:50/5:30/15:20/")["distribution"] == "hot:50/5,30/15,20/80"


def test_clones_that_take_their_files_in_turn_have_parts_of_their_own() -> None:
    text = "[job]\ndirectory=/data\ndirect=1\nrw=write\nbs=64k\nnrfiles=2\nnumjobs=3\nsize=1000k\n"
    translation = translate(text, "job.fio")
    # 500 KiB of each file are seven requests, and each file is made as long as eight.
    assert translation.document["experiment"][0]["configurations"][0]["target"].startswith("concat:")
    assert translation.document["experiment"][0]["set"]["size"] == "3MiB"
    found = [(each["parts"], each["parts_unit"], each["region_length"], each["amount"]) for each in streams(translation)]
    assert found == [(f"{first}-{first + 1}", "64KiB", "896KiB", "896KiB") for first in (0, 2, 4)]


def test_files_in_turn_run_beside_other_jobs() -> None:
    text = "[global]\ndirect=1\n[a]\nfilename=/data/a:/data/b\nrw=write\nbs=8k\nsize=2m\n[b]\nfilename=/data/c\nrw=randread\nsize=4m\noffset=1m\n"
    translation = translate(text, "job.fio")
    assert translation.refusal() is None
    assert target(translation) == "concat:/data/a,/data/b,/data/c?sizes=1MiB,1MiB,5MiB"
    found = [(each["parts"], each.get("parts_unit"), each.get("region_start"), each["region_length"]) for each in streams(translation)]
    assert found == [("0-1", "8KiB", None, "2MiB"), (2, None, "1MiB", "4MiB")]


def test_files_in_turn_beside_other_jobs_are_not_verified() -> None:
    text = "[global]\ndirect=1\nverify=crc32c\n[a]\nfilename=/data/a:/data/b\nrw=write\nsize=2m\n[b]\nfilename=/data/c\nrw=write\nsize=1m\n"
    assert "files in turn beside those of other jobs are not verified" in str(translate(text, "job.fio").refusal())
    in_a_row = translate(text.replace("/data/b\n", "/data/b\nfile_service_type=sequential\n"), "job.fio")
    assert in_a_row.refusal() is None
    assert [each["parts"] for each in streams(in_a_row)] == ["0-1", 2]


def target(translation: Translation) -> str:
    """The target of the first experiment."""
    return str(translation.document["experiment"][0]["configurations"][0]["target"])


def test_joined_files_are_as_long_as_their_own_job_asks() -> None:
    # They were as long as the longest file of all, and refused for that beside a longer one.
    text = "[a]\nfilename=/data/a:/data/b\nfile_service_type=sequential\nrw=read\nsize=2m\n[b]\nfilename=/data/c\nrw=read\nsize=9m\n"
    translation = translate(text, "job.fio")
    assert translation.refusal() is None
    assert target(translation) == "concat:/data/a,/data/b,/data/c?sizes=1MiB,1MiB,9MiB"
    longer = {"/data/a": 4 << 20, "/data/b": 1 << 20}.get
    assert "files that are joined are used whole" in str(translate(text, "job.fio", targets=longer).refusal())


def test_files_are_made_beside_what_is_there() -> None:
    text = "[a]\nfilename=/data/a\nrw=read\nsize=2m\n[b]\nfilename=/dev/sdb\nrw=read\nsize=9m\n"
    for there, found in (({}, "concat:/data/a,/dev/sdb?sizes=2MiB,-"), ({"/data/a": 2 << 20}, "concat:/data/a,/dev/sdb")):
        translation = translate(text, "job.fio", targets=there.get)
        assert translation.refusal() is None
        assert target(translation) == found
    text = "[global]\nrw=read\nsize=2m\n[a]\nfilename=/data/a\n[b]\nfilename=/data/b\nsize=10k\n[c]\nfilename=/data/c\nsize=1m\n"
    assert target(translate(text, "job.fio", targets={"/data/c": 3 << 20}.get)) == "concat:/data/a,/data/b,/data/c?sizes=2MiB,12KiB,-"


def test_a_file_that_is_too_short_is_to_be_made_longer_as_fio_does() -> None:
    text = "[a]\nfilename=/data/a\nrw=read\nsize=2m\n[b]\nfilename=/data/b\nrw=read\nsize=9m\n"
    found = {"/data/a": 1 << 20, "/data/b": 64 << 20}.get
    assert target(translate(text, "job.fio", targets=found)) == "concat:/data/a,/data/b?sizes=2MiB,-"


def test_a_stripe_of_which_one_file_is_there_makes_the_other() -> None:
    text = "[a]\nfilename=/data/a:/data/b\nrw=read\nbs=64k\nsize=2m\n"
    found = target(translate(text, "job.fio", targets={"/data/b": 3 << 20}.get))
    assert found == "stripe:/data/a,/data/b?unit=64KiB&sizes=1MiB,-"


def test_a_file_of_several_groups_has_the_longest_of_its_lengths_in_all() -> None:
    # fio lays out everything before the first job.
    text = (
        "[global]\nrw=read\nstonewall\n[a]\nfilename=/data/a\nsize=2m\n[b]\nfilename=/data/a\nsize=4m\n"
        "[c]\nfilename=/data/b\nsize=1m\n[d]\nfilename=/data/c\nsize=8m\nstonewall=0\n"
    )
    experiments = translate(text, "job.fio").document["experiment"]
    found = [(each["configurations"][0]["target"], each["set"].get("size")) for each in experiments]
    assert found == [("/data/a", "4MiB"), ("/data/a", "4MiB"), ("concat:/data/b,/data/c?sizes=1MiB,8MiB", None)]


def test_a_typed_size_is_that_of_all_files_alike() -> None:
    text = "[a]\nfilename=/data/a\nrw=read\nsize=2m\n[b]\nfilename=/data/b\nrw=read\nsize=9m\n"
    translation = translate(text, "job.fio", targets=KnownTargets(given=64 << 20, overrides=True))
    assert (target(translation), translation.document["experiment"][0]["set"]["size"]) == ("concat:/data/a,/data/b", "18MiB")


def test_blanks_at_the_ends_of_names_reach_the_target() -> None:
    # "a " became the file a, without a word.
    text = "[a]\nfilename=/data/a :/data/b\nrw=read\nsize=2m\n"
    assert target(translate(text, "job.fio")) == "stripe:/data/a%20,/data/b?unit=4KiB"


@pytest.mark.parametrize("count", [65, 112, 128, 1000, 4096])
def test_clones_are_as_many_as_fio_takes(count: int) -> None:
    text = f"[{'n' * 60}]\nfilename=/data/f\nrw=write\nsize=4m\nnumjobs={count}\n"
    translation = translate(text, "job.fio")
    assert translation.refusal() is None
    found = streams(translation)
    assert len(found) == count
    native().check_workload(translation.document["workload"][0], "job.fio")


def test_more_jobs_than_fio_takes_are_refused() -> None:
    assert "maximum number of jobs (4096)" in str(translate("[a]\nfilename=/data/f\nsize=1m\nnumjobs=4097\n", "job.fio").refusal())
    two = "[a]\nfilename=/data/f\nsize=1m\nnumjobs=4096\n[b]\nfilename=/data/f\nsize=1m\n"
    assert "maximum number of jobs (4096)" in str(translate(two, "job.fio").refusal())


def test_zones_in_bytes_become_shares_of_the_region() -> None:
    found = stream("rw=randread", "norandommap", "size=4m", "random_distribution=zoned_abs:60/1m:40/2m")
    assert found["distribution"] == "hot:60/25,40/50"
    text = "[job]\nfilename=/dev/sdb\nrw=randread\nrandom_distribution=zoned_abs:60/1m:40/2m\n"
    assert "write size= in bytes" in str(translate(text, "job.fio").refusal())
    assert "longer than the region" in str(translate(f"{text}size=2m\n", "job.fio").refusal())


# Files that are not there yet


@pytest.mark.parametrize("lines", [["offset=50%", "size=1m"], ["offset=25%", "size=1m", "filesize=4m"]])
def test_an_offset_in_percent_of_a_missing_file_is_none(lines: list[str]) -> None:
    # As fio 3.33 does it: it looks at the length of the file before it makes it.
    translation = translate("\n".join(["[job]", "filename=/data/f", "direct=1", *lines, ""]), "job.fio")
    assert "region_start" not in streams(translation)[0]
    assert [kind for kind, _ in remarked(translation, lines[0])] == ["ignored"]


def test_an_offset_in_percent_of_a_file_that_is_there_holds() -> None:
    text = "[job]\nfilename=/data/f\ndirect=1\noffset=50%\nsize=1m\n"
    assert streams(translate(text, "job.fio", targets=lambda _: 4 << 20))[0]["region_start"] == "50%"


@pytest.mark.parametrize("lines", [["size=50%"], ["size=1m", "offset_increment=10%", "numjobs=2"]])
def test_other_percentages_of_a_missing_file_are_refused_with_what_to_write(lines: list[str]) -> None:
    translation = translate("\n".join(["[job]", "filename=/data/f", "direct=1", *lines, ""]), "job.fio")
    assert "there is no file yet to take a percentage of; write" in str(translation.refusal())


@pytest.mark.parametrize("line", ["bs=1000", "bssplit=1000/50:4k/50", "bsrange=1000-4000", "offset=1000"])
@pytest.mark.parametrize("mode", ["read", "write"])
def test_verified_requests_are_whole_sectors(line: str, mode: str) -> None:
    text = f"[job]\nfilename=/data/f\ndirect=1\nrw={mode}\nsize=1m\n{line}\n"
    assert translate(text, "job.fio").refusal() is None
    assert str(translate(f"{text}verify=md5\n", "job.fio").refusal()).startswith(f"job.fio:6: '{line}' is not supported: verified data")


def test_verified_requests_start_at_sectors() -> None:
    translation = translate("[job]\nfilename=/data/f\ndirect=1\nrw=randread\nsize=1m\nba=1000\nverify=md5\n", "job.fio")
    assert "'ba=1000' is not supported: verified data are stamps in every 512 bytes" in str(translation.refusal())


# Order and pace


def test_positions_of_a_sequential_mix_are_those_of_fio() -> None:
    # fio 3.33: r0 r1 w0 r2 w1 …, each operation by itself.
    found = stream("rw=rw", "bs=4k,16k", "size=1m")
    assert (found["sequential"], found["random_percent"]) == ("per_operation", 0)
    assert (found["read_block_size"], found["write_block_size"]) == ("4KiB", "16KiB")


def test_a_mix_that_is_begun_anew_says_so() -> None:
    text = "[job]\nfilename=/dev/sdb\ndirect=1\nrw=rw\nsize=1m\n"
    assert not any("begins anew with both" in why for _, why in remarked(translate(text, "job.fio"), "rw=rw"))
    assert any("begins anew with both" in why for _, why in remarked(translate(f"{text}loops=2\n", "job.fio"), "rw=rw"))


@pytest.mark.parametrize(
    ("lines", "refill_depth"),
    [
        (["iodepth_batch=4"], None),
        (["iodepth_batch_complete_min=1"], None),
        (["iodepth_batch_complete=4"], 12),
        (["iodepth_low=6"], 6),
        (["iodepth_low=14", "iodepth_batch_complete_min=8"], 8),
        (["iodepth_low=0"], None),
        (["iodepth_batch_complete_min=40"], 0),
    ],
)
def test_a_queue_is_refilled_when_as_many_are_back_as_fio_waits_for(lines: list[str], refill_depth: int | None) -> None:
    assert stream("rw=randread", "ioengine=libaio", "iodepth=16", "runtime=1", "time_based", *lines).get("refill_depth") == refill_depth


@pytest.mark.parametrize(
    ("lines", "merge_depth"),
    [
        # Counted at a loop device under fio 3.33: with 8 and 8 every request of the device is 32 KiB, with 8 alone 4 KiB.
        (["rw=read", "iodepth_batch=8", "iodepth_batch_complete_min=8"], 8),
        (["rw=read", "iodepth_batch=8"], None),
        (["rw=read", "iodepth_batch_complete_min=8"], None),
        (["rw=read", "iodepth_batch=2", "iodepth_batch_complete_min=8"], None),
        (["rw=write", "iodepth_batch=4", "iodepth_low=4"], 4),
        (["rw=randread", "iodepth_batch=8", "iodepth_batch_complete_min=8"], None),
        (["rw=read", "iodepth_batch=8", "iodepth_batch_complete_min=8", "direct=0"], None),
    ],
)
def test_neighbours_are_handed_over_together_where_fio_does_so(lines: list[str], merge_depth: int | None) -> None:
    assert stream("ioengine=libaio", "iodepth=16", "runtime=1", "time_based", *lines).get("merge_depth") == merge_depth


@pytest.mark.parametrize(
    ("lines", "holds"),
    [
        # strace of fio 3.33: io_submit, io_getevents, fsync, io_submit … from one thread, which is in fsync meanwhile.
        (["ioengine=libaio", "iodepth=16", "fsync=1"], True),
        (["ioengine=libaio", "iodepth=16", "fdatasync=8", "rate_iops=100"], True),
        (["ioengine=libaio", "iodepth=16"], None),
        (["ioengine=libaio", "iodepth=1", "fsync=1"], None),
        (["ioengine=libaio", "iodepth=16", "fsync=1", "thinktime=1ms"], None),
        (["ioengine=io_uring", "iodepth=16", "fsync=1"], None),
        (["ioengine=psync", "iodepth=16", "fsync=1"], None),
    ],
)
def test_a_thread_of_libaio_waits_for_its_flushes(lines: list[str], holds: bool | None) -> None:
    assert stream("rw=randwrite", "runtime=1", "time_based", *lines).get("flush_holds") == holds


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        # strace of fio 3.33: madvise by the kind of job, msync of the bytes after each request with direct=1 and without it never.
        (["ioengine=mmap", "rw=randread", "direct=1"], ("off", None)),
        (["ioengine=mmap", "rw=read", "direct=0"], ("far", None)),
        (["ioengine=mmap", "rw=randwrite", "direct=1"], ("off", True)),
        (["ioengine=mmap", "rw=write", "direct=0", "sync=1"], ("far", None)),
        (["ioengine=mmap", "rw=write", "direct=0", "fadvise_hint=0"], (None, None)),
        (["ioengine=mmap", "rw=write", "direct=0", "fadvise_hint=random"], ("far", None)),
        (["ioengine=psync", "rw=write", "direct=0", "fadvise_hint=random", "sync=1"], ("off", True)),
        (["ioengine=psync", "rw=randread", "direct=0"], ("off", None)),
        (["ioengine=psync", "rw=randread", "direct=1"], (None, None)),
        (["ioengine=psync", "rw=randread", "direct=0", "fadvise_hint=noreuse"], (None, None)),
    ],
)
def test_the_kernel_is_told_what_fio_tells_it(lines: list[str], expected: tuple[str | None, bool | None]) -> None:
    options = stream("runtime=1", "time_based", *lines)
    assert (options.get("read_ahead"), options.get("dsync")) == expected


def test_batches_of_a_rate_are_ignored_and_a_ratio_is_refused() -> None:
    text = "[job]\nfilename=/dev/sdb\ndirect=1\nioengine=libaio\niodepth=16\nrate_iops=100\nruntime=1\ntime_based\n"
    translation = translate(f"{text}iodepth_low=4\nserialize_overlap=1\n", "job.fio")
    assert translation.refusal() is None
    assert [remarked(translation, line)[0][0] for line in ("iodepth_low=4", "serialize_overlap=1")] == ["ignored", "ignored"]
    assert "give the jobs rates of this ratio" in str(translate(f"{text}flow=2\n", "job.fio").refusal())


def test_a_pause_counts_requests_time_or_both() -> None:
    pause = {"pause", "pause_requests", "pause_interval", "think_time"}

    def found(*lines: str) -> dict[str, Any]:
        options = stream("rw=read", "thinktime=1ms", "runtime=1", "time_based", *lines)
        return {key: value for key, value in options.items() if key in pause}

    assert found() == {"think_time": "1ms"}
    assert found("thinktime_blocks=8") == {"pause": "1ms", "pause_requests": 8}
    assert found("thinktime_iotime=2s") == {"pause": "1ms", "pause_interval": "2s"}
    assert found("thinktime_iotime=2s", "thinktime_blocks=8") == {"pause": "1ms", "pause_requests": 8, "pause_interval": "2s"}


def test_jobs_that_end_at_different_times_have_ends_of_their_own() -> None:
    job = "direct=1\nrw=randread\nfilename=/dev/sdb\n"
    timed = f"[a]\n{job}time_based\nruntime=10\n[b]\n{job}time_based\nruntime=20\nstartdelay=5\n"
    translation = translate(timed, "job.fio")
    assert [each.get("end_after") for each in streams(translation)] == ["10s", None]
    assert translation.document["experiment"][0]["set"]["duration"] == "25s"
    mixed = translate(f"[a]\n{job}time_based\nruntime=10\n[b]\n{job}size=1g\n", "job.fio")
    assert [each.get("end_after") for each in streams(mixed)] == ["10s", None]
    assert mixed.document["experiment"][0]["set"]["duration"] == "30d"


# Zones


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        (["zonemode=strided"], "'zonemode=strided': zones need their size; write zonesize=1m, for example."),
        (["zonemode=strided", "zonesize=0"], "'zonesize=0': zones need their size; write zonesize=1m, for example."),
        (["zonesize=1m"], "'zonesize=1m': fio takes it with a zonemode only; write zonemode=strided."),
        (["zonemode=stride"], "'zonemode=stride': fio does not know 'stride' there; write none, strided or zbd."),
    ],
)
def test_zones_that_fio_would_refuse_are_refused(lines: list[str], sentence: str) -> None:
    with pytest.raises(InputError) as problem:
        stream("rw=read", "size=1g", *lines)
    assert str(problem.value).endswith(sentence)


def test_zones_go_to_the_end_of_the_file_and_not_of_the_size() -> None:
    found = stream("rw=read", "size=1g", "zonemode=strided", "zonesize=1m", "zoneskip=9m")
    assert "region_length" not in found
    assert (found["zone_length"], found["zone_skip"], found["amount"]) == ("1MiB", "9MiB", "1GiB")


@pytest.mark.parametrize("lines", [["zonesize=6k"], ["zonesize=64k", "zoneskip=2k"], ["zonesize=10%"]])
def test_zones_that_begin_between_requests_are_refused(lines: list[str]) -> None:
    translation = translate("\n".join(["[job]", "filename=/dev/sdb", "size=1g", "zonemode=strided", *lines, ""]), "job.fio")
    assert translation.refusal() is not None


# Verification


def test_a_job_that_reads_expects_what_another_run_stamped() -> None:
    assert stream("rw=randread", "verify=md5", "size=1m")["verify"] == "found"
    assert "verify" not in stream("rw=randread", "verify=null", "size=1m")


def test_a_job_that_only_verifies_reads_as_long_requests_as_it_would_write() -> None:
    found = stream("rw=randwrite", "bs=4k,64k", "verify=md5", "verify_only", "size=1m", "fsync=8", "end_fsync=1")
    assert (found["read_percent"], found["block_size"], found["verify"]) == (100, "64KiB", "found")
    assert not {"flush_every", "flush_at_end", "content"} & found.keys()


# Logs of requests

LOGS = {
    "times.log": "fio version 3 iolog\n0 /dev/sdb add\n1 /dev/sdb open\n2 /dev/sdb read 0 4096\n3 /dev/sdc add\n",
    "other.bin": "no text of fio's",
    "waits.log": "fio version 2 iolog\n/dev/sdb add\n/dev/sdb open\n/dev/sdb read 0 4096\n/dev/sdb wait 100\n",
}


def replayed(*lines: str) -> Translation:
    return translate("\n".join(["[job]", "direct=1", *lines, ""]), "job.fio", LOGS.__getitem__, {})


def test_a_log_is_due_at_its_instants_and_goes_to_the_files_that_it_names() -> None:
    translation = replayed("read_iolog=times.log", "ioengine=libaio", "iodepth=8")
    (found,) = streams(translation)
    assert found["trace"].endswith("/times.log") and found["trace"].startswith("/")
    assert (found["arrival"], found["queue_depth"]) == ("trace", 8)
    assert translation.document["experiment"][0]["configurations"][0]["target"] == "concat:/dev/sdb,/dev/sdc"


def test_a_log_without_times_and_one_without_stalls_go_as_fast_as_they_can() -> None:
    for lines in (["read_iolog=waits.log"], ["read_iolog=times.log", "replay_no_stall=1", "replay_time_scale=50"]):
        (found,) = streams(replayed(*lines))
        assert not {"arrival", "trace_speed"} & found.keys()


def test_a_log_of_another_program_needs_a_place_to_go_to() -> None:
    assert "write replay_redirect=" in str(replayed("read_iolog=other.bin").refusal())
    translation = replayed("read_iolog=other.bin", "replay_redirect=/dev/sdd", "replay_time_scale=50", "replay_skip=sync,read")
    (found,) = streams(translation)
    assert (found["arrival"], found["trace_speed"], found["trace_skip"]) == ("trace", 0.5, ["flush", "read"])
    assert translation.document["experiment"][0]["configurations"][0]["target"] == "/dev/sdd"


def test_each_clone_takes_a_log_of_its_own() -> None:
    found = streams(replayed("read_iolog=times.log:waits.log", "numjobs=2", "replay_redirect=/dev/sdd"))
    assert [(each["name"], each["trace"].rpartition("/")[2]) for each in found] == [("job-0", "times.log"), ("job-1", "waits.log")]


def test_a_log_says_what_the_job_cannot() -> None:
    translation = replayed("read_iolog=times.log", "rw=randwrite", "bs=64k", "replay_scale=4")
    assert [remarked(translation, line)[0][0] for line in ("rw=randwrite", "bs=64k")] == ["ignored", "ignored"]
    assert "addresses are not divided" in str(translation.refusal())


def test_a_log_that_cannot_be_read_is_refused_at_its_line() -> None:
    with pytest.raises(InputError, match=r"^job\.fio:3: 'read_iolog=gone\.log': gone\.log: cannot be read; name a log that is there"):
        replayed("read_iolog=gone.log")


def test_alignment_of_a_log_is_said_to_go_further_than_fios() -> None:
    # fio 3.33 issues a read of 4096 at 12288 at 8192 with replay_align=8k, and still 4096 bytes.
    remarks = replayed("read_iolog=times.log", "replay_align=8k").remarks
    (surprise,) = [remark for remark in remarks if remark.kind == "surprise"]
    assert surprise.line == 4 and "keeps lengths" in (surprise.why or "")


# Trees of files


def test_engines_of_files_work_on_a_tree_below_the_directory() -> None:
    text = "[job]\ndirectory=/data\nioengine=filestat\nnrfiles=100\nfilesize=8k\nnumjobs=3\nloops=2\n"
    document = translate(text, "job.fio").document
    (workload,) = document["workload"]
    assert workload["driver"] == "files"
    assert workload["tree"] == [{"name": "job", "path": "job", "files": 300, "sizes": "8KiB"}]
    (found,) = workload["stream"]
    assert (found["operation"], found["threads"], found["requests"]) == ("stat", 3, 200)
    assert document["experiment"][0]["configurations"][0]["target"] == "/data/job"


def test_files_that_are_to_be_made_are_not_there_before() -> None:
    (workload,) = translate("[job]\nioengine=filecreate\nnrfiles=10\n", "job.fio").document["workload"]
    assert (workload["tree"][0]["lay_out"], workload["stream"][0]["operation"]) == ("nothing", "create")


@pytest.mark.parametrize("count", [256, 257, 1000, 5000])
def test_as_many_files_as_a_job_has_are_parts_of_its_target(count: int) -> None:
    # More than 256 were trees of files, and refused where they are taken in turn or at random.
    text = f"[job]\ndirectory=/data\nnrfiles={count}\nsize={count * 8}k\nbs=4k\n"
    for more, kind in (
        ("rw=randread\nfile_service_type=random\n", "stripe:"),
        ("rw=write\n", "stripe:"),
        ("file_service_type=sequential\n", "concat:"),
    ):
        translation = translate(text + more, "job.fio")
        assert translation.refusal() is None
        assert target(translation).startswith(kind) and target(translation).count("/data/job.0.") == count
        assert Numbers().size(translation.document["experiment"][0]["set"]["size"].removesuffix("iB")).number == count * 8192


def test_more_files_than_anybody_has_open_are_named_in_one_sentence() -> None:
    text = "[job]\ndirectory=/data\nnrfiles=70000\nfilename=/data/x\nsize=4k\n"
    assert translate(text, "job.fio").refusal() is None
    refusal = str(translate(text.replace("filename=/data/x", "rw=read"), "job.fio").refusal())
    assert "write file_service_type=sequential, or drop openfiles" in refusal


def test_many_files_that_fio_opens_and_closes_as_it_goes_are_a_tree() -> None:
    job = "[job]\ndirectory=/data\nnrfiles=1000\nopenfiles=100\nsize=4000k\nfile_service_type=sequential\n"
    (workload,) = translate(job, "job.fio").document["workload"]
    assert workload["tree"][0]["sizes"] == "4KiB"
    assert workload["stream"][0]["operation"] == "read"
    assert "write file_service_type=sequential" in str(translate(job.replace("=sequential", "=roundrobin"), "job.fio").refusal())


def test_blocks_and_trees_at_the_same_time_are_refused() -> None:
    text = "[a]\nfilename=/dev/sdb\n[b]\nioengine=filestat\nnrfiles=10\n"
    assert "put stonewall between" in str(translate(text, "job.fio").refusal())


# Sizes that the caller knows

TWO_DEVICES = "[global]\ndirect=1\nrw=randread\n[one]\nfilename=/dev/sdb\noffset=25%\nsize=50%\n[two]\nfilename=/dev/sdc\n"


def test_devices_at_once_need_no_lengths() -> None:
    translation = translate(TWO_DEVICES, "job.fio")
    assert translation.refusal() is None
    assert translation.document["experiment"][0]["configurations"][0]["target"] == "concat:/dev/sdb,/dev/sdc"
    found = [(each["parts"], each.get("region_start"), each.get("region_length"), each["amount"]) for each in streams(translation)]
    assert found == [(0, "25%", "50%", "50%"), (1, None, None, "100%")]


def test_what_lies_behind_an_offset_is_transferred_once_when_it_is_known() -> None:
    text = "[job]\nfilename=/dev/sdb\ndirect=1\nrw=write\noffset=1g\n"
    assert streams(translate(text, "job.fio", targets=lambda _: 3 << 30))[0]["amount"] == "2GiB"
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


def test_a_zone_that_the_file_cuts_short_is_said_to_be_left_out() -> None:
    translation = translate("[job]\nfilename=/dev/sdb\nrw=read\nzonemode=strided\nzonesize=1m\nzoneskip=9m\nsize=1g\n", "job.fio")
    assert ["left out here" in why for kind, why in remarked(translation, "zonemode=strided") if kind == "surprise"] == [True]


# Trees of files


def trees(*lines: str) -> Translation:
    return translate("\n".join(["[job]", "directory=/data", "nrfiles=1000", "openfiles=16", "filesize=4k", *lines, ""]), "job.fio")


@pytest.mark.parametrize(
    ("lines", "requests"),
    [
        (["rw=randread", "bs=4k", "number_ios=100"], 100),
        (["rw=randread", "bs=4k", "number_ios=100", "loops=3"], 300),
        (["ioengine=filestat", "number_ios=100"], 100),
        (["ioengine=filestat", "number_ios=5000"], 1000),
    ],
)
def test_a_number_of_requests_ends_a_stream_on_a_tree(lines: list[str], requests: int) -> None:
    assert streams(trees(*lines))[0]["requests"] == requests


@pytest.mark.parametrize("option", ["offset=4k", "verify=crc32c", "fsync=1", "iodepth=16", "random_distribution=zipf:1.2"])
def test_what_trees_have_no_option_for_is_said(option: str) -> None:
    translation = trees("rw=randread", "bs=4k", option)
    assert [kind for kind, _ in remarked(translation, option) if kind != "surprise"] == ["ignored"]


def test_an_amount_in_percent_of_a_tree_is_refused() -> None:
    assert "write bytes" in str(trees("rw=randread", "bs=4k", "io_size=50%").refusal())


def test_a_seed_goes_with_the_stream_on_a_tree() -> None:
    assert streams(trees("rw=randread", "bs=4k", "randseed=7"))[0]["seed"] == 7
