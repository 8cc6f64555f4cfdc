"""A TOML file of the user's, or one sentence that says why it is none.

read_toml("mine.toml", "a workload file")     # {"stream": [...]}
"""

from __future__ import annotations

import re
import tomllib
from typing import Any

from plimsoll.errors import InputError
from plimsoll.passwords import withheld_from

#: Deeper than anything that a user's file can mean.
DEPTH_MAX = 32
#: Digits from which Python refuses a number.
_LONG_NUMBER = re.compile(rb"[0-9](?:_?[0-9]){4299}")


def read_toml(path: str, what: str) -> dict[str, Any]:
    """The document in the file at ``path``, which ought to be ``what``. InputError, beginning with the path, when it cannot be read."""
    content = b""
    try:
        with open(path, "rb") as file:
            content = file.read()
        # As the reader of files takes them.
        document = tomllib.loads(content.decode())
    except tomllib.TOMLDecodeError as problem:
        said = str(problem).replace("(at end of document)", f"(at line {_line(content.rstrip(), None)}, where the file ends)")
        raise InputError(f"{path}: not TOML: {said[:1].lower()}{said[1:]}.") from None
    except UnicodeDecodeError as problem:
        raise InputError(f"{path}: not UTF-8 text at line {_line(content, problem.start)}, so not {what}.") from None
    except RecursionError:
        raise _too_deep(path, what) from None
    except ValueError:
        # The reader leaves numbers to Python, which refuses those of thousands of digits.
        number = _LONG_NUMBER.search(content)
        where = "" if number is None else f" at line {_line(content, number.start())}"
        raise InputError(f"{path}: a number{where} has thousands of digits; write one that counts something.") from None
    except OSError as problem:
        raise InputError(f"{path}: cannot be read ({(problem.strerror or str(problem)).lower()}).") from None
    if _is_deep(document):
        raise _too_deep(path, what)
    kept: dict[str, Any] = withheld_from(document)
    return kept


def _line(content: bytes, place: int | None) -> int:
    """The line that a byte is in, from 1; the last one where none is named."""
    return content.count(b"\n", 0, len(content) if place is None else place) + 1


def _too_deep(path: str, what: str) -> InputError:
    return InputError(f"{path}: nested more than {DEPTH_MAX} deep, so not {what}; write it flatter.")


def _is_deep(document: Any) -> bool:
    waiting = [(document, 0)]
    while waiting:
        value, depth = waiting.pop()
        inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        if depth == DEPTH_MAX and inside:
            return True
        waiting.extend((inner, depth + 1) for inner in inside)
    return False
