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
    "layout:": "a layout, made before it is measured",
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


def layouts(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Layouts that were made, shipped ones, and files."""
    from plimsoll.catalog.layouts import layout_document, layout_names
    from plimsoll.layouts.inventory import names

    made = ((name, "made on this host") for name in names())
    shipped = ((name, str(layout_document(name)["title"])) for name in layout_names())
    return [*_fitting((*made, *shipped), incomplete), _file(incomplete)]


def targets(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Modelled arrays behind ``array:``, layouts behind ``layout:``, the kinds of targets, and paths."""
    if incomplete.startswith("array:"):
        return _fitting(_arrays(), incomplete)
    if incomplete.startswith("layout:"):
        from plimsoll.catalog.layouts import layout_document, layout_names

        return _fitting(((f"layout:{name}", str(layout_document(name)["title"])) for name in layout_names()), incomplete)
    from plimsoll.defaults import FILE, defaults

    ours = ((name, f"{target}, of {FILE}") for name, target in defaults().targets.items())
    return [*_fitting((*ours, *_KINDS.items()), incomplete), _file(incomplete)]


def shown(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """What ``plimsoll show`` shows."""
    if incomplete.startswith("array:"):
        return _fitting(_arrays(), incomplete)
    files = [_file(incomplete)]
    kinds = (*workloads(ctx, param, incomplete), *suites(ctx, param, incomplete), *(runs(ctx, param, incomplete) if incomplete else ()))
    both = {item.value: item for item in kinds if item.type == "plain"}
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
    from plimsoll.store.names import LATEST
    from plimsoll.store.reader import StoredRun, list_runs

    out = str(ctx.params.get("out") or defaults().store)
    if "/" in incomplete:
        return [*_fitting(_hosts_behind(incomplete, out), incomplete), _file(incomplete)]
    found = [run for run in list_runs(out) if isinstance(run, StoredRun)][::-1]
    latest = [(LATEST, found[0].name)] if found else []
    labels = {str(run.meta["label"]): run.name for run in found if run.meta.get("label")}
    return [*_fitting((*latest, *labels.items(), *((run.name, run.status) for run in found)), incomplete), _file(incomplete)]


def _hosts_behind(incomplete: str, out: str) -> Iterator[tuple[str, str]]:
    """The hosts of the run that stands before the last slashes, as that run's are named."""
    from plimsoll.errors import PlimsollError
    from plimsoll.store.host_runs import HOSTS, hosts_of
    from plimsoll.store.reader import find_run

    name = incomplete.rpartition(f"/{HOSTS}/")[0] or incomplete.rpartition("/")[0]
    try:
        run = find_run(name, out)
    except PlimsollError:
        return
    for host in () if run is None else hosts_of(run.path, run.meta):
        yield f"{name}/{HOSTS}/{host}", f"what {host} measured of {run.name}" if run else ""


def settings(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Options of streams and jobs, each with the equals sign behind it; after that, the words that an option can have."""
    name, equals, value = incomplete.partition("=")
    options = dict(_options())
    if not equals:
        return _fitting(((f"{option}=", str(about.get("description", ""))) for option, about in options.items()), incomplete)
    return _fitting(((f"{name}={word}", "") for word in _words(options.get(name.rpartition(".")[2], {}))), f"{name}={value}")


def objectives(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Conditions with limits that are usual, the last of those that ``and`` joins."""
    return _fitting(_after(incomplete, " and ", _conditions()), incomplete)


def metrics(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Metrics, of all operations and of reads and writes."""
    return _fitting(((metric, "") for metric in _of_operations()), incomplete)


def precisions(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Widths of an interval, of the figure that is usual and of each metric."""
    plain = [(f"{percent}%", "of what is usual for the load") for percent in (1, 2, 5)]
    return _fitting((*plain, *_after(incomplete, " of ", ((metric, "") for metric in _of_operations()))), incomplete)


def _after(incomplete: str, joint: str, words: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """The words behind what is typed up to the last joint."""
    begun = incomplete[: incomplete.rfind(joint) + len(joint)] if joint in incomplete else ""
    return ((begun + word, about) for word, about in words) if begun or joint == " and " else iter(())


def _conditions() -> Iterator[tuple[str, str]]:
    from plimsoll.analysis.objective.clause import ACHIEVED, ERRORS

    for metric in _of_operations():
        name = metric.rpartition(" ")[2]
        limit = {"iops": ">= 10k", "bandwidth": ">= 500MB/s", "mean": "<= 20ms"}.get(name, "<= 5ms")
        yield f"{metric} {limit}", ""
    yield f"{ACHIEVED} >= 97%", "share of the offered requests"
    yield f"{ERRORS} <= 0", "failed requests"


def _of_operations() -> Iterator[str]:
    from plimsoll.analysis.objective.clause import measured_words

    return (f"{op}{word}" for op in ("", "read ", "write ") for word in measured_words())


def commands(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Commands and topics of help."""
    from plimsoll.cli.commands import TOPICS, VERBS

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
    "warmup": "How long to run the load before measuring.",
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
