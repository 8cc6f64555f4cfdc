"""The texts of ``--help`` as snapshots, and what they may cost.

Renew the snapshots with ``PLIMSOLL_RENEW=1 pytest tests/unit/test_help.py`` and look at the difference.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from plimsoll.cli.commands import FIRST, OTHER_NAMES, VERBS
from plimsoll.cli.options import COMMON, DECLARED
from plimsoll.orphans import Note, any_noted, note
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


def test_a_command_of_commands_alone_shows_its_help(plimsoll: Plimsoll) -> None:
    # It was one line with \\u000a for each line break.
    said = plimsoll("layout")
    assert said.code == 0 and said.err == ""
    assert said.out.startswith("Usage: plimsoll layout") and "\\u000a" not in said.out and "\n  apply" in said.out


def test_help_imports_nothing_heavy(tmp_path: Path) -> None:
    code = "import sys; from plimsoll.cli import main; main(['--help']); print(*sys.modules, file=sys.stderr)"
    ran = _python(code, tmp_path)
    assert not HEAVY & set(ran.stderr.split())
    assert ran.stdout.startswith("Usage: plimsoll")


@pytest.mark.parametrize("verb", ["run", "ramp", "check", "suite", "compare"])
def test_the_help_of_a_verb_waits_for_nothing_that_measures(verb: str, tmp_path: Path) -> None:
    code = f"import sys; from plimsoll.cli import main; main(['{verb}', '--help']); print(*sys.modules, file=sys.stderr)"
    ran = _python(code, tmp_path)
    assert not {"plimsoll._core", "plimsoll.measure", "plimsoll.points.execution", "plimsoll.host", "rich"} & set(ran.stderr.split())
    assert ran.stdout.startswith(f"Usage: plimsoll {verb}")


def test_a_server_of_another_run_costs_a_command_no_import_of_what_stops_servers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "in-use").mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    note(Note("postgresql", str(tmp_path / "in-use")))
    code = "import sys; from plimsoll.cli import main; main(['list']); print(*sys.modules, file=sys.stderr)"
    assert not {"plimsoll.apps", "plimsoll.apps.orphans", "plimsoll.monitor.sampler"} & set(_python(code, tmp_path).stderr.split())
    assert any_noted()


def test_a_run_needs_rich_only_on_a_terminal(tmp_path: Path) -> None:
    code = "import sys, plimsoll.cli.run; print(*sys.modules, file=sys.stderr)"
    assert not {"rich", "asyncio", "importlib.resources", "unittest"} & set(_python(code, tmp_path).stderr.split())


def test_no_word_at_all_shows_where_to_begin_and_is_an_error(plimsoll: Plimsoll) -> None:
    said = plimsoll()
    assert said.code == 2 and said.out == ""
    begun = re.findall(r"^  plimsoll (\w+)", said.err, re.MULTILINE)
    assert begun == list(FIRST) and len(begun) == 6
    assert "'plimsoll help' lists all commands" in said.err


def test_the_help_of_a_command_and_of_an_older_name_is_that_of_the_command(plimsoll: Plimsoll) -> None:
    assert plimsoll("help", "ramp") == plimsoll("ramp", "--help") == plimsoll("help", "search") == plimsoll("search", "--help")
    assert plimsoll("help") == plimsoll("--help")


def test_common_options_are_explained_once(plimsoll: Plimsoll, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    explained = plimsoll("help", "options").out
    snapshot = SNAPSHOTS / "help-topic-options.txt"
    if os.environ.get("PLIMSOLL_RENEW"):
        snapshot.write_text(explained)
    assert explained == snapshot.read_text()
    for name in COMMON:
        assert DECLARED[name](lambda: None).__click_params__[0].opts[-1] in explained  # type: ignore[attr-defined]
    ramp = plimsoll("help", "ramp").out
    assert "--destroy-data" in ramp and "its serial number or path" not in ramp
    assert len(ramp.splitlines()) < 40


def test_what_is_no_command_cannot_be_explained(plimsoll: Plimsoll) -> None:
    said = plimsoll("help", "rmap")
    assert said.code == 2 and "did you mean 'ramp'?" in said.err


@pytest.mark.parametrize("older", OTHER_NAMES)
def test_an_older_name_works_and_stands_in_no_list(plimsoll: Plimsoll, older: str) -> None:
    assert plimsoll(older, "--help").code == 0
    assert not re.search(rf"^  {older} ", plimsoll("--help").out, re.MULTILINE)


def test_every_command_has_one_place(plimsoll: Plimsoll) -> None:
    shown = re.findall(r"^  ([a-z-]+)  ", plimsoll("--help").out.partition("Measure:")[2], re.MULTILINE)
    assert shown == list(VERBS) and len(set(shown)) == len(shown)


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


def _python(code: str, cache: Path) -> subprocess.CompletedProcess[str]:
    """Its cache is its own: a server that another test has started is noted in that of the user."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path), "XDG_CACHE_HOME": str(cache)}
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)


def test_python_and_rust_agree_on_the_version() -> None:
    import tomllib

    from plimsoll import __version__

    manifest = tomllib.loads((Path(__file__).parents[2] / "Cargo.toml").read_text())
    assert manifest["workspace"]["package"]["version"] == __version__
