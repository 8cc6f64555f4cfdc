"""What became of a run: its results, what its experiments found, its status in the store, its exit code.

outcome.status, outcome.exit_code        # "failed", 4
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from plimsoll.engine import Json
from plimsoll.errors import EXIT_INTERRUPTED, EXIT_POINT_FAILED
from plimsoll.result import Result

if TYPE_CHECKING:
    from plimsoll.experiments.plan import Conclusion, Subject


@dataclass(frozen=True)
class Found:
    """The conclusion of one experiment on one subject."""

    experiment: str
    subject: Subject
    conclusion: Conclusion

    def to_json(self) -> Json:
        """As run.json keeps it and ``--json`` prints it."""
        mark = self.conclusion.mark
        return {
            "experiment": self.experiment,
            "kind": self.conclusion.kind,
            "workload": self.subject.workload,
            "configuration": self.subject.configuration.name,
            "sentences": list(self.conclusion.sentences),
            "mark": None if mark is None else mark.to_json(),
            "figures": self.conclusion.figures,
        }


@dataclass
class Outcome:
    """Filled while a run goes on."""

    results: list[Result] = field(default_factory=list)
    found: Sequence[Found] = ()
    interrupted: bool = False
    failures: list[int] = field(default_factory=list)

    def keep(self, result: Result, failure_code: int = EXIT_POINT_FAILED) -> None:
        """One more point has its result."""
        self.results.append(result)
        if result.status == "failed":
            self.failures.append(failure_code)

    @property
    def status(self) -> str:
        """The run's status in the store."""
        if self.interrupted:
            return "interrupted"
        return "failed" if self.failures else "complete"

    @property
    def exit_code(self) -> int:
        """130 after a signal; the failures' own code when nothing but they happened and all agree; 4 when some points failed."""
        if self.interrupted:
            return EXIT_INTERRUPTED
        if not self.failures:
            return 0
        alike = len(set(self.failures)) == 1 and len(self.failures) == len(self.results)
        return self.failures[0] if alike else EXIT_POINT_FAILED
