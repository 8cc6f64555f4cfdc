"""A day of mail users says that it is alive while its servers start, which is no silence of theirs."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any, cast

import pytest

from plimsoll.apps.mail.day import telling
from plimsoll.engine.protocol import Control


def test_servers_that_start_slowly_are_told_of_once_a_second_and_can_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s, events = [100.0], cast("list[str]", [])
    monkeypatch.setattr(time, "monotonic", lambda: now_s[0])
    control = SimpleNamespace(stopped=False)

    def hear(kind: str, _: Any) -> None:
        events.append(kind)

    stopped = telling(hear, cast("Control", control))
    for _ in range(35):
        now_s[0] += 0.1
        assert not stopped()
    assert events == ["entering"] * 3
    control.stopped = True
    assert stopped()
