"""The compatibility page: every key of an ICF, and what Plimsoll does with it.

Model: a table of rows; tests hold it against the remarks of the golden translations, so no row says what translations do not do.
Limits: reasons in full are in the remarks; the page says when each verdict falls.

    compatibility_page()                      # docs/compatibility/iometer.md
"""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.formats.translation import Kind


@dataclass(frozen=True)
class Row:
    """A key as it is written (or its beginning), the verdicts that it can have, and what they depend on."""

    key: str
    kinds: tuple[Kind, ...]
    what: str


#: Words for keys without a name of their own.
ANY, ANY_OTHER = "any key", "any other key"

VERSION = (Row("Version", ("native", "unsupported"), "decides how the rest is read; unsupported when the file asks for nothing that runs"),)

SETUP = (
    Row("Test Description", ("native",), "title of the experiment file"),
    Row("Run Time", ("native", "ignored"), "`duration` of every test; 0 (until stopped) is ignored: tests last 30 s, or `--set duration=`"),
    Row("Ramp Up Time", ("native",), "`warmup`; 0 where the file does not say"),
    Row("Default Workers to Spawn", ("native", "ignored"), "number of workers where the file lists none; 0 (one per CPU) is ignored: 1"),
    Row("Default Disk Workers to Spawn", ("native", "ignored"), "the same; `NUMBER_OF_CPUS` is ignored: 1 worker, or `--set threads=`"),
    Row("Default Network Workers to Spawn", ("ignored",), "network workers without targets do nothing"),
    Row("Record Results", ("ignored",), "everything is recorded"),
    Row("Worker Cycling", ("native", "ignored"), "numbers of workers, where the test type uses them"),
    Row("Disk Cycling", ("native", "ignored"), "numbers of targets, where the test type uses them; also `Target Cycling`"),
    Row(
        "Queue Depth Cycling", ("native", "ignored"), "queue depths, where the test type uses them; 1 to 32, doubling, where it is missing"
    ),
    Row("Test Type", ("native",), "see above; numbers of the oldest files are read as well"),
    Row(ANY_OTHER, ("ignored",), "in files before 1999.02.17; an error in later ones"),
)

DISPLAY = (Row(ANY, ("ignored",), "it says how Iometer draws"),)

SPECS = (
    Row("Access specification name,default assignment", ("native", "ignored"), "an experiment; ignored when no disk worker runs it"),
    Row(
        "size,% of size,% reads,% random,delay,burst,align,reply",
        ("native", "ignored", "unsupported"),
        "each line an entry of `access`; unsupported with a reply other than 0; ignored when no disk worker runs it",
    ),
)

MANAGERS = (
    Row("Manager ID, manager name", ("native", "unsupported"), "one with another name or address than the first needs a cluster"),
    Row("Manager network address", ("ignored",), "nothing is contacted"),
    Row(
        "Worker",
        ("native", "ignored"),
        "a thread or a stream; ignored when it has no target or no specification, or is no disk worker here",
    ),
    Row("Worker type", ("native", "ignored", "unsupported"), "`DISK`; network workers are unsupported; ignored on another host"),
    Row(
        "Number of outstanding IOs",
        ("native", "ignored", "unsupported"),
        "queue depth per worker and target, fixed seed as `seed`; unsupported when the connection rate is tested; ignored for idle workers",
    ),
    Row(
        "Disk maximum size",
        ("native", "ignored"),
        "`region_length`, `region_start` (sectors of 512 bytes), `content`; ignored for idle workers",
    ),
    Row("Local network interface", ("ignored",), "of network workers"),
    Row("VI outstanding IOs", ("ignored",), "of network workers"),
    Row("Assigned access specs", ("native", "ignored"), "each name is run in its turn; ignored for workers that do not run"),
    Row(
        "Target",
        ("native", "ignored", "unsupported"),
        "see above; unsupported where several files are made and nothing says how long this one is; ignored for a lone drive of Windows",
    ),
    Row("Target type", ("native", "ignored"), "ignored for workers that do not run"),
    Row("Target manager ID, manager name", ("ignored",), "of network targets"),
)

TABLES = {
    "Keys": VERSION,
    "TEST SETUP": SETUP,
    "RESULTS DISPLAY": DISPLAY,
    "ACCESS SPECIFICATIONS": SPECS,
    "MANAGER LIST": MANAGERS,
}

