"""What arrives on a host that has nothing but Python says in one sentence why it cannot stay."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from plimsoll.gang import arrival


def last_said(home: Path, lines: bytes) -> dict[str, str]:
    """The last line of a host whose user has this home, to somebody who says these lines; its text comes as through ssh."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
    # It runs when it is called so.
    boot = f"exec(compile({inspect.getsource(arrival)!r}, 'arrival', 'exec'), {{'__name__': 'arrival'}})"
    command = [sys.executable, "-c", boot]
    done = subprocess.run(command, input=lines, capture_output=True, env={**kept, "HOME": str(home)}, check=True)
    said: dict[str, str] = json.loads(done.stdout.decode().splitlines()[-1].removeprefix(arrival.MARK))
    return said


@pytest.mark.parametrize(("home", "why"), [("/dev/null", "not a directory"), ("/proc/none", "no such file or directory")])
def test_a_user_without_a_home_is_told_which_directory_cannot_be_made(home: str, why: str) -> None:
    said = last_said(Path(home), b'{"environment": "e1"}\n')
    sentence = f"{home}/.cache/plimsoll cannot be made here ({why}); give its user a home that can be written, or set XDG_CACHE_HOME."
    assert said == {"refused": sentence}
