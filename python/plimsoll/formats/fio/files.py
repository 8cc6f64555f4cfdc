"""Which files a clone of a job uses, under fio's rules for names.

Model: ``filename=a:b`` names them for all clones; otherwise every clone has files of its own, named by ``filename_format``. Of several
directories each clone takes the next. A job called like a device uses the device.

    files_of(job, clone=1)        # ("/data/reader.1.0",)
"""

from __future__ import annotations

import re

from plimsoll.formats.fio.job import Job

_FORMAT = "$jobname.$jobnum.$filenum"
#: More than this needs a driver of file trees, not a target.
FILES_MAX = 256


def files_of(job: Job, clone: int) -> tuple[str, ...]:
    """The paths, in the order in which fio opens them."""
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


def remark_files(job: Job) -> None:
    """What cannot be a target."""
    count = job.get("nrfiles", 1)
    named = _names(job.get("filename", ""))
    if named and job.has("nrfiles") and count != len(named):
        job.idle("nrfiles", "filename= names the files")
    elif count > FILES_MAX:
        job.unsupported("nrfiles", f"a target has at most {FILES_MAX} files here; more of them need a driver of file trees")
    if named:
        job.idle("filename_format", "filename= names the files")
    if len(set(named)) < len(named):
        job.surprise("filename", "fio takes a file that is named twice as two, and asks for the same blocks of both; here it is one file")
    for name in named:
        if name in ("-", "/dev/null", "/dev/zero"):
            job.unsupported("filename", f"{name} holds no blocks; ioengine=null measures without a target")


def _names(text: str) -> list[str]:
    """Names between colons; a backslash keeps a colon in a name."""
    return [name.replace("\\:", ":") for name in re.split(r"(?<!\\):", text) if name]
