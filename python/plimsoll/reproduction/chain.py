"""What has to be run for claims: every run once, and those that follow each other on one array together.

Model: a *chain* is what one array goes through from rest. Mostly that is one run; a check ``in_order`` makes one of all its cases, so that
caches stay as the case before has left them. Equal chains are made once, whichever claims read them. A run of which only sizes and rates
of links are read is in none.

    for chain in chains(claims):
        readings[chain] = ...
    chain_of(check, case, "sas")      # where the run `sas` of that case is: the chain and its place in it
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from plimsoll.catalog.claims import Case, Check, Claim, Run

#: Runs of one array, one after the other.
Chain = tuple[Run, ...]


def chains(claims: Iterable[Claim]) -> list[Chain]:
    """Every chain once, in the order in which claims need them."""
    found: dict[Chain, None] = {}
    for claim in claims:
        for check in claim.checks:
            for case in check.cases():
                for name in run_names(case):
                    found[chain_of(check, case, name)[0]] = None
    return list(found)


def run_names(case: Case) -> Iterator[str]:
    """The runs of a case that something measured is read off."""
    measured = (one.run for expression in case.expressions for one in expression.read_offs if one.needs_a_run)
    yield from dict.fromkeys(measured)


def chain_of(check: Check, case: Case, name: str) -> tuple[Chain, int]:
    """The chain that a run of a case is part of, and its place in it."""
    run = case.runs[name]
    if not check.in_order:
        return (run,), 0
    chain = tuple(one.runs[name] for one in check.cases())
    return chain, chain.index(run)
