"""``plimsoll receive``: what arrived as files or mails becomes runs."""

from __future__ import annotations

import click

from plimsoll.displayed import displayed, displayed_in_line
from plimsoll.errors import PlimsollError


@click.command(short_help="Store runs that arrived as files or mails.")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=click.Path())
@click.option("--receive-max", metavar="SIZE", default="4GiB", show_default=True, help="The largest run that is taken.")
@click.option("-o", "--out", metavar="DIR", default="results", show_default=True, help="Where the runs are kept.")
def command(paths: tuple[str, ...], receive_max: str, out: str) -> int:
    """Store the runs in each PATH: a parcel that 'plimsoll send' has sent to a directory, a mail as a file (.eml), or a directory
    of them: an inbox, a Maildir, or a store on a stick.

    Each is read whole and compared with what was sent, and stored whole or not at all. The same run twice is one run. What was
    received stays where it is.

    \b
    plimsoll receive /srv/inbox
    plimsoll receive "Plimsoll array 3.eml"
    plimsoll receive /media/stick/results
    """
    from plimsoll.delivery.arrival import arrived, stored
    from plimsoll.points.quantity import size_bytes
    from plimsoll.store.parcel import Limits, remove_leftovers

    limits = Limits(bytes=size_bytes("--receive-max", receive_max))
    arrivals = list(arrived(paths))
    remove_leftovers(out)
    code = 0
    for arrival in arrivals:
        try:
            for found in stored(arrival, out, limits):
                click.echo(f"{displayed(found.name)} {'was there already' if found.known else 'is there'}: {arrival.shown}")
        except PlimsollError as problem:
            # One that is damaged keeps no other out.
            click.echo(f"plimsoll: {displayed_in_line(str(problem))}", err=True)
            code = code or problem.exit_code
    return code
