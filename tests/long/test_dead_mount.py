"""A target on a mount whose server never answers, looked at by every verb that looks at targets: said, and left by one Ctrl-C.

The file system holds each request until it is released, which no signal ends: whoever asks it is in the kernel until then.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Timer

import pytest

from long import fault_mount
from long.fault_mount import FaultMount
from support.patience import HANGS_S

COMMAND = str(Path(sys.executable).with_name("plimsoll"))
pytestmark = pytest.mark.skipif(fault_mount.unavailable() is not None, reason=str(fault_mount.unavailable()))

QUICK = ("-d", "100ms", "-w", "0s")
TREE = 'driver="files"\n[[tree]]\nname="a"\nwidth=1\nfiles=4\nsizes="4KiB"\n[[stream]]\noperation={read=100}\n'
VERBS = {
    "run": ("run", "random-read-4k", "-t", "{}", *QUICK),
    "run of what is not there": ("run", "random-read-4k", "-t", "{}.new", "--size", "1MiB", *QUICK),
    "run that writes": ("run", "random-write-4k", "-t", "{}", "--destroy-data={}", *QUICK),
    "run on two files": ("run", "random-read-4k", "-t", "concat:here.dat,{}", *QUICK),
    "run of files": ("run", "tree.toml", "-t", "{}.d", *QUICK),
    "run of a file copy": ("run", "file-copy", "-t", "{}.copy", "--size", "1MiB", *QUICK),
    "ramp": ("ramp", "random-read-4k", "-t", "{}", "--over", "queue_depth=1..4", "--objective", "p99 <= 1s", *QUICK),
    "curve": ("curve", "random-read-4k", "-t", "{}", *QUICK),
    "suite": ("suite", "four-corners", "-t", "{}", "--quick"),
    "replay": ("replay", "trace.csv", "-t", "{}"),
    "doctor": ("doctor", "-t", "{}"),
    "watch": ("watch", "{}", "-d", "1s"),
    "journal check": ("run", "random-read-4k", "-t", "{}", "--set", "verify=journal-check", *QUICK),
}
#: Two requests of a block trace, in the form of MSR Cambridge.
TRACE = "128166372003061629,hm,0,Read,8192,4096,1000\n128166372003071629,hm,0,Read,0,4096,1000\n"


@pytest.fixture
def mount(tmp_path: Path) -> Iterator[FaultMount]:
    (tmp_path / "tree.toml").write_text(TREE)
    (tmp_path / "trace.csv").write_text(TRACE)
    (tmp_path / "here.dat").write_bytes(bytes(1 << 20))
    with FaultMount(tmp_path) as mounted:
        (mounted.at / "a.dat").write_bytes(bytes(1 << 20))
        mounted.arm("hang", on=["lookup", "getattr", "statfs", "open", "open_write", "create", "readdir", "read", "mkdir"])

        def release() -> None:
            mounted.disarm()
            mounted.release()

        # A command that says nothing is let go at last, and fails its test.
        watchdog = Timer(HANGS_S, release)
        watchdog.start()
        try:
            yield mounted
        finally:
            watchdog.cancel()
            release()


@pytest.mark.parametrize("verb", VERBS)
def test_a_mount_that_never_answers_is_said_and_left_at_once(verb: str, tmp_path: Path, mount: FaultMount) -> None:
    words = [word.format(mount.at / "a.dat") for word in VERBS[verb]]
    process = subprocess.Popen([COMMAND, *words], cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    said: list[str] = []
    while not (said and "no answer from" in said[-1]):
        said.append(process.stderr.readline())
        assert said[-1], f"it ended with {process.wait(timeout=HANGS_S)}: {said}"
    assert str(mount.at) in said[-1] and " for " in said[-1]
    process.send_signal(signal.SIGINT)
    rest = process.communicate(timeout=HANGS_S)[1]
    assert process.returncode == 130, (said, rest)
    assert "Traceback" not in rest and mount.hung() > 0


def test_a_mount_that_answers_at_last_is_measured(tmp_path: Path, mount: FaultMount) -> None:
    words = [word.format(mount.at / "a.dat") for word in VERBS["run"]]
    process = subprocess.Popen([COMMAND, *words, "-q"], cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    assert "no answer from" in process.stderr.readline()
    mount.disarm()
    mount.release()
    rest = process.communicate(timeout=HANGS_S)[1]
    assert process.returncode == 0, rest


@pytest.mark.skipif(os.geteuid() != 0, reason="loop devices need root")
def test_a_loop_device_on_a_dead_mount_is_named_to_who_measures_something_else(tmp_path: Path, mount: FaultMount) -> None:
    mount.disarm()
    attach = ["losetup", "--find", "--show", str(mount.at / "a.dat")]
    loop = subprocess.run(attach, capture_output=True, text=True, timeout=HANGS_S, check=True).stdout.strip()
    try:
        mount.arm("hang", on=["lookup", "getattr"])
        words = [COMMAND, "run", "random-read-4k", "-t", "here.dat", *QUICK]
        process = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        assert process.stderr is not None
        said = process.stderr.readline()
        assert "no answer from" in said and f"{mount.at / 'a.dat'} (behind {loop})" in said, said
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=HANGS_S)
        assert process.returncode == 130
    finally:
        mount.disarm()
        mount.release()
        subprocess.run(["losetup", "--detach", loop], timeout=HANGS_S, check=True)


@pytest.mark.parametrize("verb", ["run_job", "prepare_target"])
def test_a_target_that_falls_silent_after_it_was_inspected_is_named_before_it_is_opened(verb: str, mount: FaultMount) -> None:
    from plimsoll import _core

    class Left(Exception):
        """Nobody waits any longer."""

    def leave(name: str, seconds: float) -> None:
        heard.append((name, seconds))
        raise Left

    heard: list[tuple[str, float]] = []
    target, control = str(mount.at / "a.dat"), _core.Control()
    job = {"workload": {"stream": [{"name": "a", "read_percent": 100}]}, "job": {}, "target": target, "permission": None}
    with pytest.raises(Left):
        if verb == "run_job":
            _core.run_job(json.dumps(job), lambda *_: None, control, leave)
        else:
            _core.prepare_target(target, None, None, None, control, leave)
    assert heard[0][0] == target and heard[0][1] >= 5


def test_no_process_stays_in_the_way_of_who_reads_the_output(tmp_path: Path, mount: FaultMount) -> None:
    # The scout is in the kernel still when the command has ended, and must not hold the pipe.
    words = [word.format(mount.at / "a.dat") for word in VERBS["doctor"]]
    process = subprocess.Popen([COMMAND, *words], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert process.stdout is not None
    assert "no answer from" in process.stdout.readline()
    os.kill(process.pid, signal.SIGTERM)
    process.communicate(timeout=HANGS_S)
    assert mount.hung() > 0
