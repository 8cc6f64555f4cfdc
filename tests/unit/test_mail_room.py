"""Room on the disk of private mail servers: a full one is one sentence, and ends the run once."""

from __future__ import annotations

import os
from types import SimpleNamespace

import pytest

from plimsoll.apps.mail.room import Room, RoomWatch
from support.patience import wait_until


def left(monkeypatch: pytest.MonkeyPatch, blocks: int, files: int = 10) -> None:
    disk = SimpleNamespace(f_bavail=blocks, f_frsize=4096, f_files=100, f_favail=files)
    monkeypatch.setattr(os, "statvfs", lambda _: disk)


ROOM = Room("/mnt/mail", "/mnt/mail/mail")


def test_a_full_disk_is_one_sentence_with_what_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    left(monkeypatch, 8192)
    assert ROOM.full is None and ROOM.beside == ""
    left(monkeypatch, 100)
    assert (
        ROOM.full == "/mnt/mail: its disk is full (400 KiB left) while users worked; take a larger one, or lower users, speed or duration."
    )
    left(monkeypatch, 8192, files=0)
    assert "can hold no more files" in str(ROOM.full)


def test_little_room_is_said_beside_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    left(monkeypatch, 2048)
    assert ROOM.full is None and ROOM.beside == "; only 8 MiB are left on the disk of /mnt/mail"


def test_the_watch_stops_a_run_on_a_full_disk_and_remembers_why(monkeypatch: pytest.MonkeyPatch) -> None:
    left(monkeypatch, 100)
    stops: list[bool] = []
    watch = RoomWatch(ROOM, lambda: stops.append(True))
    watch.begin()
    wait_until(lambda: bool(stops), "the run is stopped")
    watch.end()
    left(monkeypatch, 8192)
    assert stops == [True] and "is full" in str(watch.look()), "what was full is said, though servers gave room back"


def test_a_disk_that_is_not_seen_is_never_full() -> None:
    watch = RoomWatch(None, lambda: None)
    assert watch.look() is None and watch.beside == ""
