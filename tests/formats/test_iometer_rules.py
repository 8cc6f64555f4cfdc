"""What translations of ICF files must hold, rule by rule, with the expected values beside the call."""

from __future__ import annotations

from typing import Any

import pytest

from formats.iometer.made import DEFAULT, SEQUENTIAL, icf, manager, managers, network_worker, setup, simple, specs, worker
from plimsoll.engine.block import native
from plimsoll.experiments.document import read_experiments
from plimsoll.formats.iometer import Counterpart, recognises, translate, translate_onto
from plimsoll.formats.iometer.model import Cycling, Version
from plimsoll.formats.iometer.read import read
from plimsoll.formats.iometer.resolve import builtin
from plimsoll.formats.known_targets import KnownTargets

GIB = str((1 << 30) // 512)


def _document(text: str, **counterparts: Counterpart) -> dict[str, Any]:
    return translate_onto(text, "load.icf", counterparts).document


def _streams(text: str, **counterparts: Counterpart) -> list[dict[str, Any]]:
    return _document(text, **counterparts)["workload"][0]["stream"]


def _kinds(text: str, part: str) -> list[str]:
    return [remark.kind for remark in translate(text, "load.icf").remarks if part in remark.text]


def test_a_line_keeps_weight_size_mix_randomness_alignment_burst_and_delay() -> None:
    text = simple(None, worker(), lines=[("Default", ["8192,60,70,50,20,16,4096,0", "512,40,0,100,0,1,0,0"])])
    assert _streams(text)[0]["access"] == [
        {"weight": 60, "size": "8KiB", "read_percent": 70, "random_percent": 50, "align": "4KiB", "burst": 16, "delay": "20ms"},
        {"weight": 40, "size": "512B", "read_percent": 0, "random_percent": 100, "align": "512B"},
    ]


def test_the_engine_keeps_the_line_for_a_burst_and_rounds_up_to_the_alignment() -> None:
    text = simple(None, worker(), lines=[("Default", ["8192,60,70,50,20,16,4096,0", "512,40,0,100,0,1,0,0"])])
    canonical = native().check_workload(_document(text)["workload"][0], "load.icf")["stream"][0]["access"]
    assert [(line["burst"], line["align"], line["delay"]) for line in canonical] == [(16, 4096, 0.02), (1, 512, 0)]


def test_outstanding_requests_are_per_worker_and_target() -> None:
    text = simple(None, worker(targets=["C:", "D:"], region=f"{GIB},0", outstanding="8,DISABLED,1"))
    assert [(stream["threads"], stream["queue_depth"]) for stream in _streams(text)] == [(1, 8), (1, 8)]


def test_alike_random_workers_are_threads_and_sequential_ones_are_streams_with_pointers_of_their_own() -> None:
    text = simple(None, *(worker(f"Worker {number}", ["Default", "Sequential"]) for number in (1, 2, 3)))
    random, sequential = (workload["stream"] for workload in _document(text)["workload"])
    assert [stream["threads"] for stream in random] == [3]
    assert [stream["threads"] for stream in sequential] == [1, 1, 1]
    assert all("region_start" not in stream for stream in sequential)


def test_a_configuration_is_named_though_its_target_has_characters_that_no_name_may_have() -> None:
    document = _document(simple(None, worker(targets=["/mnt/a [ext4]\tsdb"])))
    (experiment,) = read_experiments(document, "load.icf").experiments
    assert all(configuration.name.isprintable() for configuration in experiment.configurations)


def test_specifications_run_one_after_the_other_each_with_all_tests() -> None:
    keys = {"Test Type": "CYCLE_OUTSTANDING_IOS", "Queue Depth Cycling": "1 32 2 EXPONENTIAL"}
    experiments = _document(simple(keys, worker(assigned=["Sequential", "Default"])))["experiment"]
    assert [experiment["name"] for experiment in experiments] == ["sequential", "default"]
    assert [experiment["over"] for experiment in experiments] == [{"queue_depth": [1, 2, 4, 8, 16, 32]}] * 2


@pytest.mark.parametrize(
    ("written", "depths"),
    [
        ("1 32 2 EXPONENTIAL", [1, 2, 4, 8, 16, 32]),
        ("1 33 2 EXPONENTIAL", [1, 2, 4, 8, 16, 32]),
        ("3 100 3 EXPONENTIAL", [3, 9, 27, 81]),
        ("1 10 4 LINEAR", [1, 5, 9]),
        ("8 8 2 EXPONENTIAL", [8]),
        ("1 3 1 EXPONENTIAL", [1, 2, 3]),
    ],
)
def test_queue_depths_add_or_multiply_up_to_their_end(written: str, depths: list[int]) -> None:
    text = simple({"Test Type": "CYCLE_OUTSTANDING_IOS", "Queue Depth Cycling": written})
    assert _document(text)["experiment"][0]["over"] == {"queue_depth": depths}


def test_cycled_workers_that_are_alike_and_random_are_steps_over_threads() -> None:
    text = simple({"Test Type": "CYCLE_WORKERS", "Worker Cycling": "1 1 LINEAR"}, *(worker(f"W{number}") for number in range(4)))
    experiment = _document(text)["experiment"][0]
    assert (experiment["kind"], experiment["over"]) == ("steps", {"threads": [1, 2, 3, 4]})


def test_cycled_workers_that_differ_are_configurations() -> None:
    text = simple({"Test Type": "CYCLE_WORKERS"}, worker("A"), worker("B", outstanding="2,DISABLED,1"), worker("C", ["Sequential"]))
    configurations = _document(text)["experiment"][0]["configurations"]
    assert [item["name"] for item in configurations] == ["1 worker", "2 workers", "3 workers"]
    assert [sorted(item.get("set", {})) for item in configurations] == [["b.threads", "c.threads"], ["c.threads"], []]


def test_targets_cycle_outside_of_queue_depths() -> None:
    keys = {"Test Type": "CYCLE_OUTSTANDING_IOS_AND_TARGETS", "Queue Depth Cycling": "1 4 2 EXPONENTIAL"}
    experiment = _document(simple(keys, worker(targets=["C:", "D:"], region=f"{GIB},0")))["experiment"][0]
    assert experiment["over"] == {"queue_depth": [1, 2, 4]}
    assert [item["name"] for item in experiment["configurations"]] == ["1 target", "2 targets"]
    assert experiment["configurations"][0]["set"] == {"worker-1-target-2.threads": 0}


def test_workers_cycle_outside_of_targets() -> None:
    two = [worker(name, targets=["C:", "D:"], region=f"{GIB},0") for name in ("A", "B")]
    experiment = _document(simple({"Test Type": "CYCLE_WORKERS_AND_TARGETS"}, *two))["experiment"][0]
    names = [item["name"] for item in experiment["configurations"]]
    assert names == ["1 worker, 1 target", "1 worker, 2 targets", "2 workers, 1 target", "2 workers, 2 targets"]


def test_targets_of_one_manager_are_added_down_its_workers() -> None:
    text = simple(
        {"Test Type": "INCREMENT_TARGETS_PARALLEL"},
        worker("A", targets=["C:", "D:"], region=f"{GIB},0"),
        worker("B", targets=["E:"], region=f"{GIB},0"),
    )
    off = [sorted(item.get("set", {})) for item in _document(text)["experiment"][0]["configurations"]]
    assert off == [["a-target-2.threads", "b.threads"], ["b.threads"], []]


@pytest.mark.parametrize(("kind", "tests"), [("INCREMENT_TARGETS_PARALLEL", 1), ("INCREMENT_TARGETS_SERIAL", 2)])
def test_targets_of_several_managers_are_added_at_a_time_or_one_manager_after_the_other(kind: str, tests: int) -> None:
    two = [manager(worker(targets=[drive], region=f"{GIB},0"), name=f"{number},HOST") for number, drive in ((1, "C:"), (2, "D:"))]
    experiment = _document(icf(setup({"Test Type": kind}), specs([DEFAULT]), managers(*two)))["experiment"][0]
    assert len(experiment["configurations"]) == tests


def test_sectors_become_a_region_of_the_target() -> None:
    stream = _streams(simple(None, worker(region="4194304,2048")))[0]
    assert (stream["region_start"], stream["region_length"]) == ("1MiB", "2GiB")


def test_files_of_known_size_are_measured_as_one_after_the_other() -> None:
    document = _document(simple(None, worker(targets=["/mnt/a [ext4]", "/mnt/b,c [ext4]"], region=f"{GIB},8")))
    assert document["experiment"][0]["configurations"][0]["target"] == "concat:/mnt/a/iobw.tst,/mnt/b%2Cc/iobw.tst"
    # 1 GiB behind 8 sectors each, which is a whole number of steps of 4 KiB.
    assert document["experiment"][0]["set"]["size"] == f"{2 * ((1 << 20) + 4)}KiB"
    places = [(stream["parts"], stream["region_start"], stream["region_length"]) for stream in document["workload"][0]["stream"]]
    assert places == [(0, "4KiB", "1GiB"), (1, "4KiB", "1GiB")]


def test_files_of_different_sizes_are_each_made_as_long_as_is_used_of_them() -> None:
    text = simple(None, worker("A", targets=["/mnt/a"], region=f"{GIB},0"), worker("B", targets=["/mnt/b"], region=f"{int(GIB) // 2},0"))
    experiment = _document(text)["experiment"][0]
    assert experiment["configurations"][0]["target"] == "concat:/mnt/a/iobw.tst,/mnt/b/iobw.tst?sizes=1GiB,512MiB"
    assert "size" not in experiment["set"]


def test_a_typed_size_is_that_of_all_files_of_a_run_alike() -> None:
    text = simple(None, worker("A", targets=["/mnt/a"], region=f"{GIB},0"), worker("B", targets=["/mnt/b"], region=f"{int(GIB) // 2},0"))
    targets = KnownTargets(lambda _path: None, given=1 << 31, overrides=True)
    experiment = translate(text, "load.icf", None, {}, targets).document["experiment"][0]
    assert experiment["configurations"][0]["target"] == "concat:/mnt/a/iobw.tst,/mnt/b/iobw.tst"
    assert experiment["set"]["size"] == "2GiB"


def test_several_disks_are_parts_of_one_target_whatever_their_sizes() -> None:
    text = simple(None, worker(targets=["sdb", "sdc"], region="0,2048"))
    assert translate(text, "load.icf").refusal() is None
    known = {"sdb": Counterpart("/dev/sdx", 10 << 30), "sdc": Counterpart("/dev/sdy", 20 << 30)}
    translation = translate_onto(text, "load.icf", known)
    assert translation.refusal() is None
    assert translation.document["experiment"][0]["configurations"][0]["target"] == "concat:/dev/sdx,/dev/sdy"
    places = [(stream["parts"], stream["region_start"]) for stream in translation.document["workload"][0]["stream"]]
    assert places == [(0, "1MiB"), (1, "1MiB")]


def test_several_files_of_unknown_size_are_refused() -> None:
    refusal = translate(simple(None, worker(targets=["/mnt/a [xfs]", "/mnt/b [xfs]"])), "load.icf").refusal()
    assert refusal is not None and "nothing says how long this one is to be" in refusal


def test_sizes_of_several_disks_are_looked_up() -> None:
    sizes = {"/dev/sdb": 10 << 30, "/mnt/a/iobw.tst": 1 << 30, "iobw-c.tst": None}
    text = simple(None, worker("A", targets=["sdb", "/mnt/a [xfs]"]), worker("B", targets=["C:"], region=f"{GIB},0"))
    translation = translate(text, "load.icf", None, {}, sizes.get)
    assert translation.refusal() is None
    configuration = translation.document["experiment"][0]["configurations"][0]
    # Only the file that does not exist yet is made.
    assert configuration["target"] == "concat:/dev/sdb,/mnt/a/iobw.tst,iobw-c.tst?sizes=-,-,1GiB"
    assert "size" not in translation.document["experiment"][0]["set"]
    places = [(stream["parts"], stream.get("region_length")) for stream in translation.document["workload"][0]["stream"]]
    assert places == [(0, None), (1, None), (2, "1GiB")]


def test_a_physical_drive_of_windows_beside_others_is_refused_even_where_a_file_could_stand_in() -> None:
    text = simple(None, worker(targets=["C:", '1: "\\\\.\\PHYSICALDRIVE1"'], region=f"{GIB},0"))
    refusal = translate(text, "load.icf", None, {}, lambda path: 1 << 30).refusal()
    assert refusal is not None and "PHYSICALDRIVE1" in refusal


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("sdb", "/dev/sdb"),
        ("sdb1", "/dev/sdb1"),
        ("/dev/mapper/data", "/dev/mapper/data"),
        ("nvme1n1", "/dev/nvme1n1"),
        ("raw2", "/dev/raw/raw2"),
        ("/ [ext3]", "/iobw.tst"),
        ("/srv", "/srv/iobw.tst"),
        ("C:", None),
        ('1: "\\\\.\\PHYSICALDRIVE1"', None),
        ("rpool tank", None),
    ],
)
def test_a_target_is_kept_where_it_exists_here_and_left_to_the_caller_elsewhere(name: str, path: str | None) -> None:
    configurations = _document(simple(None, worker(targets=[name])))["experiment"][0].get("configurations")
    assert configurations == (None if path is None else [{"name": name, "target": path}])


