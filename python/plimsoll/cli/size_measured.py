"""``plimsoll size --measure`` and ``--arrays``: what targets carry of a demand, measured; the commands that would, where nothing fits."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from plimsoll.errors import InputError

if TYPE_CHECKING:
    from plimsoll.analysis.sizing.demand import Demand
    from plimsoll.points.undertaking import Run

Typed = Mapping[str, Any]

#: Options that say what is demanded, as they are typed again.
_DEMANDED = ("iops", "read_percent", "block_size", "random_percent", "from_file", "device", "percentile", "mailboxes", "profile", "growth")
_MEASURING = ("duration", "warmup", "size")
_SPELT = {"from_file": "--from"}


def measured_targets(typed: Typed) -> list[str]:
    """What is to be measured: the targets with ``--measure``, the arrays of ``--arrays``; nothing where stored lines shall answer."""
    pattern, targets = typed["array_pattern"], list(typed["targets"])
    if pattern is None and not typed["measure"]:
        unused = next(
            (name for name in (*_MEASURING, "keep", "destroy_data", "fresh", "dry_run") if typed[name] not in (None, False)), None
        )
        if unused is not None:
            raise InputError(f"{_spelt(unused)} is for measuring; add --measure, or leave it out.")
        return []
    if typed["runs"]:
        raise InputError(f"{typed['runs'][0]}: stored runs are looked at without --measure and --arrays; leave one of both out.")
    if pattern is None:
        if not targets:
            raise InputError("--measure: what shall be measured? Name it with --target, or take modelled arrays with --arrays 'msa2000-*'.")
        return targets
    from plimsoll.points.demand import arrays_like

    return [*targets, *arrays_like(pattern)]


def measured(demand: Demand, targets: list[str], typed: Typed) -> Run | None:
    """The run of a ramp over the demand's rate on every target; None when only its plan was shown."""
    from plimsoll.cli.experiment import announced, dry_run
    from plimsoll.cli.progress import listener
    from plimsoll.points.asked import Asked
    from plimsoll.points.demand import demand_undertaking
    from plimsoll.points.options import complete
    from plimsoll.points.undertaking import carry_out

    settings = {name: typed[name] for name in _MEASURING if typed[name] is not None}
    asked = demand_undertaking(demand, targets=targets, objective=typed["objective"], settings=settings)
    kept = {name: typed[name] for name in ("out", "keep", "destroy_data", "fresh", *_MEASURING) if typed[name] is not None}
    options, heard = complete({**kept, "target": targets}), listener(quiet=typed["quiet"])
    if typed["dry_run"]:
        dry_run(asked, {**options, "as_json": typed["as_json"]}, heard)
        return None
    return carry_out(asked, Asked.of(options), announced(heard, quiet=typed["quiet"]))


def next_commands(typed: Typed) -> Iterator[str]:
    """How a line that fits the demand is measured, on the targets that were named or on any."""
    again = " ".join(["plimsoll size", *_again(typed)])
    targets = " ".join(f"-t {shlex.quote(target)}" for target in typed["targets"]) or "-t TARGET"
    yield "Measure one that fits:"
    yield f"  {again} --measure {targets}"
    yield "or see which modelled arrays carry it ('plimsoll list --arrays' names them):"
    yield f"  {again} --arrays 'msa2000-*'"
    if typed["from_file"] not in (None, "-"):
        yield "As a workload of its own, for any other experiment:"
        device = f" --device {shlex.quote(typed['device'])}" if typed["device"] else ""
        yield f"  plimsoll fit {shlex.quote(typed['from_file'])}{device} -o demand.toml"


def _again(typed: Typed) -> Iterator[str]:
    """The demand and the objective, typed again."""
    for name in (*_DEMANDED, "objective"):
        if typed[name] is not None:
            yield f"{_spelt(name)} {shlex.quote(str(typed[name]))}"


def _spelt(name: str) -> str:
    return _SPELT.get(name, f"--{name.replace('_', '-')}")
