"""What a job reads, writes and trims, how long its requests are and where they go: the mix, size and address options of a stream.

Model: fio keeps sizes, alignment and share of random requests per operation. Where they are the same they become options of the stream;
where reads and writes differ, each becomes a line of an access list. A random job without ``norandommap`` visits every block once per pass:
that is our ``permutation``, which takes one size for all operations.
Limits: fio's sequential mix moves a position for each operation, ours one for both; the remark says so.

    addresses(job)        # {"read_percent": 70, "random_percent": 100, "block_size": "4KiB", "distribution": "permutation"}
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd
from typing import Any

from plimsoll.errors import InputError
from plimsoll.formats.fio.job import Job
from plimsoll.formats.fio.mode import Mode, read_mode
from plimsoll.formats.fio.quantity import bytes_text, rounded
from plimsoll.formats.fio.splits import Sizes

Json = dict[str, Any]

_OPS = "rwt"
_WORDS = {"r": "read", "w": "write", "t": "trim"}
_DEFAULT_SIZE = Sizes(4096, 4096)
_DEFAULT_MIX = 50
_REMEMBERED = (
    "fio remembers which blocks it visited, takes each once per pass and cuts requests short before those; here blocks are drawn anew for "
    "each request, as with norandommap"
)
#: A longer table of sizes is not written down.
_SIZES_MAX = 64
_RANDOM_ONLY = ("norandommap", "softrandommap", "random_distribution", "percentage_random")
_SIZE_OPTIONS = ("bssplit", "bsrange", "bs")


@dataclass(frozen=True)
class Shape:
    """How the requests of one operation look."""

    sizes: Sizes
    align: int
    random_percent: float


def mode_of(job: Job) -> Mode:
    """fio reads when nothing else is said."""
    mode: Mode = job.get("rw") or read_mode("read")
    return mode


def shares_of(job: Job) -> dict[str, float]:
    """Percent of the requests that read, write and trim, of the operations of the job."""
    mode = mode_of(job)
    if mode.ops == "rw":
        reads = _read_percent(job)
        return {"r": reads, "w": 100 - reads}
    return {op: 100 / len(mode.ops) for op in mode.ops}


def _read_percent(job: Job) -> float:
    if job.has("rwmixwrite"):
        return float(100 - job.get("rwmixwrite"))
    return float(job.get("rwmixread", _DEFAULT_MIX))


def sizes_of(job: Job) -> dict[str, Sizes]:
    """How long requests are, per operation of the job: bssplit before bsrange before bs before 4 KiB."""
    found = {}
    for index, op in enumerate(_OPS):
        options = [name for name in _SIZE_OPTIONS if job.has(name) and job.get(name)[index] is not None]
        found[op] = job.get(options[0])[index] if options else _DEFAULT_SIZE
    for lesser, better in (("bs", "bsrange"), ("bs", "bssplit"), ("bsrange", "bssplit")):
        if job.has(lesser) and job.has(better) and None not in job.get(better):
            job.idle(lesser, f"{better} takes its place")
    return {op: found[op] for op in mode_of(job).ops}


def addresses(job: Job) -> Json:
    """The options of a stream that say what is asked of the target."""
    mode, shares = mode_of(job), shares_of(job)
    _remark_mix(job, mode)
    shapes = _shapes(job, mode)
    different = len(set(shapes.values())) > 1
    if different and mode.ops == "rw" and mode.random and all(shape.sizes.fixed for shape in shapes.values()):
        options = _access(shapes, shares)
    else:
        options = _plain(job, mode, shapes, shares)
    options.update(_distribution(job, mode, shapes))
    options.update(_sequence(job, mode, shapes))
    return options


def _remark_mix(job: Job, mode: Mode) -> None:
    if mode.ops == "tw":
        job.unsupported("rw", "each block is trimmed and then written; a stream with trim_percent = 50 trims and writes different blocks")
    if mode.ops == "rw" and not mode.random:
        job.surprise("rw", "fio moves one position for reads and one for writes, both from the start; here both follow one position")
    for name in ("rwmixread", "rwmixwrite"):
        if mode.ops != "rw":
            job.idle(name, f"rw={mode.word} does not mix reads and writes")
    if not mode.random:
        for name in _RANDOM_ONLY:
            job.idle(name, f"rw={mode.word} is not random")


def _shapes(job: Job, mode: Mode) -> dict[str, Shape]:
    sizes = sizes_of(job)
    aligns = job.get("ba", (None, None, None))
    shapes = {}
    for op in mode.ops:
        index = _OPS.index(op)
        align = aligns[index].least if aligns[index] is not None else sizes[op].least
        shapes[op] = Shape(sizes[op], align, _random_percent(job, mode, index))
    return shapes


def _random_percent(job: Job, mode: Mode, index: int) -> float:
    if not mode.random:
        return 0
    percent = job.get("percentage_random", (100, 100, 100))[index]
    percent = 100 if percent is None else percent
    if percent > 100:
        raise job.wrong("percentage_random", f"{percent} is not a percentage from 0 to 100.")
    run = _run_length(job, mode)
    return percent / run if run > 1 else percent


def _run_length(job: Job, mode: Mode) -> int:
    """``randread:8``: a new address after every eighth request."""
    if not mode.number or not mode.random:
        return 1
    length = _number(job, mode)
    if length < 1:
        raise job.wrong("rw", "the number of requests before a new address is at least 1.")
    if length > 1:
        job.native("rw", f"random_percent makes runs of {length} requests on average, where fio's all have that length")
    return length


def _number(job: Job, mode: Mode) -> int:
    try:
        return job.numbers.count(mode.number)
    except InputError as problem:
        raise job.wrong("rw", problem) from None


def _access(shapes: dict[str, Shape], shares: dict[str, float]) -> Json:
    """Reads and writes of different sizes, each aligned to its own."""
    lines = []
    for op, shape in shapes.items():
        line: Json = {"weight": rounded(shares[op]), "size": bytes_text(shape.sizes.least), "read_percent": 100 if op == "r" else 0}
        if shape.random_percent != 100:
            line["random_percent"] = rounded(shape.random_percent)
        if shape.align != shape.sizes.least:
            line["align"] = bytes_text(shape.align)
        lines.append(line)
    return {"access": [line for line in lines if line["weight"] > 0]}


def _plain(job: Job, mode: Mode, shapes: dict[str, Shape], shares: dict[str, float]) -> Json:
    options: Json = {"read_percent": rounded(shares.get("r", 0))}
    if "t" in shares:
        options["trim_percent"] = rounded(shares["t"])
    first = next(iter(shapes.values()))
    options["random_percent"] = rounded(first.random_percent)
    if len({shape.random_percent for shape in shapes.values()}) > 1:
        job.unsupported("percentage_random", "operations whose sizes vary share their randomness; give one percentage, or fixed sizes")
    align = _align(job, mode, shapes)
    if len({shape.sizes for shape in shapes.values()}) == 1:
        options["block_size"] = _written(job, first.sizes, align)
    else:
        options.update({f"{_WORDS[op]}_block_size": _written(job, shape.sizes, align) for op, shape in shapes.items()})
    if align is not None:
        options["align"] = bytes_text(align)
    return options


def _written(job: Job, sizes: Sizes, align: int | None) -> Any:
    """Sizes as ``block_size`` takes them; the steps of our ranges are the alignment, those of fio's the least size."""
    if sizes.shares:
        if len(sizes.shares) == 1:
            return bytes_text(sizes.least)
        return {str(bytes_text(size)): rounded(share) for size, share in sizes.shares}
    most = sizes.most - sizes.most % sizes.least
    if sizes.least == most:
        return bytes_text(sizes.least)
    if align != sizes.least:
        return _spelled_out(job, sizes.least, most)
    if job.get("bs_unaligned"):
        job.ignored("bs_unaligned", f"sizes are multiples of {bytes_text(sizes.least)}")
    return f"{_suffixed(sizes.least)}-{_suffixed(most)}"


