"""``plimsoll doctor --calibrate``: what one I/O costs Plimsoll itself on this machine.

calibrate(3.0, as_json=False)
"""

from __future__ import annotations

from typing import Any

import click

from plimsoll import calibration
from plimsoll import engine as engines
from plimsoll.displayed import as_document
from plimsoll.errors import StoreError


def calibrate(seconds: float, *, as_json: bool) -> None:
    """Measure what Plimsoll's own work costs per I/O, without storage, remember it for every later result, and print it."""
    figures = calibration.measured(engines.native(), seconds)
    try:
        figures, remembered = calibration.remember(figures), f"remembered in {calibration.cache_path()}"
    except StoreError as problem:
        reason = str(problem).partition(";")[0]
        remembered = f"not remembered: {reason}; set XDG_CACHE_HOME to a directory you may write to, or every first run calibrates anew"
    if as_json:
        click.echo(as_document(figures))
    else:
        click.echo("\n".join(_lines(figures)))
    if not as_json or remembered.startswith("not"):
        click.echo(remembered, err=True)


def _lines(figures: dict[str, Any]) -> list[str]:
    lines = []
    for name, part in figures.items():
        if not isinstance(part, dict):
            continue
        if isinstance(part.get("iops_per_core"), (int, float)):
            lines.append(f"{name:6} {part['iops_per_core'] / 1e6:.2f} million I/O per second of one core")
        for key, value in part.items():
            if key.endswith("_ns") and isinstance(value, (int, float)):
                lines.append(f"{name:6} {key.removesuffix('_ns').replace('_', ' ')} {value:.1f} ns")
    return lines
