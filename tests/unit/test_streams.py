"""stdout that is full, closed or unread; names of any bytes; escape sequences: a sentence, results kept, the right exit code."""

from __future__ import annotations

import functools
import json
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest

from plimsoll.engine.block import native
from plimsoll.engine.protocol import Permission
from plimsoll.errors import InputError
from plimsoll.handover import as_json
from plimsoll.target import Target
from support.said import Plimsoll
from support.scripted_engine import Script, ScriptedEngine

MODEL = "queue:?service=const:1ms&servers=4&size=16MiB"
#: A byte that no UTF-8 has, as Python holds it in a name.
BYTE = "\udcff"
#: Clears the screen; turns text around; ends a line.
NASTY = f"a{BYTE}\x1b[2J\u202eb\nc"


def command(words: str, **changes: str) -> subprocess.CompletedProcess[str]:
    """``plimsoll`` below a shell that does something to its descriptors; the results are in ``r``."""
    line = f"{sys.executable} -m plimsoll {words}"
    return subprocess.run(["bash", "-o", "pipefail", "-c", line], check=False, capture_output=True, text=True, **changes)


@pytest.mark.parametrize(
    ("shell", "code", "sentence"),
    [
        ("--json > /dev/full", 5, "stdout could not be written (no space left on device), so what belongs there is lost"),
        (">&-", 5, "stdout is closed, so what belongs there is lost"),
        ("--objective 'p99 <= 1us' --assert > /dev/full", 1, "no space left on device"),
        ("2>&-", 0, ""),
        ("> /dev/full 2> /dev/full", 5, ""),
        (">&- 2>&- <&-", 5, ""),
        ("-q | true", 5, ""),
    ],
)
def test_what_happens_to_stdout_costs_no_result(here: Path, shell: str, code: int, sentence: str) -> None:
    done = command(f"run small.toml -t '{MODEL}' -d 20ms -w 0s {shell}")
    assert sentence in done.stderr and "Traceback" not in done.stderr and "Exception" not in done.stderr
    # A reader may be gone before or after the little that is written.
    assert done.returncode == code or ("| true" in shell and done.returncode == 0)
    (stored,) = here.glob("results/*/points/*/result.json")
    assert json.loads(stored.read_text())["status"] == "complete"
    assert list(here.glob("results/*/report.html"))


