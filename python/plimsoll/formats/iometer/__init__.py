"""Configuration files (ICF) and result files (CSV) of Iometer, read and written.

Model: ``read`` and ``write`` are the file as it is, of every version since 1997; ``translate`` is what it asks for in our words, one
experiment per access specification in Iometer's order; ``results_csv`` and ``read_results_csv`` are its results.
Limits: network workers and managers on other hosts are parsed and reported, not run. Results of ours in Iometer's form are
Iometer-compatible; they are not Iometer results.

    translation = translate(text, "load.icf", None, {})
    translation.document["experiment"][0]["name"]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from plimsoll.formats.iometer.read import SECTIONS, read
from plimsoll.formats.iometer.remarks import remarks
from plimsoll.formats.iometer.resolve import Intent
from plimsoll.formats.iometer.results import read_results_csv
from plimsoll.formats.iometer.storage import Counterpart, storages_of
from plimsoll.formats.iometer.translate import document
from plimsoll.formats.iometer.write_icf import write
from plimsoll.formats.iometer.write_results import results_csv
from plimsoll.formats.known_targets import Found, known_targets, nothing_found
from plimsoll.formats.place import Place
from plimsoll.formats.translation import Translation

__all__ = ["Counterpart", "read", "read_results_csv", "recognises", "results_csv", "translate", "translate_onto", "write"]

FORMAT = "iometer"


def recognises(name: str, head: str) -> bool:
    """Whether a file of this name that begins like this is an ICF."""
    lines = [line.strip().lower() for line in head.removeprefix("\ufeff").splitlines()]
    if not lines or not lines[0].startswith("version "):
        return False
    return name.lower().endswith(".icf") or any(line.startswith(f"'{section}") for line in lines for section in SECTIONS)


def translate(
    text: str,
    source: str,
    include: Callable[[str], str] | None = None,  # noqa: ARG001 — every format is called in the same way
    environment: Mapping[str, str] | None = None,  # noqa: ARG001
    targets: Found = nothing_found,
) -> Translation:
    """The ICF ``text`` in our words. ICFs name no other files and no variables; ``targets`` says how many bytes a path has.

    Raises `InputError` with line, what is wrong and what would be right.
    """
    return translate_onto(text, source, {}, targets)


def translate_onto(text: str, source: str, counterparts: Mapping[str, Counterpart], targets: Found = nothing_found) -> Translation:
    """Like `translate`, on the counterparts that the caller names for targets of the file."""
    file = read(text, source)
    intent = Intent.of(file, Place(source), lambda names: storages_of(names, counterparts, known_targets(targets)))
    return Translation(source, FORMAT, document(file, source, intent), remarks(file, intent))
