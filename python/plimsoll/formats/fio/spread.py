"""How random addresses spread: ``random_distribution=`` in our words.

Model: ``zipf:θ``, ``pareto:h``, ``normal:deviation`` and ``zoned:access/size:…`` have counterparts. A centre behind a second colon and a
list for another operation have none.
Limits: fio scatters a normal distribution over the region like the others, ours lies around the middle; the remark says so.

    read_distribution("zoned:60/10:40/90")        # Distribution("hot", "hot:60/10,40/90")
"""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.errors import InputError
from plimsoll.formats.fio.quantity import Numbers, decimal, whole

_KINDS = ("random", "zipf", "pareto", "normal", "zoned", "zoned_abs", "sequence")
#: Without a deviation, or with 0, fio takes a twelfth of the region.
_DEFAULTS = {"zipf": "1.1", "pareto": "0.2", "normal": "8.33333"}
_RANGES = {"zipf": (0.01, 10.0), "pareto": (0.001, 0.999), "normal": (0.001, 100.0)}
_ZONES_MAX = 256


@dataclass(frozen=True)
class Distribution:
    """``ours`` is the value of our option, empty for plain random; ``zones`` are (percent, bytes) of zoned_abs."""

    kind: str
    ours: str = ""
    zones: tuple[tuple[int, int], ...] = ()
    #: Why there is no counterpart.
    problem: str = ""


def read_distribution(text: str, numbers: Numbers) -> Distribution:
    """Raises `InputError` where fio would refuse the value."""
    kind, _, rest = text.partition(":")
    if kind not in _KINDS:
        raise InputError(f"{kind!r} is not a distribution; there are {', '.join(_KINDS)}.")
    if kind == "random":
        if rest:
            raise InputError(f"{text!r} has a number that random does not take; write random.")
        return Distribution("random")
    if kind == "sequence":
        return Distribution(kind, problem="addresses are not taken from a list; zoned: names regions")
    if kind in ("zoned", "zoned_abs"):
        return _zoned(kind, rest, text, numbers)
    if text.endswith(":"):
        raise InputError(f"{text!r} has no number behind its colon; write for example {kind}:{_DEFAULTS[kind]}, or {kind}.")
    return _shaped(kind, rest or _DEFAULTS[kind], text)


def _shaped(kind: str, rest: str, text: str) -> Distribution:
    number_text, _, centre = rest.partition(":")
    number = decimal(number_text)
    if kind == "normal" and number == 0:
        number = decimal(_DEFAULTS[kind])
    least, most = _RANGES[kind]
    if kind == "zipf" and number == 1.0:
        raise InputError(f"{text!r}: fio does not take a theta of exactly 1; write for example zipf:1.01.")
    if not least <= number <= most:
        raise InputError(f"{text!r} is outside {least} to {most}; write for example {kind}:{_DEFAULTS.get(kind, '10')}.")
    problem = ""
    if centre:
        decimal(centre)
        problem = "the hot place cannot be moved; leave the centre out, or name hot zones with zoned:"
    return Distribution(kind, f"{kind}:{number:g}", problem=problem)


def _zoned(kind: str, rest: str, text: str, numbers: Numbers) -> Distribution:
    lists = rest.split(",")
    if len(lists) > 3:
        raise InputError(f"{text!r} has {len(lists)} lists; there are at most three: reads, writes and trims.")
    zones = [_zones(kind, each, text, numbers) for each in lists]
    problem = "" if len(set(zones)) == 1 else "all operations of a stream share their zones; make a job for each operation"
    ours = ""
    if kind == "zoned":
        ours = "hot:" + ",".join(f"{access}/{size}" for access, size in _without_rest(zones[0]))
    return Distribution(kind, ours, zones[0], problem)


def _without_rest(zones: tuple[tuple[int, int], ...]) -> list[tuple[int, int]]:
    """Our zones need not reach the end of the region; empty ones are left out."""
    return [(access, size) for access, size in zones if size > 0]


def _zones(kind: str, text: str, whole_text: str, numbers: Numbers) -> tuple[tuple[int, int], ...]:
    entries = [entry.split("/") for entry in text.split(":")]
    if len(entries) > _ZONES_MAX or any(len(entry) != 2 for entry in entries):
        raise InputError(
            f"{whole_text!r} is not a list of zones; write for example {kind}:60/{'10:40/90' if kind == 'zoned' else '1g:40/9g'}."
        )
    accesses = [_percentage(access, whole_text, "requests") if access.strip() else None for access, _ in entries]
    if kind == "zoned":
        sizes = [_percentage(size, whole_text, "region") if size.strip() else None for _, size in entries]
        return tuple(zip(_spread(accesses, whole_text, "requests"), _spread(sizes, whole_text, "sizes"), strict=True))
    lengths = [numbers.size(size).number for _, size in entries]
    if any(length < 1 for length in lengths):
        raise InputError(f"{whole_text!r} has a zone without length; write at least 1.")
    return tuple(zip(_spread(accesses, whole_text, "requests"), lengths, strict=True))


def _percentage(text: str, whole_text: str, of: str) -> int:
    number, rest = whole(text)
    if rest or not 0 <= number <= 100:
        raise InputError(f"{whole_text!r}: {text!r} is not a percentage of the {of}.")
    return number


def _spread(shares: list[int | None], text: str, what: str) -> list[int]:
    """Blank shares get equal parts of what the others leave, the last one the rest of the division."""
    given = sum(share for share in shares if share is not None)
    blanks = sum(share is None for share in shares)
    if given > 100 or (given < 100 and not blanks):
        raise InputError(f"the {what} of {text!r} sum to {given}; they must sum to 100.")
    found, left = [], 100 - given
    for share in shares:
        if share is None:
            part = left // blanks
            left, blanks = left - part, blanks - 1
            found.append(part)
        else:
            found.append(share)
    return found
