"""A fio job file, or several, as an experiment file of ours with a remark for every line.

Model: sections → jobs → groups of jobs that run at the same time, each of which is one workload and one experiment. Each job is decided
once (`resolve`); what becomes of it follows from that alone (`group`), with notes on its options, which the ledger puts on its lines.
Everything that is malformed raises `InputError` with file and line; everything that is well formed and has no counterpart becomes a remark.

    translation = translate(text, "job.fio", include, environment)
    translation.document["experiment"][0]["kind"]        # "single"
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence

from plimsoll.formats.fio.group import Around, Group, Names, group, tree_group
from plimsoll.formats.fio.jobs import Job, Surroundings, batches, read_jobs
from plimsoll.formats.fio.layout import laid_out
from plimsoll.formats.fio.ledger import Ledger
from plimsoll.formats.fio.notes import Note, Unfit, ignored, unsupported
from plimsoll.formats.fio.quantity import bytes_text
from plimsoll.formats.fio.read import Include, Machine, Section, read_sections, this_machine
from plimsoll.formats.fio.replay import Log, Sources, logs_of
from plimsoll.formats.fio.resolve import Source, resolved
from plimsoll.formats.fio.trees import is_of_files
from plimsoll.formats.known_targets import Found, KnownTargets, known_targets, nothing_found
from plimsoll.formats.parts import TargetParts
from plimsoll.formats.translation import Translation
from plimsoll.stored import Json

FORMAT = "fio"
NOTHING_KNOWN = KnownTargets()

_HEADER = re.compile(r"^[ \t]*\[[^\]\n=]+\][ \t]*(?:[;#].*)?$", re.MULTILINE)
_OPTION = re.compile(
    r"^[ \t]*(rw|readwrite|ioengine|bs|blocksize|bsrange|bssplit|iodepth|numjobs|filename|directory|size|filesize|direct|nrfiles"
    r"|runtime|time_based|stonewall|group_reporting|rwmixread|thread|verify|ramp_time|loops|random_distribution)[ \t]*(=|$|[;#])",
    re.MULTILINE,
)


def recognises(name: str, head: str) -> bool:
    """Whether a file is a fio job file, by its name or by its first lines."""
    if name.endswith(".fio"):
        return True
    return bool(_HEADER.search(head)) and bool(_OPTION.search(head)) and "[[" not in head


def translate(
    text: str,
    source: str,
    include: Include | None = None,
    environment: Mapping[str, str] | None = None,
    targets: Found = nothing_found,
) -> Translation:
    """The translation of a job file. ``targets`` says how long files and devices are, where the caller can tell."""
    sections = read_sections(text, source, include)
    return translate_sections(sections, source, Surroundings(environment or {}, this_machine(), include), known_targets(targets))


def translate_sections(
    sections: Sequence[Section],
    source: str,
    around: Surroundings | None = None,
    targets: KnownTargets = NOTHING_KNOWN,
    ledger: Ledger | None = None,
) -> Translation:
    """The translation of sections that were read already; ``ledger`` may hold remarks on what stood before them."""
    ledger = ledger or Ledger()
    around = around or Surroundings({}, Machine(4096, 1024, 1))
    jobs = read_jobs(sections, ledger, around)
    logs = _logs(jobs, around.include, targets, ledger)
    names, groups, notes = Names(), list[Group](), list[tuple[Job, Note]]()
    elapsed_ns: int | None = 0
    for together in batches(jobs, ledger):
        titles = tuple((job.name, str(job.values.get("description") or "")) for job in together)
        made, said = _group(together, logs, Around(targets, elapsed_ns, names, titles))
        groups.append(made)
        notes += said
        elapsed_ns = None if elapsed_ns is None or made.lasts_ns is None else elapsed_ns + made.lasts_ns
    experiments = _laid_out(groups)
    document = {
        "title": f"fio: {source.rsplit('/', 1)[-1]}",
        "source": f"fio job file {source}",
        "workload": [made.workload for made in groups],
        "experiment": experiments,
    }
    ledger.say(notes)
    return Translation(source, FORMAT, document, ledger.remarks())


def _logs(jobs: Sequence[Job], include: Include | None, targets: KnownTargets, ledger: Ledger) -> dict[Job, tuple[Log, ...]]:
    """The logs that the jobs repeat; each is looked for beside the file whose line names it."""
    found, said = {}, list[tuple[Job, Note]]()
    for job in jobs:
        folder = os.path.dirname(job.lines["read_iolog"].place.source) if "read_iolog" in job.lines else ""
        try:
            found[job], notes = logs_of(job.values.get("read_iolog"), Sources(folder, include, targets))
        except Unfit as unfit:
            raise job.wrong(unfit) from None
        said += [(job, note) for note in notes]
    if said:
        ledger.say(said)
    return found


def _group(jobs: Sequence[Job], logs: Mapping[Job, tuple[Log, ...]], around: Around) -> tuple[Group, list[tuple[Job, Note]]]:
    """The workload and experiment of jobs that run at the same time, and what is to be said of them."""
    why = "equal seeds give equal requests; --set seed=… gives others"
    notes = [(job, ignored("randrepeat", why)) for job in jobs if not job.values.get("randrepeat", True)]
    in_trees = [job for job in jobs if is_of_files(job.values)]
    known = in_trees or list(jobs)
    decided = []
    for job in known:
        try:
            decided.append(resolved(Source(job.name, job.values, job.numbers, around.targets.target, logs[job], bool(in_trees))))
        except Unfit as unfit:
            raise job.wrong(unfit) from None
    try:
        made = tree_group(decided, around) if in_trees else group(decided, around)
    except Unfit as unfit:
        raise known[unfit.job].wrong(unfit) from None
    why = "jobs on blocks and jobs on many files have targets of their own; put stonewall between"
    notes += [(job, unsupported("", why)) for job in jobs if job not in known]
    return made, [*notes, *((known[number], note) for number, note in made.notes)]


def _laid_out(groups: Sequence[Group]) -> list[Json]:
    """The experiments, with the files that several groups make of one length; a shorter one would be made anew between."""
    placed = iter(laid_out([each.placed for each in groups if each.placed.paths]))
    return [_on(each.experiment, next(placed)) if each.placed.paths else each.experiment for each in groups]


def _on(experiment: Json, placed: TargetParts) -> Json:
    """An experiment on the files as they are made in the end."""
    settings = {name: value for name, value in experiment["set"].items() if name != "size" or placed.size_bytes is not None}
    settings |= {} if placed.size_bytes is None else {"size": bytes_text(placed.size_bytes)}
    configurations = [{**experiment["configurations"][0], "target": placed.target}]
    return experiment | {"set": settings, "configurations": configurations}
