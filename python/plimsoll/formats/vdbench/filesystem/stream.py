"""A FWD as options of a stream: what it does, to which files, how they are read and written, and what is written.

Model: an RD's operations come before that of the FWD, and a loop over operations before both; without any of them a FWD reads. ``rdpct``
makes a mix of reading and writing. `fileselect` says which file comes next, `fileio` where requests go in it, `xfersizes` how long they
are, `stopafter` after how many the file is left. Flags of the run come before the FWD's, and these before the FSD's. Content has its ratios
of compression and duplicates.
Limits: as in Vdbench, a FWD with sequential access has no ``rdpct``. With that of a run (``forrdpct``), reading or writing is drawn for
each file that is opened, where Vdbench draws it for each request. Of files that are not full only those are told apart that were not
written to their end since they were created. Nothing in files is verified.

    operations(asked)              # [{'read': 70.0, 'write': 30.0}]
    options(use).options           # {'file_select': 'random', 'file_access': 'random', 'transfer_size': '4KiB'}
    content(use, general).options  # {'compress_ratio': 2}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plimsoll.displayed import quoted
from plimsoll.formats.vdbench.access import transfer_sizes
from plimsoll.formats.vdbench.content import ratios_of, verification
from plimsoll.formats.vdbench.model import Definition, Parameter, Word
from plimsoll.formats.vdbench.notes import Notes, Translated, ignored, native, surprise, unsupported
from plimsoll.formats.vdbench.resolve import FileSettings, General
from plimsoll.formats.vdbench.values import Setting, decided_percent, number, parse
from plimsoll.stored import Json

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


def is_random(asked: FileSettings) -> bool:
    """Whether requests go anywhere in a file."""
    return asked.fileio is not None and asked.fileio.parameter.texts[0].lower().startswith("ra")


def operations(asked: FileSettings) -> list[Shares]:
    """What a FWD does in one round: for each operation of its list, our operations with their percentages."""
    if asked.operations is not None:
        return [_mixed(asked.operations.parameter, word, asked) for word in asked.operations.words]
    if asked.rdpct is not None:
        return [_mixed(asked.rdpct.parameter, Word("read"), asked)]
    return [{"read": 100.0}]


def _mixed(parameter: Parameter, word: Word, asked: FileSettings) -> Shares:
    known = word.text.lower()
    if known not in WORDS:
        raise parameter.wrong(f"{quoted(word.text)} is no operation; there are {', '.join(WORDS)}.")
    own = asked.workload.own_rdpct
    if own is not None and not is_random(asked):
        raise own.wrong("Vdbench takes no rdpct with sequential access; write fileio=random, or operation=read or write alone.")
    if known not in _MOVING or asked.rdpct is None:
        return {WORDS[known]: 100.0}
    reads = decided_percent(asked.rdpct, 100)
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

    asked: FileSettings
    fsds: tuple[Definition, ...]
    shares: Shares
    #: The parameters that decide on flags: one of the run or the FWD, or those of all its FSDs.
    flagged: tuple[Parameter, ...] = ()

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

    @property
    def flags(self) -> list[str]:
        """The flags that hold."""
        return [text.lower() for parameter in self.flagged for text in parameter.texts if text.lower() != "none"]


def options(use: FileUse) -> list[Translated]:
    """The options of the stream in parts, but for its name, trees, operation, threads and rate."""
    asked = use.asked
    files = [selection(asked), _state(use), _file_access(asked.fileio)]
    if asked.xfersizes is not None and len(asked.xfersizes.words) == 3:
        raise asked.xfersizes.parameter.wrong("3 values are no sizes with their percentages; write for example (4k,60,8k,40).")
    sizes = transfer_sizes(asked.xfersizes)
    size, after, flags = Translated({"transfer_size": sizes.block_size}), _stop_after(asked.stopafter), opened(use)
    if flags.options["direct"] and sizes.align % SECTOR_BYTES:
        why = "with o_direct, requests are multiples of 512 bytes; the nearest thing is such an xfersize"
        where = asked.workload.head if asked.xfersizes is None else asked.xfersizes.parameter
        size = Translated(size.options, (unsupported(where, why),))
    return [*files, size, after, flags]


def selection(asked: FileSettings) -> Translated:
    """Which file comes next."""
    if asked.fileselect is None:
        why = "a stream; without fileselect files come one after the other, as by default in Vdbench"
        return Translated({"file_select": "sequential"}, (native(asked.workload.head, why),))
    parameter = asked.fileselect.parameter
    words = [text.lower() for text in parameter.texts]
    numbers_ = [number for word in words if (number := parse(word)) is not None]
    for word in words:
        if word not in _SELECT and not (len(word) > 1 and "random".startswith(word)) and parse(word) is None:
            raise parameter.wrong(f"{quoted(word)} is not known; there are random, seq, seqnz, once, full, empty, notfull and poisson.")
    if numbers_ or {"poisson", "skewed"} & set(words):
        midpoint = numbers_[0].value if numbers_ else MIDPOINT
        if len(numbers_) > 1 or not MIDPOINT_MIN <= midpoint <= MIDPOINT_MAX:
            raise parameter.wrong("poisson has one number, its midpoint, from 0.01 to 1000; write for example (poisson,3).")
        note = native(parameter, f'file_select = "random", file_skew = {midpoint:g}: the first files come more often')
        return Translated({"file_select": "random", "file_skew": midpoint}, (note,))
    return _plain_selection(parameter, words)


def _state(use: FileUse) -> Translated:
    """Whether files are taken by what is missing in them."""
    selected = use.asked.fileselect
    if selected is None or not {"empty", "notfull"} & {text.lower() for text in selected.parameter.texts}:
        return Translated({})
    parameter = selected.parameter
    if not use.opens:
        return Translated({}, (native(parameter, "it is not read, written or opened, so it changes nothing"),))
    if "read" in use.shares or is_random(use.asked):
        why = "files without content cannot be read, or written at random; the nearest thing is operation=write with fileio=seq"
        return Translated({}, (unsupported(parameter, why),))
    why = "files that were created and not written to their end; none is when a run begins, so it has to create some"
    return Translated({"file_state": "unwritten"}, (native(parameter, why),))


def _plain_selection(parameter: Parameter, words: Sequence[str]) -> Translated:
    random = any(word[:2] == "ra" for word in words)
    if "once" in words and random:
        note = ignored(parameter, "each file once, one after the other rather than at random")
        return Translated({"file_select": "once"}, (note,))
    if "once" in words:
        note = native(parameter, 'file_select = "once": the stream ends when it had every file')
        return Translated({"file_select": "once"}, (note,))
    if random:
        return Translated({"file_select": "random"}, (native(parameter, 'file_select = "random"'),))
    if any(word.endswith("nz") for word in words):
        note = ignored(parameter, "the first file is the first of the tree rather than any; only the first pass differs")
    else:
        note = native(parameter, "every file has its whole content" if words == ["full"] else 'file_select = "sequential"')
    return Translated({"file_select": "sequential"}, (note,))


def _file_access(fileio: Setting | None) -> Translated:
    if fileio is None:
        return Translated({"file_access": "sequential"})
    parameter = fileio.parameter
    first, *more = [text.lower() for text in parameter.texts]
    if first != "r" and "random".startswith(first):
        if more not in ([], ["shared"]):
            raise parameter.wrong(f"{quoted(more[0])} does not go with random; there are random and (random,shared).")
        shared = {"shared": True} if more else {}
        note = native(parameter, f'file_access = "random"{", and threads share files" if more else ""}')
        return Translated({"file_access": "random"} | shared, (note,))
    if not first.startswith("seq"):
        raise parameter.wrong(
            f"{quoted(first)} is not known; there are random, (random,shared), sequential, sequentialnz and (seq,delete)."
        )
    if more not in ([], ["delete"], ["nz"]):
        raise parameter.wrong(f"{quoted(more[0])} does not go with sequential; there are sequential, sequentialnz and (seq,delete).")
    if more == ["delete"]:
        why = "files are not deleted before they are written; the nearest thing is an RD with operations=(delete,create,write)"
        note = unsupported(parameter, why)
    elif more or first.endswith("nz"):
        note = ignored(parameter, "files are read and written from their start rather than from anywhere in them")
    else:
        note = native(parameter, 'file_access = "sequential"')
    return Translated({"file_access": "sequential"}, (note,))


def _stop_after(stopafter: Setting | None) -> Translated:
    if stopafter is None:
        return Translated({})
    parameter = stopafter.parameter
    found = number(parameter)
    if found.percent:
        why = "a percentage of the file is not taken; the nearest thing is how many requests that is"
        return Translated({}, (unsupported(parameter, why),))
    if found.value != int(found.value) or not 1 <= found.value <= STOP_AFTER_MAX:
        raise parameter.wrong(f"{found.value:g} is no number of requests; write a whole number such as 100.")
    return Translated({"stop_after": int(found.value)})


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


def opened(use: FileUse) -> Translated:
    """Options that follow from the flags; what holds by default is left out, but for the page cache."""
    parameters, flags = use.flagged, use.flags
    notes = [note for parameter in parameters for word in parameter.texts for note in _flag_notes(parameter, word.lower())]
    found: Json = {"direct": any(flag in _DIRECT for flag in flags)}
    if not found["direct"] and use.moves_bytes:
        why = "without o_direct a run measures this host's page cache as well, in Vdbench as here"
        notes.append(surprise(parameters[0] if parameters else use.asked.workload.head, why))
    if any(flag in _DURABLE for flag in flags):
        found["dsync"] = True
    if "fsync" in flags and use.writes:
        found["flush_at_close"] = True
    return Translated(found, tuple(notes))


def _flag_notes(parameter: Parameter, flag: str) -> Notes:
    if flag.startswith("0x"):
        why = f"bits of open() cannot be given; the nearest things are o_direct and o_dsync in place of {flag}"
        return (unsupported(parameter, why),)
    if flag == "none":
        return ()
    if flag not in _FLAGS:
        raise parameter.wrong(
            f"{quoted(flag)} is not a flag; there are o_direct, directio, o_sync, o_dsync, o_rsync, fsync and clear_cache."
        )
    return (ignored(parameter, _FLAGS[flag]) if flag in _APPROXIMATE else native(parameter, _FLAGS[flag]),)


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


def content(use: FileUse, general: General) -> Translated:
    """Options of a stream about its content."""
    validate, pattern = general.validate, general.pattern
    notes: Notes = ()
    if validate is not None and verification(validate)[0] != "off":
        notes += (unsupported(validate, _NOT_VERIFIED),)
    if pattern is not None:
        notes += (unsupported(pattern, _NO_PATTERN),)
    return Translated(ratios_of(use.asked.compratio, use.asked.dedupratio), notes)
