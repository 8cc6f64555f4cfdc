"""Hundreds of damages to a store, each read by every verb: a sentence each, no mistake of ours, every other run still listed."""

from __future__ import annotations

from pathlib import Path
from random import Random

from long.settings import Scale
from long.tally import Tally
from support.damaged_store import made_by_engine, trial
from support.said import Plimsoll

#: As many as the audit did by hand, and some more.
TRIALS = 500


def test_no_damage_ends_in_a_mistake_of_ours_or_hides_another_run(
    plimsoll_in_process: Plimsoll, draws: Random, scale: Scale, tally: Tally
) -> None:
    names = made_by_engine(plimsoll_in_process)
    Path("results").rename("store")
    broken = tally.broken("damaged store", scale.times(TRIALS), lambda: trial(Path("store"), names, draws, plimsoll_in_process))
    assert not broken, "\n\n".join([f"{len(broken)} damages are not told in a sentence", *broken[:10]])
