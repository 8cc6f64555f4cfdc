"""Job files that try fio's grammar: for every option that fio lists, values of all forms, drawn from a seed; and what fio says of them.

draw = random.Random(1)
text = job_file(draw, options())
fio_takes(text, folder)
"""

from __future__ import annotations

import random
import re
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from plimsoll.errors import InputError
from plimsoll.formats.fio import translate
from plimsoll.formats.known_targets import KnownTargets
from support.patience import HANGS_S

#: Values that any option may be given: of every form, and of none.
VALUES = (
    *(
        "",
        "0",
        "1",
        "2",
        "-1",
        "-8",
        "007",
        "0x10",
        "+4",
        "16",
        "255",
        "4096",
        "100000",
        "4k",
        "4K",
        "4kb",
        "4kib",
        "4KiB",
        "1m",
        "1g",
        "1t",
    ),
    *("4k*2", "4.5k", "4.5", "1e3", "1kk", "k", "10%", "50%", "100%", "100%%", "110%", "0%", "-5%", "50%5", "2z", "8:16", "8-16", "16-8"),
    *("4k-8k", "4k,8k", ",8k", "8k,", "4k,8k,16k", "4k,8k,16k,32k", "4k/50:8k/50", "4k/60:8k/60", "4k/", "4k/50:8k/", "4k/50,8k/50"),
    *("10s", "10ms", "10us", "10m", "1h", "1d", "1m30s", "10sec", "10 s", "5-10", "99:99.9", "99,99.9", "99.9", "100.1", "0.5"),
    *("none", "all", "read", "write", "true", "false", "yes", "no", "off", "on", "random", "null", "auto", "abc", "a b", "'a'", '"a"'),
    *("$pagesize", "$pagesize*2", "$ncpus", "(1+2)", "$jobname", "/dev/null", "a:b", "0xdeadbeef", "1;2", "1#2"),
)
#: Values of single options, beside those.
OWN = {
    "rw": (
        "read",
        "randread",
        "randrw",
        "rw",
        "readwrite",
        "trimwrite",
        "randtrimwrite",
        "read:4k",
        "randread:8",
        "write:-4k",
        "randread:",
        "READ",
        "r",
    ),
    "ioengine": (
        "aio",
        "linuxaio",
        "libaio",
        "splice",
        "psync",
        "sync",
        "vsync",
        "pvsync",
        "pvsync2",
        "mmap",
        "null",
        "posixaio",
        "io_uring",
        "uring",
        "cpuio",
    ),
    "random_distribution": (
        *(
            "normal",
            "normal:10",
            "normal:0",
            "normal:150",
            "normal:10:0.5",
            "zipf",
            "zipf:1",
            "zipf:1.2",
            "zipf:0",
            "zipf:20",
            "zipf:1.2:0.3",
        ),
        *(
            "pareto",
            "pareto:0.2",
            "pareto:1",
            "pareto:0",
            "gauss",
            "zoned:60/10:40/90",
            "zoned:60/10",
            "zoned:60/10:50/90",
            "zoned_abs:60/1g:40/2g",
            "zipf:",
            "random:1",
        ),
    ),
    "random_generator": ("tausworthe", "lfsr", "tausworthe64", "mt"),
    "file_service_type": (
        "roundrobin",
        "sequential",
        "random:4",
        "roundrobin:8",
        "zipf:1.2",
        "pareto:0.2",
        "normal:10",
        "gauss:10",
        "zipf",
        "roundrobin:0",
        "random:x",
    ),
    "verify": (
        "md5",
        "crc32c",
        "crc32c-intel",
        "sha256",
        "xxhash",
        "pattern",
        "meta",
        "sha3-256",
        "null",
        "crc64",
        "sha512",
        "crc7",
        "murmur3",
    ),
    "fallocate": ("posix", "keep", "native", "truncate"),
    "rw_sequencer": ("sequential", "identical"),
    "io_submit_mode": ("inline", "offload"),
    "rate_process": ("linear", "poisson"),
    "mem": ("malloc", "shm", "mmap", "mmaphuge", "shmhuge:/dev/x", "mmapshared", "mmap:/tmp/x", "cudamalloc"),
    "sync": ("dsync", "sync", "osync", "fsync"),
    "zonemode": ("strided", "zbd"),
    "steadystate": ("iops:2%", "iops_slope:0.1", "bw:5%", "bw_slope:1", "lat:3", "lat_slope:1", "iops", "iops:0", "iops:101%"),
    "continue_on_error": ("io", "verify", "read", "write", "none", "all", "0", "1"),
    "kb_base": ("1000", "1024", "1023"),
    "unit_base": ("0", "1", "8", "4"),
    "clocksource": ("gettimeofday", "clock_gettime", "cpu"),
    "buffer_pattern": ("0xff", "'abc'", '"abc"', "123", "-10", "0x", "0xfg", "'abc", "%o", "'ab'0x12"),
    "verify_pattern": ("0xff", "'abc'", "%o", "0xff%o", '"a"-12', "0x"),
    "dedupe_mode": ("repeat", "working_set"),
    "unified_rw_reporting": ("none", "mixed", "both", "0", "1", "2"),
    "lockfile": ("exclusive", "readwrite", "none"),
    "thinktime_blocks_type": ("complete", "issue"),
    "write_hint": ("short", "medium", "long", "extreme", "none"),
    "prioclass": ("0", "3", "4"),
    "ignore_error": ("EIO", "EIO:ENOSPC", "EIO,ENOSPC", ":ENOSPC", "5", "EFOO"),
    "cpus_allowed": ("0", "0-1", "0,1", "999"),
    "cpus_allowed_policy": ("shared", "split"),
    "exit_what": ("group", "all", "stonewall"),
    "replay_skip": ("read", "read,write", "sync", "foo"),
    "fadvise_hint": ("sequential", "random", "0", "1"),
    "name": ("x", " X", "a b"),
    "percentile_list": ("50:99", "99.9:50", "1:2:3:4:5:6:7:8:9:10:11:12:13:14:15:16:17:18:19:20:21", "0", "100", "101"),
}
#: Options that do something when a file is only parsed, or that name files which then have to be there.
LEFT_OUT = frozenset(("opendir", "profile", "include", "description", "exec_prerun", "exec_postrun", "ioscheduler", "cgroup", "read_iolog"))
_LISTED = re.compile(r"^\s*([a-z0-9_-]+)\s*:", re.MULTILINE)
_DROPPED = re.compile(r"job job-(\d+)- dropped")
_BASE = ("filename=data", "size=1m")


