"""The compatibility page of ORION, generated from its table of options.

compatibility_page()        # the text of docs/compatibility/orion.md
"""

from __future__ import annotations

from plimsoll.formats.orion.options import OPTIONS, Option

_HEAD = """\
# ORION: what Plimsoll does with it

<!-- Generated from python/plimsoll/formats/orion/options.py; renew with PLIMSOLL_RENEW=1 pytest tests/formats/test_orion_page.py. -->

Plimsoll runs ORION's command lines: typed, or in a file ending in `.orion` with one command line per line,
`#` beginning a comment. The file `NAME.lun` that `-testname` names is read beside it.

```sh
plimsoll translate job.orion          # what becomes of every option
plimsoll run job.orion
plimsoll run orion -run simple -testname db
```

`--target` takes the place of all LUNs ([targets](targets.md)); with `-num_disks`, `NAME.lun` may then be missing.

A run becomes a workload with the streams `small` and `large`, and experiments of kind `matrix`. The point without any request, which ORION
counts, is left out. With `-type seq` the small requests alone are an experiment of their own; points with streams warm up for two minutes.

## Options

| option | value | default | in ORION | here | what happens |
|---|---|---|---|---|---|
"""

_TAIL = """
## Runs and matrices

With d disks:

| run | matrix | points | here |
|---|---|---|---|
| `simple` | `basic` | 7d + 1: 0 to 5d small alone, then 1 to 2d large alone | native |
| `normal` | `detailed` | (5d + 1)(2d + 1): every combination | native |
| `advanced` | `point` | 1: `-num_small` with `-num_large` | native |
| `advanced` | `col` | 2d + 1: `-num_small` with 0 to 2d large | native |
| `advanced` | `row` | 5d + 1: 0 to 5d small with `-num_large` | native |
| `advanced` | `max` | not published | unsupported; nearest: `point` or `detailed` |
| `oltp` | | 0, 1 to d, then multiples of d to 20d small alone | native |
| `dss` | | not published | unsupported; nearest: `-run advanced -matrix col -num_small 0` |

## Results

`mbps`, `iops` and `lat` tables, `summary.txt` and the histograms are written from the points of such an experiment, in the layout of
release 11.2 or, with latencies in milliseconds, of those before it. The three tables are read back, with or without a date in their name.
MBPS counts 1,048,576 bytes.
"""


def compatibility_page() -> str:
    """The whole page."""
    return _HEAD + "".join(f"{_row(option)}\n" for option in OPTIONS) + _TAIL


def _row(option: Option) -> str:
    default = "" if option.default is None else f"`{option.default}`"
    return f"| `-{option.name}` | {_value(option)} | {default} | {option.meaning} | {option.verdict} | {option.here} |"


def _value(option: Option) -> str:
    if option.form == "choice":
        return ", ".join(f"`{choice}`" for choice in option.choices)
    if option.form == "number":
        return f"{option.least} to {option.most:,}" if option.most < 1 << 30 else f"{option.least} or more"
    return "" if option.form == "switch" else "a name"
