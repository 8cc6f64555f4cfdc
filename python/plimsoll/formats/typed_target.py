"""A translation put onto the target that was typed, and held against how long its targets are.

Model: readers lay streams out on the typed target already (`known_targets`); here the document names it, for every tool in the same way. A
file that is made for the run gets the size that was given. A region that reaches beyond the known end of the typed target is refused in one
sentence, so that nothing is measured that the file does not ask for.
Limits: regions of targets that the file itself names are checked by the engine, when they are measured.

    onto(translation, KnownTargets(found, target="./scratch.dat", given=64 << 20)).document["experiment"][0]["configurations"]
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from plimsoll.formats.known_targets import KnownTargets
from plimsoll.formats.translation import Remark, Translation
from plimsoll.stored import Json

_UNITS = {"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40, "PiB": 1 << 50}
_SIZE = re.compile(r"(\d+)(B|[KMGTP]iB)?")


def onto(translation: Translation, targets: KnownTargets) -> Translation:
    """The translation on the typed target, where one was typed."""
    if not translation.document:
        return translation
    if not targets.target:
        return replace(translation, remarks=[*translation.remarks, *_too_short(translation.document, targets)])
    trees = {workload["name"] for workload in translation.document.get("workload", []) if workload.get("driver") == "files"}
    experiments = [
        _moved(experiment, targets, has_size=not trees & set(experiment["workloads"]))
        for experiment in translation.document.get("experiment", [])
    ]
    document = {**translation.document, "experiment": experiments}
    return replace(translation, document=document, remarks=[*translation.remarks, *_beyond(document, targets)])


def _moved(experiment: Json, targets: KnownTargets, *, has_size: bool) -> Json:
    name = experiment["name"]
    configurations = [{**one, "target": targets.target} for one in experiment.get("configurations", [{"name": name}])]
    settings = dict(experiment.get("set", {}))
    if has_size and targets.given is not None and not targets.is_there(targets.target):
        settings["size"] = _text(targets.given)
    return {**experiment, "set": settings, "configurations": configurations}


def _too_short(document: Json, targets: KnownTargets) -> Iterator[Remark]:
    """A remark for each experiment whose own files would be made shorter than the file asks for."""
    given = targets.given
    if given is None or not targets.overrides:
        return
    for experiment in document.get("experiment", []):
        size = _bytes(experiment.get("set", {}).get("size", 0), 0)
        if given < size:
            why = f"it is made {_text(size)} long, and --size is {_text(given)}; give --size {_text(size)}, or leave it out"
            yield Remark(None, f"the target of {experiment['name']}", "unsupported", why)


def _beyond(document: Json, targets: KnownTargets) -> Iterator[Remark]:
    """A remark for the first stream of each workload whose region ends beyond the target's known end."""
    size = targets(targets.target)
    if size is None or not targets.fixed:
        return
    for workload in document.get("workload", []):
        ends = {stream.get("name", ""): _end(stream, size) for stream in workload.get("stream", [])}
        name = max(ends, key=lambda stream: ends[stream], default="")
        if name and ends[name] > size:
            why = f"its region ends at {_text(ends[name])}, and --target {targets.target} has {_text(size)}; "
            more = f"give --size {_text(ends[name])} or" if not targets.is_there(targets.target) else "name a target that long, or write"
            yield Remark(None, f"stream {name}", "unsupported", f"{why}{more} smaller sizes in the file")


def _end(stream: Json, size: int) -> int:
    """Where the region of a stream ends; one without a length in bytes ends with the target."""
    length = _SIZE.fullmatch(str(stream.get("region_length", "")))
    return 0 if length is None else _bytes(stream.get("region_start", 0), size) + _bytes(length[0], size)


def _bytes(written: Any, size: int) -> int:
    """A size of a document in bytes."""
    text = str(written)
    if text.endswith("%"):
        return int(size * float(text[:-1]) / 100)
    found = _SIZE.fullmatch(text)
    return int(found[1]) * _UNITS[found[2] or ""] if found else 0


def _text(size_bytes: int) -> str:
    """A size as documents have it."""
    unit = next((unit for unit in ("TiB", "GiB", "MiB", "KiB") if size_bytes and size_bytes % _UNITS[unit] == 0), "B")
    return f"{size_bytes // _UNITS[unit]}{unit}"
