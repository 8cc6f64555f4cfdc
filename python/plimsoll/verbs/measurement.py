"""The verbs of the command line that measure, as functions: each stores a run like its command, and returns what came of it.

Model: options are those of the command by their names (`plimsoll.points.options`); values are written as they are typed, settings and axes
also as tables. The same call again goes on with an unfinished run. Nothing is printed and no signal is handled: ``progress`` hears of every
`plimsoll.Step`, ``listener`` of stages and remarks as well. Bad input raises `plimsoll.InputError` with the command's sentence, a target
that must not be written to `plimsoll.SafetyRefusal`; both are `plimsoll.PlimsollError`, as is whatever else is raised. A point that fails
is a result. Ctrl-C is a KeyboardInterrupt, which keeps what was measured.
`preview` says what such a call would do. The commands of the same names call these functions, and show what they return.
Limits: one verb at a time per process.

    import plimsoll

    run = plimsoll.run("random-read-4k", target="/data/test", size="8GiB", duration="30s", objective="p99 <= 5ms", progress=print)
    run.results[0].totals["read"].iops, run.holds(), run.path
    run.to_pandas()                      # a row per point and operation
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from plimsoll.displayed import python_value, quoted
from plimsoll.errors import InputError
from plimsoll.experiments.declaration import FIELDS, options_of
from plimsoll.experiments.kinds import KINDS
from plimsoll.experiments.kinds.precondition import PRECONDITION
from plimsoll.experiments.kinds.scaling import SCALING
from plimsoll.experiments.kinds.single import SINGLE
from plimsoll.near import meant
from plimsoll.points.arguments import Arguments, ExperimentArguments, ReplayArguments
from plimsoll.points.execution import Run, carry_out, preview_of
from plimsoll.points.listener import CallbackProgress, Listener, Remark
from plimsoll.points.options import Options, complete
from plimsoll.points.short_document import short_undertaking
from plimsoll.points.undertaking import Undertaking
from plimsoll.records import dataclass

if TYPE_CHECKING:
    from plimsoll.points.check import Checked
    from plimsoll.points.preview import Preview

#: The levels of options: ``{"queue_depth": [1, 2, 4]}``, ``{"threads": "1..64"}``, or texts ``NAME=LEVELS``.
Axes = Mapping[str, Sequence[Any] | str] | Sequence[str] | str


class LevelOptions(Options, total=False):
    """Those of verbs that vary one option."""

    over: Axes


class MatrixOptions(LevelOptions, total=False):
    """Those of ``matrix``; ``grid`` and what follows it are ORION's."""

    shuffle: int
    grid: str
    disks: int
    num_small: int
    num_large: int
    small: str
    large: str


class MarkOptions(LevelOptions, total=False):
    """Those of ``ramp`` (``growth``) and ``search`` (``repeats_max``)."""

    resolution: str
    growth: str
    repeats_max: int


class CurveOptions(Options, total=False):
    """Those of ``curve``."""

    percent: str
    rounding: str
    arrival: str
    outstanding: str
    maximum: str


class SteadyOptions(Options, total=False):
    """Those of ``steady``."""

    metric: str
    window: int
    rounds_max: int
    precondition: bool


class ReplayOptions(Options, total=False):
    """Those of ``replay``; ``fast`` is as fast as possible, ``form`` the format, ``counted`` where blktrace's requests are counted."""

    speed: str
    fast: bool
    mapping: str
    limit: str
    devices: Sequence[str]
    lateness: str
    form: str
    counted: str


def check(*named: str, quick: bool = False, listener: Listener | None = None, **options: Unpack[Options]) -> Checked:
    """What each target that is named can do (the four corners), and what OLTP load it carries; `Checked.answer` says it in a sentence.

    Reads only, unless writing is permitted everywhere. ``objective`` replaces ``mean <= 5ms``.
    """
    from plimsoll.points.check import Checked

    done = _done("check", named, {**options, "quick": quick}, listener)
    return Checked(done.path, done.outcome, done.experiments, done.origin)


def run(*workloads: str, listener: Listener | None = None, **options: Unpack[LevelOptions]) -> Run:
    """Measure each workload as it stands, or at the levels of ``over``: shipped names, tags, .toml files, a job file of another tool."""
    return _done("run", workloads, options, listener)


def steps(*workloads: str, listener: Listener | None = None, **options: Unpack[LevelOptions]) -> Run:
    """Measure each workload at a list of levels of one option; with an objective, the highest that held is the mark."""
    return _done("steps", workloads, options, listener)


def matrix(*workloads: str, listener: Listener | None = None, **options: Unpack[MatrixOptions]) -> Run:
    """Measure each workload at every combination of the levels of several options."""
    return _done("matrix", workloads, options, listener)


def ramp(*workloads: str, listener: Listener | None = None, **options: Unpack[MarkOptions]) -> Run:
    """Raise one option until the objective fails, then close in on the mark."""
    return _done("ramp", workloads, options, listener)


def search(*workloads: str, listener: Listener | None = None, **options: Unpack[MarkOptions]) -> Run:
    """Find the highest level at which the objective holds, as surely as the noise allows."""
    return _done("search", workloads, options, listener)


def curve(*workloads: str, listener: Listener | None = None, **options: Unpack[CurveOptions]) -> Run:
    """Find the maximum of each workload, then measure open loop at percentages of it: the load line."""
    return _done("curve", workloads, options, listener)


