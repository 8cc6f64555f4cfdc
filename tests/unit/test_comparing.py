"""A comparison as text for a terminal."""

from __future__ import annotations

from dataclasses import replace

import pytest

from plimsoll.analysis.comparison.comparison import Side, compare
from plimsoll.reports.terminal.comparison import comparison_text
from plimsoll.reports.terminal.points import multiple
from plimsoll.result import Result
from support.made_results import Load, Setting, made

MS = 1e6


def opened(experiment: str, latency_ms: float, share: float = 1.0) -> Result:
    """A point of an open loop at 200 per second."""
    place = {"experiment": experiment, "settings": {"rate": 200}, "level": 200.0}
    return made(Load(200 * share, latency_ms * MS), setting=Setting(options={"arrival": "poisson", "rate": 200.0}, place=place))


def text(*sides: list[Result]) -> str:
    return comparison_text(compare([Side(label, results) for label, results in zip("AB", sides, strict=True)], figures=[("all", "mean")]))


def test_two_experiments_in_one_run_are_told_apart_by_a_column() -> None:
    # "rate 200, mean" stood twice, with different values.
    answer, baseline, lines = (
        part.splitlines()
        for part in text([opened("short", 2), opened("long", 3)], [opened("short", 1), opened("long", 2)]).split("\n\n")[:3]
    )
    assert (answer[0].split()[:3], baseline) == (["B", "is", "1.73"], ["baseline A"])
    assert lines[0].split()[:2] == ["experiment", "workload"]
    assert [line.split()[0] for line in lines[2:4]] == ["short", "long"]


def test_one_experiment_needs_no_column() -> None:
    assert "experiment" not in text([opened("short", 2)], [opened("short", 1)])


def test_the_star_is_explained_below_the_table_where_one_stands() -> None:
    explained = "\n* faster and slower are significant at 5 % (Holm-corrected over all rows)"
    assert explained in text([opened("short", 2)], [opened("short", 1)])
    assert explained not in text([opened("short", 2)], [opened("short", 2)])


def test_latencies_of_a_load_that_was_not_carried_are_marked() -> None:
    shown = text([opened("short", 2)], [opened("short", 900, share=0.5)])
    assert "slower * ‡\n" in shown and "\n‡ the offered rate was not achieved" in shown
    assert "‡" not in text([opened("short", 2)], [opened("short", 1)])


@pytest.mark.parametrize(
    ("ratio", "said"),
    [
        (0.00043, "0.00043"),
        (0.0102, "0.010"),
        (0.099, "0.099"),
        (0.0996, "0.10"),
        (0.5, "0.50"),
        (1.0, "1.00"),
        (2307.4, "2307"),
        (0, "0.00"),
    ],
)
def test_small_ratios_keep_their_digits(ratio: float, said: str) -> None:
    # A table said "0.00 × [0.00, 0.00]".
    assert multiple(ratio) == said


def test_a_terminal_never_says_0_of_a_ratio_that_is_not() -> None:
    one, other = made(Load(100_000, MS), 4), made(Load(40, MS), 4)
    shown = comparison_text(compare([Side("A", [one]), Side("B", [replace(other, id="b")])]))
    assert "0.00040 ×" in shown and "0.00 " not in shown
