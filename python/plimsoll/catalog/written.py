"""A TOML file of the user's, or one sentence that says why it is none.

read_toml("mine.toml", "a workload file")     # {"stream": [...]}
"""

from __future__ import annotations

import tomllib
from typing import Any

from plimsoll.errors import InputError
from plimsoll.passwords import withheld_from

#: Deeper than anything that a user's file can mean.
DEPTH_MAX = 32


def read_toml(path: str, what: str) -> dict[str, Any]:
    """The document in the file at ``path``, which ought to be ``what``. InputError, beginning with the path, when it cannot be read."""
    try:
        with open(path, "rb") as file:
            document = tomllib.load(file)
    except tomllib.TOMLDecodeError as problem:
        raise InputError(f"{path}: not TOML: {str(problem)[:1].lower()}{str(problem)[1:]}.") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: not UTF-8 text, so not {what}.") from None
    except RecursionError:
        raise _too_deep(path, what) from None
    except ValueError:
        # The reader leaves numbers to Python, which refuses those of thousands of digits.
        raise InputError(f"{path}: a number in it has thousands of digits; write one that counts something.") from None
    except OSError as problem:
        raise InputError(f"{path}: cannot be read ({(problem.strerror or str(problem)).lower()}).") from None
    if _is_deep(document):
        raise _too_deep(path, what)
    kept: dict[str, Any] = withheld_from(document)
    return kept


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