def scale(*workloads: str, listener: Listener | None = None, **options: Unpack[LevelOptions]) -> Run:
    """Measure each workload with more and more workers: speed-up, efficiency, and a fit of the Universal Scalability Law."""
    return _done("scale", workloads, options, listener)


def steady(*workloads: str, listener: Listener | None = None, **options: Unpack[SteadyOptions]) -> Run:
    """Measure each workload round by round until the last rounds are steady."""
    return _done("steady", workloads, options, listener)


def suite(name: str, *, quick: bool = False, listener: Listener | None = None, **options: Unpack[Options]) -> Run:
    """Run the experiments of a shipped suite or of a file; options apply to each of them."""
    return _done("suite", (name,), {**options, "quick": quick}, listener)


def replay(trace: str, *, listener: Listener | None = None, **options: Unpack[ReplayOptions]) -> Run:
    """Replay a block trace at its recorded times or as fast as possible."""
    return _done("replay", (trace,), options, listener)


def preview(verb: str, *named: str, listener: Listener | None = None, **options: Any) -> Preview:
    """What the function called ``verb`` would do with the same words and options: points in their order, time, what is written where.

    Everything is checked as by the function itself; nothing is touched. ``listener`` hears the remarks.
    """
    if verb not in _ASKED:
        raise InputError(f"{quoted(verb)} is no function that measures; {meant(verb, _ASKED)}")
    heard = _heard(options, listener)
    question = _ASKED[verb](named, options, heard.remark)
    return preview_of(question.undertaking, question.arguments, heard)


@dataclass(frozen=True)
class _Question:
    """What a call asks for, read: the experiments, and the options of the run."""

    undertaking: Undertaking
    arguments: Arguments


#: Takes the words of a call and its options, and remarks on what it makes of them.
_Asks = Callable[[Sequence[str], Mapping[str, Any], Remark], _Question]


def _done(verb: str, named: Sequence[str], options: Mapping[str, Any], listener: Listener | None) -> Run:
    heard = _heard(options, listener)
    question = _ASKED[verb](named, options, heard.remark)
    return carry_out(question.undertaking, question.arguments, heard)


def _check(named: Sequence[str], options: Mapping[str, Any], remark: Remark) -> _Question:
    from plimsoll.points.check import check_undertaking

    said = complete(_said(options), {"quick": False})
    arguments = Arguments.of({**said, "targets": (*named, *said["targets"])})
    return _Question(check_undertaking(arguments, remark, quick=said["quick"]), arguments)


def _run(named: Sequence[str], options: Mapping[str, Any], remark: Remark) -> _Question:
    from plimsoll.points.run import run_undertaking

    arguments = ExperimentArguments.of(complete(_said(options), {"over": (), "steps": False}))
    return _Question(run_undertaking(named, arguments, remark), arguments)


def _suite(named: Sequence[str], options: Mapping[str, Any], remark: Remark) -> _Question:
    from plimsoll.points.suites import suite_of

    said = complete(_said(options), {"quick": False})
    arguments = Arguments.of(said)
    return _Question(suite_of(_single("suite", named), arguments, remark, quick=said["quick"]), arguments)


def _replay(named: Sequence[str], options: Mapping[str, Any], remark: Remark) -> _Question:
    from plimsoll.points.replay import replay_undertaking

    arguments = ReplayArguments.of(complete(_said(options), ReplayArguments.unsaid()))
    return _Question(replay_undertaking(_single("replay", named), arguments, remark), arguments)


def _short(kind: str) -> _Asks:
    """Of a verb that is an experiment of one kind."""

    def asks(named: Sequence[str], options: Mapping[str, Any], _: Remark) -> _Question:
        own = [option.name for option in options_of(kind) if option.name not in FIELDS]
        said = complete(_said(options), {"over": (), **dict.fromkeys(own)})
        arguments = ExperimentArguments.of({**said, "workloads": tuple(named)})
        return _Question(short_undertaking(kind, arguments), arguments)

    return asks


#: Kinds of experiments with a function of the same name; a single point is `run`, and what is scaled is said in one syllable.
_NAMED = [kind.name for kind in KINDS if kind not in (SINGLE, SCALING, PRECONDITION)]
#: How each function reads what it is asked.
_ASKED: Mapping[str, _Asks] = {
    "check": _check,
    "run": _run,
    "suite": _suite,
    "replay": _replay,
    "scale": _short(SCALING.name),
    **{name: _short(name) for name in _NAMED},
}


def _single(verb: str, named: Sequence[str]) -> str:
    if len(named) != 1:
        raise InputError(f"{verb} takes one name, and {len(named)} are given.")
    return named[0]


def _heard(options: Mapping[str, Any], listener: Listener | None) -> Listener:
    """Who hears of the run: the listener, or the callback."""
    progress = options.get("progress")
    if progress is None:
        return listener or Listener()
    if listener is not None:
        raise InputError("options 'progress' and 'listener' are two ways of hearing of a run; give one of them.")
    if not callable(progress):
        raise InputError(f"option 'progress' is {python_value(progress)}; give a function that takes a plimsoll.Step.")
    return Listener(CallbackProgress(progress))


def _said(options: Mapping[str, Any]) -> Mapping[str, Any]:
    """The options that the command has."""
    return {name: value for name, value in options.items() if name != "progress"}
