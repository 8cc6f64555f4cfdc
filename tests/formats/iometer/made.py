"""ICF files made from a few words, so that a test shows only what it is about.

Model: text is put together here by hand, not by the writer under test.

    icf(specs=[("Default", ["2048,100,67,100,0,1,2048,0"])], managers=manager(worker(targets=["sdb"])))
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

DEFAULT = ("Default", ["2048,100,67,100,0,1,2048,0"])
SEQUENTIAL = ("Sequential", ["65536,100,100,0,0,1,0,0"])
OUTSTANDING = "'Number of outstanding IOs,test connection rate,transactions per connection"
REGION = "'Disk maximum size,starting sector"


def header(name: str) -> str:
    return f"'{name} ".ljust(80, "=")


def setup(keys: Mapping[str, str] | None = None, end: bool = True) -> str:
    """Section TEST SETUP: what every file has, with ``keys`` in the place of values or beside them."""
    values = {
        "Test Description": "",
        "Run Time": "0          1          0",
        "Ramp Up Time (s)": "15",
        "Test Type": "NORMAL",
        **(keys or {}),
    }
    lines = [header("TEST SETUP")]
    for key, value in values.items():
        lines += [f"'{key}", *([f"\t{value}"] if value else [])]
    return "\n".join([*lines, *(["'END test setup"] if end else []), ""])


def specs(entries: Iterable[tuple[str, Sequence[str]]]) -> str:
    lines = [header("ACCESS SPECIFICATIONS")]
    for name, rows in entries:
        lines += ["'Access specification name,default assignment", f"\t{name if ',' in name else name + ',NONE'}"]
        lines += ["'size,% of size,% reads,% random,delay,burst,align,reply", *(f"\t{row}" for row in rows)]
    return "\n".join([*lines, "'END access specifications", ""])


def worker(
    name: str = "Worker 1",
    assigned: Sequence[str] = ("Default",),
    targets: Sequence[str] = ("sdb",),
    outstanding: str = "1,DISABLED,1",
    region: str = "0,0",
) -> str:
    """A disk worker."""
    seed = ",use fixed seed,fixed seed value" if outstanding.count(",") == 4 else ""
    pattern = ",Data pattern" if region.count(",") == 2 else ""
    lines = [f"'Worker\n\t{name}", "'Worker type\n\tDISK", "'Default target settings for worker"]
    lines += [f"{OUTSTANDING}{seed}\n\t{outstanding}", f"{REGION}{pattern}\n\t{region}", "'End default target settings for worker"]
    lines += ["'Assigned access specs", *(f"\t{item}" for item in assigned), "'End assigned access specs", "'Target assignments"]
    for target in targets:
        lines += [f"'Target\n\t{target}", "'Target type\n\tDISK", "'End target"]
    return "\n".join([*lines, "'End target assignments", "'End worker", ""])


def network_worker(name: str = "Worker 9", kind: str = "NETWORK,TCP") -> str:
    """A worker that sends to another manager."""
    return (
        f"'Worker\n\t{name}\n'Worker type\n\t{kind}\n'Default target settings for worker\n{OUTSTANDING}\n\t1,DISABLED,1\n{REGION}\n\t0,0\n"
        "'Local network interface\n\t10.0.0.1\n'VI outstanding IOs\n\t8\n'End default target settings for worker\n'Assigned access specs\n"
        "\tDefault\n'End assigned access specs\n'Target assignments\n'Target\n\t10.0.0.2\n'Target type\n"
        f"\t{kind}\n'Target manager ID, manager name\n\t2,OTHER\n'End target\n'End target assignments\n'End worker\n"
    )


def manager(*workers: str, name: str = "1,HOST", address: str = "") -> str:
    below = f"\n\t{address}" if address else ""
    return f"'Manager ID, manager name\n\t{name}\n'Manager network address{below}\n{''.join(workers)}'End manager\n"


def managers(*entries: str) -> str:
    return f"{header('MANAGER LIST')}\n{''.join(entries)}'END manager list\n"


def icf(*sections: str, version: str = "2006.07.27") -> str:
    """A file of these sections."""
    return f"Version {version} \n{''.join(sections)}Version {version} \n"


def simple(keys: Mapping[str, str] | None = None, *workers: str, lines: Iterable[tuple[str, Sequence[str]]] = (DEFAULT, SEQUENTIAL)) -> str:
    """A file with a setup, two specifications, and one manager with ``workers``."""
    return icf(setup(keys), specs(lines), managers(manager(*(workers or (worker(),)))))
