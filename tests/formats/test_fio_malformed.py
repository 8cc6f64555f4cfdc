"""Every job file that fio would refuse, or read as something else than it says, gets one sentence with file and line; nothing else is raised."""

from __future__ import annotations

import pytest

from plimsoll.errors import InputError
from plimsoll.formats.fio import translate, translate_command


def job(*lines: str) -> str:
    """A job file of one job; its options begin in line 2."""
    return "\n".join(["[job]", *lines]) + "\n"


MALFORMED: list[tuple[str, int | None, str]] = [
    # structure
    ("", None, "there is no job in it"),
    ("[global]\nbs=4k\n", None, "there is no job in it"),
    ("; only a comment\n", None, "there is no job in it"),
    ("bs=4k\n[job]\n", 1, "stands before any section"),
    ("include common.inc\n[job]\n", 1, "stands before any section"),
    ("[job\nbs=4k\n", 1, "has no closing bracket; write [job]"),
    ("[]\n", 1, "the section has no name"),
    ("[job] rw=read\n", 1, "stands after the section's name"),
    (f"[{'x' * 256}]\n", 1, "has 256 bytes; fio takes at most 255"),
    (job("direct 1"), 2, "is neither option=value nor a single option"),
    (job("=4k"), 2, "is neither option=value nor a single option"),
    (job("rw = read"), 2, "write rw=read"),
    (job("size= 128k"), 2, "has a blank before its value"),
    (job("bs=4k", "", "# half", "nosuch=1"), 5, "fio has no option 'nosuch'"),
    (job("blocksze=4k"), 2, "did you mean 'blocksize'?"),
    (job("runtme=10"), 2, "did you mean 'runtime'?"),
    (job("Direct=1"), 2, "did you mean 'direct'?"),
    (job("include missing.inc"), 2, "cannot be read"),
    (job("include=common.inc"), 2, "write include common.inc"),
    # numbers
    (job("bs=4.5k"), 2, "has a fraction, at which fio stops reading (4)"),
    (job("size=1e3"), 2, "has an exponent, at which fio stops reading (1)"),
    (job("bs=4k*2"), 2, "has the suffix 'k*2'"),
    (job("bs=4*1024"), 2, "is a sum, at which fio stops reading (4)"),
    (job("bs=(1+2)"), 2, "is not a number"),
    (job("bs=4kk"), 2, "has the suffix 'kk', which fio does not have"),
    (job("bs=0"), 2, "is not a length of a request"),
    (job("bs=-4k"), 2, "is not a length of a request"),
    (job("bs=2g"), 2, "is longer than 1 GiB"),
    (job("bs="), 2, "its value is empty"),
    (job("bs"), 2, "it needs a value"),
    (job("bs=1k,2k,3k,4k"), 2, "has 4 entries; there are at most three"),
    (job("bs=,"), 2, "has no value"),
    (job("size=0x"), 2, "has the suffix 'x'"),
    (job("size=99999999999999999999999999999999"), 2, "is larger than any size"),
    (job("size=9999999p"), 2, "is larger than any target"),
    (job("size=110%"), 2, "is not a percentage from 0% to 100%"),
    (job("size=-1m"), 2, "is negative"),
    (job("bs=$pagesize+4k"), 2, "cannot be calculated"),
    (job("bs=$pagesize*"), 2, "is not a sum"),
    (job("bs=$pagesize/0"), 2, "divides by zero"),
    (job("size=${SIZE"), 2, "opens a variable and does not close it"),
    (job("size=${UNSET}"), 2, "its value is empty"),
    (job("kb_base=1023"), 2, "write kb_base=1024"),
    (job("runtime=1.5m"), 2, "has a fraction"),
    (job("runtime=10x"), 2, "has the unit 'x'"),
    (job("runtime=1m30s"), 2, "write 90s for 1m30s"),
    (job("runtime=-5"), 2, "is negative"),
    (job("startdelay=9-5"), 2, "begins with the longer time"),
    (job("iodepth=0"), 2, "is outside 1 to"),
    (job("numjobs=abc"), 2, "is not a number"),
    (job("rwmixread=101"), 2, "is not a percentage"),
    (job("percentage_random=150", "rw=randread"), 2, "is not a percentage"),
    # words
    (job("direct=yes"), 2, "is not a switch; write 1"),
    (job("direct=2"), 2, "is not a switch; write 0 or 1"),
    (job("time_based="), 2, "its value is empty"),
    (job("rw=Read"), 2, "is not a mode; write read"),
    (job("rw=randomread"), 2, "is not a mode; there are"),
    (job("rw=read:"), 2, "has no number behind the colon"),
    (job("rw=randread:x"), 2, "is not a number"),
    (job("rw=randread:0"), 2, "is at least 1"),
    (job("ioengine=nope"), 2, "fio has no engine 'nope'"),
    (job("rw=write", "verify=foo"), 3, "fio does not know 'foo' there; write 0, md5"),
    (job("rw=write", "sync=maybe"), 3, "fio does not know 'maybe' there; write none, 0, sync, 1 or dsync"),
    (job("rate_iops=10", "rate_process=burst"), 3, "write linear or poisson"),
    (job("steadystate=all", "latency_target=1ms"), 2, "'all' is not a criterion; there are iops"),
    (job("steadystate=iops", "steadystate_duration=10"), 2, "has no limit behind the criterion; write for example iops:5%."),
    (job("zonesize=10z"), 2, "counts in zones, which this option cannot; write a size."),
    (job("file_service_type=zipf:x"), 2, "'x' is not a number"),
    (job("file_service_type=lottery"), 2, "there are random"),
    (job("ss=speed:1%", "ss_dur=10"), 2, "is not a criterion"),
    (job("ss=iops:x%", "ss_dur=10"), 2, "is not a number"),
    # lists
    (job("bsrange=8k-4k"), 2, "begins with the larger size"),
    (job("bsrange=1k-2k-3k"), 2, "is not a range of sizes"),
    (job("bsrange=-4k"), 2, "is not a range of sizes"),
    (job("bssplit=4k/60:8k/60"), 2, "sum to 120"),
    (job("bssplit=4k/60:8k/30"), 2, "sum to 90"),
    (job("bssplit=4k/x"), 2, "is not a number"),
    (job("bssplit=" + ":".join(["4k/1"] * 65)), 2, "fio takes at most 64"),
    (job("percentile_list=50:x"), 2, "is not a number"),
    (job("percentile_list=50:101"), 2, "outside 0 to 100"),
    (job("percentile_list=" + ":".join(["50"] * 21)), 2, "fio takes at most 20"),
    (job("rw=randread", "random_distribution=zipf:abc"), 3, "is not a number"),
    (job("rw=randread", "random_distribution=zipf:1"), 3, "theta of exactly 1"),
    (job("rw=randread", "random_distribution=pareto:2"), 3, "is outside"),
    (job("rw=randread", "random_distribution=gauss:2"), 3, "is not a distribution"),
    (job("rw=randread", "random_distribution=normal:"), 3, "has no number behind its colon"),
    (job("rw=randread", "random_distribution=zoned:60/10:50/90"), 3, "sum to 110"),
    (job("rw=randread", "random_distribution=zoned:60/10:40/80"), 3, "sum to 90"),
    (job("rw=randread", "random_distribution=zoned:60/x:40/"), 3, "is not a number"),
    (job("rw=randread", "random_distribution=zoned_abs:60/0:40/1g"), 3, "has a zone without length"),
    (job("rw=randread", "random_distribution=zoned:60"), 3, "is not a list of zones"),
    (job("buffer_pattern=hello"), 2, "is not a pattern"),
    (job('buffer_pattern=""'), 2, "is an empty pattern"),
    (job("buffer_pattern=0x" + "ab" * 4097), 2, "has 4097 bytes"),
    # what does not go together
    (job("rate=1m", "rate_iops=100"), 3, "fio takes either rate or rate_iops"),
    (job("wait_for=other"), 2, "no job above is called 'other'"),
    (job("wait_for=job"), 2, "a job cannot wait for itself"),
    (job("size=10%", "offset_increment=60%", "numjobs=3"), 3, "clone 2 would start at 120%"),
    (job("latency_target=5ms", "latency_percentile=0"), 3, "is not a percentage"),
    # What is taken has to be carried out: each was, and failed only when it was run.
    (job("iodepth=70000"), 2, "it is more than 65536, the most that is taken here"),
    (job("time_based", "runtime=4294967295"), 3, "it is more than 1000d"),
    (job("startdelay=2d-3d"), 2, "it is more than 1d"),
    (job("rate_iops=10,4294967395"), 2, "it is more than 1000000000"),
    (job("filename=/data/f", "size=2048t"), 3, "the target would be longer than 1 PiB"),
    (job("directory=/data", "nrfiles=0", "filesize=16m", "numjobs=2"), 3, "is outside 1 to"),
    (job("random_distribution=zoned:n=zoned:60/10"), 2, "write for example zoned:60/10:40/90."),
]

