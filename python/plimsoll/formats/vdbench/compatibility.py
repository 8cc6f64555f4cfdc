"""The compatibility page for Vdbench: keyword by keyword, what Plimsoll does with it. Generated from `keywords`.

compatibility_page()
"""

from __future__ import annotations

from plimsoll.formats.vdbench.keywords import BLOCKS, Keyword

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

<!-- Generated from python/plimsoll/formats/vdbench/keywords.py; renew with PLIMSOLL_RENEW=1 pytest tests/formats/test_vdbench_page.py. -->

`plimsoll run FILE` runs a parameter file of Vdbench 5.04; `plimsoll translate FILE` shows the experiments that it becomes, and what was
done with every parameter. *Native*: it is in the experiments. *Ignored*: the run goes on without it; the remark says what that changes.
*Unsupported*: the file is not run, and the remark names what comes nearest.

## How a file is read

- A line that begins with `/`, `#` or `*` is a comment, and so is everything after the first blank outside quotes. A word after a blank
  that looks like a parameter is reported. `eof` ends the file. A comma at the end of a line continues it.
- Keywords may be abbreviated to any prefix of at least two letters that no other keyword of their block shares.
- Order: general, HD, RG, SD, WD, RD; or HD, FSD, FWD, RD. `sd=default,…` holds for the SDs that follow.
- `include=FILE` is read in its place, first beside the file. An included file includes no other.
- `$name` and `!name` are replaced by values given by name. One without a value is an error.
- Numbers: `k m g t` are powers of 1024. Times (elapsed, interval, pause, warmup): seconds, `m` minutes, `h` hours.
- Lists: `(a,b)`, `(1-10,1)` counts, `(1-64,d)` doubles, `(64-1,d)` halves. Names: `sd*`, `(sd1-sd8)`, `(sd1,sd2)`.

## How a run is carried out

- **Several SDs.** Vdbench spreads the requests of a WD equally over its SDs. Here a WD has a stream on each of its SDs. SDs of different
  devices or files become one target `concat:`, with a region for each stream. Where one begins follows from the real sizes before it:
  those of existing files and devices are looked up, a file that does not exist has its `size`. With `concatenatesds=yes` a WD has one
  stream on all of them.
- **Threads** of an SD are requests outstanding on it (8 unless given). They are dealt to the WDs on it by skew, at least one each.
- **Skew at iorate=max.** Where the WDs differ only in mix and size and all requests are random, one stream draws from all of them by
  skew, and their results are not apart. Elsewhere skew divides the threads only, and the remark says so.
- **iorate=max** is a closed loop, a number an open loop (`arrival = "poisson"`) of that many requests per second in total. The rate is
  divided by skew over the WDs, and equally over the SDs of each. Latency counts from the instant at which a request was due; what Vdbench
  calls response is the service time here.
- **iorate=curve** is kind `curve` with `rounding = "vdbench"`: the maximum, rounded, times the percentage, cut to a whole number, up to
  the next 10, above 1000 to the next 100.
- **Percentages** (`iorate=50%` or `-50`) are taken where the run before was the same WDs at `iorate=max`; the maximum is measured again.
- **Loops** are nested in the order in which they stand, the last one innermost, the rates of `iorate` inside all. They become the axes of
  kind `steps` (only threads, or only rates) or `matrix`; where rounds differ in more than the axes, one experiment for each round.
- **Time.** `elapsed` comes after `warmup`. Without warmup, the first interval does not count in Vdbench; it is the warm-up here, and what
  is measured is shorter by it. `interval` is half of elapsed unless given, at most 60 s.
- **Devices** are opened with `O_DIRECT` unless flags say otherwise, and their first block is never touched (`region_start = 512`, rounded
  up to the alignment). Files go through the page cache unless `openflags=o_direct` says otherwise; the translation warns of that.
- **seekpct**: 0 to 100, `random`, `seq`, `seqnz` (begins at the start of the range), `-1` backwards, `eof` (ends after one pass),
  `(poisson,n)` in 20 steps of falling density.
- **rhpct, whpct**: a hot zone of `hitarea` at the beginning of the region, where reads and writes hit alike.
- **Failed requests** end a run, unless `data_errors` allows more than one.
- **Alignment** in a concatenation counts from its beginning, not from that of each device.
- **Failed requests** end a run, unless `data_errors` allows more than one; Vdbench allows 50 by default.
- **Mixes of sizes** are aligned to their greatest common divisor.
- **File-system workloads and other hosts** are read, checked and reported.
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
