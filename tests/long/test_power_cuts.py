"""Two hundred power cuts under real runs: storage that keeps its word is never accused, every promise that was broken is named.

Model: `crates/faultfs` keeps what is not durable in memory. A run with ``verify = "journal"`` writes on it; at a seeded moment the power is
cut, the run is killed, and ``journal-check`` looks. What it has to name is found here in another way: from the bytes of the journal and those
that lie below the mount, sector by sector.
"""

from __future__ import annotations

import json
import struct
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest

from long.conftest import COMMAND
from long.fault_mount import FaultMount, unavailable
from long.settings import Scale
from long.tally import Tally
from support.patience import wait_until
from support.said import Said

pytestmark = pytest.mark.skipif(unavailable() is not None, reason=unavailable() or "")

CUTS = 200
SIZE_BYTES = 1 << 20
SECTOR = 512
RECORD = struct.Struct("<4sB3x5Q12xI")
STAMP = struct.Struct("<8sIIQQQQQ")
DURABLE = ("dsync = true", "flush_every = 8", "flush_every = 64\nthreads = 2")
STREAM = '[[stream]]\nname = "log"\nread_percent = 0\nblock_size = "4KiB-16KiB"\nalign = "4KiB"\nqueue_depth = 8\ndirect = false\n'


@dataclass
class Bench:
    """A mount with a file to write on, and the command."""

    mount: FaultMount
    place: Path
    plimsoll: Callable[..., Said]
    cuts: int = 0

    def cut(self, draws: Random, *, lies: bool) -> tuple[Said, set[int]]:
        """One cut: what journal-check said, and the numbers of the writes that it has to name."""
        self.cuts += 1
        target = self.mount.at / "t.dat"
        # No stamp of an earlier run is left, and everything that is there is durable.
        self.mount.volatile(0)
        target.write_bytes(bytes(SIZE_BYTES))
        self.mount.volatile(64 << 20)
        workload, journal = self.place / "w.toml", self.place / f"{self.cuts}.journal"
        workload.write_text(STREAM + draws.choice(DURABLE) + "\n")
        rule = self.mount.arm("reordered", probability=draws.choice((0.1, 1.0)), seed=draws.randrange(1 << 30)) if lies else None
        words = [COMMAND, "run", str(workload), "-t", str(target), f"--destroy-data={target}", "-d", "1h", "-w", "0s", "-q"]
        words += ["--set", "verify=journal", "--set", f"journal={journal}"]
        records = 2 + draws.randrange(400)
        with subprocess.Popen(words, cwd=self.place, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
            wait_until(lambda: (journal.exists() and journal.stat().st_size > 64 * records) or run.poll() is not None, "the journal grows")
            assert run.poll() is None, "the run ended before the power was cut"
            cut = {"keep": draws.choice((0.0, 0.5, 0.9)), "tear": draws.random(), "tear_bytes": draws.choice((512, 4096))}
            self.mount.cut(dark=True, seed=draws.randrange(1 << 30), **cut)
            run.kill()
        self.mount.light()
        if rule is not None:
            self.mount.disarm(rule)
        self.mount.volatile(0)
        broken = broken_promises(journal.read_bytes(), (self.mount.backing / "t.dat").read_bytes())
        check = ("--set", "verify=journal-check", "--set", f"journal={journal}")
        return self.plimsoll("run", str(workload), "-t", str(target), "-q", "--json", *check), broken


def broken_promises(journal: bytes, target: bytes) -> set[int]:
    """The acknowledged writes of which some sector holds something older, by their numbers."""
    run = RECORD.unpack_from(journal)[2]
    promised: dict[int, int] = {}
    for at in range(64, len(journal) - 63, 64):
        magic, kind, sequence, address, length, _, _, _ = RECORD.unpack_from(journal, at)
        assert magic == b"PLJ1"
        if kind == 2:
            for place in range(address, address + length, SECTOR):
                promised[place] = max(promised.get(place, 0), sequence)
    broken = set()
    for place, sequence in promised.items():
        magic, _, _, stamped, address, _, _, found = STAMP.unpack_from(target, place)
        if (magic, stamped, address) != (b"PLIMSOLL", run, place) or found < sequence:
            broken.add(sequence)
    return broken


@pytest.fixture
def bench(tmp_path: Path, plimsoll: Callable[..., Said]) -> Iterator[Bench]:
    place = tmp_path / "place"
    place.mkdir()
    with FaultMount(tmp_path) as mount:
        yield Bench(mount, place, plimsoll)


def named(said: Said) -> set[int]:
    (result,) = json.loads(said.out)["results"]
    return {one["sequence"] for one in result["engine"]["journal"]["violations"]}


def acknowledged(said: Said) -> int:
    (result,) = json.loads(said.out)["results"]
    return int(result["engine"]["journal"]["acknowledged"])


def test_storage_that_keeps_its_word_is_never_accused(bench: Bench, draws: Random, scale: Scale, tally: Tally) -> None:
    promises = 0
    for _ in range(scale.times(CUTS // 2, least=2)):
        said, broken = bench.cut(draws, lies=False)
        assert not broken, "the file system of the test did not keep its word"
        tally.count("power cut: word kept", survived=said.code == 0, named=None)
        assert said.code == 0, said
        assert named(said) == set()
        promises += acknowledged(said)
    assert promises > 0


def test_every_promise_that_a_cut_broke_is_named(bench: Bench, draws: Random, scale: Scale, tally: Tally) -> None:
    lied = tried = 0
    # Whether a cut meets a promise that is not kept yet is chance: of a few cuts, none may.
    while tried < scale.times(CUTS // 2, least=4) or (not lied and tried < CUTS // 2):
        tried += 1
        said, broken = bench.cut(draws, lies=True)
        told = named(said)
        tally.count("power cut: word broken", survived=said.code == (6 if broken else 0), named=told == broken)
        assert told == broken, said
        assert said.code == (6 if broken else 0), said
        lied += bool(broken)
    assert lied > 0, "no cut broke a promise, so nothing was tried"


def test_a_forged_promise_is_found_out(bench: Bench, draws: Random) -> None:
    """Planted: a journal that claims one write more than the target ever acknowledged."""
    said, _ = bench.cut(draws, lies=False)
    assert said.code == 0
    target, journal = bench.mount.at / "t.dat", bench.place / "1.journal"
    # Any place does: whether the run wrote there before it was killed is chance, and what it wrote is older than the promise.
    address = draws.randrange(0, SIZE_BYTES, 4096)
    with journal.open("ab") as file:
        file.truncate(journal.stat().st_size // 64 * 64)
        body = struct.pack("<4sB3x5Q12x", b"PLJ1", 2, 1 << 40, address, 4096, 1 << 40, 0)
        file.write(body + struct.pack("<I", crc32c(body)))
    words = ("--set", "verify=journal-check", "--set", f"journal={journal}")
    said = bench.plimsoll("run", str(bench.place / "w.toml"), "-t", str(target), "-q", "--json", *words)
    assert (said.code, named(said)) == (6, {1 << 40})


def crc32c(text: bytes) -> int:
    """The Castagnoli checksum, bit by bit (RFC 3720, appendix B.4)."""
    crc = 0xFFFFFFFF
    for byte in text:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def test_a_truncated_last_record_accuses_nobody(bench: Bench, draws: Random) -> None:
    said, _ = bench.cut(draws, lies=False)
    journal = bench.place / "1.journal"
    whole = journal.stat().st_size
    for size in (whole - 1, whole - 63, 64):
        with journal.open("r+b") as file:
            file.truncate(size)
        words = ("--set", "verify=journal-check", "--set", f"journal={journal}")
        assert bench.plimsoll("run", str(bench.place / "w.toml"), "-t", str(bench.mount.at / "t.dat"), "-q", *words).code == 0
    assert said.code == 0
