"""Columns of Iometer's result files: those of 2004 to 2008, and those of 1.1.0.

Model: 1.1.0 has bandwidth twice (binary and decimal megabytes) in the place of one trio, and 21 latency bins behind everything else. Times
are milliseconds; a megabyte of the older form is 1,048,576 bytes.

    columns(Version("1.1.0"))[9]              # 'MiBps (Binary)'
"""

from __future__ import annotations

from plimsoll.formats.iometer.version import Version

_TRIO = ("", "Read ", "Write ")
_TIMES = ("Response Time", "Read Response Time", "Write Response Time", "Transaction Time", "Connection Time")
_RAW = ("Read Response Time", "Write Response Time", "Transaction Time", "Connection Time")

NAMES = ("Target Type", "Target Name", "Access Specification Name", "# Managers", "# Workers", "# Disks")
RATES = tuple(f"{which}IOps" for which in _TRIO)
MEGABYTES = tuple(f"{which}MBps" for which in _TRIO)
BINARY = tuple(f"{which}MiBps (Binary)" for which in _TRIO)
DECIMAL = tuple(f"{which}MBps (Decimal)" for which in _TRIO)
REST = (
    "Transactions per Second",
    "Connections per Second",
    *(f"Average {time}" for time in _TIMES),
    *(f"Maximum {time}" for time in _TIMES),
    "Errors",
    "Read Errors",
    "Write Errors",
    "Bytes Read",
    "Bytes Written",
    "Read I/Os",
    "Write I/Os",
    "Connections",
    "Transactions per Connection",
    *(f"Total Raw {time}" for time in _RAW),
    *(f"Maximum Raw {time}" for time in _RAW),
    "Total Raw Run Time",
    "Starting Sector",
    "Maximum Size",
    "Queue Depth",
    "% CPU Utilization",
    "% User Time",
    "% Privileged Time",
    "% DPC Time",
    "% Interrupt Time",
    "Processor Speed",
    "Interrupts per Second",
    "CPU Effectiveness",
    "Packets/Second",
    "Packet Errors",
    "Segments Retransmitted/Second",
)

#: Upper edges of the latency bins in nanoseconds, each with the name of its column; a bin counts what lies below its edge and not in an
#: earlier one. The column that says 4.7 s ends at 4 s, as Iometer counts it.
BINS: tuple[tuple[str, int | None], ...] = (
    ("0 to 50 uS", 50_000),
    ("50 to 100 uS", 100_000),
    ("100 to 200 uS", 200_000),
    ("200 to 500 uS", 500_000),
    ("0.5 to 1 mS", 1_000_000),
    ("1 to 2 mS", 2_000_000),
    ("2 to 5 mS", 5_000_000),
    ("5 to 10 mS", 10_000_000),
    ("10 to 15 mS", 15_000_000),
    ("15 to 20 mS", 20_000_000),
    ("20 to 30 mS", 30_000_000),
    ("30 to 50 mS", 50_000_000),
    ("50 to 100 mS", 100_000_000),
    ("100 to 200 mS", 200_000_000),
    ("200 to 500 mS", 500_000_000),
    ("0.5 to 1 S", 1_000_000_000),
    ("1 to 2 s", 2_000_000_000),
    ("2 to 4.7 s", 4_000_000_000),
    ("4.7 to 5 s", 5_000_000_000),
    ("5 to 10 s", 10_000_000_000),
    (" >= 10 s", None),
)


def columns(version: Version) -> tuple[str, ...]:
    """The header of result rows."""
    if not version.modern:
        return (*NAMES, *RATES, *MEGABYTES, *REST)
    return (*NAMES, *RATES, *BINARY, *DECIMAL, *REST, *(name for name, _ in BINS))
