"""What becomes of each setting, by its key: native, ignored with what that changes, or unsupported with the nearest that works.

Model: the verdict on a setting may depend on the others of its target and time span. A flag that holds for several targets gets the
worst of their verdicts. A table says which function judges which key; keys that always mean the same are data.

    judge(setting, use)         # ('native', '')
"""

from __future__ import annotations

from collections.abc import Callable

from plimsoll.formats.diskspd.resolve import RATE_MAX, RATE_MIN, Setting, Use, uses_of
from plimsoll.formats.diskspd.values import SIZE_MAX, zones
from plimsoll.formats.translation import Kind

Verdict = tuple[Kind, str]

SEVERITY: dict[Kind, int] = {"native": 0, "surprise": 0, "ignored": 1, "unsupported": 2}
NATIVE: Verdict = ("native", "")
SCRATCH_MIN = 4096

#: The same whatever else is said.
ALWAYS: dict[str, Verdict] = {
    "Duration": NATIVE,
    "Warmup": NATIVE,
    "CalculateIopsStdDev": ("native", "every interval is recorded"),
    "MeasureLatency": ("native", "it always is"),
    "DisableAffinity": ("native", "threads are never bound to CPUs"),
    "BlockSize": NATIVE,
    "RandomRatio": NATIVE,
    "WriteRatio": NATIVE,
    "Affinity": ("ignored", "threads are not bound to CPUs; bind the whole program with taskset"),
    "Etw": ("ignored", "there are no events of Windows; the monitor records what the host does"),
    "UseLargePages": ("ignored", "the buffers are Plimsoll's own, and the load is the same"),
    "Progress": ("ignored", "progress is always shown"),
    "Verbose": ("ignored", "everything is stored"),
    "ResultFormat": ("ignored", "results are stored; plimsoll export writes them as text or XML of DiskSpd"),
    "CompletionRoutines": ("ignored", "it is a matter of Windows, and the load is the same"),
    "PrecreateFiles": ("ignored", "files are made before the load begins in any case"),
    "Hints": ("ignored", "the cache gets no hints; with -Sh or -Su they would change nothing"),
    "SequentialScan": ("ignored", "the cache gets no hints; with -Sh or -Su they would change nothing"),
    "RandomAccess": ("ignored", "the cache gets no hints; with -Sh or -Su they would change nothing"),
    "TemporaryFile": ("ignored", "the cache gets no hints; with -Sh or -Su they would change nothing"),
    "Event": ("ignored", "there are no such events; it runs at once, and for its duration"),
    "Weight": ("ignored", "it divides requests among targets, which have requests of their own here"),
    "ProfileFile": ("native", "everything is read from it"),
    "FlushType": ("unsupported", "mapped memory is not flushed after each write; nearest: -Sm without -N, or -Sw without -Sm"),
    "ThreadTargets": ("unsupported", "threads are not assigned to targets one by one; nearest: <ThreadsPerFile> of each target"),
}


def judge(setting: Setting, use: Use) -> Verdict:
    """What becomes of ``setting`` in one use."""
    if setting.value is False:
        return "native", "it is off, as by default"
    fixed = ALWAYS.get(setting.key)
    return fixed if fixed is not None else _JUDGES[setting.key](setting, use)


def worst(one: Verdict, other: Verdict) -> Verdict:
    """The one that matters more; of equals the first, unless only the other says why."""
    if SEVERITY[other[0]] > SEVERITY[one[0]] or (other[0] == one[0] and not one[1]):
        return other
    return one


def _path(_: Setting, use: Use) -> Verdict:
    sizes = {other.file_bytes for other in uses_of(use.span) if other.target.path == use.target.path}
    if use.target.own_path:
        missing = use.target.missing
        why = f"--target {use.target.path} takes its place" + (f", and is not there; write -c, or {use.target.remedy}" if missing else "")
        return "unsupported" if missing else "native", why
    if len(sizes) > 1:
        return "unsupported", "the same file has two sizes; nearest: one size in every <Target> of it"
    if use.target.missing and not use.foreign:
        return "unsupported", f"there is no such file, and nothing says how long it is to be; write -c, or {use.target.remedy}"
    if use.foreign and use.several:
        return "ignored", "not a name of this system; --target takes the place of all targets, which share it"
    if use.foreign:
        return "ignored", "not a name of this system; -t TARGET takes its place, in every time span"
    return NATIVE


def _region(_: Setting, use: Use) -> Verdict:
    region = use.region_bytes
    if region is not None and region < use.block:
        return "unsupported", f"less than one request of {use.block} bytes is left of the target; nearest: a smaller base or a larger size"
    if use.base % use.align:
        return "native", f"the region begins at the next multiple of {use.align} bytes, where requests are aligned to"
    return NATIVE


def _file_size(setting: Setting, use: Use) -> Verdict:
    if not setting.value:
        return "native", "no file is created"
    if setting.value < SCRATCH_MIN:
        return "unsupported", f"a scratch file has at least {SCRATCH_MIN} bytes; nearest: that"
    if sum({other.target.path: other.file_bytes for other in uses_of(use.span)}.values()) > SIZE_MAX:
        return "unsupported", "the files have more than 1 PiB together; nearest: smaller ones"
    region = _region(setting, use)
    return region if region[0] == "unsupported" else ("native", "the size of the scratch file, made if the target does not exist")


def _threads(setting: Setting, use: Use) -> Verdict:
    if setting.key == "ThreadsPerFile" and use.span.get("ThreadCount"):
        return "ignored", "<ThreadCount> says how many threads there are, for DiskSpd too"
    return ("native", "each thread is a stream, as it has a pointer of its own") if use.own_pointers else NATIVE


