"""Documents of users, changed: taken, or refused in a sentence; never a mistake of ours."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from support.mutated_documents import tried
from support.said import Plimsoll, in_this_process

#: Some of each kind; tests/long has thousands.
TRIALS = 60


@pytest.fixture
def plimsoll(here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Plimsoll:
    """Runs a command in this process, on the engine itself: its models take an instant."""
    monkeypatch.setattr("tempfile.tempdir", str(here))
    return in_this_process(capsys)


def test_changed_documents_are_taken_or_refused_in_a_sentence(plimsoll: Plimsoll) -> None:
    draws = Random(1)
    codes = [tried(draws, plimsoll) for _ in range(TRIALS)]
    assert 0 in codes and 2 in codes, "some are taken and some refused"


@pytest.mark.parametrize(
    ("text", "words", "said"),
    [
        (
            "x = " + "[" * 5_000 + "]" * 5_000,
            ["run", "d.toml"],
            "d.toml: nested more than 32 deep, so not a workload file; write it flatter.",
        ),
        ("x = " + "[" * 33 + "1" + "]" * 33, ["run", "d.toml"], "d.toml: nested more than 32 deep"),
        (
            "seed = " + "9" * 5_000,
            ["run", "d.toml"],
            "d.toml: a number at line 1 has thousands of digits; write one that counts something.",
        ),
        ('title = "t"\n\nseed = ' + "9" * 5_000, ["run", "d.toml"], "d.toml: a number at line 3 has thousands of digits"),
        ('title = "t"\nx = [1,\n\n', ["run", "d.toml"], "d.toml: not TOML: invalid value (at line 2, where the file ends)."),
        ("seed = " + "9" * 40, ["run", "d.toml"], "seed: the number is beyond what 64 bits hold; write a smaller one."),
        ('[[stream]]\nname = "s"\nread_percent = nan', ["run", "d.toml"], "d.toml: stream[0].read_percent: nan is no number that counts"),
        ('[[stream]]\nname = "s"\nrate = -inf', ["run", "d.toml"], "d.toml: stream[0].rate: -inf is no number that counts something"),
        ("driver = { a = 1 }", ["run", "d.toml"], 'd.toml: driver {"a": 1} is unknown; known are '),
        (
            '[[group]]\nname = "g"\nmembers = [{}]',
            ["show", "array:./d.toml"],
            "./d.toml: group[0].members[0]: is a table, where text should stand",
        ),
        (
            '[[devices]]\nname = "d"\ncount = "x"\nin = "e"',
            ["show", "array:./d.toml"],
            "devices[0].count: is 'x', where a number should stand",
        ),
    ],
    ids=lambda value: str(value)[:30],
)
def test_what_no_document_can_mean_is_told_by_its_place(plimsoll: Plimsoll, text: str, words: list[str], said: str) -> None:
    Path("d.toml").write_text(text)
    answer = plimsoll(*words)
    assert answer.code == 2 and said in answer.err


def test_devices_in_an_enclosure_without_a_count_are_one(plimsoll: Plimsoll) -> None:
    from support.mutated_documents import shipped

    text = "\n".join(line for line in shipped("arrays", "msa50").splitlines() if not line.startswith("count = "))
    Path("d.toml").write_text(text)
    answer = plimsoll("show", "array:./d.toml")
    assert answer.code in (0, 2) and "KeyError" not in answer.err
