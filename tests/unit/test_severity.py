"""Severities follow from how far the headline could be off, and every place counts the same flags."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from plimsoll.analysis.check.answer import _doubts as doubts_of
from plimsoll.analysis.validity.severity import gathered, of_shift
from plimsoll.reports.markdown import _doubts as markdown_of
from plimsoll.reports.terminal.footnotes import footnotes
from plimsoll.reports.view.report import PointRecord, RunRecord, view
from plimsoll.result import Flag, Result, flag_words
from support.made_results import Load, made
from unit.test_validity import ENGINE, SOUND, judge


def flag(name: str, severity: Any) -> Flag:
    return Flag(name, severity, f"{name} said.", "Do something.")


@pytest.mark.parametrize(("share", "severity"), [(0.0, "note"), (0.0999, "note"), (0.1, "doubt"), (-0.3, "doubt"), (5.0, "doubt")])
def test_what_could_move_the_headline_by_a_tenth_is_a_doubt(share: float, severity: str) -> None:
    assert of_shift(share) == severity


def points() -> list[Result]:
    """Three points; the first carries one name twice, the second as a note only, the third nothing."""
    carried = [
        [flag("few_samples", "note"), flag("few_samples", "doubt"), flag("short_run", "note")],
        [flag("few_samples", "note"), flag("littles_law", "invalid")],
        [],
    ]
    return [replace(made(Load(1000, 1e6), depth), flags=flags) for depth, flags in zip((1, 2, 4), carried, strict=True)]


def test_flags_are_gathered_by_name_the_gravest_first_and_each_point_counts_once() -> None:
    found = gathered(points())
    assert [(one.name, one.severity, len(one.held), len(one.grave)) for one in found] == [
        ("littles_law", "invalid", 1, 1),
        ("few_samples", "doubt", 2, 1),
        ("short_run", "note", 1, 1),
    ]


def test_the_terminal_the_page_the_markdown_and_the_check_tell_the_same_flags() -> None:
    results = points()
    record = RunRecord("r", "complete", {}, [PointRecord(result) for result in results])
    page = [(kind["name"], kind["severity"], len(kind["points"])) for kind in view([record], lambda _: [])["flags"]]
    assert page == [("littles_law", "invalid", 1), ("few_samples", "doubt", 2), ("short_run", "note", 1)]
    assert [(one.name, one.severity) for one in doubts_of(results)] == [
        (name, severity) for name, severity, _ in page if severity != "note"
    ]
    assert [line.split("**")[1] for line in markdown_of(results) if line] == [flag_words(name) for name, _, _ in page]
    told = footnotes(results)
    assert all(told.count(flag_words(name)) >= 1 for name, _, _ in page) and told.count("notes:") == 1


def test_a_hand_over_of_requests_is_a_doubt_where_they_are_short_only() -> None:
    handed = {**ENGINE, "engine": {**ENGINE["engine"], "iou_wrk_threads": 1}}
    assert judge(engine=handed)["uring_handoff"].severity == "note"  # 20 µs of 1 ms
    quick = replace(SOUND, latencies_ns=(100_000,) * 1000)
    assert judge(quick, engine=handed)["uring_handoff"].severity == "doubt"  # 20 µs of 100 µs


def test_a_first_run_on_a_quiet_disk_carries_notes_and_no_doubts() -> None:
    # What each of twelve points carried: hand-overs, few requests for a percentile, a short time.
    short = replace(SOUND, intervals=30, latencies_ns=(2_000_000,) * 20)
    found = judge(short, engine={**ENGINE, "engine": {**ENGINE["engine"], "iou_wrk_threads": 1}})
    assert {"uring_handoff", "few_samples", "short_run"} <= found.keys()
    assert {one.severity for one in found.values()} == {"note"}
