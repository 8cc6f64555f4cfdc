"""Targets that must not be written to, made with the tools that make them for real, and refused by the installed command.

Model: a trial draws what lies on an image (a file system, swap, a set's member, a table, bare data, nothing), what happened to its beginning
(nothing, or zeros over the first superblock), how it is used (idle, mounted below, beside or above, swapped to, open in another program,
behind a loop device), and what is typed. From these follows what has to come: refused with the image untouched, or allowed. Loop devices of
the test's own only; needs root. A tool that is missing skips its kind of contents.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest

from long import superblocks
from long.settings import Scale
from long.tally import Tally
from support.patience import HANGS_S
from support.said import Said

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="loop devices and mounts need root")

_MIB = 1 << 20
QUICK = ("--duration", "100ms", "--warmup", "0")
WORDS = ("none", "bare", "wrong", "right")


@dataclass(frozen=True)
class Contents:
    """What is on an image: the tool that puts it there, and the word by which it has to be named."""

    name: str
    word: str
    tool: str
    make: Callable[[str, Random], None]
    mib: int = 64
    mounts: bool = False
    swaps: bool = False
    beheaded: str | None = None


def _command(*words: str) -> Callable[[str, Random], None]:
    return lambda path, draws: _said(*words, path)


def _said(*words: str) -> str:
    return subprocess.run(words, check=True, capture_output=True, text=True, timeout=HANGS_S).stdout.strip()


def _ext4(path: str, draws: Random) -> None:
    _said("mkfs.ext4", "-qF", "-b", str(draws.choice((1024, 4096))), path)


def _table(label: str) -> Callable[[str, Random], None]:
    def make(path: str, draws: Random) -> None:
        script = f"label: {label}\nstart={2048 * draws.randint(1, 4)}, size=20000\n"
        subprocess.run(["sfdisk", "--quiet", path], input=script, check=True, capture_output=True, text=True, timeout=HANGS_S)

    return make


def _bytes(somewhere: bool, content: Callable[[Random, int], bytes]) -> Callable[[str, Random], None]:
    """Bare data: over all of it, or eight megabytes somewhere."""

    def make(path: str, draws: Random) -> None:
        size = os.path.getsize(path)
        length = 8 * _MIB if somewhere else size
        with open(path, "r+b") as file:
            file.seek(draws.randrange(0, (size - length) // 512 + 1) * 512)
            file.write(content(draws, length))

    return make


def _encrypted(path: str, draws: Random) -> None:
    words = ("cryptsetup", "luksFormat", "--batch-mode", "--pbkdf", "pbkdf2", "--pbkdf-force-iterations", "1000", "--key-file", "-")
    subprocess.run([*words, path], input=b"a key", check=True, capture_output=True, timeout=HANGS_S)


#: Members of sets. Those with something at their end are known without their beginning.
SETS = (
    Contents("LVM physical volume", "LVM2", "pvcreate", superblocks.physical_volume(), beheaded="LVM2"),
    Contents("LVM physical volume in a group", "LVM2", "vgcreate", superblocks.physical_volume(group=True), beheaded="LVM2"),
    Contents("LVM physical volume with two copies", "LVM2", "pvcreate", superblocks.physical_volume(copies=2), beheaded="LVM2"),
    Contents("Linux RAID 0.90", "Linux RAID", "true", superblocks.linux_raid("0.90"), beheaded="Linux RAID"),
    Contents("Linux RAID 1.0", "Linux RAID", "true", superblocks.linux_raid("1.0"), beheaded="Linux RAID"),
    Contents("Linux RAID 1.1", "Linux RAID", "true", superblocks.linux_raid("1.1")),
    Contents("Linux RAID 1.2", "Linux RAID", "true", superblocks.linux_raid("1.2"), beheaded="Linux RAID"),
    Contents("DDF", "DDF RAID", "true", superblocks.ddf, beheaded="DDF RAID"),
    Contents("Intel RAID", "Intel RAID", "true", superblocks.intel_raid, beheaded="Intel RAID"),
    Contents("bcache", "bcache", "true", superblocks.bcache, beheaded="bcache"),
    Contents("ZFS", "ZFS member", "true", superblocks.zfs, beheaded="ZFS member"),
)

CONTENTS = (
    Contents("nothing", "", "true", lambda path, draws: None),
    Contents("ext4", "ext2/3/4", "mkfs.ext4", _ext4, mounts=True, beheaded="carries"),
    Contents("ext2 of 300 MiB", "ext2/3/4", "mkfs.ext2", _command("mkfs.ext2", "-qF"), mib=300, mounts=True, beheaded="ext2/3/4"),
    Contents("external journal", "journal of ext3/4", "mkfs.ext4", _command("mkfs.ext4", "-qF", "-O", "journal_dev")),
    Contents("xfs", "xfs", "mkfs.xfs", _command("mkfs.xfs", "-qf"), mib=320, mounts=True, beheaded="xfs"),
    Contents("btrfs", "btrfs", "mkfs.btrfs", _command("mkfs.btrfs", "-qf"), mib=128, mounts=True, beheaded="btrfs"),
    Contents("f2fs", "f2fs", "mkfs.f2fs", _command("mkfs.f2fs", "-q", "-f"), mib=100, beheaded="carries"),
    Contents("swap", "swap", "mkswap", _command("mkswap", "-q"), swaps=True),
    Contents("LUKS", "LUKS", "cryptsetup", _encrypted, beheaded="LUKS"),
    *SETS,
    Contents("GPT", "GPT", "sfdisk", _table("gpt"), beheaded="GPT"),
    Contents("MBR", "MBR", "sfdisk", _table("dos")),
    Contents("noise", "not zeros", "true", _bytes(False, lambda draws, length: draws.randbytes(length)), beheaded="not zeros"),
    Contents("bytes of 1", "not zeros", "true", _bytes(False, lambda draws, length: b"\1" * length), beheaded="not zeros"),
    Contents("text in one place", "not zeros", "true", _bytes(True, lambda draws, length: b"dear reader," * (length // 12))),
)

#: How an image is used while a run asks for it. All but the first are refused whatever is typed.
USES = (
    "idle",
    "mounted below",
    "mounted beside",
    "mounted",
    "swap beside",
    "behind a loop device",
    "linked behind a loop device",
    "open elsewhere",
)


def _uses_of(contents: Contents) -> list[str]:
    kinds = {"mounted": contents.mounts, "swap": contents.swaps}
    return [use for use in USES if kinds.get(use.split()[0], True)]


@contextmanager
def _attached(*arguments: str) -> Iterator[str]:
    device = _said("losetup", "--find", "--show", *arguments)
    try:
        yield device
    finally:
        subprocess.run(["losetup", "--detach", device], check=False, capture_output=True)


@contextmanager
def _mounted(device: str, point: Path) -> Iterator[None]:
    point.mkdir()
    # Read-only is mounted, too, and a mounted file system writes when it likes.
    _said("mount", "-o", "ro", device, str(point))
    try:
        yield
    finally:
        subprocess.run(["umount", str(point)], check=False)
        point.rmdir()


@contextmanager
def _swapped(device: str) -> Iterator[None]:
    _said("swapon", device)
    try:
        yield
    finally:
        subprocess.run(["swapoff", device], check=False)


@contextmanager
def _open_elsewhere(device: str) -> Iterator[None]:
    with open(device, "r+b") as file, subprocess.Popen(["sleep", "3600"], stdin=file, start_new_session=True) as program:
        file.close()
        try:
            yield
        finally:
            program.kill()


def _target(use: str, image: Path, stack: ExitStack) -> str:
    """Brings the image into use; the path that the run is then given."""
    if use == "open elsewhere":
        device = stack.enter_context(_attached(str(image)))
        stack.enter_context(_open_elsewhere(device))
        return device
    lower = stack.enter_context(_attached(str(image)))
    if use.startswith("mounted"):
        stack.enter_context(_mounted(lower, image.with_suffix(".mounted")))
    if use == "swap beside":
        stack.enter_context(_swapped(lower))
    if use == "linked behind a loop device":
        link = image.with_suffix(".link")
        os.link(image, link)
        stack.callback(link.unlink)
        return str(link)
    offset = "--offset=1M"
    others = {
        "mounted below": lambda: stack.enter_context(_attached(offset, lower)),
        "mounted beside": lambda: stack.enter_context(_attached(offset, str(image))),
        "swap beside": lambda: stack.enter_context(_attached(str(image))),
        "behind a loop device": lambda: str(image),
    }
    return others.get(use, lambda: lower)()


def _typed(word: str, target: str) -> tuple[str, ...]:
    return {"none": (), "bare": ("--destroy-data",), "wrong": ("--destroy-data=WD-0000",)}.get(word, (f"--destroy-data={target}",))


def _fingerprint(image: Path) -> str:
    with image.open("rb") as file:
        return hashlib.file_digest(file, "blake2b").hexdigest()


def _made(contents: Contents, image: Path, draws: Random, *, beheaded: bool, odd_bytes: int = 0) -> None:
    with image.open("wb") as file:
        file.truncate(contents.mib * _MIB + odd_bytes)
    contents.make(str(image), draws)
    if beheaded:
        with image.open("r+b") as file:
            file.write(bytes(4096 if contents.beheaded != "carries" else 2048))


@pytest.mark.parametrize("odd_bytes", (0, 3 * 512, 5 * 4096 + 512))
@pytest.mark.parametrize(
    "contents", [contents for contents in CONTENTS if contents in SETS or contents.name == "LUKS"], ids=lambda of: of.name
)
def test_every_member_of_a_set_is_known_with_and_without_its_beginning(
    contents: Contents, odd_bytes: int, plimsoll: Callable[..., Said], tmp_path: Path, draws: Random
) -> None:
    if not shutil.which(contents.tool):
        pytest.skip(f"there is no {contents.tool} here")
    image = tmp_path / "image"
    for beheaded in (False, True) if contents.beheaded else (False,):
        _made(contents, image, draws, beheaded=beheaded, odd_bytes=odd_bytes)
        before = _fingerprint(image)
        ended = plimsoll("run", "random-write-4k", "-t", str(image), "--destroy-data", *QUICK)
        assert ended.code == 3 and _fingerprint(image) == before, ended
        assert contents.word in ended.err, ended.err


@pytest.mark.skipif(shutil.which("mdadm") is None, reason="there is no mdadm here")
@pytest.mark.parametrize("version", ("0.90", "1.0", "1.1", "1.2"))
def test_the_superblocks_that_are_written_here_are_what_mdadm_takes_for_its_own(version: str, tmp_path: Path, draws: Random) -> None:
    image = tmp_path / "image"
    _made(Contents("raid", "", "true", superblocks.linux_raid(version)), image, draws, beheaded=False)
    with _attached(str(image)) as device:
        said = _said("mdadm", "--examine", device)
    assert f"Version : {version}" in said and "raid1" in said and "- correct" in said, said


def test_unsafe_targets_are_refused_and_safe_ones_are_written(
    plimsoll: Callable[..., Said], tmp_path: Path, draws: Random, scale: Scale, tally: Tally
) -> None:
    there = [contents for contents in CONTENTS if shutil.which(contents.tool)]
    wrong, refused, allowed = [], 0, 0
    for number in range(scale.times(180, least=12)):
        contents = there[number % len(there)]
        use = "idle" if draws.random() < 0.4 else draws.choice(_uses_of(contents))
        beheaded = use == "idle" and contents.beheaded is not None and draws.random() < 0.5
        word, image = draws.choice(WORDS), tmp_path / f"image{number}"
        _made(contents, image, draws, beheaded=beheaded)
        with ExitStack() as stack:
            target = _target(use, image, stack)
            before = _fingerprint(image)
            ended = plimsoll("run", "random-write-4k", "-t", target, *_typed(word, target), *QUICK)
            # The kernel may swap to what it was given, whatever Plimsoll does.
            unharmed = use == "swap beside" or _fingerprint(image) == before
        image.unlink()
        may = use == "idle" and (word == "right" or (word == "bare" and contents.name == "nothing"))
        right = ended.code == 0 and not unharmed if may else ended.code == 3 and unharmed
        known = contents.beheaded if beheaded else contents.word
        named = may or (use != "idle" and "will not be written to" in ended.err) or word == "wrong" or (known or "") in ended.err
        tally.count(f"unsafe target: {contents.name}", survived=right, named=named)
        refused, allowed = refused + (right and not may), allowed + (right and may)
        if not (right and named):
            wrong.append(f"{number}: {contents.name}, beheaded {beheaded}, {use}, {word}: {ended.code}, unharmed {unharmed}: {ended.err}")
    print(f"unsafe targets: tried {refused + allowed + len(wrong)}, refused {refused}, allowed rightly {allowed}", file=sys.stderr)
    assert not wrong, "\n".join(wrong)
