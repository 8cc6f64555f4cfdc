"""Declaration of the kinds of experiments and their options: reader, JSON Schema, reference page and messages follow from here.

Model: `KINDS` says what each kind is for, how many axes it varies and what it cannot do without. `OPTIONS` are the keys of an
``[[experiment]]`` in the order of the reference page, each with its form, default, meaning, example, and the kinds that have it (all when
none are named). `FILE_OPTIONS` are the keys at the top of a file.

    options_of("ramp")            # the options that a ramp has
    OPTIONS_BY_NAME["repeat"].default
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from plimsoll.experiments import forms
from plimsoll.experiments.forms import Form, whole, words

#: What ``over`` holds: nothing, one axis of numbers, the two ends of one, or several axes of anything.
Axes = Literal["none", "one", "ends", "several"]


@dataclass(frozen=True)
class Kind:
    """A kind of experiment: one line of meaning, what it does, what it needs, and an ``[[experiment]]`` to start from.

    ``varies_load``: its points are levels of one load, so an objective is judged by the mark. ``seeks_mark``: it looks for that mark, and
    finding none is what it found. ``offers_rates``: its points are given rates that their workload as it stands need not have.
    """

    name: str
    meaning: str
    account: str
    axes: Axes
    example: str
    needs: tuple[str, ...] = ()
    varies_load: bool = False
    seeks_mark: bool = False
    offers_rates: bool = False


@dataclass(frozen=True)
class Option:
    """A key. ``kinds`` is empty when every kind has it; ``default`` is None where leaving it out is a choice of its own."""

    name: str
    form: Form
    meaning: str
    example: Any
    default: Any = None
    kinds: tuple[str, ...] = ()
    absent: str = ""
    required: bool = False

    def belongs_to(self, kind: str) -> bool:
        """Whether experiments of ``kind`` have it."""
        return not self.kinds or kind in self.kinds


KINDS = (
    Kind(
        "single",
        "Measure every workload as it stands.",
        "One point per workload, configuration and repeat.",
        "none",
        'name = "as they stand"\nkind = "single"\nworkloads = ["oltp-db", "exchange-server"]\nrepeat = 3\n'
        'configurations = [{ name = "depth 1", set = { queue_depth = 1 } }, { name = "depth 8", set = { queue_depth = 8 } }]\n'
        "interleave = true",
    ),
    Kind(
        "steps",
        "Measure a list of levels of load.",
        "One point per level, in the order written; all levels once, then all again for the next repeat. With an objective, the mark is "
        "the highest load that held.",
        "one",
        'name = "depth"\nkind = "steps"\nworkloads = ["random-read-4k"]\nover = { queue_depth = "1..64" }\n'
        'objective = "p99 <= 5ms"\nrepeat = 3',
        ("over",),
        varies_load=True,
    ),
    Kind(
        "matrix",
        "Measure every combination of options.",
        "The product of all axes, nested as written: the last one changes fastest. `shuffle` draws the order anew for every repeat. "
        "Instead of `over`, `grid` names one of ORION's grids of small and large outstanding requests; the workload then has a stream for "
        "each (`small`, `large`), and the point where both are 0 is left out.",
        "several",
        'name = "sizes and areas"\nkind = "matrix"\nworkloads = ["random-read-4k"]\n'
        'over = { region_length = ["1GiB", "4GiB"], block_size = "4k,8k,64k", read_percent = "0..100+50" }\nshuffle = 7',
    ),
    Kind(
        "ramp",
        "Raise the load until the objective fails, then close in on the mark.",
        "Starts at the lower end, grows by `growth` until a level fails, and halves the distance between the highest level that held and "
        "the lowest that failed until it is within `resolution`. Every level is decided by its value. When "
        "the level it ends at had too few requests to show that the objective holds, it is measured for as long as they take, at most 30 "
        "times its duration.",
        "ends",
        'name = "threads to 20 ms"\nkind = "ramp"\nworkloads = ["oltp-db"]\nover = { threads = "1..256" }\n'
        'objective = "read mean <= 20ms and write mean <= 20ms"\nresolution = 1',
        ("over", "objective"),
        varies_load=True,
        seeks_mark=True,
    ),
    Kind(
        "search",
        "Find the mark as surely as the noise allows.",
        "Like `ramp`, but a level whose 95 % interval contains the limit is measured again with another seed, up to `repeats_max` times, "
        "and called undecided when that does not settle it.",
        "ends",
        'name = "mark"\nkind = "search"\nworkloads = ["random-read-4k"]\nset = { arrival = "poisson", rate = 500, queue_depth = 1024 }\n'
        'over = { rate = "500..50k" }\nobjective = "p99 <= 5ms and achieved >= 97%"\nresolution = "2%"',
        ("over", "objective"),
        varies_load=True,
        seeks_mark=True,
    ),
    Kind(
        "curve",
        "Measure the load line at percentages of the maximum.",
        "First the workload as it stands, closed loop, for its maximum; then open loop at the given percentages of it. Several streams are "
        "given rates in proportion to what they did at the maximum.",
        "none",
        'name = "curve"\nkind = "curve"\nworkloads = ["random-read-4k"]\nset = { queue_depth = 32 }\n'
        'percent = [10, 50, 70, 80, 90, 100]\nrounding = "vdbench"',
        varies_load=True,
        offers_rates=True,
    ),
    Kind(
        "scaling",
        "Measure speed-up with concurrency.",
        "One point per level and iteration; speed-up and efficiency against the lowest level, and a fit of the Universal Scalability Law.",
        "one",
        'name = "workers"\nkind = "scaling"\nworkloads = ["sequential-read-128k"]\nover = { threads = "1..64" }\niterations = 3',
        ("over",),
        varies_load=True,
    ),
    Kind(
        "steady",
        "Measure in rounds until the storage is in its steady state.",
        "Rounds of the workload until the last `window` of them stay within 20 % of their mean and their fitted line within 10 %, as in "
        "the SNIA Solid State Storage Performance Test Specification; otherwise *not attained* is reported after `rounds_max`. With "
        "`precondition`, twice the capacity is first written sequentially in 128 KiB requests.",
        "none",
        'name = "steady state"\nkind = "steady"\nworkloads = ["random-write-4k"]\nset = { duration = "60s" }\nprecondition = true\n'
        'metric = "write iops"',
    ),
    Kind(
        "precondition",
        "Fill the target, so that later points find it written.",
        "Writes the target sequentially in 128 KiB requests, `amount` times its size.",
        "none",
        'name = "fill"\nkind = "precondition"\nworkloads = ["sequential-write-128k"]\namount = 2',
    ),
)
KINDS_BY_NAME = {kind.name: kind for kind in KINDS}

_REPEATED = ("single", "steps", "matrix", "curve", "scaling")
_JUDGED = ("single", "steps", "matrix", "ramp", "search", "curve", "scaling", "steady")
_SEEKING = ("ramp", "search")

_CACHES = {
    "as found": "nothing is done; the point says so.",
    "cold": "before every point the page cache of the target is dropped where that is allowed; the point says what was done.",
    "warm": "the warm-up of every point lasts at least as long as its duration.",
}
_GRIDS = {
    "basic": "small requests alone, then large ones alone (7 × disks points)",
    "detailed": "every combination of 0 to 5 small and 0 to 2 large requests per disk",
    "point": "`num_small` with `num_large`",
    "row": "every number of small requests with `num_large`",
    "column": "every number of large requests with `num_small`",
    "oltp": "small requests alone, up to 20 per disk",
}
_ROUNDINGS = {
    "none": "the percentage itself",
    "vdbench": "as Vdbench does it: up to the next 10, above 1000 to the next 100",
}
_OUTSTANDING = {
    "raised": "four times as many as at the maximum and at least 32 per thread, so that clusters of arrivals reach the target",
    "kept": "never more than at the maximum, as the threads of an SD in Vdbench; the others wait for the first free slot of their stream, "
    "which is in the latency and not in the service time",
}
_ARRIVALS = {"poisson": "as many independent users produce them", "constant": "at equal gaps"}


def _meanings(choices: dict[str, str]) -> str:
    return " ".join(f"`{word}`: {meaning.rstrip('.')}." for word, meaning in choices.items())


OPTIONS = (
    Option("name", forms.NAME, "What reports call it; unique in the file.", "random", required=True),
    Option("kind", words({kind.name: kind.meaning for kind in KINDS}), "What is done, see below.", "steps", required=True),
    Option("workloads", forms.SOME_TEXTS, "Shipped workloads, tags, or files beside this one.", ["oltp-db", "mine.toml"], required=True),
    Option(
        "over",
        forms.AXES,
        'What is varied. `steps` and `scaling` have one axis of numbers; `ramp` and `search` one axis with its two ends, `"1..256"`; '
        "`matrix` any number of axes, also over `target`.",
        {"queue_depth": "1..64"},
        kinds=("steps", "matrix", "ramp", "search", "scaling"),
        absent="must be given, or `grid`",
    ),
    Option(
        "objective",
        forms.OBJECTIVE,
        "The condition on response that a load must keep; decides `ramp` and `search`, and gives every other load line its mark.",
        "read mean <= 20ms and write mean <= 20ms",
        kinds=_JUDGED,
        absent="none is asked for",
    ),
    Option(
        "set",
        forms.SETTINGS,
        "Options over those of the workload.",
        {"duration": "60s", "queue_depth": 16},
        absent="the workload's own hold",
    ),
    Option("repeat", whole(1, 1000), "How often every point is measured, each time with the next seed.", 3, default=1, kinds=_REPEATED),
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
    Option("cache", words(_CACHES), f"What the caches hold when a point begins. {_meanings(_CACHES)}", "cold", default="as found"),
    Option(
        "precision",
        forms.PRECISION,
        "Each point ends as soon as the 95 % interval of the metric is this narrow; `duration` is then the limit.",
        "2% of read p99",
        kinds=_JUDGED,
        absent="each point lasts its duration",
    ),
    Option("shuffle", whole(0), "Seed of a random order of the points.", 7, kinds=("matrix",), absent="in the order written"),
    Option(
        "grid", words(_GRIDS), f"One of ORION's grids, in place of `over`. {_meanings(_GRIDS)}", "basic", kinds=("matrix",), absent="`over`"
    ),
    Option("disks", whole(1, 10_000), "How many disks the grid is for.", 4, default=1, kinds=("matrix",)),
    Option("num_small", whole(0, 1_000_000), "Small requests outstanding in a `point` or `column`.", 8, kinds=("matrix",), absent="none"),
    Option("num_large", whole(0, 1_000_000), "Large requests outstanding in a `point` or `row`.", 2, kinds=("matrix",), absent="none"),
    Option("small", forms.TEXT, "The stream of small requests of a grid.", "index", default="small", kinds=("matrix",)),
    Option("large", forms.TEXT, "The stream of large requests of a grid.", "scan", default="large", kinds=("matrix",)),
    Option("resolution", forms.RESOLUTION, "How closely the mark is looked for.", "5%", default="2%", kinds=_SEEKING),
    Option("growth", forms.GROWTH, "How the level rises until it fails.", "+4", default="2x", kinds=("ramp",)),
    Option("repeats_max", whole(1, 1000), "How often a level near the limit is measured at most.", 8, default=5, kinds=("search",)),
    Option(
        "percent",
        forms.PERCENTAGES,
        "Which percentages of the maximum are measured.",
        [10, 50, 80, 90, 95, 100],
        default=[10, 50, 70, 80, 90, 100],
        kinds=("curve",),
    ),
    Option(
        "rounding",
        words(_ROUNDINGS),
        f"How a rate follows from a percentage. {_meanings(_ROUNDINGS)}",
        "vdbench",
        default="none",
        kinds=("curve",),
    ),
    Option("arrival", words(_ARRIVALS), f"When requests are due. {_meanings(_ARRIVALS)}", "constant", default="poisson", kinds=("curve",)),
    Option(
        "outstanding",
        words(_OUTSTANDING),
        f"How many requests may be outstanding at a percentage of the maximum. {_meanings(_OUTSTANDING)}",
        "kept",
        default="raised",
        kinds=("curve",),
    ),
    Option("maximum", forms.RATE, "The rate that counts as 100 %.", "20k", kinds=("curve",), absent="it is measured first"),
    Option("iterations", whole(1, 1000), "Another word for `repeat`.", 3, kinds=("scaling",), absent="`repeat`"),
    Option("metric", forms.METRIC, "What has to be steady.", "write iops", default="iops", kinds=("steady",)),
    Option("window", whole(2, 1000), "How many rounds must be steady.", 5, default=5, kinds=("steady",)),
    Option("rounds_max", whole(2, 10_000), "After how many rounds it is given up.", 25, default=25, kinds=("steady",)),
    Option("precondition", forms.SWITCH, "Write twice the capacity sequentially first.", example=True, default=False, kinds=("steady",)),
    Option("amount", forms.MULTIPLE, "How much is written.", 2, default=2, kinds=("precondition",)),
    Option(
        "quick",
        Form("table of options", "any of these options except `name` and `kind`.", dict, {}),
        "What `--quick` replaces; tables are merged key by key.",
        {"set": {"duration": "1s"}},
        absent="`--quick` changes nothing",
    ),
)
OPTIONS_BY_NAME = {option.name: option for option in OPTIONS}

#: Options of every kind that have a field of their own in an `Experiment`; the others of a kind are its parameters.
FIELDS = ("name", "kind", "workloads", "over", "objective", "set", "repeat", "configurations", "interleave", "cache", "precision", "quick")

CONFIGURATION_OPTIONS = (
    Option("name", forms.LABEL, "What reports call it; unique in its experiment.", "depth 8", required=True),
    Option("target", forms.TEXT, "What is measured.", "/dev/nvme0n1", absent="every target on the command line"),
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
