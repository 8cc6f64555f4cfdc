"""Checks of the processor: frequency, clock, hypervisor, other work."""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.doctor.examination import Check, Examination

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
            f"The frequency governor is {found!r}: the clock drops while waiting, which lengthens short latencies.",
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
    used = cpu["user_percent"] + cpu["system_percent"]
    if used > BUSY_PERCENT_MAX:
        yield Check("other_work", "warn", f"Other programs use {used:.0f} % of the CPUs.", "Stop them; the generator needs free cores.")
    else:
        yield Check("other_work", "ok", f"Other programs use {used:.0f} % of the CPUs.")
