"""What the richer values of fio's options say: modes, patterns of bytes, distributions of addresses.

Model: a mode is operations, whether random, and the number behind the colon. A distribution has a counterpart unless it moves the hot place
or differs between operations. A pattern becomes hexadecimal digits; the offset (``%o``) and the content of a file have no counterpart.
Limits: fio scatters a normal distribution over the region like the others, ours lies around the middle; the remark says so.

    read_mode("randrw:8")                                      # Mode("randrw", ops="rw", random=True, number="8")
    read_distribution("zoned:60/10:40/90", Numbers()).ours     # "hot:60/10,40/90"
    read_pattern('0xdeadbeef"ab"').ours                        # "0xdeadbeef6162"
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.formats.fio.quantity import Numbers, decimal, whole

_MODES: dict[str, tuple[str, bool]] = {
    "read": ("r", False),
    "write": ("w", False),
    "trim": ("t", False),
    "randread": ("r", True),
    "randwrite": ("w", True),
    "randtrim": ("t", True),
    "rw": ("rw", False),
    "readwrite": ("rw", False),
    "randrw": ("rw", True),
    "trimwrite": ("tw", False),
    "rwtrim": ("tw", False),
    "randtrimwrite": ("tw", True),
}


@dataclass(frozen=True)
class Mode:
    """``ops`` holds r, w and t; ``number`` is the text behind the colon, or empty."""

    word: str
    ops: str
    random: bool
    number: str = ""

    @property
    def reads(self) -> bool:
        return "r" in self.ops

    @property
    def writes(self) -> bool:
        return "w" in self.ops

    @property
    def mixed(self) -> bool:
        return len(self.ops) > 1


def read_mode(text: str) -> Mode:
    """Words are case-sensitive, as with fio."""
    word, colon, number = text.partition(":")
    if word not in _MODES:
        lower = word.lower()
        hint = f"write {lower}" if lower in _MODES else f"there are {', '.join(sorted(_MODES))}"
        raise InputError(f"{quoted(word)} is not a mode; {hint}.")
    if colon and not number:
        raise InputError(f"{quoted(text)} has no number behind the colon; write for example {word}:8.")
    ops, random = _MODES[word]
    return Mode(word, ops, random, number)


_PIECE = re.compile(r"\s*(?:(0[xX][0-9a-fA-F]+)|\"([^\"]*)\"|'([^']*)'|(%o)|(-?\d+))")
_LONGEST = 4096


@dataclass(frozen=True)
class Pattern:
    """``ours`` is empty where ``problem`` says why."""

    ours: str
    problem: str = ""


def read_pattern(text: str, *, offsets: bool = False) -> Pattern:
    """Raises `InputError` when fio would refuse the value; it takes ``offsets`` where it verifies."""
    at, found = 0, b""
    problem = ""
    while at < len(text.rstrip()):
        match = _PIECE.match(text, at)
        if match is None:
            raise InputError(f'{quoted(text)} is not a pattern; write for example 0xdeadbeef or "text".')
        hexadecimal, letters, file, offset, number = match.groups()
        if file is not None:
            problem = "the content of a file is not taken as a pattern; write its bytes as 0x…"
        elif offset and not offsets:
            raise InputError(f"{quoted(text)} has an offset in it, which fio takes for verify_pattern only; write for example 0xdeadbeef.")
        elif offset:
            problem = "a pattern has no offsets in it; verify= writes stamps with the address in every sector"
        else:
            found += _bytes(hexadecimal, letters, number, text)
        at = match.end()
    if problem:
        return Pattern("", problem)
    if not found:
        raise InputError(f"{quoted(text)} is an empty pattern; write for example 0xdeadbeef.")
    if len(found) > _LONGEST:
        raise InputError(f"the pattern has {len(found)} bytes; write at most {_LONGEST}.")
    return Pattern(f"0x{found.hex()}")


def _bytes(hexadecimal: str | None, letters: str | None, number: str | None, text: str) -> bytes:
    if hexadecimal is not None:
        digits = hexadecimal[2:]
        return bytes.fromhex(digits if len(digits) % 2 == 0 else f"0{digits}")
    if letters is not None:
        return letters.encode()
    if number is None or len(number) > 19 or number.startswith("-"):
        raise InputError(f"{quoted(text)} has a number that is negative or too long; write it as 0x….")
    value = int(number)
    return value.to_bytes(max(1, (value.bit_length() + 7) // 8), "little")


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
        raise InputError(f"{quoted(kind)} is not a distribution; there are {', '.join(_KINDS)}.")
    if kind == "random":
        if rest:
            raise InputError(f"{quoted(text)} has a number that random does not take; write random.")
        return Distribution("random")
    if kind == "sequence":
        return Distribution(kind, problem="addresses are not taken from a list; zoned: names regions")
    if kind in ("zoned", "zoned_abs"):
        return _zoned(kind, rest, text, numbers)
    if text.endswith(":"):
        raise InputError(f"{quoted(text)} has no number behind its colon; write for example {kind}:{_DEFAULTS[kind]}, or {kind}.")
    return _shaped(kind, rest or _DEFAULTS[kind], text)


def _shaped(kind: str, rest: str, text: str) -> Distribution:
    number_text, _, centre = rest.partition(":")
    number = decimal(number_text)
    if kind == "normal" and number == 0:
        number = decimal(_DEFAULTS[kind])
    least, most = _RANGES[kind]
    if kind == "zipf" and number == 1.0:
        raise InputError(f"{quoted(text)}: fio does not take a theta of exactly 1; write for example zipf:1.01.")
    if not least <= number <= most:
        raise InputError(f"{quoted(text)} is outside {least} to {most}; write for example {kind}:{_DEFAULTS.get(kind, '10')}.")
    problem = ""
    if centre:
        decimal(centre)
        problem = "the hot place cannot be moved; leave the centre out, or name hot zones with zoned:"
    return Distribution(kind, f"{kind}:{number:g}", problem=problem)


def _zoned(kind: str, rest: str, text: str, numbers: Numbers) -> Distribution:
    lists = rest.split(",")
    if len(lists) > 3:
        raise InputError(f"{quoted(text)} has {len(lists)} lists; there are at most three: reads, writes and trims.")
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
            f"{quoted(whole_text)} is not a list of zones; write for example {kind}:60/{'10:40/90' if kind == 'zoned' else '1g:40/9g'}."
        )
    accesses = [_percentage(access, whole_text, "requests") if access.strip() else None for access, _ in entries]
    if kind == "zoned":
        sizes = [_percentage(size, whole_text, "region") if size.strip() else None for _, size in entries]
        return tuple(zip(_spread(accesses, whole_text, "requests"), _spread(sizes, whole_text, "sizes"), strict=True))
    lengths = [numbers.size(size).number for _, size in entries]
    if any(length < 1 for length in lengths):
        raise InputError(f"{quoted(whole_text)} has a zone without length; write at least 1.")
    return tuple(zip(_spread(accesses, whole_text, "requests"), lengths, strict=True))


def _percentage(text: str, whole_text: str, of: str) -> int:
    number, rest = whole(text)
    if rest or not 0 <= number <= 100:
        raise InputError(f"{quoted(whole_text)}: {quoted(text)} is not a percentage of the {of}.")
    return number


def _spread(shares: list[int | None], text: str, what: str) -> list[int]:
    """Blank shares get equal parts of what the others leave, the last one the rest of the division."""
    given = sum(share for share in shares if share is not None)
    blanks = sum(share is None for share in shares)
    if given > 100 or (given < 100 and not blanks):
        raise InputError(f"the {what} of {quoted(text)} sum to {given}; they must sum to 100.")
    found, left = [], 100 - given
    for share in shares:
        if share is None:
            part = left // blanks
            left, blanks = left - part, blanks - 1
            found.append(part)
        else:
            found.append(share)
    return found
