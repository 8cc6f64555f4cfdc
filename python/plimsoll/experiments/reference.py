"""References derived from the declarations: the JSON Schema of experiment files and their page.

JSON Schema (2020-12) of an experiment file, derived from the declarations.

Model: editors complete and check files with it: every key, the keys of each kind, and the form of each value by itself.
Limits: level texts, objectives and the names of workload options are texts here; what is wrong in them is said when the file is read.

    json.dumps(experiment_schema())

The reference page of experiment files, derived from the declarations (``docs/reference/experiments.md``).

experiments_page()           # Markdown
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from plimsoll.experiments.declaration import CONFIGURATION_OPTIONS, FILE_OPTIONS, OPTIONS
from plimsoll.experiments.forms import Form, as_toml
from plimsoll.experiments.kind import Kind
from plimsoll.experiments.kinds import KINDS
from plimsoll.experiments.option import Option, schema_of
from plimsoll.stored import Schema

#: What ``--quick`` cannot replace.
_FIXED = ("name", "kind", "quick")


def experiment_schema() -> Schema:
    """The schema of a file."""
    file = schema_of(FILE_OPTIONS)
    file["properties"]["experiment"] |= {"type": "array", "minItems": 1, "items": _experiment()}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Plimsoll experiments", **file}


def _experiment() -> Schema:
    table = schema_of(OPTIONS)
    sides = schema_of(CONFIGURATION_OPTIONS)
    # A side is called like its layout where it has no name.
    named = {"anyOf": [{"required": sides.pop("required")}, {"required": ["layout"]}]}
    configurations = {"type": "array", "items": sides | named}
    table["properties"]["configurations"] |= configurations
    overlay = schema_of(option for option in OPTIONS if option.name not in _FIXED)
    overlay["properties"]["configurations"] |= configurations
    del overlay["required"]
    table["properties"]["quick"] |= overlay
    return {**table, "allOf": [_of_kind(kind) for kind in KINDS]}


def _of_kind(kind: Kind) -> Schema:
    """What follows when ``kind`` is this one: options it needs, and those it does not have."""
    foreign = {option.name: False for option in OPTIONS if not option.belongs_to(kind.name)}
    then: Schema = {"properties": {**foreign, "quick": {"properties": foreign}}}
    if kind.needs:
        then["required"] = list(kind.needs)
    if kind.axes in ("one", "ends"):
        then["properties"]["over"] = {"maxProperties": 1}
    then |= kind.schema
    return {"if": {"properties": {"kind": {"const": kind.name}}}, "then": then}


#: A file as people write one; a test reads it.
EXAMPLE = """\
title = "Two depths of an OLTP database"
purpose = "Does a deeper queue carry more before reads take 20 ms?"

[[experiment]]
name = "depth"
kind = "steps"
workloads = ["oltp-db", "mine.toml"]
over = { threads = "1..32" }
objective = "read mean <= 20ms and write mean <= 20ms"
set = { duration = "60s", warmup = "10s" }
repeat = 3
configurations = [
    { name = "depth 1", set = { queue_depth = 1 } },
    { name = "depth 8", set = { queue_depth = 8 } },
]
interleave = true
quick = { over = { threads = [1, 4, 16] }, set = { duration = "1s", warmup = "200ms" }, repeat = 1 }

[[experiment]]
name = "sizes"
kind = "matrix"
workloads = ["random-read-4k"]
over = { block_size = "4k,8k,64k", queue_depth = [1, 32] }
"""

_INTRODUCTION = """# Experiments

<!-- Generated from python/plimsoll/experiments; bless with PLIMSOLL_RENEW=1 pytest tests/unit/test_experiment_reference.py. -->

An experiment measures workloads at several levels or in several ways. A file of experiments is TOML: what it is about, then one
`[[experiment]]` for each, carried out one after the other.

```toml
{example}```

