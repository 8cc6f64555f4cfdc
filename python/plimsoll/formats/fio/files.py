"""Which files a clone of a job uses, under fio's rules for names.

Model: ``filename=a:b`` names them for all clones; otherwise every clone has files of its own, named by ``filename_format``. Of several
directories each clone takes the next. A job called like a device uses the device. A target that was typed takes the place of all.

    files_of(job, clone=1)        # ("/data/reader.1.0",)
"""

from __future__ import annotations

import re

from plimsoll.formats.fio.job import Job
from plimsoll.formats.known_targets import is_of_windows

#: What names files, or says how several are used.
_NAMING = ("filename", "directory", "filename_format", "nrfiles", "file_service_type", "replay_redirect")
_FORMAT = "$jobname.$jobnum.$filenum"
#: More names are not written down. How many files a run can have open says the system then, and the run in one sentence.
FILES_MAX = 1 << 16


def files_of(job: Job, clone: int) -> tuple[str, ...]:
    """The paths, in the order in which fio opens them."""
    return (job.target,) if job.target else named_files(job, clone)


def named_files(job: Job, clone: int) -> tuple[str, ...]:
    """The paths that the job itself names."""
    directories = _names(job.get("directory", ""))
    directory = f"{directories[clone % len(directories)].rstrip('/')}/" if directories else ""
    named = _names(job.get("filename", ""))
    count = job.get("nrfiles", 1)
    if named:
        return tuple(f"{directory}{name}" for name in dict.fromkeys(named))
    if count == 1 and job.name.startswith("/dev/"):
        return (job.name,)
    pattern = job.get("filename_format") or _FORMAT
    known = {"jobname": job.name.replace("/", "."), "jobnum": str(clone), "clientuid": ""}
    found = []
    for number in range(min(count, FILES_MAX)):
        words = known | {"filenum": str(number)}
        name = re.sub(r"\$(jobname|jobnum|filenum|clientuid)", lambda match, words=words: words[match.group(1)], pattern)
        found.append(f"{directory}{name}")
    return tuple(dict.fromkeys(found))


def remark_target(job: Job) -> None:
    """What becomes of the names where a typed target takes their place."""
    for name in _NAMING if job.target else ():
        if job.has(name):
            job.native(name, f"--target {job.target} takes the place of what it names")


def remark_files(job: Job) -> None:
    """What cannot be a target."""
    remark_target(job)
    if job.target:
        return
    count = job.get("nrfiles", 1)
    named = _names(job.get("filename", ""))
    if named and job.has("nrfiles") and count != len(named):
        job.idle("nrfiles", "filename= names the files")
    elif count > FILES_MAX:
        job.unsupported("nrfiles", f"a target has at most {FILES_MAX} files here; write fewer of them")
    if named:
        job.idle("filename_format", "filename= names the files")
    if len(set(named)) < len(named):
        job.surprise("filename", "fio takes a file that is named twice as two, and asks for the same blocks of both; here it is one file")
    for name in named:
        if name in ("-", "/dev/null", "/dev/zero"):
            job.unsupported("filename", f"{name} holds no blocks; ioengine=null measures without a target")
        elif is_of_windows(name):
            job.unsupported("filename", f"{name} is a name of Windows; name a file or device of this system with --target")


def _names(text: str) -> list[str]:
    """Names between colons; a backslash keeps a colon in a name."""
    return [name.replace("\\:", ":") for name in re.split(r"(?<!\\):", text) if name]
