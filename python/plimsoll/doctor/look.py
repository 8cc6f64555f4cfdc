"""The quick look at a host before a run: what others do on it now, and whether a target is memory, in one sentence.

Model: the checks of `QUICK` on what others did in a fifth of a second, most of which has passed while the command prepared; of the checks
those are told that warn.
Limits: so short a look misses what comes in bursts; results are judged by what is counted while they are measured (flag ``other_load``).

    others = Others()
    quick_look([target_facts(engine.inspect_target(Target("/dev/sdb")))], others)      # "other processes are doing 784 reads/s and …"
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from plimsoll.doctor import machine, target
from plimsoll.doctor.examination import Check, Examination
from plimsoll.host.target import monitored_devices
from plimsoll.monitor.others import Others
from plimsoll.stored import Sample, TargetFacts

LOOK_S = 0.2
#: Of every target, and of the host.
QUICK: tuple[Callable[[Examination], Iterator[Check]], ...] = (target.medium, target.other_io, machine.busy, machine.virtual_machine)


def quick_look(facts: Sequence[TargetFacts], others: Others) -> str:
    """What should be known before the targets with these facts are measured; empty when all is well."""
    return seen(facts, others.activity(LOOK_S, [name for one in facts for name in monitored_devices(one)]))


def seen(facts: Sequence[TargetFacts], activity: Sample) -> str:
    """The same of an activity that was seen; each finding once, however many targets share it."""
    examined = [Examination(host={}, activity=activity, target=one) for one in facts]
    checks = [check for rule in QUICK for examination in examined for check in rule(examination) if check.status in ("warn", "fail")]
    findings = dict.fromkeys(check.finding.rstrip(".") for check in checks)
    return "; ".join(f"{finding[:1].lower()}{finding[1:]}" for finding in findings)
