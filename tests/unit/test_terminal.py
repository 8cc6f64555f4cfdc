"""What stands below the table of points: caches, flags with the points they hold for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from plimsoll.reports.progress import settings_text
from plimsoll.reports.terminal.footnotes import footnotes
from plimsoll.reports.terminal.points import operations
from plimsoll.reports.terminal.table import table
from plimsoll.result import Flag, Result
from support.made_results import Load, Setting, made

MS = 1e6
DOUBT = Flag("short_run", "doubt", "It was short.", "Measure longer.")
NOTE = replace(DOUBT, severity="note")
DEPTHS = (1, 2, 4, 8, 16, 32, 128)
DROPPED = {"state": "cold", "how": "The page cache of the target was dropped (posix_fadvise)."}


def at(depth: int, *flags: Flag, configuration: str = "sdb", repeat: int = 1) -> Result:
    setting = Setting(workload="random-read-4k", place={"configuration": configuration})
    return replace(made(Load(1000, MS), depth, repeat, setting), flags=list(flags))


@pytest.mark.parametrize(
    ("results", "where"),
    [
        ([at(1), at(32, DOUBT)], "random-read-4k at queue_depth 32"),
        ([at(1), at(32, DOUBT), at(64, DOUBT), at(128, DOUBT)], "random-read-4k at queue_depth 32 and 2 more; the first"),
        ([at(1), at(32, DOUBT), at(32, DOUBT, repeat=2)], "random-read-4k at queue_depth 32"),
        ([at(32), at(32, DOUBT, configuration="sdc")], "random-read-4k on sdc at queue_depth 32"),
        ([at(1, DOUBT), at(32, DOUBT)], "all 2 measurements; the first"),
        ([made(Load(1000, MS)), replace(made(Load(9, MS), setting=Setting(workload="log")), flags=[DOUBT])], "log"),
    ],
)
def test_a_flag_names_the_points_it_holds_for_and_how_many(results: list[Result], where: str) -> None:
    # Flags named the workload only, of which seven depths had been measured.
    assert footnotes(results) == f"? short run: {where}: It was short.\n  → Measure longer."


def test_flags_of_several_targets_name_them() -> None:
    # "oltp-db: nothing was saturated" stood there twice, and nobody knew which array was meant.
    first, second = (made(Load(1000, MS)), made(Load(9, MS)))
    second = replace(second, flags=[DOUBT], job=replace(second.job, target="array:nvme"))
    assert f"{second.job.workload} on array:nvme: It was short." in footnotes([first, second])


def test_notes_are_named_in_one_line_and_doubts_of_the_same_name_count_each_point_once() -> None:
    # Two rows "few samples" stood below each other, with more points in them than there were.
    few = Flag("few_samples", "note", "p99.9 rests on 5 requests.", "Measure longer.")
    fewer = replace(few, severity="doubt", message="p99 rests on 5 requests.")
    said = footnotes([at(1, few, fewer, NOTE), at(32, few), at(64, few, few)])
    assert said.splitlines() == [
        "? few samples: random-read-4k at queue_depth 1: p99 rests on 5 requests.",
        "  → Measure longer.",
        "· notes: short run (the report explains them)",
    ]
    assert footnotes([at(1, NOTE, few)]) == "· notes: short run, few samples (the report explains them)"


def test_failures_in_an_array_are_told() -> None:
    result = on_array(made(Load(1000, MS)), 0.5, failed=True)
    assert "1.000 s: member 0 of group vd0 failed (modelled, seconds from the beginning of the warm-up)." in footnotes([result])


def test_caches_are_named_when_something_was_done_about_them() -> None:
    cold = [replace(at(depth), cache=DROPPED) for depth in (1, 32)]
    assert footnotes(cold) == "cache cold: The page cache of the target was dropped (posix_fadvise)."
    assert footnotes([at(8), *cold]).startswith("cache cold at random-read-4k at queue_depth 1 and 1 more; the first: The page")
    assert footnotes([at(8)]) == ""


def on_array(result: Result, utilisation: float, *, failed: bool = False) -> Result:
    disk = {"name": "disk", "set": "disk", "kind": "disk", "utilisation": utilisation, "operations": 9, "bytes": 9}
    told = {"incidents": "1.000 s: member 0 of group vd0 failed"} if failed else {}
    components = [{**disk, "mean_queue": 1.0, "elapsed_ns": 10**9}]
    return replace(result, engine={"engine": {"components": components, "facts": told}})


def test_many_points_of_arrays_are_told_in_a_sentence_per_configuration() -> None:
    """The seventh point and later ones were only said to be in the report, and what failed there was not said at all."""
    results = [on_array(at(depth, configuration=name), 0.95 if depth > 4 else 0.5, failed=depth > 64) for name in "ab" for depth in DEPTHS]
    assert footnotes(results).splitlines() == [
        "a (modelled): limited by the disk in 4 of 7 measurements; the other 3 had no bottleneck.",
        "b (modelled): limited by the disk in 4 of 7 measurements; the other 3 had no bottleneck.",
        "random-read-4k on a at queue_depth 128 and 1 more; the first: "
        "1.000 s: member 0 of group vd0 failed (modelled, seconds from the beginning of the warm-up).",
    ]
    assert footnotes(results[4:10:2]).splitlines()[0] == "random-read-4k on a at queue_depth 16: limited by the disk; disk 95% busy."


def test_a_point_of_a_curve_is_called_by_its_percentage_first() -> None:
    place = {"settings": {"arrival": "poisson", "rate": 500}, "label": "50 %", "level": 500.0}
    assert settings_text(made(Load(500, MS), setting=Setting(place=place))) == "50 %: arrival poisson, rate 500"


def test_a_table_that_is_too_wide_is_folded_in_its_last_column_and_rows_across_it() -> None:
    rows = [("key", "is", "source"), ("a table whose name is rather long",), ("  key", "7", "assumed, as nothing else is known of it")]
    folded = table(rows, left=3, width=30).splitlines()
    assert max(map(len, folded)) == 30
    assert folded == [
        "key    is  source",
        "─" * 30,
        "a table whose name is rather",
        "  long",
        "  key  7   assumed, as nothing",
        "           else is known of it",
    ]
    assert len(table(rows, left=3).splitlines()) == 4


def test_errors_of_an_operation_are_counted_whole() -> None:
    # One error was shown as 1.0, as if it were a rate.
    result = at(1)
    total = replace(result.totals["read"], errors=1)
    row = operations([replace(result, totals={"create": total, "delete": replace(total, errors=1234)})]).splitlines()
    assert [line.split()[-1] for line in row[2:]] == ["1", "1,234"]


def test_each_column_of_an_operation_holds_what_its_head_says() -> None:
    # The median was once the 90th percentile unnoticed. Each of these is a fixed multiple of the mean of 1 ms (`made_results.SHAPE`).
    result = at(1)
    head, _, row = operations([replace(result, totals={"stat": result.totals["read"]}, estimates={})]).splitlines()
    assert head.split()[-7:] == ["second", "MB/s", "mean", "p50", "p99", "max", "errors"]
    assert " ".join(row.split()).endswith("stat 1,000 4.1 1.00 ms 693 µs 4.61 ms 12.0 ms"), row
