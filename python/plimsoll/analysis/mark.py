"""The mark: the highest throughput at which the objective holds."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True)
class Mark:
    """The highest load that held. ``interval`` is the 95 % interval of the throughput at which the response crosses the limit.

    ``failed_by`` names the clause of the objective that failed first above the mark, None when no level failed; ``next_level`` is the
    lowest level that failed.
    """

    iops: float
    bytes_per_s: float
    level: float
    interval: tuple[float, float] | None
    objective: str
    failed_by: str | None
    next_level: float | None

    def to_json(self) -> Json:
        """As ``--json`` prints it."""
        return asdict(self)
