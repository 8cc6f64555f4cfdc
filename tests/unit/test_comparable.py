"""What may not be compared, and what lets it be compared after all."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from plimsoll.analysis.comparison.comparison import Side
from plimsoll.analysis.comparison.pairs import compare_pairs
from plimsoll.analysis.comparison.refusals import refusals as refusals_of
from plimsoll.analysis.comparison.refusals import size_notes
from plimsoll.experiments.kinds import ADAPTIVE
from plimsoll.result import Result
from support.made_results import HOST, Load, Setting, made

LOAD = Load(1000, 1e6)
refusals = partial(refusals_of, adaptive=ADAPTIVE)


def side(label: str, *results: Result, run: str = "", settings: dict[str, Any] | None = None) -> Side:
    return Side(label, results or (made(LOAD),), run=run, settings=settings or {})


def with_options(**options: Any) -> Result:
    return made(LOAD, setting=Setting(options=options))


def with_job(**options: Any) -> Result:
    result = made(LOAD)
    return replace(result, job=replace(result.job, options={**result.job.options, **options}))


def on_host(**facts: Any) -> Result:
    return replace(made(LOAD), host={**HOST, **facts})


def test_equal_jobs_on_different_targets_may_be_compared_whatever_their_seeds() -> None:
    other = made(LOAD, repeat=7, setting=Setting(target="/dev/sdc"))
    assert refusals([side("A"), side("B", other)]) == []


@pytest.mark.parametrize(
    ("word", "other", "sentence"),
    [
        (
            "queue_depth",
            with_options(queue_depth=8),
            "A and B differ in queue_depth (not set against 8); measure both alike, or compare with --varying queue_depth.",
        ),
        (
            "duration",
            with_job(duration=60),
            "A and B differ in duration (10 against 60); measure both alike, or compare with --varying duration.",
        ),
        (
            "cache",
            replace(made(LOAD), cache={"state": "warm", "how": ""}),
            "A and B differ in the state of the caches (as found against warm); measure both alike, or compare with --varying cache.",
        ),
        (
            "machine",
            on_host(cpu={"model": "Opteron 252"}),
            "A and B differ in the CPU (Xeon 3.2 against Opteron 252); measure both alike, or compare with --varying machine.",
        ),
        (
            "machine",
            on_host(kernel={"release": "6.12.0"}),
            "A and B differ in the kernel (6.1.0 against 6.12.0); measure both alike, or compare with --varying machine.",
        ),
        (
            "version",
            replace(made(LOAD), versions={"plimsoll": "0.1.0"}),
            "A and B differ in the version of Plimsoll (0.2.0 against 0.1.0); measure both alike, or compare with --varying version.",
        ),
        (
            "modelled",
            replace(made(LOAD), modelled=True),
            "A and B differ in what answered (a real target against a modelled target); measure both alike, or compare with --varying modelled.",
        ),
        (
            "size",
            on_host(target={"kind": "file", "size_bytes": 8 << 30}),
            "A and B differ in the size of the target (1.074 GB against 8.59 GB); measure both alike, or compare with --varying size.",
        ),
    ],
)
def test_each_thing_that_differs_is_named_with_both_values_and_what_allows_it(word: str, other: Result, sentence: str) -> None:
    assert refusals([side("A"), side("B", other)]) == [sentence]
    assert refusals([side("A"), side("B", other)], varying=[word]) == []


def test_all_reasons_are_given_at_once() -> None:
    other = replace(with_options(block_size=8192, read_percent=50), modelled=True)
    assert [sentence.split(" (")[0] for sentence in refusals([side("A"), side("B", other)])] == [
        "A and B differ in block_size",
        "A and B differ in read_percent",
        "A and B differ in what answered",
    ]


def test_disks_of_nearly_one_size_are_of_one_size() -> None:
    assert (
        refusals([side("A", on_host(target={"size_bytes": 500_107_862_016})), side("B", on_host(target={"size_bytes": 480_103_981_056}))])
        == []
    )


def test_a_fact_that_is_absent_refuses_nothing() -> None:
    assert refusals([side("A"), side("B", on_host(cpu={"model": "absent: no such file"}, target={}))]) == []


def test_what_the_configurations_of_one_run_state_may_differ_between_them() -> None:
    deep = with_options(queue_depth=8)
    sides = [side("A", run="r1", settings={"queue_depth": 1}), side("B", deep, run="r1", settings={"queue_depth": 8})]
    assert refusals(sides) == []
    assert len(refusals([sides[0], replace(sides[1], run="r2")])) == 1


def test_options_of_one_stream_of_several_are_allowed_by_their_full_name_or_for_every_stream() -> None:
    def streams(rate: int) -> Result:
        result = made(LOAD)
        definition = {"name": "oltp-db", "stream": [{"name": "data", "block_size": 8192}, {"name": "log", "rate": rate}]}
        return replace(result, job=replace(result.job, definition=definition))

    sides = [side("A", streams(100)), side("B", streams(200))]
    assert refusals(sides) == ["A and B differ in log.rate (100 against 200); measure both alike, or compare with --varying log.rate."]
    assert refusals(sides, varying=["log.rate"]) == refusals(sides, varying=["rate"]) == []
    assert len(refusals(sides, varying=["data.rate"])) == 1


def test_levels_of_steps_must_be_the_same_and_those_of_a_search_need_not() -> None:
    def stepped(kind: str, *levels: int) -> list[Result]:
        return [made(LOAD, level, setting=Setting(place={"kind": kind})) for level in levels]

    steps = [side("A", *stepped("steps", 1, 2, 4)), side("B", *stepped("steps", 1, 2))]
    assert refusals(steps) == [
        "A and B differ in the levels of oltp-db (1, 2, 4 against 1, 2); measure both alike, or compare with --varying level."
    ]
    assert refusals(steps, varying=["level"]) == []
    assert refusals([side("A", *stepped("search", 1, 3)), side("B", *stepped("search", 1, 2))]) == []


def test_different_workloads_are_compared_only_when_the_workload_is_what_varies() -> None:
    sides = [side("A"), side("B", made(LOAD, setting=Setting(workload="os-paging", options={"block_size": 65536})))]
    assert refusals(sides) == [
        "A measured oltp-db and B os-paging: no workload in common; compare two with --varying workload.",
    ]
    assert refusals(sides, varying=["workload"]) == []


def test_sides_without_a_point_in_common_are_refused() -> None:
    assert refusals([side("A", made(LOAD, 1)), side("B", made(LOAD, 2))]) == [
        "A and B have no point in common: workload and level, or settings, must be the same.",
    ]
    assert refusals([side("A"), Side("B", ())])[0].startswith("A measured oltp-db and B nothing: no workload in common")


def test_every_side_is_held_against_the_first() -> None:
    found = refusals([side("A"), side("B"), side("C", with_job(duration=60))])
    assert [sentence.split(" differ")[0] for sentence in found] == ["A and C"]


def test_an_option_that_an_imported_result_does_not_tell_is_not_held_against_it() -> None:
    ours = with_options(direct=True, block_size=8192)
    definition = {"name": "oltp-db", "stream": [{"name": "main", "block_size": 4096}]}
    theirs = replace(made(LOAD), versions={"origin": "fio"}, job=replace(made(LOAD).job, definition=definition, options={}))
    found = refusals([side("ours", ours), side("fio", theirs)], ("machine", "version"))
    assert any("block_size" in sentence for sentence in found)
    assert not any("direct" in sentence or "read_percent" in sentence for sentence in found)


def sized(target: str, size_bytes: int, *, region_length: int | None = None) -> Result:
    options = {} if region_length is None else {"region_length": region_length}
    return replace(made(LOAD, setting=Setting(target=target, options=options)), host={**HOST, "target": {"size_bytes": size_bytes}})


def test_targets_of_different_sizes_are_compared_and_the_difference_is_said_where_the_load_uses_all_of_them() -> None:
    # RAID levels on equal disks always differ in size, and no comparison of them was possible.
    whole = [side("raid0", sized("array:a", 364 * 10**9)), side("raid10", sized("array:b", 25_700 * 10**9))]
    assert refusals(whole) == []
    (note,) = size_notes(whole)
    assert note.startswith("raid0 and raid10 differ in size (364 GB against 25.7 TB), and the load uses the whole of it")
    part = [side("A", sized("array:a", 364 << 30, region_length=1 << 30)), side("B", sized("array:b", 1 << 40, region_length=1 << 30))]
    assert (refusals(part), list(size_notes(part))) == ([], [])


def test_what_speaks_against_one_pair_keeps_no_other_from_being_compared() -> None:
    sides = [side("A"), side("B", made(Load(2000, 1e6), setting=Setting(target="/dev/sdc"))), side("C", with_job(duration=60))]
    pairs = compare_pairs(sides, adaptive=ADAPTIVE)
    assert pairs.comparison is not None and pairs.comparison.sides == ("A", "B")
    assert pairs.comparison.notes[0].startswith("Not compared: A and C differ in duration")
    assert compare_pairs([sides[0], sides[2]], adaptive=ADAPTIVE).comparison is None


def test_models_that_needed_different_times_are_compared() -> None:
    # Each array is loaded until its caches are in balance, and every comparison of arrays was refused for its durations.
    modelled = [replace(with_job(duration=seconds, warmup=seconds / 2), modelled=True) for seconds in (60, 94)]
    assert refusals([side("raid0", modelled[0]), side("raid6", modelled[1])]) == []
    assert len(refusals([side("A", with_job(duration=60)), side("B", with_job(duration=94))])) == 1


def test_layouts_at_one_mount_point_are_different_targets() -> None:
    def of_layout(name: str, size_bytes: int) -> Result:
        return on_host(target={"kind": "file", "size_bytes": size_bytes, "layout": {"name": name}})

    small, large = side("A", of_layout("raid0", 1 << 30)), side("B", of_layout("raid1", 8 << 30))
    assert refusals([small, large]) == []
    assert [note.split(" (")[0] for note in size_notes([small, large])] == ["A and B differ in size"]
    same = side("B", of_layout("raid0", 8 << 30))
    assert [reason.split(" (")[0] for reason in refusals([small, same])] == ["A and B differ in the size of the target"]
