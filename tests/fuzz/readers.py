"""Every reader of other tools' files, with the good files it is tried with, in one visible list.

Model: a reader takes a text or raises `InputError` with one sentence that begins with the place. What it takes and calls runnable has to be
so: experiments are read, and the engine takes every workload with every setting. Traces are bytes; their texts hold a byte per letter.

    READERS["fio job"].attempt("[job]\\nrw=read\\n")        # True when taken; raises InputError when refused
"""

from __future__ import annotations

import io
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path

from hypothesis import strategies as st

from fuzz.samples import FIO_DOCUMENT, FIO_LOGS, FLATFILE, ICF_RESULTS, IOSTAT, ORION_TABLE, SYSSTAT_DOCUMENTS
from plimsoll.analysis.array_fit.row import read_rows
from plimsoll.engine.block import native
from plimsoll.errors import InputError
from plimsoll.experiments.document import read_experiments
from plimsoll.formats import diskspd, fio, iometer, orion, rows, vdbench
from plimsoll.formats.translation import Translation
from plimsoll.points.drivers import driver_name
from plimsoll.points.experiment_points import ExperimentPoints
from support.mutation import mutations
from support.trace_samples import (
    ALIBABA,
    BLKPARSE,
    CLOUDPHYSICS,
    IOLOG_2,
    IOLOG_3,
    MQSIM,
    MSR,
    ORACLE_GENERAL,
    VSCSI,
    blktrace,
    compact,
    vscsi,
)

#: Grids have tens of thousands; that they are alike is what makes them grids.
_POINTS_MAX = 100
FOLDER = Path(__file__).parents[1] / "formats"


@dataclass(frozen=True)
class Reader:
    """Texts to try, what tries one, and how a refusal has to begin."""

    texts: Callable[[], st.SearchStrategy[str]]
    attempt: Callable[[str], bool]
    places: tuple[str, ...]
    #: The part of the time that it gets: less for a second look at what another one tries, too.
    share: float = 1.0


def corpus(pattern: str) -> list[str]:
    return [path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob(pattern))]


def lines_of(name: str) -> list[str]:
    return [line for line in (FOLDER / name).read_text(encoding="utf-8").splitlines() if not line.startswith("#")]


def beside(folder: str) -> Callable[[str], str]:
    """What reads the files named inside: those of this folder of good files."""
    known = {path.name: path.read_text(encoding="utf-8") for path in sorted((FOLDER / folder).iterdir()) if path.is_file()}

    def include(name: str) -> str:
        if name not in known:
            raise FileNotFoundError(2, "No such file or directory", name)
        return known[name]

    return include


def carry_out(translation: Translation) -> None:
    """As a run would: the first points that are known in advance have workloads that their driver takes."""
    engine = native()
    for experiment in read_experiments(translation.document, translation.source).experiments:
        for workload, _ in islice(ExperimentPoints(experiment, engine).applied(), _POINTS_MAX):
            if driver_name(workload) is None:
                engine.check_workload(workload, translation.source)


def runnable(translation: Translation) -> bool:
    """Whether it can be run; then nothing of ours may object to it."""
    if translation.refusal() is None and translation.document:
        try:
            carry_out(translation)
        except InputError as problem:
            # A number that only our own option finds too large is refused when it is run, in a sentence with option and range.
            assert " is out of range; write " in str(problem), f"called runnable, but: {problem}"
            return False
        except Exception as problem:
            raise AssertionError(f"called runnable, but: {problem}") from problem
    return translation.refusal() is None


def measured_rows(text: str) -> bool:
    for number, cells in rows.read(text, "rows.csv"):
        assert all(row.measured > 0 for row in read_rows(f"rows.csv:{number}", cells))
    return True


VARIABLES = {"SIZE": "1g", "DATA": "/data", "lun": "/dev/sdb", "seconds": "60", "read": "x"}


def fio_job(text: str) -> bool:
    return runnable(fio.translate(text, "job.fio", beside("fio"), VARIABLES))


def fio_command(text: str) -> bool:
    return runnable(fio.translate_command(text.split(), "command line", beside("fio"), VARIABLES))


def vdbench_file(text: str) -> bool:
    return runnable(vdbench.translate(text, "job", beside("vdbench"), VARIABLES, {"/dev/sdb": 1 << 37}.get))


def vdbench_likely(text: str) -> bool:
    from formats.test_vdbench_files import can_be_carried_out

    return can_be_carried_out(text)


def vdbench_command(text: str) -> bool:
    return runnable(vdbench.translate_command(text.split(), "command line", beside("vdbench"), VARIABLES))


def icf(text: str) -> bool:
    translation = iometer.translate(text, "a.icf")
    file = iometer.read(text, "a.icf")
    assert iometer.read(iometer.write(file), "a.icf") == file, "not read as it was written"
    return runnable(translation)


def orion_file(text: str) -> bool:
    return runnable(orion.translate(text, "job.orion", beside("orion"), {}))


