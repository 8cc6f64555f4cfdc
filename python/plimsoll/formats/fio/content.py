"""What a job writes, how durable that is, and what is verified: the content options of a stream.

Model: fio's buffers are random and a little different in every write; ours are different in every write. Verification writes stamps of our
own whichever method is named, and reads everything back after the run; a job that only reads expects the stamps of an earlier run.

    content, notes = content_of(values, requests, performer)
    contents(content)        # {"direct": True, "verify": "all", "flush_at_end": True}
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from plimsoll.formats.fio.notes import Note, Translated, Unfit, all_idle, idle, ignored, native, surprise, unsupported
from plimsoll.formats.fio.performer import Performer
from plimsoll.formats.fio.quantity import rounded
from plimsoll.formats.fio.requests import Requests, Values
from plimsoll.formats.fio.values import Pattern
from plimsoll.stored import Json

#: The largest ratio that our options take; fio's 100 percent means nothing but duplicates.
_RATIO_MAX = 1000
_SECTOR = 512
_STAMPED = f"verified data are stamps in every {_SECTOR} bytes; write multiples of {_SECTOR}, or verify=0"
_SYNC = {"0": False, "none": False, "1": True, "sync": True, "dsync": True}
_SHAPING = ("buffer_pattern", "buffer_compress_percentage", "dedupe_percentage")


@dataclass(frozen=True)
class Content:
    """What the requests of a job carry; the words are those of our options, empty where nothing is said."""

    direct: bool
    read_ahead: str = ""
    #: "found" or "all".
    verify: str = ""
    #: The option that asks for stamps.
    verify_from: str = ""
    #: "zeros", "stamps" or "pattern".
    kind: str = ""
    pattern: str = ""
    compress_ratio: float = 1
    duplicate_ratio: float = 1
    dsync: bool = False
    #: Writes before a flush, and the options that say so.
    flush_every: int = 0
    flush_from: tuple[str, ...] = ()
    flush_at_end: bool = False

    @property
    def is_stamped(self) -> bool:
        """Whether every sector bears a stamp of its own."""
        return bool(self.verify) or self.kind == "stamps"


Found = tuple[Content, tuple[Note, ...]]


def content_of(values: Values, requests: Requests, performer: Performer) -> Found:
    """The content of a job; raises `Unfit` for a way of writing through that fio does not know."""
    notes = []
    if not requests.direct and not ("direct" in values or "buffered" in values) and performer.word not in ("null", "mmap"):
        why = "neither direct nor buffered is given, so fio goes through the page cache; direct=1 would bypass it"
        notes.append(surprise("", why))
    read_ahead, more = _read_ahead(values, requests, performer.word)
    content = Content(requests.direct, read_ahead, verify_from="verify" if "verify" in values else "")
    if not requests.mode.writes:
        content, further = _read(values, requests, content)
        return content, (*notes, *more, *further)
    content, shaped = _written(values, requests, content)
    content, durable = _durable(values, requests, replace(content, dsync=_is_through(values, requests, performer.word)))
    return content, (*notes, *more, *shaped, *_through_notes(requests, performer.word), *durable)


def _read_ahead(values: Values, requests: Requests, engine: str) -> tuple[str, tuple[Note, ...]]:
    """What fio tells the page cache by default, or as it is asked to: of a mapping only whether it is told anything."""
    hint, mapped = str(values.get("fadvise_hint", "1")), engine == "mmap"
    if (requests.direct and not mapped) or engine == "null":
        return "", (idle("fadvise_hint", "requests bypass the page cache"),)
    if hint == "noreuse":
        return "", (ignored("fadvise_hint", "the page cache is not told that nothing is read twice"),)
    if hint == "0":
        return "", ()
    random = requests.mode.random if mapped or hint == "1" else hint == "random"
    return "off" if random else "far", ()


def _read(values: Values, requests: Requests, content: Content) -> Found:
    notes = list(all_idle(("fsync", "fdatasync", "end_fsync", "fsync_on_close", "sync"), "nothing is written"))
    if not requests.mode.reads or not _verifies(values) or values.get("verify") == "null":
        return content, (*notes, *all_idle(("verify_only", "do_verify"), "nothing is verified"))
    why = 'verify = "found": every sector that is read has to bear a stamp of ours, whichever run wrote it'
    notes.append(native("verify", why))
    why = "what fio itself has written bears no stamps of ours; run the writing job with plimsoll first"
    notes.append(surprise("verify", why))
    if not requests.verifies_only:
        notes.append(idle("verify_only", "a job that reads writes nothing anyway"))
    return replace(content, verify="found"), tuple(notes)


def _verifies(values: Values) -> bool:
    return str(values.get("verify", "0")).partition(":")[0] != "0"


def _written(values: Values, requests: Requests, content: Content) -> Found:
    if _verifies(values) and values.get("verify") != "null":
        return _verified(values, requests, content)
    empty = (ignored("verify", "nothing is verified; fio only walks through the motions"),) if values.get("verify") == "null" else ()
    content, notes = _shaped(values, content)
    return content, (*empty, *notes)


def _verified(values: Values, requests: Requests, content: Content) -> Found:
    notes = all_idle((*_SHAPING, "zero_buffers"), "verified data are stamps")
    if not values.get("do_verify", True):
        return replace(content, kind="stamps"), (*notes, native("do_verify", 'content = "stamps", which nothing reads back'))
    if "t" in requests.mode.ops:
        return content, notes
    why = 'verify = "all": stamps of our own in every sector, whichever method is named, read back after the run'
    return replace(content, verify="all"), (*notes, native("verify", why))


def _shaped(values: Values, content: Content) -> Found:
    compress, duplicate = values.get("buffer_compress_percentage", 0), values.get("dedupe_percentage", 0)
    if values.get("zero_buffers"):
        return replace(content, kind="zeros"), all_idle(_SHAPING, "zero_buffers takes its place")
    pattern: Pattern | None = values.get("buffer_pattern")
    if compress or duplicate:
        said = () if pattern is None else (ignored("buffer_pattern", "the compressible part of a block is zeros"),)
        if compress == 100:
            return replace(content, kind="zeros"), (*said, native("buffer_compress_percentage", 'content = "zeros"'))
        return replace(content, compress_ratio=_ratio(compress), duplicate_ratio=_ratio(duplicate)), said
    if pattern is None:
        return content, ()
    if pattern.problem:
        return content, (unsupported("buffer_pattern", pattern.problem),)
    return replace(content, kind="pattern", pattern=pattern.ours), ()


def _ratio(percent: int) -> float | int:
    """A share of the data that costs nothing, as a ratio of all data to the rest."""
    return _RATIO_MAX if percent >= 100 else rounded(min(_RATIO_MAX, 100 / (100 - percent)))


def _is_through(values: Values, requests: Requests, engine: str) -> bool:
    """Whether each write is durable before it completes."""
    word = values.get("sync", "0")
    if word not in _SYNC:
        raise Unfit("sync", "there are 0, none, 1, sync and dsync.")
    return requests.direct if engine == "mmap" else _SYNC[word]


def _through_notes(requests: Requests, engine: str) -> tuple[Note, ...]:
    if engine != "mmap":
        return ()
    why = "a mapping is not written through because its file is open so, with fio neither; direct=1 has msync called"
    direct = "dsync: fio calls msync after each request to a mapping, whose page cache stays in between"
    return (idle("sync", why), *((native("direct", direct),) if requests.direct else ()))


def _durable(values: Values, requests: Requests, content: Content) -> Found:
    notes = []
    every = {name: int(values[name]) for name in ("fsync", "fdatasync") if values.get(name)}
    if every and requests.mode.ops == "rw":
        why = "when a flush is due fio flushes again after each read until the next write; here once"
        notes.append(surprise(next(iter(every)), why))
    if len(every) == 2:
        rarer = max(every, key=lambda name: every[name])
        notes.append(ignored(rarer, "one kind of flush is enough; the more frequent one is kept"))
    closing = [name for name in ("end_fsync", "fsync_on_close") if values.get(name)]
    for name in closing:
        if requests.time_based:
            why = "the point ends by time, and nothing is flushed then; fsync= flushes after a number of writes"
            notes.append(ignored(name, why))
        elif values.get("loops", 1) > 1:
            notes.append(surprise(name, "fio flushes at the end of every loop; here once, at the end of the last"))
    least = min(every.values(), default=0)
    content = replace(
        content,
        flush_every=least,
        flush_from=tuple(name for name, count in every.items() if count == least),
        flush_at_end=bool(closing) and not requests.time_based,
    )
    return content, tuple(notes)


def contents(content: Content) -> Json:
    """The options of a stream."""
    options: Json = {"direct": content.direct}
    ratios = {"compress_ratio": content.compress_ratio, "duplicate_ratio": content.duplicate_ratio}
    words = {"read_ahead": content.read_ahead, "verify": content.verify, "content": content.kind, "pattern": content.pattern}
    options |= {name: word for name, word in words.items() if word}
    options |= {name: ratio for name, ratio in ratios.items() if ratio > 1}
    options |= {"dsync": True} if content.dsync else {}
    options |= {"flush_every": content.flush_every} if content.flush_every else {}
    return options | ({"flush_at_end": True} if content.flush_at_end else {})


def flush_holds(content: Content, performer: Performer, queue_depth: int) -> Translated:
    """Whether a thread waits for its flushes, where it has more than one request outstanding."""
    if not performer.waits or queue_depth == 1 or not content.flush_every:
        return Translated({})
    why = "flush_every and flush_holds, because libaio's thread issues nothing until its flush is back"
    return Translated({"flush_holds": True}, tuple(native(name, why) for name in content.flush_from))


def stamp_notes(requests: Requests, options: Json) -> tuple[Note, ...]:
    """What is to be said of requests that are no whole sectors, each of which would bear a stamp; ``options`` are all of the stream."""
    lengths = [length for sizes in requests.sizes.values() for length in (sizes.least, *(size for size, _ in sizes.shares))]
    # Only bytes that are no whole KiB stand as numbers.
    odd = [align for line in (options, *options.get("access", [])) if isinstance(align := line.get("align"), int) and align % _SECTOR]
    if any(length % _SECTOR for length in lengths):
        return (unsupported(requests.sizes_from or "bs", _STAMPED),)
    return (unsupported(requests.aligned_from or "offset", _STAMPED),) if odd else ()
