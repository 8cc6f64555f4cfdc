#!/usr/bin/env python3
"""`make bench-compare BASE=commit`: what one I/O costs in this tree and at another commit, by turns.

Model: the worker loop's example is built from both with the profile of releases, the other commit in a work tree of its own, and run
A B B A; told are the median and the best of the ns of CPU time per request, how far the rounds of each are apart, and the ratio of medians.
Limits: a ratio nearer to 1 than either spread shows nothing; `dev/instructions.py` tells what no other load on the machine changes.

    .venv/bin/python dev/compare.py origin/main
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from statistics import median

PROJECT = Path(__file__).parents[1]
ROUNDS = 7
LOOPS = {
    "null, depth 1": "null: auto 1 1 1s",
    "null, depth 32": "null: auto 32 1 1s",
    "nop, depth 1": "null: nop 1 1 1s",
    "nop, depth 32": "null: nop 32 1 1s",
    "modelled server, depth 32": "queue:?service=const:10us&servers=4 auto 32 1 10s",
}


def main() -> None:
    """Build both, measure, tell."""
    if len(sys.argv) != 2:
        sys.exit("compare: name the commit to compare with: make bench-compare BASE=origin/main")
    programs = {"base": _built(_tree(sys.argv[1])), "here": _built(PROJECT)}
    print(f"{'':<26} {'base: median, best, spread':>30} {'here: median, best, spread':>30}   here / base")
    for name, words in LOOPS.items():
        found: dict[str, list[float]] = {"base": [], "here": []}
        for number in range(ROUNDS):
            for who in ("base", "here") if number % 2 == 0 else ("here", "base"):
                found[who].append(_ns(programs[who], words))
        told = (f"{median(rounds):.1f} ns, {min(rounds):.1f} ns, {_spread(rounds):.0%}" for rounds in found.values())
        print(f"{name:<26} " + " ".join(f"{one:>30}" for one in told) + f"   {median(found['here']) / median(found['base']):.3f}")


def _tree(commit: str) -> Path:
    """A work tree of the commit, under .cache, where the next comparison finds it again."""
    said = subprocess.run(["/usr/bin/git", "rev-parse", f"{commit}^{{commit}}"], cwd=PROJECT, capture_output=True, text=True, check=False)
    if said.returncode:
        sys.exit(f"compare: {commit} is no commit of this project.")
    tree = PROJECT / ".cache/compare" / said.stdout.strip()[:12]
    if not tree.exists():
        subprocess.run(["/usr/bin/git", "worktree", "add", "--detach", "--force", tree, said.stdout.strip()], cwd=PROJECT, check=True)
    return tree


def _built(tree: Path) -> Path:
    """Its example; each tree has a folder of its own for what is built."""
    target = tree / "target"
    cargo = ["/usr/bin/env", "cargo", "build", "--release", "--locked", "--package", "plimsoll-engine", "--example", "loop_cost"]
    if subprocess.run([*cargo, "--target-dir", target], cwd=tree, check=False).returncode:
        whose = "this tree" if tree == PROJECT else f"{tree.name}, which lies in {tree},"
        sys.exit(f"compare: the example loop_cost of {whose} could not be built: see what cargo says above.")
    return target / "release/examples/loop_cost"


def _ns(program: Path, words: str) -> float:
    """CPU time of one request."""
    ran = subprocess.run([program, *words.split()], capture_output=True, text=True, check=False)
    found = re.search(r"([\d.]+) ns user, ([\d.]+) ns system", ran.stdout)
    if ran.returncode or found is None:
        why = (ran.stderr or ran.stdout).strip().rpartition("\n")[2]
        sys.exit(f"compare: '{program} {words}' could not be measured: {why or f'it ended with exit code {ran.returncode}'}")
    return float(found[1]) + float(found[2])


def _spread(rounds: list[float]) -> float:
    return (max(rounds) - min(rounds)) / median(rounds)


if __name__ == "__main__":
    main()
