"""What a job reads, writes and trims, how long its requests are and where they go: the mix, size and address options of a stream.

Model: fio keeps sizes, alignment and share of random requests per operation. Where they are the same they become options of the stream;
where reads and writes differ, each becomes a line of an access list. A random job without ``norandommap`` visits every block once per pass:
that is our ``permutation``, which takes one size for all operations.
Each operation moves a position of its own, as fio's do.
Limits: a mix of reads and writes of different sizes that is partly random goes on where the request before it ended, whatever it was.

    course, notes = course_of({"rw": read_mode("randrw"), "percentage_random": (50, 50, 50)}, requests, Numbers())
    addresses(requests, course)       # {"read_percent": 70, "random_percent": 50, "block_size": "4KiB", "distribution": "uniform"}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import gcd
from typing import Any

from plimsoll.errors import InputError
from plimsoll.formats.fio.notes import Note, Translated, Unfit, all_idle, idle, ignored, native, surprise, unsupported
from plimsoll.formats.fio.quantity import Numbers, Sizes, bytes_text, rounded
from plimsoll.formats.fio.requests import DEFAULT_SIZE, OPS, Requests, Values
from plimsoll.formats.fio.values import Distribution, Mode
from plimsoll.stored import Json

_WORDS = {"r": "read", "w": "write", "t": "trim"}
_REMEMBERED = (
    "fio remembers which blocks it visited, takes each once per pass and cuts requests short before those; here blocks are drawn anew for "
    "each request, as with norandommap"
)
#: A longer table of sizes is not written down.
_SIZES_MAX = 64
_RANDOM_ONLY = ("norandommap", "softrandommap", "random_distribution", "percentage_random")


@dataclass(frozen=True)
class Shape:
    """How the requests of one operation look."""

    sizes: Sizes
    align: int
    random_percent: float


@dataclass(frozen=True)
class Course:
    """How requests follow each other: ``percents`` of each operation begin at a new address, or each ``run_length`` th."""

    run_length: int
    #: All runs have that length here too.
    exact: bool
    percents: Mapping[str, float]
    #: Every request begins at a new address, runs apart.
    scattered: bool = False
    #: A run asks for one block again and again.
    repeats: bool = False
    #: Each block is visited once per pass.
    remembers: bool = True
    #: How random addresses lie, where they do not lie evenly.
    distribution: Distribution | None = None
    #: Bytes from one sequential request to the next; 0 where each begins where the one before it ended.
    stride: int = 0
    #: The sizes of requests that follow another and of those that do not, where that decides their size.
    by_place: tuple[Sizes, Sizes] | None = None
    #: Percent of the requests that then do not follow another.
    by_place_percent: float = 0
    #: Sizes of a range are any.
    unaligned: bool = False

    @property
    def hot_bytes(self) -> tuple[tuple[int, int], ...]:
        """Percent of the requests and bytes of each zone, where zones are given so."""
        wanted = self.distribution
        return wanted.zones if wanted is not None and wanted.kind == "zoned_abs" and not wanted.problem and self.by_place is None else ()


def course_of(values: Values, requests: Requests, numbers: Numbers) -> tuple[Course, tuple[Note, ...]]:
    """How the requests of a job follow each other, and what is to be said of its options; raises `Unfit` for a run without length."""
    mode = requests.mode
    notes = _idle(mode)
    if not mode.random:
        stride, more = _stride(requests, numbers)
        return Course(1, exact=False, percents=dict.fromkeys(mode.ops, 0.0), stride=stride, unaligned=bool(values.get("bs_unaligned"))), (
            *notes,
            *more,
        )
    given = values.get("percentage_random", (100, 100, 100))
    percents = tuple(100 if percent is None else percent for percent in given)
    run = _run_length(mode, numbers)
    repeats = values.get("rw_sequencer") == "identical"
    # One operation of one size, aligned to it.
    whole = all(each.fixed and each.least == requests.aligned[op] for op, each in requests.sizes.items())
    exact = not mode.mixed and whole and percents[OPS.index(mode.ops[0])] == 100
    if run > 1 and not exact:
        notes.append(native("rw", f"random_percent makes runs of {run} requests on average, where fio's all have that length"))
        if repeats:
            why = "the same block is asked for several times by one operation of one size; make a job of each"
            notes.append(unsupported("rw_sequencer", why))
    shares = dict(zip(OPS, (percent if exact else percent / run for percent in percents), strict=True))
    # What is only verified is read as it was written.
    each = {op: shares["w"] if requests.verifies_only else shares[op] for op in mode.ops}
    by_place, more = _by_place(values, requests) if values.get("bs_is_seq_rand") and shares["r"] < 100 else (None, [])
    wanted: Distribution | None = values.get("random_distribution")
    if by_place is None and not mode.number:
        notes.append(idle("rw_sequencer", "only random requests are repeated or followed"))
    course = Course(
        run_length=run,
        exact=exact,
        percents=each,
        by_place_percent=shares["r"],
        scattered=given == (100, 100, 100),
        repeats=repeats,
        remembers=not values.get("norandommap", False),
        distribution=None if wanted is None or wanted.kind == "random" else wanted,
        by_place=by_place,
        unaligned=bool(values.get("bs_unaligned")),
    )
    return course, (*notes, *more)


def _idle(mode: Mode) -> list[Note]:
    mixed = () if mode.ops == "rw" else all_idle(("rwmixread", "rwmixwrite"), f"rw={mode.word} does not mix reads and writes")
    return [*mixed, *(() if mode.random else all_idle(_RANDOM_ONLY, f"rw={mode.word} is not random"))]


def _run_length(mode: Mode, numbers: Numbers) -> int:
    """``randread:8``: a new address after every eighth request."""
    if not mode.number:
        return 1
    length = _number(mode, numbers)
    if length < 1:
        raise Unfit("rw", "the number of requests before a new address is at least 1.")
    return length


def _number(mode: Mode, numbers: Numbers) -> int:
    try:
        return numbers.count(mode.number)
    except InputError as problem:
        raise Unfit("rw", problem) from None


def _stride(requests: Requests, numbers: Numbers) -> tuple[int, list[Note]]:
    """``rw=read:8k`` leaves 8k out behind each request."""
    mode = requests.mode
    said = [idle("rw_sequencer", "only random requests are repeated or followed")]
    if not mode.number:
        return 0, said
    ops = _moving(mode)
    if len({(requests.sizes[op], requests.aligned[op]) for op in ops}) > 1 or not all(requests.sizes[op].fixed for op in ops):
        return 0, [*said, unsupported("rw", "a stride needs one size for all requests; write bs= with one value")]
    size = requests.sizes[ops[0]].least
    stride = size + _number(mode, numbers)
    if stride == 0 or stride % size:
        why = f"positions are multiples of the size {_suffixed(size)}; write a number that is one as well, and not -{size}"
        return 0, [*said, unsupported("rw", why)]
    if stride < 0:
        why = "fio begins with the first block of the region and goes backward from its end; here the end comes first"
        said.append(surprise("rw", why))
    return stride, said


def _moving(mode: Mode) -> str:
    """The operations that have a place of their own; each block is trimmed and then written at one."""
    return mode.ops.replace("t", "") if mode.ops == "tw" else mode.ops


def _by_place(values: Values, requests: Requests) -> tuple[tuple[Sizes, Sizes], list[Note]]:
    """``bs_is_seq_rand``: the first size for requests that follow another, the second for random ones."""
    given = values.get("bs", (DEFAULT_SIZE, DEFAULT_SIZE, None))
    notes = []
    if not set(requests.mode.ops) <= {"r", "w"} or any(name in values for name in ("bsrange", "bssplit")):
        why = "sizes of sequential and of random requests are fixed ones of reads and writes; write bs= alone"
        notes.append(unsupported("bs_is_seq_rand", why))
    if requests.mode.mixed:
        why = "fio moves one position for reads and one for writes; here both follow one position"
        notes.append(surprise("bs_is_seq_rand", why))
    if not values.get("norandommap", False):
        notes.append(surprise("rw", _REMEMBERED))
    return (given[0] or DEFAULT_SIZE, given[1] or DEFAULT_SIZE), notes


def addresses(requests: Requests, course: Course) -> Translated:
    """The options of a stream that say what is asked of the target."""
    mode = requests.mode
    one_size = mode.ops != "tw" or len(requests.lengths) == 1
    said = () if one_size else (unsupported("bs", "each block is trimmed and then written, by one size; write bs= with one value"),)
    if course.by_place is not None:
        return Translated(_placed(requests, course, course.by_place), said)
    shapes = {op: Shape(requests.sizes[op], requests.aligned[op], course.percents[op]) for op in _moving(mode)}
    if len(set(shapes.values())) > 1 and mode.ops == "rw" and mode.random and all(shape.sizes.fixed for shape in shapes.values()):
        options, notes = _access(shapes, requests), list[Note]()
    else:
        options, notes = _plain(requests, course, shapes)
    spread = _distribution(mode, course, shapes)
    return Translated({**options, **spread.options, **_sequence(mode, course, shapes)}, (*said, *notes, *spread.notes))


def _placed(requests: Requests, course: Course, sizes: tuple[Sizes, Sizes]) -> Json:
    """An entry for requests that follow another, and one for random ones."""
    following, random = sizes
    percent = course.by_place_percent
    reads = rounded(requests.shares.get("r", 0))
    lines: list[Json] = [
        {"weight": rounded(100 - percent), "size": bytes_text(following.least), "read_percent": reads, "random_percent": 0},
        {"weight": rounded(percent), "size": bytes_text(random.least), "read_percent": reads},
    ]
    align = min(requests.aligned[op] for op in requests.mode.ops)
    for line, size in zip(lines, sizes, strict=True):
        if align != size.least:
            line["align"] = bytes_text(align)
    return {"access": [line for line in lines if line["weight"] > 0], "distribution": "uniform"}


def _access(shapes: dict[str, Shape], requests: Requests) -> Json:
    """Reads and writes of different sizes, each aligned to its own."""
    lines = []
    for op, shape in shapes.items():
        line: Json = {
            "weight": rounded(requests.shares[op]),
            "size": bytes_text(shape.sizes.least),
            "read_percent": 100 if op == "r" else 0,
        }
        if shape.random_percent != 100:
            line["random_percent"] = rounded(shape.random_percent)
        if shape.align != shape.sizes.least:
            line["align"] = bytes_text(shape.align)
        lines.append(line)
    return {"access": [line for line in lines if line["weight"] > 0]}


def _plain(requests: Requests, course: Course, shapes: dict[str, Shape]) -> tuple[Json, list[Note]]:
    mode, shares = requests.mode, requests.shares
    options: Json = {"read_percent": rounded(shares.get("r", 0))}
    if mode.ops == "tw":
        options["trim_first"] = True
    if mode.ops == "rw" and any(shape.random_percent < 100 for shape in shapes.values()):
        options["sequential"] = "per_operation"
    if "t" in shares:
        options["trim_percent"] = rounded(shares["t"])
    first = next(iter(shapes.values()))
    options["random_percent"] = rounded(first.random_percent)
    notes = []
    if len({shape.random_percent for shape in shapes.values()}) > 1:
        why = "operations whose sizes vary share their randomness; give one percentage, or fixed sizes"
        notes.append(unsupported("percentage_random", why))
    align = _align(mode, shapes)
    notes += _align_notes(requests, shapes)
    alike = len({shape.sizes for shape in shapes.values()}) == 1
    for op, shape in list(shapes.items())[: 1 if alike else None]:
        name = "block_size" if alike else f"{_WORDS[op]}_block_size"
        options[name], more = _written(shape.sizes, align, unaligned=course.unaligned)
        notes += more
    if align is not None:
        options["align"] = bytes_text(align)
    return options, notes


def _written(sizes: Sizes, align: int | None, *, unaligned: bool) -> tuple[Any, list[Note]]:
    """Sizes as ``block_size`` takes them; the steps of our ranges are the alignment, those of fio's the least size."""
    if sizes.shares:
        if len(sizes.shares) == 1:
            return bytes_text(sizes.least), []
        return {str(bytes_text(size)): rounded(share) for size, share in sizes.shares}, []
    most = sizes.most - sizes.most % sizes.least
    if sizes.least == most:
        return bytes_text(sizes.least), []
    if align != sizes.least:
        return _spelled_out(sizes.least, most)
    said = [ignored("bs_unaligned", f"sizes are multiples of {bytes_text(sizes.least)}")] if unaligned else []
    return f"{_suffixed(sizes.least)}-{_suffixed(most)}", said


