"""Flags about several hosts as one: hosts that are lost, starts that lie apart, clocks that cannot be compared, and what each host doubts.

Model: clocks are compared within a bound that holds for certain; a start that lies further apart than an interval, or is known less well
than one, puts what hosts did at different times into the same interval.
Limits: a host's own flags come from its own result, and stand there in full.
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from plimsoll.analysis.validity.evidence import Evidence, quantity
from plimsoll.analysis.validity.severity import rank
from plimsoll.result import Flag, HostResult, flag_words
from plimsoll.units import significant

#: Starts further apart than this are worth a word; a common start is good to some tens of microseconds.
SKEW_NS = 1_000_000
#: A clock runs away by less than this, beyond what is not known of it.
_DRIFT_PPM = 200
#: A wall clock that is slewed moves by less than this in a point; one that was set, by more.
_SET_NS = 50_000_000
#: Hosts whose rates differ by more than this share of the median are no equals.
UNEQUAL = 0.2


def host_missing(evidence: Evidence) -> Iterator[Flag]:
    """A host was lost or failed: the sums lack what it would have done."""
    for host in evidence.result.hosts:
        if host.error is not None:
            yield Flag(
                "host_missing",
                "invalid",
                f"{host.name}: {host.error.rstrip('.')}; the sums lack it from then on.",
                "Do not use the sums. The other hosts' figures stand by themselves; find out what became of this one, and measure again.",
            )


def hosts_unequal(evidence: Evidence) -> Iterator[Flag]:
    """A host did much more or less than the others, of three at least."""
    rates = {host.name: sum(total.iops for total in host.totals.values()) for host in evidence.result.hosts if host.error is None}
    if len(rates) < 3:
        return
    middle = median(rates.values())
    for name, rate in rates.items():
        if middle > 0 and abs(rate - middle) > UNEQUAL * middle:
            yield Flag(
                "hosts_unequal",
                "note",
                f"{name} did {significant(rate / middle)} × the median of the hosts ({quantity(rate)} of {quantity(middle)} per second).",
                "Compare it with the others: plimsoll compare takes the runs in the run's directory hosts.",
            )


def start_apart(evidence: Evidence) -> Iterator[Flag]:
    """The hosts did not begin together."""
    begun = {host.name: host.skew_ns for host in evidence.result.hosts if host.skew_ns is not None}
    if len(begun) < 2:
        return
    apart_ns = max(begun.values()) - min(begun.values())
    interval_ns = _interval_ns(evidence)
    if apart_ns > SKEW_NS:
        last = max(begun, key=lambda name: begun[name])
        yield Flag(
            "start_apart",
            "doubt" if interval_ns and apart_ns > interval_ns else "note",
            f"The hosts began {significant(apart_ns / 1e6)} ms apart, {last} last.",
            "Leave a processor of each host to the load, or measure for so long that this does not matter.",
        )


def clocks_unknown(evidence: Evidence) -> Iterator[Flag]:
    """The clocks are compared less well than an interval is long."""
    interval_ns = _interval_ns(evidence)
    for host in evidence.result.hosts:
        if host.offset_bound_ns is not None and interval_ns and host.offset_bound_ns > interval_ns:
            yield Flag(
                "clocks_unknown",
                "doubt",
                f"{host.name}'s clock is known to {significant(host.offset_bound_ns / 1e6)} ms, and an interval lasts "
                f"{significant(interval_ns / 1e6)} ms: what stands in one interval need not have happened at one time.",
                "Use longer intervals (--set interval=), or a network with less delay between the hosts.",
            )


def clock_moved(evidence: Evidence) -> Iterator[Flag]:
    """A host's clock ran away, or was set, while it measured."""
    elapsed_s = evidence.observation.warmup_s + evidence.observation.elapsed_s + evidence.observation.drain_s
    for host in evidence.result.hosts:
        allowed_ns = 2 * (host.offset_bound_ns or 0) + elapsed_s * 1e3 * _DRIFT_PPM
        if host.drift_ns is not None and abs(host.drift_ns) > allowed_ns:
            yield Flag(
                "clock_moved",
                "doubt",
                f"{host.name}'s clock moved by {significant(abs(host.drift_ns) / 1e6)} ms against the others' while it measured.",
                "Its rates are off by as much. A virtual machine that was paused does this; measure again.",
            )
        elif host.clock_set_ns is not None and abs(host.clock_set_ns) > _SET_NS:
            yield Flag(
                "clock_moved",
                "note",
                f"{host.name}'s wall clock was set by {significant(host.clock_set_ns / 1e9)} s meanwhile.",
                "Figures do not depend on it; the times of day in its own result do.",
            )


def host_doubts(evidence: Evidence) -> Iterator[Flag]:
    """What hosts found doubtful in their own figures: as grave as the gravest, in its words."""
    found: dict[str, list[tuple[HostResult, Flag]]] = {}
    for host in evidence.result.hosts:
        for flag in host.flags:
            if flag.severity != "note":
                found.setdefault(flag.name, []).append((host, flag))
    if not found:
        return
    gravest = min((flag for own in found.values() for _, flag in own), key=lambda flag: rank(flag.severity))
    names = "; ".join(f"{flag_words(name)} on {', '.join(dict.fromkeys(host.name for host, _ in own))}" for name, own in found.items())
    yield Flag("host_doubts", gravest.severity, f"Hosts doubt their own figures: {names}. {gravest.message}", gravest.advice)


def _interval_ns(evidence: Evidence) -> int:
    return evidence.observation.interval_ns