_HEAD = """# Iometer configuration files

<!-- Generated from python/plimsoll/formats/iometer; renew with PLIMSOLL_RENEW=1 pytest tests/formats/test_iometer_page.py. -->

`plimsoll run FILE` runs a configuration file (ICF) of Iometer; `plimsoll translate FILE` shows the experiments that it becomes, and what
was done with every line. *Native*: it is in the experiments. *Ignored*: the run goes on without it; the remark says what that changes.
*Unsupported*: the file is not run, and the remark names what comes nearest. What comes out is Iometer-compatible; it is no Iometer result.

## How a file is read

- Versions order as dates (`2006.07.27`) or releases (`1.1.0`), releases above all dates. Files of every version since 1997 are read.
- Before 1998.05.21, access specifications have no names and six values between blanks; lines belong together until they reach 100 %.
  They get the names that Iometer gives them: of one line `2 KiB random 67% reads`, of several `Untitled 1`.
- Before 1999.02.17, unknown keys of the test setup are tolerated, and sections need no end line.
- Keys are compared without case. An apostrophe begins a key, never a comment. Sections stand in any order, and each may be missing.
- Blank lines and a missing version line at the end are accepted with a remark; anything else that is wrong is an error with its line.

## How it is run

- **Order.** For each assigned specification, all tests of the test type: an experiment per specification.
- **Lines.** A line is drawn by its percentage for every burst, not for every request. Reading and randomness are drawn apart. Random places
  are rounded up to `align`; 0 is a sector of 512 bytes.
- **Workers.** Each has a sequential pointer of its own at each target, which starts where the region starts. So alike workers are threads
  of one stream where everything is random, and streams of one thread elsewhere.
- **Test types.** `CYCLE_OUTSTANDING_IOS`: kind `steps` over `queue_depth`. `CYCLE_WORKERS`: `steps` over `threads` where the workers are
  alike and random, configurations elsewhere. `CYCLE_TARGETS`, `INCREMENT_TARGETS_PARALLEL` (targets of each manager, down its workers) and
  `INCREMENT_TARGETS_SERIAL` (manager by manager): configurations. `CYCLE_WORKERS_AND_TARGETS`: configurations, workers outside.
  `CYCLE_OUTSTANDING_IOS_AND_TARGETS`: `steps` over `queue_depth` for each number of targets. A series ends before the first number that is
  too large; that is not rounded down.
- **Targets.** `/dev/…` and Linux disk names are kept; of a mounted file system `iobw.tst` is taken. A drive of Windows alone is whatever
  `--target` says, or the scratch file. Several targets become one `concat:`, of which each stream uses its `parts`; a file that is not
  there is made as long as is used of it, which follows from the maximum disk size (`concat:A,B?sizes=1GiB,64MiB`). A drive letter is a
  scratch file `iobw-LETTER.tst` in the current directory.
  `--target` takes the place of all, and sizes of what is not here can be given ([targets](targets.md)).
- **No workers.** A file of specifications alone runs those assigned to new disk workers, or all where none is, on `--target`.
- **Content.** Pattern 0 is one byte repeated (`0x5a`); 1, 2, and files that say nothing, incompressible data.

"""

_TAIL = """
## Results

Results are written with the columns of 2008.06.18 or of 1.1.0; result files of any version are read for import. Megabytes of 2008 are
1,048,576 bytes. Latencies of 1.1.0 are counted in 21 bins; the bin named 2 to 4.7 s ends at 4 s, as Iometer counts it. Raw times
are in ticks of the processor speed in the same row, 1 GHz. Trims and flushes stand in no row.
"""


def compatibility_page() -> str:
    """The page as it is committed."""
    return _HEAD + "\n".join(_table(name, rows) for name, rows in TABLES.items()) + _TAIL


def _table(name: str, rows: tuple[Row, ...]) -> str:
    lines = [f"## {name}", "", "| key | what is done | when |", "|---|---|---|"]
    lines += [f"| {_shown(row.key)} | {', '.join(row.kinds)} | {row.what} |" for row in rows]
    return "\n".join([*lines, ""])


def _shown(key: str) -> str:
    return key if key in (ANY, ANY_OTHER) else f"`{key}`"
