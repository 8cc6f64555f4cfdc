"""One run of Plimsoll on a mount whose faults begin when the measured load has begun, and everything that came of it.

Model: the load is a small file on the mount, or a tree; the store is elsewhere, so that what is struck is the target alone. Rules are armed
when the first line of progress of the measured time is on stderr, so preparing is never struck; what is verified is told from what is
prepared by its stamps. A hang is released when Plimsoll has said that it gets no answer, so that the run can end and be judged.

    outcome = Trial(mount, tmp_path, LOADS["verified"]).run(Plan("lost", {"times": 6}))
    outcome.code, outcome.said, outcome.results[0]["status"], outcome.injections
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from long.fault_mount import FaultMount, Injection
from support.patience import HANGS_S, wait_until

COMMAND = str(Path(sys.executable).with_name("plimsoll"))

#: A progress line of the measured time.
_MEASURING = "measure  "
_UNANSWERED = "no answer from"


@dataclass(frozen=True)
class Load:
    """A workload, and how it is run."""

    name: str
    workload: str
    target: str
    #: Words of the command line.
    words: tuple[str, ...] = ()
    verifies: bool = False
    #: Whether requests that failed are counted and the run goes on.
    goes_on: bool = False
    #: Whether an objective is asserted.
    objective: bool = False
    #: Whether what a short transfer left is asked for again, and counted, as in cp.
    asks_again: bool = False
    #: Whether it makes, renames and removes files.
    works_on_names: bool = False


@dataclass(frozen=True)
class Plan:
    """The rule that strikes."""

    fault: str
    keys: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """What came of a run."""

    load: Load
    plan: Plan
    code: int
    #: Both streams as they were on the terminal.
    said: str
    #: The points in the store.
    results: list[dict[str, Any]]
    #: The report, empty when there is none.
    page: str
    injections: list[Injection]

    @property
    def point(self) -> dict[str, Any]:
        """The only point."""
        (result,) = self.results
        return result


class Trial:
    """See the module."""

    def __init__(self, mount: FaultMount, folder: Path, load: Load) -> None:
        self._mount, self._folder, self._load = mount, folder, load
        self._lines: list[str] = []

    def run(self, plan: Plan, seconds: float) -> Outcome:
        """Run the load for so long, struck by a fault."""
        workload = self._folder / f"{self._load.name}.toml"
        workload.write_text(self._load.workload)
        store = self._folder / "store"
        target = str(self._mount.at / self._load.target)
        words = [COMMAND, "run", str(workload), "-t", target, "-o", str(store), "-d", f"{seconds}s", "-w", "0s", *self._load.words]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self._folder)
        assert process.stdout is not None and process.stderr is not None
        readers = [self._listen(process.stdout), self._listen(process.stderr)]
        try:
            wait_until(lambda: self._heard(_MEASURING) or process.poll() is not None, f"the load begins: {self._said()}")
            self._mount.arm(plan.fault, **plan.keys)
            if plan.fault == "hang":
                wait_until(
                    lambda: self._heard(_UNANSWERED) or process.poll() is not None, f"it says that there is no answer: {self._said()}"
                )
                self._mount.disarm()
                self._mount.release()
            code = process.wait(timeout=HANGS_S)
        finally:
            # What still hangs would keep the process from ending, killed or not.
            self._mount.disarm()
            self._mount.release()
            process.kill()
            process.wait()
        for reader in readers:
            reader.join()
        return self._outcome(plan, code, store)

    def _outcome(self, plan: Plan, code: int, store: Path) -> Outcome:
        found = sorted(store.glob("*/points/*/result.json")) or sorted(store.glob("**/result.json"))
        pages = sorted(store.glob("*/report.html"))
        return Outcome(
            self._load,
            plan,
            code,
            self._said(),
            [json.loads(path.read_text()) for path in found],
            pages[0].read_text() if pages else "",
            self._mount.log(),
        )

    def _listen(self, stream: IO[str]) -> threading.Thread:
        def listen() -> None:
            with stream:
                for line in stream:
                    self._lines.append(line)

        thread = threading.Thread(target=listen)
        thread.start()
        return thread

    def _heard(self, words: str) -> bool:
        return any(words in line for line in list(self._lines))

    def _said(self) -> str:
        return "".join(self._lines)
