"""Checks of what generates the load: io_uring, locked memory, own cost."""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.doctor.examination import Check, Examination

#: Registered buffers of a deep run: 64 threads × depth 32 × 64 KiB.
LOCKED_BYTES_WANTED = 128 << 20


def io_uring(examination: Examination) -> Iterator[Check]:
    """Whether the kernel allows io_uring to this user."""
    probe = examination.io_uring
    disabled = examination.fact("kernel", "io_uring_disabled")
    if probe.get("available"):
        features = probe.get("features")
        listed = f" with {', '.join(features)}" if isinstance(features, list) and features else ""
        yield Check("io_uring", "ok", f"The kernel offers io_uring{listed}.")
        return
    reason = str(probe.get("reason") or "the kernel refuses it").rstrip(".")
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
    nop = (examination.calibration or {}).get("nop") or {}
    per_core = nop.get("iops_per_core")
    if not per_core:
        yield Check("own_cost", "unknown", "Plimsoll's own cost has not been measured here.", "Run 'plimsoll calibrate'.")
        return
    yield Check("own_cost", "ok", f"One core can issue {per_core / 1e6:.1f} million I/Os per second.")


def _kernel(examination: Examination) -> tuple[int, int]:
    words = str(examination.fact("kernel", "release") or "0.0").split(".")
    numbers = ["".join(character for character in word if character.isdigit()) or "0" for word in words[:2]]
    return int(numbers[0]), int(numbers[1]) if len(numbers) > 1 else 0
