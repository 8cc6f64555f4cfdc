"""A mistake of our own, told: one sentence, the details in a file, exit code 70.

Model: whatever leaves a command and is no `PlimsollError` is such a mistake, in whichever thread, panics of the engine included. The file
holds what whoever mends it needs: traceback, versions, the command line and the platform. Environment variables, results and data are not
in it. ``PLIMSOLL_DEBUG=1`` shows the traceback as well. Memory that ran out is told as what it is; its details are kept all the same.

    code = told(problem, ["run", "oltp-db"])        # EXIT_MISTAKE
"""

from __future__ import annotations

import os
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from plimsoll import __version__
from plimsoll.errors import EXIT_MISTAKE

DEBUG = "PLIMSOLL_DEBUG"
#: So many characters of a message stand in the sentence; the file has all.
_TOLD_MAX = 200


def told(problem: BaseException, arguments: Sequence[str]) -> int:
    """Say what happened on stderr, keep the details; the exit code."""
    text = "".join(traceback.format_exception(problem))
    if os.environ.get(DEBUG):
        print(text, file=sys.stderr, end="")
    cause = _sentence(problem)
    print(f"plimsoll: {cause} {_kept(_details(text, arguments))}", file=sys.stderr)
    return EXIT_MISTAKE


@contextmanager
def threads_told(arguments: Sequence[str]) -> Iterator[list[int]]:
    """Within the block a mistake in a thread is told, too; the exit codes of those that were."""
    codes: list[int] = []

    def tell(args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None and not isinstance(args.exc_value, SystemExit):
            codes.append(told(args.exc_value, arguments))

    before, threading.excepthook = threading.excepthook, tell
    try:
        yield codes
    finally:
        threading.excepthook = before


def _sentence(problem: BaseException) -> str:
    if isinstance(problem, MemoryError):
        return "there is not enough memory for this, so it was given up; what was measured before is kept."
    said = " ".join(str(problem).split()) or "without a message"
    shortened = said if len(said) <= _TOLD_MAX else f"{said[:_TOLD_MAX]}…"
    return f"this is a mistake in Plimsoll, not in what you typed ({type(problem).__name__}: {shortened})."


def _details(text: str, arguments: Sequence[str]) -> str:
    # Imported where it is needed: few commands have a mistake to tell.
    import platform

    return "\n".join(
        [
            f"plimsoll {__version__}, Python {platform.python_version()}, {platform.platform()}",
            f"command: {list(arguments)!r}",
            f"directory: {_folder()!r}",
            "",
            text,
        ]
    )


def _folder() -> str:
    try:
        return os.getcwd()
    except OSError as problem:
        return f"none ({problem.strerror})"


def _kept(details: str) -> str:
    """The sentence that says where the details are."""
    try:
        # Every command waits for this module, and hardly one for that.
        import tempfile

        file, path = tempfile.mkstemp(prefix="plimsoll-mistake-", suffix=".txt")
        with open(file, "w", encoding="utf-8", errors="backslashreplace") as written:
            written.write(details)
    except (OSError, ImportError) as problem:
        reason = (getattr(problem, "strerror", None) or str(problem)).lower()
        return f"Its details could not be written ({reason}); {DEBUG}=1 shows them when the command is given again."
    return f"The details are in {path}. Please send that file to whoever maintains your Plimsoll."
