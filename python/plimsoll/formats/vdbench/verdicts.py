"""What becomes of each parameter, collected while the file is planned: one remark for each, in the order of the file.

Model: a parameter may be looked at for many runs. The worst that is said of it stays: *unsupported* over *ignored* over *native*; of two
equals the first stays. Surprises are kept beside, once per place and sentence.

    verdicts = Verdicts()
    verdicts.ignored(parameter, "no device is reset")
    verdicts.remarks()
"""

from __future__ import annotations

from plimsoll.formats.translation import Kind, Remark
from plimsoll.formats.vdbench.parameter import Parameter, Place

_SEVERITY: dict[Kind, int] = {"native": 0, "ignored": 1, "unsupported": 2}


class Verdicts:
    """The remarks as they arise."""

    def __init__(self) -> None:
        self._said: dict[Parameter, tuple[Kind, str]] = {}
        self._surprises: dict[tuple[Parameter, str], None] = {}
        self._lines: list[tuple[Place, str, str, Kind]] = []

    def native(self, parameter: Parameter, why: str = "") -> None:
        """It is in the document."""
        self._say(parameter, "native", why)

    def ignored(self, parameter: Parameter, why: str) -> None:
        """The run goes on without it."""
        self._say(parameter, "ignored", why)

    def unsupported(self, parameter: Parameter, why: str) -> None:
        """The file cannot be run faithfully."""
        self._say(parameter, "unsupported", why)

    def surprise(self, parameter: Parameter, why: str) -> None:
        """Vdbench does not do what the file seems to say."""
        self._surprises[parameter, why] = None

    def line(self, place: Place, text: str, why: str, kind: Kind = "native") -> None:
        """Something of a line that is no parameter."""
        self._lines.append((place, text, why, kind))

    def knows(self, parameter: Parameter) -> bool:
        """Whether anything was said of it."""
        return parameter in self._said

    def remarks(self) -> list[Remark]:
        """One for each parameter and line, and the surprises, in the order of the file."""
        found: list[tuple[tuple[int, int, int, int], Remark]] = [
            (parameter.order, _remark(parameter.place, parameter.text, kind, why)) for parameter, (kind, why) in self._said.items()
        ]
        found += [(parameter.order, _remark(parameter.place, parameter.text, "surprise", why)) for parameter, why in self._surprises]
        found += [((*place.order, -1), _remark(place, text, kind, why)) for place, text, why, kind in self._lines]
        # Sorting is stable: a surprise follows the verdict on the same parameter.
        return [remark for _, remark in sorted(found, key=lambda item: item[0])]

    def _say(self, parameter: Parameter, kind: Kind, why: str) -> None:
        before = self._said.get(parameter)
        if before is None or _SEVERITY[kind] > _SEVERITY[before[0]] or (kind == before[0] and not before[1]):
            self._said[parameter] = (kind, why)


def _remark(place: Place, text: str, kind: Kind, why: str) -> Remark:
    return Remark(place.origin or None, text if place.included is None else f"{place.included}:{place.line}: {text}", kind, why)