def orion_luns(text: str) -> bool:
    return bool(orion.translate(text, "job.lun", None, {}).remarks)


def orion_tables(text: str) -> bool:
    from plimsoll.formats.import_forms import read_results

    return bool(read_results({f"x_20261121_1000_{metric}.csv": text for metric in ("iops", "lat", "mbps")}, "orion"))


def diskspd_lines(text: str) -> bool:
    return runnable(diskspd.translate(text, "job.diskspd", beside("diskspd"), {}))


def diskspd_profile(text: str) -> bool:
    return runnable(diskspd.translate("<" + text.partition("<")[2], "p.xml", None, {}))


def results(form: str, name: str) -> Callable[[str], bool]:
    """A reader of results as `plimsoll import --as FORM` calls it."""

    def attempt(text: str) -> bool:
        from plimsoll.formats.import_forms import read_results

        return bool(read_results({name: text}, form))

    return attempt


def vdbench_flatfile(text: str) -> bool:
    """What is read can be written again."""
    from plimsoll.formats.vdbench.results import files, read_flatfile

    points = read_flatfile(text, "f.html")
    return bool(files(points)) and results("vdbench", "f.html")(text)


def fio_logs(text: str) -> bool:
    """Several logs of one measurement in one text, each below its name."""
    from plimsoll.formats.import_forms import read_results

    parts = text.split(LOG_MARK)
    return bool(read_results(dict(zip(FIO_LOGS, parts, strict=False)), "fio-logs"))


LOG_MARK = "\f\n"


def trace(form: str | None) -> Callable[[str], bool]:
    def attempt(text: str) -> bool:
        from plimsoll.formats.traces import open_trace

        return sum(1 for _ in open_trace(io.BytesIO(text.encode("latin-1", "replace")), "t", form).requests()) > 0

    return attempt


def traces(*samples: bytes) -> Callable[[], st.SearchStrategy[str]]:
    return lambda: mutations([sample.decode("latin-1") for sample in samples], ["D", "C", "read", "wait", "\xff", "sync", "\n", "8,0"])


@st.composite
def options_of_fio(draw: st.DrawFn) -> str:
    from formats.test_fio_accepted import job_file

    return job_file(random.Random(draw(st.integers(0, 1 << 32))))


@st.composite
def likely_of_vdbench(draw: st.DrawFn) -> str:
    from formats.test_vdbench_files import likely

    return likely(random.Random(draw(st.integers(0, 1 << 32))))


@cache
def fio_pieces() -> Sequence[str]:
    from plimsoll.formats.fio.options import OPTIONS

    values = ("", "=0", "=1", "=4k", "=50%", "=1k-4k", "=4k/50:8k/50", "=10s", "=random", "=-1", "=a:b:c", "=zipf:1.2", "=${SIZE}")
    return [*(f"\n{name}{value}\n" for name in OPTIONS for value in values[:: 1 + len(name) % 3]), "\n[global]\n", "${", "$ncpus", "*"]


def of_fio() -> st.SearchStrategy[str]:
    return mutations(corpus("fio/*.fio"), fio_pieces())


FIO_WORDS = [
    "fio --name=a --rw=randread --bs=4k --filename=/dev/sdb --iodepth=32 --numjobs=4 --runtime=60 --time_based",
    "fio --name a --rw randrw --rwmixread 70 --size 1g --name=b --bs=8k,64k",
    "--bs=16k --name=x --rate_iops=100 --thinktime=1ms --output-format=json --eta=never",
    "fio first-read.fio --section=reader --runtime=5",
]
VDBENCH_WORDS = [
    "-f one_device.vdb -e 120 -i 2 -w 10 -l 3 -v -o out",
    "-f names_filled_in.vdb lun=/dev/sdb seconds=60 read=70",
    "-f curve.vdb counted_sds.vdb -t -jr",
    "-f report_004.vdb -m 4 -k",
]
MEASURED = "access,size_mb,block_kb,threads,iops\nrandom,2048,8,16,5975\nsequential,4096,64,16,1243\n"
XML_PIECES = [
    "<Random>512</Random>", "<ThreadsPerFile>9</ThreadsPerFile>", "<FileSize>9</FileSize>", "<ThreadCount>3</ThreadCount>",
    "</Target><Target>", "&#1;", "]]>", "<!DOCTYPE a>", "<Bucket/>", "<Range IO='50'>20</Range>",
]  # fmt: skip
DISKSPD_PIECES = [
    " -t4", " -F2", " -O5", " -r", " -si", " -c1G", " -w50", " -g1", " -g999999999i", " -rdpct50/50", " -p", " -T1T", " -B1T", " b c", " -i1 -j1",
]  # fmt: skip
ORION_PIECES = [" -write 20", " -type seq", " -matrix row", " 0", " -num_large 3", " -cache_size 0", "9" * 20]
JSON_PIECES = ["{", "}", "[", "]", "null", "true", "NaN", "1e400", "-1", '""', "[]", "{}", ","]
SYSSTAT_PIECES = ["Device", "avg-cpu:", *JSON_PIECES]
FLATFILE_PIECES = [" avg_2-3 ", " avg_9-1 ", " Run ", "\n", " nan ", " 1e300 ", " tod "]

