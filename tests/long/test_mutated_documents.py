"""Thousands of changed documents through whole verbs: taken, or refused in a sentence."""

from __future__ import annotations

from random import Random

from long.settings import Scale
from long.tally import Tally
from support.mutated_documents import tried
from support.said import Plimsoll

TRIALS = 3_000


def test_changed_documents_are_taken_or_refused_in_a_sentence(
    plimsoll_in_process: Plimsoll, draws: Random, scale: Scale, tally: Tally
) -> None:
    broken = tally.broken("changed document", scale.times(TRIALS), lambda: tried(draws, plimsoll_in_process))
    assert not broken, "\n\n".join([f"{len(broken)} documents end in a mistake of ours", *broken[:10]])
