"""References derived from the declarations of layouts: the JSON Schema of their files (2020-12) and their page.

Model: every key of a file, of each kind of layer and of each table, with the form of its value. Limits: what fits the devices below, and
what only goes together, is said when a file is read or planned.

    json.dumps(layout_schema()); layouts_page()
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from plimsoll.experiments.forms import Form, as_toml
from plimsoll.experiments.option import Option, schema_of
from plimsoll.layouts.document import FILE_OPTIONS
from plimsoll.layouts.kinds import LAYERS, TABLES
from plimsoll.layouts.kinds.kind import Kind
from plimsoll.stored import Schema


def layout_schema() -> Schema:
    """The schema of a file."""
    file = schema_of(FILE_OPTIONS)
    layers = {"type": "array", "items": {"oneOf": [_layer(kind) for kind in LAYERS.values()]}, "description": "From the devices up."}
    file["properties"]["layer"] = layers
    for kind in TABLES.values():
        file["properties"][kind.name] = {**schema_of(kind.options), "description": kind.meaning}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Plimsoll layout", **file}


def _layer(kind: Kind) -> Schema:
    table = schema_of(kind.options)
    table["properties"] = {"kind": {"const": kind.name, "description": kind.meaning}, **table["properties"]}
    return {**table, "required": ["kind", *table["required"]]}


_INTRODUCTION = """# Layouts

<!-- Generated from python/plimsoll/layouts; bless with PLIMSOLL_RENEW=1 pytest tests/unit/test_layout_reference.py. -->

A layout is a TOML file: what it is about, `[[layer]]` tables from the devices up, then at most one `[filesystem]`, `[mount]` and
`[settings]`. [Lay storage out](../layouts.md) explains what is made of it; the schema for editors is
[layout.schema.json](layout.schema.json).

```toml
{example}```
"""

#: A file as people write one; a test reads it.
EXAMPLE = """\
title = "RAID 6 of twelve disks, four volumes with XFS"
members = 12
strip = "64KiB"

[[layer]]
kind = "raid"
level = "6"
chunk = "64KiB"

[[layer]]
kind = "lvm"
type = "linear"
volumes = [{ name = "data", size = "75%" }, { name = "log", size = "25%" }]

[filesystem]
type = "xfs"

[mount]
options = "noatime"

[settings]
read_ahead = "8MiB"
scheduler = "none"
"""

_HEADER = "\n| key | value | default | meaning | example |\n|---|---|---|---|---|\n"


def layouts_page() -> str:
    """The page, in Markdown."""
    return "".join(_parts())


def _parts() -> Iterator[str]:
    yield _INTRODUCTION.format(example=EXAMPLE)
    yield "\n## Keys of a file\n\nWritten at the top of it.\n"
    yield _table(FILE_OPTIONS)
    yield "\n## Kinds of layers\n\nEach takes the devices below and gives devices to the next.\n"
    for kind in LAYERS.values():
        yield f"\n### `{kind.name}`\n\n{kind.meaning}\n"
        yield _table(kind.options) if kind.options else ""
    for kind in TABLES.values():
        yield f"\n## `[{kind.name}]`\n\n{kind.meaning}\n"
        yield _table(kind.options)
    yield "\n## How values are written\n\n| value | form |\n|---|---|\n"
    yield from sorted({f"| {form.noun.partition(',')[0]} | {form.how} |\n" for form in _forms() if form.how})


def _table(options: Iterable[Option]) -> str:
    return _HEADER + "".join(_row(option) for option in options)


def _row(option: Option) -> str:
    cells = (f"`{option.name}`", option.form.noun, _default(option), option.meaning, f"`{as_toml(option.example)}`")
    return f"| {' | '.join(cells)} |\n"


def _default(option: Option) -> str:
    if option.required:
        return "must be given"
    if option.default in ("", []):
        return "empty"
    return option.absent if option.default is None else f"`{as_toml(option.default)}`"


def _forms() -> list[Form]:
    kinds = (*LAYERS.values(), *TABLES.values())
    return [option.form for option in (*FILE_OPTIONS, *(option for kind in kinds for option in kind.options))]
