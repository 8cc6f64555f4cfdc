"""Devices as they are: nothing is made on them, so that what is made of them can be compared with them."""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.layouts.kinds.kind import Kind, Laid, Options
from plimsoll.layouts.step import Named, Volume


def _lay(_options: Options, volumes: Sequence[Volume], _named: Named) -> Laid:
    return Laid((), tuple(volumes))


KIND = Kind("raw", "The devices below as they are.", (), _lay)