@cache
def options() -> tuple[str, ...]:
    """The options that the installed fio lists."""
    listed = subprocess.run(["fio", "--cmdhelp=all"], capture_output=True, text=True, check=False).stdout
    return tuple(sorted(set(_LISTED.findall(listed)) - LEFT_OUT))


def lines_of(name: str) -> list[str]:
    """Every line that is tried with one option: all values, none, and blanks."""
    # A pattern in single quotes is the name of a file, which has to be there.
    values = [value for value in (*OWN.get(name, ()), *VALUES) if "'" not in value or not name.endswith("pattern")]
    return [name, *(f"{name}={value}" for value in values), f"{name}= 1", f"{name} = 1", f"{name}=1 "]


def every_line() -> list[str]:
    """The lines of all options."""
    return [line for name in options() for line in lines_of(name)]


def job_file(lines: Sequence[str], name: str = "job") -> str:
    """A job with these lines, and with a file and a size unless they name one."""
    keys = {re.split("[= ]", line)[0] for line in lines}
    return "\n".join([f"[{name}]", *(line for line in _BASE if line.partition("=")[0] not in keys), *lines, ""])


def drawn(seed: int, count: int) -> list[list[str]]:
    """The lines of jobs, two to five each, drawn from a seed; most of them are taken where they stand alone."""
    draw = random.Random(seed)
    names = options()
    return [[_likely(draw, name) for name in draw.sample(names, draw.randint(2, 5))] for _ in range(count)]


def replaced(seed: int, count: int) -> list[list[str]]:
    """Jobs of two lines of one option, the first of them any and the second one that is taken alone; drawn from a seed."""
    draw = random.Random(seed)
    lines = [lines_of(draw.choice(options())) for _ in range(count)]
    good = [[line for line in draw.sample(each, 8) if _is_taken(line)] for each in lines]
    return [[draw.choice(each), taken[0]] for each, taken in zip(lines, good, strict=True) if taken]


def _likely(draw: random.Random, name: str) -> str:
    """A line of an option: of eight draws the first that is taken, or the last."""
    lines = lines_of(name)
    tried = [draw.choice(lines) for _ in range(8)]
    return next((line for line in tried if _is_taken(line)), tried[-1])


@cache
def _is_taken(line: str) -> bool:
    return outcome([line]) is None


def outcome(lines: Sequence[str]) -> str | None:
    """Why a job with these lines is refused, or None. Files that are not there are a gibibyte long."""
    try:
        return translate(job_file(lines), "job.fio", None, {}, KnownTargets(given=1 << 30)).refusal()
    except InputError as problem:
        return str(problem)


def fio_takes(jobs: Sequence[Sequence[str]], folder: Path) -> list[bool]:
    """Whether fio's parser takes each of the jobs. It stops at the first that it drops, so it begins anew behind that one."""
    taken: list[bool] = []
    while len(taken) < len(jobs):
        file = folder / "grammar.fio"
        file.write_text("".join(job_file(lines, f"job-{number}-") for number, lines in enumerate(jobs[len(taken) :])))
        command = ["fio", "--parse-only", str(file)]
        ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=HANGS_S, check=False, errors="replace")
        dropped = [int(number) for number in _DROPPED.findall(ended.stdout + ended.stderr)]
        if not dropped and ended.returncode:
            raise AssertionError(f"fio ended with {ended.returncode} and dropped no job: {ended.stdout}{ended.stderr}")
        taken += [True] * (dropped[0] if dropped else len(jobs) - len(taken))
        taken += [False] * bool(dropped)
    return taken
