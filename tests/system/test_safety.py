"""What may not be harmed, and what a run leaves behind: the installed command on files and on loop devices of the test's own.

Loop devices need root; elsewhere those tests say that they were skipped.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from support.patience import HANGS_S

COMMAND = str(Path(sys.executable).with_name("plimsoll"))
QUICK = ("--duration", "200ms", "--warmup", "0")
root = pytest.mark.skipif(os.geteuid() != 0, reason="loop devices and mounts need root")
Run = Callable[..., subprocess.CompletedProcess[str]]


def said(program: str, *arguments: str | Path) -> str:
    ended = subprocess.run([program, *map(str, arguments)], check=True, capture_output=True, text=True, timeout=HANGS_S)
    return ended.stdout.strip()


@contextmanager
def attached(*arguments: str | Path) -> Iterator[str]:
    """A loop device, as losetup(8) makes it of its arguments."""
    device = said("losetup", "--find", "--show", *arguments)
    try:
        yield device
    finally:
        subprocess.run(["losetup", "--detach", device], check=False)


@contextmanager
def mounted(device: str, point: Path) -> Iterator[Path]:
    point.mkdir(exist_ok=True)
    said("mount", device, point)
    try:
        yield point
    finally:
        subprocess.run(["umount", str(point)], check=False)


@root
def test_a_mounted_file_system_is_not_written_through_loop_devices_whatever_is_typed(plimsoll: Run, tmp_path: Path) -> None:
    image, content = tmp_path / "z.img", os.urandom(24 << 20)
    with image.open("wb") as file:
        file.truncate(64 << 20)
    said("mkfs.ext4", "-qF", image)
    with ExitStack() as stack:
        lower = stack.enter_context(attached(image))
        with mounted(lower, tmp_path / "m") as point:
            (point / "f").write_bytes(content)
            os.sync()
            above = stack.enter_context(attached("-o", "20M", lower))
            beside = stack.enter_context(attached("-o", "20M", image))
            whole = stack.enter_context(attached(lower))
            for device in (above, beside, whole, lower, str(image)):
                for words in (("--destroy-data",), (f"--destroy-data={device}",)):
                    ended = plimsoll("run", "random-write-4k", "-t", device, *words, *QUICK)
                    assert ended.returncode == 3, (device, words, ended.stderr)
                    assert "will not be written to" in ended.stderr
            ramp = ("ramp", "random-write-4k", "--over", "queue_depth=1..2", "--objective", "p99 <= 1s")
            assert plimsoll(*ramp, "-t", above, f"--destroy-data={above}", *QUICK).returncode == 3
        with mounted(lower, tmp_path / "m") as point:
            assert hashlib.sha1((point / "f").read_bytes()).digest() == hashlib.sha1(content).digest()


def test_a_mistyped_device_is_no_file_in_memory(plimsoll: Run) -> None:
    for words in ((), ("--destroy-data=/dev/plimsoll-no-such",)):
        ended = plimsoll("run", "oltp-db", "-t", "/dev/plimsoll-no-such", "--size", "16MiB", *words, *QUICK)
        assert ended.returncode == 4, ended.stderr
        assert "there is no such device" in ended.stdout + ended.stderr
    assert plimsoll("doctor", "-t", "/dev/plimsoll-no-such").returncode == 4
    assert not Path("/dev/plimsoll-no-such").exists()


@pytest.mark.skipif(not os.path.ismount("/dev/shm"), reason="no tmpfs at /dev/shm")
def test_a_file_in_memory_is_measured_with_a_flag(plimsoll: Run, tmp_path: Path) -> None:
    target = Path("/dev/shm") / f"plimsoll-test-{os.getpid()}.dat"
    ended = plimsoll("run", "random-read-4k", "-t", str(target), "--size", "16MiB", *QUICK, "--json")
    (result,) = json.loads(ended.stdout)["results"]
    assert "memory_backed" in {flag["name"] for flag in result["flags"]}
    assert not target.exists()
    checks = json.loads(plimsoll("doctor", "-t", str(target), "--json").stdout)
    assert [check["status"] for check in checks if check["name"] == "medium"] == ["warn"]


@contextmanager
def measuring(folder: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A run that has begun to measure."""
    command = [COMMAND, "run", *arguments, "--warmup", "0", "--duration", "10m"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=folder) as process:
        try:
            assert process.stderr is not None
            next(line for line in process.stderr if "read " in line or "write " in line)
            yield process
        finally:
            process.kill()


