"""What is published of arrays of today and was not used to set them: a list in ``products.toml``, an entry per figure.

Model: an entry says what was measured, where it is published, and the load that is like it. Units are those of results: per second, bytes
per second, nanoseconds; seconds where the metric is a duration.
Limits: one array each, or the ratio of two.

    product_figures()[0].array, product_figures()[0].published       # "ssd-pm9a3", 200_000
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any

from plimsoll.catalog.arrays import array_names
from plimsoll.catalog.composition.file import read_file
from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.near import meant
from plimsoll.stored import Json

PATH = os.path.join(os.path.dirname(__file__), "products.toml")
#: What follows from bandwidth or rate by arithmetic: how long a TiB takes, and how long a full credit lasts.
SCAN, BURST = "scan_s", "burst_s"
_METRICS = ("iops", "bytes_per_s", "mean", "p50", "p95", "p99", "p999", SCAN, BURST)
_NEEDED = ("array", "what", "metric", "published", "source")


@dataclass(frozen=True)
class ProductFigure:
    """See the head of ``products.toml``."""

    array: str
    what: str
    metric: str
    published: float
    source: str
    workload: str | None = None
    stream: tuple[Mapping[str, Any], ...] = ()
    set: Mapping[str, Any] = field(default_factory=dict)
    op: str = "all"
    against: str | None = None
    duration: str = "200ms"
    warmup: str | None = None
    exact: str | None = None
    miss: str = ""

    @property
    def target(self) -> str:
        """As it is typed after ``--target``."""
        return f"array:{self.array}"


@cache
def product_figures() -> tuple[ProductFigure, ...]:
    """All of them, in the order of the file."""
    return read_product_figures(PATH)


def read_product_figures(path: str) -> tuple[ProductFigure, ...]:
    """Those of a file; raises `InputError` for what is wrong in it."""
    document = read_file(path, "a list of published figures")
    return tuple(_figure(entry, f"{path}: figure {number}") for number, entry in enumerate(document.get("figure", []), 1))


def _figure(entry: Json, where: str) -> ProductFigure:
    names = [one.name for one in fields(ProductFigure)]
    for key in entry:
        if key not in names:
            raise InputError(f"{where}: there is no key {quoted(key)}; {meant(key, names)}")
    for key in _NEEDED:
        if key not in entry:
            raise InputError(f"{where}: {key} is missing; say it, as in the head of {os.path.basename(PATH)}.")
    for name in (str(entry["array"]), str(entry.get("against", entry["array"]))):
        if name not in array_names():
            raise InputError(f"{where}: there is no array {quoted(name)}; {meant(name, array_names())}")
    if entry["metric"] not in _METRICS:
        raise InputError(f"{where}: there is no metric {quoted(entry['metric'])}; {meant(entry['metric'], _METRICS)}")
    if ("workload" in entry) == ("stream" in entry):
        raise InputError(f"{where}: give either a workload or its streams.")
    return ProductFigure(**{**entry, "stream": tuple(entry.get("stream", ())), "published": float(entry["published"])})