def _spelled_out(job: Job, least: int, most: int) -> Json:
    """A range as a table of its sizes, all alike."""
    count = most // least
    if count > _SIZES_MAX:
        job.unsupported("bsrange", f"a range of {count} sizes needs an alignment of its least size; write ba={least} or a shorter range")
        return {str(bytes_text(least)): 50, str(bytes_text(most)): 50}
    return {str(bytes_text(least * factor)): rounded(100 / count) for factor in range(1, count + 1)}


def _suffixed(number: int) -> str:
    text = bytes_text(number)
    return text if isinstance(text, str) else f"{text}B"


def _align(job: Job, mode: Mode, shapes: dict[str, Shape]) -> int | None:
    """The alignment to write down, or None where ours is the same by itself."""
    least = min(shape.align for shape in shapes.values())
    varied = any(not shape.sizes.fixed for shape in shapes.values())
    ranged = any(not shape.sizes.fixed and not shape.sizes.shares for shape in shapes.values())
    if not mode.random:
        job.idle("ba", "sequential requests follow each other; with fio too only random ones are aligned")
        return min(shape.sizes.least for shape in shapes.values()) if ranged else None
    if len({shape.align for shape in shapes.values()}) > 1:
        given = next((name for name in _SIZE_OPTIONS if job.has(name)), "")
        job.surprise(given, f"fio aligns every operation to its own least size; here all are aligned to {_suffixed(least)}")
    usual = 0
    for shape in shapes.values():
        for size in [size for size, _ in shape.sizes.shares] or [shape.sizes.least, shape.sizes.most]:
            usual = gcd(usual, size)
    return least if varied or least != usual else None


