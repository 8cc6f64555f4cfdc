"""What becomes of every statement of an ICF: one remark for each, and one more where Iometer itself may surprise.

Model: the sections have a writer each; `remarks` puts their remarks in the order of the lines. Names of sections, headings over columns and
``'End …`` lines say nothing and have none. Each line of an access specification and each assigned name has its own.

    remarks(file, intent)[0].sentence("load.icf")
"""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.formats.iometer.cycling import USERS
from plimsoll.formats.iometer.document import run_time_s
from plimsoll.formats.iometer.intent import Intent
from plimsoll.formats.iometer.manager_remarks import manager_remarks
from plimsoll.formats.iometer.model import NUMBER_OF_CPUS, Display, IometerFile, Setup
from plimsoll.formats.iometer.spec_remarks import spec_remarks
from plimsoll.formats.known_targets import SHARED
from plimsoll.formats.translation import Kind, Remark

_Said = tuple[Kind, str]


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
