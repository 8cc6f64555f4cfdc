"""A layout whose command is killed before, during or after each program that it calls: ``plimsoll layout undo`` leaves no trace of it, and
neither does the same suite, given again, of one that was killed while it made, measured or took away its layouts.

Loop devices need root; elsewhere the test says that it was skipped.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest

from long.settings import Scale
from support.patience import HANGS_S
from system.test_layout_suites import Suite
from system.test_layouts import PATH, PROGRAMS, Site, pytestmark, site

__all__ = ["pytestmark", "site"]

#: A program that counts its calls and ends whoever called it at the call that is asked for: before, during or after its work.
WRAPPER = """#!/bin/sh
count=$(($(cat "$CALLS" 2>/dev/null || echo 0) + 1)); echo $count > "$CALLS"
[ $count -eq $KILL_AT ] || exec {real} "$@"
case $WHEN in
    before) kill -9 $PPID ;;
    during) {real} "$@" & kill -9 $PPID; kill -9 $! ;;
    after) {real} "$@"; kill -9 $PPID ;;
esac
"""


def _wrapped(site: Site, programs: Sequence[str]) -> Path:
    wrappers = site.at / "bin"
    wrappers.mkdir()
    for program in programs:
        wrapper = wrappers / program
        wrapper.write_text(WRAPPER.replace("{real}", str(shutil.which(program, path=PATH))))
        wrapper.chmod(wrapper.stat().st_mode | stat.S_IXUSR)
    return wrappers


@pytest.mark.parametrize("when", ["before", "during", "after"])
def test_a_layout_that_was_killed_at_any_command_is_taken_away_without_a_trace(site: Site, when: str) -> None:
    file = site.file("type = 'btrfs'\ndata = 'raid1'")
    wrappers = _wrapped(site, PROGRAMS)
    calls, at = site.at / "calls", 0
    while True:
        at += 1
        calls.unlink(missing_ok=True)
        killed = site.applied(file, 2, PATH=f"{wrappers}:{os.environ['PATH']}", CALLS=str(calls), KILL_AT=str(at), WHEN=when)
        if killed.returncode == 0:
            break
        assert killed.returncode == -9, killed.stderr
        assert "half made" in site("list").stdout
        undone = site("undo", "mine", "--yes")
        assert undone.returncode == 0, undone.stderr
        site.nothing_is_left()
    assert at > len(PROGRAMS) - 1, "every command was killed once"
    assert site("undo", "mine", "--yes").returncode == 0
    site.nothing_is_left()


def test_a_suite_that_was_killed_at_any_command_goes_on_and_leaves_no_trace(site: Site, scale: Scale, draws: Random) -> None:
    suite = Suite(site, ("raid0", "raid1"), levels="[1]")
    # Of a part of the long suite every so many commands; each kill takes two runs.
    step = scale.every()
    # What takes a layout away is killed as well.
    wrappers, calls, went_on = _wrapped(site, (*PROGRAMS, "umount")), site.at / "calls", 0
    at = draws.randint(1, step) - step
    while True:
        at += step
        # In turn; both layouts call the same, at places that fall on other turns.
        when = ("before", "during", "after")[at % 3]
        calls.unlink(missing_ok=True)
        kills = {"PATH": f"{wrappers}:{os.environ['PATH']}", "CALLS": str(calls), "KILL_AT": str(at), "WHEN": when}
        words = [*suite.words[:-1], str(site.at / f"runs{at}"), suite.allowed, "-q"]
        # Files, since what the killed command has called may hold on to a pipe.
        with (site.at / "said").open("w") as said:
            code = subprocess.run(
                words, stdout=said, stderr=said, check=False, timeout=HANGS_S, cwd=site.at, env={**site.environment, **kills}
            ).returncode
        if code == 0:
            break
        assert code == -9, (site.at / "said").read_text()
        again = subprocess.run(words, capture_output=True, text=True, check=False, timeout=HANGS_S, cwd=site.at, env=site.environment)
        assert again.returncode == 0, again.stderr
        went_on += "taking away the layout" in again.stderr
        site.nothing_is_left()
    assert at > 2 * (len(PROGRAMS) - 2), "every command of both layouts was killed once"
    assert went_on or step > 1, "something was left behind, and taken away"
