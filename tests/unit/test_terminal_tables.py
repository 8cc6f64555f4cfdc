"""Tables fold to the width of the terminal, nothing is split inside a word, and colours stand beside words."""

from __future__ import annotations

import pytest

from plimsoll.analysis.objective.judgement import parse_objective
from plimsoll.cli.screen import screen
from plimsoll.reports.terminal.footnotes import footnotes
from plimsoll.reports.terminal.points import legend, multiple, points
from plimsoll.reports.terminal.screen import Screen, coloured, visible
from plimsoll.reports.terminal.table import table
from plimsoll.result import Flag, Result
from support.made_results import Load, Setting, made
from support.said import Plimsoll

MS = 1e6
HEAD = ("workload", "configuration", "point", "read IOPS", "write IOPS", "MB/s", "mean", "p50", "p99", "max", "")
ROWS = [
    HEAD,
    *(
        (
            "exchange-2003-database",
            f"msa{number}-sas-10k",
            f"threads {level}",
            "1,195",
            "647",
            "7.5",
            "8.68 ms",
            "7.67 ms",
            "43.9 ms",
            "124 ms",
            "?·",
        )
        for number in (30, 50)
        for level in (1, 16)
    ),
]
WORDS = {word for row in ROWS for cell in row for word in cell.split()}


@pytest.mark.parametrize("width", [40, 80, 120])
def test_a_table_fits_the_terminal_with_every_figure_and_no_word_split(width: int) -> None:
    # At 80 columns every table was broken by the terminal.
    folded = table(ROWS, left=3, screen=Screen(width))
    assert max(map(visible, folded.splitlines())) <= width
    # Headings of names go where the names stand in lines of their own.
    assert {word.strip(",") for word in folded.split()} >= WORDS - {"configuration", "point"}
    assert folded.count("8.68 ms") == 4


def test_names_that_all_rows_share_stand_once_above_a_table_that_is_too_wide() -> None:
    folded = table(ROWS, left=3, screen=Screen(90))
    assert folded.splitlines()[0] == "workload exchange-2003-database"
    assert folded.count("exchange-2003-database") == 1


def at(level: int, mean_ms: float, *flags: Flag) -> Result:
    found = made(Load(1000, mean_ms * MS), level, setting=Setting(place={"experiment": "ramp"}))
    return Result(**{**found.__dict__, "flags": list(flags)})


def test_the_latency_that_the_objective_judges_has_a_column_and_a_sign_where_it_fails() -> None:
    # A ramp on read mean showed 13.0 ms over reads and writes where read mean was 20.04 ms and failed.
    shown = points([at(1, 5), at(2, 25)], objectives={"ramp": parse_objective("read mean <= 20ms")}).splitlines()
    assert "read mean" in shown[0] and shown[0].index("read mean") < shown[0].index("p99")
    assert "5.00 ms" in shown[2] and "✗" not in shown[2]
    assert "25.0 ms ✗" in shown[3]


def test_a_suite_with_several_objectives_judges_each_point_by_its_own() -> None:
    shown = points([at(1, 5)], objectives={"other": parse_objective("read mean <= 1ms")})
    assert "✗" not in shown


def test_colours_stand_beside_the_words_that_say_the_same() -> None:
    flagged = [at(1, 25, Flag("not_steady", "doubt", "It drifted.", "Measure longer."))]
    objectives = {"ramp": parse_objective("read mean <= 20ms")}
    plain, painted = (points(flagged, Screen(colour=colour), objectives) for colour in (False, True))
    assert "\x1b[31m25.0 ms ✗\x1b[0m" in coloured(painted) and "\x1b[33m?\x1b[0m" in coloured(painted)
    assert coloured(plain) == plain and [visible(line) for line in painted.splitlines()] == [len(line) for line in plain.splitlines()]
    assert legend(flagged) == "? in doubt"


def test_flags_fold_to_the_terminal_without_splitting_words() -> None:
    # "the meas|ured time" stood at 120 columns.
    long = "IOPS changed by +50 % across the measured time (limit 10 %), its fifths differ by 52 %."
    shown = footnotes([at(1, 5, Flag("not_steady", "doubt", long, "Warm up and measure longer."))], Screen(40))
    assert max(map(len, shown.splitlines())) <= 40
    assert long in " ".join(shown.split()) and "measured" in shown.split()


@pytest.mark.parametrize(
    ("environment", "colour"),
    [({}, False), ({"FORCE_COLOR": "1"}, True), ({"FORCE_COLOR": "0"}, False), ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False)],
)
def test_colours_are_for_terminals_unless_the_environment_says_otherwise(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], colour: bool
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert screen().colour is colour


def test_painted_text_reaches_the_terminal_and_control_sequences_of_names_do_not(
    plimsoll: Plimsoll, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    said = plimsoll("run", "small.toml", "-t", "null:", "-q")
    assert said.out.startswith("\x1b[1m") and "\x1b[0m" in said.out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in plimsoll("run", "small.toml", "-t", "null:", "-q", "--fresh").out


@pytest.mark.parametrize("width", [30, 40, 60, 80, 120])
def test_what_a_heading_says_in_brackets_is_said_at_every_width(width: int) -> None:
    rows = [("workload", "target (modelled)", *(f"figure {number}" for number in range(6)))]
    rows += [(f"load-{number}", f"array:a-long-name-{number}", *["12,345"] * 6) for number in range(3)]
    assert "(modelled)" in table(rows, left=2, screen=Screen(width))


@pytest.mark.parametrize(("ratio", "text"), [(1.0, "1.00"), (0.9989, "0.999"), (0.99981, "0.9998"), (1.22, "1.22"), (0.031, "0.031")])
def test_a_ratio_near_1_is_told_from_it(ratio: float, text: str) -> None:
    assert multiple(ratio) == text
