"""What the engine sees at a path of this host, without a target: an answer, what killed runs left there, signatures.

signatures("/dev/sdb")
"""

from __future__ import annotations

from plimsoll.handover import as_name
from plimsoll.silence import no_answer


def await_answer(path: str) -> None:
    """Wait until what is at ``path`` has answered, whatever it says; for who looks at it himself. See `plimsoll.silence`."""
    from plimsoll import _core

    _core.await_path(as_name(path), no_answer)


def left_behind(directory: str) -> list[tuple[str, int]]:
    """The scratch files and trees in a directory, with their sizes in bytes, that runs left behind when they were killed."""
    from plimsoll import _core

    return _core.left_behind(directory, no_answer)


def signatures(path: str) -> list[tuple[str, int]]:
    """The known signatures on a file or block device, each with its offset in bytes. Raises `TargetError` when it cannot be read."""
    from plimsoll import _core

    return _core.signatures(path)
