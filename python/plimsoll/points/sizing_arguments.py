"""What ``plimsoll size`` was asked: every option, and whether they make sense together.

check_company(SizingArguments(device="sdb"))        # raises InputError: --device means something only with --from
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

from plimsoll.errors import InputError

#: Options that only mean something beside another one.
_NEEDS = {
    "device": "from_file",
    "percentile": "from_file",
    "profile": "mailboxes",
    "disk_iops": "raid",
    "disks": "raid",
    "disk_size": "raid",
    "groups": "raid",
    "spares": "raid",
    "dedicated_spares": "raid",
    "arrays": "raid",
    "mirror_arrays": "raid",
    "volumes": "raid",
}
_SOURCES = ("iops", "from_file", "mailboxes")
#: Options of the job that measures.
MEASURING = ("duration", "warmup", "size")
_SPELT = {"from_file": "--from"}


@dataclass(frozen=True, kw_only=True)
class SizingArguments:
    """What was typed; ``arrays`` is how many equal arrays ``--raid`` computes, ``array_pattern`` names modelled ones to measure."""

    runs: tuple[str, ...] = ()
    iops: str | None = None
    read_percent: str | None = None
    block_size: str | None = None
    random_percent: str | None = None
    from_file: str | None = None
    device: str | None = None
    percentile: str | None = None
    mailboxes: int | None = None
    profile: str | None = None
    growth: str | None = None
    objective: str | None = None
    raid: str | None = None
    disk_iops: str | None = None
    disks: int | None = None
    disk_size: str | None = None
    groups: int | None = None
    spares: int | None = None
    dedicated_spares: int | None = None
    arrays: int | None = None
    array_pattern: str | None = None
    mirror_arrays: bool | None = None
    volumes: int | None = None
    price: str | None = None
    measure: bool = False
    asserted: bool = False
    targets: tuple[str, ...] = ()
    duration: str | None = None
    warmup: str | None = None
    size: str | None = None
    out: str = "results"
    dry_run: bool = False
    keep: bool = False
    destroy_data: str | None = None
    fresh: bool = False

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Self:
        """From options by their names, of which ``arrays`` is a number or a pattern."""
        names = {one.name for one in fields(cls)}
        return cls(**{name: value for name, value in options.items() if name in names} | _arrays(options["arrays"]))


def spelt(name: str) -> str:
    """An option as it is typed."""
    return _SPELT.get(name, f"--{name.replace('_', '-')}")


def _arrays(text: str | None) -> dict[str, Any]:
    """``--arrays`` as a number of arrays, or as a pattern of their names."""
    if text is None or not text.strip().lstrip("-").isdecimal():
        return {"arrays": None, "array_pattern": text}
    if int(text) < 1:
        raise InputError(f"--arrays {text}: give how many equal arrays there are, 1 or more, or a name such as 'msa2000-*'.")
    return {"arrays": int(text), "array_pattern": None}


def check_company(arguments: SizingArguments) -> None:
    """Refuse options that would be ignored."""
    is_typed: Callable[[str], bool] = lambda name: getattr(arguments, name) is not None  # noqa: E731
    sources = list(filter(is_typed, _SOURCES))
    if len(sources) > 1:
        raise InputError(f"{' and '.join(map(spelt, sources))}: a demand has one source; give one of them.")
    for name, other in _NEEDS.items():
        if is_typed(name) and not is_typed(other):
            raise InputError(f"{spelt(name)} means something only with {spelt(other)}; give that as well, or leave it out.")
    if arguments.mailboxes is not None and arguments.profile is None:
        raise InputError("--mailboxes: of which kind? Give --profile, for example --profile exchange-2010:100.")
    if sources:
        return
    described = next(filter(is_typed, ("read_percent", "block_size", "random_percent", "growth", "objective")), None)
    if described is not None:
        raise InputError(f"{spelt(described)} describes a demand, and there is none; give --iops, --from or --mailboxes.")
    if arguments.measure or arguments.array_pattern is not None:
        option = "--measure" if arguments.measure else "--arrays"
        raise InputError(f"{option}: there is no demand to measure; give one with --iops, --from or --mailboxes.")
    if arguments.runs:
        raise InputError(f"{arguments.runs[0]}: there is no demand to hold it against; give one with --iops, --from or --mailboxes.")


def measured_targets(arguments: SizingArguments) -> tuple[str, ...]:
    """What is to be measured: the targets with ``--measure``, the arrays of ``--arrays``; nothing where stored lines shall answer."""
    if arguments.array_pattern is None and not arguments.measure:
        only_measuring = (*MEASURING, "keep", "destroy_data", "fresh", "dry_run")
        unused = (name for name in only_measuring if getattr(arguments, name) not in (None, False))
        if (name := next(unused, None)) is not None:
            raise InputError(f"{spelt(name)} is for measuring; add --measure, or leave it out.")
        return ()
    if arguments.runs:
        raise InputError(f"{arguments.runs[0]}: stored runs are looked at without --measure and --arrays; leave one of both out.")
    if arguments.array_pattern is None:
        if not arguments.targets:
            raise InputError("--measure: what shall be measured? Name it with --target, or take modelled arrays with --arrays 'msa2000-*'.")
        return arguments.targets
    from plimsoll.points.demand import arrays_like

    return (*arguments.targets, *arrays_like(arguments.array_pattern))
