"""Inside the virtual machine: layouts on a kernel that has md, device mapper and partitions, on six disks of its own.

Every layout is made, loaded, compared with what the kernel says of it, and taken away; then each is killed at every program that it
calls. Runs as the machine's only task; prints a line per check and what it is at twice a minute, and ends with 1 at the first check that
fails. A command is a process of its own that has imported Plimsoll before, since the emulated processor takes seconds for that. Parts to
run are named by ``PLIMSOLL_VM_PARTS=whole,kills`` of the host, layouts by ``PLIMSOLL_VM_LAYOUTS=raid5``.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

# What commands import before they do something.
from plimsoll.__main__ import main as plimsoll_main
from plimsoll.engine.block import native
from plimsoll.engine.paths import signatures

DISKS = [f"/dev/vd{letter}" for letter in "bcdefg"]
#: A disk beside the members: nothing may touch it.
NEIGHBOUR = "/dev/vdh"
PROGRAMS = (
    *("wipefs", "sfdisk", "mdadm", "cryptsetup", "blockdev", "mkfs.xfs", "mkfs.ext4", "mkfs.btrfs", "mkdir", "mount"),
    *("pvcreate", "vgcreate", "lvcreate"),
)
WRAPPER = """#!/bin/sh
count=$(($(cat "$CALLS" 2>/dev/null || echo 0) + 1)); echo $count > "$CALLS"
[ "$count" -eq "${KILL_AT:-0}" ] || exec {real} "$@"
case $WHEN in
    before) kill -9 $PPID ;;
    during) {real} "$@" & kill -9 $PPID; kill -9 $! ;;
    after) {real} "$@"; kill -9 $PPID ;;
esac
"""
XFS = '[filesystem]\ntype = "xfs"\n'
EXT4 = '[filesystem]\ntype = "ext4"\n'


def raid(level: str, chunk: str = "64KiB") -> str:
    return f'[[layer]]\nkind = "raid"\nlevel = "{level}"\nchunk = "{chunk}"\n'


STRIPE = '[[layer]]\nkind = "lvm"\nstripe_size = "64KiB"\nvolumes = [{ name = "data", size = "50%" }, { name = "work", size = "50%" }]\n'
MIRRORS = """[[layer]]
kind = "lvm"
type = "mirrored"
volumes = [{ name = "data", size = "50%" }, { name = "work", size = "50%" }]
"""
SUITE = """title = "Which carving carries more"
[[experiment]]
name = "carving"
kind = "steps"
workloads = ["oltp-db"]
over = { threads = [1, 2] }
configurations = [
    { layout = "/run/raid0.toml" },
    { layout = "/run/raid10.toml" },
    { layout = "/run/lvm-linear.toml", on = ["/dev/vdf", "/dev/vdg"] },
    { layout = "/run/raid50-xfs.toml", on = ["/dev/vdb", "/dev/vdc", "/dev/vdd", "/dev/vde", "/dev/vdf", "/dev/vdg"] },
]
interleave = true
set = { duration = "1s", warmup = 0, size = "16MiB" }
"""
LAYOUTS = {
    "raid0": (4, raid("0") + XFS),
    "raid1": (2, raid("1") + XFS),
    "raid10": (4, raid("10") + XFS),
    "raid5": (4, raid("5") + EXT4),
    "raid6": (5, raid("6") + XFS),
    "raid50": (6, raid("5") + "devices = 3\n" + raid("0")),
    "partitions": (1, '[[layer]]\nkind = "partitions"\ncount = 2\n' + EXT4),
    "encrypted": (1, '[[layer]]\nkind = "encryption"\n' + XFS),
    "encrypted-stripe": (4, '[[layer]]\nkind = "encryption"\n' + STRIPE + XFS),
    "lvm-stripe": (6, STRIPE + XFS + '[settings]\nread_ahead = "8MiB"\nscheduler = "mq-deadline"\nnr_requests = 64\n'),
    "lvm-linear": (2, '[[layer]]\nkind = "lvm"\ntype = "linear"\n' + EXT4),
    "lvm-mirror": (2, '[[layer]]\nkind = "lvm"\ntype = "mirrored"\n' + XFS),
    "lvm-mirrors": (4, MIRRORS + '[settings]\ndirty_ratio = 40\ndirty_background_ratio = 5\nswappiness = 10\nmax_request = "128KiB"\n'),
}
WHENS = ("before", "during", "after")
#: Those that are killed before, during and after every program; the others at every program, in turn before, during and after it.
THOROUGHLY = ("raid5", "encrypted")
#: How long a command may take on a host that is busy: it is emulated, and shares its processors.
HANGS_S = 3600
BEGAN = time.monotonic()
#: What is under way, for who waits.
AT = Path("/run/at")


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


def main() -> int:
    native()
    os.chdir("/run")
    # A process, so that no thread of ours is in the middle of something when a command begins.
    if os.fork() == 0:
        _tell()
    wanted = _told("parts")
    for name, part in (("whole", _wholes), ("beside", _beside_partitions), ("suite", _suite), ("doctor", _doctors), ("kills", _kills)):
        if name in (wanted or [name]):
            part()
    return 0


def _told(what: str) -> list[str]:
    """Names that the host gave on the kernel's command line; none where it gave none."""
    words = dict(word.split("=", 1) for word in Path("/proc/cmdline").read_text().split() if "=" in word)
    return [name for name in words.get(f"plimsoll.{what}", "").split(",") if name]


