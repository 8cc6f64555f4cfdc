"""The file of a workload that ``plimsoll fit`` writes: its first line, its name, and whether it may be written.

Model: the first line says who wrote the file, so a later fit may replace it, and nothing of somebody else's is written over.

    check_output("mine.toml")
    write_workload("mine.toml", workload)
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from plimsoll.displayed import encoded, quoted
from plimsoll.errors import InputError
from plimsoll.store.durable import check_replaceable, replace_file

#: The first line of the files written here.
BEGINNING = b"# Fitted to a trace by Plimsoll\n"


def name_of(path: str) -> str:
    """A workload's name out of a file's: letters, digits, - and _."""
    stem = os.path.basename(path).split(".")[0]
    return re.sub(r"[^A-Za-z0-9_-]+", "-", stem).strip("-") or "fitted"


def check_output(path: str | None) -> None:
    """Refuse before a long trace is read what could not be written afterwards, or not be found by 'plimsoll run'."""
    if path is None:
        return
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise InputError(f"{path}: there is no directory {quoted(folder)}; make it first.")
    if os.path.isdir(path):
        raise InputError(f"{path}: this is a directory; name a file in it, for example {quoted(os.path.join(path, 'fitted.toml'))}.")
    if not path.endswith(".toml"):
        raise InputError(f"{path}: 'plimsoll run' takes files that end in .toml for workloads; write {path}.toml.")
    check_replaceable(path, (BEGINNING,))


def write_workload(path: str, workload: Mapping[str, Any]) -> None:
    """Replaces the file as a whole."""
    import tomli_w

    replace_file(path, BEGINNING + encoded(tomli_w.dumps(workload)), durable=False)
