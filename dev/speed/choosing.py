"""Goals for choosing: 2,000 candidates within a minute on two processors, which is two minutes of processor time.

Model: two questions to `plimsoll choose`, each with more than 2,000 candidates, most of which have to fall out without being simulated. In
the first cheap candidates carry the demand, so the order excludes most; in the second none of many disk arrays does, so bounds and
screening have to. What is counted is processor time of the command with its processes, start and intervals of the finalists included.
Limits: how many are simulated depends on the models; the detail says how many fell out by what.
"""

from __future__ import annotations

import json
from collections import Counter
from statistics import median
from typing import Any

from speed import process
from speed.process import Finished
from speed.row import Row
from speed.setting import Setting

GOAL_S = 120.0
_DRIVES = "drives=4..60&level=raid10,raid5,raid6"
_STRIPS = (32, 64, 128, 256, 512, 1024, 2048, 4096, 8192)
_OLD = "msa2000 msa50 msa30 dl360 se6920"
#: What is asked, and the options.
QUESTIONS = {
    "2,000 candidates, of which cheap ones carry it": (
        *("--demand", "oltp-db@3k", "--objective", "read p99 <= 30ms", "--capacity", "4TB"),
        *(word for strip in _STRIPS for word in ("--among", f"nvme-raid10?{_DRIVES}&group.mirror.raid.strip_sectors={strip}")),
        *(
            "--among",
            "nearline-raid6?drives=4..12&level=raid5,raid6,raid10&drive=nearline-16t,savvio-10k3-300g,savvio-10k4-600g,savvio-15k3-300g",
        ),
        *("--among", f"{_OLD} nvme-raid10?{_DRIVES}"),
    ),
    "2,000 disk arrays, of which none carries it": (
        *("--demand", "oltp-db@2k", "--objective", "read p99 <= 25ms"),
        *(
            word
            for strip in _STRIPS
            for word in ("--among", f"nearline-raid6?drives=4..12&level=raid5,raid6,raid10&group.raid.raid.strip_sectors={strip}")
        ),
        *(
            word
            for cores in range(1, 11)
            for word in ("--among", f"msa50?host.cores={cores} msa30?host.cores={cores} dl360?host.cores={cores}")
        ),
    ),
}


def rows(setting: Setting) -> list[Row]:
    """All goals of this group."""
    command = [setting.plimsoll.command, "choose", "--json", "--quiet", "--jobs", "2"]
    asked = {what: lambda _, words=words: process.run([*command, *words]) for what, words in QUESTIONS.items()}
    found = setting.interleaved("choosing", asked, 1 if setting.quick else setting.long_rounds)
    return [_row(what, runs) for what, runs in found.items()]


def _row(what: str, runs: list[Finished]) -> Row:
    candidates: list[dict[str, Any]] = json.loads(runs[0].stdout)["candidates"]
    how = Counter(_how(one) for one in candidates)
    detail = f"{len(candidates):,} candidates: {', '.join(f'{number:,} {words}' for words, number in how.most_common())}"
    return Row(what, "at most", GOAL_S, "s of processor time", median(done.cpu_ns for done in runs) / 1e9, detail)


def _how(candidate: dict[str, Any]) -> str:
    """How a candidate was dealt with."""
    if candidate["simulated"]:
        return "simulated"
    reason = str(candidate["rejected_because"])
    return "by bounds" if reason.startswith("bound") else "by their order" if reason.startswith("not simulated") else "by arithmetic"