def _layouts() -> dict[str, tuple[int, str]]:
    wanted = _told("layouts")
    return {name: layout for name, layout in LAYOUTS.items() if name in (wanted or [name])}


def _tell() -> None:
    parent = os.getppid()
    while os.getppid() == parent:
        time.sleep(30)
        print(f"…       {time.monotonic() - BEGAN:.0f} s: {AT.read_text() if AT.exists() else 'begin'}", flush=True)
    os._exit(0)


def _done(what: str, began: float) -> None:
    print(f"{what}  {time.monotonic() - began:.0f} s", flush=True)


def _wholes() -> None:
    for name, (count, text) in _layouts().items():
        began = time.monotonic()
        _whole(name, DISKS[:count], text)
        _done(f"whole   {name}", began)


def _kills() -> None:
    wrapped = _wrappers()
    for turn, (name, (count, text)) in enumerate(_layouts().items()):
        for whens in [(when,) for when in WHENS] if name in THOROUGHLY else [WHENS[turn % 3 :] + WHENS[: turn % 3]]:
            began = time.monotonic()
            kills = _killed(name, count, text, whens, wrapped)
            _done(f"killed  {name} {', '.join(whens)}: {kills} programs", began)


def _beside_partitions() -> None:
    """A layout on the second partition of disks: what lies before and behind it stays as it is, byte for byte."""
    began = time.monotonic()
    for disk in DISKS[:2]:
        _run("sfdisk", "--quiet", disk, text="label: gpt\nstart=2048, size=65536\nsize=819200\nsize=65536\n")
        for part in (f"{disk}1", f"{disk}3"):
            with open(part, "wb") as file:
                file.write(os.urandom(1 << 20) * 32)
    outside = [_hash(disk, without=_extent(f"{disk}2")) for disk in DISKS[:2]]
    members = [f"{disk}2" for disk in DISKS[:2]]
    done = _applied("beside", members, '[[layer]]\nkind = "lvm"\n' + XFS)
    _expect(done.returncode == 0, f"a layout is made on partitions: {done.stderr}")
    _load("beside", json.loads(_layout("show", "beside", "--json").stdout)["volumes"][0]["path"])
    undone = _layout("undo", "beside", "--yes")
    _expect(undone.returncode == 0, f"a layout on partitions is taken away: {undone.stderr}")
    _expect([signatures(member) for member in members] == [[], []], "the partitions have no signature")
    _expect([_hash(disk, without=_extent(f"{disk}2")) for disk in DISKS[:2]] == outside, "what lies beside the partitions is as it was")
    for disk in DISKS[:2]:
        _run("sfdisk", "--quiet", "--delete", disk)
        _run("wipefs", "--quiet", "--all", disk)
        with open(disk, "wb") as file:
            file.write(bytes(1 << 20) * 512)
    _done("beside  partitions", began)


