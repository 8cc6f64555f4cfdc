#!/usr/bin/env python3
"""Instructions that the worker loop takes per request, counted by callgrind and held against those of before.

Model: a loop runs for a short and for a longer time; what the second takes more, by its requests more, is a request's share, without
start and end. Counts hardly suffer from other load; how many requests share the work of an interval does by the clock, so what seems to
have grown is counted again, and the least of three counts. They depend on the compiler, so `instructions.toml` keeps them by compiler and
kind of processor. One that grew by more than `GROWTH_MAX` fails, unless the same change writes the file anew (``--write``) and says why.

    .venv/bin/python dev/instructions.py
"""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor
from os import sched_getaffinity
from pathlib import Path

#: Of loops in virtual time, whose counts are equal each time, and of those by the clock, whose counts were up to 8 % apart.
GROWTH_MAX, GROWTH_MAX_BY_CLOCK = 0.03, 0.10
PROJECT = Path(__file__).parents[1]
BASELINE = PROJECT / "dev/speed/instructions.toml"
#: Target, backend, queue depth, threads, the two durations, options of the stream.
LOOPS = {
    "null, depth 1": "null: auto 1 1 100ms 500ms",
    "null, depth 32": "null: auto 32 1 100ms 500ms",
    "null, depth 32, 70 % reads": "null: auto 32 1 100ms 500ms read_percent=70",
    "null, depth 32, two sizes": "null: auto 32 1 100ms 500ms block_size=4KiB=50,64KiB=50",
    "null, depth 32, sequential": "null: auto 32 1 100ms 500ms random_percent=0",
    "null, 64 threads": "null: auto 1 64 100ms 500ms",
    "modelled server, depth 32": "queue:?service=const:10us&servers=4 auto 32 1 100ms 500ms",
    "modelled server, open": "queue:?service=const:10us&servers=4 auto 64 1 100ms 500ms arrival=poisson rate=200000",
}
HEAD = """# Instructions per request of `dev/instructions.py`, by compiler and kind of processor.
# `dev/instructions.py --write` adds those of this machine; a commit that makes one grow says why.
"""


def main() -> int:
    """0 when nothing grew, or when it cannot be told here and why is said; 1 when something did."""
    if shutil.which("valgrind") is None:
        print("skipped: instructions per request: valgrind is not installed")
        return 0
    known: dict[str, dict[str, float]] = tomllib.loads(BASELINE.read_text(encoding="utf-8")) if BASELINE.exists() else {}
    key, writes = _toolchain(), "--write" in sys.argv[1:]
    if key not in known and not writes:
        print(f"skipped: instructions per request: there are none of before for {key}; dev/instructions.py --write adds them")
        return 0
    program = _built()
    with ThreadPoolExecutor(len(sched_getaffinity(0))) as pool:
        found = dict(zip(LOOPS, pool.map(lambda words: _per_request(program, words), LOOPS.values()), strict=True))
    before = known.get(key, {})
    for _ in range(2):
        for name in found if writes else _grown(found, before):
            found[name] = min(found[name], _per_request(program, LOOPS[name]))
    grown = _grown(found, before)
    for name, count in found.items():
        change = f"{count / before[name] - 1:+.1%}" if name in before else "new"
        print(f"{name:<28} {count:>8.1f} instructions per request  {change}{'  too many' if name in grown else ''}")
    if writes:
        _write({**known, key: found})
        return 0
    if grown:
        print(f"{len(grown)} grew by more than they may on {key}: make them smaller, or write them anew with --write and say why")
    return 1 if grown else 0


def _growth_max(name: str) -> float:
    return GROWTH_MAX if LOOPS[name].startswith("queue:") else GROWTH_MAX_BY_CLOCK


def _grown(found: dict[str, float], before: dict[str, float]) -> list[str]:
    return [name for name, count in found.items() if count > before.get(name, count) * (1 + _growth_max(name))]


def _toolchain() -> str:
    """What the counts depend on: compiler, architecture, and whether its vectors are wide, which the C library looks at."""
    version = subprocess.run(["/usr/bin/env", "rustc", "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    flags = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    return f"rustc {version}, {platform.machine()}{', avx2' if re.search(r'^flags.* avx2 ', flags, re.MULTILINE) else ''}"


def _built() -> Path:
    """The example, built as what is measured with is."""
    cargo = ["/usr/bin/env", "cargo", "build", "--release", "--locked", "--quiet", "--package", "plimsoll-engine", "--example", "loop_cost"]
    subprocess.run(cargo, cwd=PROJECT, check=True)
    told = subprocess.run(
        ["/usr/bin/env", "cargo", "metadata", "--no-deps", "--format-version=1", "--locked"], cwd=PROJECT, capture_output=True, check=True
    )
    folder = re.search(rb'"target_directory":"([^"]+)"', told.stdout)
    assert folder is not None
    return Path(folder[1].decode()) / "release/examples/loop_cost"


def _per_request(program: Path, words: str) -> float:
    target, backend, depth, threads, *durations = words.split()[:6]
    counted = [_counted([str(program), target, backend, depth, threads, duration, *words.split()[6:]]) for duration in durations]
    (requests, instructions), (more_requests, more_instructions) = counted
    return round((more_instructions - instructions) / (more_requests - requests), 1)


def _counted(argv: list[str]) -> tuple[int, int]:
    """Requests and instructions of a run."""
    with tempfile.TemporaryDirectory(prefix="plimsoll-instructions-") as folder:
        callgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out"]
        said = subprocess.run([*callgrind, *argv], capture_output=True, text=True, check=False)
    requests, instructions = re.search(r"^(\d+) requests", said.stdout), re.search(r"Collected : (\d+)", said.stderr)
    if requests is None or instructions is None:
        sys.exit(f"instructions: {' '.join(argv)} was not counted: {said.stderr.strip().rpartition(chr(10))[2]}")
    return int(requests[1]), int(instructions[1])


def _write(known: dict[str, dict[str, float]]) -> None:
    tables = (f'["{key}"]\n' + "".join(f'"{name}" = {count}\n' for name, count in counts.items()) for key, counts in sorted(known.items()))
    BASELINE.write_text(HEAD + "".join(f"\n{table}" for table in tables), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
