"""Plants bugs in a copy of the tree, one at a time, and says which test caught each: `make mutants`.

Model: `dev/mutants.toml` is the list. A bug replaces one text, which occurs once in its file, by another; then only the tests named with it
run. A bug in Python needs no build, and all that has none is compiled once; bugs in Rust follow each other, so that each rebuilds one crate
and its tests. What caught a bug is run once more without any, all of it in one go: a test that fails then has caught nothing. The working
tree is not written to, so nothing has to be restored, however this ends.
Limits: tests run on the installed engine, so `make setup` comes first; a bug in Rust is looked for by tests of Rust alone.

    .venv/bin/python dev/mutants.py                # all of them; ends with 1 when one survives
    .venv/bin/python dev/mutants.py knee fsync .rs # those whose name or file holds one of these words
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).resolve().parents[1]
LIST = ROOT / "dev" / "mutants.toml"
COPIES = ROOT / ".cache" / "mutants"
#: What has not ended by then hangs, which is a way to be caught.
HANGS_S = 600.0
#: Built and unknown to git, yet part of the package.
_BUILT = ("python/plimsoll/_core*.so",)


@dataclass(frozen=True)
class Mutant:
    """One planted bug; ``tests`` are files for pytest, or the arguments of ``cargo test`` for a bug in Rust."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    @property
    def is_rust(self) -> bool:
        """Whether it takes a build."""
        return self.file.endswith(".rs")

    def planted(self, text: str) -> str:
        """The text of its file with the bug in it."""
        if (found := text.count(self.old)) != 1:
            raise SystemExit(f"{LIST.name}: {self.name}: the old text occurs {found} times in {self.file}; it must occur once.")
        return text.replace(self.old, self.new)


@dataclass(frozen=True)
class Verdict:
    """What became of a planted bug: ``by`` is the first test that failed, empty when none did; ``unrun`` says why none could be run."""

    mutant: Mutant
    by: str
    seconds: float
    unrun: str = ""

    def __str__(self) -> str:
        fate = f"NOT RUN, {self.unrun}" if self.unrun else self.by or "SURVIVED"
        return f"{self.mutant.name}: {fate} ({self.seconds:.1f} s)"


class NotRun(Exception):
    """The tests could not be run, and why."""


def mutants() -> list[Mutant]:
    """The list, as the file has it."""
    entries = tomllib.loads(LIST.read_text(encoding="utf-8"))["mutant"]
    return [Mutant(entry["name"], entry["file"], entry["old"], entry["new"], tuple(entry["tests"])) for entry in entries]


