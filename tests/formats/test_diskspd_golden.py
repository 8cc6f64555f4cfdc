"""Translations of DiskSpd's command lines and profiles as they were reviewed; renew with ``PLIMSOLL_RENEW=1`` and look at the difference."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from plimsoll.engine.block import native
from plimsoll.experiments.document import read_experiments
from plimsoll.experiments.schedule import settings_of
from plimsoll.formats.diskspd import recognises, translate, translate_command
from plimsoll.formats.diskspd.command import split_line
from plimsoll.formats.place import Place
from plimsoll.formats.translation import Translation

FOLDER = Path(__file__).parent / "diskspd"
GOLDEN = FOLDER / "golden.json"
LINES = [line for line in (FOLDER / "commands.diskspd").read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
PROFILES = sorted(path.name for path in FOLDER.glob("*.xml"))
CASES = LINES + PROFILES


def include(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def translated(case: str) -> Translation:
    if case in PROFILES:
        return translate(include(case), case, include, {})
    return translate_command(split_line(case, Place("command line")), "command line", include)


def typed(words: str) -> Translation:
    return translate_command(words.split(), "command line", include)


def streams(words: str) -> list[dict[str, Any]]:
    translation = typed(words)
    assert translation.refusal() is None
    found: list[dict[str, Any]] = translation.document["workload"][0]["stream"]
    return found


def check(translation: Translation) -> None:
    """Reads the document as a run would, and has the engine check every workload and setting."""
    suite, engine = read_experiments(translation.document, translation.source), native()
    workloads = {workload["name"]: engine.check_workload(workload, translation.source) for workload in translation.document["workload"]}
    assert [experiment.workloads for experiment in suite.experiments] == [(name,) for name in workloads]
    for experiment in suite.experiments:
        for settings in settings_of(experiment):
            workload, options = workloads[experiment.workloads[0]], engine.check_job({})
            for key, value in settings.items():
                workload, options = engine.set_option(workload, options, key, value)


def test_there_are_forty_of_them() -> None:
    assert len(CASES) >= 40 and len(set(CASES)) == len(CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[:60])
def test_translation_is_the_one_reviewed(case: str) -> None:
    translation = translated(case)
    remarks = [f"{item.line}: {item.kind}: {item.text}: {item.why}" for item in translation.remarks]
    found = {"document": translation.document, "remarks": remarks}
    if os.environ.get("PLIMSOLL_RENEW"):
        reviewed = json.loads(GOLDEN.read_text(encoding="utf-8")) if GOLDEN.exists() else {}
        kept = {name: item for name, item in reviewed.items() if name in CASES}
        GOLDEN.write_text(json.dumps({**kept, case: found}, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    assert found == json.loads(GOLDEN.read_text(encoding="utf-8"))[case]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[:60])
def test_what_can_be_run_is_taken_by_the_engine_and_the_rest_says_why(case: str) -> None:
    translation = translated(case)
    refusal = translation.refusal()
    if refusal is None:
        check(translation)
    else:
        assert not translation.document["experiment"]
        assert "nearest" in refusal and "\n" not in refusal


@pytest.mark.parametrize("case", LINES, ids=lambda case: case[:60])
def test_every_word_has_one_verdict(case: str) -> None:
    words = split_line(case, Place("x"))[1:]
    verdicts = [item.text for item in translated(case).remarks if item.kind != "surprise" and item.line is None]
    if "-X" not in case:
        # -B base:length makes two settings of one word.
        assert sorted(dict.fromkeys(verdicts)) == sorted(words)
        assert all(verdicts.count(word) == (2 if word.startswith("-B") and ":" in word else 1) for word in words)


@pytest.mark.parametrize("case", PROFILES)
def test_every_element_has_one_verdict(case: str) -> None:
    translation, text = translated(case), include(case)
    verdicts = [(item.line, item.text.split(">")[0]) for item in translation.remarks if item.kind != "surprise"]
    assert len(verdicts) == len(set(verdicts))
    for name in ("BlockSize", "WriteRatio", "Duration", "DisableAllCache", "Distribution", "Path"):
        assert len([verdict for _, verdict in verdicts if verdict == f"<{name}"]) == text.count(f"<{name}>")


def test_what_is_not_said_is_as_in_diskspd() -> None:
    # The reference: -b64K -o2 -t1 -d10 -W5, sequential, reads only, through the cache.
    translation = typed("/dev/sdb")
    assert translation.document["workload"][0]["stream"] == [
        {
            "name": "target",
            "block_size": 65536,
            "read_percent": 100,
            "write_percent": 0,
            "random_percent": 0,
            "threads": 1,
            "queue_depth": 2,
            "direct": False,
        }
    ]
    assert translation.document["experiment"] == [
        {
            "name": "diskspd",
            "kind": "single",
            "workloads": ["diskspd"],
            "set": {"duration": "10s", "warmup": "5s"},
            "configurations": [{"name": "diskspd", "target": "/dev/sdb"}],
        }
    ]


def test_a_limit_of_bytes_per_millisecond_is_a_rate_of_all_threads() -> None:
    (stream,) = streams("-r -b4K -t2 -g512 -Sh /dev/sdb")
    # 512 bytes/ms = 512,000 bytes/s = 125 requests of 4 KiB each second, by each of 2 threads.
    assert (stream["arrival"], stream["rate"]) == ("constant", 250)
    assert streams("-r -g100i -t3 -Sh /dev/sdb")[0]["rate"] == 300


def test_sequential_threads_have_pointers_of_their_own_unless_interlocked() -> None:
    apart = streams("-t3 -T1M -Sh -c8M io.dat")
    assert [stream.get("region_start", 0) for stream in apart] == [0, 1 << 20, 2 << 20]
    assert [stream["threads"] for stream in apart] == [1, 1, 1]
    (shared,) = streams("-t3 -si -Sh /dev/sdb")
    assert (shared["sequential"], shared["threads"]) == ("shared", 3)


@pytest.mark.parametrize(
    ("flags", "direct", "dsync"),
    [
        ("", False, False),
        ("-S", True, False),
        ("-Su", True, False),
        ("-Sh", True, True),
        ("-h", True, True),
        ("-Suw", True, True),
        ("-Sw", False, True),
        ("-Sb", False, False),
        ("-Su -Sw", True, True),
        ("-Sr", False, False),
    ],
)
def test_caching_is_direct_and_durable_writes(flags: str, direct: bool, dsync: bool) -> None:
    (stream,) = streams(f"{flags} -r -w10 /dev/sdb")
    assert (stream["direct"], stream.get("dsync", False)) == (direct, dsync)


@pytest.mark.parametrize(("flag", "content"), [("", "pattern"), ("-Z", "zeros"), ("-Zr", "incompressible"), ("-Z1M", "incompressible")])
def test_what_is_written(flag: str, content: str) -> None:
    assert streams(f"{flag} -w100 -r -Sh /dev/sdb")[0]["content"] == content


def test_blocks_count_in_sizes_wherever_the_block_size_stands() -> None:
    assert streams("-s4b -b16K -Sh /dev/sdb")[0]["stride"] == 65536


def test_several_created_files_are_the_parts_of_one_target() -> None:
    translation = typed("-c1G -r -B256M -Sh a b")
    (experiment,) = translation.document["experiment"]
    assert experiment["configurations"][0]["target"] == "concat:a,b" and experiment["set"]["size"] == 2 << 30
    found = [(stream["parts"], stream["region_start"]) for stream in translation.document["workload"][0]["stream"]]
    assert found == [(0, 256 << 20), (1, 256 << 20)]


@pytest.mark.parametrize("threads", [65, 128])
def test_sequential_threads_are_streams_however_many(threads: int) -> None:
    assert len(streams(f"-t{threads} -Sh /dev/sdb")) == threads


def test_an_interval_longer_than_the_measurement_is_left_out() -> None:
    translation = typed("-d1 -D5000 -Sh /dev/sdb")
    assert "interval" not in translation.document["experiment"][0]["set"] and translation.of("ignored")[0].text == "-D5000"
    check(translation)


def test_ranges_in_bytes_become_shares_of_the_region() -> None:
    assert streams("-r -rdabs90/10G -f100G -Sh /dev/sdb")[0]["distribution"] == {"kind": "hot", "zones": [[90, 10.0]]}


def test_names_of_windows_leave_the_target_to_the_command_line() -> None:
    for name in ("#1", "x:", "C:\\io.dat", "\\\\server\\share\\io.dat"):
        translation = typed(f"-r -Sh {name}")
        assert "configurations" not in translation.document["experiment"][0]
        (remark,) = translation.of("ignored")
        assert remark.text == name and "-t TARGET takes its place" in remark.why


def test_a_profile_runs_its_time_spans_in_order_with_the_targets_in_their_places() -> None:
    translation = typed("-Xmixed.xml -d20 /dev/sdb /dev/sdc")
    spans = translation.document["experiment"]
    assert [span["configurations"][0]["target"] for span in spans] == ["/dev/sdb", "/dev/sdc"]
    assert [span["set"]["duration"] for span in spans] == ["20s", "20s"]
    assert [span["set"]["warmup"] for span in spans] == ["10s", "5s"]


def test_what_the_command_line_says_anew_is_not_remarked_upon_in_the_profile() -> None:
    translation = typed("-Xmixed.xml -d20 /dev/sdb /dev/sdc")
    assert [item.text for item in translation.remarks if "Duration" in item.text] == ["<IoBucketDuration>250"]


def test_files_are_recognised_by_root_or_first_word() -> None:
    assert recognises("x.xml", include("mixed.xml")) and recognises("x", "<Profile>") and recognises("job.diskspd", "")
    assert recognises("run.txt", "# night\nC:\\tools\\diskspd.exe -b4K x\n")
    assert not recognises("x.xml", "<Results>") and not recognises("x.txt", "diskspd is a tool\n")


def test_a_file_runs_its_lines_one_after_the_other() -> None:
    translation = translate("diskspd -r -Sh a\nREM a comment\n\ndiskspd -b8K -Sh b\n", "night.diskspd", include, {})
    assert [experiment["name"] for experiment in translation.document["experiment"]] == ["span-1", "span-2"]
    assert {item.line for item in translation.remarks} == {1, 4}
    check(translation)
