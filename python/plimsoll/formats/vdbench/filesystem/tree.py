"""An FSD as a tree: shape, sizes, how much of it there is, and how much exists when a measurement begins.

Model: the tree has Vdbench's shape, with the same number of directories and files. Sizes are drawn by the tree's seed, so a tree with
several sizes has not the same files as Vdbench's, but as many of each size on average. ``(size,0)`` is drawn from half of it to one and a
half, in steps of a 64th or less.
Vdbench formats before a run, here every point brings its trees to what it needs. With format=no, Vdbench takes what it finds; here
that is what the run's operations need: nothing to make directories, directories to create files or to remove directories, files otherwise.
Limits: percentages of a size are not taken, since the size of the file system is not looked up. Files that are there as described are kept,
where format=yes would delete and write them again.

    tree(asked).options                          # {'depth': 2, 'width': 3, 'files': 100, 'sizes': '64KiB'}
    Formatting.of(run.format).lay_out({"create"})        # 'directories'
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from typing import Any

from plimsoll.displayed import quoted
from plimsoll.formats.vdbench.access import parsed, shares
from plimsoll.formats.vdbench.model import Parameter
from plimsoll.formats.vdbench.notes import Notes, Translated, native, surprise, unsupported
from plimsoll.formats.vdbench.resolve import TreeSettings
from plimsoll.formats.vdbench.values import Number, Setting, decided, parse, size_text
from plimsoll.stored import Json

#: What the driver takes, and Vdbench's own limit on files.
DEPTH_MAX, WIDTH_MAX, FILES_MAX = 64, 1_000_000, 10_000_000
#: What holds in Vdbench where an FSD says nothing (``FsdEntry`` of its public source).
DEFAULTS = {"depth": "1", "width": "1", "files": "10", "sizes": "4k"}
DEFAULT_SIZE = 4096
FILES_OF_TREE_MAX = 1 << 27
DIRECTORIES_MAX = 1 << 26
SIZE_MAX = 1 << 50
#: Sizes around a mean are drawn in steps of no more than this part of it.
_STEPS = 64
_PLACED = {"bottom": "bottom", "all": "all"}


def tree(asked: TreeSettings) -> Translated:
    """The options of the tree of an FSD; raises `InputError` for values that cannot be."""
    options: Json = {
        "depth": _whole(asked.depth, "depth", DEPTH_MAX),
        "width": _whole(asked.width, "width", WIDTH_MAX),
        "files": _whole(asked.files, "files", FILES_MAX),
    }
    options |= _placed(asked.distribution)
    options["sizes"], drawn = _sizes(asked.sizes)
    count = _counted(asked, options)
    total, of_total = _part(asked.totalsize, "totalsize")
    part, of_part = _part(asked.workingsetsize, "workingsetsize")
    whole = count * _only(asked.sizes) if _only(asked.sizes) else None
    _check_part(asked.totalsize, "totalsize", total, whole)
    _check_part(asked.workingsetsize, "workingsetsize", part, total or whole)
    parts = {name: size_text(size) for name, size in (("total_size", total), ("working_set", part)) if size}
    return Translated(options | parts, (*_default_notes(asked), *drawn, *of_total, *of_part))


def _default_notes(asked: TreeSettings) -> Notes:
    said = {"depth": asked.depth, "width": asked.width, "files": asked.files, "sizes": asked.sizes}
    left_out = [f"{name}={DEFAULTS[name]}" for name in DEFAULTS if said[name] is None]
    return (surprise(asked.head, f"{', '.join(left_out)} hold in Vdbench where nothing is said"),) if left_out else ()


def _whole(setting: Setting | None, name: str, most: int) -> int:
    if setting is None:
        return int(DEFAULTS[name])
    found = decided(setting, 1)
    if found != int(found) or not 1 <= found <= most:
        raise setting.parameter.wrong(f"{found:g} is no {name} of a tree; write a whole number from 1 to {most}.")
    return int(found)


def _placed(setting: Setting | None) -> Json:
    if setting is None:
        return {}
    parameter = setting.parameter
    if parameter.word.lower() not in _PLACED:
        raise parameter.wrong(f"{quoted(parameter.word)} is not known; there are bottom and all.")
    return {"placed": _PLACED[parameter.word.lower()]}


def _sizes(setting: Setting | None) -> tuple[Any, Notes]:
    if setting is None:
        return size_text(DEFAULT_SIZE), ()
    parameter = setting.parameter
    found = [parsed(parameter, word) for word in setting.words]
    if len(found) == 1:
        return size_text(_size(parameter, found[0])), ()
    if len(found) == 2 and found[1].value == 0:
        return _around(parameter, _size(parameter, found[0]))
    if len(found) % 2:
        raise parameter.wrong(f"{len(found)} values are no sizes with their percentages; write for example (4k,60,64k,40).")
    table: dict[str, float] = {}
    for item, share in shares(parameter, found):
        if share:
            name = str(size_text(_size(parameter, item)))
            table[name] = table.get(name, 0) + share
    return table, ()


def _around(parameter: Parameter, mean: int) -> tuple[str, Notes]:
    step = 1 << max(0, (mean // _STEPS).bit_length() - 1)
    least = max(1, mean // 2 // step)
    # Three times the least and one have no divisor but one in common, so steps are what they were meant to be.
    low, high = size_text(least * step), size_text((3 * least + 1) * step)
    why = f"sizes are drawn alike from {low} to {high} in steps of {size_text(step)}; Vdbench rounds them, to 1 KiB or more by their size"
    return f"{low}-{high}", (native(parameter, why),)


def _size(parameter: Parameter, found: Number) -> int:
    if found.percent or found.value != int(found.value) or not 1 <= found.value <= SIZE_MAX:
        raise parameter.wrong(f"{found.value:g}{'%' if found.percent else ''} is no size of a file; write bytes such as 64k or 1g.")
    return int(found.value)


def _counted(asked: TreeSettings, options: Json) -> int:
    """How many files the tree has; a tree of a million takes minutes to lay out, and one beyond the limits is a slip of the pen."""
    level, above = 1, 0
    for _ in range(options["depth"]):
        above += level
        level *= options["width"]
        if above + level > DIRECTORIES_MAX:
            break
    files = (level + above - 1 if options.get("placed") == "all" else level) * int(options["files"])
    if above + level > DIRECTORIES_MAX or files > FILES_OF_TREE_MAX:
        where = asked.head if asked.depth is None else asked.depth.parameter
        most = f"{DIRECTORIES_MAX} directories and {FILES_OF_TREE_MAX} files"
        raise where.wrong(f"the tree of FSD {quoted(asked.name)} has more than {most}; write a smaller depth, width or files.")
    return files


def _only(sizes: Setting | None) -> int:
    """The size of all files, if they have one."""
    if sizes is None or not sizes.words:
        return DEFAULT_SIZE
    found = parse(sizes.text) if len(sizes.words) == 1 else None
    return 0 if found is None else int(found.value)


def _check_part(setting: Setting | None, name: str, size: int, whole: int | None) -> None:
    if setting is not None and whole is not None and size > whole:
        raise setting.parameter.wrong(f"the {name} is more than the {whole} bytes of the files it is part of; write a smaller one.")


def _part(setting: Setting | None, name: str) -> tuple[int, Notes]:
    """A size that is a part of the tree; 0 for the whole, as in Vdbench."""
    if setting is None:
        return 0, ()
    parameter = setting.parameter
    found = parsed(parameter, setting.words[0])
    if found.percent or found.value < 0:
        if not setting.looped:
            raise parameter.wrong(f"a percentage is no {name} of an FSD; write bytes such as 10g.")
        return 0, (unsupported(parameter, "a percentage of the file system is not taken; the nearest thing is that size in bytes"),)
    if found.value < 1:
        return 0, (native(parameter, "less than a byte limits nothing"),)
    return _size(parameter, found), ()


_WORDS = ("yes", "no", "restart", "only", "clean", "once", "directories", "limited", "complete")
_WHOLE = "laid out before each point; files that are there as described are kept, which Vdbench would delete and write again"
#: What each word means here.
_MEANINGS = {
    "yes": _WHOLE,
    "restart": "laid out before each point, and files that are there as described are kept",
    "once": "laid out before each point where it is not there as described",
    "directories": "directories are laid out before each point, and no files",
    "no": "what the run's operations need is laid out before each point, where Vdbench would take what there is",
    "complete": "the trees are looked at all the same, and laid out where they are not there as described",
}


@dataclass(frozen=True)
class Formatting:
    """The words of ``format=`` in full; ``no`` where a run has none."""

    words: tuple[str, ...] = ("no",)

    @classmethod
    def of(cls, parameter: Parameter | None) -> Formatting:
        """What a run formats."""
        if parameter is None:
            return cls()
        found = []
        for text in parameter.texts:
            word = next((known for known in _WORDS if _is(text.lower(), known)), None)
            if word is None:
                raise parameter.wrong(f"{quoted(text)} is not known; there are {', '.join(_WORDS)}.")
            found.append(word)
        made = cls(tuple(found))
        if "limited" in found and "only" not in found:
            raise parameter.wrong("limited goes with only; write format=(only,limited).")
        if {"no", "complete"} & set(found) and made.whole:
            raise parameter.wrong(f"{' and '.join(found)} cannot both hold; write one of them.")
        return made

    @property
    def only(self) -> bool:
        """Whether nothing is measured."""
        return self.clean or "only" in self.words

    @property
    def clean(self) -> bool:
        """Whether the trees are only deleted."""
        return "clean" in self.words

    @property
    def whole(self) -> bool:
        """Whether Vdbench formats at all."""
        return bool({"yes", "restart", "once", "only", "clean", "directories", "limited"} & set(self.words))

    def lay_out(self, operations: Set[str]) -> str:
        """What exists when these operations of ours begin."""
        if "directories" in self.words:
            return "directories"
        if self.whole:
            return "files"
        if "mkdir" in operations:
            return "nothing"
        return "directories" if "create" in operations or operations == {"rmdir"} else "files"

    def notes(self, parameter: Parameter | None) -> Notes:
        """The verdict on the parameter of a run that measures."""
        if parameter is None:
            return ()
        meaning = next(_MEANINGS[word] for word in ("directories", "restart", "once", "yes", "complete", "no") if word in self.words)
        return (native(parameter, meaning),)


def _is(text: str, word: str) -> bool:
    """Whether a text is a word; two of them may be cut short."""
    return text == word or (word in ("yes", "directories") and len(text) > 0 and word.startswith(text))
