"""A list of runs that were read before: the same lines, and whatever was written to since is read again."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from plimsoll.store import document, listed
from support.said import Plimsoll
from support.scripted_engine import ScriptedEngine

Reads = Callable[[], list[str]]


@pytest.fixture
def store(plimsoll: Plimsoll, engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two runs that are told in full, as settled as if they were old."""
    for label in ("one", "two"):
        plimsoll("run", "small.toml", "-t", "null:", "--label", label)
    monkeypatch.setattr(listed, "_SETTLED_NS", 0)
    return Path("results")


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Reads:
    """Which files of runs were read since it was last asked."""
    seen: list[str] = []
    content = document.content

    def watched(path: str) -> bytes:
        seen.append(path)
        return content(path)

    monkeypatch.setattr(document, "content", watched)

    def since() -> list[str]:
        found = [path for path in seen if path.startswith("results")]
        seen.clear()
        return found

    return since


def test_a_second_list_says_the_same_without_reading_a_run(plimsoll: Plimsoll, store: Path, reads: Reads) -> None:
    first = plimsoll("runs", "--json").json
    assert [entry["label"] for entry in first] == ["one", "two"] and len(reads()) == 4
    assert plimsoll("runs", "--json").json == first
    assert reads() == []


def test_what_was_damaged_since_is_told_also_where_size_and_time_are_as_before(plimsoll: Plimsoll, store: Path, reads: Reads) -> None:
    assert plimsoll("runs").err == ""
    result = next(store.glob("*one*/points/*/result.json"), None) or next(iter(sorted(store.glob("*/points/*/result.json"))))
    before = result.stat()
    content = result.read_bytes()
    while result.stat().st_ctime_ns == before.st_ctime_ns:
        # In place: neither number nor size change, and the time of the content is set back.
        result.write_bytes(content.replace(b'"job":', b'"jab":', 1))
        os.utime(result, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = result.stat()
    assert (after.st_ino, after.st_size, after.st_mtime_ns) == (before.st_ino, before.st_size, before.st_mtime_ns)
    reads()
    for _ in range(2):
        # What is damaged is read every time.
        assert f"! {result}" in plimsoll("runs").err
        assert {Path(path).name for path in reads()} == {"run.json", "result.json"}


@pytest.mark.parametrize("gone", ["run.json", "points/*/result.json", "points/*"])
def test_what_has_gone_since_is_not_listed_as_it_was(plimsoll: Plimsoll, store: Path, gone: str) -> None:
    before = plimsoll("runs", "--json").json
    (path,) = store.glob(f"{before[0]['name']}/{gone}")
    path.rename(Path("aside"))
    after = plimsoll("runs", "--json").json
    assert after[0] != before[0] and after[1] == before[1]


def test_a_run_that_was_changed_just_now_is_read_again(
    plimsoll: Plimsoll, store: Path, reads: Reads, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listed, "_SETTLED_NS", time.time_ns())
    for _ in range(2):
        plimsoll("runs")
        assert len(reads()) == 4


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"version":1,"runs":{"x":1}}', b'{"version":0,"runs":{}}'])
def test_a_list_that_is_not_ours_is_passed_over(plimsoll: Plimsoll, store: Path, content: bytes) -> None:
    said = plimsoll("runs").out
    (kept,) = Path(os.environ["XDG_CACHE_HOME"]).glob("plimsoll/lists/*.json")
    kept.write_bytes(content)
    assert plimsoll("runs").out == said


def test_where_nothing_can_be_kept_runs_are_listed_all_the_same(
    plimsoll: Plimsoll, store: Path, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(here / "file"))
    said = plimsoll("runs")
    assert said.code == 0 and said.err == "" and "one" in said.out