READERS: Mapping[str, Reader] = {
    "fio job": Reader(of_fio, fio_job, ("job.fio:", "common.inc:")),
    "fio options": Reader(options_of_fio, fio_job, ("job.fio:",), share=0.1),
    "fio command": Reader(
        lambda: mutations(FIO_WORDS, [f" --{piece.strip()} " for piece in fio_pieces()]), fio_command, ("command line:", "first-read.fio:")
    ),
    "fio json": Reader(lambda: mutations(FIO_DOCUMENT, JSON_PIECES), results("fio-json", "a.json"), ("a.json",)),
    "fio logs": Reader(
        lambda: mutations([LOG_MARK.join(FIO_LOGS.values())], ["\n", ",", "-1"]), fio_logs, (next(iter(FIO_LOGS)).rpartition("_")[0],)
    ),
    "vdbench file": Reader(lambda: mutations(corpus("vdbench/*.vdb")), vdbench_file, ("job", "sds.txt")),
    "vdbench likely words": Reader(likely_of_vdbench, vdbench_likely, ("job",)),
    "vdbench command": Reader(
        lambda: mutations(VDBENCH_WORDS), vdbench_command, ("command line", *(path.name for path in FOLDER.glob("vdbench/*")))
    ),
    "vdbench flatfile": Reader(lambda: mutations(FLATFILE, FLATFILE_PIECES), vdbench_flatfile, ("f.html",)),
    "iometer icf": Reader(lambda: mutations(corpus("iometer/golden/*.icf")), icf, ("a.icf:",)),
    "iometer results": Reader(lambda: mutations(ICF_RESULTS), results("iometer-csv", "a.csv"), ("a.csv:",)),
    "orion command": Reader(
        lambda: mutations(lines_of("orion/commands.orion"), ORION_PIECES), orion_file, ("job.orion", *("one.lun", "four.lun", "x.lun"))
    ),
    "orion luns": Reader(lambda: mutations(corpus("orion/*.lun")), orion_luns, ("job.lun",)),
    "orion tables": Reader(lambda: mutations([ORION_TABLE]), orion_tables, ("x_20261121_1000_",)),
    "diskspd command": Reader(
        lambda: mutations(lines_of("diskspd/commands.diskspd"), DISKSPD_PIECES), diskspd_lines, ("job.diskspd", "simple.xml", "mixed.xml")
    ),
    "diskspd profile": Reader(lambda: mutations(corpus("diskspd/*.xml"), XML_PIECES), diskspd_profile, ("p.xml:",)),
    "diskspd results": Reader(lambda: mutations(corpus("diskspd/result.txt"), XML_PIECES), results("diskspd-xml", "r.xml"), ("r.xml:",)),
    "sysstat text": Reader(lambda: mutations([IOSTAT], SYSSTAT_PIECES), results("sysstat", "x"), ("x",)),
    "sysstat json": Reader(lambda: mutations(SYSSTAT_DOCUMENTS, SYSSTAT_PIECES), results("sysstat", "x"), ("x",)),
    "trace iolog": Reader(traces(IOLOG_2, IOLOG_3), trace("iolog"), ("t:",)),
    "trace blkparse": Reader(traces(BLKPARSE), trace("blkparse"), ("t:",)),
    "trace blktrace": Reader(traces(blktrace("<"), blktrace(">")), trace("blktrace"), ("t: record ", "t:1:", "t:")),
    "trace msr": Reader(traces(MSR), trace("msr"), ("t:",)),
    "trace alibaba": Reader(traces(ALIBABA), trace("alibaba"), ("t:",)),
    "trace mqsim": Reader(traces(MQSIM), trace("mqsim"), ("t:",)),
    "trace cloudphysics": Reader(traces(CLOUDPHYSICS), trace("cloudphysics"), ("t:",)),
    "trace vscsi": Reader(traces(vscsi(1, *VSCSI), vscsi(2, *VSCSI)), trace("vscsi"), ("t: record ", "t:1:", "t:")),
    "trace oracle-general": Reader(traces(ORACLE_GENERAL), trace("oracle-general"), ("t: record ", "t:1:", "t:")),
    "trace compact": Reader(traces(compact(MSR), compact(BLKPARSE)), trace("compact"), ("t: record ", "t:1:", "t:")),
    "measured rows": Reader(
        lambda: mutations([MEASURED], [",", "\n", '"', "#", "-1", "1e400", "nan", "8G"]), measured_rows, ("rows.csv:",)
    ),
    "trace of any format": Reader(
        traces(IOLOG_2, IOLOG_3, BLKPARSE, MSR, ALIBABA, MQSIM, blktrace("<"), CLOUDPHYSICS, vscsi(1, *VSCSI), ORACLE_GENERAL),
        trace(None),
        ("t:", "t: record "),
        share=0.1,
    ),
}
