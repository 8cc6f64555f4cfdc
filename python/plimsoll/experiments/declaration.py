"""Declaration of the files of experiments: reader, JSON Schema, reference page and messages follow from here.

Model: each kind declares itself in `kinds`. `OPTIONS` are the keys of an ``[[experiment]]`` in the order of the reference page: those of
every kind and those that several share, then each kind's own; each with its form, default, meaning, example, and the kinds that have it
(all when none are named). `FILE_OPTIONS` are the keys at the top of a file.

The forms of values are read here and not in the engine's declarations, because what an objective, a metric or a level is, the analysis of
results says; the shape of a declaration is the same.

    options_of("ramp")            # the options that a ramp has
    OPTIONS_BY_NAME["repeat"].default
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from plimsoll.experiments import forms
from plimsoll.experiments.forms import Form, words
from plimsoll.experiments.kinds import KINDS
from plimsoll.experiments.option import OBJECTIVE, OVER, PRECISION, REPEAT, Option, meanings

_CACHES = {
    "as found": "nothing is done; the point says so.",
    "cold": "before every point the page cache of the target is dropped where that is allowed; the point says what was done.",
    "warm": "the warm-up of every point lasts at least as long as its duration.",
}
_QUICK = Option(
    "quick",
    Form("table of options", "any of these options except `name` and `kind`.", dict, {}),
    "What `--quick` replaces; tables are merged key by key.",
    {"set": {"duration": "1s"}},
    absent="`--quick` changes nothing",
)
_COMMON = (
    Option("name", forms.NAME, "What reports call it; unique in the file.", "random", required=True),
    Option("kind", words({kind.name: kind.meaning for kind in KINDS}), "What is done, see below.", "steps", required=True),
    Option("workloads", forms.SOME_TEXTS, "Shipped workloads, tags, or files beside this one.", ["oltp-db", "mine.toml"], required=True),
    OVER,
    OBJECTIVE,
    Option(
        "set",
        forms.SETTINGS,
        "Options over those of the workload.",
        {"duration": "60s", "queue_depth": 16},
        absent="the workload's own hold",
    ),
    REPEAT,
    Option(
        "configurations",
        Form("list of tables", "", list, {}),
        "What is compared, see below.",
        [{"name": "depth 8", "set": {"queue_depth": 8}}],
        absent="one for each target on the command line",
    ),
    Option(
        "interleave",
        forms.SWITCH,
        "Measure the configurations in turn, point by point (A B A B), so that a drift of the machine falls on all alike. "
        "`single` takes its workloads in turn, too.",
        example=True,
        default=False,
    ),
    Option("cache", words(_CACHES), f"What the caches hold when a point begins. {meanings(_CACHES)}", "cold", default="as found"),
    PRECISION,
)


def _all(common: Iterable[Option]) -> Iterator[Option]:
    """Options in the order of the page, each with the kinds that have it."""
    owners: dict[str, list[str]] = {}
    own: dict[str, Option] = {option.name: option for option in common}
    for kind in KINDS:
        for option in kind.options:
            owners.setdefault(option.name, []).append(kind.name)
            assert own.setdefault(option.name, option) == option, f"{option.name} is declared twice"
    for name, option in own.items():
        yield replace(option, kinds=tuple(owners.get(name, ())))
    yield _QUICK


OPTIONS = tuple(_all(_COMMON))
OPTIONS_BY_NAME = {option.name: option for option in OPTIONS}

#: Options of every kind that have a field of their own in an `Experiment`; the others of a kind are its parameters.
FIELDS = ("name", "kind", "workloads", "over", "objective", "set", "repeat", "configurations", "interleave", "cache", "precision", "quick")

CONFIGURATION_OPTIONS = (
    Option(
        "name",
        forms.LABEL,
        "What reports call it; unique in its experiment. A side with a `layout` and without a name is called like it.",
        "depth 8",
        required=True,
    ),
    Option(
        "target",
        forms.TEXT,
        "What is measured. With `layout`, `{volumes}` stands for the paths of all its volumes and `{NAME}` for that of one.",
        "/dev/nvme0n1",
        absent="every target on the command line; with `layout` all that it gives",
    ),
    Option(
        "layout",
        forms.TEXT,
        "A shipped layout, or a file beside this one: it is made before the side is measured and taken away after it.",
        "raid5-lun",
        absent="the target is there",
    ),
    Option(
        "on",
        forms.SOME_TEXTS,
        "The devices that the layout is made of, in their order.",
        ["/dev/sdb", "/dev/sdc"],
        absent="those of `--on`",
    ),
    Option("set", forms.SETTINGS, "Options over those of workload and experiment.", {"queue_depth": 8}, absent="those hold"),
)

FILE_OPTIONS = (
    Option("title", forms.TEXT, "One line for people.", "Four corners", default=""),
    Option("purpose", forms.TEXT, "What it is meant to show.", "How random and sequential, reading and writing compare", default=""),
    Option("source", forms.TEXT, "Where the procedure comes from.", "HP ProLiant DL360 Gen5 to Gen8 report", default=""),
    Option(
        "rationale", forms.TEXT, "Why it is set up this way, and what the source does not say.", "The report names no warm-up", default=""
    ),
    Option("published", forms.TEXTS, "Published figures (`plimsoll list`) to show beside what is measured.", ["se6920"], default=[]),
    Option(
        "workload",
        Form("list of tables", "", list, {"type": "array", "items": {"type": "object", "required": ["name", "stream"]}}),
        "Workloads of the file's own, each as a workload file with a `name`; experiments call them by it, before the shipped ones.",
        [{"name": "log", "stream": [{"block_size": "64KiB", "read_percent": 0, "random_percent": 0}]}],
        default=[],
    ),
    Option(
        "experiment",
        Form("list of tables", "", list, {}),
        "The experiments, in the order they are carried out.",
        [{"name": "depth", "kind": "steps"}],
        required=True,
    ),
)


def options_of(kind: str) -> list[Option]:
    """The options that experiments of ``kind`` have."""
    return [option for option in OPTIONS if option.belongs_to(kind)]
