"""The compatibility page of DiskSpd, generated from its tables of flags and elements.

compatibility_page()        # the text of docs/compatibility/diskspd.md
"""

from __future__ import annotations

from collections.abc import Iterable

from plimsoll.formats.diskspd.elements import PROFILE_ELEMENTS, SPAN_ELEMENTS, TARGET_ELEMENTS, ElementForm
from plimsoll.formats.diskspd.options import FLAGS, FLAGS_BY_NAME, Flag
from plimsoll.formats.diskspd.verdict import ALWAYS

_HEAD = """\
# DiskSpd: what Plimsoll does with it

<!-- Generated from python/plimsoll/formats/diskspd; renew with PLIMSOLL_RENEW=1 pytest tests/formats/test_diskspd_page.py. -->

Plimsoll runs DiskSpd's command lines, typed or in a file ending in `.diskspd` with one per line, and its XML profiles. Each time span
becomes an experiment of kind `single`, in the order of the profile.

```sh
plimsoll translate profile.xml        # what becomes of every flag and element
plimsoll run profile.xml -t /dev/sdb
```

Disks and paths of Windows (`#1`, `x:`, `C:\\\\test.dat`) and places of a profile (`*1`) mean nothing here: `-t TARGET` takes the place
of all targets ([targets](targets.md)). Several targets of a time span become one target, `concat:` of them all, of which each stream
uses its `parts`; files have to be created with the same size (`-c`). A document type declaration in a profile is refused.

## Flags

| flag | default | in DiskSpd | here | what happens |
|---|---|---|---|---|
"""

_ELEMENTS = """
## Elements of a profile

Those with a flag of the same meaning follow it.

| element | in | like | here |
|---|---|---|---|
"""

_TAIL = """
## Results

Text and XML are written with DiskSpd's names, units and order. A stream stands as one thread, because Plimsoll counts per stream; CPU time
is that of the whole host. XML results are read back: counts, rates, the percentiles of the table, and the profile.
"""


def compatibility_page() -> str:
    """The whole page."""
    flags = "".join(f"{_flag(flag)}\n" for flag in FLAGS)
    tables = (("profile", PROFILE_ELEMENTS), ("time span", SPAN_ELEMENTS), ("target", TARGET_ELEMENTS))
    elements = "".join(f"{row}\n" for place, table in tables for row in _elements(place, table.values()))
    return _HEAD + flags + _ELEMENTS + elements + _TAIL


def _flag(flag: Flag) -> str:
    # The bar would end the cell.
    written = ", ".join(f"`{part}`" for part in flag.written.replace("|", "\\|").split(", "))
    default = f"`{flag.default}`" if flag.default[:1] == "-" or flag.default[:1].isdigit() else flag.default
    return f"| {written} | {default} | {flag.meaning} | {flag.verdict} | {flag.here} |"


def _elements(place: str, elements: Iterable[ElementForm]) -> Iterable[str]:
    for element in elements:
        flag = FLAGS_BY_NAME.get(element.flag)
        if flag is not None:
            yield f"| `{element.name}` | {place} | `-{flag.name}` | {flag.verdict} |"
        else:
            kind, why = ALWAYS.get(element.key, ("native", "a file or disk"))
            yield f"| `{element.name}` | {place} | | {kind}{f': {why}' if why else ''} |"
