"""Elements of DiskSpd's profiles in XML, declared once: for their reader and the compatibility page.

Model: a profile has ``TimeSpans`` with ``TimeSpan`` elements, and these ``Targets`` with ``Target`` elements. Every other element makes one
setting, with everything below it. Numbers are plain, sizes bytes. ``flag`` of an element is the flag that says the same; its verdict holds
for the element too.
Source: DiskSpd's documentation (github.com/microsoft/diskspd/wiki, "XML profiles").

    SPAN_ELEMENTS["Duration"].flag         # "d"
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from plimsoll.formats.diskspd.options import BLOCK_MAX, REQUESTS_MAX, SECONDS_MAX, THREADS_MAX
from plimsoll.formats.diskspd.values import SIZE_MAX

ElementValue = Literal["whole", "switch", "text", "throughput", "content", "distribution", "any"]


@dataclass(frozen=True)
class ElementForm:
    """One element: what it is called, how it is written, the setting it makes, and the flag that says the same."""

    name: str
    key: str
    form: ElementValue
    flag: str = ""
    least: int = 0
    most: int = SIZE_MAX


PROFILE_ELEMENTS = {
    item.name: item
    for item in (
        ElementForm("Progress", "Progress", "whole", "P"),
        ElementForm("ResultFormat", "ResultFormat", "text", "R"),
        ElementForm("Verbose", "Verbose", "switch", "v"),
        ElementForm("PrecreateFiles", "PrecreateFiles", "text"),
        ElementForm("ETW", "Etw", "any", "e"),
    )
}

SPAN_ELEMENTS = {
    item.name: item
    for item in (
        ElementForm("Duration", "Duration", "whole", "d", least=1, most=SECONDS_MAX),
        ElementForm("Warmup", "Warmup", "whole", "W", most=SECONDS_MAX),
        ElementForm("Cooldown", "Cooldown", "whole", "C", most=SECONDS_MAX),
        ElementForm("RandSeed", "RandSeed", "whole", "z", most=(1 << 63) - 1),
        ElementForm("ThreadCount", "ThreadCount", "whole", "F", most=THREADS_MAX),
        ElementForm("RequestCount", "SpanRequestCount", "whole", "O", most=REQUESTS_MAX),
        ElementForm("Affinity", "Affinity", "any", "a"),
        ElementForm("DisableAffinity", "DisableAffinity", "switch", "n"),
        ElementForm("CompletionRoutines", "CompletionRoutines", "switch", "x"),
        ElementForm("MeasureLatency", "MeasureLatency", "switch", "L"),
        ElementForm("CalculateIopsStdDev", "CalculateIopsStdDev", "switch", "D"),
        ElementForm("IoBucketDuration", "IoBucketDuration", "whole", "D", least=1, most=86_400_000),
    )
}

TARGET_ELEMENTS = {
    item.name: item
    for item in (
        ElementForm("Path", "Path", "text"),
        ElementForm("BlockSize", "BlockSize", "whole", "b", least=1, most=BLOCK_MAX),
        ElementForm("StrideSize", "StrideSize", "whole", "s", least=1, most=1 << 40),
        ElementForm("InterlockedSequential", "InterlockedSequential", "switch", "si"),
        ElementForm("BaseFileOffset", "BaseFileOffset", "whole", "B"),
        ElementForm("SequentialScan", "SequentialScan", "switch", "f"),
        ElementForm("RandomAccess", "RandomAccess", "switch", "f"),
        ElementForm("TemporaryFile", "TemporaryFile", "switch", "f"),
        ElementForm("UseLargePages", "UseLargePages", "switch", "l"),
        ElementForm("RequestCount", "RequestCount", "whole", "o", least=1, most=REQUESTS_MAX),
        ElementForm("Random", "Random", "whole", "r", least=1, most=BLOCK_MAX),
        ElementForm("RandomRatio", "RandomRatio", "whole", "rs", most=100),
        ElementForm("DisableAllCache", "Caching", "switch", "S"),
        ElementForm("DisableOSCache", "Caching", "switch", "S"),
        ElementForm("DisableLocalCache", "Caching", "switch", "S"),
        ElementForm("WriteThrough", "Caching", "switch", "S"),
        ElementForm("MemoryMappedIo", "Caching", "switch", "S"),
        ElementForm("FlushType", "FlushType", "text", "N"),
        ElementForm("WriteBufferContent", "WriteBufferContent", "content", "Z"),
        ElementForm("BurstSize", "BurstSize", "whole", "i", most=1_000_000),
        ElementForm("ThinkTime", "ThinkTime", "whole", "j", most=86_400_000),
        ElementForm("Throughput", "Throughput", "throughput", "g"),
        ElementForm("ThreadsPerFile", "ThreadsPerFile", "whole", "t", most=THREADS_MAX),
        ElementForm("FileSize", "FileSize", "whole", "c"),
        ElementForm("MaxFileSize", "MaxFileSize", "whole", "f"),
        ElementForm("WriteRatio", "WriteRatio", "whole", "w", most=100),
        ElementForm("ParallelAsyncIO", "ParallelAsyncIO", "switch", "p"),
        ElementForm("ThreadStride", "ThreadStride", "whole", "T"),
        ElementForm("IOPriority", "IOPriority", "whole", "I", most=3),
        ElementForm("Weight", "Weight", "whole", most=1 << 31),
        ElementForm("ThreadTargets", "ThreadTargets", "any"),
        ElementForm("Distribution", "Distribution", "distribution", "rdpct"),
    )
}

#: Elements that make one setting together: what each adds to the modes of -S.
CACHING_MODES = {"DisableAllCache": "h", "DisableOSCache": "u", "DisableLocalCache": "r", "WriteThrough": "w", "MemoryMappedIo": "m"}
