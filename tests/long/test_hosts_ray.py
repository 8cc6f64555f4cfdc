"""The same through Ray, which users have: one gang, what it listens on, how it ends. What Ray does to a run that goes wrong is in tests/long."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from plimsoll.errors import EXIT_INTERRUPTED
from plimsoll.gang.exposure import open_to_others
from plimsoll.gang.nest import marked
from support.gang import Gang, is_down
from support.patience import HANGS_S, wait_until

pytestmark = pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed (pip install 'plimsoll[cluster]')")

WORDS = ("run", "random-read-4k", "--hosts", "local:3", "--target", "null:", "-d", "600s", "-w", "0s", "--set", "interval=200ms", "-q")


class Seen:
    """One run, and what was seen of its gang while it measured."""

    def __init__(self, place: Path) -> None:
        gang = Gang(place, carrier="ray")
        process = gang.start(*WORDS)
        self.nest = gang.note(process)["nest"]
        gang.begun(3, process)
        self.open_to_others = open_to_others(self.nest)
        self.processes = sorted(set(map(_name, marked(self.nest))))
        self.environments = list(_environments(self.nest))
        # It lasts for as long as it takes to look at it.
        process.send_signal(signal.SIGINT)
        self.out, self.said = process.communicate(timeout=HANGS_S)
        self.code = process.returncode
        self.point: Any = gang.point() if self.code == EXIT_INTERRUPTED else None
        wait_until(lambda: is_down(self.nest), "everything of the gang has gone")
        self.kept = gang.notes()


def _name(process: int) -> str:
    try:
        return Path(f"/proc/{process}/comm").read_text().strip()
    except OSError:
        return ""


def _environments(nest: str) -> Iterator[dict[str, str]]:
    for process in marked(nest):
        try:
            words = Path(f"/proc/{process}/environ").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        yield dict(word.partition("=")[::2] for word in words)


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    return Seen(tmp_path_factory.mktemp("ray"))


def test_a_run_through_ray_has_the_exact_sums_of_its_hosts(seen: Seen) -> None:
    assert seen.code == EXIT_INTERRUPTED, seen.said
    assert [host["status"] for host in seen.point["hosts"]] == ["interrupted"] * 3
    assert seen.point["totals"]["read"]["count"] == sum(host["totals"]["read"]["count"] for host in seen.point["hosts"])
    assert all(abs(host["offset_ns"]) <= host["offset_bound_ns"] for host in seen.point["hosts"])


def test_what_ray_says_reaches_nobody(seen: Seen) -> None:
    assert "ray" not in seen.said.lower().replace("array", "")


def test_nobody_outside_this_machine_can_reach_the_gang(seen: Seen) -> None:
    assert seen.open_to_others == []
    assert any(name in ("gcs_server", "raylet") for name in seen.processes), seen.processes


def test_a_token_is_asked_for_and_nothing_is_reported(seen: Seen) -> None:
    # A process of Ray's writes its title over a part of its environment.
    wanted = {"RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_USAGE_STATS_ENABLED"}
    settings = [one for one in seen.environments if wanted <= one.keys()]
    assert settings
    for one in settings:
        assert one["RAY_AUTH_MODE"] == "token"
        assert len(one["RAY_AUTH_TOKEN"]) == 64
        assert one["RAY_USAGE_STATS_ENABLED"] == "0"


def test_everything_is_taken_down_at_the_end(seen: Seen) -> None:
    assert seen.kept == []
    assert not os.path.exists(seen.nest)