def test_data_patterns_decide_what_is_written() -> None:
    def content(pattern: int) -> dict[str, Any]:
        stream = _streams(simple(None, worker(region=f"0,0,{pattern}")))[0]
        return {key: stream[key] for key in ("content", "pattern") if key in stream}

    assert content(0) == {"content": "pattern", "pattern": "0x5a"}
    assert content(1) == content(2) == {}


def test_a_fixed_seed_is_the_seed_of_the_stream_only_when_enabled() -> None:
    assert _streams(simple(None, worker(outstanding="4,DISABLED,1,ENABLED,42")))[0]["seed"] == 42
    assert "seed" not in _streams(simple(None, worker(outstanding="4,DISABLED,1,DISABLED,42")))[0]


def test_run_time_and_ramp_up_are_duration_and_warmup() -> None:
    experiment = _document(simple({"Run Time": "1 2 3", "Ramp Up Time (s)": "7"}))["experiment"][0]
    assert experiment["set"] == {"duration": "3723s", "warmup": "7s"}


@pytest.mark.parametrize(
    ("text", "part"),
    [
        (simple(lines=[("Default", ["2048,100,67,100,0,1,2048,512"])]), "2048,100,67,100,0,1,2048,512"),
        (simple(None, worker(outstanding="1,ENABLED,1")), "Number of outstanding IOs"),
        (icf(specs([DEFAULT]), managers(manager(network_worker()))), "NETWORK,TCP"),
        (icf(specs([DEFAULT]), managers(manager(worker()), manager(worker(), name="2,OTHER"))), "2,OTHER"),
        (simple(None, worker(assigned=[])), "Version"),
        (icf(setup()), "Version"),
    ],
)
def test_what_cannot_be_run_faithfully_is_refused(text: str, part: str) -> None:
    assert "unsupported" in _kinds(text, part)
    assert translate(text, "load.icf").refusal() is not None


