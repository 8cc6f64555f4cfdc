"""Which jobs run at the same time: the groups that ``stonewall`` and ``wait_for`` make of a file.

Model: a job with ``stonewall`` waits for all jobs before it. ``wait_for=NAME`` waits for one; that is the same when nothing else
is running. A further job file begins behind a wall.

    batches(jobs)        # [[Job, Job], [Job]]
"""

from __future__ import annotations

from plimsoll.formats.fio.job import Job


def batches(jobs: list[Job]) -> list[list[Job]]:
    """The jobs in groups, in the order in which they run. Raises `InputError` when a job waits for one that is not there."""
    found: list[list[Job]] = []
    waiting = ""
    for job in jobs:
        awaited = str(job.get("wait_for", ""))
        if awaited:
            _check(job, awaited, jobs)
        wall = bool(job.get("stonewall")) or job.waits_for_file
        if not found or wall:
            if job.get("stonewall"):
                job.native("stonewall", "a further experiment" if found else "there is nothing before it to wait for")
            found.append([job])
            waiting = awaited
        elif awaited == waiting:
            found[-1].append(job)
        elif awaited:
            _remark(job, awaited, found[-1])
            found.append([job])
            waiting = awaited
        else:
            job.unsupported("", f"it would start before the job that waits for {waiting!r}; write it above, or stonewall")
            found[-1].append(job)
    return found


def _check(job: Job, awaited: str, jobs: list[Job]) -> None:
    before = [other.name for other in jobs[: next(index for index, other in enumerate(jobs) if other is job)]]
    if awaited == job.name:
        raise job.wrong("wait_for", "a job cannot wait for itself; name one above it.")
    if awaited not in before:
        raise job.wrong(
            "wait_for", f"no job above is called {awaited!r}; name one of {', '.join(before) or 'those to come: there is none'}."
        )


def _remark(job: Job, awaited: str, running: list[Job]) -> None:
    others = [other.name for other in running if other.name != awaited]
    if others:
        job.unsupported("wait_for", f"it would start while {others[0]!r} is still running; write stonewall to wait for all")
