"""A FWD as options of a stream: what it does, to which files, how they are read and written, and what is written.

Model: an RD's operations come before that of the FWD, and a loop over operations before both; without any of them a FWD reads. ``rdpct``
makes a mix of reading and writing. `fileselect` says which file comes next, `fileio` where requests go in it, `xfersizes` how long they
are, `stopafter` after how many the file is left. Flags of the run come before the FWD's, and these before the FSD's. Content has its ratios
of compression and duplicates.
Limits: as in Vdbench, a FWD with sequential access has no ``rdpct``. With that of a run (``forrdpct``), reading or writing is drawn for
each file that is opened, where Vdbench draws it for each request. Of files that are not full only those are told apart that were not
written to their end since they were created. Nothing in files is verified.

    operations(run, values)        # [{'read': 70.0, 'write': 30.0}]
    options(use, verdicts)         # {'file_select': 'random', 'file_access': 'random', 'transfer_size': '4KiB'}
    content(use, planning)         # {'compress_ratio': 2}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plimsoll.displayed import quoted
from plimsoll.formats.vdbench.access import transfer_sizes
from plimsoll.formats.vdbench.content import ratio, verification
from plimsoll.formats.vdbench.model import Definition, Parameter, Verdicts, Word
from plimsoll.formats.vdbench.storage import Planning
from plimsoll.formats.vdbench.values import Values, number, parse

Json = dict[str, Any]

#: Our word for each of Vdbench's.
WORDS = {
    "read": "read",
    "write": "write",
    "create": "create",
    "open": "open",
    "close": "close",
    "access": "access",
    "getattr": "stat",
    "setattr": "setattr",
    "copy": "copy",
    "move": "move",
    "delete": "delete",
    "mkdir": "mkdir",
    "rmdir": "rmdir",
}
_MOVING = ("read", "write")
#: Those that go from one tree to another.
BETWEEN_TREES = ("copy", "move")

Shares = dict[str, float]


def is_random(values: Values) -> bool:
    """Whether requests go anywhere in a file."""
    parameter = values.parameter("fileio")
    return parameter is not None and parameter.texts[0].lower().startswith("ra")


def operations(run: Definition, values: Values) -> list[Shares]:
    """What a FWD does in one round: for each operation of its list, our operations with their percentages."""
    if "operations" in values.choice:
        return [_mixed(values.loops["operations"], values.choice["operations"], values)]
    several = run.get("operations")
    if several is not None:
        return [_mixed(several, word, values) for word in several.values]
    own = values.definition.get("operations")
    if own is not None:
        return [_mixed(own, own.values[0], values)]
    share = values.parameter("rdpct")
    if share is not None:
        return [_mixed(share, Word("read"), values)]
    return [{"read": 100.0}]


def _mixed(parameter: Parameter, word: Word, values: Values) -> Shares:
    known = word.text.lower()
    if known not in WORDS:
        raise parameter.wrong(f"{quoted(word.text)} is no operation; there are {', '.join(WORDS)}.")
    own = values.definition.get("rdpct")
    if own is not None and not is_random(values):
        raise own.wrong("Vdbench takes no rdpct with sequential access; write fileio=random, or operation=read or write alone.")
    if known not in _MOVING or values.parameter("rdpct") is None:
        return {WORDS[known]: 100.0}
    reads = values.percent("rdpct", 100)
    return {name: share for name, share in (("read", reads), ("write", 100 - reads)) if share > 0}


def table(shares: Mapping[str, float]) -> str | dict[str, float]:
    """As the option `operation`: a word, or percentages that make 100."""
    if len(shares) == 1:
        return next(iter(shares))
    whole = sum(shares.values())
    rounded = {name: round(100 * share / whole, 6) for name, share in shares.items()}
    largest = max(rounded, key=lambda name: rounded[name])
    rounded[largest] = round(100 - sum(share for name, share in rounded.items() if name != largest), 6)
    return {name: int(share) if share == int(share) else share for name, share in rounded.items()}


SECTOR_BYTES = 512
STOP_AFTER_MAX = 1_000_000_000
#: What poisson has without a number, and what the driver takes.
MIDPOINT, MIDPOINT_MIN, MIDPOINT_MAX = 3, 0.01, 1000
_SELECT = ("random", "seq", "sequential", "seqnz", "sequentialnz", "once", "full", "empty", "notfull", "poisson", "skewed")


@dataclass(frozen=True)
class FileUse:
    """A FWD on FSDs in one round, and what it does there."""

    run: Definition
    values: Values
    fsds: tuple[Definition, ...]
    shares: Shares

    @property
    def moves_bytes(self) -> bool:
        """Whether it reads or writes."""
        return bool({"read", "write", "copy"} & self.shares.keys())

    @property
    def opens(self) -> bool:
        """Whether it opens files."""
        return bool({"read", "write", "open", "close"} & self.shares.keys())

    @property
    def writes(self) -> bool:
        """Whether it writes to files that it opened."""
        return "write" in self.shares


def options(use: FileUse, verdicts: Verdicts) -> Json:
    """The options of the stream, but for its name, trees, operation, threads and rate."""
    found = selection(use.values, verdicts) | _state(use, verdicts) | _file_access(use.values, verdicts)
    parameter = use.values.parameter("xfersizes")
    if parameter is not None and len(use.values.words("xfersizes")) == 3:
        raise parameter.wrong("3 values are no sizes with their percentages; write for example (4k,60,8k,40).")
    sizes = transfer_sizes(parameter, use.values.words("xfersizes"))
    found["transfer_size"] = sizes.block_size
    found |= _stop_after(use.values, verdicts) | opened(use, verdicts)
    if found["direct"] and sizes.align % SECTOR_BYTES:
        why = "with o_direct, requests are multiples of 512 bytes; the nearest thing is such an xfersize"
        verdicts.unsupported(parameter or use.values.definition.head, why)
    return found


def selection(values: Values, verdicts: Verdicts) -> Json:
    """Which file comes next."""
    parameter = values.parameter("fileselect")
    if parameter is None:
        verdicts.native(values.definition.head, "a stream; without fileselect files come one after the other, as by default in Vdbench")
        return {"file_select": "sequential"}
    words = [text.lower() for text in parameter.texts]
    numbers_ = [number for word in words if (number := parse(word)) is not None]
    for word in words:
        if word not in _SELECT and not (len(word) > 1 and "random".startswith(word)) and parse(word) is None:
            raise parameter.wrong(f"{quoted(word)} is not known; there are random, seq, seqnz, once, full, empty, notfull and poisson.")
    if numbers_ or {"poisson", "skewed"} & set(words):
        midpoint = numbers_[0].value if numbers_ else MIDPOINT
        if len(numbers_) > 1 or not MIDPOINT_MIN <= midpoint <= MIDPOINT_MAX:
            raise parameter.wrong("poisson has one number, its midpoint, from 0.01 to 1000; write for example (poisson,3).")
        verdicts.native(parameter, f'file_select = "random", file_skew = {midpoint:g}: the first files come more often')
        return {"file_select": "random", "file_skew": midpoint}
    return {"file_select": _plain_selection(parameter, words, verdicts)}


def _state(use: FileUse, verdicts: Verdicts) -> Json:
    """Whether files are taken by what is missing in them."""
    parameter = use.values.parameter("fileselect")
    if parameter is None or not {"empty", "notfull"} & {text.lower() for text in parameter.texts}:
        return {}
    if not use.opens:
        verdicts.native(parameter, "it is not read, written or opened, so it changes nothing")
        return {}
    if "read" in use.shares or is_random(use.values):
        why = "files without content cannot be read, or written at random; the nearest thing is operation=write with fileio=seq"
        verdicts.unsupported(parameter, why)
        return {}
    verdicts.native(parameter, "files that were created and not written to their end; none is when a run begins, so it has to create some")
    return {"file_state": "unwritten"}


def _plain_selection(parameter: Parameter, words: Sequence[str], verdicts: Verdicts) -> str:
    random = any(word[:2] == "ra" for word in words)
    if "once" in words:
        if random:
            verdicts.ignored(parameter, "each file once, one after the other rather than at random")
        else:
            verdicts.native(parameter, 'file_select = "once": the stream ends when it had every file')
        return "once"
    if random:
        verdicts.native(parameter, 'file_select = "random"')
        return "random"
    if any(word.endswith("nz") for word in words):
        verdicts.ignored(parameter, "the first file is the first of the tree rather than any; only the first pass differs")
    else:
        verdicts.native(parameter, "every file has its whole content" if words == ["full"] else 'file_select = "sequential"')
    return "sequential"


def _file_access(values: Values, verdicts: Verdicts) -> Json:
    parameter = values.parameter("fileio")
    if parameter is None:
        return {"file_access": "sequential"}
    first, *more = [text.lower() for text in parameter.texts]
    if first != "r" and "random".startswith(first):
        if more not in ([], ["shared"]):
            raise parameter.wrong(f"{quoted(more[0])} does not go with random; there are random and (random,shared).")
        shared = {"shared": True} if more else {}
        verdicts.native(parameter, f'file_access = "random"{", and threads share files" if more else ""}')
        return {"file_access": "random"} | shared
    if not first.startswith("seq"):
        raise parameter.wrong(
            f"{quoted(first)} is not known; there are random, (random,shared), sequential, sequentialnz and (seq,delete)."
        )
    if more not in ([], ["delete"], ["nz"]):
        raise parameter.wrong(f"{quoted(more[0])} does not go with sequential; there are sequential, sequentialnz and (seq,delete).")
    if more == ["delete"]:
        why = "files are not deleted before they are written; the nearest thing is an RD with operations=(delete,create,write)"
        verdicts.unsupported(parameter, why)
    elif more or first.endswith("nz"):
        verdicts.ignored(parameter, "files are read and written from their start rather than from anywhere in them")
    else:
        verdicts.native(parameter, 'file_access = "sequential"')
    return {"file_access": "sequential"}


def _stop_after(values: Values, verdicts: Verdicts) -> Json:
    parameter = values.parameter("stopafter")
    if parameter is None:
        return {}
    found = number(parameter)
    if found.percent:
        why = "a percentage of the file is not taken; the nearest thing is how many requests that is"
        verdicts.unsupported(parameter, why)
        return {}
    if found.value != int(found.value) or not 1 <= found.value <= STOP_AFTER_MAX:
        raise parameter.wrong(f"{found.value:g} is no number of requests; write a whole number such as 100.")
    return {"stop_after": int(found.value)}


_DIRECT, _DURABLE = ("o_direct", "directio"), ("o_dsync", "o_sync")
_FLAGS = {
    "o_direct": "direct = true",
    "directio": "direct = true",
    "o_dsync": "dsync = true",
    "o_sync": "o_sync is dsync here, which leaves out times and other metadata of the file",
    "o_rsync": "reads do not wait for writes that are pending",
    "fsync": "flush_at_close = true",
    "clear_cache": 'cache = "cold"',
}
_APPROXIMATE = ("o_sync", "o_rsync")


def flags_of(use: FileUse) -> list[Parameter]:
    """The parameters that decide: one of the run or the FWD, or those of all its FSDs."""
    found = use.run.get("openflags") or use.values.definition.get("openflags")
    return [found] if found is not None else [flag for fsd in use.fsds if (flag := fsd.get("openflags")) is not None]


def words_of(use: FileUse) -> list[str]:
    """The flags that hold."""
    return [text.lower() for parameter in flags_of(use) for text in parameter.texts if text.lower() != "none"]


def opened(use: FileUse, verdicts: Verdicts) -> Json:
    """Options that follow from the flags; what holds by default is left out, but for the page cache."""
    parameters, flags = flags_of(use), words_of(use)
    for parameter in parameters:
        for word in parameter.texts:
            _say_of_flag(parameter, word.lower(), verdicts)
    found: Json = {"direct": any(flag in _DIRECT for flag in flags)}
    if not found["direct"] and use.moves_bytes:
        why = "without o_direct a run measures this host's page cache as well, in Vdbench as here"
        verdicts.surprise(parameters[0] if parameters else use.values.definition.head, why)
    if any(flag in _DURABLE for flag in flags):
        found["dsync"] = True
    if "fsync" in flags and use.writes:
        found["flush_at_close"] = True
    return found


def _say_of_flag(parameter: Parameter, flag: str, verdicts: Verdicts) -> None:
    if flag.startswith("0x"):
        verdicts.unsupported(parameter, f"bits of open() cannot be given; the nearest things are o_direct and o_dsync in place of {flag}")
    elif flag not in (*_FLAGS, "none"):
        raise parameter.wrong(
            f"{quoted(flag)} is not a flag; there are o_direct, directio, o_sync, o_dsync, o_rsync, fsync and clear_cache."
        )
    elif flag != "none":
        (verdicts.ignored if flag in _APPROXIMATE else verdicts.native)(parameter, _FLAGS[flag])


#: Options of a stream that depend on what it does.
OF_OPERATIONS = ("operation", "write_created", "file_state")


def same_but_operation(streams: Sequence[Json]) -> bool:
    """Whether streams differ in nothing but name, threads, and what they do."""
    rests: list[Mapping[str, Any]] = [
        {key: value for key, value in stream.items() if key not in ("name", "threads", *OF_OPERATIONS)} for stream in streams
    ]
    return all(rest == rests[0] for rest in rests)


_NOT_VERIFIED = "files are not verified; the nearest thing is an SD on one large file with validate=yes"
_NO_PATTERN = "no pattern is written into files; the nearest thing is compratio"


def content(use: FileUse, planning: Planning) -> Json:
    """Options of a stream about its content."""
    validate, pattern = planning.general("validate"), planning.general("pattern")
    if validate is not None and verification(validate)[0] != "off":
        planning.verdicts.unsupported(validate, _NOT_VERIFIED)
    if pattern is not None:
        planning.verdicts.unsupported(pattern, _NO_PATTERN)
    options: Json = {}
    for option, name in (("compress_ratio", "compratio"), ("duplicate_ratio", "dedupratio")):
        parameter = use.values.loops.get(name) or planning.general(name)
        if parameter is not None:
            options[option] = ratio(parameter, use.values.choice[name].text if name in use.values.choice else parameter.word)
    return options
