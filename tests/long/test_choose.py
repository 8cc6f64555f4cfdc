"""``plimsoll choose`` beyond what the unit tests have time for: processes, thousands of candidates."""

from __future__ import annotations

import plimsoll
from plimsoll.choice.view import view_of
from plimsoll.reports.terminal.choice import answer
from support.processor_time import processor_s

AMONG = "nvme-raid10?drives=2..8+2 msa50-sas-10k-raid5-8 nearline-raid6?drives=6..8&level=raid6,raid5"


def test_equal_questions_have_equal_answers_with_any_number_of_processes() -> None:
    found = [plimsoll.choose("oltp-db@300", among=AMONG, objective="p99 <= 5ms", capacity="500GB", jobs=jobs) for jobs in (1, 3)]
    one, three = (view_of(chosen, answer(chosen)) for chosen in found)
    assert one == three
    assert one["candidates"][0]["carries"]


#: Of both processors together: a minute on two.
PROCESSOR_S_MAX = 120.0


def test_two_thousand_candidates_take_less_than_a_minute_on_two_processors() -> None:
    """Measured as processor time, which hardly depends on what else the machine does."""
    level = "drives=4..60&level=raid10,raid5,raid6"
    among = [f"nvme-raid10?{level}&group.mirror.raid.strip_sectors={sectors}" for sectors in (32, 64, 128, 256, 512, 1024, 2048, 4096)]
    among += ["nearline-raid6?drives=4..12&level=raid5,raid6,raid10&drive=nearline-16t,savvio-10k3-300g,savvio-10k4-600g,savvio-15k3-300g"]
    among += ["msa2000 msa50 msa30 dl360 se6920", "nvme-raid10?drives=4..60&level=raid10,raid5,raid6"]
    before = processor_s()
    chosen = plimsoll.choose("oltp-db@3k", among=among, objective="read p99 <= 30ms", capacity="4TB", jobs=2)
    spent = processor_s() - before
    print(f"{len(chosen.entries)} candidates, {chosen.simulated} simulated, {spent:.1f} s of processor time")
    assert len(chosen.entries) > 1_800
    assert chosen.best is not None
    assert spent < PROCESSOR_S_MAX
