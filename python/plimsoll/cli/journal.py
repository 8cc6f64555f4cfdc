"""``plimsoll journal``: keep the power-cut journal of another host."""

from __future__ import annotations

import click

from plimsoll.displayed import quoted
from plimsoll.errors import InputError

_PORT_MAX = 65535


@click.command(short_help="Keep the power-cut journal of another host.")
@click.argument("path", metavar="FILE")
@click.option("--listen", metavar="HOST:PORT", required=True, help="Where to wait for it: an address of this host; port 0 is a free one.")
def command(path: str, listen: str) -> int:
    """Write to FILE what a run on another host tells of its writes, and make it durable before that host goes on.

    The run names this host: --set verify=journal --set journal=tcp://HOST:PORT. FILE is what journal-check reads after the power
    cut. There is no password: listen where only the host under test can connect. The command ends with that run, or with Ctrl-C.

    \b
    plimsoll journal cut.journal --listen 192.168.7.1:7010
    """
    from plimsoll.journal_host import JournalHost
    from plimsoll.points.signals import handled

    host = JournalHost(path, _address(listen))
    stopped: list[bool] = []
    with handled(lambda: stopped.append(True)):
        click.echo(f"waiting on port {host.port} for a run with --set journal=tcp://HOST:{host.port}", err=True)
        kept = host.keep(lambda: bool(stopped))
    click.echo(f"{path}: {kept:,} records kept", err=True)
    return 0


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not host or not port.isascii() or not port.isdigit() or int(port) > _PORT_MAX:
        raise InputError(f"--listen {quoted(text)} is no address; write HOST:PORT, for example 192.168.7.1:7010.")
    return host.removeprefix("[").removesuffix("]"), int(port)
