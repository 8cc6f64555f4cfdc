"""The compatibility page for Vdbench: keyword by keyword, what Plimsoll does with it. Generated from `options`.

compatibility_page()
"""

from __future__ import annotations

from plimsoll.formats.vdbench.options import BLOCKS, Keyword

_TITLES = {
    "general": "General parameters",
    "hd": "HD: hosts",
    "rg": "RG: replay groups",
    "sd": "SD: storage",
    "wd": "WD: workloads",
    "fsd": "FSD: file systems",
    "fwd": "FWD: file-system workloads",
    "rd": "RD: runs",
}

_USUAL = {"native": "native", "ignored": "ignored", "unsupported": "unsupported", "varies": "depends on its value"}

_HEAD = """# Vdbench parameter files

<!-- Generated from python/plimsoll/formats/vdbench/options.py; renew with PLIMSOLL_RENEW=1 pytest tests/formats/test_vdbench_page.py. -->

`plimsoll run FILE` runs a parameter file of Vdbench 5.04; `plimsoll translate FILE` shows the experiments that it becomes, and what was
done with every parameter. *Native*: it is in the experiments. *Ignored*: the run goes on without it; the remark says what that changes.
*Unsupported*: the file is not run, and the remark names what comes nearest.

## How a file is read

- A line that begins with `/`, `#` or `*` is a comment, and so is everything after the first blank outside quotes. A word after a blank
  that looks like a parameter is reported. A line that begins with `eof` ends the file.
- A comma at the end of a line continues it. Vdbench knows no lines beyond that: up to the next `sd=`, `wd=` … everything belongs to one
  definition. So a comma before the next definition or at the end of the file does no harm, and one parameter per line is read as well.
- Of a keyword that stands twice in a definition the last one holds, and so it does of rdpct and wrpct, and of xfersize and forxfersize.
- Keywords may be abbreviated to any prefix of at least two letters; of those that begin alike Vdbench has one that it prefers (`st` of a WD
  is stride).
- Order: general, HD, RG, SD, WD, RD; or HD, FSD, FWD, RD. `sd=default,…` holds for the SDs that follow.
- `include=FILE` is read in its place, first beside the file. An included file includes no other.
- `$name` and `!name` are replaced by values given by name. One without a value is an error.
- Numbers: `k m g t` are powers of 1024. Times (elapsed, interval, pause, warmup): seconds, `m` minutes, `h` hours.
- Lists: `(a,b)`, `(1-10,1)` counts, `(1-64,d)` doubles, `(64-1,d)` halves. Names: `sd*`, `(sd1-sd8)`, `(sd1,sd2)`.

## How a run is carried out

- **Several SDs.** Vdbench spreads the requests of a WD equally over its SDs. Here a WD has a stream on each of its SDs. SDs of different
  devices or files become one target `concat:`, of which each stream uses its own SD (`parts`); no real size has to be known for that. A
  file that does not exist has its `size`; files that are made in one run are of one size. With `concatenatesds=yes` a WD has one stream on
  all of them.
- **Threads** of an SD are requests outstanding on it (8 unless given). They are dealt to the WDs on it by skew, at least one each. In a
  closed loop they are `threads`. At a rate, and at the percentages of a curve (`outstanding = "kept"`), what is due waits for the first of
  them that gets free, so they are `queue_depth` of one thread: never more are outstanding on the SD than in Vdbench.
- **Skew at iorate=max.** Where the WDs differ only in mix and size and all requests are random, one stream draws from all of them by
  skew, and their results are not apart. Elsewhere skew divides the threads only, and the remark says so.
- **iorate=(100,200,max)** is one point after the other, the last one a closed loop; `(max,50%,80%)` a curve.
- **iorate=max** is a closed loop, a number an open loop (`arrival = "poisson"`) of that many requests per second in total. The rate is
  divided by skew over the WDs, and equally over the SDs of each. Latency counts from the instant at which a request was due; what Vdbench
  calls response, which leaves out the wait for a thread, is the service time here. `stopcurve` looks at the latency.
- **iorate=curve** is kind `curve` with `rounding = "vdbench"` and `outstanding = "kept"`: the maximum, rounded, times the percentage, cut
  to a whole number, up to the next 10, above 1000 to the next 100.
- **Percentages** (`iorate=50%` or `-50`) are taken where the run before was the same WDs at `iorate=max`; the maximum is measured again.
- **Loops** are nested in the order in which they stand, the last one innermost, the rates of `iorate` inside all. They become the axes of
  kind `steps` (only threads, or only rates) or `matrix`; where rounds differ in more than the axes, one experiment for each round.
- **Time.** `elapsed` comes after `warmup`. Without warmup, the first interval does not count in Vdbench; it is the warm-up here, and what
  is measured is shorter by it. `interval` is half of elapsed unless given, at most 60 s.
- **Devices** are opened with `O_DIRECT` unless flags say otherwise, and their first block is never touched (`region_start = 512`, rounded
  up to the alignment). Files go through the page cache unless `openflags=o_direct` says otherwise; the translation warns of that.
- **seekpct**: 0 to 100, `random`, `seq`, `seqnz` (begins at the start of the range), `-1` backwards, `eof` (ends after one pass),
  `(poisson,n)` in 20 steps of falling density.
- **Percentages of sizes** may make 99.5 to 100.5 for a WD, and 100 to less than 101 for FSDs and FWDs; they are taken in proportion. Those
  of reads and writes lose what is behind their point.
- **hotband** is a range in which requests crowd towards the beginning: Vdbench's curve, folded into the band, in zones of `distribution`
  hot. Its places are a thousandth of what its source calls them, as they are in Vdbench, which divides KB by bytes. Writes alone are moved
  up by 1 % of the band as there; in a mix they go where reads go, and the remark says so.
- **rhpct, whpct**: a hot zone of `hitarea` at the beginning of the region, where reads and writes hit alike.
- **Alignment** with `concatenatesds=yes` counts from the beginning of the concatenation, not from that of each device.
- **Failed requests** end a run, unless `data_errors` allows more than one; Vdbench allows 50 by default.
- **Mixes of sizes** are aligned to their greatest common divisor.
- **Other hosts** are read, checked and reported.

## How a run on files is carried out

FSDs become trees, FWDs streams, and the runs experiments of the driver `files`.

- **Anchors.** The anchor of an FSD is the target. A run on several FSDs has all their anchors as its target, `concat:/mnt/a,/srv/b`, and
  each tree lies in its `part` of it; they may be anywhere, but not in each other. FSDs of one anchor are one tree. Every anchor is judged,
  claimed and marked by itself, and nothing beside or above it is written to. One that does not exist is made, in a directory that does. One
  with files that Plimsoll did not make needs `--destroy-data`; those files are left alone. With `--target` all trees lie below that one
  directory, each in the `path` that it has below the deepest directory above all anchors.
- **Shape.** depth, width, files and distribution give as many directories and files as in Vdbench, under Plimsoll's own names. Without
  them, and without sizes, a tree has what it has in Vdbench: ten files of 4 KiB in one directory. `sizes=(n,0)` is drawn from half of n to
  one and a half.
- **Formatting.** Every point brings its trees to what it needs before it begins. format=yes, restart and once: all files; directories: no
  files. With format=no, Vdbench takes what it finds; here mkdir begins with nothing, create and rmdir with directories, all others with
  files. Files that are there as described are kept, also with format=yes. A run that only formats has no point of its own if another run
  works on its trees; otherwise it is a point of a single stat. FWD `format` is ignored. Trees that a run laid out are removed when it has
  ended, where Vdbench leaves them; `--keep` keeps them.
- **Operations.** getattr is `stat`, the others have Vdbench's names. Opening and closing for reads and writes are recorded by themselves
  and do not count for the rate, as in Vdbench. `operations=` of a run are carried out at the same time, `foroperations=` one after the
  other. Where files are created and written at random in one run, creating writes them, since random requests need files with content.
- **Threads** of a FWD are divided by its FSDs and operations, at least one for each, and what does not divide is left out, as in Vdbench.
- **Several FSDs.** Where their trees have one shape and files are selected at random, a FWD is one stream over all trees; otherwise it has
  a stream for each. FSDs and operations have equal parts of the FWD's rate.
- **fwdrate=max.** Vdbench keeps FWDs and operations at equal rates, or at their skews. Where they differ in nothing but what they do, one
  stream draws all operations by these shares; elsewhere each goes as fast as it can, and the remark says so.
- **fwdrate** of a number, `curve` and percentages are as for iorate; operations arrive at exponential gaps unless distribution says
  otherwise.
- **rdpct** of a FWD goes with fileio=random only, as in Vdbench. `forrdpct` with sequential access is drawn for each file that is opened;
  Vdbench draws it for each request.
- **fileselect**: `random`, `seq` (also where none is given), `once`; `seqnz` begins with the first file; `(poisson,n)` is `file_skew = n`,
  3 where no number is given; `full` is all files, as every file has its content; `empty` and `notfull` are files that were created in the
  same run and not written to their end, for sequential writes.
- **fileio**: `random`, `(random,shared)`, `seq` (also where none is given); `sequentialnz` begins at the file's start; `(seq,delete)` is
  unsupported.
- **copy and move** go to `target=FSD`, whose tree begins without files.
- **Loops** over depth, width, files, sizes, totalsize and wss are axes like any other.
- **Nothing is verified** in files: validate and journal are unsupported.
"""


def compatibility_page() -> str:
    """The page in Markdown."""
    return _HEAD + "".join(_table(block, entries) for block, entries in BLOCKS.items())


def _table(block: str, entries: tuple[Keyword, ...]) -> str:
    rows = "".join(f"| {_names(entry)} | {_default(entry.default)} | {_USUAL[entry.usual]} | {_cell(entry.what)} |\n" for entry in entries)
    return f"\n## {_TITLES[block]}\n\n| keyword | default | verdict | what Plimsoll does with it |\n|---|---|---|---|\n{rows}"


def _names(entry: Keyword) -> str:
    return ", ".join(f"`{name}`" for name in (entry.name, *entry.also))


def _default(text: str) -> str:
    return text or "–"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
