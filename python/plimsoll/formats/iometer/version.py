"""Versions of Iometer as its files carry them, and what a reader has to know of each.

Model: a first component above 1900 is a date, and orders as year·10000 + month·100 + day; anything else is major.minor.patch and orders as
major·10¹⁰ + minor·10⁵ + patch, so that 1.1.0 stands above all dates (and so does 3.26.97, which a test version of 1997 wrote).

    Version("2006.07.27") < Version("1.1.0")       # True
    Version("1997.11.03").named_specs              # False
"""

from __future__ import annotations

import re
from dataclasses import dataclass

#: From here on access specifications have names and eight values; before, six values without a name.
NAMED_SPECS = 19980521
#: From here on keys of the test setup must be known, and every section has its end line.
STRICT_SETUP = 19990217
#: Files older than this were written by versions that Iometer itself warns about.
OLDEST_KNOWN = 19980105
#: 1.1.0: fixed seeds, data patterns, decimal megabytes.
MODERN = 10**10 + 10**5

_COMPONENTS = re.compile(r"(\d{1,4})\.(\d{1,4})(?:\.(\d{1,4}))?(?:[-+ ].*)?")


@dataclass(frozen=True)
class Version:
    """A version as it is written."""

    text: str

    @property
    def is_readable(self) -> bool:
        """Whether the text is a version at all."""
        return _COMPONENTS.fullmatch(self.text) is not None

    @property
    def number(self) -> int:
        """What versions are ordered by."""
        found = _COMPONENTS.fullmatch(self.text)
        first, second, third = (int(part or 0) for part in found.groups()) if found else (0, 0, 0)
        return first * 10**4 + second * 100 + third if first > 1900 else first * 10**10 + second * 10**5 + third

    def __lt__(self, other: Version) -> bool:
        return self.number < other.number

    @property
    def named_specs(self) -> bool:
        """Access specifications have names, alignment and reply."""
        return self.number >= NAMED_SPECS

    @property
    def strict_setup(self) -> bool:
        """Unknown keys of the test setup are mistakes."""
        return self.number >= STRICT_SETUP

    @property
    def modern(self) -> bool:
        """Fixed seeds and data patterns exist."""
        return self.number >= MODERN
