"""A fio job file, or several, as an experiment file of ours with a remark for every line.

Model: lexer → sections → jobs → groups. Everything that is malformed raises `InputError` with file and line; everything that is well formed
and has no counterpart becomes a remark.

    translation = translate(text, "job.fio", include, environment)
    translation.document["experiment"][0]["kind"]        # "single"
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from plimsoll.formats.fio.batch import batches
from plimsoll.formats.fio.group import Group, Names, group
from plimsoll.formats.fio.job import Surroundings, read_jobs
from plimsoll.formats.fio.ledger import Ledger
from plimsoll.formats.fio.lexer import Include, Section, read_sections
from plimsoll.formats.fio.placed import laid_out
from plimsoll.formats.fio.quantity import bytes_text
from plimsoll.formats.fio.replay import open_logs
from plimsoll.formats.fio.substitution import Machine, this_machine
from plimsoll.formats.known_targets import Found, KnownTargets, known_targets, nothing_found
from plimsoll.formats.translation import Translation

Json = dict[str, Any]

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
    for job in jobs:
        job.targets = targets
    open_logs(jobs, around.include, targets)
    names, groups = Names(), list[Group]()
    elapsed_ns: int | None = 0
    for together in batches(jobs):
        made = group(together, names, targets, elapsed_ns)
        groups.append(made)
        elapsed_ns = None if elapsed_ns is None or made.lasts_ns is None else elapsed_ns + made.lasts_ns
    _lay_out(groups)
    document = {
        "title": f"fio: {source.rsplit('/', 1)[-1]}",
        "source": f"fio job file {source}",
        "workload": [made.workload for made in groups],
        "experiment": [made.experiment for made in groups],
    }
    return Translation(source, FORMAT, document, ledger.remarks())


def _lay_out(groups: Sequence[Group]) -> None:
    """Gives the files that several groups make one length; a shorter one would be made anew between."""
    made = [each for each in groups if each.placed.paths]
    for each, placed in zip(made, laid_out([each.placed for each in made]), strict=True):
        each.experiment["configurations"][0]["target"] = placed.target
        if placed.size_bytes is not None:
            each.experiment["set"]["size"] = bytes_text(placed.size_bytes)
        else:
            each.experiment["set"].pop("size", None)
