"""``plimsoll check``: what a target can do and what it carries, in about three minutes and one sentence.

Model: first what `doctor` minds, then the run of `plimsoll.points.check`, its table and report as of every run, and the answer last, where
the eye is. JSON has the answer first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from plimsoll.cli import completions
from plimsoll.cli.options import LoadCommand, named, takes
from plimsoll.cli.screen import terminal_width
from plimsoll.reports.terminal.screen import folded

if TYPE_CHECKING:
    from plimsoll.analysis.check.answer import CheckView, DoubtView
    from plimsoll.doctor import Check


@click.command(cls=LoadCommand, short_help="Find out what a target can do and what load it carries.")
@click.argument("target", metavar="[TARGET...]", nargs=-1, callback=named, shell_complete=completions.targets)
@click.option("--quick", is_flag=True, help="A first impression in less than a minute.")
@takes("objective", "asserts", "targets", "duration", "warmup", "size")
@takes("out", "label", "prices", "report_path", "opens", "live", "otlp", "dry_run", "keep", "destroy_data", "fresh")
@takes("hosts", "share", "quiet", "as_json")
def command(target: tuple[str, ...], targets: tuple[str, ...], **typed: Any) -> int:
    """Look at this host, measure the four corners of TARGET (reads and writes, at random and in sequence), raise an OLTP load until its
    mean passes 5 ms (20 ms on disks that rotate), and say in one sentence what the target carries. It takes about three minutes.

    TARGET is a file, a device, array:NAME or any other target; of a directory, a scratch file in it. Without one, it is a scratch file
    here. A device or a file of yours is only read, unless --destroy-data permits writing.

    \b
    plimsoll check /dev/sdb
    plimsoll check /mnt/array --quick
    plimsoll check array:msa2000-raid5 array:msa2000-raid6
    plimsoll check /dev/sdb --objective 'p99 <= 10ms' --assert
    """
    return _checked((*target, *targets), typed)


def _checked(targets: tuple[str, ...], typed: dict[str, Any]) -> int:
    from plimsoll.cli.experiment import DisplayArguments, Ending, carried_out
    from plimsoll.points.check import answers
    from plimsoll.points.execution import Run
    from plimsoll.points.foreign import bare_targets

    diagnosis: list[Check] = []

    def diagnose() -> None:
        diagnosis.extend(_diagnosed(bare_targets(targets) or (None,)))
        if not DisplayArguments.of(typed).quiet:
            click.echo("\n".join(_minded(diagnosis)), err=True)

    def document(run: Run) -> CheckView:
        found = [one.to_json() for one in answers(run)]
        several = len(found) != 1
        return {
            "answer": " ".join(one["answer"] for one in found),
            "mark": None if several else found[0]["mark"],
            "doubts": _distinct([doubt for one in found for doubt in one["doubts"]]),
            "targets": found,
            "doctor": [{"name": one.name, "status": one.status, "finding": one.finding, "advice": one.advice} for one in diagnosis],
        }

    def ending(run: Run) -> str:
        from plimsoll.cli.screen import screen

        here = screen()
        return "\n".join(here.wrapped(here.paint(one.sentence, "strong")) for one in answers(run))

    told = Ending(ending, lambda run: {**document(run)}, diagnose, looks=False)
    return carried_out("check", (), {**typed, "targets": targets}, told)


def _distinct(doubts: Sequence[DoubtView]) -> list[DoubtView]:
    """Each doubt of several targets once."""
    return list({doubt["name"]: doubt for doubt in reversed(doubts)}.values())[::-1]


def _diagnosed(targets: Sequence[str | None]) -> list[Check]:
    """What `doctor` says of this host and of each target, every finding once."""
    from plimsoll.doctor import diagnose, examine
    from plimsoll.engine import block as block_engine

    found = [check for target in targets for check in diagnose(examine(block_engine.native(), target))]
    return list(dict.fromkeys(found))


def _minded(diagnosis: Sequence[Check]) -> list[str]:
    minded = [check for check in diagnosis if check.status in ("warn", "fail")]
    here = terminal_width()
    lines = [line for check in minded for line in folded(check.finding, here, "✗ " if check.status == "fail" else "! ", "  ")]
    return [f"doctor: {len(diagnosis) - len(minded)} of {len(diagnosis)} checks are ok", *lines]
