"""``plimsoll size``: which stored load lines carry a demand, and how many disks it needs."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from plimsoll.cli import completions
from plimsoll.cli.options import LoadCommand, takes
from plimsoll.cli.screen import screen
from plimsoll.displayed import as_document

if TYPE_CHECKING:
    from plimsoll.points.sizing import SizingAnswer
    from plimsoll.points.sizing_arguments import SizingArguments
    from plimsoll.reports.terminal.screen import Screen

#: Exit code of ``--assert`` when nothing carries the demand.
EXIT_NOT_CARRIED = 1
#: Options that say what is demanded, as they are typed again.
_DEMANDED = (
    *("iops", "read_percent", "block_size", "random_percent", "from_file", "device", "percentile", "mailboxes", "profile", "growth"),
    "objective",
)


@click.command(cls=LoadCommand, short_help="Find storage that carries a demand: stored load lines, targets or modelled arrays.")
@click.argument("runs", metavar="[RUN]...", nargs=-1, shell_complete=completions.runs)
@click.option("--iops", metavar="RATE", help="Requests per second demanded, e.g. 5000 or 5k.")
@click.option("--read-percent", metavar="P", help="Reads of these in percent.")
@click.option("--block-size", metavar="SIZE", help="Mean size of a request, e.g. 8KiB.")
@click.option("--random-percent", metavar="P", help="Requests at random places, in percent. [default: 100]")
@click.option("--from", "from_file", metavar="FILE", help="Take the demand from what 'plimsoll watch' kept; - reads stdin.")
@click.option("--device", metavar="NAME", help="Which device of that file, when it holds several.")
@click.option("--percentile", metavar="P", help="Rates that this part of its intervals did not exceed. [default: 95]")
@click.option("--mailboxes", metavar="N", type=click.IntRange(min=1), help="Take the demand of so many mailboxes.")
@click.option("--profile", metavar="NAME", help="Their version and kind, e.g. exchange-2010:100 or exchange-2003:heavy.")
@click.option("--growth", metavar="P", help="Room for growth or peaks, e.g. 20%; multiplies rates.")
@click.option(
    "--objective", metavar="TEXT", shell_complete=completions.objectives, help='What response the load must keep, e.g. "read mean <= 20ms".'
)
@click.option("--raid", metavar="LEVEL", help="Compute disks of this RAID level as well: 0, 1, 10, 5, 50, 6, 60.")
@click.option("--disk-iops", metavar="RATE", help="Random IOPS of one disk, or 7.2k-sata, 10k-sata, 10k-scsi, 15k, 15k-fc.")
@click.option("--disks", metavar="N", type=click.IntRange(min=1), help="Disks in groups, of each array. [default: as needed]")
@click.option("--disk-size", metavar="SIZE", help="Capacity of one disk, e.g. 600GB.")
@click.option("--groups", metavar="N", type=click.IntRange(min=1), help="Equal groups the disks of an array make.")
@click.option("--spares", metavar="N", type=click.IntRange(min=0), help="Global spares of each array, on top of --disks.")
@click.option("--dedicated-spares", metavar="N", type=click.IntRange(min=0), help="Spares of each group, on top of --disks.")
@click.option(
    "--arrays",
    metavar="N|PATTERN",
    help="With --raid, how many equal arrays. [default: 1] A name such as 'msa2000-*' measures shipped modelled arrays.",
)
@click.option("--mirror-arrays", is_flag=True, default=None, help="Arrays hold copies of each other, in pairs.")
@click.option("--volumes", metavar="N", type=click.IntRange(min=1), help="Show the size of so many equal volumes.")
@click.option("--price", metavar="AMOUNT", help="Price of what was measured, or of the disks; shown per IOPS and per GB.")
@click.option("--measure", is_flag=True, help="Measure what each --target carries of the demand, instead of looking at stored lines.")
@click.option("--assert", "asserted", is_flag=True, help="Exit with 1 when no load line carries the demand.")
@takes("targets", "duration", "warmup", "size", "out", "dry_run", "keep", "destroy_data", "fresh", "quiet", "as_json")
def command(**typed: Any) -> int:
    """Say which load lines carry a demand, with what headroom: those of each RUN, or of all runs in DIR.

    The demand is typed (--iops, --read-percent, --block-size), observed (--from) or that of mailboxes. The headroom
    is the line's mark under the objective over the demand, growth included. Lines with another mix (by more than
    10 points), size (a factor of 2) or randomness (20 points) are refused: that would be extrapolation.

    --measure raises the rate of the demand on each --target until the objective fails; --arrays does so on modelled arrays, in
    virtual time. --raid computes disks from their data sheet instead of measuring: write penalty, usable capacity, spares.

    \b
    plimsoll size --iops 5k --read-percent 70 --block-size 8k --objective "mean <= 20ms" --growth 20%
    plimsoll size --from demand.json --percentile 99 --objective "p99 <= 10ms" --assert
    plimsoll size --from demand.json --objective "p99 <= 10ms" --measure -t /dev/sdb
    plimsoll size --from demand.json --objective "p99 <= 10ms" --arrays 'msa2000-*'
    plimsoll size --mailboxes 5000 --profile exchange-2010:100 --raid 5 --disk-iops 180
    plimsoll size --raid 6 --disks 48 --groups 4 --spares 1 --arrays 4 --disk-size 146GB --volumes 16
    """
    from plimsoll.cli.experiment import DisplayArguments, announced, show_plan
    from plimsoll.cli.progress import listener
    from plimsoll.points.sizing import sizing_of
    from plimsoll.points.sizing_arguments import SizingArguments
    from plimsoll.verbs.sizing import answered, preview_of_sizing

    shown = DisplayArguments.of(typed)
    sizing, heard = sizing_of(SizingArguments.of(typed)), listener(quiet=shown.quiet)
    if shown.dry_run and (ahead := preview_of_sizing(sizing, heard)) is not None:
        return show_plan(ahead, typed, as_json=shown.as_json)
    answer = answered(sizing, announced(heard, quiet=shown.quiet))
    _show(answer, sizing.arguments, as_json=shown.as_json)
    if answer.exit_code:
        return answer.exit_code
    return EXIT_NOT_CARRIED if sizing.arguments.asserted and not answer.carried else 0


def _show(answer: SizingAnswer, arguments: SizingArguments, *, as_json: bool) -> None:
    if as_json:
        click.echo(as_document({**answer.to_json(), **_of_run(answer)}))
        return
    here = screen()
    click.echo("\n".join([*_folded(_text(answer, here), here), *_next(answer, arguments)]))


def _next(answer: SizingAnswer, arguments: SizingArguments) -> Iterator[str]:
    """What to do where no stored line could answer, and where the measured ones are."""
    if answer.path is not None:
        yield from ("", f"results  {answer.path}")
    elif answer.demand is not None and all(fit.refused is not None for fit in answer.fits):
        yield from ("", *_next_commands(arguments))


def _next_commands(arguments: SizingArguments) -> Iterator[str]:
    """How a line that fits the demand is measured, on the targets that were named or on any."""
    from plimsoll.points.sizing_arguments import spelt

    values = asdict(arguments)
    typed = [f"{spelt(name)} {shlex.quote(str(values[name]))}" for name in _DEMANDED if values[name] is not None]
    again = " ".join(["plimsoll size", *typed])
    targets = " ".join(f"-t {shlex.quote(target)}" for target in arguments.targets) or "-t TARGET"
    yield "Measure one that fits:"
    yield f"  {again} --measure {targets}"
    yield "or see which modelled arrays carry it ('plimsoll list --arrays' names them):"
    yield f"  {again} --arrays 'msa2000-*'"
    if arguments.from_file not in (None, "-"):
        yield "As a workload of its own, for any other experiment:"
        device = f" --device {shlex.quote(arguments.device)}" if arguments.device else ""
        yield f"  plimsoll fit {shlex.quote(str(arguments.from_file))}{device} -o demand.toml"


def _of_run(answer: SizingAnswer) -> dict[str, Any]:
    """What JSON says of a run that was measured for it."""
    if answer.path is None or answer.demand is None:
        return {}
    from plimsoll.reports.terminal.demand import measured_answer

    return {"answer": measured_answer(answer.fits, answer.demand), "results": answer.path}


def _folded(texts: Iterable[str], here: Screen) -> Iterator[str]:
    """Each text at the width of the screen, what follows its first line below what is said; tables are folded already."""
    for text in texts:
        label = re.match(r" *[a-z]+ {2,}", text)
        begin = len(label[0]) if label else len(text) - len(text.lstrip()) + 2
        yield text if "\n" in text else here.wrapped(text, rest=" " * begin)


def _text(answer: SizingAnswer, here: Screen) -> Iterator[str]:
    from plimsoll.reports.terminal.demand import (
        demand_lines,
        fits_lines,
        fits_table,
        mailbox_lines,
        measured_answer,
        measured_lines,
        spindles_lines,
    )

    if answer.demand is not None:
        if answer.path is not None:
            yield from (measured_answer(answer.fits, answer.demand), "")
        yield from demand_lines(answer.demand, answer.objective)
        yield ""
        if answer.path is not None:
            yield from measured_lines(answer.fits, here)
            yield from mailbox_lines(answer.fits, answer.demand)
        elif any(fit.refused is None for fit in answer.fits):
            yield fits_table(answer.fits, answer.price, here)
            yield ""
        if answer.path is None:
            yield from fits_lines(answer.fits)
            yield from mailbox_lines(answer.fits, answer.demand)
    if answer.spindles is not None:
        if answer.demand is not None:
            yield ""
        yield from spindles_lines(answer.spindles, answer.demand)