class Tree:
    """A copy of what git knows and of what is built, in a folder that is kept, so that the next time Rust builds little."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def renew(self) -> None:
        """Make it equal to the working tree; what is equal already is not written, so that cargo takes it for unchanged."""
        wanted = list(_sources())
        for name in wanted:
            copy, source = self.folder / name, ROOT / name
            if not copy.exists() or copy.read_bytes() != source.read_bytes():
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, copy)
        known = set(wanted)
        for path in self.folder.rglob("*"):
            if path.is_file() and path.relative_to(self.folder) not in known and "__pycache__" not in path.parts:
                path.unlink()
        # Held against the source's hash whenever it is imported: a bug and what it took the place of can be of one length and second.
        checked = ["--invalidation-mode", "checked-hash", "-j", "0"]
        subprocess.run([sys.executable, "-m", "compileall", "-q", *checked, "python"], cwd=self.folder, check=True)

    def attempt(self, mutant: Mutant) -> Verdict:
        """Plant one bug, run its tests, and take it out again."""
        path, begun = self.folder / mutant.file, time.monotonic()
        text = path.read_text(encoding="utf-8")
        path.write_text(mutant.planted(text), encoding="utf-8")
        by, unrun = [], ""
        try:
            by = self.cargo(mutant.tests) if mutant.is_rust else self.pytest([*mutant.tests, "-x"])
        except NotRun as problem:
            unrun = str(problem)
        finally:
            path.write_text(text, encoding="utf-8")
        return Verdict(mutant, next(iter(by), ""), time.monotonic() - begun, unrun)

    def pytest(self, words: Sequence[str]) -> list[str]:
        """The tests that failed."""
        command = [sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", *words]
        # Before the folder that `make setup` installed.
        code, said = self._run(command, {"PYTHONPATH": str(self.folder / "python")})
        return _judged(code, 1, re.findall(r"^FAILED (\S+)", said, re.MULTILINE), said)

    def cargo(self, words: Sequence[str]) -> list[str]:
        """The tests that failed."""
        environment = {"CARGO_TARGET_DIR": str(ROOT / "target"), "PYO3_PYTHON": sys.executable}
        code, said = self._run(["cargo", "test", "--locked", *words], environment)
        failed = re.findall(r"^test (\S+) .*FAILED$|^    (\S+)$(?=[\s\S]*test result: FAILED)", said, re.MULTILINE)
        return _judged(code, 101, [next(filter(None, names)) for names in failed], said)

    def _run(self, command: Sequence[str], environment: dict[str, str]) -> tuple[int, str]:
        try:
            ended = subprocess.run(
                command, cwd=self.folder, env=os.environ | environment, capture_output=True, text=True, timeout=HANGS_S, check=False
            )
        except subprocess.TimeoutExpired:
            return -1, f"no end within {HANGS_S:g} s"
        return ended.returncode, ended.stdout + ended.stderr


def _judged(code: int, failing: int, failed: list[str], said: str) -> list[str]:
    """What failed; a bug that does not even build or import shows nothing of the tests."""
    if code == 0:
        return []
    if code == -1:
        return [said]
    if code != failing or not failed:
        raise NotRun(f"the tests ended with {code}:\n{said[-3000:]}")
    return failed


def _sources() -> Iterator[Path]:
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    for name in sorted(filter(None, listed.stdout.split("\0"))):
        if (ROOT / name).is_file():
            yield Path(name)
    for pattern in _BUILT:
        yield from (path.relative_to(ROOT) for path in ROOT.glob(pattern) if path.is_file())


def tried(chosen: Sequence[Mutant], trees: Sequence[Tree]) -> Iterator[Verdict]:
    """Those in Python side by side, then those in Rust one after the other."""
    free: SimpleQueue[Tree] = SimpleQueue()
    for tree in trees:
        free.put(tree)

    def attempt(mutant: Mutant) -> Verdict:
        tree = free.get()
        try:
            return tree.attempt(mutant)
        finally:
            free.put(tree)

    with ThreadPoolExecutor(len(trees)) as threads:
        yield from threads.map(attempt, [mutant for mutant in chosen if not mutant.is_rust])
    rust = sorted((mutant for mutant in chosen if mutant.is_rust), key=lambda mutant: (mutant.tests, mutant.file))
    yield from map(trees[0].attempt, rust)


def failing_without(verdicts: Sequence[Verdict], tree: Tree) -> set[str]:
    """Those of the tests that caught bugs which fail where no bug is planted as well."""
    functions = sorted({_function(verdict.by) for verdict in verdicts if "::" in verdict.by and not verdict.mutant.is_rust})
    failed = tree.pytest([*functions, "--numprocesses", "auto"]) if functions else []
    for words in sorted({verdict.mutant.tests for verdict in verdicts if verdict.mutant.is_rust and verdict.by}):
        failed += tree.cargo(words)
    return {_function(test) for test in failed}


def _function(test: str) -> str:
    """Without the values of its parameters, in which there may be blanks."""
    return test.partition("[")[0]


def main(words: Sequence[str]) -> int:
    """1 when a bug survives."""
    chosen = [mutant for mutant in mutants() if not words or any(word in text for word in words for text in (mutant.name, mutant.file))]
    trees = [Tree(COPIES / str(number)) for number in range(max(1, min(os.cpu_count() or 1, len(chosen))))]
    for tree in trees:
        tree.renew()
    verdicts = []
    for verdict in tried(chosen, trees):
        verdicts.append(verdict)
        print(verdict, flush=True)
    try:
        failing = failing_without(verdicts, trees[0])
    except NotRun as problem:
        print(problem)
        return 1
    for verdict in verdicts:
        if _function(verdict.by) in failing:
            print(f"{verdict.mutant.name}: NOT SHOWN, {_function(verdict.by)} fails without the bug, too", flush=True)
    caught = sum(bool(verdict.by) and _function(verdict.by) not in failing for verdict in verdicts)
    print(f"{len(chosen)} planted, {caught} caught, {len(chosen) - caught} survived, not shown or not run")
    return 1 if caught < len(chosen) or not chosen else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
