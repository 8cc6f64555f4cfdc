"""The compatibility page of fio, made from the tables that the reader itself uses.

compatibility_page()        # Markdown, docs/compatibility/fio.md
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from plimsoll.formats.fio.command import COMMAND_OPTIONS
from plimsoll.formats.fio.engines import ENGINES
from plimsoll.formats.fio.options import ALIASES, OPTIONS, PARTS, Option

_HEAD = """# fio

<!-- Generated from python/plimsoll/formats/fio; renew with PLIMSOLL_RENEW=1 pytest tests/formats/test_fio_reference.py. -->

`plimsoll run job.fio` runs a job file of fio, `plimsoll run fio --name=x …` a command line; options of plimsoll's stand before
the word fio. `plimsoll translate` in place of `run` shows what it becomes and what was made of every line.

{counts}

* *native*: takes effect; the column says as what.
* *ignored*: the run goes on without it, with a warning; the column says what that changes.
* *unsupported*: the file is refused; the column says why, and what comes nearest.

A native option may be ignored or unsupported for some of its values, or beside some others; then the remark on its line says so. *since* is
the version of fio from which the name is taken: 3.33 is what Debian's fio knows, 3.42 what later ones added.

## How a file is run

* Jobs that run at the same time are streams of one workload and one experiment; `stonewall`, `wait_for` and a further file begin the next.
  Jobs on different files or devices each use their `parts` of one target `concat:A,B,…`, whose lengths need not be known. Clones are as
  many as fio takes, 4096.
* Clones (`numjobs`) of a random job are threads of one stream. Clones of a sequential job all begin at the start of the region, as fio's
  do, and are a stream each.
* A random job without `norandommap` visits every block once per pass: `distribution = "permutation"`.
* Without `direct=1` fio goes through the page cache; so does the translation, and says so.
* Engines with one request outstanding (`psync`, which fio takes when none is named, `sync`, `mmap` …) have a queue depth of 1, whatever
  `iodepth` says.
* Several files taken in turn are a `stripe:` whose unit is one request; taken one after the other, a `concat:`. Jobs with different
  files at the same time share a `concat:` of all; clones that each take files of their own in turn share a `stripe:`.
* A file that is not there, or is too short, is made as long as the longest of the jobs asks, rounded up to 4 KiB, beside devices and files
  that are there: `concat:A,B?sizes=1GiB,-`. With `--size` all files are made alike.
* The files of a job (`nrfiles`) are parts of its target, as many as the system lets a process have open (`ulimit -Hn`, three for each and
  one for each worker). More than 256 of which fio has fewer open (`openfiles`) or draws the lengths (`filesize=4k-64k`), and the engines
  `filecreate`, `filestat` and `filedelete`, are trees of the driver `files`. Of more than 256 parts the record has no figures for each.
* `--target` takes the place of all files and devices of a job; sizes of those that are not here can be given ([targets](targets.md)).
* `read_iolog` is a stream of a trace. The log is looked for in the working directory, as fio does, then beside the job file.
* A job without `size=` on a file that is not there is refused, as by fio; `--size` gives one.
* A job without `time_based` ends when it has transferred its `size` or `io_size`; the point lasts until all have.
  Jobs of one group that end at different times have ends of their own (`end_after`).
* A percentage of a file that has yet to be made is none for `offset`, as with fio, and refused for `size`, unless `--size` is given.
* A job that reads with `verify` expects our stamps, which a writing job with `verify` leaves behind; what fio has written has none.

## Numbers

| form | meaning |
|---|---|
| `4k` `4kb` `4ki` | steps of `kb_base`, 1024 unless set |
| `4kib` | the other base: 4000 bytes; a remark says so |
| `0x10`, `010` | 16, and 10: there are no octal numbers |
| `4.5k`, `1e3`, `4k*2` | refused: fio stops reading at the sign it does not expect (4, 1 and 4096 bytes) |
| `size= 4k` | refused: fio 3.33 loses the suffix behind a blank |
| `50%` | percent of the file |
| `4k,8k` | reads; writes and trims. `,8k`: reads keep their default. `4k,`: only reads |
| `10`, `10ms` | a time in the option's own unit (seconds, ms for log and rate windows, µs for latencies and think times); `us ms s m h d` |
| `$pagesize*2` | calculated, because a keyword stands in it |
"""


def compatibility_page() -> str:
    """The page as Markdown."""
    parts = [_HEAD.format(counts=_counts())]
    for title, options in PARTS:
        parts.append(_part(title, options))
    parts += [_engines(), _command_line()]
    return "\n".join(parts)


def _counts() -> str:
    counts = Counter(option.verdict for option in OPTIONS.values())
    numbers = ", ".join(f"{counts[verdict]} {verdict}" for verdict in ("native", "ignored", "unsupported"))
    return f"{len(OPTIONS)} options and {len(ALIASES)} other names for them are known: {numbers}."


def _part(title: str, options: Iterable[Option]) -> str:
    lines = [f"## {title}", "", "| option | | what becomes of it | since |", "|---|---|---|---|"]
    for option in options:
        names = ", ".join(f"`{name}`" for name in (option.name, *option.aliases))
        owner = f" ({option.engine})" if option.engine else ""
        lines.append(f"| {names}{owner} | {option.verdict} | {_cell(option.why)} | {option.since} |")
    return "\n".join([*lines, ""])


def _engines() -> str:
    lines = ["## Engines", "", "| ioengine | | backend | |", "|---|---|---|---|"]
    for name, engine in ENGINES.items():
        verdict = "native" if engine.backend else "unsupported"
        depth = "one request outstanding" if engine.synchronous else ""
        note = "; ".join(part for part in (engine.why, depth) if part)
        lines.append(f"| `{name}` | {verdict} | {engine.backend} | {_cell(note)} |")
    return "\n".join([*lines, ""])


def _command_line() -> str:
    lines = ["## Command line", "", "Options of jobs as above, each `--name` beginning a job; other words are job files.", ""]
    lines += ["| option | | what becomes of it |", "|---|---|---|"]
    lines += [f"| `--{name}` | {option.verdict} | {_cell(option.why)} |" for name, option in COMMAND_OPTIONS.items()]
    return "\n".join([*lines, ""])


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
