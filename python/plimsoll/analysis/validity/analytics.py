"""Flags about the published I/O test: files that are smaller than they should be."""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.analysis.analytics.io_test import section
from plimsoll.analysis.validity.evidence import Evidence
from plimsoll.result import Flag
from plimsoll.units import binary


def files_shrunk(evidence: Evidence) -> Iterator[Flag]:
    """The file system had too little room for the files that were asked for."""
    found = section(evidence.result) or {}
    if found.get("is_shrunk"):
        yield Flag(
            "files_shrunk",
            "doubt",
            f"The file system had room for {binary(found['total_bytes'])} of the {binary(found['wanted_bytes'])} that the files should "
            f"have; memory is {binary(found['memory_bytes'])}.",
            "Make room, or say with --size how large the files shall be: they should be larger than every cache before the disks.",
        )
