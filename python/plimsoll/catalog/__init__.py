"""The shipped workloads: TOML files in ``workloads/``, each with purpose, source, rationale and expected behaviour.

The shipped suites (`plimsoll.catalog.suites`) and the published figures (`plimsoll.catalog.figures`) lie beside them.

Model: a workload is called like its file; one is read when it is asked for, all only to list them or to find a tag. The files are data for
`crates/workload`, which alone knows their options; here only name, tags, group and order are looked at.

    document("oltp-db")                  # the TOML as a dictionary
    names_tagged("proliant")             # sequential, random, combined
    sources("proliant")                  # what a WORKLOAD argument stands for: names or the path of a file
"""

from __future__ import annotations

import os
import re
from functools import cache

from plimsoll.catalog.figures import matrix, published, published_names, rows_for
from plimsoll.catalog.suites import check_document, suite_document, suite_names
from plimsoll.catalog.toml_file import read_toml
from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.near import nearest
from plimsoll.stored import Json

__all__ = [
    "GROUPS",
    "all_tags",
    "check_document",
    "document",
    "file_of",
    "is_file",
    "load",
    "matrix",
    "names",
    "names_tagged",
    "published",
    "published_names",
    "read",
    "rows_for",
    "sources",
    "suite_document",
    "suite_names",
    "tags",
]


#: Headings in the order of reports; workloads of other groups follow by name.
GROUPS = ("sequential", "random", "combined", "files", "databases", "mail")

# Plain paths rather than importlib.resources: that import alone costs 17 ms, and a package with an extension is always unpacked.
_FOLDER = os.path.join(os.path.dirname(__file__), "workloads")


def names() -> list[str]:
    """Every shipped workload, by group, then by name with numbers in their order."""
    return sorted(_names(), key=_rank)


def names_tagged(tag: str) -> list[str]:
    """The shipped workloads that carry ``tag``."""
    return [name for name in names() if tag in tags(name)]


def tags(name: str) -> list[str]:
    """The tags of one shipped workload."""
    return list(document(name).get("tags", []))


def all_tags() -> list[str]:
    """Every tag that some shipped workload carries."""
    return sorted({tag for name in _names() for tag in tags(name)})


@cache
def document(name: str) -> Json:
    """The definition of a shipped workload as it stands in its file."""
    return read(os.path.join(_FOLDER, f"{name}.toml"))


def sources(asked: str) -> list[str]:
    """What a WORKLOAD argument stands for: shipped names, or the path of one file.

    Raises `InputError` with the nearest name when it is neither.
    """
    if is_file(asked):
        if not os.path.isfile(asked):
            raise InputError(f"{asked}: there is no such workload file.")
        return [asked]
    if asked in _names():
        return [asked]
    tagged = names_tagged(asked)
    if tagged:
        return tagged
    raise InputError(f"workload {quoted(asked)} is unknown; {_nearest(asked)}.")


def is_file(source: str) -> bool:
    """Whether ``source`` is the path of a file rather than a shipped name."""
    return source.endswith(".toml") or os.sep in source


def load(source: str) -> Json:
    """The definition behind one of `sources`."""
    return read(source) if is_file(source) else document(source)


def file_of(source: str) -> str:
    """The file that messages about ``source`` name."""
    return source if is_file(source) else f"{source}.toml"


def read(path: str) -> Json:
    """A workload file as a dictionary; what its keys mean is for the engine to say."""
    return read_toml(path, "a workload file")


@cache
def _names() -> frozenset[str]:
    try:
        return frozenset(name[:-5] for name in os.listdir(_FOLDER) if name.endswith(".toml"))
    except FileNotFoundError:
        return frozenset()


def _rank(name: str) -> tuple[int, str, list[str]]:
    group = str(document(name).get("group", ""))
    place = GROUPS.index(group) if group in GROUPS else len(GROUPS)
    return (place, group, [word.zfill(9) if word.isdigit() else word for word in re.split(r"(\d+)", name)])


def _nearest(asked: str) -> str:
    near = nearest(asked, [*sorted(_names()), *all_tags()])
    return f"did you mean {quoted(near)}? 'plimsoll list' shows all" if near else "'plimsoll list' shows all names and tags"
