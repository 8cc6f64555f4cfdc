"""The texts of ``--help`` as snapshots, and what they may cost.

Renew the snapshots with ``PLIMSOLL_RENEW=1 pytest tests/unit/test_help.py`` and look at the difference.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from plimsoll.cli import VERBS
from support.said import Plimsoll

SNAPSHOTS = Path(__file__).parent / "snapshots"

#: Modules that take longer to import than the whole help may take, or that only some commands need.
HEAVY = {
    "rich",
    "asyncio",
    "importlib.resources",
    "unittest",
    "plimsoll._core",
    "plimsoll.measure",
    "plimsoll.store",
    "plimsoll.analysis",
    "plimsoll.host",
}


@pytest.mark.parametrize("verb", ["", *VERBS])
def test_help_reads_as_it_did(plimsoll: Plimsoll, monkeypatch: pytest.MonkeyPatch, verb: str) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    said = plimsoll(*verb.split(), "--help")
    assert said.code == 0 and said.err == ""
    snapshot = SNAPSHOTS / f"help{'-' if verb else ''}{verb}.txt"
    if os.environ.get("PLIMSOLL_RENEW"):
        SNAPSHOTS.mkdir(exist_ok=True)
        snapshot.write_text(said.out)
    assert said.out == snapshot.read_text()


def test_the_list_of_verbs_says_what_each_command_says_of_itself(plimsoll: Plimsoll) -> None:
    from importlib import import_module

    from plimsoll.cli.program import module_of

    for verb, line in VERBS.items():
        assert import_module(module_of(verb)).command.short_help == line


def test_help_imports_nothing_heavy() -> None:
    code = "import sys; from plimsoll.cli import main; main(['--help']); print(*sys.modules, file=sys.stderr)"
    ran = _python(code)
    assert not HEAVY & set(ran.stderr.split())
    assert ran.stdout.startswith("Usage: plimsoll")


def test_a_run_needs_rich_only_on_a_terminal() -> None:
    code = "import sys, plimsoll.cli.run; print(*sys.modules, file=sys.stderr)"
    assert not {"rich", "asyncio", "importlib.resources", "unittest"} & set(_python(code).stderr.split())


def test_no_arguments_show_the_help_and_are_an_error(plimsoll: Plimsoll) -> None:
    said = plimsoll()
    assert said.code == 2
    assert said.out == "" and said.err.startswith("Usage: plimsoll")


def test_the_version_is_shown(plimsoll: Plimsoll) -> None:
    assert plimsoll("--version").out.startswith("plimsoll 0.")


def test_a_reader_that_leaves_early_sees_no_traceback() -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    command = [sys.executable, "-m", "plimsoll", "list"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        error = process.stderr.read()
    assert error == b""


def _python(code: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)


def test_python_and_rust_agree_on_the_version() -> None:
    import tomllib

    from plimsoll import __version__

    manifest = tomllib.loads((Path(__file__).parents[2] / "Cargo.toml").read_text())
    assert manifest["workspace"]["package"]["version"] == __version__
