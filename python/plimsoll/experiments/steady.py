"""Rounds until steady, on a target that may be written full before.

Preconditioning: write the target full, and then once more, before anything of it is measured.

Model: workload-independent preconditioning of the SNIA Solid State Storage Performance Test Specification 2.0.2: sequential writes of
128 KiB over twice the capacity. The ask has its own role and an amount in multiples of the target's size; who conducts it replaces the
workload.
Limits: it takes as long as writing the target twice does, and it destroys what is there.

    result = yield precondition_ask()

Rounds of one workload until a window of them is steady: how SNIA's specification measures flash.

Model: SNIA Solid State Storage Performance Test Specification 2.0.2. The target may first be written twice over; then the workload runs in
rounds. Steady state is attained at the first round at which the last five differ by at most 20 % of their average and their least-squares
line climbs or falls by at most 10 % (`plimsoll.analysis.statistics.steadiness`); the figure is the average of that window. After the last
round allowed it is *not attained*, and that is said.
Limits: SNIA's rounds are a minute each; here a round is as long as the job's duration. A failed round has no value, and the window starts
anew behind it.

    plan = steady("iops", "write", rounds_max=25, window=5, precondition=True)
"""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.analysis.point.metric import ALL, metric
from plimsoll.analysis.statistics.steadiness import ROUNDS, Steadiness, window_verdict
from plimsoll.experiments import phrases
from plimsoll.experiments.plan import Ask, Conclusion, Plan
from plimsoll.result import Result

#: Times the target's size.
AMOUNT = 2.0


def precondition_ask(amount: float = AMOUNT) -> Ask:
    """The ask for writing ``amount`` times the target's size."""
    return Ask(role="precondition", amount=amount)


def precondition(amount: float = AMOUNT) -> Plan:
    """Nothing but that."""
    result = yield precondition_ask(amount)
    if result.status == "failed":
        return Conclusion((f"The target was not preconditioned: {phrases.reason(result)}.",), figures={"done": False})
    rate = sum(total.bytes_per_s for total in result.totals.values())
    said = f"{amount:g} × the target's size was written sequentially at {rate / 1e6:,.1f} MB/s."
    return Conclusion((said,), figures={"done": True, "amount": amount, "bytes_per_s": rate})


ROUNDS_MAX = 25


def steady(
    metric_name: str = "iops", op: str = ALL, rounds_max: int = ROUNDS_MAX, window: int = ROUNDS, *, precondition: bool = False
) -> Plan:
    """Rounds until ``metric_name`` of ``op`` is steady over ``window`` of them, at most ``rounds_max``."""
    if precondition:
        written = yield precondition_ask()
        if written.status == "failed":
            said = f"The target was not preconditioned, so no round was measured: {phrases.reason(written)}."
            return Conclusion((said,), figures={"attained": False, "rounds": []})
    rounds: list[Result] = []
    values: list[float | None] = []
    verdict = None
    while len(rounds) < rounds_max and not (verdict and verdict.steady):
        rounds.append((yield Ask(role="round", repeat=len(rounds) + 1)))
        found = metric(rounds[-1], op, metric_name) if rounds[-1].status != "failed" else None
        values.append(found.value if found else None)
        verdict = _verdict(values[-window:], window)
    return _concluded((op, metric_name), rounds, values, _Window(window, verdict))


class _Window:
    """The last rounds, and what they say when they say something."""

    def __init__(self, size: int, verdict: Steadiness | None) -> None:
        self.size = size
        self.verdict = verdict

    @property
    def attained(self) -> bool:
        """Whether they are steady."""
        return self.verdict is not None and self.verdict.steady


def _verdict(last: Sequence[float | None], window: int) -> Steadiness | None:
    values = [value for value in last if value is not None]
    return window_verdict(values) if len(values) == window else None


def _concluded(what: tuple[str, str], rounds: Sequence[Result], values: Sequence[float | None], window: _Window) -> Conclusion:
    op, name = what
    inside = [value for value in values[-window.size :] if value is not None] if window.attained else []
    average = sum(inside) / len(inside) if inside else None
    failed = phrases.failures((f"round {number}", result) for number, result in enumerate(rounds, start=1))
    return Conclusion(
        sentences=(_said(what, len(rounds), average, window), *failed),
        figures={
            "metric": name,
            "op": op,
            "rounds": list(values),
            "window": window.size,
            "attained": window.attained,
            "at_round": len(rounds) if window.attained else None,
            "average": average,
            "excursion_percent": window.verdict.excursion_percent if window.verdict else None,
            "slope_percent": window.verdict.slope_percent if window.verdict else None,
        },
    )


def _said(what: tuple[str, str], rounds: int, average: float | None, window: _Window) -> str:
    op, name = what
    subject = name if op == ALL else f"{op} {name}"
    if average is not None and window.verdict is not None:
        return (
            f"Steady state was attained at round {rounds}: {subject} {phrases.figure(name, average)} over the last {window.size} rounds, "
            f"range {window.verdict.excursion_percent:.1f} %, slope {window.verdict.slope_percent:+.1f} %."
        )
    if window.verdict is None:
        return f"Steady state was not attained in {rounds} rounds: fewer than {window.size} in a row have a value of {subject}."
    return (
        f"Steady state was not attained in {rounds} rounds: over the last {window.size}, {subject} ranged over "
        f"{window.verdict.excursion_percent:.1f} % of its average (20 % allowed) with a slope of {window.verdict.slope_percent:+.1f} % "
        "(10 % allowed)."
    )
