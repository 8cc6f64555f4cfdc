"""``plimsoll send``: stored runs go to another machine, until they are there."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

import click

from plimsoll.cli import completions
from plimsoll.displayed import displayed, displayed_in_line
from plimsoll.errors import InputError, PlimsollError

if TYPE_CHECKING:
    from plimsoll.delivery.dispatch import Order
    from plimsoll.delivery.outbox import Note
    from plimsoll.store.reader import StoredRun

    #: Opens a run, and says where it goes; either can fail.
    Ordered = Callable[[], tuple[StoredRun, Order]]

Options = Mapping[str, str | None]


@click.command(short_help="Send stored runs to another machine.")
@click.argument("runs", metavar="RUN...", nargs=-1, shell_complete=completions.runs)
@click.option("--to", "url", metavar="URL", help="Where to: one of the addresses above.")
@click.option("--unsent", is_flag=True, help="Send what earlier commands did not deliver, where they were to; takes no RUN.")
@click.option("--again", is_flag=True, help="Mail a run once more.")
@click.option("--identity", metavar="FILE", help="sftp, scp: the private key. [default: ssh's own, and the agent]")
@click.option("--known-hosts", metavar="FILE", help="sftp, scp: the keys of hosts. [default: ssh's own]")
@click.option(
    "--password-file", metavar="FILE", help="ftp, smtp: a file with the password. [default: in URL, $PLIMSOLL_PASSWORD, ~/.netrc]"
)
@click.option("--token-file", metavar="FILE", help="https: a file with the server's token. [default: in URL, or $PLIMSOLL_TOKEN]")
@click.option("--ca", metavar="FILE", help="Trust the certificates in FILE instead of the system's.")
@click.option("--fingerprint", metavar="SHA256", help="Trust the certificate with this SHA-256, as 'plimsoll serve' prints it.")
@click.option("--give-up-after", "--for", "for_", metavar="TIME", help="Try for so long, e.g. 1h. [default: until it is there, or Ctrl-C]")
@click.option("--out", metavar="DIR", default="results", show_default=True, help="Where runs called by name are kept.")
def command(runs: tuple[str, ...], url: str | None, out: str, **typed: str | bool | None) -> int:
    """Send each RUN: a name or how it begins, a label, latest, latest~1, or a directory.

    What does not arrive is sent again, at growing intervals. The same run sent twice is there once. Reports are left out; the receiver
    draws them. 'plimsoll receive' stores what arrived as files or mails. A password in URL is not shown again.

    \b
    https://HOST:PORT                 'plimsoll serve --receive'
    sftp://USER@HOST/DIR, scp://...   a directory; keys, known hosts only
    ftps://USER@HOST/DIR, ftp://...   a directory; //DIR counts from the root
    smtps://USER@HOST/WHOM@DOMAIN     mail with numbers, report and run;
    smtp://...                        with STARTTLS where it is offered
    file:DIR                          a store, for example on a stick

    \b
    plimsoll send latest --to 'https://lab7:8642/?token=Zk3…' --fingerprint 3F:9A:…
    plimsoll send latest --to sftp://lab@nas7/inbox --identity id_ed25519
    plimsoll send latest --to file:/media/stick/results
    plimsoll send --unsent
    """
    from plimsoll.delivery.dispatch import Patience, deliver
    from plimsoll.points.quantity import duration_s

    unsent, again = bool(typed.pop("unsent")), bool(typed.pop("again"))
    options = {name: None if value is None else str(value) for name, value in typed.items()}
    for_ = options.pop("for_")
    for_s = None if for_ is None else duration_s("--give-up-after", for_)
    patience = Patience(for_s, told=lambda sentence: click.echo(f"plimsoll: {sentence}", err=True))
    code = 0
    for ordered in _unsent(runs, url, out, options) if unsent else _asked(runs, url, out, options, again=again):
        try:
            run, order = ordered()
            _say(run, order, deliver(run, order, patience))
        except PlimsollError as problem:
            # One that is refused keeps no other from going.
            click.echo(f"plimsoll: {displayed_in_line(str(problem))}", err=True)
            code = code or problem.exit_code
    return code


def _say(run: StoredRun, order: Order, found: object) -> None:
    from plimsoll.delivery.dispatch import Delivered

    assert isinstance(found, Delivered)
    place = order.destination.shown
    renamed = "" if found.name == run.name else f" as {displayed(found.name)}"
    if found.known and not order.destination.remembers:
        click.echo(f"{displayed(run.name)} was mailed already: {place}; --again mails it once more")
        return
    doubt = f" ({found.doubt})" if found.doubt else ""
    click.echo(
        f"{displayed(run.name)} {'was there already' if found.known else 'was sent' if doubt else 'is there'}{renamed}: {place}{doubt}"
    )


def _asked(runs: tuple[str, ...], url: str | None, out: str, options: Options, *, again: bool) -> Iterator[Ordered]:
    from plimsoll.store.reader import open_runs

    if not runs:
        raise InputError("no RUN is named; write for example 'plimsoll send latest --to URL', or 'plimsoll send --unsent'.")
    if url is None:
        raise InputError("--to is missing; write for example --to https://lab7:8642.")
    order = _order(url, options, again=again)
    yield from (partial(_with, run, order) for run in open_runs(runs, out))


def _with(run: StoredRun, order: Order) -> tuple[StoredRun, Order]:
    return run, order


def _unsent(runs: tuple[str, ...], url: str | None, out: str, options: Options) -> Iterator[Ordered]:
    """What the outbox still has; options of this command go before those of the first."""
    from plimsoll.delivery.outbox import waiting

    if runs or url is not None:
        raise InputError("--unsent sends what is left of earlier commands, where they were to send it; leave RUN and --to out.")
    notes = waiting(out)
    if not notes:
        click.echo(f"plimsoll: nothing in {displayed(out)} is still to be sent.", err=True)
    for note in notes:
        path = os.path.join(out, os.path.basename(note.run))
        if os.path.isdir(path):
            yield partial(_once_more, path, note, options)
            continue
        click.echo(f"plimsoll: {displayed(note.run)} is no longer in {displayed(out)}, so it is not sent.", err=True)
        note.delivered(remember=False)


def _once_more(path: str, note: Note, options: Options) -> tuple[StoredRun, Order]:
    from plimsoll.store.reader import open_run

    told = dict(note.options)
    where = told.pop("to", "")
    return open_run(path), _order(where, {**told, **{name: value for name, value in options.items() if value is not None}}, again=False)


def _order(url: str, options: Options, *, again: bool) -> Order:
    from plimsoll.delivery.destinations import destination_of, lasting, warning_of
    from plimsoll.delivery.dispatch import Order

    destination = destination_of(url, options)
    if (warning := warning_of(url)) is not None:
        click.echo(f"plimsoll: {warning}", err=True)
    return Order(destination, lasting(url, options), again)
