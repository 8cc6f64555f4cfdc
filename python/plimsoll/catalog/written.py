"""A TOML file of the user's, or one sentence that says why it is none.

read_toml("mine.toml", "a workload file")     # {"stream": [...]}
"""

from __future__ import annotations

import tomllib
from typing import Any

from plimsoll.errors import InputError


def read_toml(path: str, what: str) -> dict[str, Any]:
    """The document in the file at ``path``, which ought to be ``what``. InputError, beginning with the path, when it cannot be read."""
    try:
        with open(path, "rb") as file:
            return tomllib.load(file)
    except tomllib.TOMLDecodeError as problem:
        raise InputError(f"{path}: not TOML: {str(problem)[:1].lower()}{str(problem)[1:]}.") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: not UTF-8 text, so not {what}.") from None
    except OSError as problem:
        raise InputError(f"{path}: cannot be read ({str(problem.strerror).lower()}).") from None
