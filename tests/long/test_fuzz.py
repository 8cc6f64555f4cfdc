"""A minute for each reader of other tools' files, three seconds where less of the suite is tried; `make test` gives one (`tests/fuzz`)."""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from fuzz.readers import READERS
from fuzz.trial import Trial, begin, tried
from long.settings import Scale
from long.tally import Tally

SECONDS = 60


def test_a_changed_file_is_taken_or_refused_in_a_sentence(scale: Scale, tally: Tally) -> None:
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn"), initializer=begin) as pool:
        begun = {name: pool.submit(tried, name, scale.seconds(SECONDS, least=3) * reader.share) for name, reader in READERS.items()}
        verdicts = {name: verdict.result() for name, verdict in begun.items()}
    for name, verdict in verdicts.items():
        tally.count(f"fuzz: {name}", survived=not verdict.failure, named=None)
    print("\n".join(_line(name, verdict) for name, verdict in verdicts.items()))
    wrong = [f"{name}:\n{verdict.failure}" for name, verdict in verdicts.items() if verdict.failure]
    assert not wrong, "\n".join(wrong)
    assert all(verdict.taken and verdict.refused for verdict in verdicts.values())


def _line(name: str, verdict: Trial) -> str:
    return f"{name}: {verdict.taken} taken and {verdict.refused} refused in {verdict.seconds:.1f} s"
