"""Facts of the host: machine, CPU, memory, kernel, and the devices and file system behind a target.

Model: small files of /proc and /sys, no subprocess, some milliseconds in all. Every collector is optional: where a fact cannot be read,
its value is null and the reason stands under ``absent`` beside it, and a run never fails for it.

    facts = host_facts()
    target = target_facts(engine.inspect_target("/data/file"))
    target["devices"][0]["scheduler"]
"""

from plimsoll.host.machine import host_facts
from plimsoll.host.target import target_facts

__all__ = ["host_facts", "target_facts"]
