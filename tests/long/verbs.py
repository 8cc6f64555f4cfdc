"""Every verb of Plimsoll that writes something, as a command that takes about two seconds, in a folder of its own.

Model: a folder gets what the verbs need (a stored run, a trace, a job file, results of another tool) and files of somebody else beside every
place where something is written. A verb *resumes* when the same command, given again, goes on with the run that was cut short.

    folder = Folder.furnished(tmp_path, stock)
    process = folder.start(VERBS["steps"])
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from support.patience import HANGS_S
from support.said import Said

COMMAND = str(Path(sys.executable).with_name("plimsoll"))
_HASH = re.compile(r"[0-9a-f]{32,}")

_LOAD = ("random-write-4k", "-t", "s.dat", "--size", "16MiB", "-w", "0s", "-o", "store", "-q")
_SUITE = """\
[[experiment]]
name = "depths"
kind = "steps"
workloads = ["random-write-4k"]
over = { queue_depth = [1, 2, 4] }
set = { duration = "300ms", warmup = "0s" }
"""
_TREE = """\
driver = "files"

[[tree]]
name = "a"
depth = 1
width = 4
files = 50
sizes = "16KiB"
filled = 50

[[stream]]
operation = { read = 40, write = 20, create = 20, delete = 20 }
write_created = true
threads = 2
"""
_JOB = "[global]\nioengine=libaio\ndirect=1\nsize=16m\nfilename=f.dat\n" + "".join(
    f"[job{at}]\nrw=randread\nbs={at}k\nstonewall\n" for at in (4, 8, 16)
)


@dataclass(frozen=True)
class Verb:
    """A command, and what is promised of it after a kill."""

    words: tuple[str, ...]
    #: The same command goes on with the run.
    resumes: bool = False
    #: It stores a run.
    stores: bool = True
    #: It goes on until it is stopped.
    serves: bool = False


def _experiment(verb: str, *words: str) -> Verb:
    return Verb((verb, *_LOAD, "-d", "300ms", *words), resumes=True)


VERBS = {
    "run": Verb(("run", "oltp-db", "random-write-4k", *_LOAD[1:], "-d", "600ms")),
    "run files": Verb(("run", "tree.toml", "-t", "tree", "-w", "0s", "-o", "store", "-q", "-d", "800ms")),
    "check": Verb(("check", "s.dat", "--quick", "--size", "16MiB", "-w", "0s", "-d", "150ms", "-o", "store", "-q"), resumes=True),
    "steps": _experiment("steps", "--over", "queue_depth=1,2,4,8"),
    "matrix": _experiment("matrix", "--over", "queue_depth=1,4", "--over", "block_size=4KiB,8KiB"),
    "ramp": _experiment("ramp", "--over", "queue_depth=1..8", "--objective", "p99 <= 10s"),
    "search": _experiment("search", "--over", "queue_depth=1..4", "--objective", "p99 <= 10s"),
    "curve": _experiment("curve", "--percent", "10,30,50"),
    "scale": _experiment("scale", "--over", "threads=1,2,3"),
    "steady": _experiment("steady", "--rounds-max", "6"),
    "suite": Verb(("suite", "depths.toml", "-t", "s.dat", "--size", "16MiB", "-o", "store", "-q"), resumes=True),
    "replay": Verb(("replay", "trace.csv", "-t", "s.dat", "--size", "16MiB", "-o", "store")),
    "replay --convert": Verb(("replay", "trace.csv", "--convert", "trace.compact"), stores=False),
    "import": Verb(("import", "results.json", "-o", "store")),
    "export": Verb(("export", "stock", "--as", "fio-logs", "-o", "logs", "--out", "shelf"), stores=False),
    "report": Verb(("report", "stock", "--out", "shelf", "-o", "new.html"), stores=False),
    "translate": Verb(("translate", "job.fio"), stores=False),
    "calibrate": Verb(("calibrate",), stores=False),
    "fit": Verb(("fit", "trace.csv", "-o", "fitted.toml"), stores=False),
    "serve-array --mount": Verb(("serve-array", "array:msa50-sas-10k-raid0-6", "--mount", "mounted"), stores=False, serves=True),
    "serve-array --socket": Verb(("serve-array", "array:msa50-sas-10k-raid0-6", "--socket", "array.sock"), stores=False, serves=True),
}


class Stock:
    """What the folders are furnished with, made once: a stored run, and the same as another tool's results."""

    def __init__(self, place: Path) -> None:
        self.shelf, self.results = place / "shelf", place / "results.json"
        words = ("run", "oltp-db", "-t", "queue:?service=exp:1ms&servers=8&size=1GiB", "-d", "30s", "-w", "0s", "-q", "-o", str(self.shelf))
        subprocess.run([COMMAND, *words], check=True, capture_output=True, cwd=place, timeout=HANGS_S)
        (stored,) = self.shelf.iterdir()
        stored.rename(self.shelf / "stock")
        words = ("export", "stock", "--out", str(self.shelf), "--as", "fio-json+")
        self.results.write_bytes(subprocess.run([COMMAND, *words], check=True, capture_output=True, timeout=HANGS_S).stdout)