def _suite() -> None:
    """Carvings of the same disks compared by one command, which is killed between and goes on."""
    began = time.monotonic()
    for name in ("raid0", "raid10", "lvm-linear"):
        Path(f"/run/{name}.toml").write_text(LAYOUTS[name][1])
    Path("/run/raid50-xfs.toml").write_text(LAYOUTS["raid50"][1] + XFS)
    Path("/run/mine.toml").write_text(SUITE)
    words = ("suite", "/run/mine.toml", "--on", ",".join(DISKS[:4]), f"--destroy-data={','.join(DISKS)}", "-o", "/run/runs")
    killed = _called(*words, KILL_BEGUN="4")
    _expect(killed.returncode == -9, f"the suite was killed: {killed.stderr}")
    _expect("left behind by" in _layout("list").stdout, "what the killed suite left is told")
    done = _called(*words, "--json")
    _expect(done.returncode == 0, f"the suite goes on: {done.stderr}")
    results = json.loads(done.stdout)["results"]
    _expect([result["status"] for result in results] == ["complete"] * 8, f"every point is there: {done.stdout[:2000]}")
    sides = [result["place"]["configuration"] for result in results]
    _expect(sides == ["raid0", "raid10", "lvm-linear", "raid50-xfs"] * 2, f"sides take turns: {sides}")
    compared = _called("compare", os.path.join("/run/runs", os.listdir("/run/runs")[0]))
    _expect(compared.returncode == 0 and "layout raid50-xfs" in compared.stdout, f"sides are compared: {compared.stdout}{compared.stderr}")
    _clean("the suite")
    _done("suite   killed, went on, compared", began)


def _doctors() -> None:
    """What the doctor says of RAID and stripes that the kernel and lvs describe, whole and degraded."""
    began = time.monotonic()
    for name, volume, said in (
        (
            "lvm-stripe",
            "/mnt/plimsoll/lvm-stripe/data",
            {"stripes": ("ok", "knows the stripes below it (6 × 64 KiB)"), "read_ahead": ("ok", "")},
        ),
        ("lvm-mirror", "/mnt/plimsoll/lvm-mirror", {"raid": ("ok", "(raid1) is whole and synchronised")}),
        ("raid1", "/mnt/plimsoll/raid1", {"raid": ("ok", "(raid1 of 2 devices) is whole")}),
    ):
        count, text = LAYOUTS[name]
        _expect(_applied(name, DISKS[:count], text).returncode == 0, f"{name} is made")
        _judged(volume, said)
        if name == "raid1":
            _run("mdadm", "--quiet", "/dev/md/plimsoll-raid1", "--fail", DISKS[1])
            _judged(volume, {"raid": ("warn", "has lost 1 device")})
        undone = _layout("undo", name, "--yes")
        _expect(undone.returncode == 0, f"{name} is taken away: {undone.stderr}")
        _clean(name)
    _done("doctor  stripes, mirrors, a lost device", began)


def _judged(target: str, said: Mapping[str, tuple[str, str]]) -> None:
    done = _called("doctor", "-t", target, "--json")
    checks = json.loads(done.stdout)
    for name, (status, words) in said.items():
        found = [check for check in checks if check["name"] == name]
        _expect(any(check["status"] == status and words in check["finding"] for check in found), f"{target}: {name} is {status}: {found}")


def _extent(part: str) -> tuple[int, int]:
    """Where a partition begins and ends, in bytes of its disk."""
    start, size = (int(Path(f"/sys/class/block/{Path(part).name}/{name}").read_text()) * 512 for name in ("start", "size"))
    return start, start + size


