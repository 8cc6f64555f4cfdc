"""What a foreign file becomes: an experiment file of ours, and a remark for everything that stood in it.

Model: nothing is guessed silently. Each option of the foreign file is remarked upon once: *native* (it is in the document), *ignored* (the
run goes on without it, and the remark says what that changes) or *unsupported* (the file cannot be run faithfully, and the remark names
what comes nearest). *Surprises* are places where the tool itself does not do what its file seems to say.

    translation = fio.translate(text, "job.fio", include, environment)
    translation.document["experiment"]        # tables of an experiment file
    translation.refusal()                     # None, or the sentence that says why it cannot be run
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Literal

from plimsoll.displayed import quoted
from plimsoll.stored import Json

Kind = Literal["native", "ignored", "unsupported", "surprise"]


@dataclass(frozen=True)
class Remark:
    """One thing the foreign file says: where, the words themselves, what becomes of it, and why."""

    line: int | None
    text: str
    kind: Kind
    why: str = ""

    def sentence(self, source: str) -> str:
        """For people: ``job.fio:12: 'nice=5' is ignored: …``."""
        place = source if self.line is None else f"{source}:{self.line}"
        verdict = {"native": "is native", "ignored": "is ignored", "unsupported": "is not supported", "surprise": "may surprise"}
        return f"{place}: {quoted(self.text)} {verdict[self.kind]}{f': {self.why}' if self.why else ''}"


@dataclass
class Translation:
    """A foreign file in our words."""

    source: str
    format: str
    document: Json = field(default_factory=dict)
    remarks: list[Remark] = field(default_factory=list)

    def of(self, kind: Kind) -> list[Remark]:
        """The remarks of one kind, in the order of the file."""
        return [remark for remark in self.remarks if remark.kind == kind]

    def refusal(self) -> str | None:
        """Why the file cannot be run, in a sentence that begins with the place; None when it can."""
        first = self.of("unsupported")
        if not first:
            return None
        more = f" ({len(first) - 1} more; 'plimsoll translate' lists them)" if len(first) > 1 else ""
        return f"{first[0].sentence(self.source)}{more}"

    def to_json(self) -> Json:
        """As ``plimsoll translate --json`` prints it."""
        return {
            "source": self.source,
            "format": self.format,
            "document": self.document,
            "remarks": [asdict(remark) for remark in self.remarks],
        }


def counted(remarks: Iterable[Remark]) -> dict[str, int]:
    """How many remarks there are of each kind."""
    counts = dict.fromkeys(("native", "ignored", "unsupported", "surprise"), 0)
    for remark in remarks:
        counts[remark.kind] += 1
    return counts
