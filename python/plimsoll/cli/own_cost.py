"""``plimsoll doctor --calibrate``: what one I/O costs Plimsoll itself on this machine.

calibrate(3.0, as_json=False)
"""

from __future__ import annotations

import click

from plimsoll import calibration
from plimsoll.displayed import as_document
from plimsoll.engine import block as block_engine
from plimsoll.errors import StoreError
from plimsoll.own_cost import OwnCost


def calibrate(seconds: float, *, as_json: bool) -> None:
    """Measure what Plimsoll's own work costs per I/O, without storage, remember it for every later result, and print it."""
    figures = calibration.measured(block_engine.native(), seconds)
    try:
        figures, remembered = calibration.remember(figures), f"remembered in {calibration.cache_path()}"
    except StoreError as problem:
        reason = str(problem).partition(";")[0]
        remembered = f"not remembered: {reason}; set XDG_CACHE_HOME to a directory you may write to, or every first run calibrates anew"
    if as_json:
        click.echo(as_document(figures.figures))
    else:
        click.echo("\n".join(_lines(figures)))
    if not as_json or remembered.startswith("not"):
        click.echo(remembered, err=True)


def _lines(cost: OwnCost) -> list[str]:
    lines = []
    for name, per_core, spent_ns in cost.lines():
        if per_core is not None:
            lines.append(f"{name:6} {per_core / 1e6:.2f} million I/O per second of one core")
        lines += [f"{name:6} {what.replace('_', ' ')} {ns:.1f} ns" for what, ns in spent_ns.items()]
    return lines
