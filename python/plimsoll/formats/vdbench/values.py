"""Values as Vdbench writes them: numbers, times, series, and names of what stands elsewhere in the file.

Model: ``k m g t`` count in steps of 1024, also as ``kb mb gb tb``; a percent sign makes a percentage. In times ``m`` is minutes and ``h``
hours. Series stand in lists: ``(1-10,3)`` counts, ``(1-64,d)`` doubles, ``(64-1,d)`` halves. A loop of the run comes before what the
definition says itself.
Of names, ``sd*`` is every one that begins with sd, ``sd1-sd99`` every one of these that there is, ``*`` all; one that is written out must
exist. ``sd=sd,count=(1,8),lun=/data/file`` are sd1 on /data/file1 to sd8 on /data/file8: the number takes the place of a mask (``%d``,
``%02d``) or of ``#`` in name and lun or anchor, and follows them where there is none. Names of ours are made of those in the file.

    number(parameter)                                # Number(value=4096, percent=False) of xfersize=4k
    series(parameter)                                # the numbers 1, 2, 4, 8 of forthreads=(1-8,d)
    chosen(parameter, ["sd1", "sd2", "sd10"])        # of sd=(sd1-sd5): ['sd1', 'sd2']
    unique(slug("run 1, threads 8"), set())          # 'run-1-threads-8'
"""

from __future__ import annotations

import fnmatch
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from plimsoll.displayed import quoted
from plimsoll.formats.vdbench.model import Definition, Parameter, Word
from plimsoll.stored import Json

#: More values than this in one series are a slip of the pen.
SERIES_MAX = 1000
#: Larger than any size, rate or time that means something.
NUMBER_MAX = 1 << 62

_SCALES = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_DECIMAL = r"(?:\d{1,19}(?:\.\d{0,9})?|\.\d{1,9})"
_PLAIN = rf"{_DECIMAL}(?:[kmgt]b?)?"
_NUMBER = re.compile(rf"(-?)({_DECIMAL})(?:([kmgt])b?)?(%?)", re.IGNORECASE)
_RANGE = re.compile(rf"({_PLAIN})-({_PLAIN})", re.IGNORECASE)
_TIME = re.compile(r"(\d{1,12}(?:\.\d{1,9})?)([smh]?)", re.IGNORECASE)
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600}


@dataclass(frozen=True)
class Number:
    """A value, whole where it can be, and whether it is a percentage."""

    value: int | float
    percent: bool = False


def is_number(word: Word) -> bool:
    """Whether a word is a number, or a range of them."""
    return not word.quoted and bool(_NUMBER.fullmatch(word.text) or _RANGE.fullmatch(word.text))


def parse(text: str) -> Number | None:
    """The number that a text is; a negative one is a percentage in Vdbench's own writing."""
    found = _NUMBER.fullmatch(text)
    if found is None:
        return None
    value = float(found[2]) * _SCALES[(found[3] or "").lower()] if "." in found[2] else int(found[2]) * _SCALES[(found[3] or "").lower()]
    if value > NUMBER_MAX:
        return None
    whole = int(value) if value == int(value) else value
    return Number(-whole if found[1] else whole, found[4] == "%")


def number(parameter: Parameter) -> Number:
    """The only value of a parameter as a number."""
    if len(parameter.values) != 1:
        raise parameter.wrong(f"{len(parameter.values)} values stand where one number belongs; write {parameter.keyword}=NUMBER.")
    return _number(parameter, parameter.values[0])


def _number(parameter: Parameter, word: Word) -> Number:
    found = parse(word.text)
    if found is None:
        raise parameter.wrong(f"{quoted(word.text)} is not a number; write for example 8, 64k or 10g.")
    return found


