"""The page cache: what is dropped, what is said, and what is never claimed."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from plimsoll.host import page_cache
from plimsoll.host.page_cache import Dropped, drop_pages, resident_bytes
from plimsoll.points.cache_state import cache_state
from plimsoll.points.point import PlannedPoint
from plimsoll.target import Target, target_of

BYTES = 1 << 20


def point(cache: str | None, *, direct: bool = True) -> PlannedPoint:
    return PlannedPoint(
        {"name": "x", "stream": [{"name": "main", "direct": direct}]}, {"duration": 4.0, "warmup": 4.0}, Target("scratch.dat"), cache=cache
    )


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "scratch.dat"
    path.write_bytes(os.urandom(BYTES))
    return str(path)


def test_what_was_just_written_is_resident(file: str) -> None:
    assert resident_bytes(file) == BYTES


def test_a_dropped_file_is_cold_or_the_reason_says_how_much_stayed(file: str) -> None:
    found = drop_pages([file])
    left = resident_bytes(file)
    # A file system in memory keeps every page; any other lets them go.
    assert found.cold == (left == 0)
    assert ("posix_fadvise" in found.how) if found.cold else ("100 % of it stayed in memory" in found.how)


def test_pages_that_stay_are_never_called_cold(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_cache.os, "posix_fadvise", lambda *_: None)
    found = drop_pages([file])
    assert not found.cold
    assert found.how == "The page cache was told to drop the target, but 100 % of it stayed in memory."


def test_a_file_that_cannot_be_opened_is_the_reason(tmp_path: Path) -> None:
    missing = str(tmp_path / "missing")
    assert drop_pages([missing]) == Dropped(False, f"The page cache could not be dropped: {missing}: no such file or directory.")


def test_devices_need_the_permission_to_drop_all_caches(file: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(page_cache.stat, "S_ISBLK", lambda mode: True)
    refused = drop_pages([file], drop_caches=str(tmp_path))
    assert not refused.cold and "is a directory" in refused.how
    switch = tmp_path / "drop_caches"
    switch.write_bytes(b"")
    drop_pages([file], drop_caches=str(switch))
    assert switch.read_bytes() == b"1"


def test_an_empty_list_of_windows_is_no_pages(tmp_path: Path) -> None:
    (tmp_path / "empty").write_bytes(b"")
    assert resident_bytes(str(tmp_path / "empty")) == 0


def test_cold_says_how_and_that_direct_streams_pass_it_by(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_cache, "drop_pages", lambda paths: Dropped(True, f"Dropped {paths == [file]}."))
    state = cache_state(point("cold"), {"path": file})
    assert state == {"state": "cold", "how": "Dropped True. Direct I/O bypasses the page cache."}
    assert cache_state(point("cold", direct=False), {"path": file})["how"] == "Dropped True."


def test_what_could_not_be_dropped_is_as_found(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_cache, "drop_pages", lambda paths: Dropped(False, "It stayed."))
    assert cache_state(point("cold", direct=False), {"path": file}) == {"state": "as found", "how": "It stayed."}


def test_warm_says_how_long_the_load_ran_before(file: str) -> None:
    assert cache_state(point("warm", direct=False), {"path": file}) == {
        "state": "warm",
        "how": "The load ran for 4 s before it was measured for 4 s.",
    }


def test_a_target_without_files_has_no_page_cache() -> None:
    assert cache_state(point("cold"), {"kind": "queue", "path": None}) == {"state": "as found", "how": "The target has no page cache."}


@pytest.mark.parametrize(
    ("cache", "settings", "state", "how"),
    [
        ("warm", "", "warm", "The load ran for 4 s before it was measured for 4 s. A modelled array begins every point with empty caches."),
        (None, "", "as found", "A modelled array begins every point with empty caches."),
        ("cold", "", "cold", "A modelled array begins every point with empty caches."),
        ("cold", "?host.page_cache.warm_range_bytes=2147483648", "as found", "The modelled host began with its page cache filled from the"),
        ("warm", "?host.page_cache.warm_range_bytes=2147483648", "warm", "filled from the first 2 GiB; all other caches began empty."),
    ],
)
def test_a_modelled_host_says_what_its_caches_began_with(cache: str | None, settings: str, state: str, how: str) -> None:
    """``--cache warm`` was stored as "as found: the target has no page cache"."""
    found = cache_state(replace(point(cache), target=target_of(f"array:dl580-local{settings}")), {"kind": "array", "path": None})
    assert found["state"] == state and how in found["how"]


def test_a_flash_cache_that_begins_filled_is_not_cold() -> None:
    targets = map(target_of, ("array:bcache-writeback", "array:bcache-writeback?group.raid.flash_cache.warm=false"))
    filled, empty = (cache_state(replace(point("cold"), target=target), {"kind": "array", "path": None}) for target in targets)
    assert filled["state"] == "as found" and "began with its flash cache filled from all over what is addressed" in filled["how"]
    assert empty == {"state": "cold", "how": "A modelled array begins every point with empty caches."}
