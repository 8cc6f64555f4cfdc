"""A file of one's own that describes an array or a part, read and checked for its shape.

read_file("mine.toml", "an array")     # {"host": {...}, "devices": [...]}
"""

from __future__ import annotations

import tomllib

from plimsoll.catalog.composition.shape import check_shape
from plimsoll.catalog.folder import Json
from plimsoll.errors import InputError


def read_file(path: str, what: str) -> Json:
    """The document in the file at ``path``, which is that of ``what``. InputError, beginning with the path, when it is none."""
    try:
        with open(path, "rb") as file:
            document = tomllib.load(file)
        check_shape(document)
    except tomllib.TOMLDecodeError as problem:
        raise InputError(f"{path}: not TOML: {str(problem)[:1].lower()}{str(problem)[1:]}.") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: not UTF-8 text, so not the file of {what}.") from None
    except OSError as problem:
        raise InputError(f"{path}: cannot be read ({str(problem.strerror).lower()}).") from None
    except InputError as problem:
        raise InputError(f"{path}: {problem}") from None
    return document
