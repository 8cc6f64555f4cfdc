"""The verbs of the command line that measure, as functions: each stores a run like its command, and returns what came of it.

Model: options are those of the command by their names (`plimsoll.points.options`); values are written as they are typed, settings and axes
also as tables. The same call again goes on with an unfinished run. Nothing is printed and no signal is handled: ``progress`` hears of every
`plimsoll.Step`, ``listener`` of stages and remarks as well. Bad input raises `plimsoll.InputError` with the command's sentence, a target
that must not be written to `plimsoll.SafetyRefusal`; both are `plimsoll.PlimsollError`, as is whatever else is raised. A point that fails
is a result. Ctrl-C is a KeyboardInterrupt, which keeps what was measured.
Limits: one verb at a time per process.

    import plimsoll

    run = plimsoll.run("random-read-4k", target="/data/test", size="8GiB", duration="30s", objective="p99 <= 5ms", progress=print)
    run.results[0].totals["read"].iops, run.holds(), run.path
    run.to_pandas()                      # a row per point and operation
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from plimsoll.displayed import python_value
from plimsoll.errors import InputError
from plimsoll.experiments.declaration import FIELDS, options_of
from plimsoll.points.asked import Asked, ExperimentAsked, ReplayAsked
from plimsoll.points.listener import Listener, Told
from plimsoll.points.options import REPLAY, Options, complete
from plimsoll.points.short_document import short_undertaking
from plimsoll.points.undertaking import Run, Undertaking, carry_out

if TYPE_CHECKING:
    from plimsoll.points.check import Checked

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
    from plimsoll.points.check import Checked, check_undertaking

    heard, said = _heard(options, listener), complete(_said(options))
    asked = Asked.of({**said, "targets": (*named, *said["targets"])})
    done = carry_out(check_undertaking(asked, heard.remark, quick=quick), asked, heard)
    return Checked(done.path, done.outcome, done.experiments, done.origin)


def run(*workloads: str, listener: Listener | None = None, **options: Unpack[LevelOptions]) -> Run:
    """Measure each workload as it stands, or at the levels of ``over``: shipped names, tags, .toml files, a job file of another tool."""
    from plimsoll.points.run import run_undertaking

    heard, asked = _heard(options, listener), ExperimentAsked.of(complete(_said(options), {"over": ()}))
    return carry_out(run_undertaking(workloads, asked, heard.remark), asked, heard)


def steps(*workloads: str, listener: Listener | None = None, **options: Unpack[LevelOptions]) -> Run:
    """Measure each workload at a list of levels of one option; with an objective, the highest that held is the mark."""
    return _short("steps", workloads, options, listener)


def matrix(*workloads: str, listener: Listener | None = None, **options: Unpack[MatrixOptions]) -> Run:
    """Measure each workload at every combination of the levels of several options."""
    return _short("matrix", workloads, options, listener)


def ramp(*workloads: str, listener: Listener | None = None, **options: Unpack[MarkOptions]) -> Run:
    """Raise one option until the objective fails, then close in on the mark."""
    return _short("ramp", workloads, options, listener)


def search(*workloads: str, listener: Listener | None = None, **options: Unpack[MarkOptions]) -> Run:
    """Find the highest level at which the objective holds, as surely as the noise allows."""
    return _short("search", workloads, options, listener)


def curve(*workloads: str, listener: Listener | None = None, **options: Unpack[CurveOptions]) -> Run:
    """Find the maximum of each workload, then measure open loop at percentages of it: the load line."""
    return _short("curve", workloads, options, listener)


def scale(*workloads: str, listener: Listener | None = None, **options: Unpack[LevelOptions]) -> Run:
    """Measure each workload with more and more workers: speed-up, efficiency, and a fit of the Universal Scalability Law."""
    return _short("scaling", workloads, options, listener)


def steady(*workloads: str, listener: Listener | None = None, **options: Unpack[SteadyOptions]) -> Run:
    """Measure each workload round by round until the last rounds are steady."""
    return _short("steady", workloads, options, listener)


def suite(name: str, *, quick: bool = False, listener: Listener | None = None, **options: Unpack[Options]) -> Run:
    """Run the experiments of a shipped suite or of a file; options apply to each of them."""
    from plimsoll.points.suites import suite_of

    heard, asked = _heard(options, listener), Asked.of(complete(_said(options)))
    return carry_out(suite_of(name, asked, heard.remark, quick=quick), asked, heard)


def replay(trace: str, *, listener: Listener | None = None, **options: Unpack[ReplayOptions]) -> Run:
    """Replay a block trace at its recorded times or as fast as possible."""
    from plimsoll.points.replay import replay_undertaking

    heard, asked = _heard(options, listener), ReplayAsked.of(complete(_said(options), REPLAY))
    return carry_out(replay_undertaking(trace, asked, heard.remark), asked, heard)


def _short(kind: str, workloads: Sequence[str], options: Mapping[str, Any], listener: Listener | None) -> Run:
    own = [option.name for option in options_of(kind) if option.name not in FIELDS]
    said = complete(_said(options), {"over": (), **dict.fromkeys(own)})
    asked = ExperimentAsked.of({**said, "workloads": tuple(workloads)})
    undertaking: Undertaking = short_undertaking(kind, asked)
    return carry_out(undertaking, asked, _heard(options, listener))


def _heard(options: Mapping[str, Any], listener: Listener | None) -> Listener:
    """Who hears of the run: the listener, or the callback."""
    progress = options.get("progress")
    if progress is None:
        return listener or Listener()
    if listener is not None:
        raise InputError("options 'progress' and 'listener' are two ways of hearing of a run; give one of them.")
    if not callable(progress):
        raise InputError(f"option 'progress' is {python_value(progress)}; give a function that takes a plimsoll.Step.")
    return Listener(Told(progress))


def _said(options: Mapping[str, Any]) -> Mapping[str, Any]:
    """The options that the command has."""
    return {name: value for name, value in options.items() if name != "progress"}
