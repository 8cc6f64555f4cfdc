"""What a job reads, writes and trims, how long its requests are and where they go: the mix, size, address and zone options of a stream.

Model: fio keeps sizes, alignment and share of random requests per operation. Where they are the same they become options of the stream;
where reads and writes differ, each becomes a line of an access list. A random job without ``norandommap`` visits every block once per pass:
that is our ``permutation``, which takes one size for all operations.
Each operation moves a position of its own, as fio's do.
With ``zonemode=strided`` ``zonesize`` bytes are transferred inside of ``zonerange`` bytes, then ``zoneskip`` bytes are left out and the
next zone begins; behind the end of the file the first one is next. These are our zones, except that a last zone that the file cuts short
is left out here.
Limits: a mix of reads and writes of different sizes that is partly random goes on where the request before it ended, whatever it was.

    addresses(job)        # {"read_percent": 70, "random_percent": 100, "block_size": "4KiB", "distribution": "permutation"}
    zones(job, 4096)      # {"zone_length": "32KiB", "zone_amount": "16KiB", "zone_skip": "64KiB"}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import gcd
from typing import Any

from plimsoll.errors import InputError
from plimsoll.formats.fio.files import files_of
from plimsoll.formats.fio.jobs import Job
from plimsoll.formats.fio.quantity import Quantity, Sizes, bytes_text, rounded
from plimsoll.formats.fio.resolve import DEFAULT_SIZE, OPS, Requests, Said
from plimsoll.formats.fio.values import Mode

Json = dict[str, Any]

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
    """How requests follow each other: ``percents`` of the reads, writes and trims begin at a new address, or each ``run_length`` th."""

    run_length: int
    #: All runs have that length here too.
    exact: bool
    percents: tuple[float, float, float]


def addresses(job: Job) -> Json:
    """The options of a stream that say what is asked of the target."""
    mode, shares = job.requests.mode, job.requests.shares
    _remark_mix(job, mode)
    course, said = _course(job)
    job.say(said)
    if job.get("bs_is_seq_rand") and mode.random and course.percents[0] < 100:
        return _by_course(job, course, shares)
    shapes = _shapes(job.requests, course)
    different = len(set(shapes.values())) > 1
    if different and mode.ops == "rw" and mode.random and all(shape.sizes.fixed for shape in shapes.values()):
        options = _access(shapes, shares)
    else:
        options = _plain(job, mode, shapes, shares)
    options.update(_distribution(job, course, shapes))
    options.update(_sequence(job, course, shapes))
    return options


def _remark_mix(job: Job, mode: Mode) -> None:
    if mode.ops == "tw" and len(job.requests.lengths) > 1:
        job.unsupported("bs", "each block is trimmed and then written, by one size; write bs= with one value")
    for name in ("rwmixread", "rwmixwrite"):
        if mode.ops != "rw":
            job.idle(name, f"rw={mode.word} does not mix reads and writes")
    if not mode.random:
        for name in _RANDOM_ONLY:
            job.idle(name, f"rw={mode.word} is not random")


def _shapes(requests: Requests, course: Course) -> dict[str, Shape]:
    mode = requests.mode
    ops = mode.ops.replace("t", "") if mode.ops == "tw" else mode.ops
    return {op: Shape(requests.sizes[op], requests.aligned[op], course.percents[requests.index(op)]) for op in ops}


def _course(job: Job) -> tuple[Course, tuple[Said, ...]]:
    """How the requests of a job follow each other, and what is to be said of its options; raises `InputError` for a run without length."""
    mode, requests = job.requests.mode, job.requests
    if not mode.random:
        return Course(1, exact=False, percents=(0, 0, 0)), ()
    given = job.get("percentage_random", (100, 100, 100))
    percents = [100 if percent is None else percent for percent in given]
    run = _run_length(job, mode)
    # One operation of one size, aligned to it.
    whole = all(each.fixed and each.least == requests.aligned[op] for op, each in requests.sizes.items())
    exact = not mode.mixed and whole and percents[OPS.index(mode.ops[0])] == 100
    if run == 1 or exact:
        return Course(run, exact, (percents[0], percents[1], percents[2])), ()
    said = [Said("rw", "native", f"random_percent makes runs of {run} requests on average, where fio's all have that length")]
    if job.get("rw_sequencer") == "identical":
        why = "the same block is asked for several times by one operation of one size; make a job of each"
        said.append(Said("rw_sequencer", "unsupported", why))
    return Course(run, exact, (percents[0] / run, percents[1] / run, percents[2] / run)), tuple(said)


def _run_length(job: Job, mode: Mode) -> int:
    """``randread:8``: a new address after every eighth request."""
    if not mode.number:
        return 1
    length = _number(job, mode)
    if length < 1:
        raise job.wrong("rw", "the number of requests before a new address is at least 1.")
    return length


def _by_course(job: Job, course: Course, shares: Mapping[str, float]) -> Json:
    """``bs_is_seq_rand``: the first size for requests that follow another, the second for random ones."""
    given = job.get("bs", (DEFAULT_SIZE, DEFAULT_SIZE, None))
    following, random = given[0] or DEFAULT_SIZE, given[1] or DEFAULT_SIZE
    if not set(job.requests.mode.ops) <= {"r", "w"} or any(job.has(name) for name in ("bsrange", "bssplit")):
        job.unsupported("bs_is_seq_rand", "sizes of sequential and of random requests are fixed ones of reads and writes; write bs= alone")
    mode, percent = job.requests.mode, course.percents[0]
    reads = rounded(shares.get("r", 0))
    lines: list[Json] = [
        {"weight": rounded(100 - percent), "size": bytes_text(following.least), "read_percent": reads, "random_percent": 0},
        {"weight": rounded(percent), "size": bytes_text(random.least), "read_percent": reads},
    ]
    if mode.mixed:
        job.surprise("bs_is_seq_rand", "fio moves one position for reads and one for writes; here both follow one position")
    if not job.get("norandommap", False):
        job.surprise("rw", _REMEMBERED)
    align = min(job.requests.aligned[op] for op in mode.ops)
    for line, size in zip(lines, (following, random), strict=True):
        if align != size.least:
            line["align"] = bytes_text(align)
    return {"access": [line for line in lines if line["weight"] > 0], "distribution": "uniform"}


def _number(job: Job, mode: Mode) -> int:
    try:
        return job.numbers.count(mode.number)
    except InputError as problem:
        raise job.wrong("rw", problem) from None


def _access(shapes: dict[str, Shape], shares: Mapping[str, float]) -> Json:
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


def _plain(job: Job, mode: Mode, shapes: dict[str, Shape], shares: Mapping[str, float]) -> Json:
    options: Json = {"read_percent": rounded(shares.get("r", 0))}
    if mode.ops == "tw":
        options["trim_first"] = True
    if mode.ops == "rw" and any(shape.random_percent < 100 for shape in shapes.values()):
        options["sequential"] = "per_operation"
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
        job.surprise(
            job.requests.sizes_from, f"fio aligns every operation to its own least size; here all are aligned to {_suffixed(least)}"
        )
    usual = 0
    for shape in shapes.values():
        for size in [size for size, _ in shape.sizes.shares] or [shape.sizes.least, shape.sizes.most]:
            usual = gcd(usual, size)
    return least if varied or least != usual else None


def _distribution(job: Job, course: Course, shapes: dict[str, Shape]) -> Json:
    if not job.requests.mode.random:
        return {}
    wanted = job.get("random_distribution")
    if wanted is not None and wanted.kind != "random":
        return _uneven(job, wanted)
    if job.get("norandommap", False):
        return {"distribution": "uniform"}
    shape = next(iter(shapes.values()))
    even = len(set(shapes.values())) == 1 and shape.sizes.fixed and shape.align == shape.sizes.least
    if even and shape.random_percent == 100 and course.run_length == 1:
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
        return {"distribution": _of_region(job, wanted.zones)}
    return {"distribution": wanted.ours}


def _of_region(job: Job, zones: tuple[tuple[int, int], ...]) -> str:
    """Zones in bytes as shares of a region whose length the job gives; what lies behind them is not asked for."""
    length = _region_of(job)
    if length is None or not length.is_bytes:
        why = f"zones are shares of a region whose length is known; write size= in bytes, or zoned:, or {job.targets.remedy}"
        job.unsupported("random_distribution", why)
        return "uniform"
    if sum(size for _, size in zones) > length.number:
        job.unsupported("random_distribution", "the zones are longer than the region; write shorter ones")
        return "uniform"
    return "hot:" + ",".join(f"{access}/{rounded(100 * size / length.number)}" for access, size in zones)


def _region_of(job: Job) -> Quantity | None:
    """The length of the region, from the job or from its only file; None for several files."""
    files = files_of(job, 0)
    if len(files) > 1:
        return None
    given: Quantity | None = job.get("size") or (job.get("filesize") or (None,))[0]
    if given is not None and given.is_bytes and given.number:
        return given
    there, start = job.targets.at_length(files[0]), job.get("offset", Quantity(0))
    if there is None or not start.is_bytes:
        return None
    return Quantity(there * given.number // 100 if given is not None and given.number else there - start.number)


def _sequence(job: Job, course: Course, shapes: dict[str, Shape]) -> Json:
    """``rw=read:8k`` leaves 8k out behind each request; ``rw=randread:8`` makes runs of eight."""
    mode = job.requests.mode
    if not mode.random or not mode.number:
        job.idle("rw_sequencer", "only random requests are repeated or followed")
    if course.run_length > 1 and course.exact:
        repeats = {"run_repeats": True} if job.get("rw_sequencer") == "identical" else {}
        return {"run_length": course.run_length, **repeats}
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


_LENGTHS = ("zonesize", "zonerange", "zoneskip")
_ZONED_DEVICE = "zoned devices are not driven by their zones; zonemode=strided works through a conventional region in zones"


def zones(job: Job, align: int) -> Json:
    """The options; ``align`` is what requests start at multiples of."""
    mode = str(job.get("zonemode", "none")).partition(":")[0]
    if mode == "zbd":
        job.unsupported("zonemode", _ZONED_DEVICE)
        return {}
    if mode == "none":
        if job.get("zonesize") is not None and job.get("zonesize").number:
            raise job.wrong("zonesize", "fio takes it with a zonemode only; write zonemode=strided.")
        for name in _LENGTHS:
            job.idle(name, "there is no zonemode")
        return {}
    if not job.has("zonesize") or not job.get("zonesize").number:
        raise job.wrong("zonesize" if job.has("zonesize") else "zonemode", "zones need their size; write zonesize=1m, for example.")
    found = {name: job.get(name) for name in _LENGTHS if job.has(name)}
    percent = next((name for name, quantity in found.items() if not quantity.is_bytes), None)
    if percent:
        job.unsupported(percent, "zones are counted in bytes; write a size")
        return {}
    return _checked(job, align)


def _checked(job: Job, align: int) -> Json:
    amount: Quantity = job.get("zonesize")
    length: Quantity = job.get("zonerange", amount)
    skip: Quantity = job.get("zoneskip", Quantity(0))
    if length.number < amount.number and not job.has("zonerange"):
        length = amount
    for name, quantity in (("zonerange" if job.has("zonerange") else "zonesize", length), ("zoneskip", skip)):
        if quantity.number % align:
            job.unsupported(name, f"zones begin at multiples of the size of a request, {align} bytes; write a multiple of it")
            return {}
    job.surprise("zonemode", "a last zone that the end of the file cuts short is left out here; fio goes on in what there is of it")
    found: Json = {"zone_length": bytes_text(length.number)}
    if amount.number != length.number:
        found["zone_amount"] = bytes_text(amount.number)
    if skip.number:
        found["zone_skip"] = bytes_text(skip.number)
    return found


def is_zoned(job: Job) -> bool:
    """Whether the region has zones."""
    return bool(job.get("zonemode", "none") == "strided")
