"""What becomes of every statement of an ICF: one remark for each, and one more where Iometer itself may surprise.

Model: the sections have a writer each; `remarks` puts their remarks in the order of the lines. Names of sections, headings over columns and
``'End …`` lines say nothing and have none. Each line of an access specification and each assigned name has its own. A line is native
unless it has a reply, which our streams do not send. A worker runs here when it is a disk worker of a manager on this host and has both a
specification and a target; what belongs to one that does not run is ignored, with the reason, as is what nobody runs. Network workers and
managers on other hosts are unsupported, once each.

    remarks(file, intent)[0].sentence("load.icf")
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from plimsoll.displayed import quoted
from plimsoll.formats.iometer.model import (
    NUMBER_OF_CPUS,
    AccessLine,
    AccessSpec,
    Display,
    IometerFile,
    Manager,
    Settings,
    Setup,
    Statement,
    Target,
    Worker,
)
from plimsoll.formats.iometer.resolve import QUEUE_TYPES, USERS, Assignment, Intent, is_here, is_idle
from plimsoll.formats.iometer.storage import SECTOR, Storage
from plimsoll.formats.iometer.translate import REPEATED_BYTE, is_random, run_time_s
from plimsoll.formats.known_targets import SHARED
from plimsoll.formats.translation import Kind, Remark

#: A size that one circulated web server pattern has by a slip for 64 KiB.
SLIPPED_SIZE = 66560


def spec_remarks(file: IometerFile, intent: Intent) -> Iterator[Remark]:
    """Those of all specifications."""
    running = {spec.name.lower() for item in intent.assignments for spec in item.specs}
    for spec in file.specs or ():
        used = spec.name.lower() in running
        yield _name(spec, used=used, nameless=not file.version.named_specs)
        for number, line in enumerate(spec.lines):
            # The first line of a specification without a name already has the remark on the whole.
            if file.version.named_specs or number > 0:
                yield _line(line, used=used)
            if used:
                yield from _surprises(line)


def _name(spec: AccessSpec, *, used: bool, nameless: bool) -> Remark:
    heading = spec.at["name"]
    text = spec.lines[0].at.text if nameless else heading.text
    if not used:
        return Remark(heading.line, text, "ignored", "no disk worker runs it")
    if nameless:
        return Remark(heading.line, text, "native", f"{_drawn(spec.lines[0])}; first line of what is called {quoted(spec.name)} here")
    return Remark(heading.line, text, "native", "an experiment of its own")


def _line(line: AccessLine, *, used: bool) -> Remark:
    at = line.at
    if not used:
        return Remark(at.line, at.text, "ignored", "no disk worker runs it")
    if line.reply:
        why = (
            f"a reply of {line.reply} bytes in the other direction after each request is not among our operations; "
            "write 0, and mix reads and writes with the percentage of reads"
        )
        return Remark(at.line, at.text, "unsupported", why)
    return Remark(at.line, at.text, "native", _drawn(line))


def _drawn(line: AccessLine) -> str:
    parts = ["a line of the access list" if line.burst == 1 else f"a line of the access list, kept for bursts of {line.burst}"]
    if line.delay_ms:
        parts.append(f"after a pause of {line.delay_ms} ms")
    if not line.align:
        parts.append(f"aligned to sectors of {SECTOR} bytes")
    return ", ".join(parts)


def _surprises(line: AccessLine) -> Iterator[Remark]:
    at = line.at
    if line.size == SLIPPED_SIZE:
        yield Remark(at.line, at.text, "surprise", "66560 bytes are 65 KiB; where this pattern was first published it says 64 KiB (65536)")
    if line.size % SECTOR or line.align % SECTOR:
        why = f"disks take whole sectors of {SECTOR} bytes only, so such requests fail in Iometer and here (--set direct=false to try)"
        yield Remark(at.line, at.text, "surprise", why)


_Said = tuple[Kind, str]

#: What the data patterns are in our words.
PATTERNS = (
    f"data pattern 0 repeats a byte: {REPEATED_BYTE} always, where Iometer takes another one for every request",
    "data pattern 1 is pseudo-random: incompressible, and never the same twice, where Iometer writes one buffer over and over",
    "data pattern 2 is random: incompressible",
)
_OLD_PATTERN = "written is incompressible data, never the same twice, where Iometer writes one pseudo-random buffer over and over"


def manager_remarks(file: IometerFile, intent: Intent) -> Iterator[Remark]:
    """Those of the manager list."""
    managers = file.managers or ()
    for position, manager in enumerate(managers):
        here = is_here(manager, managers)
        yield from _manager(manager, here=here)
        disks = 0
        for worker in manager.workers:
            found = next((item for item in intent.assignments if (item.manager, item.number) == (position, disks)), None)
            disks += worker.kind == "DISK"
            yield from _Speaker(worker, found if worker.kind == "DISK" and here else None, intent, here).remarks()


def _manager(manager: Manager, *, here: bool) -> Iterator[Remark]:
    for name, statement in manager.at.items():
        if here:
            why = "its workers run on this host" if name == "name" else "the workers run on this host, whatever its address"
            yield _of(statement, ("native" if name == "name" else "ignored", why))
        elif name == "name":
            why = (
                f"manager {quoted(manager.name)} is on another host than the first one, which needs a cluster; "
                "nearest is to run its workers' part of the file there"
            )
            yield _of(statement, ("unsupported", why))
        else:
            yield _of(statement, ("ignored", "nothing is started on other hosts"))


def _of(statement: Statement, said: _Said) -> Remark:
    return Remark(statement.line, statement.text, *said)


@dataclass(frozen=True)
class _Speaker:
    """Speaks of one worker; ``assignment`` is None when it does not run."""

    worker: Worker
    assignment: Assignment | None
    intent: Intent
    here: bool

    def remarks(self) -> Iterator[Remark]:
        """All that the worker says."""
        worker = self.worker
        yield _of(worker.at["name"], ("native", self._threads()) if self.assignment else ("ignored", self._why_not()))
        if "kind" in worker.at:
            yield _of(worker.at["kind"], self._kind())
        if worker.settings is not None:
            yield from self._settings(worker.settings)
        for value in worker.at["specs"].values if "specs" in worker.at else ():
            yield Remark(value.line, value.text, *self._spec(value.text))
        for target in worker.targets or ():
            yield from self._target(target)
        yield from self._surprises()

    def _why_not(self) -> str:
        if not self.here:
            return "its manager is on another host"
        if self.worker.kind != "DISK":
            return "it is a network worker"
        if not self.worker.targets and not self.intent.implied_targets:
            return "it has no target, so it does nothing, in Iometer neither"
        return "it has no specification other than Idle, so it does nothing, in Iometer neither"

    def _threads(self) -> str:
        assert self.assignment is not None
        alike = all(is_random(spec) for spec in self.assignment.specs)
        return (
            "a thread; alike workers are threads of one stream" if alike else "a stream with a thread and a sequential pointer of its own"
        )

    def _kind(self) -> _Said:
        if not self.here:
            return "ignored", self._why_not()
        if self.worker.kind == "DISK":
            return "native", "storage"
        return (
            "unsupported",
            f"{self.worker.kind} workers load the network, and Plimsoll loads storage; nearest is a disk worker on a network file system",
        )

    def _settings(self, settings: Settings) -> Iterator[Remark]:
        for name, statement in settings.at.items():
            if self.assignment is None:
                yield _of(statement, ("ignored", self._why_not()))
            elif name == "outstanding":
                yield _of(statement, self._outstanding(settings))
            elif name == "region":
                yield _of(statement, ("native", self._region(settings)))
            else:
                yield _of(statement, ("ignored", "it is for network workers, and this is a disk worker"))

    def _outstanding(self, settings: Settings) -> _Said:
        if settings.connection_rate:
            why = (
                "with the connection rate tested, the target is closed and opened again while it is measured, which our targets never are; "
                "write DISABLED for the load on the open target"
            )
            return "unsupported", why
        depth = "queue depth of each worker at each target"
        if self.intent.series.test_type in QUEUE_TYPES:
            depth += ", replaced by those that are cycled"
        if settings.use_fixed_seed:
            return "native", f"{depth}; the seed makes our requests repeat, but they are not the ones that Iometer draws from it"
        return "native", f"{depth}; our requests repeat from run to run even without a fixed seed (--set seed=… for others)"

    def _region(self, settings: Settings) -> str:
        whole = "the whole target" if not (settings.maximum_sectors or settings.starting_sector) else "region_start and region_length"
        pattern = _OLD_PATTERN if settings.data_pattern is None else PATTERNS[settings.data_pattern]
        return f"{whole}; {pattern}"

    def _spec(self, name: str) -> _Said:
        if self.assignment is None:
            return "ignored", self._why_not()
        spec = next(spec for spec in self.assignment.specs if spec.name.lower() == name.lower())
        return "native", "the worker pauses in this test" if is_idle(spec) else "run in its turn, after those above it"

    def _target(self, target: Target) -> Iterator[Remark]:
        runs = self.assignment is not None and target.kind == "DISK"
        for name, statement in target.at.items():
            if not runs:
                network = self.assignment is not None
                yield _of(statement, ("ignored", "a disk worker has no network targets" if network else self._why_not()))
            elif name == "name":
                storage = next(item for item in self.intent.storages if item.name == target.name)
                yield _of(statement, self._storage(storage))
            elif name == "kind":
                yield _of(statement, ("native", "storage"))
            else:
                yield _of(statement, ("ignored", "it is the other end of a network target"))

    def _storage(self, storage: Storage) -> _Said:
        layout = self.intent.layout
        if storage.typed:
            return "native", f"--target {storage.path} takes its place"
        if storage.name in layout.sizes_missing:
            why = (
                "several files are made together, and nothing says how long this one is to be; "
                f"{storage.remedy}, or write the maximum disk size, or a target for each run"
            )
            return "unsupported", why
        if storage.stands_in:
            return "native", f"a drive of Windows, for which the scratch file {storage.path} in the current directory stands"
        if storage.path is not None:
            return "native", f"target {storage.path}" + (", made as Iometer makes it when it does not exist" if storage.is_file else "")
        return "ignored", "a drive of Windows has no counterpart here; measured is --target, or the scratch file"

    def _surprises(self) -> Iterator[Remark]:
        if self.assignment is None or len(self.intent.assignments) < 2:
            return
        sequential = [item for item in self.intent.assignments if not all(is_random(spec) for spec in item.specs)]
        if self.assignment not in sequential:
            return
        shared = {name for item in sequential if item is not self.assignment for name in item.targets}
        if shared & set(self.assignment.targets):
            why = "workers at one target all start their sequential requests at the same place, so caches may answer for all but the first"
            yield _of(self.worker.at["name"], ("surprise", why))


def remarks(file: IometerFile, intent: Intent) -> list[Remark]:
    """All remarks, in the order of the lines."""
    found = [*_whole(file, intent), *file.notes]
    if file.setup is not None:
        found += _setup(file, file.setup, intent)
    if file.display is not None:
        found += _display(file.display)
    found += spec_remarks(file, intent)
    found += manager_remarks(file, intent)
    return sorted(found, key=lambda remark: remark.line or 0)


def _whole(file: IometerFile, intent: Intent) -> Iterator[Remark]:
    """What the file asks for as a whole, on its version line."""
    line, text = file.version_at.line, file.version_at.text
    nothing = _nothing_runs(file, intent)
    if nothing:
        yield Remark(line, text, "unsupported", nothing)
    else:
        yield Remark(line, text, "native", "the version decides how the rest is read")
    if len(intent.storages) > 1 and intent.storages[0].typed:
        yield Remark(line, text, "surprise", f"it uses {len(intent.storages)} targets; --target {intent.storages[0].path} {SHARED}")
    if intent.implied_workers and file.specs:
        yield Remark(line, text, "surprise", _specs_alone(intent))
    elif intent.implied_targets and intent.assignments:
        why = "no worker has a target, so Iometer would run nothing; here all of them use --target, or the scratch file"
        yield Remark(line, text, "surprise", why)


def _nothing_runs(file: IometerFile, intent: Intent) -> str | None:
    """Why Iometer would run nothing, or refuse to; None when it would run, or another remark says why not."""
    if intent.unassigned and file.specs and not intent.implied_workers and file.version.named_specs:
        return (
            "no worker has an access specification, so Iometer refuses to run; assign them under 'Assigned access specs (the translation "
            "has all of them, one after the other)"
        )
    if any(intent.loads(run) for run in range(intent.runs)) or _only_network(file):
        return None
    if not file.specs:
        return "the file has no access specification, so there is nothing to run; add one, such as Default"
    return "no worker has both a target and a specification other than Idle, so nothing would run; assign it both"


def _only_network(file: IometerFile) -> bool:
    workers = [worker for manager in file.managers or () for worker in manager.workers]
    return bool(workers) and all(worker.kind != "DISK" for worker in workers)


def _specs_alone(intent: Intent) -> str:
    count = len(intent.assignments)
    workers = "1 worker" if count == 1 else f"{count} workers"
    return (
        f"the file lists no workers, so Iometer would wait for its user to choose; here {workers} with 1 outstanding I/O "
        "run its specifications one after the other on --target, or the scratch file (--set threads=…, queue_depth=… for others)"
    )


def _setup(file: IometerFile, setup: Setup, intent: Intent) -> Iterator[Remark]:
    said: dict[str, _Said] = {
        "description": ("native", "the title"),
        "run_time": _run_time(setup),
        "ramp_up_s": ("native", "warmup, which is not measured"),
        "workers_to_spawn": _default_workers(setup.workers_to_spawn or NUMBER_OF_CPUS, intent),
        "disk_workers": _default_workers(setup.disk_workers, intent),
        "network_workers": ("ignored", "no network workers are made; they would have nothing to do without targets"),
        "record": ("ignored", "everything measured is recorded, whatever rows Iometer would write"),
        "test_type": ("native", _series(intent)),
        **{name: _cycling(name, intent) for name in USERS},
    }
    for name, statement in setup.at.items():
        kind, why = said.get(name, ("ignored", f"Iometer {file.version.text} does not know it either, and runs on without it"))
        yield Remark(statement.line, statement.text, kind, why)


def _run_time(setup: Setup) -> _Said:
    if run_time_s(setup):
        return "native", "duration of every test"
    return (
        "ignored",
        "Iometer runs until somebody stops it; here every test lasts as long as ours do (30 s unless --set duration=… says otherwise)",
    )


def _default_workers(count: int | str | None, intent: Intent) -> _Said:
    if not intent.implied_workers:
        return "ignored", "the manager list says which workers run"
    if isinstance(count, int) and count > 0:
        return "native", "so many workers run every specification"
    return "ignored", "how many CPUs Iometer would count is not known; 1 worker runs (--set threads=… for more)"


def _cycling(name: str, intent: Intent) -> _Said:
    series = intent.series
    if series.test_type in USERS[name]:
        return "native", _series(intent)
    return "ignored", f"test type {series.test_type} does not use it, in Iometer neither"


def _series(intent: Intent) -> str:
    series = intent.series
    labels = [stage.label for stage in series.stages if stage.label]
    parts = [f"tests with {'; '.join(labels[:4])}{' …' if len(labels) > 4 else ''}"] if labels else []
    if series.depths is not None:
        depths = ", ".join(str(depth) for depth in series.depths[:8])
        parts.append(f"queue depths {depths}{' …' if len(series.depths) > 8 else ''}")
    return ", each with ".join(parts) or "everything at once, one test per specification"


def _display(display: Display) -> Iterator[Remark]:
    for statement in display.at:
        yield Remark(statement.line, statement.text, "ignored", "it says how Iometer draws its bars; nothing measured depends on it")
