"""docs/reference/arrays.md lists every key of an array file, and its example works.

Renew with ``PLIMSOLL_RENEW=1 pytest tests/unit/test_array_keys.py`` and look at the difference.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from plimsoll.catalog.arrays import array_document
from plimsoll.engine import native
from plimsoll.target import target_of
from support.array_keys import page

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "reference" / "arrays.md"


def keys(value: object) -> set[str]:
    """All keys of a document, but for those of what says where values come from."""
    if isinstance(value, dict):
        return {name for name in value if name != "sources"} | {
            key for name, inner in value.items() if name != "sources" for key in keys(inner)
        }
    return {key for inner in value for key in keys(inner)} if isinstance(value, list) else set()


def test_the_page_is_up_to_date():
    if os.environ.get("PLIMSOLL_RENEW"):
        PAGE.write_text(page(ROOT), encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == page(ROOT)


def test_every_key_of_shipped_arrays_stands_on_the_page():
    rows = set(re.findall(r"^\| `(\w+)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)) | {"kind"}
    for name in ("msa2000-raid5", "msa2040", "se6920-raid1", "nvme", "nearline-raid6", "dl360-g6-6g-10k-raid5-4"):
        assert keys(array_document(name)) <= rows, name


def test_the_example_works(tmp_path):
    example = re.search(r"```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert example is not None
    path = tmp_path / "mine.toml"
    path.write_text(example[1])
    document = array_document(str(path))
    assert document["name"] == "mine"
    loads = native().describe_array(target_of(f"array:{path}"), simulate=True)["loads"]
    assert all(point["throughput_per_s"] > 0 for load in loads for point in load["simulated"])


def test_every_number_with_a_unit_in_its_name_takes_values_with_that_unit():
    """A key whose last word is no unit counts things; a new unit has to be read, or be named here."""
    rows = re.findall(r"^\| `(\w+)` \| (?:whole )?number( or \w+)? \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert {key: united.removeprefix(" or ") for key, united in rows}.items() >= {
        "request_ns": "time",
        "size_bytes": "size",
        "rate_bytes_per_s": "rate",
        "strip_sectors": "size",
        "high_percent": "share",
        "time_s": "time",
        "replaced_after_hours": "time",
        "cores": "",
    }.items()
    counted = {key.rpartition("_")[2] for key, united in rows if not united}
    assert counted <= {
        *("amplification", "bias", "block", "channel", "channels", "commands", "cores", "count", "cylinders", "device", "devices", "die"),
        *("growth", "groups", "heads", "ios", "max", "member", "reads", "rpm", "segments", "shape", "volume", "window", "zones"),
    }
