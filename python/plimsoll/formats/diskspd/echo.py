"""The profile that a DiskSpd result repeats, made from the definition that our job ran.

Model: every stream stands as a target with what DiskSpd has a word for; the rest of our options are not in it. Times are whole seconds, as
DiskSpd counts them.
Limits: it says what was run in DiskSpd's vocabulary; a stream with a range of sizes shows the first.

    profile_element(result)         # <Profile>…</Profile>
"""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

from plimsoll.formats.diskspd.measured import place_of
from plimsoll.result import Result

Json = dict[str, Any]
Xml = ElementTree.Element

_TIME = re.compile(r"(\d+(?:\.\d+)?)(ns|us|ms|s|m|h|d)?")


def add(parent: Xml, tag: str, text: object = None) -> Xml:
    """A child with text."""
    child = ElementTree.SubElement(parent, tag)
    if text is not None:
        child.text = str(text).lower() if isinstance(text, bool) else str(text)
    return child


def profile_element(result: Result) -> Xml:
    """The ``Profile`` of one time span."""
    profile = ElementTree.Element("Profile")
    for tag, text in (("Progress", 0), ("ResultFormat", "xml"), ("Verbose", False)):
        add(profile, tag, text)
    span = add(add(profile, "TimeSpans"), "TimeSpan")
    job = result.job
    values: tuple[tuple[str, object], ...] = (
        ("CompletionRoutines", False),
        ("MeasureLatency", True),
        ("CalculateIopsStdDev", True),
        ("DisableAffinity", True),
        ("Duration", max(1, round(job.duration_s))),
        ("Warmup", round(job.warmup_s)),
        ("Cooldown", 0),
        ("ThreadCount", 0),
        ("RequestCount", 0),
        ("IoBucketDuration", max(1, _interval_ms(job.options))),
        ("RandSeed", job.seed),
    )
    for tag, value in values:
        add(span, tag, value)
    targets = add(span, "Targets")
    for stream in job.definition.get("stream", []):
        _target(add(targets, "Target"), stream, result)
    return profile


def _target(element: Xml, stream: Json, result: Result) -> None:
    block, random = _block(stream), float(stream.get("random_percent", 100) or 0)
    direct = stream.get("direct", True) is not False
    place = place_of(result, stream)
    values: list[tuple[str, object]] = [
        ("Path", place.path),
        ("BlockSize", block),
        ("BaseFileOffset", _whole(stream.get("region_start"), 0) - place.begin_bytes),
        ("SequentialScan", False),
        ("RandomAccess", False),
        ("TemporaryFile", False),
        ("UseLargePages", False),
        ("DisableOSCache", direct),
        ("WriteThrough", bool(stream.get("dsync"))),
        ("ParallelAsyncIO", False),
    ]
    for tag, value in values:
        add(element, tag, value)
    if random >= 100:
        add(element, "Random", _whole(stream.get("align"), block))
    else:
        add(element, "StrideSize", _whole(stream.get("stride"), block))
        add(element, "InterlockedSequential", stream.get("sequential") == "shared" and int(stream.get("threads") or 1) > 1)
        if random:
            add(element, "RandomRatio", round(random))
    rest: list[tuple[str, object]] = [
        ("ThreadStride", 0),
        ("MaxFileSize", 0),
        ("RequestCount", stream.get("queue_depth") or 1),
        ("WriteRatio", round(_writes(stream))),
        ("ThreadsPerFile", stream.get("threads") or 1),
        ("IOPriority", 3),
        ("Weight", 1),
    ]
    for tag, value in rest:
        add(element, tag, value)
    if stream.get("rate"):
        add(element, "Throughput", round(float(stream["rate"]) / int(stream.get("threads") or 1))).set("unit", "IOPS")


def _block(stream: Json) -> int:
    size = stream.get("block_size")
    if isinstance(size, dict):
        size = next(iter(size), 4096)
    if size is None and stream.get("access"):
        size = stream["access"][0].get("size")
    return _whole(size, 4096)


def _writes(stream: Json) -> float:
    if stream.get("write_percent") is not None:
        return float(stream["write_percent"])
    read = stream.get("read_percent")
    return 0.0 if read is None else 100.0 - float(read)


def _interval_ms(options: Json) -> int:
    """The length of an interval, 1000 ms when it was chosen by the engine."""
    value = options.get("interval", "auto")
    if isinstance(value, (int, float)):
        return round(value * 1000)
    found = _TIME.fullmatch(str(value))
    scale = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3, "m": 6e4, "h": 3.6e6, "d": 8.64e7}
    return round(float(found[1]) * scale[found[2] or "s"]) if found else 1000


def _whole(value: Any, otherwise: int) -> int:
    """A number of bytes, where the canonical definition has one; a share of the target has no words in DiskSpd."""
    return value if isinstance(value, int) else int(value) if isinstance(value, str) and value.isdigit() else otherwise
