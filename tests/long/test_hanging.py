"""A target that hangs under a run: said while it happens, no objective held, the truth in the record, whatever the backend or driver.

The file system hangs every request from some second of the run on, and carries them out when it is released.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from long import fault_mount
from long.fault_mount import FaultMount
from support.patience import HANGS_S, wait_until

COMMAND = str(Path(sys.executable).with_name("plimsoll"))
pytestmark = pytest.mark.skipif(fault_mount.unavailable() is not None, reason=str(fault_mount.unavailable()))

OPEN = 'read_percent = 100\narrival = "constant"\nrate = 200\nqueue_depth = 8\n'
CLOSED = "read_percent = 100\nqueue_depth = 8\n"
TREE = '[[tree]]\nname = "a"\nwidth = 1\nfiles = 4\nsizes = "64KiB"\n'
LOADS = {
    "open loop through io_uring": f"[[stream]]\n{OPEN}",
    "closed loop through io_uring": f"[[stream]]\n{CLOSED}",
    "closed loop through threads": f"[[stream]]\n{CLOSED}",
    "files": f'driver = "files"\n{TREE}[[stream]]\noperation = {{read = 100}}\ntransfer_size = "4KiB"\n',
}
SETTINGS = {"closed loop through threads": ["--set", "backend=sync"]}


def begun(load: str, folder: Path, mount: FaultMount, *words: str) -> subprocess.Popen[str]:
    """A run of two seconds on a prepared target of the mount."""
    (folder / "load.toml").write_text(LOADS[load])
    target = mount.at / ("tree" if load == "files" else "a.dat")
    size = [] if load == "files" else ["--size", "8MiB"]
    line = [COMMAND, "run", "load.toml", "-t", str(target), *size, "-w", "0s", "-o", "results", *SETTINGS.get(load, []), *words]
    return subprocess.Popen(line, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def prepared(load: str, folder: Path, mount: FaultMount) -> None:
    """The target is there already, so that the hang meets the load."""
    process = begun(load, folder, mount, "-d", "200ms", "--keep", "-q")
    said = process.communicate(timeout=HANGS_S)
    assert process.returncode == 0, said


@pytest.mark.parametrize("load", LOADS)
def test_a_hang_is_said_while_it_lasts_and_breaks_every_objective(load: str, tmp_path: Path) -> None:
    with FaultMount(tmp_path) as mount:
        prepared(load, tmp_path, mount)
        words = ("-d", "3s", "--keep", "--json", "--objective", "p99 <= 4s and max <= 4s", "--assert")
        process = begun(load, tmp_path, mount, *words)
        assert process.stderr is not None and process.stdout is not None
        lines: list[str] = []
        while "measure" not in "".join(lines[-1:]):
            lines.append(process.stderr.readline())
            assert lines[-1], lines
        mount.arm("hang", on=["read"])
        while "no answer" not in lines[-1]:
            lines.append(process.stderr.readline())
            assert lines[-1], lines
        assert f"no answer from {mount.at}" in lines[-1] and "waiting" in lines[-1], lines
        mount.disarm()
        mount.release()
        out, _ = process.communicate(timeout=HANGS_S)
        assert process.returncode == 1, (out, lines)
        (result,) = json.loads(out)["results"]
        checked(result)


def checked(result: dict[str, Any]) -> None:
    assert {"no_answer", "unanswered"} & {flag["name"] for flag in result["flags"]} == {"no_answer", "unanswered"}, result["flags"]
    assert result["engine"]["silence"]["ns"] >= 5e9
    assert result["outstanding"]["all"]["at_least"]["max"] >= 5e9


def test_a_process_that_is_killed_during_a_hang_leaves_what_waited(tmp_path: Path) -> None:
    load = "closed loop through io_uring"
    with FaultMount(tmp_path) as mount:
        prepared(load, tmp_path, mount)
        process = begun(load, tmp_path, mount, "-d", "60s", "--keep", "--set", "interval=200ms")
        assert process.stderr is not None
        while "measure" not in process.stderr.readline():
            pass
        mount.arm("hang", on=["read"])
        (store,) = [path for path in (tmp_path / "results").glob("*") if not (path / "report.html").exists()]

        def waited_a_second() -> bool:
            last = (next(store.glob("points/*/intervals.jsonl"))).read_text().splitlines()[-1:]
            return bool(last) and last[0].endswith("}") and not json.loads(last[0])["summary"] and json.loads(last[0])["end_ns"] > 2e9

        wait_until(waited_a_second, "an interval in which nothing came back")
        process.kill()
        process.communicate()
        mount.disarm()
        mount.release()
        line = [COMMAND, "report", str(store), "-o", "found.json"]
        shown = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, timeout=HANGS_S, check=False)
        assert shown.returncode == 0, shown
        (result,) = json.loads((tmp_path / "found.json").read_text())["runs"][0]["results"]
        assert result["outstanding"]["read"]["unfinished"] == 8
        assert result["outstanding"]["read"]["at_least"]["max"] >= 2e8 and result["outstanding"]["read"]["at_most"]["max"] is None
