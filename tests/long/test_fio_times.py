"""Job files whose rates, pauses and ends are a matter of time: ours is as like fio as fio is like itself.

Model: in each attempt fio runs a job file twice and we once; it counts when a process beside them was woken in time. How often fio differs from itself is the noise of this machine; from that follows
how often we may differ from fio (`chance.py`). In a small part of the suite some of the job files are tried, so often that one that always
differs is found; whole, twenty times each, which finds one that differs every second time in nineteen of twenty sessions.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from differential.cases import TIMED, Case
from differential.comparison import differences
from differential.conftest import observer, worker
from differential.observed import Worker, available, of_fio
from long import settings
from long.tally import Tally
from support.chance import failures_max, noise
from support.punctuality import Reference

__all__ = ["observer", "worker"]

ATTEMPTS = 20
TRIES_MAX = 3
#: The least that any of these comparisons allows is 15 % of 2 ms; a hundredth of the requests may be further off.
LATE_US_MAX = 1000.0
CASES = Random(f"{settings.SEED} fio times").sample(TIMED, settings.SCALE.times(len(TIMED), least=3))

pytestmark = pytest.mark.skipif(available() is not None, reason=available() or "")


@pytest.mark.parametrize("case", CASES, ids=[case.rule for case in CASES])
def test_we_differ_from_fio_no_more_often_than_fio_from_itself(
    case: Case,
    tmp_path: Path,
    observer: Path,
    worker: Worker,
    tally: Tally,
) -> None:
    attempts = settings.SCALE.times(ATTEMPTS, least=8)
    wrong: list[str] = []
    fair = noisy = 0
    for attempt in range(TRIES_MAX * attempts):
        if fair == attempts:
            break
        folder = tmp_path / str(attempt)
        folder.mkdir()
        with Reference(ahead=False) as reference:
            theirs, again = (of_fio(case.text, folder / name, observer) for name in ("theirs", "again"))
            ours = worker.load(case.text, folder / "ours")
        if reference.p99_us > LATE_US_MAX:
            continue
        fair += 1
        wrong += differences(case, theirs, ours)[:1]
        noisy += bool(differences(case, theirs, again))
    if fair < attempts:
        pytest.skip(f"the machine wakes programs too late to judge: of {TRIES_MAX * attempts} attempts it was in time in {fair}")
    allowed = failures_max(attempts, noise(noisy, attempts))
    said = f"{case.rule}: we differ in {len(wrong)} of {attempts} attempts, fio from itself in {noisy}, so {allowed} are allowed"
    print(said)
    if allowed == attempts:
        pytest.skip(f"the machine is too noisy to judge: {said}")
    tally.count("timed as fio", survived=len(wrong) <= allowed, named=None)
    assert len(wrong) <= allowed, "\n".join([said, wrong[-1], case.text])
