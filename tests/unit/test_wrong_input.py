"""Wrong input, command by command: one sentence that says what would be right, exit code 2, no traceback."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.cli import VERBS
from said import Plimsoll

#: What is typed, and a part of the answer that must not be missing.
WRONG = [
    (["rum"], "there is no command 'rum'; did you mean 'run'?"),
    (["frobnicate"], "there is no command 'frobnicate'; there are run, list, show"),
    (["--colour"], "there is no option '--colour'"),
    (["run"], "missing argument 'WORKLOAD...'"),
    (["run", "oltp-bd"], "workload 'oltp-bd' is unknown; did you mean 'oltp-db'?"),
    (["run", "proliannt"], "did you mean 'proliant'?"),
    (["run", "qqqqqqqq"], "'plimsoll list' shows all names and tags"),
    (["run", "missing.toml"], "missing.toml: there is no such workload file"),
    (["run", "broken.toml"], "broken.toml: not TOML: "),
    (["run", "binary.toml"], "binary.toml: not UTF-8 text"),
    (["run", "empty.toml"], "empty.toml"),
    (["run", "typo.toml"], "did you mean 'block_size'?"),
    (["run", "directory.toml"], "directory.toml"),
    (["run", "small.toml", "--set", "queue_depth"], "--set queue_depth: not a setting; write KEY=VALUE"),
    (["run", "small.toml", "--set", "=4"], "write KEY=VALUE"),
    (["run", "small.toml", "--set", "queue_depth="], "write KEY=VALUE"),
    (["run", "small.toml", "--set", "quue_depth=4"], "did you mean 'queue_depth'?"),
    (["run", "small.toml", "--set", "log.queue_depth=4"], "no stream is called 'log'"),
    (["run", "small.toml", "--set", "block_size=4x"], "4x"),
    (["run", "small.toml", "--duration", "soon"], "soon"),
    (["run", "small.toml", "--warmup", "-1"], "warmup"),
    (["run", "small.toml", "--size", "big"], "big"),
    (["run", "small.toml", "--repeat", "0"], "--repeat"),
    (["run", "small.toml", "--repeat", "many"], "--repeat"),
    (["run", "small.toml", "--target"], "--target"),
    (["run", "small.toml", "--durration", "3"], "did you mean '--duration'?"),
    (["list", "--tag", "nothing"], "no workload has the tag 'nothing'; there are "),
    (["list", "surplus"], "surplus"),
    (["show"], "missing argument 'NAME'"),
    (["show", "oltp-bd"], "did you mean 'oltp-db'?"),
    (["show", "proliant"], "'proliant' is a tag of 12 workloads; name one of "),
    (["show", "small.toml", "--set", "x=1"], "'x'"),
    (["report"], "missing argument 'RUN...'"),
    (["report", "yesterday"], "there is no run in 'results' yet"),
    (["report", ".", "--out", "elsewhere"], "there is no run in 'elsewhere' yet"),
    (["runs", "extra"], "extra"),
    (["doctor", "--targe", "x"], "did you mean '--target'?"),
    (["calibrate", "--seconds", "0"], "--seconds"),
    (["calibrate", "--seconds", "long"], "--seconds"),
]


@pytest.fixture
def wrong_files(here: Path) -> None:
    (here / "broken.toml").write_text("title = \n")
    (here / "binary.toml").write_bytes(b"\xff\xfe\x00")
    (here / "empty.toml").write_text("")
    (here / "typo.toml").write_text('[[stream]]\nblok_size = "4KiB"\n')
    (here / "directory.toml").mkdir()


@pytest.mark.parametrize(("words", "part"), WRONG, ids=[" ".join(words) for words, _ in WRONG])
@pytest.mark.usefixtures("wrong_files")
def test_wrong_input_is_answered_in_one_sentence(plimsoll: Plimsoll, words: list[str], part: str) -> None:
    said = plimsoll(*words)
    assert said.code == 2
    assert part in said.err
    assert said.out == ""
    assert said.err.startswith("plimsoll: ")
    assert len(said.err.strip().splitlines()) == 1
    assert said.err.strip()[-1] in ".?!"
    assert "Traceback" not in said.err


@pytest.mark.parametrize("ending", ["pdf", "", "html.bak"])
def test_a_report_in_an_unknown_format_is_refused(plimsoll: Plimsoll, ending: str) -> None:
    plimsoll("run", "small.toml", "-t", "null:")
    name = Path("results").iterdir().__next__().name
    said = plimsoll("report", name, "-o", f"x.{ending}")
    assert (said.code, said.out) == (2, "")
    assert "reports end in .html, .csv or .json" in said.err


def test_a_report_format_is_refused_before_anything_is_measured(plimsoll: Plimsoll) -> None:
    said = plimsoll("run", "small.toml", "-t", "null:", "--report", "x.pdf")
    assert said.code == 2
    assert not Path("results").exists()


def test_a_report_in_a_missing_directory_is_refused(plimsoll: Plimsoll) -> None:
    plimsoll("run", "small.toml", "-t", "null:")
    name = Path("results").iterdir().__next__().name
    assert "there is no directory 'no/where'" in plimsoll("report", name, "-o", "no/where/x.html").err


def test_wrong_input_touches_nothing(plimsoll: Plimsoll, here: Path) -> None:
    before = sorted(path.name for path in here.iterdir())
    plimsoll("run", "small.toml", "oltp-bd")
    plimsoll("run", "small.toml", "--set", "quue_depth=4")
    assert sorted(path.name for path in here.iterdir()) == before


def test_every_verb_has_a_wrong_input_here() -> None:
    assert {words[0] for words, _ in WRONG} >= set(VERBS)
