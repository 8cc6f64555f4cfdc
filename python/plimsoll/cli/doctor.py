"""``plimsoll doctor``: what on this host would make numbers wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict

import click

from plimsoll.cli import completions
from plimsoll.cli.screen import terminal_width
from plimsoll.defaults import FILE, STORE, defaults
from plimsoll.displayed import as_document, quoted
from plimsoll.doctor import Check, diagnose, examine
from plimsoll.engine import block as block_engine
from plimsoll.errors import InputError
from plimsoll.reports.terminal.screen import folded

_MARKS = {"ok": "✓", "warn": "!", "fail": "✗", "unknown": "?"}


@click.command(short_help="Check this host for anything that would distort results.")
@click.option(
    "-t",
    "--target",
    metavar="TARGET",
    shell_complete=completions.targets,
    help="Look at this target as well; of a directory, at its file system.",
)
@click.option("--calibrate", is_flag=True, help="Measure Plimsoll's own cost per I/O instead, and remember it for every later result.")
@click.option("--seconds", type=click.FloatRange(0.05, 600), help="How long --calibrate takes in all. [default: 3]")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(target: str | None, calibrate: bool, seconds: float | None, as_json: bool) -> int:
    """Check this host, and TARGET if given, for anything that would distort results, with advice for each finding.

    Exit code 4: a check failed, so measuring would be pointless.
    """
    if calibrate:
        if target is not None:
            raise InputError("--calibrate: Plimsoll's own cost is measured without storage; leave --target out.")
        from plimsoll.cli import own_cost

        own_cost.calibrate(3.0 if seconds is None else seconds, as_json=as_json)
        return 0
    if seconds is not None:
        raise InputError("--seconds is how long --calibrate takes; add --calibrate, or leave it out.")
    checks = [*diagnose(examine(block_engine.native(), None if target is None else defaults().meant(target))), _project()]
    if as_json:
        click.echo(as_document([asdict(check) for check in checks]))
    else:
        click.echo("\n".join(_lines(checks)))
    return 4 if any(check.status == "fail" for check in checks) else 0


def _project() -> Check:
    """Which plimsoll.toml holds here."""
    found = defaults()
    if found.path is None:
        return Check("defaults", "ok", f"There is no {FILE} here or above: runs are kept in {quoted(STORE)}.")
    named = ", ".join(found.targets)
    said = [
        f"store {quoted(found.store)}",
        *([f"label {quoted(found.label)}"] if found.label else []),
        *([f"targets {named}"] if named else []),
    ]
    return Check("defaults", "ok", f"{found.path} holds here: {', '.join(said)}.")


def _lines(checks: Sequence[Check]) -> Iterator[str]:
    width = max(len(check.name) for check in checks)
    indent, here = " " * (width + 4), terminal_width()
    for check in checks:
        head = f"{_MARKS[check.status]} {check.name.ljust(width)}  "
        yield from folded(check.finding, here, head, indent)
        if check.advice:
            yield from folded(f"→ {check.advice}", here, indent, f"{indent}  ")
    worst = [check.status for check in checks]
    yield ""
    yield ", ".join(
        [
            f"{worst.count('ok')} ok",
            _counted(worst.count("warn"), "warning"),
            _counted(worst.count("fail"), "error"),
            f"{worst.count('unknown')} unknown",
        ]
    )


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
