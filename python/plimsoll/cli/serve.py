"""``plimsoll serve``: the store in a browser, with what is being measured as it happens."""

from __future__ import annotations

import os
import threading
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import click

from plimsoll.cli import completions
from plimsoll.cli.options import PermittingCommand, named
from plimsoll.displayed import displayed
from plimsoll.errors import InputError
from plimsoll.near import listed

if TYPE_CHECKING:
    from plimsoll.metrics.collector import Sender
    from plimsoll.web.control import Control
    from plimsoll.web.server import Server

_PORT_MAX = 65535
#: What the extra brings.
_NEEDED = ("starlette", "uvicorn", "cryptography")


@click.command(cls=PermittingCommand, short_help="Show stored and running measurements in a browser.")
@click.option("--out", metavar="DIR", default="results", show_default=True, help="The store to show.")
@click.option(
    "--address", metavar="IP", default="127.0.0.1", show_default=True, help="Where to listen; anything but this machine needs TLS."
)
@click.option("--port", metavar="N", type=click.IntRange(0, _PORT_MAX), default=8642, show_default=True, help="The port; 0 is a free one.")
@click.option("--name", "names", metavar="NAME", multiple=True, help="A further name that this machine is reached by; may be repeated.")
@click.option("--token-file", metavar="FILE", help="A file with the token, for programs. [default: a new token at each start]")
@click.option("--cert", metavar="FILE", help="The certificate for TLS, in PEM. [default: one of Plimsoll's own, where TLS is needed]")
@click.option("--key", metavar="FILE", help="The key of --cert.")
@click.option("--receive", is_flag=True, help="Store the runs that other machines send ('plimsoll send').")
@click.option("--receive-max", metavar="SIZE", default="4GiB", show_default=True, help="The largest run that is taken.")
@click.option("--allow-runs", is_flag=True, help="Let the page start shipped suites on the targets given here, and stop runs.")
@click.option(
    "-t",
    "--target",
    "targets",
    metavar="TARGET",
    multiple=True,
    callback=named,
    shell_complete=completions.targets,
    help="A target of --allow-runs, as in 'plimsoll suite'; may be repeated. NAME=TARGET gives it a name.",
)
@click.option(
    "--destroy-data",
    metavar="[=SERIAL|PATH]",
    multiple=True,
    help="Allow suites that the page starts to overwrite the target of this serial number or path; without a value, the only target.",
)
@click.option("--otlp", metavar="URL", help="Send metrics of what is measured to an OpenTelemetry collector, e.g. http://127.0.0.1:4318.")
@click.option("--open", "opens", is_flag=True, help="Open the page in a browser.")
def command(out: str, opens: bool, **typed: Any) -> int:
    """Show the runs of a store in a browser: their reports, comparisons by a click, and what is being measured now.

    Runs of any plimsoll command on the same store are seen as they go on. The printed address holds the token that the page asks for.
    Programs send 'Authorization: Bearer TOKEN'. The page changes nothing and starts nothing. With --receive it stores what other machines
    send, after it has read every run whole. With --allow-runs it starts the suites that Plimsoll has, on the targets named here and no
    other, and stops runs like Ctrl-C; a suite that it started goes on when the server ends.

    Prometheus reads what is being measured at /metrics, with the same token; a Grafana dashboard for it is at /grafana.json.

    \b
    plimsoll serve --open
    plimsoll serve --allow-runs --target fast=/dev/nvme0n1 --target /mnt/array/scratch --destroy-data=/dev/nvme0n1
    plimsoll serve --address 0.0.0.0 --name lab7.example.org --receive
    """
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise InputError(f"the live page needs {listed(missing, 'and')}; install plimsoll[serve].")
    from plimsoll.points.quantity import size_bytes
    from plimsoll.web.server import Server, Settings

    if os.path.lexists(out) and not os.path.isdir(out):
        raise InputError(f"--out {displayed(out)} is no directory; name the store.")
    receives, most = typed.pop("receive"), typed.pop("receive_max")
    control = _control(out, allowed=typed.pop("allow_runs"), targets=typed.pop("targets"), destroys=typed.pop("destroy_data"))
    taken = size_bytes("--receive-max", most) if receives else None
    sender = _sender(out, typed.pop("otlp"))
    server = Server.prepared(Settings(out, receives_bytes=taken, control=control, **typed))
    if sender is not None:
        threading.Thread(target=sender.run, args=(threading.Event(),), daemon=True).start()
    server.serve(lambda: _announce(server, out, opens=opens))
    if control is not None and (going_on := control.close()):
        click.echo(f"plimsoll: suites that the page started go on: {going_on}", err=True)
    return 0


def _sender(out: str, url: str | None) -> Sender | None:
    """Sends metrics of the runs in the store; raises `InputError` for what is no address."""
    if url is None:
        return None
    from plimsoll.metrics.collector import Sender, collector
    from plimsoll.metrics.progress import Measured
    from plimsoll.web.listing import Listing, running

    measured, listing = Measured(), Listing(out)
    return Sender(collector(url), lambda: measured.families(running(listing)), lambda said: click.echo(f"plimsoll: {said}", err=True))


def _control(out: str, *, allowed: bool, targets: tuple[str, ...], destroys: tuple[str, ...]) -> Control | None:
    """What the page may do; raises `InputError` for options that need each other."""
    if not allowed:
        if targets or destroys:
            raise InputError(f"{'--target' if targets else '--destroy-data'} is for suites that the page starts; add --allow-runs.")
        return None
    if not targets:
        raise InputError("--allow-runs starts suites on the targets given here; add --target.")
    from plimsoll.web.control import Control
    from plimsoll.web.grants import grants

    return Control(out, grants(targets, destroys))


def _announce(server: Server, out: str, *, opens: bool) -> None:
    for address in server.addresses:
        click.echo(address)
    if server.certificate is not None:
        click.echo(f"certificate SHA-256 {server.certificate.fingerprint}", err=True)
    absent = "" if os.path.isdir(out) else ", which is not there yet,"
    click.echo(f"plimsoll: shows {displayed(out)}{absent} until Ctrl-C", err=True)
    if opens:
        import webbrowser

        webbrowser.open(server.addresses[0])
