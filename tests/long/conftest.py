"""What the long suite shares: a seed and a scale from the environment, the installed command, and the account that is printed at the end.

Only `make test-long` collects this folder; `make test` and a plain `pytest` do not (``norecursedirs`` in pyproject.toml).

Model: `long/settings.py` reads seed and scale. A test draws from ``draws``, which depends on the seed and on the test's own name, so that tests
can run alone or in any order; both are printed, and a failure is met again with them.

    def test_kills(draws: Random, scale: Scale, tally: Tally) -> None:
        for _ in range(scale.times(100)):
            instant_s = draws.uniform(0, scale.seconds(3, least=0.5))
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from xdist.workermanage import WorkerController

from long import settings
from long.tally import Tally
from support.patience import HANGS_S
from support.said import Plimsoll, Said, in_this_process

COMMAND = str(Path(sys.executable).with_name("plimsoll"))

#: Files whose cases are minutes together: servers and gangs that are started, killed, started again, and arrays that are simulated.
_WHOLE_RUNS = frozenset(
    (
        "test_choice_bounds.py",
        "test_database_faults.py",
        "test_database_kills.py",
        "test_decision_support.py",
        "test_layout_kills.py",
        "test_mail_durability.py",
        "test_order_entry.py",
        "test_order_entry_faults.py",
        "test_products.py",
    )
)

#: Files of whose tests each is half a minute of processor time by itself or more, on three hosts with Ray or without, or on a cluster of
#: Spark's; a twentieth of the suite has this many tests of each file.
_GANGS = tuple(
    f"test_{name}.py"
    for name in ("hosts_differ", "hosts_faults", "hosts_lost", "hosts_over_ssh", "hosts_strangers", "hosts_sums", "spark_cluster")
)
_OF_GANGS = 2

_TALLY = pytest.StashKey[Tally]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_TALLY] = Tally()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Of a part of the suite a part of the cases, where each case is a whole run: drawn by the seed, at least one of each test, and of gangs
    at least two of each file."""
    cases: dict[tuple[str, str], list[pytest.Item]] = {}
    for item in items:
        if item.path.name in _GANGS:
            cases.setdefault((item.path.name, ""), []).append(item)
        elif item.path.name in _WHOLE_RUNS:
            cases.setdefault((item.path.name, getattr(item, "originalname", item.name)), []).append(item)
    kept = {
        item
        for (file, name), found in cases.items()
        for item in Random(f"{settings.SEED} {file} {name}").sample(found, settings.SCALE.some(len(found), least=1 if name else _OF_GANGS))
    }
    left_out = [item for found in cases.values() for item in found if item not in kept]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in set(left_out)]


def pytest_sessionfinish(session: pytest.Session) -> None:
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["tally"] = session.config.stash[_TALLY].told()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: WorkerController) -> None:
    """A process that died has said nothing; its test has failed."""
    node.config.stash[_TALLY].add(getattr(node, "workeroutput", {}).get("tally", {}))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    terminalreporter.section(settings.spoken())
    for line in config.stash[_TALLY].lines():
        terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def seed() -> int:
    """The number that everything random follows from."""
    return settings.SEED


@pytest.fixture(scope="session")
def scale() -> settings.Scale:
    """How much is tried."""
    return settings.SCALE


@pytest.fixture
def draws(request: pytest.FixtureRequest) -> Random:
    """Draws of this test alone."""
    return Random(f"{settings.SEED} {request.node.nodeid}")


@pytest.fixture(scope="session")
def tally(request: pytest.FixtureRequest) -> Tally:
    """Where trials are counted; printed at the end of the session."""
    return request.config.stash[_TALLY]


@pytest.fixture
def plimsoll(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Said]:
    """Run ``plimsoll ARGUMENTS`` in an empty directory and wait for it; what is not UTF-8 in its output is kept as surrogates."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def run(*arguments: str | bytes) -> Said:
        ended = subprocess.run([COMMAND, *arguments], check=False, capture_output=True, timeout=HANGS_S)
        return Said(ended.returncode, *(stream.decode(errors="surrogateescape") for stream in (ended.stdout, ended.stderr)))

    return run


@pytest.fixture
def plimsoll_in_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Plimsoll:
    """As ``plimsoll``, without a process for each command: for hundreds of them. Temporary files are made in the empty directory too."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return in_this_process(capsys)