@pytest.mark.parametrize("shell", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_file_that_is_opened_never_becomes_stdout_or_stderr(here: Path, shell: str) -> None:
    opening = "import os, plimsoll.cli.streams as s; x = s.Streams().__enter__(); os._exit(os.open('disk', os.O_CREAT | os.O_WRONLY))"
    done = subprocess.run(["bash", "-c", f'exec {sys.executable} -c "{opening}" {shell}'], check=False)
    assert done.returncode > 2, "the number of the descriptor"


def test_names_of_any_bytes_are_kept_shown_and_found_again(plimsoll: Plimsoll, engine: ScriptedEngine, here: Path) -> None:
    (here / f"v{BYTE}.toml").write_text((here / "small.toml").read_text())
    out = f"o{BYTE}"
    assert plimsoll("run", f"v{BYTE}.toml", "-t", "null:", "--label", NASTY, "--out", out).code == 0
    (name,) = (entry["name"] for entry in plimsoll("runs", "--out", out, "--json").json)
    for form in ("html", "csv", "json"):
        said = plimsoll("report", name, "--out", out, "-o", f"r{BYTE}.{form}")
        assert (said.code, said.err) == (0, "") and (here / f"r{BYTE}.{form}").stat().st_size > 0
    listed = plimsoll("runs", "--out", out)
    assert listed.code == 0 and "a\\xff\\u001b[2J\\u202eb\\u000ac" in listed.out
    assert all(character not in listed.out for character in "\x1b\u202e")
    assert plimsoll("runs", "--out", out, "--json").json[0]["label"] == NASTY, "JSON escapes mean what was typed"
    said = plimsoll("export", name, "--out", out, "--as", "fio-terse")
    assert said.code == 0 and len(said.out.splitlines()) == 1


@pytest.mark.parametrize(
    "words",
    [
        ["run", "small.toml", "-t", "null:", "--set", f"verify={BYTE}"],
        ["run", "small.toml", "-t", "null:", "--set", f"{BYTE}=1"],
        ["run", f"{NASTY}.toml"],
        [NASTY],
        ["run", "small.toml", "-t", f"array:{NASTY}"],
        ["report", NASTY],
        ["show", NASTY],
        ["suite", NASTY],
        ["list", "--tag", NASTY],
        ["import", NASTY],
        ["translate", NASTY],
        ["fit", NASTY],
        ["replay", NASTY],
        ["size", f"{NASTY}.json"],
        ["ramp", "small.toml", "--over", f"{NASTY}=1..2", "--objective", "p99 <= 1s"],
        ["ramp", "small.toml", "--over", "queue_depth=1..2", "--objective", f"{NASTY} <= 1s"],
    ],
    ids=lambda words: " ".join(words).encode("ascii", "backslashreplace").decode(),
)
def test_any_bytes_typed_are_answered_in_a_sentence(plimsoll: Plimsoll, here: Path, words: list[str]) -> None:
    said = plimsoll(*words)
    assert said.code == 2 and said.err.startswith("plimsoll: ")
    assert "udcff" not in said.err and "\\xff" in said.err, "a byte is shown as a shell takes it"
    assert all(character not in said.err for character in f"\x1b\u202e{BYTE}") and said.err.count("\n") == 1


def test_targets_that_the_engine_cannot_name_are_refused(here: Path) -> None:
    engine = native()
    with pytest.raises(InputError, match=r"target 'n\\xff.dat': the name is not UTF-8 text"):
        engine.inspect_target(Target(f"n{BYTE}.dat"))
    with pytest.raises(InputError, match=r"--destroy-data: .*'\\xff' is not UTF-8 text"):
        engine.write_refusal(Target("null:"), Permission(BYTE))


def test_a_file_in_a_directory_of_any_bytes_is_named_by_its_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / f"d{BYTE}"
    folder.mkdir()
    monkeypatch.chdir(folder)
    engine = native()
    engine.prepare_target(Target("a.dat"), 1 << 20, None, lambda _done, _total: None, engine.control())
    assert engine.inspect_target(Target("a.dat"))["path"] == f"{tmp_path}/d\\xff/a.dat"
    assert engine.remove_target(Target("a.dat")) == [str(folder / "a.dat")]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"stream": [{"rate": float("inf")}]}, "mine.toml: stream[0].rate: inf is no number that counts something"),
        ({"stream": [{"read_percent": float("nan")}]}, "mine.toml: stream[0].read_percent: nan is no number"),
        ({"seed": 10**5000}, "mine.toml: seed: the number is beyond what 64 bits hold"),
        ({"when": date(2026, 11, 23)}, "mine.toml: when: 2026-11-23 is a date"),
        ({f"k{BYTE}": 1}, "mine.toml: the key 'k\\xff' is not UTF-8 text"),
        (functools.reduce(lambda inner, _: [inner], range(50_000), 1), "it is nested more than 64 deep"),
    ],
)
def test_what_the_engine_cannot_take_is_refused_by_its_place(value: object, said: str) -> None:
    with pytest.raises(InputError) as refused:
        as_json(value, "mine.toml")
    assert said in str(refused.value)


def test_a_name_cannot_end_the_line_of_a_progress(plimsoll: Plimsoll, engine: ScriptedEngine, here: Path) -> None:
    (here / "named.toml").write_text('title = "t"\n[[stream]]\nname = "main"\n')
    engine.scripts = [Script(outcome={"stopped_by": "error", "first_error": {"message": NASTY}})]
    said = plimsoll("run", "named.toml", "-t", "null:")
    assert said.code == 4
    assert "failed: a\\xff\\u001b[2J\\u202eb\\u000ac" in said.err and "\x1b" not in said.out + said.err
