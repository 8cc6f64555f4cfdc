"""``plimsoll size``: which stored load lines carry a demand, and how many disks it needs."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from plimsoll.cli import completions
from plimsoll.cli.options import LoadCommand, takes
from plimsoll.cli.size_measured import measured, measured_targets, next_commands
from plimsoll.displayed import as_document, quoted
from plimsoll.errors import InputError, PlimsollError, StoreError

if TYPE_CHECKING:
    from plimsoll.analysis.sizing.demand import Demand
    from plimsoll.analysis.sizing.spindles import Disks, Spindles
    from plimsoll.analysis.sizing.stored_lines import Fit
    from plimsoll.result import Result

Json = dict[str, Any]

SCHEMA = "plimsoll.sizing/1"
#: Exit code of ``--assert`` when nothing carries the demand.
EXIT_NOT_CARRIED = 1
#: Options that only mean something beside another one.
_NEEDS = {
    "device": "from_file",
    "percentile": "from_file",
    "profile": "mailboxes",
    "disk_iops": "raid",
    "disks": "raid",
    "disk_size": "raid",
    "groups": "raid",
    "spares": "raid",
    "dedicated_spares": "raid",
    "arrays": "raid",
    "mirror_arrays": "raid",
    "volumes": "raid",
}
#: Rates of an observed demand that this part of its intervals did not exceed, unless typed.
PERCENTILE = 95
_SPELT = {"from_file": "--from"}


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
@click.option("--objective", metavar="TEXT", help='What response the load must keep, e.g. "read mean <= 20ms".')
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
    typed = _arrays_told_apart(typed)
    _check_company(typed)
    demand, disks = _demand(typed), _disks(typed)
    if demand is None and disks is None:
        raise InputError("nothing is asked; give a demand with --iops, --from or --mailboxes, or have disks computed with --raid.")
    if typed["asserted"] and demand is None:
        raise InputError("--assert: there is no demand to carry; give one with --iops, --from or --mailboxes.")
    targets = measured_targets(typed)
    answer = _measured(demand, disks, typed, targets) if demand is not None and targets else _answered(demand, disks, typed)
    if answer is None:
        return 0
    if typed["as_json"]:
        click.echo(as_document(_document(answer)))
    else:
        click.echo("\n".join([*_text(answer), *_next(answer, typed)]))
    if answer.exit_code:
        return answer.exit_code
    carried = any(fit.carries for fit in answer.fits)
    return EXIT_NOT_CARRIED if typed["asserted"] and not carried else 0


@dataclass(frozen=True)
class _Answer:
    """Everything that is shown."""

    demand: Demand | None
    objective: str | None
    fits: list[Fit]
    spindles: Spindles | None
    price: float | None
    #: Of the run that was measured for it.
    exit_code: int = 0
    path: str | None = None


def _measured(demand: Demand, disks: Disks | None, typed: Json, targets: list[str]) -> _Answer | None:
    """What the targets carry, measured now; None when only the plan was shown."""
    from plimsoll.analysis.objective.judgement import parse_objective
    from plimsoll.analysis.sizing.spindles import spindles
    from plimsoll.analysis.sizing.stored_lines import size_lines
    from plimsoll.points.demand import KEPT_UP

    run = measured(demand, targets, typed)
    if run is None:
        return None
    objective = parse_objective(typed["objective"] or KEPT_UP)
    fits = size_lines({os.path.basename(run.path): run.results}, demand, objective)
    computed = None if disks is None else spindles(disks, demand)
    return _Answer(demand, objective.text, fits, computed, _price(typed), run.exit_code, run.path)


def _next(answer: _Answer, typed: Json) -> Iterator[str]:
    """What to do where no stored line could answer, and where the measured ones are."""
    if answer.path is not None:
        yield from ("", f"results  {answer.path}")
    elif answer.demand is not None and all(fit.refused is not None for fit in answer.fits):
        yield from ("", *next_commands(typed))


def _answered(demand: Demand | None, disks: Disks | None, typed: Json) -> _Answer:
    from plimsoll.analysis.objective.judgement import parse_objective
    from plimsoll.analysis.sizing.spindles import spindles
    from plimsoll.analysis.sizing.stored_lines import size_lines

    objective = None if typed["objective"] is None else parse_objective(typed["objective"])
    computed = None if disks is None else spindles(disks, demand)
    fits = [] if demand is None else size_lines(_results(typed["runs"], typed["out"]), demand, objective)
    return _Answer(demand, None if objective is None else objective.text, fits, computed, _price(typed))


def _arrays_told_apart(typed: Json) -> Json:
    """``--arrays`` as a number of arrays, or as a pattern of their names."""
    text = typed["arrays"]
    if text is None or not text.strip().lstrip("-").isdecimal():
        return {**typed, "arrays": None, "array_pattern": text}
    if int(text) < 1:
        raise InputError(f"--arrays {text}: give how many equal arrays there are, 1 or more, or a name such as 'msa2000-*'.")
    return {**typed, "arrays": int(text), "array_pattern": None}


def _check_company(typed: Json) -> None:
    """Refuse options that would be ignored."""
    sources = [name for name in ("iops", "from_file", "mailboxes") if typed[name] is not None]
    if len(sources) > 1:
        raise InputError(f"{' and '.join(map(_spelt, sources))}: a demand has one source; give one of them.")
    for name, other in _NEEDS.items():
        if typed[name] is not None and typed[other] is None:
            raise InputError(f"{_spelt(name)} means something only with {_spelt(other)}; give that as well, or leave it out.")
    if typed["mailboxes"] is not None and typed["profile"] is None:
        raise InputError("--mailboxes: of which kind? Give --profile, for example --profile exchange-2010:100.")
    for name in ("read_percent", "block_size", "random_percent", "growth", "objective"):
        if typed[name] is not None and not sources:
            raise InputError(f"{_spelt(name)} describes a demand, and there is none; give --iops, --from or --mailboxes.")
    if (typed["measure"] or typed["array_pattern"] is not None) and not sources:
        option = "--measure" if typed["measure"] else "--arrays"
        raise InputError(f"{option}: there is no demand to measure; give one with --iops, --from or --mailboxes.")
    if typed["runs"] and not sources:
        raise InputError(f"{typed['runs'][0]}: there is no demand to hold it against; give one with --iops, --from or --mailboxes.")


def _demand(typed: Json) -> Demand | None:
    """The demand from its source, with what was typed over it and growth."""
    from plimsoll.points.quantity import block_bytes, percent

    source = _sourced(typed)
    if source is None:
        return None
    if typed["read_percent"] is not None:
        source = replace(source, read_percent=percent("--read-percent", typed["read_percent"]))
    if typed["block_size"] is not None:
        size = float(block_bytes("--block-size", typed["block_size"]))
        source = replace(source, block_bytes=size, bytes_per_s=source.iops * size, read_bytes=None, write_bytes=None)
    if typed["random_percent"] is not None:
        source = replace(source, random_percent=percent("--random-percent", typed["random_percent"]))
    if typed["growth"] is not None:
        source = replace(source, growth_percent=percent("--growth", typed["growth"]))
    return source


def _sourced(typed: Json) -> Demand | None:
    if typed["from_file"] is not None:
        return observed_demand(typed["from_file"], typed["device"], typed["percentile"] or str(PERCENTILE))
    if typed["mailboxes"] is not None:
        return _of_mailboxes(typed["mailboxes"], typed["profile"])
    return None if typed["iops"] is None else _typed_demand(typed)


def _typed_demand(typed: Json) -> Demand:
    from plimsoll.analysis.sizing.demand import Demand
    from plimsoll.points.quantity import block_bytes, percent, rate_per_s

    iops = rate_per_s("--iops", typed["iops"])
    for name, example in (("read_percent", "70"), ("block_size", "8KiB")):
        if typed[name] is None:
            raise InputError(f"--iops: a rate alone is no demand; add {_spelt(name)}, for example {_spelt(name)} {example}.")
    size = float(block_bytes("--block-size", typed["block_size"]))
    return Demand(iops, iops * size, percent("--read-percent", typed["read_percent"]), size)


def _of_mailboxes(mailboxes: int, name: str) -> Demand:
    from plimsoll.analysis.sizing.demand import Demand, mailbox_profile
    from plimsoll.units import count

    profile = mailbox_profile(name)
    iops = profile.database_iops(mailboxes)
    log = profile.log_writes_per_s(mailboxes)
    logs = () if log is None else (f"the log volume takes about {count(log)} sequential writes/s more, which are not part of this demand",)
    return Demand(
        iops=iops,
        bytes_per_s=iops * profile.block_bytes,
        read_percent=profile.read_percent,
        block_bytes=profile.block_bytes,
        source=f"{mailboxes:,} mailboxes {profile.name}: {profile.iops:g} IOPS each, {profile.messages} ({profile.source})",
        notes=(*profile.notes, *logs),
    )


def observed_demand(path: str, wanted: str | None, percentile: str) -> Demand:
    """The demand of a device in a file that ``plimsoll watch`` wrote, at a percentile of its intervals."""
    from plimsoll.analysis.sizing.demand import demand_at, observed_devices
    from plimsoll.points.quantity import percent

    devices = {observed.name: observed for observed in observed_devices(_read(path), path)}
    if wanted is None and len(devices) == 1:
        wanted = next(iter(devices))
    if not devices:
        raise InputError(f"{path}: it holds no device; watch again.")
    if wanted is None:
        raise InputError(f"{path}: it holds {', '.join(devices)}; say which with --device.")
    if wanted not in devices:
        raise InputError(f"--device {wanted}: {path} does not hold it; it holds {', '.join(devices)}.")
    return demand_at(devices[wanted], percent("--percentile", percentile))


def _read(path: str) -> Any:
    try:
        if path == "-":
            return json.load(sys.stdin)
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except OSError as problem:
        raise InputError(f"{path}: cannot be read ({str(problem.strerror).lower()}); 'plimsoll watch -o FILE' makes one.") from None
    except (ValueError, RecursionError):
        raise InputError(f"{path}: not JSON; give a file that 'plimsoll watch -o FILE' made.") from None


def _disks(typed: Json) -> Disks | None:
    if typed["raid"] is None:
        return None
    from plimsoll.analysis.sizing.raid import named_disk_iops, raid_level
    from plimsoll.analysis.sizing.spindles import Disks
    from plimsoll.points.quantity import size_bytes

    return Disks(
        level=raid_level(typed["raid"]),
        disk_iops=None if typed["disk_iops"] is None else named_disk_iops(typed["disk_iops"]),
        disk_bytes=None if typed["disk_size"] is None else float(size_bytes("--disk-size", typed["disk_size"])),
        disks=typed["disks"],
        groups=typed["groups"],
        dedicated_spares=typed["dedicated_spares"] or 0,
        global_spares=typed["spares"] or 0,
        arrays=typed["arrays"] or 1,
        mirrored=bool(typed["mirror_arrays"]),
        volumes=typed["volumes"],
        price=_price(typed),
    )


def _price(typed: Json) -> float | None:
    if typed["price"] is None:
        return None
    try:
        value = float(typed["price"].replace(",", ""))
    except ValueError:
        value = 0.0
    if not 0 < value < math.inf:
        raise InputError(f"--price: {quoted(typed['price'])} is not an amount; write a number above 0, for example 42000.")
    return value


def _results(names: tuple[str, ...], out: str) -> dict[str, list[Result]]:
    """The results of the runs named, or of all; what cannot be read is said and left out, unless it was named."""
    from plimsoll.store.reader import DamagedRun, StoredRun, list_runs, open_runs

    results: dict[str, list[Result]] = {}
    runs: list[StoredRun | DamagedRun] = [*open_runs(names, out)] if names else list_runs(out)
    for run in runs:
        if isinstance(run, DamagedRun):
            click.echo(f"left out: {run.problem}", err=True)
            continue
        found = results.setdefault(run.name if run.name not in results else run.path, [])
        try:
            points = run.points
        except StoreError as problem:
            click.echo(f"left out: {problem}", err=True)
            continue
        for point in points:
            try:
                found.append(point.result)
            except PlimsollError as problem:
                click.echo(f"left out: {problem}", err=True)
    return results


def _document(answer: _Answer) -> Json:
    demand = answer.demand
    return {
        "schema": SCHEMA,
        "demand": None if demand is None else demand.to_json(),
        "objective": answer.objective,
        "price": answer.price,
        "carried": any(fit.carries for fit in answer.fits),
        "lines": [] if demand is None else [{**fit.to_json(demand), **_priced(fit, answer.price)} for fit in answer.fits],
        "raid": None if answer.spindles is None else answer.spindles.to_json(),
        **_of_run(answer),
    }


def _of_run(answer: _Answer) -> Json:
    """What JSON says of a run that was measured for it."""
    if answer.path is None or answer.demand is None:
        return {}
    from plimsoll.reports.terminal.demand import measured_answer

    return {"answer": measured_answer(answer.fits, answer.demand), "results": answer.path}


def _priced(fit: Fit, price: float | None) -> Json:
    from plimsoll.analysis.sizing.spindles import per_iops

    known = price is not None and fit.mark is not None and fit.refused is None
    return {"price_per_iops": per_iops(price, fit.mark.iops) if known and price and fit.mark else None}


def _text(answer: _Answer) -> Iterator[str]:
    from plimsoll.reports.terminal.demand import demand_lines, fits_lines, fits_table, measured_answer, measured_lines, spindles_lines

    if answer.demand is not None:
        if answer.path is not None:
            yield from (measured_answer(answer.fits, answer.demand), "")
        yield from demand_lines(answer.demand, answer.objective)
        yield ""
        if answer.path is not None:
            yield from measured_lines(answer.fits)
        elif any(fit.refused is None for fit in answer.fits):
            yield fits_table(answer.fits, answer.price)
            yield ""
        if answer.path is None:
            yield from fits_lines(answer.fits)
    if answer.spindles is not None:
        if answer.demand is not None:
            yield ""
        yield from spindles_lines(answer.spindles, answer.demand)


def _spelt(name: str) -> str:
    return _SPELT.get(name, f"--{name.replace('_', '-')}")
