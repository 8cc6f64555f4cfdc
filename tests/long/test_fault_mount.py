"""The file system that the faults come from passes everything else through, does what it logs, and forgets what was not durable."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from long.fault_mount import KINDS, FaultMount, unavailable
from support.patience import wait_until

pytestmark = pytest.mark.skipif(unavailable() is not None, reason=unavailable() or "")

BLOCK = 4096


@pytest.fixture
def mount(tmp_path: Path) -> Iterator[FaultMount]:
    with FaultMount(tmp_path) as mounted:
        yield mounted


@contextmanager
def opened(path: Path, flags: int = os.O_RDWR | os.O_CREAT) -> Iterator[int]:
    descriptor = os.open(path, flags, 0o600)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def block(value: int, count: int = 1) -> bytes:
    return bytes([value]) * BLOCK * count


def test_without_a_rule_it_is_the_directory_below(mount: FaultMount) -> None:
    (mount.at / "a").mkdir()
    (mount.at / "a" / "f").write_bytes(b"12345")
    (mount.at / "a" / "f").rename(mount.at / "a" / "g")
    os.link(mount.at / "a" / "g", mount.at / "h")
    (mount.at / "s").symlink_to("a/g")
    assert sorted(os.listdir(mount.at)) == ["a", "h", "s"]
    assert os.listdir(mount.at / "a") == ["g"]
    assert (mount.at / "s").read_bytes() == (mount.backing / "h").read_bytes() == b"12345"
    assert (mount.at / "h").stat().st_nlink == 2
    with opened(mount.at / "open") as file:
        os.unlink(mount.at / "open")
        os.pwrite(file, b"still", 0)
        assert os.fstat(file).st_size == 5
    (mount.at / "h").unlink()
    os.truncate(mount.at / "a" / "g", 2)
    assert (mount.backing / "a" / "g").read_bytes() == b"12"
    assert mount.log() == []


@pytest.mark.parametrize("fault", ["lost", "torn", "misdirected", "flipped", "zeros"])
def test_a_write_gone_wrong_is_logged_with_the_bytes_that_differ(mount: FaultMount, fault: str) -> None:
    right = bytearray(block(1, 64))
    with opened(mount.at / "f") as file:
        os.pwrite(file, right, 0)
        mount.arm(fault, on=["write"], skip=1, times=1, seed=3)
        for number in (40, 41, 42):
            right[number * BLOCK : (number + 1) * BLOCK] = block(number)
            os.pwrite(file, block(number), number * BLOCK)
        (injection,) = mount.log()
        assert not injection.seen
        found = os.pread(file, len(right), 0)
    assert (injection.fault, injection.op, injection.path, injection.offset) == (fault, "write", "f", 41 * BLOCK)
    assert [at for at in range(len(right)) if found[at] != right[at]] == sorted(at for wrong in injection.wrong for at in range(*wrong))
    assert mount.log()[0].seen


def test_wrong_data_that_is_written_over_unread_is_never_seen(mount: FaultMount) -> None:
    with opened(mount.at / "f") as file:
        mount.arm("lost", times=1)
        os.pwrite(file, block(1), 0)
        os.pwrite(file, block(2), 0)
        assert os.pread(file, BLOCK, 0) == block(2)
    assert [injection.seen for injection in mount.log()] == [False]


def test_a_stale_read_returns_what_stood_there_before_once(mount: FaultMount) -> None:
    with opened(mount.at / "f") as file:
        os.pwrite(file, block(1), 0)
        mount.arm("stale", times=1)
        assert os.pread(file, BLOCK, 0) == block(1), "nothing older is known yet"
        os.pwrite(file, block(2), 0)
        assert [os.pread(file, BLOCK, 0) for _ in range(2)] == [block(1), block(2)]
    assert len(mount.log()) == 1


def test_what_hangs_is_answered_when_it_is_released(mount: FaultMount) -> None:
    (mount.at / "f").write_bytes(block(1))
    mount.arm("hang", on=["read"], times=1)
    reader = os.fork()
    if reader == 0:
        os._exit((mount.at / "f").read_bytes() != block(1))
    wait_until(lambda: mount.hung() == 1, "the read hangs")
    assert os.waitpid(reader, os.WNOHANG) == (0, 0)
    assert mount.release() == 1
    assert os.waitstatus_to_exitcode(os.waitpid(reader, 0)[1]) == 0


def test_a_removed_file_is_gone_by_name_and_by_descriptor(mount: FaultMount) -> None:
    with opened(mount.at / "f") as file:
        os.pwrite(file, block(1), 0)
        mount.arm("removed")
        with pytest.raises(OSError, match="Stale file handle"):
            os.pread(file, BLOCK, 0)
        with pytest.raises(OSError, match="Stale file handle"):
            os.pwrite(file, block(1), 0)
    assert os.listdir(mount.at) == []


def test_a_rule_that_cannot_be_is_refused_in_a_sentence(mount: FaultMount) -> None:
    with pytest.raises(AssertionError, match="Stale cannot strike Write"):
        mount.arm("stale", on=["write"])


def test_every_kind_can_be_armed(mount: FaultMount) -> None:
    assert len({mount.arm(kind, path="nowhere") for kind in KINDS}) == 16


def test_a_power_cut_forgets_what_was_not_flushed(mount: FaultMount) -> None:
    mount.volatile()
    with opened(mount.at / "f") as file, opened(mount.at / "f", os.O_WRONLY | os.O_DSYNC) as through:
        os.pwrite(file, block(1, 4), 0)
        os.fsync(file)
        os.pwrite(file, block(2), 0)
        os.pwrite(through, block(3), BLOCK)
        os.pwrite(file, block(4), 8 * BLOCK)
        assert os.fstat(file).st_size == 9 * BLOCK
        assert [os.pread(file, 1, at * BLOCK)[0] for at in (0, 1, 2, 5, 8)] == [2, 3, 1, 0, 4]
        losses = mount.cut()
        assert [loss.range for loss in losses] == [(0, BLOCK), (8 * BLOCK, 9 * BLOCK)]
        assert os.pread(file, 16 * BLOCK, 0) == block(1) + block(3) + block(1, 2)


def test_in_the_dark_everything_fails_and_afterwards_only_what_was_durable_is_there(mount: FaultMount) -> None:
    mount.volatile()
    with opened(mount.at / "f") as file:
        os.pwrite(file, block(1), 0)
        os.fdatasync(file)
        os.pwrite(file, block(2), 0)
        mount.cut(dark=True)
        with pytest.raises(OSError, match="Input/output error"):
            os.pwrite(file, block(3), 0)
        with pytest.raises(OSError, match="Input/output error"):
            os.fsync(file)
    mount.light()
    assert (mount.at / "f").read_bytes() == block(1)


def test_a_cut_keeps_a_share_out_of_order_and_equal_for_equal_seeds(mount: FaultMount) -> None:
    kept = []
    for seed in (1, 1, 2):
        mount.volatile()
        with opened(mount.at / "f", os.O_RDWR | os.O_CREAT | os.O_TRUNC) as file:
            os.pwrite(file, bytes(64 * BLOCK), 0)
            os.fsync(file)
            for at in range(64):
                os.pwrite(file, block(1), at * BLOCK)
            losses = mount.cut(keep=0.5, tear=0.5, tear_bytes=512, seed=seed)
            found = os.pread(file, 64 * BLOCK, 0)
        said = [any(start <= at < end for loss in losses for start, end in loss.kept) for at in range(0, 64 * BLOCK, 512)]
        assert [found[at] == 1 for at in range(0, 64 * BLOCK, 512)] == said
        assert any(loss.torn for loss in losses) and any(not loss.kept for loss in losses)
        kept.append(said)
    assert kept[0] == kept[1] != kept[2]


def test_a_reordered_flush_shows_only_after_a_cut(mount: FaultMount) -> None:
    mount.volatile()
    mount.arm("reordered", seed=5)
    with opened(mount.at / "f") as file:
        for at in range(32):
            os.pwrite(file, block(at + 1), at * BLOCK)
        os.fsync(file)
        assert [os.pread(file, 1, at * BLOCK)[0] for at in range(32)] == list(range(1, 33))
        mount.cut()
        found = {os.pread(file, 1, at * BLOCK)[:1] == bytes([at + 1]) for at in range(32)}
    assert found == {True, False}


def test_what_waits_is_pushed_out_when_there_is_no_more_room(mount: FaultMount) -> None:
    mount.volatile(room_bytes=10 * BLOCK)
    with opened(mount.at / "f") as file:
        for at in range(64):
            os.pwrite(file, block(1), at * BLOCK)
        assert mount.pending_bytes() <= 10 * BLOCK
        assert len(mount.cut()) < 10
        assert os.fstat(file).st_size > 54 * BLOCK
