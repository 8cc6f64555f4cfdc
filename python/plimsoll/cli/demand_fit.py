"""``plimsoll fit demand.json``: the workload of a demand that ``plimsoll watch`` kept."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from typing import Any

import click

from plimsoll.cli.fitted_workload import check_output, name_of, write_workload
from plimsoll.displayed import as_document
from plimsoll.errors import InputError
from plimsoll.points.demand_source import observed_demand

SCHEMA = "plimsoll.demand-workload/1"
#: A demand names itself this early.
_HEAD_BYTES = 200
_MARK = b'"schema": "plimsoll.demand/'


def is_demand(path: str) -> bool:
    """Whether the file is one that ``plimsoll watch`` wrote."""
    try:
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
            return _MARK in file.read(_HEAD_BYTES)
    except OSError:
        return False


def fit_demand(path: str, output: str | None, *, as_json: bool, chosen: Mapping[str, Any]) -> None:
    """Make a workload of a demand, and print or write it."""
    import tomli_w

    from plimsoll.analysis.sizing.demanded_workload import demanded_workload, measured_rates
    from plimsoll.engine import block as block_engine
    from plimsoll.reports.terminal.demand import demand_lines

    for option, spelt in (("form", "--format"), ("action", "--action")):
        if chosen[option]:
            raise InputError(f"{spelt} is for traces, and {path} is a demand; leave it out.")
    check_output(output)
    demand = observed_demand(path, chosen["device"], chosen["percentile"])
    workload = demanded_workload(demand, name_of(output or path))
    block_engine.native().check_workload(workload, path)
    if output is not None:
        write_workload(output, workload)
    if as_json:
        click.echo(as_document({"schema": SCHEMA, "demand": demand.to_json(), "workload": workload}))
        return
    click.echo("\n".join(line for line in demand_lines(demand, None) if not line.startswith("objective")))
    click.echo("")
    if output is None:
        click.echo(tomli_w.dumps(workload).rstrip("\n"))
        click.echo("\nThe workload was not written; -o FILE writes it.", err=True)
        return
    file = shlex.quote(output)
    click.echo(f"workload   {output}")
    click.echo(f"run it     plimsoll run {file} -t TARGET")
    click.echo(f"its limit  plimsoll ramp {file} --over rate={measured_rates(demand)} --objective 'p99 <= 5ms' -t TARGET")
