"""What ended the growth of analytics workflows: memory, processors, storage, or nothing that the host shows.

Model: a workflow has one thread, so it computes or it waits. Where all processors were busy, processors ended it; where each workflow
computed for four fifths of its time, a processor of its own did, and more workflows would find others free. Else it waited while processors
were free, and what a workflow waits for is its reads and writes: storage, if the devices were busy or processors idled with I/O
outstanding. Memory comes first: workflows that together hold nearly all of it make the kernel reclaim, which looks like waiting for
storage.
Limits: a disk that serves many requests at a time is busy long before it is saturated, so storage is what remained, not what was proved to
be at its end; the curve over workflows says that. Memory that the page cache needs is not counted.

    limit(Course(busy_share=0.3, computing_share=0.2, wait_share=0.5, util_share=0.97, memory_share=0.1))    # Limit("storage", 0.8)
"""

from __future__ import annotations

from typing import Literal

from plimsoll.records import dataclass

Resource = Literal["memory", "processors", "own processor", "storage", "nothing seen"]
MEMORY_MIN, BUSY_MIN, COMPUTING_MIN = 0.9, 0.8, 0.8
#: From here on devices or waiting processors show that there was I/O to wait for.
UTIL_MIN, WAIT_MIN = 0.5, 0.1
_WORDS = {
    "memory": "memory: the workflows together held {share:.0%} of it",
    "processors": "processors: all of them were busy for {share:.0%} of the time",
    "own processor": "processors: each workflow computed for {share:.0%} of its time on one of its own",
    "storage": "storage: workflows waited for {share:.0%} of their time while processors were free",
    "nothing seen": "nothing that the host shows: workflows waited, and neither processors nor devices were busy",
}
#: The resource itself, in a sentence.
NOUNS = {
    "memory": "memory",
    "processors": "processors",
    "own processor": "processors",
    "storage": "storage",
    "nothing seen": "nothing seen",
}


@dataclass(frozen=True)
class Course:
    """How the workflows of a level spent their time, as shares; None where that is not known. ``busy_share`` is of all processors,
    ``computing_share`` of the workflows' own time, ``memory_share`` what all processes together had resident of the host's memory."""

    busy_share: float | None
    computing_share: float | None
    wait_share: float | None
    util_share: float | None
    memory_share: float | None


@dataclass(frozen=True)
class Limit:
    """A resource, with the share that says so."""

    what: Resource
    share: float

    def words(self) -> str:
        """In a sentence, without full stop."""
        return _WORDS[self.what].format(share=self.share)


def limit(course: Course) -> Limit | None:
    """What limited the workflows; None where nothing is known of them."""
    if course.computing_share is None:
        return None
    if course.memory_share is not None and course.memory_share >= MEMORY_MIN:
        return Limit("memory", course.memory_share)
    if course.busy_share is not None and course.busy_share >= BUSY_MIN:
        return Limit("processors", course.busy_share)
    if course.computing_share >= COMPUTING_MIN:
        return Limit("own processor", course.computing_share)
    waited = (course.util_share or 0.0) >= UTIL_MIN or (course.wait_share or 0.0) >= WAIT_MIN
    return Limit("storage", 1 - course.computing_share) if waited else Limit("nothing seen", 1 - course.computing_share)
