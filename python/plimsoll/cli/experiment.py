"""What every verb that measures does with its words: call the function of `plimsoll.verbs.measurement`, show, and say with the exit code
how it ended.

Model: the function decides; a command has its words and options, a listener that prints, and what is said of the run. What measures is
imported once something is measured, so that the help of a verb does not wait for it.

    carried_out("ramp", ("oltp-db",), typed)
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Self

import click

from plimsoll.errors import EXIT_OBJECTIVE_FAILED, InputError
from plimsoll.records import dataclass

if TYPE_CHECKING:
    from plimsoll.monitor.others import Others
    from plimsoll.points.execution import Run
    from plimsoll.points.listener import Listener
    from plimsoll.points.preview import Preview
    from plimsoll.uncertainty.figures import Plan

Typed = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class DisplayArguments:
    """What was typed on showing a run: none of it changes what is measured."""

    quiet: bool = False
    as_json: bool = False
    dry_run: bool = False
    asserts: bool = False
    report_path: str | None = None
    opens: bool = False
    live: bool = False
    otlp: str | None = None
    draws: Plan | None = None

    @classmethod
    def of(cls, options: Typed) -> Self:
        """From options by their names."""
        names = {one.name for one in fields(cls)}
        return cls(**{name: value for name, value in options.items() if name in names})


#: Options of a command that its function has not.
_ONLY_SHOWN = frozenset(one.name for one in fields(DisplayArguments))


@dataclass(frozen=True)
class Ending:
    """What a verb says of a run besides: the text that closes what is shown, what stands first in the JSON document, and what is done once
    everything is found right."""

    ending: Callable[[Run], str] = lambda _: ""
    document: Callable[[Run], dict[str, Any]] = lambda _: {}
    checked: Callable[[], None] = lambda: None
    #: Whether to look at the host before: a verb that asks the doctor has looked.
    looks: bool = True


def carried_out(verb: str, words: Sequence[str], typed: Typed, told: Ending | None = None) -> int:
    """Call the function ``verb`` with what was typed, show what came of it, and return the exit code."""
    from plimsoll.cli.progress import listener
    from plimsoll.verbs import measurement

    told, shown = told or Ending(), DisplayArguments.of(typed)
    _check_report(shown)
    heard = replace(listener(quiet=shown.quiet), others=_others() if told.looks and not shown.quiet else None)
    options = {name: value for name, value in typed.items() if value is not None and name not in _ONLY_SHOWN}
    if shown.dry_run:
        ahead = measurement.preview(verb, *words, listener=heard, **options)
        _check_asserts(ahead, shown)
        return show_plan(ahead, typed, as_json=shown.as_json)
    with _accompanied(replace(heard, planned=_planned(told, shown)), shown) as accompanied:
        run: Run = getattr(measurement, verb)(*words, listener=accompanied, **options)
    _show(run, shown, told)
    if not shown.asserts or run.exit_code or run.holds():
        return run.exit_code
    for sentence in (*run.missed(), *run.unknown()):
        click.echo(f"plimsoll: {sentence}", err=True)
    return EXIT_OBJECTIVE_FAILED


@contextmanager
def _accompanied(heard: Listener, shown: DisplayArguments) -> Iterator[Listener]:
    """The listener; with ``--live`` or ``--otlp`` a process beside the run is started when that begins."""
    if not shown.live and shown.otlp is None:
        yield heard
        return
    from plimsoll.cli.companion import Beside, beside

    asked = Beside(shown.live, shown.otlp)
    asked.check()
    with beside(asked) as begun:
        yield replace(heard, begun=begun)


def _others() -> Others:
    """The count from the beginning of the command on."""
    from plimsoll.monitor.moment import Moment
    from plimsoll.monitor.others import Others

    return Others(click.get_current_context().find_object(Moment))


def show_plan(ahead: Preview, typed: Typed, *, as_json: bool) -> int:
    """Show what would be done."""
    from plimsoll.cli.preview import show_preview
    from plimsoll.points.arguments import Arguments

    arguments = Arguments.of(typed)
    show_preview(ahead, os.path.join(arguments.out, f"<time>_{ahead.name}"), keep=arguments.keep, as_json=as_json)
    return 0


def announced(heard: Listener, *, quiet: bool) -> Listener:
    """A listener that says the planned time before anything is measured."""
    return replace(heard, planned=_planned(Ending(), DisplayArguments(quiet=quiet)))


def _planned(told: Ending, shown: DisplayArguments) -> Callable[[Preview], None]:
    """What is done once all that is known in advance was found right, before anything is touched."""

    def planned(ahead: Preview) -> None:
        _check_asserts(ahead, shown)
        if not shown.quiet:
            click.echo(f"plan: {ahead.sentence()}", err=True)
        told.checked()

    return planned


def _check_asserts(ahead: Preview, shown: DisplayArguments) -> None:
    if shown.asserts and not ahead.objectives:
        raise InputError("--assert: there is no objective that could hold; give one, for example --objective 'p99 <= 5ms'.")


def _check_report(shown: DisplayArguments) -> None:
    """Refuse before anything is measured a report that could not be written or shown afterwards."""
    if shown.report_path is not None:
        from plimsoll.cli.report import checked_format

        if checked_format(shown.report_path) != ".html" and shown.opens:
            raise InputError(f"--open shows a page, and {shown.report_path} is none; name a .html file, or leave --open out.")


def _draws(arguments: DisplayArguments) -> Plan | None:
    """What is drawn of modelled arrays before the run is shown: what was asked for, and what a report that was asked for is worth."""
    from plimsoll.uncertainty.figures import affordable

    return affordable() if arguments.draws is None and (arguments.opens or arguments.report_path is not None) else arguments.draws


def _show(run: Run, arguments: DisplayArguments, told: Ending) -> None:
    from plimsoll.analysis.objective.judgement import parse_objective
    from plimsoll.cli.run_summary import Shown, show
    from plimsoll.experiments.kinds import KINDS_BY_NAME

    first = run.experiments[0]
    # Of points as they stand, each says for itself whether it kept the objective.
    plain = run.origin is None and KINDS_BY_NAME[first.kind].as_it_stands
    shown = Shown(
        as_json=arguments.as_json,
        opens=arguments.opens,
        report_path=arguments.report_path,
        draws=_draws(arguments),
        objective=parse_objective(first.objective) if plain and first.objective else None,
        experiments=[experiment.to_json() for experiment in run.experiments],
        concludes=not plain,
        ending=told.ending(run),
        first=told.document(run) if arguments.as_json else {},
    )
    show(run.outcome, run.path, shown)
