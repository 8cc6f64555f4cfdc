"""The shipped layouts: TOML files in ``layouts/``, each a way to put devices together.

Model: a layout is called like its file. The files are data for `plimsoll.layouts.document`, which alone knows their options; here they are
only found and read.

    layout_names()                       # ['btrfs-raid10', 'ext4', …]
    layout_document("lvm-xfs")           # the TOML as a dictionary
"""

from __future__ import annotations

import os

from plimsoll.catalog.folder import Folder
from plimsoll.catalog.toml_file import read_toml
from plimsoll.stored import Json

_LAYOUTS = Folder(os.path.join(os.path.dirname(__file__), "layouts"), "layout")


def layout_names() -> list[str]:
    """Every shipped layout."""
    return _LAYOUTS.names()


def layout_document(name: str) -> Json:
    """A shipped layout as it stands in its file; raises `InputError` with the nearest name when there is none."""
    return _LAYOUTS.document(name)


def layout_of_name(name: str) -> Json:
    """The document of a shipped layout, or of the file of that name."""
    return read_toml(name, "the file of a layout") if name.endswith(".toml") or os.sep in name else layout_document(name)


def layout_path(name: str) -> str:
    """The file of a shipped layout."""
    return os.path.join(_LAYOUTS.path, f"{name}.toml")