def test_a_reply_of_a_specification_that_nobody_runs_does_no_harm() -> None:
    text = simple(lines=[DEFAULT, ("Sequential", ["65536,100,100,0,0,1,0,512"])])
    assert translate(text, "load.icf").refusal() is None


def test_idle_workers_have_no_stream_and_an_idle_turn_no_experiment() -> None:
    text = simple(None, worker("A", ["Idle", "Default"]), worker("B", ["Idle", "Idle"]))
    document = _document(text)
    assert [experiment["name"] for experiment in document["experiment"]] == ["default"]
    assert [stream["name"] for stream in document["workload"][0]["stream"]] == ["a"]


def test_a_file_of_specifications_alone_runs_them_all_on_what_the_caller_measures() -> None:
    translation = translate(icf(specs([DEFAULT, SEQUENTIAL])), "load.icf")
    assert [experiment["name"] for experiment in translation.document["experiment"]] == ["default", "sequential"]
    assert all("configurations" not in experiment for experiment in translation.document["experiment"])
    assert [remark.line for remark in translation.of("surprise")] == [1]


def test_new_workers_get_what_is_assigned_to_disks() -> None:
    entries = [("Default,ALL", DEFAULT[1]), ("Sequential,NET", SEQUENTIAL[1]), ("Log,DISK", SEQUENTIAL[1]), ("Other,NONE", DEFAULT[1])]
    document = _document(icf(setup({"Default Disk Workers to Spawn": "3"}), specs(entries)))
    assert [experiment["name"] for experiment in document["experiment"]] == ["default", "log"]
    assert [len(workload["stream"]) for workload in document["workload"]] == [1, 3]


