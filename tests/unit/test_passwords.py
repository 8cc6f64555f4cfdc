"""A password in an address is taken out where it is typed, so that nothing behind it can show it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import plimsoll
from plimsoll import passwords
from plimsoll.catalog.toml_file import read_toml
from plimsoll.defaults import read
from plimsoll.errors import InputError, PlimsollError
from plimsoll.passwords import kept, masked, withheld, withheld_from
from plimsoll.target import target_of
from support.said import Plimsoll, in_this_process

CANARY = "canary-7b1f"


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passwords, "_kept", {})


@pytest.fixture
def plimsoll_here(capsys: pytest.CaptureFixture[str]) -> Plimsoll:
    return in_this_process(capsys)


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        (f"postgresql://me:{CANARY}@db1/test", "postgresql://me@db1/test"),
        (f"postgres://me:{CANARY}@db1", "postgres://me@db1"),
        (f"fast=postgresql://me:{CANARY}@db1:5433/test?sslmode=require", "fast=postgresql://me@db1:5433/test?sslmode=require"),
        (f"postgresql://:{CANARY}@db1/test", "postgresql://@db1/test"),
        (f"postgresql://db1/test?user=me&password={CANARY}&sslmode=require", "postgresql://db1/test?user=me&sslmode=require"),
        (f"postgresql://db1/test?password={CANARY}", "postgresql://db1/test"),
        (f"postgresql://db1/test?%70assword={CANARY}", "postgresql://db1/test"),
        (f"imap://me:{CANARY}@mail1/inbox", "imap://me@mail1/inbox"),
        # No password in them: as they are.
        ("postgresql://me@db1:5432/test", "postgresql://me@db1:5432/test"),
        ("postgresql://db1:5432,db2:5432/test", "postgresql://db1:5432,db2:5432/test"),
        ("postgresql:///test?host=/run/postgresql", "postgresql:///test?host=/run/postgresql"),
        ("spark://m:7077?data=/mnt/dss", "spark://m:7077?data=/mnt/dss"),
        ("/data/a:b@c", "/data/a:b@c"),
    ],
)
def test_a_text_has_no_password_left_and_is_otherwise_as_it_was(typed: str, shown: str) -> None:
    assert withheld(typed) == shown
    assert CANARY not in withheld(typed)
    assert withheld(shown) == shown


def test_what_was_taken_out_is_there_for_who_connects() -> None:
    withheld(f"x=postgresql://me:{CANARY}%40%2F@db1/test?sslpassword=key&connect_timeout=3")
    assert kept("postgresql://me@db1/test?connect_timeout=3") == {"password": f"{CANARY}@/", "sslpassword": "key"}
    assert kept("postgresql://other@db1/test") == {}


def test_a_password_with_a_blank_is_taken_out_whole() -> None:
    assert withheld(f"postgresql://me:{CANARY} and more@db1/test") == "postgresql://me@db1/test"


@pytest.mark.parametrize("ending", ["/x", "?x", "#x", "@x"])
def test_a_password_whose_end_is_unclear_is_refused_without_a_word_of_it(ending: str) -> None:
    with pytest.raises(InputError, match="%40") as refused:
        withheld(f"postgresql://me:{CANARY}{ending}@db1/test")
    assert CANARY not in str(refused.value)


def test_a_sentence_of_a_library_is_masked() -> None:
    withheld(f"postgresql://me:{CANARY}@db1/test")
    assert masked(f"cannot connect with {CANARY}!") == "cannot connect with ***!"


def test_every_text_of_a_document_is_withheld() -> None:
    document = {"a": [f"postgresql://me:{CANARY}@h/d", 1, {"b": f"x=postgresql://me:{CANARY}@h/e"}], "c": None}
    assert withheld_from(document) == {"a": ["postgresql://me@h/d", 1, {"b": "x=postgresql://me@h/e"}], "c": None}


def test_files_that_name_targets_are_read_without_passwords(tmp_path: Path) -> None:
    project, suite = tmp_path / "plimsoll.toml", tmp_path / "suite.toml"
    project.write_text(f'[targets]\ndb = "postgresql://me:{CANARY}@h/d"\n')
    suite.write_text(f'[set]\ntarget = "postgresql://me:{CANARY}@h/d"\n')
    assert read(str(project)).targets == {"db": "postgresql://me@h/d"}
    assert read_toml(str(suite), "a file") == {"set": {"target": "postgresql://me@h/d"}}


def test_a_target_made_in_code_has_no_password() -> None:
    assert target_of(f"postgresql://me:{CANARY}@h/d").text == "postgresql://me@h/d"


def test_a_function_that_fails_says_and_stores_no_password(tmp_path: Path) -> None:
    with pytest.raises(PlimsollError) as problem:
        plimsoll.run(
            "random-read-4k", target=f"postgresql://me:{CANARY}@h/d", settings={"target": f"postgresql://u:{CANARY}@h/d"}, out=str(tmp_path)
        )
    assert CANARY not in str(problem.value)
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and CANARY.encode() in path.read_bytes()]


@pytest.mark.parametrize(
    "words",
    [
        ["run", "random-read-4k", "-t", f"a=postgresql://me:{CANARY}@h/d"],
        ["run", "random-read-4k", "--target", f"postgresql://me:{CANARY}/@h/d"],
        ["steps", "random-read-4k", "--over", f"target=postgresql://me:{CANARY}@h/d"],
        ["run", "random-read-4k", "-s", f"target=postgresql://me:{CANARY}@h/d"],
        ["run", f"postgresql://me:{CANARY}@h/d"],
        ["run", "random-read-4k", f"--tarket=postgresql://me:{CANARY}@h/d"],
    ],
)
def test_the_command_line_says_and_stores_no_password(words: list[str], tmp_path: Path, plimsoll_here: Plimsoll) -> None:
    said = plimsoll_here(*words, "--out", str(tmp_path / "out"))
    assert said.code != 0
    assert CANARY not in said.out + said.err
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and CANARY.encode() in path.read_bytes()]


def test_the_command_of_a_stored_run_has_no_password(tmp_path: Path) -> None:
    words = ["run", "random-read-4k", "-t", "null:", "-d", "20ms", "-w", "0s", "-q", "--label", f"postgresql://me:{CANARY}@h/d"]
    said = subprocess.run([sys.executable, "-m", "plimsoll", *words, "-o", str(tmp_path)], capture_output=True, text=True, check=True)
    assert CANARY not in said.stdout + said.stderr
    (stored,) = tmp_path.rglob("run.json")
    run = json.loads(stored.read_text())
    assert run["label"] == "postgresql://me@h/d"
    assert "postgresql://me@h/d" in run["command"]
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and CANARY.encode() in path.read_bytes()]