def test_the_second_of_two_runs_on_one_file_is_refused_and_leaves_the_first_alone(plimsoll: Run, tmp_path: Path) -> None:
    with measuring(tmp_path, "oltp-db", "-t", "same.dat", "--size", "16MiB") as first:
        for workload in ("random-write-4k", "random-read-4k"):
            second = plimsoll("run", workload, "-t", "same.dat", "--size", "16MiB", *QUICK)
            assert second.returncode == 4, second.stderr
            assert f"in use by another run of Plimsoll (pid {first.pid})" in second.stdout + second.stderr
        assert first.poll() is None and (tmp_path / "same.dat").stat().st_size == 16 << 20
        first.send_signal(signal.SIGINT)
        assert first.stderr is not None
        first.stderr.read()
        assert first.wait(timeout=HANGS_S) == 130
    assert not list(tmp_path.glob("same.dat*")), "the first removed what it had made"


def test_two_readers_share_a_file_of_the_users(plimsoll: Run, tmp_path: Path) -> None:
    mine = tmp_path / "mine.dat"
    mine.write_bytes(os.urandom(1 << 20))
    with measuring(tmp_path, "random-read-4k", "-t", str(mine)):
        assert plimsoll("run", "random-read-4k", "-t", str(mine), *QUICK).returncode == 0
        writer = plimsoll("run", "random-write-4k", "-t", str(mine), "--destroy-data", *QUICK)
        assert writer.returncode == 4 and "in use by another run" in writer.stdout + writer.stderr


def test_what_a_killed_run_left_is_named_by_the_doctor_and_gone_after_the_next(plimsoll: Run, tmp_path: Path) -> None:
    with measuring(tmp_path, "oltp-db", "-t", "left.dat", "--size", "16MiB") as process:
        process.kill()
        process.wait(timeout=HANGS_S)
    assert (tmp_path / "left.dat").exists()
    checks = json.loads(plimsoll("doctor", "--json").stdout)
    assert any("left.dat" in check["finding"] for check in checks if check["name"] == "leftovers")
    ended = plimsoll("run", "oltp-db", "-t", "left.dat", "--size", "16MiB", *QUICK)
    assert ended.returncode == 0, ended.stderr
    assert not list(tmp_path.glob("left.dat*"))


def test_own_data_in_a_kept_scratch_file_is_neither_refilled_nor_overwritten(plimsoll: Run, tmp_path: Path) -> None:
    kept = tmp_path / "kept.dat"
    assert plimsoll("run", "oltp-db", "-t", str(kept), "--size", "4MiB", "--keep", *QUICK).returncode == 0
    assert plimsoll("run", "oltp-db", "-t", str(kept), *QUICK).returncode == 0, "still ours after our own writes"
    letters = b"dear reader, " * 322_638
    with kept.open("r+b") as file:
        file.write(letters[: 4 << 20])
    before = kept.read_bytes()
    assert plimsoll("run", "random-read-4k", "-t", str(kept), *QUICK).returncode == 0
    refused = plimsoll("run", "oltp-db", "-t", str(kept), *QUICK)
    assert refused.returncode == 3 and "something else has written to it" in refused.stderr
    assert kept.read_bytes() == before


@root
def test_an_external_journal_and_a_file_system_without_its_first_superblock_need_the_name(plimsoll: Run, tmp_path: Path) -> None:
    journal, beheaded = tmp_path / "journal", tmp_path / "beheaded"
    for image in (journal, beheaded):
        with image.open("wb") as file:
            file.truncate(64 << 20)
    said("mkfs.ext4", "-qF", "-b", "4096", "-O", "journal_dev", journal)
    said("mkfs.ext4", "-qF", "-b", "1024", beheaded)
    with beheaded.open("r+b") as file:
        file.write(bytes(1 << 20))
    for image, words in ((journal, "journal of ext3/4"), (beheaded, "ext2/3/4")):
        with attached(image) as device:
            refused = plimsoll("run", "random-write-4k", "-t", device, "--destroy-data", *QUICK)
            assert refused.returncode == 3 and words in refused.stderr, refused.stderr


@root
def test_a_run_with_the_bare_word_can_be_repeated_on_the_device_that_it_filled(plimsoll: Run, tmp_path: Path) -> None:
    image = tmp_path / "empty"
    with image.open("wb") as file:
        file.truncate(32 << 20)
    with attached(image) as device:
        for workload in ("random-write-4k", "hp-sas-sequential-512k-write", "random-write-4k", "oltp-db"):
            ended = plimsoll("run", workload, "-t", device, "--destroy-data", *QUICK)
            assert ended.returncode == 0, ended.stderr
