"""docs/reference/arrays.md and array.schema.json, which follow from the declarations in `crates/array`, hold for what is shipped.

`PLIMSOLL_BLESS=1 cargo test -p plimsoll-array --test documents` writes both anew.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from plimsoll import _core
from plimsoll.catalog.arrays import array_document, array_names
from plimsoll.catalog.composition.key_units import UNITS, unit_of, with_unit
from plimsoll.engine.block import native
from plimsoll.errors import InputError
from plimsoll.target import target_of

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "reference" / "arrays.md"
SCHEMA = json.loads((ROOT / "docs" / "reference" / "array.schema.json").read_text(encoding="utf-8"))
SHIPPED = ("msa2000-raid5", "msa2040", "se6920-raid1", "nvme", "nearline-raid6", "dl360-g6-6g-10k-raid5-4")


def keys(value: object) -> set[str]:
    """All keys of a document, but for those of what says where values come from."""
    if isinstance(value, dict):
        return {name for name in value if name != "sources"} | {
            key for name, inner in value.items() if name != "sources" for key in keys(inner)
        }
    return {key for inner in value for key in keys(inner)} if isinstance(value, list) else set()


def numbers(schema: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """Every key of a schema that holds a number, with its part of the schema."""
    kinds = schema.get("anyOf", schema.get("oneOf", [schema])) if isinstance(schema, dict) else []
    if any(kind.get("type") in ("integer", "number") for kind in kinds):
        yield key, schema
    for kind in kinds:
        yield from numbers(kind["items"], key) if "items" in kind else ()
        for name, inner in kind.get("properties", {}).items():
            yield from numbers(inner, name)


def test_the_engine_gives_page_and_schema():
    assert _core.array_reference() == PAGE.read_text(encoding="utf-8")
    assert json.loads(_core.array_schema()) == SCHEMA


def test_the_schema_takes_every_shipped_file_and_array():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    judge = jsonschema.Draft202012Validator(SCHEMA)
    files = sorted((ROOT / "python" / "plimsoll" / "catalog" / "arrays").glob("*.toml"))
    assert len(files) > 10 and len(array_names()) > 200
    written = {path.name: tomllib.loads(path.read_text(encoding="utf-8")) for path in files}
    for name, document in {**written, **{name: array_document(name) for name in array_names()}}.items():
        assert [error.message for error in judge.iter_errors(document)] == [], name


def test_the_schema_takes_files_that_are_like_others_and_refuses_slips():
    mine = tomllib.loads(re.search(r"```toml\n(# mine.toml.*?)```", (ROOT / "docs" / "arrays.md").read_text(), re.DOTALL)[1])
    jsonschema.validate(mine, SCHEMA)
    jsonschema.validate({"host": {"request_ns": "3us", "sources": {"request_ns": "assumed"}}}, SCHEMA)
    for slip in ({"host": {"requst_ns": 3}}, {"host": {"cores": 0}}, {"host": {"request_ns": "soon"}}, {"host": {"mode": "bufered"}}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(slip, SCHEMA)


def test_units_of_the_declarations_are_those_that_files_are_read_with():
    found = dict(numbers(SCHEMA))
    assert len(found) > 80
    for key, schema in found.items():
        text = next((kind for kind in schema.get("anyOf", []) if kind.get("type") == "string"), None)
        unit = unit_of(key)
        assert (text is None) == (unit is None), key
        if text is not None:
            assert re.search(text["pattern"], unit.example), key
            assert with_unit(key, unit.example) is not None, key
    rows = re.findall(r'^\| `_(\w+)` \| (.*?) \| (.*?) \| `"(.*?)"` \|', PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert rows == [(ending, unit.name, unit.word, unit.example) for ending, unit in UNITS.items()]


@pytest.mark.parametrize(
    ("key", "text"),
    [("request_ns", "soon"), ("size_bytes", "64 bits"), ("rate_bytes_per_s", "fast"), ("read_percent", "70 per cent")],
)
def test_what_the_schema_refuses_as_a_value_with_unit_the_reader_refuses(key, text):
    pattern = dict(numbers(SCHEMA))[key]["anyOf"][1]["pattern"]
    assert re.search(pattern, text) is None
    with pytest.raises(InputError):
        with_unit(key, text)


def test_every_key_of_shipped_arrays_stands_on_the_page():
    rows = set(re.findall(r"^\| `(\w+)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)) | {"kind"}
    for name in SHIPPED:
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
    rows = re.findall(r"^\| `(\w+)` \| (?:whole )?number( or \w+)?(?:, [^|]*)? \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
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
    counted = {key.removesuffix("_per_s").rpartition("_")[2] for key, united in rows if not united}
    assert counted <= {
        *("amplification", "bias", "block", "channel", "channels", "commands", "cores", "count", "cylinders", "device", "devices", "die"),
        *(
            "growth",
            "groups",
            "heads",
            "ios",
            "max",
            "member",
            "members",
            "miss",
            "parities",
            "reads",
            "requests",
            "rpm",
            "segments",
            "shape",
            "spares",
            "volume",
            "window",
            "zones",
        ),
    }
