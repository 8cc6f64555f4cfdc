"""ORION's options: one table for the reader of command lines, the translation and the compatibility page.

Model: every option is a word with a leading ``-``; all but the switches take the next word as their value. Numbers are whole and without
a unit: sizes are KB of 1024 bytes, the cache MB, the duration seconds. ``oltp`` and ``dss`` came with release 11.2.
Source: Oracle Database Performance Tuning Guide, "I/O Calibration Outside the Database", and ORION's own help.

    OPTIONS_BY_NAME["write"].default       # 0
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Form = Literal["choice", "number", "text", "switch"]
Verdict = Literal["native", "ignored", "unsupported", "depends"]


@dataclass(frozen=True)
class Option:
    """One option: its value, the range or choices of it, ORION's default and what becomes of it here."""

    name: str
    form: Form
    meaning: str
    verdict: Verdict
    here: str
    default: str | int | None = None
    choices: tuple[str, ...] = ()
    least: int = 0
    most: int = 1_000_000


RUNS = ("simple", "normal", "advanced", "oltp", "dss")
MATRICES = ("basic", "detailed", "point", "col", "row", "max")

OPTIONS: tuple[Option, ...] = (
    Option(
        "run",
        "choice",
        "What is measured.",
        "depends",
        "An experiment of kind `matrix`. Unsupported for `dss`: its list of points is not published.",
        choices=RUNS,
    ),
    Option(
        "testname",
        "text",
        "Name of the test: NAME.lun lists the LUNs, and outputs begin with it.",
        "native",
        "NAME.lun is read for the target; the experiment has the name.",
        default="orion",
    ),
    Option(
        "num_disks",
        "number",
        "Disks behind the LUNs; the number of points follows from it.",
        "native",
        "`disks` of the grid. Without it the number of LUNs, as in ORION.",
        least=1,
        most=10_000,
    ),
    Option(
        "size_small",
        "number",
        "KB of a small request.",
        "native",
        "`block_size` of the stream `small`.",
        default=8,
        least=1,
        most=1 << 20,
    ),
    Option(
        "size_large",
        "number",
        "KB of a large request.",
        "native",
        "`block_size` of the stream `large`.",
        default=1024,
        least=1,
        most=1 << 20,
    ),
    Option(
        "type",
        "choice",
        "Whether large requests are random, or sequential streams.",
        "native",
        "`rand`: the level is the queue depth. `seq`: the level is the number of threads, each a sequential stream.",
        default="rand",
        choices=("rand", "seq"),
    ),
    Option(
        "num_streamIO",
        "number",
        "Requests outstanding in each sequential stream.",
        "depends",
        "`queue_depth` of the stream `large`; ignored without `-type seq`, as in ORION.",
        default=4,
        least=1,
        most=65_536,
    ),
    Option(
        "simulate",
        "choice",
        "How the LUNs make one volume.",
        "native",
        "`concat:` or `stripe:` as the target; a single LUN is the target itself.",
        default="concat",
        choices=("concat", "raid0"),
    ),
    Option(
        "stripe",
        "number",
        "KB of a stripe unit.",
        "depends",
        "`unit` of the target; ignored without `-simulate raid0`, as in ORION.",
        default=1024,
        least=1,
        most=1 << 20,
    ),
    Option(
        "write",
        "number",
        "Percentage of writes.",
        "depends",
        "`write_percent` of both streams. Unsupported between 1 and 99 with sequential streams, as ORION makes whole streams write.",
        default=0,
        most=100,
    ),
    Option(
        "cache_size",
        "number",
        "MB of the array's cache, filled before each point with large sequential streams; 0 for not at all, about two minutes without it.",
        "depends",
        "0 is native: no warm-up. Otherwise ignored: a warm-up of two minutes with the point's own load stands for filling the cache.",
        most=1 << 30,
    ),
    Option(
        "duration",
        "number",
        "Seconds of each point.",
        "native",
        "`duration`.",
        default=60,
        least=1,
        most=86_400_000,
    ),
    Option(
        "num_small",
        "number",
        "Small requests outstanding in a `point` or `col`.",
        "depends",
        "`num_small` of the grid; ignored where the matrix does not hold it fixed.",
        most=65_536,
    ),
    Option(
        "num_large",
        "number",
        "Large requests or streams outstanding in a `point` or `row`.",
        "depends",
        "`num_large` of the grid; ignored where the matrix does not hold it fixed.",
        most=4096,
    ),
    Option(
        "matrix",
        "choice",
        "Which points of the plane of small and large requests.",
        "depends",
        "`grid`. Unsupported for `max`, whose list of points is not published, and beside a `-run` other than `advanced`.",
        default="basic",
        choices=MATRICES,
    ),
    Option("verbose", "switch", "Prints progress.", "ignored", "Progress is always shown."),
    Option(
        "hugenotneeded",
        "switch",
        "Shared memory without huge pages.",
        "ignored",
        "Buffers are Plimsoll's own; the load is the same.",
    ),
    Option(
        "storax",
        "choice",
        "The library through which Oracle reaches storage.",
        "ignored",
        "The LUNs are opened directly; disks that only ASM can open have to be named by their device.",
        default="skgfr",
        choices=("skgfr", "oss", "asmlib", "odmlib"),
    ),
    Option("help", "switch", "Prints the help and ends.", "unsupported", "It asks for no load."),
)

OPTIONS_BY_NAME = {option.name: option for option in OPTIONS}