`plimsoll suite mine.toml --target /dev/nvme0n1` carries it out, with `--quick` in its short form. `plimsoll run --over`, `matrix`,
`ramp`, `ramp --settle` (kind `search`), `curve`, `scale` and `steady` do the same for a single experiment typed on the command line. The
schema for editors is [experiment.schema.json](experiment.schema.json); the options of workloads and jobs are in [options.md](options.md).

A point that fails is stored with its error, and the rest goes on. What is known in advance (names, options, levels, targets) is checked
before anything is touched.
"""

_CONFIGURATIONS = """
## Configurations and targets

What is compared are the configurations, each on one target. Without `configurations` there is one for each `--target`, called like it;
with none of these either, the scratch file that Plimsoll makes. A configuration without `target` is measured on every target of the command
line; with several, its name becomes `NAME on TARGET`. When all configurations of a file name their targets, `--target` is refused.

A configuration with `layout` is a way to put devices together ([Lay storage out](../layouts.md)): the layout is made of the devices before
the side is measured and taken away after it, with `interleave` at every turn. Measured are all its volumes, or a scratch file on its
file system, unless `target` says which.

Settings are applied over the workload in this order: those of the experiment, of the configuration, of the point. Within one table, options
of all streams come before those of a single stream.
"""

_QUICK = """
## The quick form

`quick` holds what `--quick` replaces. `over`, `set` and other tables are merged key by key; lists, texts and numbers are replaced whole. It
is checked together with the full form, so a mistake in it shows at once.

```toml
over = { threads = "1..32", region_length = ["1GiB", "16GiB"] }
quick = { over = { region_length = ["1GiB"] }, repeat = 1 }     # threads stay 1 to 32
```
"""

_HEADER = "\n| key | value | default | meaning | example |\n|---|---|---|---|---|\n"


def experiments_page() -> str:
    """The page, in Markdown."""
    return "".join(_parts())


def _parts() -> Iterator[str]:
    yield _INTRODUCTION.format(example=EXAMPLE)
    yield "\n## Kinds\n\n| kind | what it does |\n|---|---|\n"
    yield from (f"| [`{kind.name}`](#{kind.name}) | {kind.meaning} |\n" for kind in KINDS)
    yield "\n## Options of every kind\n\nWritten under `[[experiment]]`.\n"
    yield _table(option for option in OPTIONS if not option.kinds)
    for kind in KINDS:
        yield from _chapter(kind)
    yield _CONFIGURATIONS
    yield _table(CONFIGURATION_OPTIONS)
    yield _QUICK
    yield "\n## Keys of a file\n\nWritten at the top of it.\n"
    yield _table(FILE_OPTIONS)
    yield "\n## How values are written\n\n| value | form |\n|---|---|\n"
    yield from sorted({f"| {form.noun.partition(',')[0]} | {form.how} |\n" for form in _forms() if form.how})


def _chapter(kind: Kind) -> Iterator[str]:
    yield f"\n## `{kind.name}`\n\n{kind.meaning} {kind.account}\n\n```toml\n[[experiment]]\n{kind.example}\n```\n"
    own = [option for option in OPTIONS if option.kinds and option.belongs_to(kind.name)]
    if own:
        yield _table(own, kind.needs)


def _table(options: Iterable[Option], needed: Iterable[str] = ()) -> str:
    return _HEADER + "".join(_row(option, option.name in needed) for option in options)


def _row(option: Option, needed: bool) -> str:
    cells = (f"`{option.name}`", option.form.noun, _default(option, needed), option.meaning, f"`{as_toml(option.example)}`")
    return f"| {' | '.join(cells)} |\n"


def _default(option: Option, needed: bool) -> str:
    if option.required or needed:
        return "must be given"
    if option.default in ("", []):
        return "empty"
    return option.absent if option.default is None else f"`{as_toml(option.default)}`"


def _forms() -> list[Form]:
    return [option.form for option in (*OPTIONS, *CONFIGURATION_OPTIONS, *FILE_OPTIONS)]
