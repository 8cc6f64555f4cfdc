"""What holds for all tests: which of them do not run side by side, and that drawing examples takes as long as it takes.

Model: `make test` gives tests to as many processes as there are processors (pytest-xdist, `--dist loadgroup`). What is measured in real time,
needs loop devices or mounts, or drives a browser is one group, which one process works through while the others do the rest. On a machine that
says that it is CI Hypothesis has such a profile of its own, whose other choices (no seed of the day) are kept.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("patient", settings.default, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

_HERE = Path(__file__).parent
#: Files of `tests/system` that measure nothing in real time.
_VIRTUAL = frozenset(("test_arrays.py", "test_hanging_queue.py", "test_reproduce.py", "test_se6920_accuracy.py"))
#: Files whose tests share what is dear to make.
_TOGETHER = frozenset(("test_bundle.py", "test_experiments_view.py", "test_se6920_accuracy.py"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if group := _group_of(item):
            item.add_marker(pytest.mark.xdist_group(group))


def _group_of(item: pytest.Item) -> str | None:
    """What one process works through, None for a test that any process may take."""
    if item.path.name in _TOGETHER:
        return item.path.name
    real = item.path.parent == _HERE / "system" and item.path.name not in _VIRTUAL
    return "quiet machine" if real or "browser" in getattr(item, "fixturenames", ()) else None
