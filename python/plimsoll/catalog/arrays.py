"""The shipped arrays: TOML files in ``arrays/``, and how a text after ``array:`` becomes the document that the engine builds.

Model: ``array:NAME`` is a shipped array, ``array:./mine.toml`` a file. Most files are families: one file, many names
(`composition.variants`). ``array:FAMILY?AXIS=VALUE`` names one of a family by what it differs in. A document may be ``like`` another array:
then it says only what differs. Parts (``part = "NAME"``) are put in afterwards, then links are drawn and copies made, so an overlay can
exchange a drive by its name alone, and so can a path that ends in ``part`` after a ``?``. What else stands there are values to set in what
comes out: ``array:NAME?controller.raid.cache.battery=false``. What the keys mean is for `crates/array` to say.

    array_document("msa2000-raid5")                 # the document as a dictionary, complete and plain
    described("array:msa2000-raid5?volume=lun")     # the document that a target means
    described("array:dl360?server=g8&drive=6g-15k") # the first of the family that has both
"""

from __future__ import annotations

import copy
import os
from functools import cache

from plimsoll.catalog.composition import setting
from plimsoll.catalog.composition.copies import copied
from plimsoll.catalog.composition.file import read_file
from plimsoll.catalog.composition.merge import merged, said_in, without_absent
from plimsoll.catalog.composition.parts import anchored, with_parts
from plimsoll.catalog.composition.setting import with_parts_exchanged, with_settings
from plimsoll.catalog.composition.shape import check_absent
from plimsoll.catalog.composition.sources import check_sources
from plimsoll.catalog.composition.variants import Family
from plimsoll.catalog.composition.wiring import wired, with_own_links
from plimsoll.catalog.folder import Folder
from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.stored import Json

_ARRAYS = Folder(os.path.join(os.path.dirname(__file__), "arrays"), "array")
PREFIX = "array:"
#: A chain of documents that are like another is not longer than this.
_LIKE_MAX = 8


def array_names() -> list[str]:
    """Every shipped array, family by family."""
    return [name for family in families() for name in family.names()]


def families() -> list[Family]:
    """The files, each with the arrays it describes."""
    return [_family(file) for file in _ARRAYS.names()]


def is_array(target: str) -> bool:
    """Whether a target is a modelled array."""
    return target.strip().startswith(PREFIX)


def array_document(source: str, settings: str = "", target: str = "") -> Json:
    """The plain document of a shipped array, or of a file (with a slash or ``.toml`` in its name), with the parts that ``settings``
    exchange; `InputError` if there is none."""
    try:
        exchanged = with_parts_exchanged(_complete(source, os.curdir, _LIKE_MAX), settings, target)
        document = with_own_links(without_absent(with_parts(exchanged)))
        check_sources(document)
        return copied(wired(document))
    except InputError as problem:
        named = str(problem).startswith(("array ", "target ")) or source in str(problem)
        raise InputError(str(problem) if named else f"array {quoted(source)}: {problem}") from None


def described(target: str) -> Json:
    """The document that a target means, with what is set after its ``?``."""
    source, _, settings = target.strip().removeprefix(PREFIX).partition("?")
    if not source:
        raise InputError(f"target `{target}`: `array:` needs a name, for example `array:msa2000-raid5`; 'plimsoll list' shows them.")
    source, settings = _chosen(source, settings, target)
    return with_settings(array_document(source, settings, target), settings, target)


def said(source: str, settings: str, target: str) -> Json:
    """What an array's file says, and those that it is like, with the parts that ``settings`` exchange; parts are still names."""
    document: Json = without_absent(with_parts_exchanged(_complete(source, os.curdir, _LIKE_MAX), settings, target))
    return document


def overlay(source: str, settings: str, folder: str, said: str) -> Json:
    """A document for a file in ``folder``: like the array ``source``, with what is set, each value with ``said`` for its source. Of an
    array that is made of copies, which have no names before they are made, or whose parts are exchanged, it is the whole document."""
    source, settings = _chosen(source, settings, source)
    document = array_document(source, settings, source)
    laid = setting.overlay(document, settings, said)
    if setting.exchanges(settings) or "copies" in _complete(source, os.curdir, _LIKE_MAX):
        return {key: value for key, value in merged(document, laid).items() if key != "name"}
    like = os.path.relpath(source, folder) if source.endswith(".toml") or os.sep in source else source
    return {"like": like, **laid}


@cache
def _family(file: str) -> Family:
    return Family(file, dict(said_in(_ARRAYS.document(file), f"arrays/{file}")))


def _family_of(name: str) -> Family | None:
    """The family that has an array; names begin with that of their file, so that not all files have to be read."""
    near = [file for file in _ARRAYS.names() if name.startswith(file)]
    return next((family for family in map(_family, near) if name in family.names()), None)


def _chosen(source: str, settings: str, target: str) -> tuple[str, str]:
    """The array that axes among the settings choose, from the family that ``source`` names or is one of, and the settings that are left."""
    if _is_file(source):
        return source, settings
    family = _family(source) if source in _ARRAYS.names() else _family_of(source)
    known = {axis.name for axis in family.axes} if family else set()
    pairs = setting.pairs(settings, target)
    wanted = {key: value for key, value in pairs if key in known}
    if family is None or not wanted:
        return source, settings
    try:
        name = family.chosen(wanted, source)
    except InputError as problem:
        raise InputError(f"target `{target}`: {problem}") from None
    return name, "&".join(f"{key}={value}" for key, value in pairs if key not in known)


def _complete(source: str, folder: str, left: int) -> Json:
    """What a document and those that it is like say; parts are still names."""
    document, folder = _read(source, folder)
    like = document.pop("like", None)
    if like is None:
        return document
    if left == 0:
        raise InputError(f"array {quoted(source)}: `like` goes round in a circle.")
    under = _complete(like, folder, left - 1)
    check_absent(under, document)
    return dict(merged(under, document))


def _read(source: str, folder: str) -> tuple[Json, str]:
    if not _is_file(source):
        name, _, axes = source.partition("?")
        name, left = _chosen(name, axes, source)
        if left:
            raise InputError(f"`like`: {quoted(left)} is no axis of the family; what else differs is said in the file itself.")
        return _shipped(name), folder
    path = source if folder == os.curdir else os.path.join(folder, source)
    document = dict(said_in(read_file(path, "an array"), path))
    beside = os.path.dirname(path)
    name = os.path.basename(path).removesuffix(".toml")
    return {"name": name, **anchored(document, beside)}, beside


def _is_file(source: str) -> bool:
    return source.endswith(".toml") or os.sep in source


def _shipped(name: str) -> Json:
    family = _family_of(name)
    if family is None:
        from plimsoll.near import family_hint

        if name in _ARRAYS.names():
            raise InputError(f"array {quoted(name)} is {_family(name).asked()}")
        near = family_hint(name, array_names())
        shown = near if near and near.endswith("?") else f"{near + '; ' if near else ''}'plimsoll list --arrays' shows all."
        raise InputError(f"array {quoted(name)} is unknown; {shown}")
    return copy.deepcopy(family.document(name))