def _spelled_out(least: int, most: int) -> tuple[Json, list[Note]]:
    """A range as a table of its sizes, all alike."""
    count = most // least
    if count > _SIZES_MAX:
        why = f"a range of {count} sizes needs an alignment of its least size; write ba={least} or a shorter range"
        return {str(bytes_text(least)): 50, str(bytes_text(most)): 50}, [unsupported("bsrange", why)]
    return {str(bytes_text(least * factor)): rounded(100 / count) for factor in range(1, count + 1)}, []


def _suffixed(number: int) -> str:
    text = bytes_text(number)
    return text if isinstance(text, str) else f"{text}B"


def _align(mode: Mode, shapes: dict[str, Shape]) -> int | None:
    """The alignment to write down, or None where ours is the same by itself."""
    least = min(shape.align for shape in shapes.values())
    varied = any(not shape.sizes.fixed for shape in shapes.values())
    ranged = any(not shape.sizes.fixed and not shape.sizes.shares for shape in shapes.values())
    if not mode.random:
        return min(shape.sizes.least for shape in shapes.values()) if ranged else None
    usual = 0
    for shape in shapes.values():
        for size in [size for size, _ in shape.sizes.shares] or [shape.sizes.least, shape.sizes.most]:
            usual = gcd(usual, size)
    return least if varied or least != usual else None