def _load(name: str, volume: str) -> dict[str, object]:
    """What is measured on a volume: reads and writes for seconds."""
    place = [f"{volume}/plimsoll-scratch.dat", "--size", "16MiB"] if os.path.isdir(volume) else [volume, f"--destroy-data={volume}"]
    run = _called("run", "oltp-db", "-t", *place, "-d", "2s", "-w", "0", "-q", "--json")
    _expect(run.returncode == 0, f"{name} is measured: {run.stderr}")
    result: dict[str, object] = json.loads(run.stdout)["results"][0]
    return result


def _whole(name: str, disks: Sequence[str], text: str) -> None:
    beside = _hash(NEIGHBOUR)
    done = _applied(name, disks, text)
    _expect(done.returncode == 0, f"{name} is made: {done.stderr}")
    plan = json.loads(_layout("show", name, "--json").stdout)
    _expect(plan["complete"], f"{name} is complete")
    result = _load(name, plan["volumes"][0]["path"])
    _expect(result["host"]["target"]["layout"]["name"] == name, f"the result names {name}")  # type: ignore[index]
    _stripes(name, plan)
    undone = _layout("undo", name, "--yes")
    _expect(undone.returncode == 0, f"{name} is taken away: {undone.stderr}")
    _clean(name)
    _expect(_hash(NEIGHBOUR) == beside, "the disk beside is as it was")


def _stripes(name: str, plan: dict[str, object]) -> None:
    """What the kernel and the file system say of the stripes is what the plan said."""
    if name == "lvm-stripe":
        said = subprocess.run(["xfs_info", "/mnt/plimsoll/lvm-stripe/data"], capture_output=True, text=True, check=True).stdout
        _expect("sunit=16     swidth=96 blks" in said, f"xfs has stripes of 6 x 64 KiB: {said}")
        read_ahead = subprocess.run(["blockdev", "--getra", "/dev/plimsoll-lvm-stripe/data"], capture_output=True, text=True, check=True)
        _expect(read_ahead.stdout.strip() == "16384", "read-ahead of the volume is 8 MiB")
        _expect(Path("/sys/block/vdb/queue/nr_requests").read_text().strip() == "64", "nr_requests is set")
    if name == "lvm-mirrors":
        _expect(Path("/proc/sys/vm/dirty_ratio").read_text().strip() == "40", "the share of dirty pages is set")
        _expect(Path("/sys/block/vdb/queue/max_sectors_kb").read_text().strip() == "128", "the largest request is set")
        said = subprocess.run(
            ["lvs", "--noheadings", "--options", "segtype,copy_percent"], capture_output=True, text=True, check=True
        ).stdout
        _expect(said.split() == ["raid1", "100.00"] * 2, f"two mirrors, and nothing synchronises them: {said}")
    if name == "raid5":
        said = Path("/proc/mdstat").read_text()
        _expect("64k chunk" in said and "[4/4] [UUUU]" in said and "resync" not in said, f"RAID 5 is whole and synchronised: {said}")


def _killed(name: str, count: int, text: str, whens: Sequence[str], wrapped: str) -> int:
    calls = Path("/run/calls")
    for at in range(1, 100):
        when = whens[at % len(whens)]
        calls.unlink(missing_ok=True)
        killed = _applied(name, DISKS[:count], text, PATH=f"{wrapped}:{os.environ['PATH']}", CALLS=str(calls), KILL_AT=str(at), WHEN=when)
        undone = _layout("undo", name, "--yes")
        _expect(undone.returncode == 0, f"{name}, killed {when} program {at}: {undone.stderr}")
        _clean(f"{name}, killed {when} program {at}")
        if killed.returncode == 0:
            return at - 1
        _expect(killed.returncode == -9, f"{name} was killed: {killed.stderr}")
    raise AssertionError(f"{name} never ended")


