"""References derived from the declarations of a lab's file: its JSON Schema (2020-12) and its page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from plimsoll.experiments.forms import as_toml
from plimsoll.experiments.option import Option, schema_of
from plimsoll.lab.document import FILE_OPTIONS, HOST_OPTIONS
from plimsoll.stored import Schema

#: A file as people write one; a test reads it.
EXAMPLE = """\
title = "Three hosts at the array"
user = "bench"
key = "~/.ssh/lab"

[[host]]
name = "db1"
address = "10.0.0.11"
target = "/dev/mapper/lun0"

[[host]]
name = "db2"
address = "10.0.0.12"
target = "/dev/mapper/lun1"

[[host]]
name = "db3"
address = "10.0.0.13"
python = "/opt/python/bin/python3.11"
target = "/dev/sdc"
"""
_PAGE = """# Labs

<!-- Generated from python/plimsoll/lab; bless with PLIMSOLL_RENEW=1 pytest tests/unit/test_lab.py. -->

A lab's file names the hosts that measure together, for `--hosts lab.toml`. Keys of the file hold for every host that says nothing else;
paths are relative to the file. [Measure from many hosts](../hosts.md) explains what becomes of it; the schema for editors is
[lab.schema.json](lab.schema.json).

```toml
{example}```

Without `--target` each host loads its own; `{{target}}` in a target stands for it: `--target '{{target}}/oltp.dat'`.

## The file

{file}

## `[[host]]`

{host}
"""


def lab_schema() -> Schema:
    """The schema of a file."""
    file = schema_of(FILE_OPTIONS)
    file["properties"]["host"] = {"type": "array", "minItems": 1, "items": schema_of(HOST_OPTIONS), "description": "The hosts, in order."}
    file["required"].append("host")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Plimsoll lab", **file}


def lab_page() -> str:
    """The reference page."""
    return _PAGE.format(example=EXAMPLE, file="\n".join(_rows(FILE_OPTIONS)), host="\n".join(_rows(HOST_OPTIONS)))


def _rows(options: Iterable[Option]) -> Iterator[str]:
    yield "| key | value | without it | meaning |"
    yield "|---|---|---|---|"
    for option in options:
        absent = "must be given" if option.required else option.absent or f"`{as_toml(option.default)}`"
        yield f"| `{option.name}` | {option.form.how} Example: `{as_toml(option.example)}` | {absent} | {option.meaning} |"
