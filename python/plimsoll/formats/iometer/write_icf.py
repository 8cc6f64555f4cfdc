"""Writes an ICF in the canonical form of its version: what Iometer of that version reads.

Model: sections in the order setup, display, specifications, managers; what is None is left out. What is written reads equal.
Limits: before 1998.05.21 names, alignment and reply of specifications are not written, because the form has no place for them.

    write(IometerFile(Version("1.1.0"), specs=(spec,)))
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from plimsoll.formats.iometer.model import (
    TEST_TYPES,
    AccessSpec,
    Cycling,
    Display,
    IometerFile,
    Manager,
    Settings,
    Setup,
    Target,
    Version,
    Worker,
)

#: Lines that name a section are filled up to this width.
WIDTH = 80
COLUMN = 11
COLUMN_OLD = 8


def write(file: IometerFile) -> str:
    """The text of ``file``, with a line end after every line."""
    version = f"Version {file.version.text} "
    return "\n".join([version, *_sections(file), version, ""])


def _sections(file: IometerFile) -> Iterator[str]:
    if file.setup is not None:
        yield _header("TEST SETUP")
        yield from _setup(file.setup, file.version)
        if file.version.strict_setup:
            yield "'END test setup"
    if file.display is not None:
        yield _header("RESULTS DISPLAY")
        yield from _display(file.display)
        yield "'END results display"
    if file.specs is not None:
        yield _header("ACCESS SPECIFICATIONS")
        yield from _specs(file.specs, file.version)
        yield "'END access specifications"
    if file.managers is not None:
        yield _header("MANAGER LIST")
        for manager in file.managers:
            yield from _manager(manager)
        yield "'END manager list"


def _header(name: str) -> str:
    return f"'{name} ".ljust(WIDTH, "=")


def _key(name: str, *values: object) -> Iterator[str]:
    yield f"'{name}"
    for value in values:
        yield f"\t{value}"


def _given(name: str, value: object) -> Iterator[str]:
    if value is not None:
        yield from _key(name, value)


def _columns(*values: object, width: int = COLUMN) -> str:
    """Values below each other; at least one blank stays between two, however long they are."""
    return " ".join([*(str(value).ljust(width - 1) for value in values[:-1]), str(values[-1])])


def _setup(setup: Setup, version: Version) -> Iterator[str]:
    if setup.description is not None:
        # A text of no length has no line.
        yield from _key("Test Description", *filter(None, [setup.description]))
    if setup.run_time is not None:
        yield "'Run Time"
        yield f"'\t{_columns('hours', 'minutes', 'seconds')}"
        yield f"\t{_columns(*setup.run_time)}"
    yield from _given("Ramp Up Time (s)", setup.ramp_up_s)
    yield from _given("Default Workers to Spawn", setup.workers_to_spawn)
    yield from _given("Default Disk Workers to Spawn", setup.disk_workers)
    yield from _given("Default Network Workers to Spawn", setup.network_workers)
    yield from _given("Record Results", setup.record)
    yield from _cycling("Worker Cycling", setup.worker_cycling)
    yield from _cycling("Disk Cycling", setup.target_cycling)
    yield from _cycling("Queue Depth Cycling", setup.queue_cycling)
    if setup.test_type is not None:
        yield from _key("Test Type", setup.test_type if version.named_specs else TEST_TYPES.index(setup.test_type))
    for name, values in setup.unknown:
        yield from _key(name, *values)


def _cycling(name: str, cycling: Cycling | None) -> Iterator[str]:
    if cycling is None:
        return
    end = cycling.end is not None
    yield f"'{name}"
    yield "'\t" + _columns("start", *(["end"] if end else []), "step", "step type")
    yield "\t" + _columns(cycling.start, *([cycling.end] if end else []), cycling.step, cycling.step_type)


def _display(display: Display) -> Iterator[str]:
    for name, values in display.statements:
        yield from _key(name, *values)


def _specs(specs: Iterable[AccessSpec], version: Version) -> Iterator[str]:
    if not version.named_specs:
        yield "'size    %size   reads   random  delay   burst"
    for spec in specs:
        if version.named_specs:
            yield from _key("Access specification name,default assignment", f"{spec.name},{spec.assignment}")
            yield "'size,% of size,% reads,% random,delay,burst,align,reply"
        for line in spec.lines:
            first = (line.size, line.share, line.reads, line.random, line.delay_ms, line.burst)
            if version.named_specs:
                yield "\t" + ",".join(str(value) for value in (*first, line.align, line.reply))
            else:
                yield "\t" + _columns(*first, width=COLUMN_OLD)


def _manager(manager: Manager) -> Iterator[str]:
    yield from _key("Manager ID, manager name", f"{manager.number},{manager.name}")
    if manager.address is not None:
        yield from _key("Manager network address", *filter(None, [manager.address]))
    for worker in manager.workers:
        yield from _worker(worker)
    yield "'End manager"


def _worker(worker: Worker) -> Iterator[str]:
    yield from _key("Worker", worker.name)
    yield from _key("Worker type", worker.kind)
    if worker.settings is not None:
        yield "'Default target settings for worker"
        yield from _settings(worker.settings)
        yield "'End default target settings for worker"
    if worker.specs is not None:
        yield from _key("Assigned access specs", *worker.specs)
        yield "'End assigned access specs"
    if worker.targets is not None:
        yield "'Target assignments"
        for target in worker.targets:
            yield from _target(target)
        yield "'End target assignments"
    yield "'End worker"


def _settings(settings: Settings) -> Iterator[str]:
    if settings.outstanding is not None:
        yield from _outstanding(settings, settings.outstanding)
    if settings.maximum_sectors is not None:
        pattern = settings.data_pattern
        name = "Disk maximum size,starting sector" + ("" if pattern is None else ",Data pattern")
        values = [settings.maximum_sectors, settings.starting_sector or 0, *([] if pattern is None else [pattern])]
        yield from _key(name, ",".join(str(value) for value in values))
    if settings.network_interface is not None:
        yield from _key("Local network interface", *filter(None, [settings.network_interface]))
    yield from _given("VI outstanding IOs", settings.vi_outstanding)


def _outstanding(settings: Settings, outstanding: int) -> Iterator[str]:
    name, values = "Number of outstanding IOs", [str(outstanding)]
    if settings.connection_rate is not None:
        name += ",test connection rate,transactions per connection"
        values += [_switch(settings.connection_rate), str(settings.transactions or 0)]
        if settings.use_fixed_seed is not None:
            name += ",use fixed seed,fixed seed value"
            values += [_switch(settings.use_fixed_seed), str(settings.fixed_seed or 0)]
    yield from _key(name, ",".join(values))


def _switch(value: bool) -> str:
    return "ENABLED" if value else "DISABLED"


def _target(target: Target) -> Iterator[str]:
    yield from _key("Target", target.name)
    yield from _key("Target type", target.kind)
    if target.manager is not None:
        yield from _key("Target manager ID, manager name", f"{target.manager[0]},{target.manager[1]}")
    yield "'End target"