def _requests(setting: Setting, use: Use) -> Verdict:
    if setting.key == "RequestCount" and use.span.get("SpanRequestCount"):
        return "ignored", "the <RequestCount> of the time span holds, for DiskSpd too"
    return NATIVE


def _span_requests(setting: Setting, use: Use) -> Verdict:
    if not setting.value:
        return "native", "targets have requests of their own"
    if use.several:
        return "unsupported", "targets do not share requests here; nearest: -o with the requests of each target"
    return NATIVE


def _parallel(_: Setting, use: Use) -> Verdict:
    if use.random_percent == 100 or use.depth == 1:
        return "native", "it changes nothing for random requests or a single one outstanding"
    return "unsupported", "requests of a thread follow one pointer and do not start together; nearest: without -p"


def _random(_: Setting, use: Use) -> Verdict:
    if use.random_percent == 0:
        return "ignored", "no request is random"
    if use.random_percent < 100 and use.align != int(use.target.get("Random") or use.block):
        return "native", f"all requests are aligned to {use.align} bytes, which suits the sequential ones too"
    return NATIVE


def _stride(_: Setting, use: Use) -> Verdict:
    if use.random_percent == 100:
        return "ignored", "requests are random, for DiskSpd too"
    return NATIVE


def _thread_stride(setting: Setting, use: Use) -> Verdict:
    if not setting.value:
        return NATIVE
    if not use.own_pointers:
        return "ignored", "it matters for several sequential threads with pointers of their own only, in DiskSpd too"
    region = use.region_bytes
    if region is not None and (use.threads - 1) * setting.value + use.block > region:
        return "unsupported", "the last thread would begin behind the end; nearest: a smaller -T"
    if setting.value % use.align:
        return "native", f"threads begin at the next multiple of {use.align} bytes"
    return NATIVE


def _throughput(_: Setting, use: Use) -> Verdict:
    rate = use.rate_per_thread
    if rate is None:
        return "native", "0 is no limit"
    if rate < RATE_MIN or rate * use.threads > RATE_MAX:
        return (
            "unsupported",
            f"the rate of {float(rate * use.threads):g} requests per second is out of range; nearest: 0.001 to 1,000,000,000",
        )
    if use.bursts:
        return "unsupported", "a rate and pauses between bursts together; nearest: -g without -i and -j"
    return "native", "requests are due at equal gaps, and latency counts from when they were due"


def _burst(_: Setting, use: Use) -> Verdict:
    if not use.bursts:
        return "ignored", "bursts need both a size and a pause, in DiskSpd too"
    return "native", "each slot makes bursts of its own"


def _caching(setting: Setting, use: Use) -> Verdict:
    mapped = {other.mapped for other in uses_of(use.span)}
    if len(mapped) > 1:
        return "unsupported", "some targets of the time span are mapped and others not; nearest: the same for all"
    if "m" in use.caching and set(use.caching) & set("uh"):
        return "unsupported", "a mapped file goes through the cache; nearest: without -Sm"
    if setting.value == "r":
        return "ignored", "it concerns remote file systems of Windows"
    return NATIVE


def _content(setting: Setting, use: Use) -> Verdict:
    if not use.writes:
        return "native", "nothing is written"
    if not isinstance(setting.value, tuple):
        return NATIVE
    if setting.value[2]:
        return "unsupported", "what is written cannot come from a file; nearest: -Zr, or -Z for zeros"
    return "ignored", "random bytes, new in every write, not from one buffer used again; storage that deduplicates keeps more"


def _distribution(setting: Setting, use: Use) -> Verdict:
    if use.random_percent == 0:
        return "ignored", "no request is random"
    if zones(setting.value, use.region_bytes) is None:
        why = "what share of the target the ranges are is not known, or they are longer than it"
        return "unsupported", f"{why}; nearest: -rdpct, or the size with -c or -f"
    return NATIVE


def _cooldown(setting: Setting, _: Use) -> Verdict:
    if not setting.value:
        return NATIVE
    return "ignored", "the load ends with the measurement; with several hosts the last seconds of the others see less load"


def _buckets(_: Setting, use: Use) -> Verdict:
    if use.interval_ms is None:
        return "ignored", "it is longer than the measurement, which then has intervals as it is usual here"
    return "native", "the length of an interval"


def _priority(setting: Setting, _: Use) -> Verdict:
    if setting.value in (0, 3):
        return "native", "the usual priority, and the only one here"
    return "ignored", "requests have no priority here"


def _seed(setting: Setting, _: Use) -> Verdict:
    if setting.value < 0:
        return "ignored", "the seed does not come from the clock, so that equal runs stay equal; write --set seed= for another"
    return "native", "equal seeds give equal requests, though not those of DiskSpd"


_JUDGES: dict[str, Callable[[Setting, Use], Verdict]] = {
    "Path": _path,
    "BaseFileOffset": _region,
    "Length": _region,
    "MaxFileSize": _region,
    "FileSize": _file_size,
    "ThreadsPerFile": _threads,
    "ThreadCount": _threads,
    "RequestCount": _requests,
    "SpanRequestCount": _span_requests,
    "ParallelAsyncIO": _parallel,
    "Random": _random,
    "StrideSize": _stride,
    "InterlockedSequential": _stride,
    "ThreadStride": _thread_stride,
    "Throughput": _throughput,
    "BurstSize": _burst,
    "ThinkTime": _burst,
    "Caching": _caching,
    "WriteBufferContent": _content,
    "Distribution": _distribution,
    "Cooldown": _cooldown,
    "RandSeed": _seed,
    "IOPriority": _priority,
    "IoBucketDuration": _buckets,
}