INCLUDES = {
    "common.inc": "bs=4k\n",
    "circle.inc": "include circle.inc\n",
    "sections.inc": "bs=4k\n[other]\n",
    "bad.inc": "bs=8k\n\nbs=4.5k\n",
}


def refusal(text: str) -> str:
    with pytest.raises(InputError) as caught:
        translate(text, "job.fio", INCLUDES.__getitem__, {})
    return str(caught.value)


def test_there_are_fifty_cases_or_more() -> None:
    assert len(MALFORMED) >= 50


@pytest.mark.parametrize(("text", "line", "words"), MALFORMED, ids=[f"{case[0].splitlines()[-1:]}"[:60] for case in MALFORMED])
def test_a_malformed_file_is_refused_in_one_sentence_with_its_line(text: str, line: int | None, words: str) -> None:
    sentence = refusal(text)
    assert "\n" not in sentence
    assert words in sentence
    assert sentence.startswith("job.fio: " if line is None else f"job.fio:{line}: ")


def test_a_mistake_in_an_included_file_names_that_file_and_its_line() -> None:
    assert refusal(job("rw=read", "include bad.inc")).startswith("bad.inc:3: 'bs=4.5k")


def test_a_section_in_an_included_file_is_refused() -> None:
    assert "sections.inc:2: '[other]' is a section in an included file" in refusal(job("include sections.inc"))


def test_a_file_that_includes_itself_is_refused() -> None:
    assert "a file seems to include itself" in refusal(job("include circle.inc"))


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("fio", "there is no job in it"),
        ("fio --rw=read", "there is no job in it"),
        ("fio --name", "needs a value"),
        ("fio --name=", "names no job"),
        ("fio --name=x --nosuch=1", "fio has no option 'nosuch'"),
        ("fio --name=x --runt=1", "did you mean '--runtime'?"),
        ("fio --name=x --bs", "needs a value"),
        ("fio --name=x --bs=1.5k", "has a fraction"),
        ("fio --name=x --section", "names no section"),
        ("fio missing.fio", "the job file 'missing.fio' cannot be read"),
    ],
)
def test_a_malformed_command_line_is_refused_in_one_sentence(words: str, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        translate_command(words.split(), "command line", INCLUDES.__getitem__, {})
    assert str(caught.value).startswith("command line: ")
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)
