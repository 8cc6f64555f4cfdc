"""Facts of the machine that makes the load: firmware identity, CPU, memory, kernel, operating system, versions.

host_facts()["cpu"]["model"]
"""

from __future__ import annotations

import os
import re
import sys

from plimsoll import __version__
from plimsoll.displayed import quoted
from plimsoll.host.facts import Absent, collect_facts, number, text
from plimsoll.stored import HostFacts

_DMI = "/sys/class/dmi/id"
_CPU = "/sys/devices/system/cpu"
#: A word of the live image on the kernel's command line, quoted as a whole or in its value.
_IMAGE_WORD = re.compile(r'"(plimsoll\.\w+)=[^"]*"?|(plimsoll\.\w+)=(?:"[^"]*"?|[^\s"])*')


def host_facts() -> HostFacts:
    """Every fact of the machine, grouped."""
    return {
        "machine": collect_facts(
            {
                "name": lambda: os.uname().nodename,
                "vendor": lambda: text(f"{_DMI}/sys_vendor"),
                "product": lambda: text(f"{_DMI}/product_name"),
                "bios": lambda: text(f"{_DMI}/bios_version"),
                "virtualisation": virtualisation,
            }
        ),
        "cpu": collect_facts(
            {
                "model": cpu_model,
                "count": lambda: os.cpu_count() or 0,
                "usable": lambda: len(os.sched_getaffinity(0)),
                "cores": cpu_cores,
                "governor": governor,
                "turbo": turbo,
                "microcode": lambda: _cpuinfo("microcode"),
                "mitigations": mitigations,
            }
        ),
        "memory": collect_facts({"total_bytes": lambda: meminfo("MemTotal"), "available_bytes": lambda: meminfo("MemAvailable")}),
        "kernel": collect_facts(
            {
                "release": lambda: os.uname().release,
                "version": lambda: os.uname().version,
                "architecture": lambda: os.uname().machine,
                "boot_parameters": lambda: boot_parameters(text("/proc/cmdline")),
                "clocksource": clocksource,
                "io_uring_disabled": lambda: number("/proc/sys/kernel/io_uring_disabled"),
            }
        ),
        "os": collect_facts({"name": os_name}),
        "numa": collect_facts({"nodes": lambda: text("/sys/devices/system/node/online")}),
    }


def versions() -> dict[str, str]:
    """What produced a result."""
    return {
        "plimsoll": __version__,
        "python": ".".join(str(part) for part in sys.version_info[:3]),
        "kernel": os.uname().release,
    }


def boot_parameters(command_line: str) -> str:
    """The kernel's command line; of the live image's words, which can be passwords, the names alone."""
    return _IMAGE_WORD.sub(lambda found: f"{found[1] or found[2]}=…", command_line)


def cpu_model() -> str:
    """The marketing name of the first CPU."""
    return _cpuinfo("model name")


def cpu_cores() -> int:
    """Physical cores, counting hardware threads of one core once."""
    cores = set()
    for index in os.sched_getaffinity(0):
        cores.add(text(f"{_CPU}/cpu{index}/topology/core_cpus_list"))
    return len(cores)


def governor() -> str:
    """The frequency governor of the first CPU; a guest usually has none."""
    return text(f"{_CPU}/cpu0/cpufreq/scaling_governor")


def turbo() -> str:
    """Whether the CPU may clock itself above its nominal frequency."""
    try:
        return "off" if number(f"{_CPU}/intel_pstate/no_turbo") else "on"
    except Absent:
        return "on" if number(f"{_CPU}/cpufreq/boost") else "off"


def mitigations() -> dict[str, str]:
    """The kernel's word on each hardware vulnerability that affects this CPU."""
    folder = f"{_CPU}/vulnerabilities"
    words = {name: text(f"{folder}/{name}") for name in sorted(os.listdir(folder))}
    return {name: word for name, word in words.items() if word != "Not affected"}


def clocksource() -> str:
    """What the kernel reads the time from."""
    return text("/sys/devices/system/clocksource/clocksource0/current_clocksource")


def meminfo(field: str) -> int:
    """A field of /proc/meminfo in bytes."""
    for line in text("/proc/meminfo").splitlines():
        name, _, rest = line.partition(":")
        if name == field:
            return int(rest.split()[0]) * 1024
    raise Absent(f"/proc/meminfo has no {field}")


def virtualisation() -> str:
    """``none``, ``guest`` (the CPU says so), or the kind of container."""
    if os.path.exists("/.dockerenv") or os.path.exists("/run/.containerenv"):
        return "container"
    return "guest" if "hypervisor" in _cpuinfo("flags").split() else "none"


def os_name() -> str:
    """The distribution's own name for itself."""
    for line in text("/etc/os-release").splitlines():
        name, _, value = line.partition("=")
        if name == "PRETTY_NAME":
            return value.strip().strip('"')
    raise Absent("/etc/os-release has no PRETTY_NAME")


def _cpuinfo(field: str) -> str:
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            for line in file:
                name, _, value = line.partition(":")
                if name.strip() == field:
                    return value.strip()
    except OSError as problem:
        raise Absent(str(problem.strerror).lower()) from None
    raise Absent(f"/proc/cpuinfo has no {quoted(field)}")