def test_versions_order_as_dates_below_releases() -> None:
    written = ["1997.11.03", "1998.05.21", "1999.02.17", "2004.07.30", "2006.07.27", "2008.06.18", "1.0.0", "1.1.0", "3.26.97"]
    assert [version.text for version in sorted(map(Version, reversed(written)))] == written
    assert Version("2006.07.27").number == 20060727
    assert Version("1.1.0").number == 10**10 + 10**5


def test_lines_without_names_belong_together_until_they_reach_a_hundred() -> None:
    rows = "\t2048 100 67 100 0 1\n\t512 40 100 0 0 1\n\t4096 60 0 100 10 4\n"
    text = icf(
        f"'ACCESS SPECIFICATIONS ===\n'size %size reads random delay burst\n{rows}'END access specifications\n", version="1998.03.02"
    )
    found = read(text, "old.icf").specs or ()
    assert [[line.share for line in spec.lines] for spec in found] == [[100], [40, 60]]
    assert (found[1].lines[1].delay_ms, found[1].lines[1].burst) == (10, 4)


def test_keys_are_read_in_any_case_and_by_their_beginning_where_versions_differ() -> None:
    text = icf(
        "'test SETUP ===\n'RAMP up time\n\t9\n'queue depth CYCLING\n'\tstart end step step type\n\t1 8 2 exponential\n'end TEST setup\n"
    )
    found = read(text, "load.icf").setup
    assert found is not None
    assert (found.ramp_up_s, found.queue_cycling) == (9, Cycling(1, 2, "EXPONENTIAL", 8))


