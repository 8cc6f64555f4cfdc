"""SIGKILL at drawn instants over every verb that writes: the store stays readable, runs go on where that is promised, nothing foreign is harmed
and nothing is left over.

Model: each verb runs undisturbed once, which says how long it takes and which names it leaves. Then it is killed at an instant drawn from that
time (a server after it has begun to serve, too), the store is read with `runs` and `report`, and the same command is given again: it ends well,
goes on with the same run where that is promised, and leaves the names of an undisturbed one. Processes, mounts and temporary files are gone.
"""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path
from random import Random

import pytest

from long import settings
from long.tally import Tally
from long.verbs import VERBS, Folder, Stock, Verb
from support.patience import HANGS_S, wait_until
from support.served_array import missing_for_mount

KILLS = 100
_SERVED = "Ctrl-C ends it"


@pytest.fixture(scope="module")
def stock(tmp_path_factory: pytest.TempPathFactory) -> Stock:
    return Stock(tmp_path_factory.mktemp("stock"))


def _lacking(name: str) -> str | None:
    return missing_for_mount() if "--mount" in name else None


def _kills_of(name: str) -> int:
    """The kills are dealt to the verbs in turn, beginning with another one for each seed."""
    order = Random(f"{settings.SEED} kills").sample(sorted(VERBS), len(VERBS))
    return len(range(order.index(name), settings.SCALE.times(KILLS), len(VERBS)))


@pytest.mark.parametrize("name", [name for name in VERBS if _kills_of(name)])
def test_a_killed_command_harms_nothing_and_can_be_given_again(
    name: str, stock: Stock, tmp_path: Path, draws: Random, tally: Tally
) -> None:
    lacking = missing_for_mount() if "--mount" in name else None
    if lacking is not None:
        pytest.skip(lacking)
    verb, complaints = VERBS[name], []
    undisturbed = Folder(tmp_path / "undisturbed", stock)
    seconds = _end(undisturbed, verb)
    for number in range(_kills_of(name)):
        folder = Folder(tmp_path / str(number), stock)
        instant_s = draws.uniform(0, seconds)
        _kill(folder, verb, instant_s)
        found = [*_after_the_kill(folder), *_given_again(folder, verb, undisturbed.made())]
        tally.count(f"kill: {name}", survived=not found, named=None)
        complaints += [f"killed after {instant_s:.3f} of {seconds:.3f} s: {complaint}" for complaint in found]
    assert not complaints, "\n".join(complaints)


def _end(folder: Folder, verb: Verb) -> float:
    """Carry a command out; how long it took, of a server to serve."""
    begin = time.monotonic()
    process = folder.start(verb)
    try:
        if verb.serves:
            _wait_for_service(folder, process)
            seconds = 1.3 * (time.monotonic() - begin)
            process.send_signal(signal.SIGINT)
            process.wait(timeout=HANGS_S)
        else:
            process.wait(timeout=HANGS_S)
            seconds = time.monotonic() - begin
    finally:
        process.kill()
    assert process.returncode in ((0, 130) if verb.serves else (0,)), folder.said()
    return seconds


def _wait_for_service(folder: Folder, process: subprocess.Popen[bytes]) -> None:
    wait_until(lambda: _SERVED in folder.said() or process.poll() is not None, f"it serves: {folder.said()}")


def _kill(folder: Folder, verb: Verb, instant_s: float) -> None:
    process = folder.start(verb)
    try:
        process.wait(timeout=instant_s)
    except subprocess.TimeoutExpired:
        process.kill()
    process.wait()


def _after_the_kill(folder: Folder) -> list[str]:
    """What is wrong before anything else is done."""
    complaints = [f"{name} was changed or removed" for name in folder.harmed()]
    try:
        wait_until(lambda: not folder.processes() and not folder.mounts(), "its helpers end and unmount")
    except AssertionError:
        complaints.append(f"left running or mounted: {folder.processes()} {folder.mounts()}")
    listed = folder.run("runs", "-o", "store")
    if listed.code or "Traceback" in listed.err:
        complaints.append(f"'plimsoll runs' ends with {listed.code}: {listed.err}")
    for run in folder.runs():
        if run.name not in listed.out:
            complaints.append(f"{run.name} is not listed: {listed.out}")
        report = folder.run("report", str(run), "-o", "killed.html")
        # A run that was killed before its first point has nothing to show, which is a sentence.
        if report.code not in (0, 2, 5) or "Traceback" in report.err:
            complaints.append(f"'plimsoll report' ends with {report.code}: {report.err}")
        (folder.place / "killed.html").unlink(missing_ok=True)
    return complaints


def _given_again(folder: Folder, verb: Verb, wanted: set[str]) -> list[str]:
    """What is wrong once the same command has been given again."""
    before, goes_on = folder.runs(), verb.resumes and folder.unfinished()
    process = folder.start(verb)
    if verb.serves:
        _wait_for_service(folder, process)
        process.send_signal(signal.SIGINT)
    process.wait(timeout=HANGS_S)
    complaints = [f"{name} was changed or removed by the second command" for name in folder.harmed()]
    if process.returncode not in ((0, 130) if verb.serves else (0,)):
        complaints.append(f"the second command ends with {process.returncode}: {folder.said()}")
    if goes_on and (len(folder.runs()) > len(before) or folder.unfinished()):
        complaints.append(f"it did not go on with its run: {[run.name for run in folder.runs()]}")
    left = folder.made() - wanted
    if left:
        complaints.append(f"left over: {sorted(left)}")
    return complaints
