"""A file of one's own that describes an array or a part, read and checked for its shape; values in units have become numbers.

read_file("mine.toml", "an array")     # {"host": {...}, "devices": [...]}
"""

from __future__ import annotations

from plimsoll.catalog.composition.key_units import without_units
from plimsoll.catalog.composition.shape import check_shape
from plimsoll.catalog.toml_file import read_toml
from plimsoll.errors import InputError
from plimsoll.stored import Json


def read_file(path: str, what: str) -> Json:
    """The document in the file at ``path``, which is that of ``what``. InputError, beginning with the path, when it is none."""
    document = read_toml(path, f"the file of {what}")
    try:
        check_shape(document)
        return dict(without_units(document))
    except InputError as problem:
        raise InputError(f"{path}: {problem}") from None