def test_line_ends_of_windows_and_a_mark_of_the_byte_order_change_nothing() -> None:
    text = simple()
    assert read("\ufeff" + text.replace("\n", "\r\n"), "load.icf") == read(text, "load.icf")


def test_blank_lines_are_accepted_with_a_remark() -> None:
    notes = read(simple().replace("'Test Type", "\n'Test Type"), "load.icf").notes
    assert [(note.line, note.kind) for note in notes] == [(8, "surprise")]


def test_other_files_are_not_taken_for_ours() -> None:
    assert not recognises("job.fio", "[global]\nrw=read\n")
    assert not recognises("notes.txt", "Version 3 of the plan\n")
    assert not recognises("empty.icf", "")
    assert recognises("LOAD.ICF", "Version 1.1.0 \n")


def test_the_built_in_specifications_of_1_1_0_are_thirty_two() -> None:
    found = builtin(Version("1.1.0"))
    assert len(found) == 1 + 1 + 20 + 3 + 6 + 1
    assert len({spec.name for spec in found}) == 32
    lines = found[-1].lines
    assert [line.share for line in lines] == [4] * 13 + [3] * 16
    assert sum(line.share for line in lines) == 100
    default = found[1].lines[0]
    assert (default.size, default.reads, default.random, default.align) == (2048, 67, 100, 2048)


def test_all_in_one_of_2006_has_twenty_lines_of_five_percent() -> None:
    lines = builtin(Version("2006.07.27"))[-1].lines
    assert [line.share for line in lines] == [5] * 20
    assert {line.size for line in lines} == {512, 4096, 16384, 32768}


def test_every_built_in_specification_but_idle_is_a_workload_of_ours() -> None:
    names = [spec.name for spec in builtin(Version("1.1.0"))]
    translation = translate(icf(specs([DEFAULT]), managers(manager(worker(assigned=names))), version="1.1.0"), "load.icf")
    assert len(translation.document["experiment"]) == 31
    for workload in translation.document["workload"]:
        native().check_workload(workload, "load.icf")


@pytest.mark.parametrize(
    ("lines", "names"),
    [
        (["2048 100 67 100 0 1"], ["2 KiB random 67% reads"]),
        (["4096 100 100 100 0 1"], ["4 KiB random reads"]),
        (["512 100 0 0 0 1"], ["512 B sequential writes"]),
        (["1048576 100 100 0 0 1"], ["1 MiB sequential reads"]),
        (["8192 100 67 30 0 1"], ["8 KiB 30% random 67% reads"]),
        (["1050627 100 0 100 0 1"], ["1 MiB 2 KiB 3 B random writes"]),
        (["512 50 100 0 0 1", "4096 50 0 100 0 1"], ["Untitled 1"]),
        (
            ["512 50 100 0 0 1", "4096 50 0 100 0 1", "2048 100 67 100 0 1", "2048 100 67 100 5 1", "512 60 0 0 0 1", "512 40 0 9 0 1"],
            ["Untitled 1", "2 KiB random 67% reads", "2 KiB random 67% reads 2", "Untitled 2"],
        ),
    ],
)
def test_specifications_of_1998_are_called_as_iometer_calls_them(lines: list[str], names: list[str]) -> None:
    text = (
        "Version 1998.03.02 \n'ACCESS SPECIFICATIONS ====\n'size\n"
        + "".join(f"\t{line}\n" for line in lines)
        + "'END access specifications\n"
    )
    found = read(text, "old.icf").specs
    assert found is not None and [spec.name for spec in found] == names


def test_a_worker_of_1998_may_be_assigned_a_specification_by_the_name_that_iometer_gave_it() -> None:
    """Its columns are those of the version; who wrote the names into the file was Iometer itself."""
    old = "'ACCESS SPECIFICATIONS ====\n'size\n\t2048 100 67 100 0 1\n'END access specifications\n"
    text = icf(setup(), old, managers(manager(worker(assigned=["2 KiB random 67% reads"]))), version="1998.03.02")
    assert _document(text)["workload"][0]["stream"][0]["access"][0]["size"] == "2KiB"
