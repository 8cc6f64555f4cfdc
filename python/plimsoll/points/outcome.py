"""What became of a run: its results, what its experiments found, its status in the store, its exit code.

outcome.status, outcome.exit_code        # "failed", 4
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import TYPE_CHECKING, cast

from plimsoll.errors import EXIT_INTERRUPTED, EXIT_POINT_FAILED, EXIT_WRONG_DATA
from plimsoll.records import dataclass
from plimsoll.result import Result

if TYPE_CHECKING:
    from plimsoll.experiments.plan import Conclusion, Subject
    from plimsoll.stored import Conclusion as Concluded
    from plimsoll.stored import Mark as StoredMark


@dataclass(frozen=True)
class Found:
    """The conclusion of one experiment on one subject."""

    experiment: str
    kind: str
    subject: Subject
    conclusion: Conclusion

    def to_json(self) -> Concluded:
        """As run.json keeps it and ``--json`` prints it."""
        mark = self.conclusion.mark
        return {
            "experiment": self.experiment,
            "kind": self.kind,
            "workload": self.subject.workload,
            "configuration": self.subject.configuration.name,
            "sentences": list(self.conclusion.sentences),
            # The same in JSON, where a tuple is a list.
            "mark": cast("StoredMark | None", None if mark is None else mark.to_json()),
            "figures": self.conclusion.figures,
        }


@dataclass
class Outcome:
    """Filled while a run goes on."""

    results: list[Result] = field(default_factory=list)
    found: Sequence[Found] = ()
    interrupted: bool = False
    failures: list[int] = field(default_factory=list)
    #: Sentences on what was made for the run and could not be removed.
    left: list[str] = field(default_factory=list)

    def keep(self, result: Result, failure_code: int = EXIT_POINT_FAILED) -> None:
        """One more point has its result."""
        self.results.append(result)
        if result.status == "failed":
            from plimsoll.analysis.point.verification import wrong_data

            self.failures.append(EXIT_WRONG_DATA if wrong_data(result) else failure_code)

    @property
    def status(self) -> str:
        """The run's status in the store."""
        if self.interrupted:
            return "interrupted"
        return "failed" if self.failures else "complete"

    @property
    def exit_code(self) -> int:
        """6 where wrong data was read, whatever else happened; then 130 after a signal; then the failures' own code when nothing but they
        happened and all agree; then 4 when some points, or requests of points that went on, failed."""
        if EXIT_WRONG_DATA in self.failures:
            return EXIT_WRONG_DATA
        if self.interrupted:
            return EXIT_INTERRUPTED
        if self.failures:
            alike = len(set(self.failures)) == 1 and len(self.failures) == len(self.results)
            return self.failures[0] if alike else EXIT_POINT_FAILED
        return EXIT_POINT_FAILED if any(_failing(result) for result in self.results) else 0

    @property
    def sentence(self) -> str | None:
        """Why the exit code is 6 or 4 although there are figures; None where it is another, or a failed point has said it."""
        if EXIT_WRONG_DATA in self.failures:
            bad = _points(self.failures.count(EXIT_WRONG_DATA), len(self.results))
            return f"wrong data was read in {bad}; its figures are kept, but no objective holds there."
        failing = [result for result in self.results if result.status != "failed" and _failing(result)]
        if not failing:
            return None
        failed, asked = (sum(number(result) for result in failing) for number in (_failed, _asked))
        told = f"{failed:,} of {asked:,} requests failed" if failed else "requests failed outside the measured time"
        return f"{told} in {_points(len(failing), len(self.results))}; it went on, as on_error says, but what failed is in no latency."


def _failing(result: Result) -> bool:
    """Whether requests failed, in whichever phase, and nobody made them fail: servers of mail that were killed on purpose."""
    if (result.engine.get("mail") or {}).get("kills"):
        return False
    return _failed(result) > 0 or bool(result.engine.get("first_error"))


def _failed(result: Result) -> int:
    return sum(total.errors for total in result.totals.values())


def _asked(result: Result) -> int:
    return sum(total.count + total.errors for total in result.totals.values())


def _points(some: int, all_of_them: int) -> str:
    if all_of_them == 1:
        return "the only point"
    return f"{some:,} of {all_of_them:,} points"