def _distribution(job: Job, mode: Mode, shapes: dict[str, Shape]) -> Json:
    if not mode.random:
        return {}
    wanted = job.get("random_distribution")
    if wanted is not None and wanted.kind != "random":
        return _uneven(job, wanted)
    if job.get("norandommap", False):
        return {"distribution": "uniform"}
    shape = next(iter(shapes.values()))
    even = len(set(shapes.values())) == 1 and shape.sizes.fixed and shape.align == shape.sizes.least
    if even and shape.random_percent == 100:
        return {"distribution": "permutation"}
    job.surprise("rw", _REMEMBERED)
    return {"distribution": "uniform"}


def _uneven(job: Job, wanted: Any) -> Json:
    if wanted.problem:
        job.unsupported("random_distribution", wanted.problem)
        return {}
    if wanted.kind == "normal":
        job.surprise("random_distribution", "fio scatters the popular blocks over the region; here they lie around its middle")
    if wanted.kind == "zoned_abs":
        job.unsupported("random_distribution", "zones are shares of the region; write zoned: with percentages")
        return {}
    return {"distribution": wanted.ours}


def _sequence(job: Job, mode: Mode, shapes: dict[str, Shape]) -> Json:
    """``rw=read:8k`` leaves 8k out behind each request."""
    if job.get("rw_sequencer", "sequential") == "identical" and mode.number:
        job.unsupported("rw_sequencer", "the same block is not asked for several times in a row; leave the number behind rw out")
    if not mode.number or mode.random:
        return {}
    shape = next(iter(shapes.values()))
    if not all(other.sizes.fixed for other in shapes.values()) or len(set(shapes.values())) > 1:
        job.unsupported("rw", "a stride needs one size for all requests; write bs= with one value")
        return {}
    size = shape.sizes.least
    stride = size + _number(job, mode)
    if stride == 0 or stride % size:
        job.unsupported("rw", f"positions are multiples of the size {_suffixed(size)}; write a number that is one as well, and not -{size}")
        return {}
    options: Json = {}
    if stride < 0:
        options["direction"] = "backward"
        job.surprise("rw", "fio begins with the first block of the region and goes backward from its end; here the end comes first")
    if abs(stride) != size:
        options["stride"] = bytes_text(abs(stride))
    return options
