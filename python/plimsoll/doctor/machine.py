"""Checks of the machine that makes the load.

The processor: frequency, clock, hypervisor, other work.

The generator: io_uring, locked memory, own cost.
"""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.displayed import quoted
from plimsoll.doctor.examination import Check, Examination
from plimsoll.own_cost import NOP

BUSY_PERCENT_MAX = 20.0
STEAL_PERCENT_MAX = 1.0


def governor(examination: Examination) -> Iterator[Check]:
    """Whether the CPU sleeps deep or clocks down between requests."""
    found = examination.fact("cpu", "governor")
    if found is None:
        reason = examination.why_absent("cpu", "governor")
        yield Check("governor", "unknown", f"The frequency governor cannot be seen ({reason}); a guest has none of its own.")
    elif found == "performance":
        yield Check("governor", "ok", "The frequency governor is 'performance'.")
    else:
        yield Check(
            "governor",
            "warn",
            f"The frequency governor is {quoted(found)}: the clock drops while waiting, which lengthens short latencies.",
            "As root: cpupower frequency-set -g performance.",
        )


def turbo(examination: Examination) -> Iterator[Check]:
    """Whether the clock depends on temperature and on other cores."""
    found = examination.fact("cpu", "turbo")
    if found == "on":
        yield Check(
            "turbo",
            "ok",
            "Turbo is on: the generator's own cost varies with temperature by some percent.",
            "Turn it off for comparisons of less than 5 % on very fast devices.",
        )
    elif found == "off":
        yield Check("turbo", "ok", "Turbo is off: the clock is constant.")


def clocksource(examination: Examination) -> Iterator[Check]:
    """Whether reading the time is cheap."""
    found = examination.fact("kernel", "clocksource")
    if found is None:
        yield Check("clocksource", "unknown", f"The clock source cannot be seen ({examination.why_absent('kernel', 'clocksource')}).")
    elif found in ("tsc", "arch_sys_counter"):
        yield Check("clocksource", "ok", f"The kernel reads the time from {found}.")
    else:
        yield Check(
            "clocksource",
            "warn",
            f"The kernel reads the time from {found}, which costs up to a microsecond per reading.",
            "Boot with tsc=reliable if the CPU's counter is invariant, or choose another instance type.",
        )


def virtual_machine(examination: Examination) -> Iterator[Check]:
    """Whether a hypervisor takes CPU time away."""
    kind = examination.fact("machine", "virtualisation")
    steal = (examination.activity.get("cpu") or {}).get("steal_percent")
    if kind in (None, "none") and not steal:
        yield Check("virtual_machine", "ok", "No hypervisor shows itself.")
    elif steal is not None and steal > STEAL_PERCENT_MAX:
        yield Check(
            "virtual_machine",
            "warn",
            f"The hypervisor took {steal:.1f} % of the CPU time away while we watched.",
            "Measure at a quieter time or on a dedicated host; repeat and compare medians.",
        )
    else:
        yield Check(
            "virtual_machine",
            "ok",
            f"This is a {kind if kind not in (None, 'none') else 'guest'}; no CPU time was taken away while we watched.",
            "Neighbours can still change the numbers: repeat (--repeat 5) and look at the spread.",
        )


def busy(examination: Examination) -> Iterator[Check]:
    """Whether something else uses the CPUs."""
    cpu = examination.activity.get("cpu")
    if not cpu:
        yield Check("other_work", "unknown", "The CPU time cannot be seen in /proc/stat.")
        return
    used = (cpu["user_percent"] or 0.0) + (cpu["system_percent"] or 0.0) - (cpu.get("own_user_percent") or 0.0)
    if used > BUSY_PERCENT_MAX:
        yield Check("other_work", "warn", f"Other programs use {used:.0f} % of the CPUs.", "Stop them; the generator needs free cores.")
    else:
        yield Check("other_work", "ok", f"Other programs use {used:.0f} % of the CPUs.")


#: Registered buffers of a deep run: 64 threads × depth 32 × 64 KiB.
LOCKED_BYTES_WANTED = 128 << 20


def io_uring(examination: Examination) -> Iterator[Check]:
    """Whether the kernel allows io_uring to this user."""
    probe = examination.io_uring
    disabled = examination.fact("kernel", "io_uring_disabled")
    if probe.available:
        listed = f" with {', '.join(probe.features)}" if probe.features else ""
        yield Check("io_uring", "ok", f"The kernel offers io_uring{listed}.")
        return
    reason = (probe.reason or "the kernel refuses it").rstrip(".")
    advice = "Allow it in the container's seccomp profile, or use --set backend=sync and compare only with that."
    if disabled in (1, 2):
        advice = f"kernel.io_uring_disabled is {disabled}: as root, sysctl kernel.io_uring_disabled=0."
    yield Check("io_uring", "warn", f"io_uring cannot be used: {reason}.", advice)


def locked_memory(examination: Examination) -> Iterator[Check]:
    """Whether registered buffers may be locked into memory (counted against the limit before Linux 5.12)."""
    limit = examination.locked_memory_bytes
    if limit is None or limit >= LOCKED_BYTES_WANTED:
        yield Check("locked_memory", "ok", "Locked memory is enough for deep queues.")
    elif _kernel(examination) >= (5, 12):
        yield Check("locked_memory", "ok", f"RLIMIT_MEMLOCK is {limit >> 10} KiB, which this kernel does not charge rings against.")
    else:
        yield Check(
            "locked_memory",
            "warn",
            f"RLIMIT_MEMLOCK is {limit >> 10} KiB: deep queues with large requests cannot register their buffers.",
            "Raise it with 'ulimit -l unlimited' or in /etc/security/limits.conf.",
        )


def own_cost(examination: Examination) -> Iterator[Check]:
    """Whether Plimsoll's own cost per I/O is known."""
    per_core = None if examination.calibration is None else examination.calibration.per_core(NOP)
    if per_core is None:
        yield Check("own_cost", "unknown", "Plimsoll's own cost has not been measured here.", "Run 'plimsoll doctor --calibrate'.")
        return
    yield Check("own_cost", "ok", f"One core can issue {per_core / 1e6:.1f} million I/Os per second.")


def _kernel(examination: Examination) -> tuple[int, int]:
    words = str(examination.fact("kernel", "release") or "0.0").split(".")
    numbers = ["".join(character for character in word if character.isdigit()) or "0" for word in words[:2]]
    return int(numbers[0]), int(numbers[1]) if len(numbers) > 1 else 0
