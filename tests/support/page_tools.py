"""Tools of the page from npm, installed once, whoever of several test processes needs them first."""

import errno
import fcntl
import json
import shutil
import subprocess
import time
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "page"
_MODULES = PAGE / "node_modules"
_TRIES = 3


def page_tools() -> Path:
    """``page/node_modules``, complete; skips where there is no Node or npm cannot install."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        pytest.skip("Node is not installed: the committed page is used as it is")
    with (PAGE / "package-lock.json").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not any(_complete() or _installed() for _ in range(_TRIES)):
            pytest.skip("npm cannot install the tools of page/: the committed page is used as it is")
    return _MODULES


def _complete() -> bool:
    """Whether all that is asked for is there: npm notes it last, in this file."""
    noted = _MODULES / ".package-lock.json"
    return noted.exists() and _versions(PAGE / "package-lock.json").items() <= _versions(noted).items()


def _versions(lock: Path) -> dict[str, str]:
    packages = json.loads(lock.read_text())["packages"]
    # What is optional is for other machines; the first has no name: it is the page itself.
    return {name: entry["version"] for name, entry in packages.items() if name and not entry.get("optional")}


def _installed() -> bool:
    command = ("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
    return subprocess.run(command, check=False, cwd=PAGE, capture_output=True, text=True).returncode == 0 and _executable()


def _executable() -> bool:
    """Whether the bundler that was just written can be started. A kernel may close a file a moment after the process that wrote it has ended,
    and refuses to execute it until then (ETXTBSY)."""
    programs = list(_MODULES.glob("@esbuild/*/bin/esbuild"))
    for _ in range(100):
        try:
            return bool(programs) and all(
                subprocess.run((path, "--version"), check=False, capture_output=True).returncode == 0 for path in programs
            )
        except OSError as error:
            if error.errno != errno.ETXTBSY:
                return False
            time.sleep(0.1)
    return False
