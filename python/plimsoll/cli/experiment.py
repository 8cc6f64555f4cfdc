"""What every verb that measures does with its words: carry out, show, and say with the exit code how it ended.

Model: what measures is imported once something is measured, so that the help of a verb does not wait for it.

    short_experiment("ramp", typed)
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Self

import click

from plimsoll.errors import EXIT_OBJECTIVE_FAILED, InputError

if TYPE_CHECKING:
    from plimsoll.monitor.others import Others
    from plimsoll.points.asked import Asked
    from plimsoll.points.listener import Listener
    from plimsoll.points.preview import Preview
    from plimsoll.points.undertaking import Run, Undertaking

Typed = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class ShowAsked:
    """What was typed on showing a run: none of it changes what is measured."""

    quiet: bool = False
    as_json: bool = False
    dry_run: bool = False
    asserts: bool = False
    report_path: str | None = None
    opens: bool = False

    @classmethod
    def of(cls, options: Typed) -> Self:
        """From options by their names."""
        names = {one.name for one in fields(cls)}
        return cls(**{name: value for name, value in options.items() if name in names})


@dataclass(frozen=True)
class Told:
    """What a verb says of a run besides: the text that closes what is shown, what stands first in the JSON document, and what is done once
    everything is found right."""

    ending: Callable[[Run], str] = lambda _: ""
    document: Callable[[Run], dict[str, Any]] = lambda _: {}
    checked: Callable[[], None] = lambda: None
    #: Whether to look at the host before: a verb that asks the doctor has looked.
    looks: bool = True


def short_experiment(kind: str, typed: Typed) -> int:
    """Measure one experiment of ``kind`` as typed, and return the exit code."""
    from plimsoll.points.asked import ExperimentAsked
    from plimsoll.points.short_document import short_undertaking

    return carried_out(lambda _: short_undertaking(kind, ExperimentAsked.of(typed)), typed)


def carried_out(undertaking: Callable[[Listener], Undertaking], typed: Typed, told: Told | None = None) -> int:
    """Measure what was typed, show what came of it, and return the exit code."""
    from plimsoll.cli.progress import listener
    from plimsoll.points.asked import Asked
    from plimsoll.points.undertaking import carry_out

    told, shown = told or Told(), ShowAsked.of(typed)
    heard = replace(listener(quiet=shown.quiet), others=_others() if told.looks and not shown.quiet else None)
    asked = undertaking(heard)
    _check_outputs(asked, shown)
    if shown.dry_run:
        return dry_run(asked, Asked.of(typed), shown, heard)
    heard = replace(heard, planned=_announced(told, quiet=shown.quiet))
    run = carry_out(asked, Asked.of(typed), heard)
    _show(run, shown, told)
    if not shown.asserts or run.exit_code or run.holds():
        return run.exit_code
    for sentence in (*run.missed(), *run.unknown()):
        click.echo(f"plimsoll: {sentence}", err=True)
    return EXIT_OBJECTIVE_FAILED


def _others() -> Others:
    """The count from the beginning of the command on."""
    from plimsoll.monitor.moment import Moment
    from plimsoll.monitor.others import Others

    return Others(click.get_current_context().find_object(Moment))


def dry_run(undertaking: Undertaking, asked: Asked, shown: ShowAsked, heard: Listener) -> int:
    """Show what would be done, with the checks of the run itself."""
    from plimsoll.cli.preview import show_preview
    from plimsoll.points.undertaking import preview_of

    found = preview_of(undertaking, asked, heard)
    show_preview(found, os.path.join(asked.out, f"<time>_{undertaking.name}"), keep=asked.keep, as_json=shown.as_json)
    return 0


def announced(heard: Listener, *, quiet: bool) -> Listener:
    """A listener that says the planned time before anything is measured."""
    return replace(heard, planned=_announced(Told(), quiet=quiet))


def _announced(told: Told, *, quiet: bool) -> Callable[[Preview], None]:
    def planned(ahead: Preview) -> None:
        if not quiet:
            click.echo(f"plan: {ahead.sentence()}", err=True)
        told.checked()

    return planned


def _check_outputs(asked: Undertaking, shown: ShowAsked) -> None:
    """Refuse before anything is measured what could not be said afterwards."""
    if shown.asserts and not asked.asks_something:
        raise InputError("--assert: there is no objective that could hold; give one, for example --objective 'p99 <= 5ms'.")
    if shown.report_path is not None:
        from plimsoll.cli.report import checked_format

        if checked_format(shown.report_path) != ".html" and shown.opens:
            raise InputError(f"--open shows a page, and {shown.report_path} is none; name a .html file, or leave --open out.")


def _show(run: Run, asked: ShowAsked, told: Told) -> None:
    from plimsoll.analysis.objective.judgement import parse_objective
    from plimsoll.cli.run_summary import Shown, show
    from plimsoll.experiments.kinds import KINDS_BY_NAME

    first = run.experiments[0]
    # Of points as they stand, each says for itself whether it kept the objective.
    plain = run.origin is None and KINDS_BY_NAME[first.kind].as_it_stands
    shown = Shown(
        as_json=asked.as_json,
        opens=asked.opens,
        report_path=asked.report_path,
        objective=parse_objective(first.objective) if plain and first.objective else None,
        experiments=[experiment.to_json() for experiment in run.experiments],
        concludes=not plain,
        ending=told.ending(run),
        first=told.document(run) if asked.as_json else {},
    )
    show(run.outcome, run.path, shown)