def seconds(parameter: Parameter) -> int | float:
    """The only value as seconds."""
    found = _TIME.fullmatch(parameter.word) if len(parameter.values) == 1 else None
    if found is None:
        raise parameter.wrong("that is not a time; write seconds such as 60, minutes such as 5m, or hours such as 2h.")
    value = float(found[1]) * _SECONDS[found[2].lower()]
    return int(value) if value == int(value) else value


def series(parameter: Parameter) -> list[Number]:
    """All values as numbers, with ranges expanded; at least one."""
    found: list[Number] = []
    words = list(parameter.values)
    while words:
        word = words.pop(0)
        ends = _RANGE.fullmatch(word.text)
        if ends is None:
            found.append(_number(parameter, word))
        else:
            if not words:
                raise parameter.wrong(f"{quoted(word.text)} does not say how to step; write ({word.text},1), or ({word.text},d) to double.")
            found += _between(parameter, (ends[1], ends[2]), words.pop(0))
        if len(found) > SERIES_MAX:
            raise parameter.wrong(f"that is more than {SERIES_MAX} values; write a coarser series.")
    if not found:
        raise parameter.wrong("a number is missing; write for example 8 or (1,2,4).")
    return found


def _between(parameter: Parameter, ends: tuple[str, str], step: Word) -> Iterator[Number]:
    start, stop = (_number(parameter, Word(end)).value for end in ends)
    if step.text.lower() == "d":
        if min(start, stop) <= 0:
            raise parameter.wrong(f"{ends[0]}-{ends[1]} cannot be doubled or halved, since 0 stays 0; write ends above 0.")
        yield from _doubled(start, stop)
        return
    size = _number(parameter, step).value
    if size <= 0:
        raise parameter.wrong(f"a step of {step.text} never arrives; write one above 0, or d to double.")
    if abs(stop - start) / size > SERIES_MAX:
        raise parameter.wrong(f"that is more than {SERIES_MAX} values; write a coarser series.")
    level = start
    while level <= stop if start <= stop else level >= stop:
        yield Number(level)
        level = level + size if start <= stop else level - size


def _doubled(start: float, stop: float) -> Iterator[Number]:
    level = start
    while level <= stop if start <= stop else level >= stop:
        yield Number(int(level) if level == int(level) else level)
        level = level * 2 if start <= stop else level / 2


