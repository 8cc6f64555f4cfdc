"""Write the target full, and then once more, before anything of it is measured.

Model: workload-independent preconditioning of the SNIA Solid State Storage Performance Test Specification 2.0.2: sequential writes of
128 KiB over twice the capacity. The ask has its own role and an amount in multiples of the target's size; who conducts it replaces the
workload.
Limits: it takes as long as writing the target twice does, and it destroys what is there.

    result = yield precondition_ask()
"""

from __future__ import annotations

from plimsoll.experiments import wording
from plimsoll.experiments.plan import Ask, Conclusion, Plan

#: Times the target's size.
AMOUNT = 2.0


def precondition_ask(amount: float = AMOUNT) -> Ask:
    """The ask for writing ``amount`` times the target's size."""
    return Ask(role="precondition", amount=amount)


def precondition(amount: float = AMOUNT) -> Plan:
    """Nothing but that."""
    result = yield precondition_ask(amount)
    if result.status == "failed":
        return Conclusion("precondition", (f"The target was not preconditioned: {wording.reason(result)}.",), figures={"done": False})
    rate = sum(total.bytes_per_s for total in result.totals.values())
    said = f"{amount:g} × the target's size was written sequentially at {rate / 1e6:,.1f} MB/s."
    return Conclusion("precondition", (said,), figures={"done": True, "amount": amount, "bytes_per_s": rate})
