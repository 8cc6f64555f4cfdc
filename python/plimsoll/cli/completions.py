"""The words that fit where somebody is typing: workloads, suites, targets, runs, options of a load.

Model: a function per kind of word, as click asks for them (``shell_complete``). Nothing is looked up before it is asked for, and what
cannot be looked up is left out, so that completion never fails in the middle of a line.

    @click.argument("runs", nargs=-1, shell_complete=runs)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

#: Kinds of targets besides paths and arrays.
_KINDS = {
    "array:": "a modelled array",
    "concat:": "several targets, one after the other",
    "stripe:": "several targets, in stripes",
    "queue:": "a modelled server",
    "null:": "nothing: Plimsoll itself",
}


def workloads(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Shipped workloads and tags, and files."""
    from plimsoll import catalog

    named = ((name, str(catalog.document(name).get("title", ""))) for name in catalog.names())
    tags = ((tag, "all workloads with this tag") for tag in catalog.all_tags())
    return [*_fitting((*named, *tags), incomplete), _file(incomplete)]


def suites(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Shipped suites, and files."""
    from plimsoll import catalog

    named = ((name, str(catalog.suite_document(name).get("title", ""))) for name in catalog.suite_names())
    return [*_fitting(named, incomplete), _file(incomplete)]


def targets(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Modelled arrays behind ``array:``, the kinds of targets, and paths."""
    if incomplete.startswith("array:"):
        return _fitting(_arrays(), incomplete)
    from plimsoll.defaults import FILE, defaults

    ours = ((name, f"{target}, of {FILE}") for name, target in defaults().targets.items())
    return [*_fitting((*ours, *_KINDS.items()), incomplete), _file(incomplete)]


def shown(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """What ``plimsoll show`` shows."""
    if incomplete.startswith("array:"):
        return _fitting(_arrays(), incomplete)
    files = [_file(incomplete)]
    both = {item.value: item for item in (*workloads(ctx, param, incomplete), *suites(ctx, param, incomplete)) if item.type == "plain"}
    return [*both.values(), *_fitting([("array:", _KINDS["array:"])], incomplete), *files]


def fitted(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Traces and modelled arrays."""
    if incomplete.startswith("array:"):
        return _fitting(_arrays(), incomplete)
    return [*_fitting([("array:", _KINDS["array:"])], incomplete), _file(incomplete)]


def arrays(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Modelled arrays alone."""
    return _fitting(_arrays(), incomplete)


def runs(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Stored runs, the newest first, by name and by label; ``latest`` before them."""
    from plimsoll.defaults import defaults
    from plimsoll.store.naming import LATEST
    from plimsoll.store.reader import StoredRun, list_runs

    found = [run for run in list_runs(str(ctx.params.get("out") or defaults().store)) if isinstance(run, StoredRun)][::-1]
    latest = [(LATEST, found[0].name)] if found else []
    labels = {str(run.meta["label"]): run.name for run in found if run.meta.get("label")}
    return [*_fitting((*latest, *labels.items(), *((run.name, run.status) for run in found)), incomplete), _file(incomplete)]


def settings(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Options of streams and jobs, each with the equals sign behind it; after that, the words that an option can have."""
    name, equals, value = incomplete.partition("=")
    options = dict(_options())
    if not equals:
        return _fitting(((f"{option}=", str(about.get("description", ""))) for option, about in options.items()), incomplete)
    return _fitting(((f"{name}={word}", "") for word in _words(options.get(name.rpartition(".")[2], {}))), f"{name}={value}")


def commands(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Commands and topics of help."""
    from plimsoll.cli.commands import VERBS
    from plimsoll.cli.help import TOPICS

    return _fitting((*VERBS.items(), *((topic, "what many commands share") for topic in TOPICS)), incomplete)


def _arrays() -> Iterator[tuple[str, str]]:
    from plimsoll.catalog.arrays import families

    return ((f"array:{name}", family.title(name)) for family in families() for name in family.names())


def _options() -> Iterator[tuple[str, dict[str, Any]]]:
    import json

    from plimsoll import _core

    document = json.loads(_core.workload_schema())
    yield from document["properties"]["stream"]["items"]["properties"].items()
    yield from ((name, {"description": about}) for name, about in _JOB.items())


#: Options of a job; `crates/workload/src/job.rs` declares them.
_JOB = {
    "duration": "Measured time.",
    "warmup": "Load before it is measured.",
    "interval": "How often figures are taken.",
    "seed": "What random draws follow from.",
    "size": "Size of a scratch file to make.",
}


def _words(option: dict[str, Any]) -> list[str]:
    """The words of an option, as far as it has some."""
    if option.get("type") == "boolean":
        return ["true", "false"]
    words = [*option.get("enum", ()), *(word for one in option.get("oneOf", option.get("anyOf", ())) for word in _words(one))]
    return [str(word) for word in words] + ([str(option["const"])] if "const" in option else [])


def _fitting(words: Iterable[tuple[str, str]], incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    return [CompletionItem(word, help=about) for word, about in words if word.startswith(incomplete)]


def _file(incomplete: str) -> CompletionItem:
    from click.shell_completion import CompletionItem

    return CompletionItem(incomplete, type="file")
