"""Whatever options stand beside each other: a job file that is not refused becomes what our own readers take."""

from __future__ import annotations

import random
import time

from plimsoll.engine.block import native
from plimsoll.errors import InputError
from plimsoll.experiments.document import read_experiments
from plimsoll.formats.fio import translate
from plimsoll.formats.fio.options import OPTIONS

SECONDS = 3.0
CHOICES: dict[str, list[str]] = {
    "rw": [
        "read",
        "write",
        "trim",
        "randread",
        "randwrite",
        "randtrim",
        "rw",
        "randrw",
        "trimwrite",
        "read:8k",
        "write:-8k",
        "randread:4",
        "rw:4k",
    ],
    "bs": ["4k", "8k", "64k", "4k,16k", ",8k", "8k,", "1m", "512", "3k"],
    "bsrange": ["4k-64k", "512-4k", "4k-10k", "4k-8k,8k-16k"],
    "bssplit": ["4k/50:8k/50", "4k/10:64k/", "512/30:3k/70", "4k/50:8k/50,16k/100"],
    "ba": ["4k", "64k", "4k,8k"],
    "size": ["1g", "10%", "100%", "1m", "1000000", "64k"],
    "io_size": ["2g", "50%", "100k"],
    "offset": ["1m", "10%", "4096", "1000"],
    "offset_increment": ["1m", "5%"],
    "filesize": ["16m", "1m-1m", "1m-2m"],
    "nrfiles": ["1", "2", "5"],
    "filename": ["/data/f", "/data/a:/data/b", "/dev/sdb", "/dev/sdb:/dev/sdc"],
    "directory": ["/data", "/one:/two"],
    "file_service_type": ["random", "roundrobin", "roundrobin:4", "sequential", "zipf"],
    "numjobs": ["1", "2", "4", "40", "70"],
    "iodepth": ["1", "8", "32"],
    "ioengine": ["libaio", "io_uring", "psync", "sync", "mmap", "null", "posixaio", "rbd"],
    "direct": ["0", "1"],
    "norandommap": ["0", "1"],
    "random_distribution": ["random", "zipf:1.2", "pareto:0.3", "normal:10", "zoned:60/10:40/90", "zoned_abs:60/1g:40/2g", "zipf:1.2:0.5"],
    "percentage_random": ["50", "50,100", "0"],
    "rwmixread": ["0", "30", "100"],
    "runtime": ["0", "10", "1h"],
    "time_based": ["0", "1"],
    "ramp_time": ["5"],
    "startdelay": ["5", "2-4"],
    "loops": ["3"],
    "number_ios": ["1000"],
    "rate": ["1m", "1m,2m", "1k", ",1m"],
    "rate_iops": ["100", "100,50"],
    "rate_process": ["poisson"],
    "rate_min": ["500k"],
    "thinktime": ["1ms", "100"],
    "thinktime_blocks": ["1", "8"],
    "verify": ["md5", "crc32c", "null", "pattern"],
    "do_verify": ["0"],
    "buffer_pattern": ["0xdeadbeef", "'file'"],
    "zero_buffers": ["1"],
    "buffer_compress_percentage": ["50", "100", "99"],
    "dedupe_percentage": ["50", "100"],
    "fsync": ["1", "32"],
    "sync": ["1", "dsync"],
    "end_fsync": ["1"],
    "fill_device": ["1"],
    "latency_target": ["5ms"],
    "latency_window": ["1s"],
    "latency_percentile": ["99", "99.5", "50"],
    "max_latency": ["20ms"],
    "steadystate": ["iops:2%", "bw_slope:1%", "lat:5"],
    "steadystate_duration": ["60"],
    "stonewall": ["1"],
    "exitall": ["1"],
    "hipri": ["1"],
    "log_avg_msec": ["0", "100", "1000"],
    "continue_on_error": ["all"],
    "randseed": ["42"],
    "invalidate": ["0"],
}


def job_file(draw: random.Random) -> str:
    lines = []
    for number in range(draw.randint(1, 3)):
        lines += ["[global]" if number == 0 and draw.random() < 0.3 else f"[job {number}]"]
        names = draw.sample(sorted(CHOICES), draw.randint(2, 12))
        lines += [f"{name}={draw.choice(CHOICES[name])}" for name in names]
    return "\n".join([*lines, "[last]", "size=1m", ""])


def test_the_choices_are_options() -> None:
    assert set(CHOICES) <= set(OPTIONS)


def test_a_file_that_is_not_refused_is_accepted_by_our_own_readers() -> None:
    engine, draw, until, accepted = native(), random.Random(44), time.monotonic() + SECONDS, 0
    tried = 0
    # However little of that time the machine grants, so many files tell something.
    while time.monotonic() < until or tried < 200:
        tried += 1
        text = job_file(draw)
        try:
            translation = translate(text, "job.fio", None, {})
        except InputError:
            continue
        if translation.refusal():
            continue
        for workload in translation.document["workload"]:
            try:
                engine.check_workload(workload, "job.fio")
            except InputError as problem:
                raise AssertionError(f"{problem}\n{text}\n{workload}") from None
        for experiment in translation.document["experiment"]:
            engine.check_job(experiment["set"])
        try:
            read_experiments(translation.document, "job.fio")
        except InputError as problem:
            raise AssertionError(f"{problem}\n{text}") from None
        accepted += 1
    assert accepted > 20
