"""DiskSpd's flags, declared once: for the reader of command lines, the translation and the compatibility page.

Model: the value of a flag stands in the same word (``-b64K``). Of flags that begin alike the longest is meant: ``-rs50`` is ``-rs``. Each
flag names the setting of a profile that it makes; ``scope`` says whether that belongs to the targets, the time span or the profile.
The elements of a profile in XML are in `elements`.
Source: DiskSpd's documentation (github.com/microsoft/diskspd/wiki) and its help.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Scope = Literal["target", "span", "profile", "other"]
FlagValue = Literal["none", "whole", "optional whole", "size", "optional size", "any", "special"]
Verdict = Literal["native", "ignored", "unsupported", "depends"]


@dataclass(frozen=True)
class Flag:
    """One flag: what it is called, how its value is written, what it means and what becomes of it."""

    name: str
    key: str
    scope: Scope
    form: FlagValue
    written: str
    meaning: str
    verdict: Verdict
    here: str
    default: str = ""
    least: int = 0
    most: int = 1 << 50
    #: The value when none is written.
    bare: int | None = None


#: 100 days, which is more than any test lasts and less than the engine's limit.
SECONDS_MAX = 8_640_000
BLOCK_MAX = 1 << 30
THREADS_MAX = 4096
REQUESTS_MAX = 65_536
_CACHING = (
    "u and h: `direct`; w and h: `dsync`; m: backend `mmap`; b, the default: through the page cache; r: ignored, it concerns remote "
    "file systems of Windows."
)
_THREADS = "`threads`; sequential threads that do not share a pointer become a stream each"

FLAGS: tuple[Flag, ...] = (
    Flag(
        "a", "Affinity", "span", "special", "-a[g#,]cpus, -ag", "CPUs of the threads.", "ignored", "Threads are not bound to CPUs.", "-ag"
    ),
    Flag("b", "BlockSize", "target", "size", "-b64K", "Block size.", "native", "`block_size`.", "64K", least=1, most=BLOCK_MAX),
    Flag(
        "B",
        "BaseFileOffset",
        "target",
        "special",
        "-B base[:length]",
        "Where the used part of the target begins, and how long it is.",
        "native",
        "`region_start`, `region_length`.",
        "0",
    ),
    Flag(
        "c",
        "FileSize",
        "target",
        "size",
        "-c10G",
        "Creates files of this size.",
        "native",
        "`size` of the scratch file that is made when the target does not exist; for several the sum, or `sizes` where they differ.",
        least=4096,
    ),
    Flag(
        "C",
        "Cooldown",
        "span",
        "whole",
        "-C0",
        "Seconds of load after the measurement.",
        "depends",
        "0 is native; otherwise ignored: the load ends with the measurement.",
        "0",
        most=SECONDS_MAX,
    ),
    Flag("d", "Duration", "span", "whole", "-d10", "Seconds of measurement.", "native", "`duration`.", "10", least=1, most=SECONDS_MAX),
    Flag(
        "D",
        "IoBucketDuration",
        "span",
        "optional whole",
        "-D[ms]",
        "Gathers requests per second in intervals.",
        "native",
        "`interval`.",
        "1000",
        least=1,
        most=86_400_000,
        bare=1000,
    ),
    Flag("e", "Etw", "profile", "any", "-e…", "Events of the Windows kernel.", "ignored", "There are none; the monitor records the host."),
    Flag(
        "f",
        "MaxFileSize",
        "target",
        "special",
        "-f size, -f[rst]",
        "Uses only the first part of the target; or hints for the cache.",
        "depends",
        "A size is `region_length`, from the base on. Hints are ignored.",
        "all of it",
    ),
    Flag(
        "F",
        "ThreadCount",
        "span",
        "whole",
        "-F4",
        "Threads in total, each using every target.",
        "native",
        "`threads` of every target's stream.",
        least=1,
        most=THREADS_MAX,
    ),
    Flag(
        "g",
        "Throughput",
        "target",
        "special",
        "-g N[i]",
        "Limit per thread and target: bytes per millisecond, with i requests per second.",
        "native",
        '`arrival = "constant"` at that `rate`; latency then counts from when a request was due. 0 is no limit.',
    ),
    Flag("h", "Caching", "target", "none", "-h", "Old form of -Sh.", "native", "`direct` and `dsync`."),
    Flag(
        "i",
        "BurstSize",
        "target",
        "whole",
        "-i10",
        "Requests of a burst, with -j.",
        "native",
        "`burst` of an access entry.",
        least=1,
        most=1_000_000,
    ),
    Flag(
        "j",
        "ThinkTime",
        "target",
        "whole",
        "-j10",
        "Milliseconds between bursts, with -i.",
        "native",
        "`delay` of an access entry.",
        least=1,
        most=86_400_000,
    ),
    Flag(
        "I", "IOPriority", "target", "whole", "-I3", "Priority of requests.", "ignored", "Requests have no priority.", "3", least=1, most=3
    ),
    Flag(
        "l",
        "UseLargePages",
        "target",
        "none",
        "-l",
        "Buffers in large pages.",
        "ignored",
        "Buffers are Plimsoll's own; the load is the same.",
    ),
    Flag("L", "MeasureLatency", "span", "none", "-L", "Measures latency.", "native", "It always is."),
    Flag("n", "DisableAffinity", "span", "none", "-n", "Does not bind threads to CPUs.", "native", "They never are."),
    Flag(
        "N",
        "FlushType",
        "target",
        "special",
        "-N[vni]",
        "Flushes mapped memory after each write.",
        "unsupported",
        "Nearest: -Sm without -N, or -Sw without -Sm.",
    ),
    Flag(
        "o",
        "RequestCount",
        "target",
        "whole",
        "-o2",
        "Requests outstanding per thread and target.",
        "native",
        "`queue_depth`.",
        "2",
        least=1,
        most=REQUESTS_MAX,
    ),
    Flag(
        "O",
        "SpanRequestCount",
        "span",
        "whole",
        "-O8",
        "Requests outstanding per thread over all targets, with -F.",
        "depends",
        "`queue_depth` with one target. Unsupported with several, which would share it.",
        least=1,
        most=REQUESTS_MAX,
    ),
    Flag(
        "p",
        "ParallelAsyncIO",
        "target",
        "none",
        "-p",
        "Sequential requests of a thread start together at one offset.",
        "depends",
        "Native where it changes nothing: random, or one request outstanding. Otherwise unsupported; nearest: without -p.",
    ),
    Flag(
        "P",
        "Progress",
        "profile",
        "optional whole",
        "-P[count]",
        "Prints a dot every so many requests.",
        "ignored",
        "Progress is always shown.",
        bare=65_536,
    ),
    Flag(
        "r",
        "Random",
        "target",
        "optional size",
        "-r[align]",
        "Random requests, at multiples of this.",
        "native",
        "`random_percent = 100`, `align`.",
        "the block size",
        least=1,
        most=BLOCK_MAX,
        bare=0,
    ),
    Flag(
        "rs",
        "RandomRatio",
        "target",
        "whole",
        "-rs50",
        "Percentage of random requests, the others sequential.",
        "native",
        "`random_percent`.",
        most=100,
    ),
    Flag(
        "rdpct",
        "Distribution",
        "target",
        "special",
        "-rdpct90/10:…",
        "Share of requests to share of the target.",
        "native",
        '`distribution = "hot:…"`.',
    ),
    Flag(
        "rdabs",
        "Distribution",
        "target",
        "special",
        "-rdabs90/10G:…",
        "Share of requests to so many bytes of the target.",
        "depends",
        '`distribution = "hot:…"` where the size is known from -c, -f or -B base:length; otherwise unsupported.',
    ),
    Flag(
        "R",
        "ResultFormat",
        "profile",
        "special",
        "-R[p]text|xml",
        "Form of the results.",
        "ignored",
        "Results are stored; `plimsoll export` writes both forms.",
        "text",
    ),
    Flag(
        "s",
        "StrideSize",
        "target",
        "optional size",
        "-s[align]",
        "Sequential requests, each so far after the last.",
        "native",
        "`stride`.",
        "the block size",
        least=1,
        most=1 << 40,
        bare=0,
    ),
    Flag(
        "si",
        "InterlockedSequential",
        "target",
        "optional size",
        "-si[align]",
        "Sequential requests through one pointer of all threads.",
        "native",
        '`sequential = "shared"`, `stride`.',
        least=1,
        most=1 << 40,
        bare=0,
    ),
    Flag("S", "Caching", "target", "special", "-S[bhmruw]", "Caching.", "native", _CACHING, "-Sb"),
    Flag("t", "ThreadsPerFile", "target", "whole", "-t1", "Threads per target.", "native", f"{_THREADS}.", "1", least=1, most=THREADS_MAX),
    Flag(
        "T",
        "ThreadStride",
        "target",
        "size",
        "-T0",
        "How far after each other threads start.",
        "native",
        "`region_start` of each thread's stream. Ignored for random requests and -si, as in DiskSpd.",
        "0",
    ),
    Flag("v", "Verbose", "profile", "any", "-v[s]", "Says more.", "ignored", "Everything is stored."),
    Flag(
        "w", "WriteRatio", "target", "optional whole", "-w0", "Percentage of writes.", "native", "`write_percent`.", "0", most=100, bare=0
    ),
    Flag("W", "Warmup", "span", "whole", "-W5", "Seconds of load before the measurement.", "native", "`warmup`.", "5", most=SECONDS_MAX),
    Flag(
        "x",
        "CompletionRoutines",
        "span",
        "none",
        "-x",
        "Completion routines in place of completion ports.",
        "ignored",
        "It is a matter of Windows; the load is the same.",
    ),
    Flag(
        "X",
        "ProfileFile",
        "other",
        "special",
        "-X file.xml",
        "Takes everything from a profile; targets replace its `*1`, `*2` …",
        "native",
        "The profile is read; -d, -W, -C, -z, -R and -v stand over it.",
    ),
    Flag(
        "y",
        "Event",
        "other",
        "special",
        "-ys|f|r|p|e name",
        "Events that start or stop it, or that it sets.",
        "ignored",
        "There are no such events; it runs at once, and for its duration.",
    ),
    Flag(
        "z",
        "RandSeed",
        "span",
        "optional whole",
        "-z[seed]",
        "Seed of what is random; bare: the clock.",
        "depends",
        "`seed`. The numbers drawn are others. Bare -z is ignored: equal runs stay equal.",
        "0",
        most=(1 << 63) - 1,
        bare=-1,
    ),
    Flag(
        "Z",
        "WriteBufferContent",
        "target",
        "special",
        "-Z, -Zr, -Zsize[,file]",
        "What is written.",
        "depends",
        '-Z: `content = "zeros"`. -Zr: `incompressible`. A size: ignored, `incompressible` in every write. A file: unsupported.',
        "bytes 0 to 255",
    ),
)

FLAGS_BY_NAME = {flag.name: flag for flag in FLAGS}
#: Longest first, so that ``-rs50`` is not read as ``-r``.
LONGEST_FIRST = sorted(FLAGS, key=lambda flag: -len(flag.name))
#: What may stand beside ``-X``.
BESIDE_PROFILE = frozenset(("d", "W", "C", "z", "R", "v", "X"))
#: Pairs that cannot stand together, and why.
EXCLUSIVE: tuple[tuple[str, str, str], ...] = (
    ("t", "F", "-t counts threads per target and -F all of them; write one"),
    ("o", "O", "-o counts requests per target and -O those of all targets; write one"),
    ("s", "si", "both say how sequential requests follow each other; write one"),
    ("h", "S", "both say how to cache; write one, for example -Sh"),
    ("r", "si", "requests are random or follow one pointer; write one"),
    ("r", "s", "requests are random or sequential; write one, or -rs50 for half of each"),
    ("rdpct", "rdabs", "both say where requests go; write one"),
)
#: Flags that mean nothing without another.
NEEDS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("O", ("F",), "-O divides requests among the targets of a thread of -F; write -F too, or -o"),
    ("i", ("j",), "-i says how long a burst is, and -j how long the pause; write both"),
    ("j", ("i",), "-j says how long the pause is, and -i how long a burst; write both"),
    ("N", ("S",), "-N flushes mapped memory; write -Sm too"),
    ("rdpct", ("r", "rs"), "-rdpct divides random requests, and these are sequential; write -r too"),
    ("rdabs", ("r", "rs"), "-rdabs divides random requests, and these are sequential; write -r too"),
)