def size_text(value: float) -> str | int:
    """A size for people: ``8KiB``, ``2GiB``, or plain bytes."""
    size = int(value)
    for unit, scale in (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size and size % scale == 0:
            return f"{size // scale}{unit}"
    return size


def decimal_text(value: float, places: int) -> str:
    """A number in decimals, rounded down, without an exponent."""
    return f"{math.floor(value * 10**places) / 10**places:.{places}f}".rstrip("0").rstrip(".")


def seconds_text(value: float) -> str:
    """A time as our options write it."""
    return f"{value:g}s" if value != int(value) else f"{int(value)}s"


@dataclass(frozen=True, slots=True)
class Setting:
    """A parameter that holds, where it stands, with its values in one round; of a parameter that a loop of the run varies, the loop's."""

    parameter: Parameter
    words: tuple[Word, ...]
    looped: bool = False
    #: Whether the last ``=default`` of its kind says it.
    inherited: bool = False

    @property
    def text(self) -> str:
        """The first value, where there is one."""
        return self.words[0].text if self.words else ""

    @property
    def order(self) -> tuple[bool, tuple[int, int, int, int]]:
        """Where it is read among those of its definition: what a default says comes before."""
        return (not self.inherited, self.parameter.order)


def decided(setting: Setting | None, default: float) -> float:
    """The number that decides, ``default`` where nothing does."""
    if setting is None:
        return default
    found = parse(setting.text)
    if found is None or len(setting.words) != 1:
        raise setting.parameter.wrong(f"{quoted(setting.text)} is not a number; write for example {setting.parameter.keyword}=50.")
    return found.value


def decided_percent(setting: Setting | None, default: float) -> float:
    """The same as a percentage."""
    value = decided(setting, default)
    if setting is not None and not 0 <= value <= 100:
        raise setting.parameter.wrong(f"{value:g} is no percentage; write 0 to 100.")
    return value


_NUMBERED = re.compile(r"(.*?)(\d{1,9})")


def chosen(parameter: Parameter, known: Sequence[str]) -> list[str]:
    """The known names that a parameter means, each once, in the order written; raises `InputError` when a word means none."""
    found: dict[str, None] = {}
    for word in parameter.values:
        names = meant(word, known)
        if not names:
            raise parameter.wrong(f"{quoted(word.text)} names nothing that is defined above; there {_are(known)}.")
        found |= dict.fromkeys(names)
    return list(found)


def meant(word: Word, known: Sequence[str]) -> list[str]:
    """The known names that one word means; none when it means none."""
    if word.text in known:
        return [word.text]
    if "*" in word.text:
        # Only the star is a wildcard; brackets and question marks are letters of a name.
        pattern = re.sub(r"[\[?]", lambda found: f"[{found[0]}]", word.text)
        return [name for name in known if fnmatch.fnmatchcase(name, pattern)]
    first, dash, last = word.text.partition("-")
    if word.quoted or not dash:
        return []
    start, stop = _NUMBERED.fullmatch(first), _NUMBERED.fullmatch(last)
    if start is None or stop is None or start[1] != stop[1]:
        return []
    return [name for name in known if _within(name, start[1], int(start[2]), int(stop[2]))]


def _within(name: str, stem: str, first: int, last: int) -> bool:
    found = _NUMBERED.fullmatch(name)
    return found is not None and found[1] == stem and first <= int(found[2]) <= last


def _are(known: Sequence[str]) -> str:
    if not known:
        return "is none"
    shown = ", ".join(known[:8])
    return f"{'is' if len(known) == 1 else 'are'} {shown}{' …' if len(known) > 8 else ''}"


NAME_MAX = 64
#: Letters kept free for the number that makes a name unique.
_NUMBER_LETTERS = 8


def named(streams: Sequence[Json]) -> list[Json]:
    """Streams with names that the engine takes, each its own."""
    taken: set[str] = set()
    for stream in streams:
        stream["name"] = unique(slug(stream["name"]), taken)
    return list(streams)


def slug(name: str) -> str:
    """Letters, digits, - and _ of a name."""
    return (re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-") or "x")[: NAME_MAX - _NUMBER_LETTERS]


def unique(name: str, taken: set[str]) -> str:
    """The name, or the name with a number when it is taken."""
    found, number = name, 1
    while found in taken:
        number += 1
        found = f"{name}-{number}"
    taken.add(found)
    return found


COUNT_MAX = 1000
_MASK = re.compile(r"%(0?)(\d{0,2})d|#")


def numbered(definition: Definition) -> Iterator[Definition]:
    """The definitions that one with ``count`` stands for; any other by itself."""
    count = definition.given.get("count")
    if count is None or definition.block not in ("sd", "fsd"):
        yield definition
        return
    found = series(count)
    if len(found) != 2 or not all(isinstance(item.value, int) and item.value >= 0 for item in found):
        raise count.wrong("a count has a first number and how many there are; write for example count=(1,8).")
    start, many = int(found[0].value), int(found[1].value)
    if not 1 <= many <= COUNT_MAX or start > 10**9:
        raise count.wrong(f"{many} {definition.block.upper()}s from number {start} on are not to be made; write 1 to {COUNT_MAX} of them.")
    for at in range(start, start + many):
        yield replace(definition, name=filled(definition.name, at), number=at)


def filled(text: str, number: int) -> str:
    """A name or a path with its number."""

    def digits(mask: re.Match[str]) -> str:
        return f"{number:{mask[1]}{mask[2]}d}" if mask[0] != "#" else str(number)

    masked, masks = _MASK.subn(digits, text)
    return masked if masks else f"{text}{number}"
