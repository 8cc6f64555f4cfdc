"""``plimsoll reproduce``: the claims of published reports, tested on modelled arrays."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from plimsoll.cli.screen import screen
from plimsoll.cli.streams import bare
from plimsoll.displayed import as_document
from plimsoll.errors import EXIT_POINT_FAILED, InputError

if TYPE_CHECKING:
    from plimsoll.analysis.reproduction import Reproduction
    from plimsoll.reproduction.bench import OnDone, Readings
    from plimsoll.reproduction.chain import Chain
    from plimsoll.reproduction.readings import Reading

#: Exit code of ``--strict`` when a claim is missed.
EXIT_CLAIM_MISSED = 1


@click.command(short_help="Test the claims of published reports on modelled arrays.")
@click.argument("reports", metavar="[REPORT]...", nargs=-1)
@click.option("--claim", "numbers", metavar="N", multiple=True, help="Only these claims, e.g. 36, 36-38 or 36,41. Repeatable.")
@click.option("-j", "--jobs", metavar="N", type=click.IntRange(min=1), help="Runs at a time. [default: one per core]")
@click.option("--hosts", metavar="HOSTS", help="Run on these hosts' processors: db1,db2 over ssh, a lab's file, or local:3.")
@click.option("--products", is_flag=True, help="Published figures of arrays of today instead, and how many intervals hold them.")
@click.option("--strict", is_flag=True, help="Exit with 1 when a claim is missed, or fewer than 80 % of the intervals hold.")
@click.option("-q", "--quiet", is_flag=True, help="Show no progress.")
@click.option("--markdown", "as_markdown", is_flag=True, help="Print the table as a page in Markdown.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(**typed: Any) -> int:
    """Test what published reports claim, on modelled arrays in virtual time: published, modelled, verdict.

    REPORT is a number such as 003 or a name such as msa2000; all reports if none is given. A claim that the model misses is a
    result, not an error. Nothing is measured on this machine, and nothing is stored: equal versions give equal tables.

    \b
    plimsoll reproduce
    plimsoll reproduce 003
    plimsoll reproduce --claim 36-38 --json
    plimsoll reproduce --products
    """
    from plimsoll.engine import block as block_engine
    from plimsoll.reproduction.bench import Bench
    from plimsoll.reproduction.chain import chains
    from plimsoll.reproduction.document import document
    from plimsoll.reproduction.selection import chosen
    from plimsoll.reproduction.verdicts import Lookup, judged

    arguments = _Arguments(**typed)
    if arguments.as_json and arguments.as_markdown:
        raise InputError("--json and --markdown: each asks for another form; leave one of both out.")
    if arguments.products:
        return _products(arguments)
    claims = chosen(arguments.reports, arguments.numbers)
    engine, needed = block_engine.native(), chains(claims)
    progress = _progress(len(needed), quiet=arguments.quiet)
    if arguments.hosts is None:
        readings = Bench(engine, arguments.jobs or os.cpu_count() or 1).readings(needed, progress)
    else:
        readings = _on_hosts(arguments, arguments.hosts, needed, progress)
    shown = document([judged(claim, Lookup(readings, engine)) for claim in claims])
    if arguments.as_json:
        click.echo(as_document(shown.to_json()))
    else:
        click.echo("\n".join(_texts(shown, as_markdown=arguments.as_markdown)))
    return _exit_code(shown, failed=any(one.failure for chain in readings.values() for one in chain), strict=arguments.strict)


@dataclass(frozen=True)
class _Arguments:
    """Which claims, where they are tested, and what becomes of the verdicts."""

    reports: tuple[str, ...]
    numbers: tuple[str, ...]
    jobs: int | None
    hosts: str | None
    products: bool
    strict: bool
    quiet: bool
    as_markdown: bool
    as_json: bool


def _products(arguments: _Arguments) -> int:
    """Published figures of arrays of today beside their models."""
    from plimsoll.engine import block as block_engine
    from plimsoll.reports.terminal.products import page_text, products_text, told
    from plimsoll.reproduction.products import coverage, plan_of_draws

    if arguments.reports or arguments.numbers or arguments.hosts is not None:
        raise InputError("--products: all figures of arrays of today are worked out on this machine; leave out reports, --claim, --hosts.")
    heard = (lambda _: None) if arguments.quiet else lambda one: click.echo(told(one), err=True)
    found = coverage(block_engine.native(), plan_of_draws(arguments.jobs), heard)
    if arguments.as_json:
        click.echo(as_document(found.to_json()))
    else:
        click.echo(page_text(found) if arguments.as_markdown else products_text(found, screen()))
    return EXIT_CLAIM_MISSED if arguments.strict and not found.enough else 0


def _on_hosts(arguments: _Arguments, hosts: str, needed: list[Chain], progress: OnDone) -> Readings:
    """What hosts are for is imported where some are named."""
    from plimsoll.points.gang import host_work
    from plimsoll.reproduction.host_bench import HostBench

    if arguments.jobs is not None:
        raise InputError("--jobs: with --hosts each host runs as many at a time as it has processors; leave one of both out.")
    with host_work(hosts) as work:
        return HostBench(work, arguments.reports, arguments.numbers).readings(needed, progress)


def _texts(shown: Reproduction, *, as_markdown: bool) -> list[str]:
    from plimsoll.reports.terminal.reproduction import page_text, sums_text, table_text

    return [page_text(shown)] if as_markdown else [table_text(shown), "", sums_text(shown)]


def _progress(total: int, *, quiet: bool) -> OnDone:
    """A line per chain on stderr; on a terminal each over the one before."""
    ended = 0
    begin, end = ("\r\x1b[K", "") if sys.stderr.isatty() else ("", "\n")

    def done(chain: Chain, readings: tuple[Reading, ...]) -> None:
        nonlocal ended
        ended += 1
        if not quiet:
            last = end if ended < total else "\n"
            bare(sys.stderr).write(begin)
            sys.stderr.write(f"[{ended:>{len(str(total))}}/{total}] {_told(chain, readings)}{last}")
            sys.stderr.flush()

    return done


def _told(chain: Chain, readings: tuple[Reading, ...]) -> str:
    from plimsoll.units import megabytes

    many = f", {len(chain)} in order" if len(chain) > 1 else ""
    problem = readings[0].failure or readings[0].problem
    said = problem or f"{megabytes(readings[0].figures['bytes_per_s'])} MB/s modelled"
    return f"{chain[0].target}  {chain[0].workload}{many}  {said}"


def _exit_code(shown: Reproduction, *, failed: bool, strict: bool) -> int:
    if failed:
        return EXIT_POINT_FAILED
    return EXIT_CLAIM_MISSED if strict and any(claim.verdict == "missed" for claim in shown.claims) else 0