def _align_notes(requests: Requests, shapes: dict[str, Shape]) -> list[Note]:
    if not requests.mode.random:
        return [idle("ba", "sequential requests follow each other; with fio too only random ones are aligned")]
    aligns = {shape.align for shape in shapes.values()}
    why = f"fio aligns every operation to its own least size; here all are aligned to {_suffixed(min(aligns))}"
    return [surprise(requests.sizes_from, why)] if len(aligns) > 1 else []


def _distribution(mode: Mode, course: Course, shapes: dict[str, Shape]) -> Translated:
    """How random addresses lie; zones in bytes are shares of a region that is not known here, see `zones.hot_zones`."""
    if not mode.random:
        return Translated({})
    if course.distribution is not None:
        return _uneven(course.distribution)
    if not course.remembers:
        return Translated({"distribution": "uniform"})
    shape = next(iter(shapes.values()))
    even = len(set(shapes.values())) == 1 and shape.sizes.fixed and shape.align == shape.sizes.least
    if even and shape.random_percent == 100 and course.run_length == 1:
        return Translated({"distribution": "permutation"})
    return Translated({"distribution": "uniform"}, (surprise("rw", _REMEMBERED),))


def _uneven(wanted: Distribution) -> Translated:
    if wanted.problem:
        return Translated({}, (unsupported("random_distribution", wanted.problem),))
    if wanted.kind == "normal":
        why = "fio scatters the popular blocks over the region; here they lie around its middle"
        return Translated({"distribution": wanted.ours}, (surprise("random_distribution", why),))
    return Translated({"distribution": wanted.ours})


def _sequence(mode: Mode, course: Course, shapes: dict[str, Shape]) -> Json:
    """Runs of ``rw=randread:8``, strides of ``rw=read:8k``."""
    if course.run_length > 1 and course.exact:
        return {"run_length": course.run_length, **({"run_repeats": True} if course.repeats else {})}
    if mode.random or not course.stride:
        return {}
    options: Json = {"direction": "backward"} if course.stride < 0 else {}
    if abs(course.stride) != next(iter(shapes.values())).sizes.least:
        options["stride"] = bytes_text(abs(course.stride))
    return options
