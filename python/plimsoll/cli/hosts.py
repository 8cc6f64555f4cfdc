"""``plimsoll hosts``: hosts that measure together are looked at, and what they measured is collected."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from plimsoll.cli import completions
from plimsoll.displayed import as_document, displayed


@click.group(short_help="Check hosts that measure together, and collect what they measured.")
def command() -> None:
    """Look at the hosts of a gang before they measure, or bring together what they measured after their command was killed.

    docs/hosts.md explains how several hosts measure.

    \b
    plimsoll hosts check --hosts local:3
    plimsoll hosts collect latest
    """


@command.command(short_help="Check versions, clocks and everything that would distort results on every host.")
@click.option("--hosts", metavar="HOSTS", required=True, help="The hosts: db1,db2 over ssh, a lab's file, or local:3 on this machine.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def check(hosts: str, as_json: bool) -> int:
    """Bring the hosts up, compare versions and clocks, let each examine itself, and take them down again.

    Exit code 4: a check failed on some host, so measuring would be pointless.
    """
    from plimsoll.points.gang import examined

    found = examined(hosts)
    if as_json:
        click.echo(as_document(found))
    else:
        click.echo("\n".join(_lines(found)))
    return 4 if any(one["status"] == "fail" for host in found for one in host["checks"]) else 0


def _lines(found: list[dict[str, Any]]) -> Iterator[str]:
    for host in found:
        clock = host["clock"]
        yield (
            f"{host['name']}  Plimsoll {host['versions'].get('plimsoll')}, Python {host['versions'].get('python')}; clock "
            f"{clock['offset_ns'] / 1e3:+.1f} µs, known to {clock['bound_ns'] / 1e3:.1f} µs"
        )
        for one in host["checks"]:
            if one["status"] != "ok":
                yield displayed(f"  {one['status']}  {one['name']}: {one['finding']}{' → ' + one['advice'] if one['advice'] else ''}")
    counted = [one["status"] for host in found for one in host["checks"]]
    yield f"{len(found)} hosts: {counted.count('ok')} ok, {counted.count('warn')} warnings, {counted.count('fail')} errors"


@command.command(short_help="Bring together what the hosts of a run stored after its command was killed.")
@click.argument("run", metavar="RUN", shell_complete=completions.runs)
@click.option("-o", "--out", metavar="DIR", default="results", show_default=True, help="Where runs are kept.")
def collect(run: str, out: str) -> int:
    """Copy into RUN what its hosts have stored, and make the points of all of them that have ended everywhere.

    Exit code 4: a host still measures, or what it stored is not there; collect again later.

    \b
    plimsoll hosts collect latest
    """
    from plimsoll.points.gang import collected
    from plimsoll.store.reader import open_run

    stored = open_run(run, out)
    found = collected(stored, lambda sentence: click.echo(displayed(sentence), err=True))
    click.echo(f"{displayed(stored.path)}: {_counted(found.points, 'point')} of hosts copied, {found.made} made of them")
    for host in found.going_on:
        click.echo(f"{displayed(host)} still measures; collect again when it has ended", err=True)
    for host in found.missing:
        click.echo(f"{displayed(host)}: what it stored is not there", err=True)
    return 4 if found.going_on or found.missing else 0


@command.command(short_help="Print what Slurm or Kubernetes is handed before hosts of a lab can be reached there.")
@click.option("--hosts", metavar="LAB.toml", required=True, help="The file of a lab whose launcher is slurm, kubernetes or ray.")
def manifest(hosts: str) -> int:
    """Print the pods or the Ray cluster of a lab for `kubectl apply -f -`, or the line that allocates its nodes and runs the command there.

    \b
    plimsoll hosts manifest --hosts lab.toml | kubectl apply -f -
    """
    from plimsoll.lab.manifest import manifest_of
    from plimsoll.points.gang import lineup_from

    # The cluster of a lab without hosts is not there yet, so it is not asked for its nodes.
    click.echo(manifest_of(lineup_from(hosts, ask=False)), nl=False)
    return 0


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
