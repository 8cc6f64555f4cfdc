"""The shipped suites: TOML files in ``suites/``, each a list of experiments that reproduces one published procedure.

Model: a suite is called like its file. The files are data for `plimsoll.experiments.document`, which alone knows their options; here they
are only found and read.

    suite_names()                          # ['dd-cp', 'four-corners', …]
    suite_document("four-corners")         # the TOML as a dictionary
    check_document()                       # what ``plimsoll check`` does, which no report published
"""

from __future__ import annotations

import os

from plimsoll.catalog.folder import Folder
from plimsoll.stored import Json

_SUITES = Folder(os.path.join(os.path.dirname(__file__), "suites"), "suite")


def check_document() -> Json:
    """The experiments of ``plimsoll check``, as their file has them."""
    return Folder(os.path.dirname(__file__), "suite").document("check")


def suite_names() -> list[str]:
    """Every shipped suite."""
    return _SUITES.names()


def suite_document(name: str) -> Json:
    """A shipped suite as it stands in its file; raises `InputError` with the nearest name when there is none."""
    return _SUITES.document(name)