def _clean(what: str) -> None:
    for disk in DISKS:
        _expect(signatures(disk) == [], f"{what}: {disk} has no signature: {signatures(disk)}")
        _expect(not list(Path(f"/sys/block/{Path(disk).name}/holders").iterdir()), f"{what}: nothing holds {disk}")
    _expect("/mnt/plimsoll" not in Path("/proc/self/mounts").read_text(), f"{what}: nothing is mounted")
    _expect(not os.path.exists("/mnt/plimsoll"), f"{what}: no directory is left")
    _expect("plimsoll" not in Path("/proc/mdstat").read_text() if os.path.exists("/proc/mdstat") else True, f"{what}: no array is left")
    _expect(not list(_mapped()), f"{what}: nothing is mapped: {list(_mapped())}")
    _expect(not os.path.exists("/var/lib/plimsoll/layouts"), f"{what}: no notes are left")
    _expect(_settings() == BEFORE, f"{what}: settings are as they were: {_settings()}")


def _mapped() -> Iterator[str]:
    return (name for name in os.listdir("/dev/mapper") if name != "control") if os.path.isdir("/dev/mapper") else iter(())


def _settings() -> list[str]:
    """What layouts set: of the queues of the disks, and of the host."""
    queues = [f"/sys/block/{Path(disk).name}/queue/{name}" for disk in DISKS for name in ("read_ahead_kb", "nr_requests", "max_sectors_kb")]
    host = [f"/proc/sys/vm/{name}" for name in ("dirty_ratio", "dirty_bytes", "dirty_background_ratio", "swappiness")]
    return [Path(path).read_text().strip() for path in (*queues, *host)]


BEFORE = _settings()


def _applied(name: str, disks: Sequence[str], text: str, **environment: str) -> Done:
    file = Path(f"/run/{name}.toml")
    file.write_text(text)
    return _called("layout", "apply", str(file), "--on", ",".join(disks), f"--destroy-data={','.join(disks)}", **environment)


def _layout(*words: str) -> Done:
    return _called("layout", *words)


def _called(*words: str, **environment: str) -> Done:
    """A command of Plimsoll in a process of its own."""
    AT.write_text(" ".join(["plimsoll", *words[:3], *(f"{key}={environment[key]}" for key in ("KILL_AT", "WHEN") if key in environment)]))
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            os.dup2(out.fileno(), 1)
            os.dup2(err.fileno(), 2)
            os.environ.update(environment)
            signal.alarm(HANGS_S)
            if "KILL_BEGUN" in environment:
                _killed_when_begun(int(environment["KILL_BEGUN"]))
            sys.argv = ["plimsoll", *words]
            os._exit(_answered())
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        for file in (out, err):
            file.seek(0)
        return Done(status, out.read(), err.read())


def _killed_when_begun(point: int) -> None:
    """The process is killed when so many of its points are stored as begun."""
    if os.fork():
        return
    while len(list(Path("/run/runs").glob("*/points/*"))) < point:
        time.sleep(0.2)
    time.sleep(0.5)
    os.kill(os.getppid(), signal.SIGKILL)
    os._exit(0)


def _answered() -> int:
    try:
        code = plimsoll_main()
    except SystemExit as end:
        code = int(end.code or 0)
    except BaseException:
        traceback.print_exc()
        code = 70
    sys.stdout.flush()
    sys.stderr.flush()
    return code


def _run(*words: str, text: str | None = None) -> None:
    AT.write_text(" ".join(words))
    subprocess.run(words, input=text, text=True, check=True, timeout=HANGS_S)


def _wrappers() -> str:
    folder = Path("/run/wrapped")
    folder.mkdir()
    for program in PROGRAMS:
        wrapper = folder / program
        wrapper.write_text(WRAPPER.replace("{real}", str(shutil.which(program))))
        wrapper.chmod(0o755)
    return str(folder)


def _hash(path: str, without: tuple[int, int] = (0, 0)) -> str:
    """Of what a disk holds, but for the bytes from one offset to another."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        at = 0
        while chunk := file.read(1 << 20):
            begin, end = (min(max(place - at, 0), len(chunk)) for place in without)
            digest.update(chunk[:begin] + chunk[end:])
            at += len(chunk)
    return digest.hexdigest()


def _expect(holds: bool, what: str) -> None:
    if not holds:
        print(f"FAILED  {what}", flush=True)
        sys.exit(1)


if __name__ == "__main__":
    sys.exit(main())
