"""The brake: first signal stops, second leaves at once. In a process of its own, because the second ends it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from plimsoll.store.reader import StoredRun, list_runs
from support.patience import HANGS_S

STUBBORN = Path(__file__).parents[1] / "support" / "stubborn_run.py"


def test_a_second_signal_leaves_at_once_and_what_was_stored_is_readable(here: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    command = [sys.executable, str(STUBBORN), "run", "small.toml", "-t", "null:"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, text=True) as process:
        assert process.stderr is not None
        _read_until(process.stderr, "0.5 s")
        process.send_signal(signal.SIGINT)
        _read_until(process.stderr, "stopping")
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=HANGS_S) == 130
    (run,) = list_runs("results")
    assert isinstance(run, StoredRun)
    assert run.status == "incomplete"
    assert run.points[0].result.status == "incomplete"
    # Two intervals of warm-up, three of measurement with 100 requests each.
    assert run.points[0].result.totals["read"].count == 300


def _read_until(stream: object, part: str) -> None:
    for line in stream:  # type: ignore[attr-defined]
        if part in line:
            return
    raise AssertionError(f"{part!r} was not said")


def test_both_signals_are_handed_over_and_given_back() -> None:
    from plimsoll.points.signals import SIGNALS, handled

    before, calls = [signal.getsignal(number) for number in SIGNALS], []
    with handled(lambda: calls.append(1)):
        for number in SIGNALS:
            os.kill(os.getpid(), number)
    assert len(calls) == 2
    assert [signal.getsignal(number) for number in SIGNALS] == before


#: Sends itself what Ctrl-C sends while the module of this name is imported, then starts as the command does.
_SIGNALLED = """
import os, runpy, signal, sys

class Signal:
    def find_spec(self, name, path=None, target=None):
        if name == NAME:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Signal())
sys.argv = ["plimsoll", "list"]
runpy.run_module("plimsoll", run_name="__main__", alter_sys=True)
"""


@pytest.mark.parametrize("name", ["plimsoll.cli", "plimsoll.cli.program", "click", "plimsoll.errors", "plimsoll.cli.list"])
def test_ctrl_c_while_the_command_starts_ends_it_with_130_and_without_a_traceback(name: str) -> None:
    code = _SIGNALLED.replace("NAME", repr(name))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 130
    assert "Traceback" not in done.stderr and done.stdout == ""
