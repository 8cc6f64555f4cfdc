"""What holds for all tests: which of them do not run side by side, and that drawing examples takes as long as it takes.

Model: `make test` gives tests to two processes for every processor (pytest-xdist), since many of them wait for a disk or for another
process. What is measured in real time is one group, which one process works through while the others do the rest; what makes loop devices and
mounts is another, and what drives a browser a third. The tests of a file that share what is dear to make are a group of their own. Groups go by
file. Those, the longest, come first, then what waits for servers, so that one process waits while another computes, then other groups, and
last the many files that any process may take. On a machine that says that it is CI Hypothesis has such a profile of its own, whose other
choices (no seed of the day) are kept.
"""

from __future__ import annotations

import gc
from collections.abc import Generator
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from report.browsing import KEPT
from support.processor_time import longest, processor_s, table, too_dear

settings.register_profile("patient", settings.default, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

_ROOT = Path(__file__).parents[1]
_BROWSER = "browser"
#: Folder below `tests` and files, by what one process works through.
_GROUPS = {
    # In real time, on disks of this machine or among processes that start together.
    "quiet machine": (
        "system",
        "test_analytics_suite test_catalog test_check test_experiments test_files test_io_test test_run "
        "test_serve_array test_suites test_vdbench_files",
    ),
    "devices": ("system", "test_analytics test_doctor_storage test_layout_suites test_layouts test_safety"),
    # Of the long suite: gangs on hosts in namespaces, each of which has both processors to do.
    "hosts": (
        "long",
        "test_hosts test_hosts_applications test_hosts_differ test_hosts_faults test_hosts_level_through_lab test_hosts_lost "
        "test_hosts_on_one_server test_hosts_over_ssh test_hosts_ray test_hosts_replay test_hosts_shared_target test_hosts_strangers "
        "test_hosts_sums test_hosts_through_srun test_image_rack",
    ),
    _BROWSER: (
        "report",
        "test_analytics_section test_database_sections test_driver_sections test_experiments_page test_hosts_page test_long_page "
        "test_choice_page test_mailstore_section test_modelled_page test_page test_prices_page test_replay_page",
    ),
}
_BY_FILE = {f"tests/{folder}/{file}.py": group for group, (folder, files) in _GROUPS.items() for file in files.split()}
_BY_FILE |= dict.fromkeys(("tests/long/test_page_sizes.py", "tests/web/test_accessibility.py", "tests/web/test_live_page.py"), _BROWSER)
_BY_FILE |= dict.fromkeys((f"tests/long/test_{file}.py" for file in ("layout_kills", "layout_suites", "unsafe_targets")), "devices")
#: What mostly waits.
_WAITING = ("tests/databases/", "tests/mail/", "tests/long/databases/", "tests/long/mail/")
# Each source file is parsed once in the process that has them.
_BY_FILE |= dict.fromkeys(("tests/test_circles.py", "tests/test_layers.py"), "sources")
# Remembers in its process what it had simulated.
_BY_FILE["tests/unit/test_array_display.py"] = "tests/unit/test_array_display.py"


class ByGroup(LoadScopeScheduling):
    """Hands out a group at a time, and the tests of a file that has none: to hand out each alone cost 1.5 ms of processor time a test, and
    what a file makes once was made in every process. `--dist loadgroup` goes by names of tests that pytest 9.2 does not let
    it change any more."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return _group_of(file) or file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ByGroup:
    # In the order of `_place`, and not those with the most tests first.
    config.option.loadscopereorder = False
    return ByGroup(config, log)


def pytest_collection_finish() -> None:
    """Ten thousand tests stay to the end: memory is not searched for them again and again."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    """What extensions count at the end is to be found again."""
    gc.unfreeze()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: _place(item.nodeid.partition("::")[0]))
    for item in items:
        file = item.nodeid.partition("::")[0]
        if "browser" in getattr(item, "fixturenames", ()) and _group_of(file) != _BROWSER:
            raise pytest.UsageError(f"{file} drives a browser; name it in tests/conftest.py with the others that do.")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    began = processor_s()
    yield
    spent = processor_s() - began
    item.user_properties.append(("processor_s", spent))
    if said := too_dear(item.nodeid.partition("::")[0], spent):
        pytest.fail(said)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> None:
    """The browser stays for all that drives it, which one process works through."""
    if nextitem is None or _group_of(nextitem.nodeid.partition("::")[0]) != _BROWSER:
        KEPT.close()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """What the tests cost, where several processes worked through them."""
    if not config.getoption("numprocesses", None):
        return
    calls = [report for report in terminalreporter.stats.get("passed", []) if getattr(report, "when", "") == "call"]
    terminalreporter.write_sep("=", "processor time")
    for line in table((call.nodeid, dict(call.user_properties).get("processor_s", 0.0), call.duration) for call in calls):
        terminalreporter.write_line(line)
    # With what fixtures took.
    phases = [report for found in terminalreporter.stats.values() for report in found if hasattr(report, "duration")]
    groups = [(group, phase.duration) for phase in phases if (group := _group_of(phase.nodeid.partition("::")[0]))]
    for line in longest(groups):
        terminalreporter.write_line(line)


@pytest.fixture(autouse=True)
def draws_only_what_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports, comparisons and arrays that are shown have no draws that nobody asked for: they would take seconds of every such test."""
    monkeypatch.setattr("plimsoll.uncertainty.figures.BUDGET_S", 0.0)


@cache
def _place(file: str) -> int:
    """When the tests of a file begin: the lowest first."""
    group = _group_of(file)
    if group in _GROUPS:
        return list(_GROUPS).index(group)
    if file.startswith(_WAITING):
        return len(_GROUPS)
    return len(_GROUPS) + (1 if group else 2)


@cache
def _group_of(file: str) -> str | None:
    """What one process works through, None for tests that any process may take."""
    shares = 'scope="module"' in (_ROOT / file).read_text(encoding="utf-8")
    return _BY_FILE.get(file) or (file if shares else None)
