"""The size of a suite's file is for scratch files, on this host and on others."""

from __future__ import annotations

from typing import Any

import pytest

from plimsoll.experiments.document import read_experiments
from plimsoll.points.own_size import fitted, has_own_size, of_hosts

SCRATCH = {"parts": [{"exists": False, "made_by_plimsoll": False}]}
OURS = {"parts": [{"exists": True, "made_by_plimsoll": True}]}
DEVICE = {"parts": [{"exists": True, "made_by_plimsoll": False}]}


@pytest.mark.parametrize(
    ("found", "own"),
    [
        (SCRATCH, False),
        (OURS, False),
        (DEVICE, True),
        ({"kind": "null"}, False),
        ({"hosts": {"h1": SCRATCH, "h2": OURS}}, False),
        ({"hosts": {"h1": SCRATCH, "h2": DEVICE}}, True),
    ],
)
def test_a_device_or_a_file_of_somebody_else_has_its_own_size_on_whichever_host(found: Any, own: bool) -> None:
    assert has_own_size(found) is own


def test_what_hosts_found_is_told_by_host() -> None:
    found: Any = {"hosts": {"h1": DEVICE, "h2": OURS}}
    assert list(of_hosts(found)) == ["h1", "h2"]
    assert list(of_hosts(found["hosts"]["h1"])) == [""]


def test_only_experiments_with_such_a_target_lose_the_size_and_nothing_else() -> None:
    table = {"name": "a", "kind": "single", "workloads": ["oltp-db"], "set": {"size": "1GiB", "duration": "1s"}}
    experiments = read_experiments({"experiment": [table]}, "two.toml", quick=False, targets=("/dev/a", "/scratch")).experiments
    (kept,) = fitted(experiments, lambda _target: False)
    (lost,) = fitted(experiments, lambda target: target == "/dev/a")
    assert kept.settings == experiments[0].settings
    assert dict(lost.settings) == {name: value for name, value in kept.settings.items() if name != "size"}
    assert "duration" in lost.settings
