"""The most that a stream is asked to transfer: where a job asks for more, it ends there, and a remark says so.

capped_bytes(job, 1 << 60)          # 1 << 50, and "loops=…" is remarked upon
"""

from __future__ import annotations

from plimsoll.formats.fio.job import Job
from plimsoll.formats.fio.quantity import bytes_text

#: The most that our options take.
AMOUNT_MAX = 1 << 50
REQUESTS_MAX = 10**15


def capped_bytes(job: Job, wanted: int) -> int:
    """The bytes to transfer, at most a pebibyte."""
    if wanted > AMOUNT_MAX:
        _remark(job, "io_size", f"it makes {bytes_text(wanted)}, and a job ends after 1 PiB here")
    return min(wanted, AMOUNT_MAX)


def capped_requests(job: Job, wanted: int) -> int:
    """The requests to issue, at most 10^15."""
    if wanted > REQUESTS_MAX:
        _remark(job, "number_ios", f"it makes {wanted} requests, and a job ends after {REQUESTS_MAX} here")
    return min(wanted, REQUESTS_MAX)


def _remark(job: Job, other: str, why: str) -> None:
    """On the repetitions, if there are any, or on the option that says how much."""
    names = [name for name in ("loops", other, "size", "filesize") if job.has(name) and (name != "loops" or job.get(name) > 1)]
    job.ignored(names[0] if names else "", f"{why}, which no run reaches in its time")
