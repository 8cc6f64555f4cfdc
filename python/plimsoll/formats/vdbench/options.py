"""Every keyword of a Vdbench parameter file, and what becomes of it: the table from which reader, remarks and compatibility page follow.

Model: a keyword belongs to a block, has a form in which its value must be written, Vdbench's default, and a usual verdict. *varies* marks
keywords whose values decide; the planning says then what came of each. A keyword may be abbreviated to any prefix of two characters or more
that no other keyword of its block shares; `SHORT` has those that several share.
Source: Vdbench 5.04.07, as collected in the project's notes on block tools, and its public source (``WD_entry.readParms`` and its kin) for
second words and the order in which short ones are tried.

    keyword("wd", "xf").name          # 'xfersize'
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from plimsoll.displayed import quoted
from plimsoll.near import meant

Usual = Literal["native", "ignored", "unsupported", "varies"]
#: How a value is written; `values` checks it.
Form = Literal["name", "number", "numbers", "time", "word", "words", "switch", "anything"]

ABBREVIATION_MIN = 2

#: Why nothing of a remote host can run.
NEEDS_CLUSTER = "other hosts than this one need the cluster, which is not there yet; run the part of each host on that host"


@dataclass(frozen=True)
class Keyword:
    """A keyword of one block: ``what`` says what Plimsoll does with it, or why it does nothing."""

    name: str
    usual: Usual
    form: Form
    what: str
    default: str = ""
    also: tuple[str, ...] = ()


_NOT_OURS = "it steers Vdbench's own processes and output, and changes no request"
_NO_DEDUPLICATION_SHAPE = "only the ratio of duplicates can be given; the nearest thing is dedupratio alone"

_GENERAL = (
    Keyword(
        "abort_failed_skew", "ignored", "anything", "a run is never aborted for a missed share; compare the streams' rates in the result"
    ),
    Keyword("auxreport", "ignored", "anything", _NOT_OURS),
    Keyword("compratio", "varies", "number", "`compress_ratio` of every stream", "1"),
    Keyword("compressionseed", "ignored", "anything", "content follows from the job's seed"),
    Keyword("concatenatesds", "native", "switch", "the SDs of a WD become one target `concat:`, with the WD's threads on all of it", "no"),
    Keyword("create_anchors", "ignored", "switch", "targets are made, but not the directories above them; make these beforehand", "no"),
    Keyword(
        "data_errors",
        "varies",
        "anything",
        "1 stops at the first failed request; any other number goes on without limit",
        "",
        ("dataerrors",),
    ),
    Keyword("dedupratio", "varies", "number", "`duplicate_ratio` of every stream", "1"),
    Keyword("debug", "ignored", "anything", _NOT_OURS),
    Keyword(
        "dedupunit", "ignored", "number", "duplicates are whole requests, not units of this size; results differ on arrays that deduplicate"
    ),
    Keyword("dedupsets", "ignored", "anything", _NO_DEDUPLICATION_SHAPE),
    Keyword("deduphotsets", "ignored", "anything", _NO_DEDUPLICATION_SHAPE),
    Keyword("dedupflipflop", "ignored", "anything", _NO_DEDUPLICATION_SHAPE),
    Keyword(
        "formatsds",
        "ignored",
        "switch",
        "nothing is written beforehand; scratch files that Plimsoll makes are filled anyway, and `plimsoll` has the experiment "
        "'precondition' for devices",
        "no",
    ),
    Keyword("formatxfersize", "ignored", "number", "nothing is formatted beforehand"),
    Keyword(
        "fwd_thread_adjust", "native", "switch", "with no, a FWD whose threads do not divide by its FSDs and operations is an error", "yes"
    ),
    Keyword("heartbeat_error", "ignored", "anything", _NOT_OURS),
    Keyword("histogram", "ignored", "anything", "every result has a full histogram of less than 0.1 % error"),
    Keyword("include", "native", "word", "the file is read in its place; one that is included includes no other"),
    Keyword("ios_per_jvm", "ignored", "number", _NOT_OURS),
    Keyword(
        "journal", "unsupported", "anything", "no journal outlasts a run; the nearest thing is validate=yes, which verifies within a run"
    ),
    Keyword("loop", "varies", "anything", "`repeat`: each point so many times in a row, with the next seed each time", "1"),
    Keyword("messagescan", "ignored", "anything", _NOT_OURS),
    Keyword("misc", "ignored", "anything", _NOT_OURS),
    Keyword("monitor", "ignored", "anything", _NOT_OURS),
    Keyword("pattern", "varies", "anything", '0x… becomes `content = "pattern"`; a file of patterns is not read'),
    Keyword("pattern_buffer", "ignored", "number", "content follows from the job's seed, however long it is"),
    Keyword("port", "ignored", "anything", _NOT_OURS),
    Keyword("psrset", "ignored", "anything", "threads are not bound to processors"),
    Keyword("report", "ignored", "anything", _NOT_OURS),
    Keyword("report_run_totals", "ignored", "switch", _NOT_OURS),
    Keyword("showlba", "ignored", "anything", _NOT_OURS),
    Keyword("startcmd", "ignored", "anything", "no command is carried out; run it yourself beforehand", "", ("start_cmd",)),
    Keyword("endcmd", "ignored", "anything", "no command is carried out; run it yourself afterwards", "", ("end_cmd",)),
    Keyword("timeout", "ignored", "anything", "a request that hangs is waited for and shows in the maximum"),
    Keyword("unix2windows", "ignored", "words", "no names of this host are those of Windows"),
    Keyword("validate", "varies", "words", "`verify` of every stream", "no"),
)

_HD = (
    Keyword("hd", "native", "name", "the name of a host"),
    Keyword("clients", "varies", "number", "1 is this host; simulated clients need the cluster", "1"),
    Keyword("jvms", "ignored", "number", "one process carries all threads"),
    Keyword("master", "ignored", "anything", _NOT_OURS),
    Keyword("mount", "unsupported", "anything", "nothing is mounted; mount it yourself and remove the key"),
    Keyword("shell", "ignored", "word", "no remote shell is used on this host"),
    Keyword("system", "varies", "word", "localhost is this host; any other needs the cluster"),
    Keyword("user", "ignored", "word", "no remote shell is used on this host"),
    Keyword("vdbench", "ignored", "word", "Vdbench is not started"),
)

_REPLAY = "traces of Oracle SWAT cannot be read; the nearest thing is a workload with the trace's size, mix and rate"
_RG = (
    Keyword("rg", "unsupported", "name", _REPLAY),
    Keyword("devices", "unsupported", "anything", _REPLAY),
)

_SD = (
    Keyword("sd", "native", "name", "the name of a target, in the names of streams"),
    Keyword("align", "native", "number", "`align`", "xfersize"),
    Keyword("compratio", "varies", "number", "`compress_ratio` of its streams", "1"),
    Keyword("count", "native", "numbers", "as many SDs, their numbers filled into (or added to) name and lun"),
    Keyword("dedupratio", "varies", "number", "`duplicate_ratio` of its streams", "1"),
    Keyword("dedupsets", "ignored", "anything", _NO_DEDUPLICATION_SHAPE),
    Keyword("dedupunit", "ignored", "number", "duplicates are whole requests, not units of this size"),
    Keyword("hitarea", "native", "number", "the size of the hot zone that rhpct and whpct speak of", "1m"),
    Keyword("host", "varies", "words", "this host; any other needs the cluster", "", ("hd",)),
    Keyword("instance", "ignored", "anything", _NOT_OURS),
    Keyword("journal", "unsupported", "anything", "no journal outlasts a run; the nearest thing is validate=yes"),
    Keyword("kstat", "ignored", "anything", _NOT_OURS),
    Keyword("lun", "varies", "word", "the target; several at the same time become `concat:`, of which each stream uses its `parts`"),
    Keyword("offset", "varies", "number", "`region_start`, if it is a multiple of every xfersize", "0"),
    Keyword("openflags", "varies", "words", "`direct` and `dsync`", "o_direct on devices, none on files"),
    Keyword("range", "varies", "numbers", "`region_start` and `region_length`", "the whole"),
    Keyword("replay", "unsupported", "anything", _REPLAY),
    Keyword("resetbus", "ignored", "anything", "no bus is reset"),
    Keyword("resetlun", "ignored", "anything", "no device is reset"),
    Keyword("size", "native", "number", "`region_length`, and the size of a file that does not exist yet", "that of the device or file"),
    Keyword("streams", "unsupported", "anything", "streams belong to a WD in Vdbench 5.04; move the key there"),
    Keyword("threads", "native", "number", "requests outstanding on the SD, shared by its WDs by skew: `threads` of each stream", "8"),
)

_WD = (
    Keyword("wd", "native", "name", "the name of a stream; with several SDs, one stream for each"),
    Keyword("host", "varies", "words", "this host; any other needs the cluster", "", ("hd",)),
    Keyword(
        "hotband",
        "varies",
        "numbers",
        'the range, and in it Vdbench\'s curve of hot places as `distribution = "hot:…"`; writes go where reads go',
    ),
    Keyword("iorate", "varies", "number", "the stream's own `rate`, where the run is at iorate=max"),
    Keyword("openflags", "varies", "words", "`direct` and `dsync`"),
    Keyword("priority", "unsupported", "number", "streams have no priorities; the nearest thing is a rate for each (iorate of the WD)"),
    Keyword("range", "varies", "numbers", "`region_start` and `region_length`", "the SD's"),
    Keyword("rdpct", "native", "number", "`read_percent`", "100", ("readpct",)),
    Keyword("rhpct", "varies", "number", '`distribution = "hot:…"`, where reads and writes hit alike', "0"),
    Keyword("sd", "native", "words", "which targets the stream goes to; wildcards and ranges of names are resolved"),
    Keyword("seekpct", "varies", "words", "`random_percent`; words as on the page", "100"),
    Keyword("skew", "native", "number", "the WD's share of threads and of the rate", "an equal part of the rest"),
    Keyword("streams", "native", "numbers", "as many sequential streams, each in its equal part of the range", "1"),
    Keyword("stride", "varies", "numbers", "`stride`, where both numbers are equal"),
    Keyword("threads", "varies", "number", "`threads`, with concatenatesds=yes only"),
    Keyword("user", "ignored", "word", "it is a label"),
    Keyword("whpct", "varies", "number", '`distribution = "hot:…"`, where reads and writes hit alike', "0"),
    Keyword("wrpct", "native", "number", "100 less `read_percent`", "0", ("writepct",)),
    Keyword("xfersize", "native", "numbers", "`block_size`: one size, sizes with shares, or a range", "4k"),
)

_RD = (
    Keyword("rd", "native", "name", "the name of an experiment"),
    Keyword("curve", "native", "numbers", "`percent` of kind 'curve', with `rounding = \"vdbench\"`", "10,50,70,80,90,100"),
    Keyword("distribution", "varies", "words", "`arrival`: exponential is poisson, deterministic is constant", "exponential"),
    Keyword("elapsed", "native", "time", "`duration`; without warmup, less the first interval", "30"),
    Keyword("endcmd", "ignored", "anything", "no command is carried out; run it yourself after the run", "", ("end_cmd",)),
    Keyword("format", "varies", "words", "`lay_out` of the trees; a run that only formats lays out and measures nothing", "no"),
    Keyword("fwd", "native", "words", "which FWDs run at the same time; wildcards and ranges of names are resolved"),
    Keyword(
        "fwdrate", "varies", "words", "a number is an open loop at that `rate`, max a closed loop, curve kind 'curve'", "", ("forfwdrate",)
    ),
    Keyword("interval", "native", "time", "`interval`", "half of elapsed, at most 60"),
    Keyword(
        "iorate", "varies", "words", "a number is an open loop at that `rate`, max a closed loop, curve kind 'curve'", "", ("foriorate",)
    ),
    Keyword("maxdata", "varies", "number", "`amount`: the bytes divided by all threads"),
    Keyword("maxdataread", "varies", "number", "`amount`, so that the reads of the mix reach it on average"),
    Keyword("maxdatawritten", "varies", "number", "`amount`, so that the writes of the mix reach it on average"),
    Keyword("mount", "unsupported", "anything", "nothing is mounted; mount it yourself and remove the key"),
    Keyword("openflags", "varies", "words", "`direct` and `dsync`"),
    Keyword("operations", "native", "words", "in place of those of the FWDs, all at the same time: a stream for each, or one that draws"),
    Keyword("pause", "ignored", "time", "the next run begins at once, so it meets caches and devices that have not rested"),
    Keyword("replay", "unsupported", "anything", _REPLAY),
    Keyword("sd", "varies", "words", "which targets the run's WDs go to, in place of their own"),
    Keyword("startcmd", "ignored", "anything", "no command is carried out; run it yourself before the run", "", ("start_cmd",)),
    Keyword("stopcurve", "ignored", "number", "the curve goes on, and the objective `mean <= …` marks where the latency exceeded it"),
    Keyword("threads", "native", "numbers", "threads of every SD or FWD, in place of their own; several are an axis", "", ("forthreads",)),
    Keyword("warmup", "native", "time", "`warmup`", "the first interval"),
    Keyword("wd", "native", "words", "which WDs run at the same time; wildcards and ranges of names are resolved"),
    Keyword("hitarea", "native", "number", "in place of those of the SDs"),
    Keyword("rdpct", "native", "number", "in place of those of the WDs or FWDs"),
    Keyword("rhpct", "varies", "number", "in place of those of the WDs"),
    Keyword("seekpct", "native", "word", "in place of those of the WDs"),
    Keyword("whpct", "varies", "number", "in place of those of the WDs"),
    Keyword("xfersize", "native", "number", "in place of those of the WDs or FWDs; one size"),
    Keyword("forcompratio", "native", "numbers", "an axis over `compress_ratio`"),
    Keyword("forhitarea", "native", "numbers", "an axis over the size of the hot zone"),
    Keyword("forrdpct", "native", "numbers", "an axis over `read_percent`; of files, an experiment for each share of reads"),
    Keyword("forrhpct", "varies", "numbers", "an axis over the share of the hot zone"),
    Keyword("forseekpct", "native", "words", "an axis over `random_percent`"),
    Keyword("forwhpct", "varies", "numbers", "an axis over the share of the hot zone"),
    Keyword("forxfersize", "native", "numbers", "an axis over `block_size`, of files over `transfer_size`", "", ("forxfersizes",)),
    Keyword("forinterleave", "unsupported", "anything", "streams are not interleaved; the nearest thing is streams of the WD"),
    Keyword("fordepth", "native", "numbers", "an axis over `depth` of every tree"),
    Keyword("forfiles", "native", "numbers", "an axis over `files` of every tree"),
    Keyword("foroperations", "native", "words", "an axis over `operation`; an experiment for each, where their trees differ"),
    Keyword("forsizes", "native", "numbers", "an axis over `sizes` of every tree"),
    Keyword("fortotalsize", "native", "numbers", "an axis over `total_size` of every tree"),
    Keyword("forwidth", "native", "numbers", "an axis over `width` of every tree"),
    Keyword("forwss", "native", "numbers", "an axis over `working_set` of every tree", "", ("forworkingsetsize",)),
)

_FSD = (
    Keyword("fsd", "native", "name", "the name of a tree"),
    Keyword("anchor", "varies", "word", "a directory of the target: of several FSDs each has its own, as its `part` of `concat:`"),
    Keyword("count", "native", "numbers", "as many FSDs, their numbers filled into (or added to) name and anchor"),
    Keyword("depth", "native", "number", "`depth`", "1"),
    Keyword("distribution", "native", "word", "`placed`", "bottom"),
    Keyword("files", "native", "number", "`files`", "10"),
    Keyword("host", "varies", "words", "this host; any other needs the cluster"),
    Keyword(
        "journal", "unsupported", "anything", "no journal is kept of files; the nearest thing is an SD on one large file with validate=yes"
    ),
    Keyword("log", "ignored", "switch", _NOT_OURS, "no"),
    Keyword("mask", "ignored", "anything", "files and directories have Plimsoll's own names"),
    Keyword("openflags", "varies", "words", "`direct`, `dsync` and `flush_at_close`"),
    Keyword("shared", "native", "switch", "it lets several hosts work on the tree, and there is one", "no"),
    Keyword("sizes", "native", "numbers", "`sizes`: one size, sizes with shares, or (size,0) for sizes around it", "4k"),
    Keyword("totalsize", "varies", "number", "`total_size`", "", ("total_size",)),
    Keyword("width", "native", "number", "`width`", "1"),
    Keyword("workingsetsize", "varies", "number", "`working_set`", "", ("wss",)),
)

_FWD = (
    Keyword("fwd", "native", "name", "the name of a stream; FWD `format` says how Vdbench formats, which is ignored"),
    Keyword("fileio", "varies", "words", "`file_access`, and `shared` for (random,shared)", "sequential"),
    Keyword("fileselect", "varies", "words", "`file_select`; words as on the page", "sequential"),
    Keyword("fsd", "native", "words", "which trees the stream works on; wildcards and ranges of names are resolved"),
    Keyword("host", "varies", "words", "this host; any other needs the cluster", "", ("hd",)),
    Keyword("openflags", "varies", "words", "`direct`, `dsync` and `flush_at_close`"),
    Keyword("operations", "native", "word", "`operation`; getattr is `stat`", "read"),
    Keyword("rdpct", "native", "number", "`operation = { read = …, write = … }`, where it reads or writes", "", ("readpct",)),
    Keyword(
        "skew",
        "varies",
        "number",
        "the FWD's share of the rate; without a rate, its share of what one stream draws",
        "an equal part of the rest",
    ),
    Keyword("stopafter", "native", "number", "`stop_after`", "100 with fileio=random, otherwise the file's end"),
    Keyword("target", "native", "word", "the tree that copy and move go to"),
    Keyword("threads", "native", "number", "`threads`, divided by FSDs and operations, at least one for each", "1"),
    Keyword("xfersizes", "native", "numbers", "`transfer_size`: one size, or sizes with shares", "4k"),
)

#: The keywords of every block, in the order in which blocks stand in a file.
BLOCKS: Mapping[str, tuple[Keyword, ...]] = {
    "general": _GENERAL,
    "hd": _HD,
    "rg": _RG,
    "sd": _SD,
    "wd": _WD,
    "fsd": _FSD,
    "fwd": _FWD,
    "rd": _RD,
}

#: Keywords of an RD that say nothing of workloads on files, and those that say nothing of workloads on devices.
OF_BLOCK_DEVICES = frozenset(
    ("wd", "sd", "iorate", "seekpct", "hitarea", "rhpct", "whpct", "forseekpct", "forhitarea", "forrhpct", "forwhpct", "forinterleave")
)
OF_FILE_SYSTEMS = frozenset(
    ("fwd", "fwdrate", "format", "operations", "foroperations", "fordepth", "forwidth", "forfiles", "forsizes", "fortotalsize", "forwss")
)

#: Words that begin several keywords of their block, and the one that Vdbench takes: the first one that its reader asks for.
SHORT = {
    ("sd", "re"): "replay",
    ("wd", "st"): "stride",
    ("wd", "str"): "stride",
    ("wd", "ho"): "hotband",
    ("fwd", "fi"): "fileselect",
    ("fwd", "fil"): "fileselect",
    ("fwd", "file"): "fileselect",
    ("rd", "st"): "stopcurve",
    ("rd", "op"): "operations",
    ("rd", "fo"): "forxfersize",
    ("rd", "for"): "forxfersize",
}

#: Keywords whose lists may hold words beside numbers.
MIXED = frozenset(("fileselect", "seekpct", "forseekpct", "timeout", "replay", "histogram"))


class UnknownKeywordError(Exception):
    """No keyword of the block, or several; the message says which would be."""


def keyword(block: str, written: str) -> Keyword:
    """The keyword that ``written`` is or abbreviates."""
    word = written.lower()
    meant = SHORT.get((block, word), word)
    exact = [entry for entry in BLOCKS[block] if meant == entry.name or meant in entry.also]
    if exact:
        return exact[0]
    found = [entry for entry in BLOCKS[block] if any(name.startswith(word) for name in (entry.name, *entry.also))]
    if len(word) >= ABBREVIATION_MIN and len(found) == 1:
        return found[0]
    where = "among the general parameters" if block == "general" else f"for {block.upper()}s"
    if len(word) >= ABBREVIATION_MIN and found:
        raise UnknownKeywordError(
            f"keyword {quoted(written)} is short for {' and '.join(entry.name for entry in found)}; write more of it."
        )
    raise UnknownKeywordError(f"keyword {quoted(written)} is not known {where}; {_near(word, BLOCKS[block])}")


def _near(word: str, known: tuple[Keyword, ...]) -> str:
    return meant(word, [entry.name for entry in known])
