"""What is printed to be read is as wide as the terminal, at 40, 80 and 120 characters; words are never split."""

from __future__ import annotations

import pytest

from plimsoll.cli import main
from support.said import Plimsoll

SHOWN = [(*shown, width) for shown in (("show", "oltp-db"), ("show", "hp-iometer"), ("doctor",)) for width in (40, 80, 120)]
#: Columns of names that cannot be folded need more than 40.
WIDE = [("show", name, width) for name in ("mail-spool", "array:msa50-sas-10k-raid5-8") for width in (80, 120)]


@pytest.mark.parametrize(("verb", "width"), [(shown[:-1], shown[-1]) for shown in (*SHOWN, *WIDE)])
def test_text_is_folded_at_the_width_of_the_terminal(
    verb: tuple[str, ...], width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    main(list(verb))
    lines = capsys.readouterr().out.splitlines()
    # A word that is longer than the line stands alone on one.
    assert [line for line in lines if len(line) > width and " " in line.strip()] == []


@pytest.mark.parametrize("width", [90, 120])
@pytest.mark.parametrize(
    "verb", [("check", "--dry-run"), ("suite",), ("list", "--runs"), ("size", "--iops", "5k", "--read-percent", "70", "--block-size", "8k")]
)
def test_plans_runs_suites_and_sizes_are_folded(
    plimsoll: Plimsoll, monkeypatch: pytest.MonkeyPatch, verb: tuple[str, ...], width: int
) -> None:
    if verb[0] in ("list", "size"):
        plimsoll("run", "oltp-db", "random-read-4k", "-t", "null:", "--label", "a label of some length, for tables", "-q")
    monkeypatch.setenv("COLUMNS", str(width))
    lines = plimsoll(*verb).out.splitlines()
    # Commands to be copied are never folded.
    assert len(lines) > 2 and [line for line in lines if len(line) > width and "plimsoll size" not in line] == []


def test_a_wide_terminal_is_used(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    lengths = []
    for width in (80, 120):
        monkeypatch.setenv("COLUMNS", str(width))
        main(["show", "hp-iometer"])
        lengths.append(len(capsys.readouterr().out.splitlines()))
    assert lengths[1] < lengths[0]