class Folder:
    """Where one command runs, is killed and runs again."""

    def __init__(self, place: Path, stock: Stock) -> None:
        self.place = place
        place.mkdir()
        shutil.copytree(stock.shelf, place / "shelf")
        shutil.copy(stock.results, place / "results.json")
        (place / "mounted").mkdir()
        (place / "depths.toml").write_text(_SUITE)
        (place / "tree.toml").write_text(_TREE)
        (place / "job.fio").write_text(_JOB)
        (place / "trace.csv").write_text("".join(_requests(20_000)))
        self._foreign = self._plant()
        self._furniture = self.names()

    def _plant(self) -> dict[Path, str]:
        """Files of somebody else, named like what Plimsoll makes."""
        (self.place / "store").mkdir()
        for name in ("s.dat.old", "precious.dat", "new.html.old", "store/notes.txt", "plimsoll-scratch.txt", "tree.txt"):
            (self.place / name).write_bytes(hashlib.sha256(name.encode()).digest() * 100)
        names = [path for path in sorted(self.place.rglob("*")) if path.is_file()]
        return {path: _digest(path) for path in names}

    @property
    def environment(self) -> dict[str, str]:
        """Its own cache, so that a calibration is seen."""
        return os.environ | {"XDG_CACHE_HOME": str(self.place / "cache")}

    def start(self, verb: Verb) -> subprocess.Popen[bytes]:
        """Begin the verb's command."""
        to = {"stdout": (self.place / "said.out").open("wb"), "stderr": (self.place / "said.err").open("wb")}
        with to["stdout"], to["stderr"]:
            return subprocess.Popen([COMMAND, *verb.words], cwd=self.place, env=self.environment, **to)

    def said(self) -> str:
        """What the command that was started last has said."""
        return "".join((self.place / name).read_text(errors="replace") for name in ("said.out", "said.err"))

    def run(self, *words: str) -> Said:
        """A command, to its end."""
        ended = subprocess.run([COMMAND, *words], check=False, capture_output=True, cwd=self.place, env=self.environment, timeout=HANGS_S)
        return Said(ended.returncode, *(stream.decode(errors="replace") for stream in (ended.stdout, ended.stderr)))

    def unfinished(self) -> list[str]:
        """The runs that the store calls anything but complete."""
        return [run["name"] for run in self.run("runs", "-o", "store", "--json").json if run["status"] != "complete"]

    def runs(self) -> list[Path]:
        """The runs that were stored here."""
        return sorted(path for path in (self.place / "store").iterdir() if path.is_dir())

    def names(self) -> set[str]:
        """Every name at the top, and every name within what is written, without the hashes that differ from folder to folder."""
        told = ("said.out", "said.err")
        top = {name for name in os.listdir(self.place) if name not in told}
        within = {path.name for folder in ("store", "cache", "logs") for path in (self.place / folder).rglob("*") if _counts(path)}
        return top | {f"…/{_HASH.sub('HASH', name)}" for name in within}

    def made(self) -> set[str]:
        """What is here that was not at the beginning."""
        return self.names() - self._furniture

    def harmed(self) -> list[str]:
        """Foreign files that are not what they were."""
        return [str(path.relative_to(self.place)) for path, digest in self._foreign.items() if not path.exists() or _digest(path) != digest]

    def mounts(self) -> list[str]:
        """What is mounted below."""
        places = [line.split(" ")[1] for line in Path("/proc/self/mounts").read_text().splitlines()]
        return [place for place in places if place.startswith(f"{self.place}/")]

    def processes(self) -> list[str]:
        """Processes that still work here, by their command lines."""
        found = []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) == os.getpid():
                continue
            try:
                words, at = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"), os.readlink(entry / "cwd")
                ended = (entry / "stat").read_text().rpartition(")")[2].split()[0] == "Z"
            except OSError:
                continue
            if not ended and (at.startswith(str(self.place)) or str(self.place) in words):
                found.append(words)
        return found


def _requests(count: int) -> list[str]:
    """A trace of two seconds in the format of MSR Cambridge."""
    step = 2 * 10_000_000 // count
    return [
        f"{128166372003061629 + at * step},host,0,{'Read' if at % 3 else 'Write'},{at * 7919 % 4096 * 4096},4096,100\n"
        for at in range(count)
    ]


def _counts(path: Path) -> bool:
    """Whether it should be as in an undisturbed folder: points that were cut short are kept as they were, under ``superseded``, and what
    `runs` remembers of a store is there once anybody has asked for it, as the tests do."""
    return not path.is_dir() and not {"superseded", "lists"} & set(path.parts)


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
