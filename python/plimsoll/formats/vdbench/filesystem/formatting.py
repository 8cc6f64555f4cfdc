"""``format=`` and what exists when a measurement begins.

Model: Vdbench formats before a run, here every point brings its trees to what it needs. With format=no, Vdbench takes what it finds; here
that is what the run's operations need: nothing to make directories, directories to create files or to remove directories, files otherwise.
Limits: files that are there as described are kept, where format=yes would delete and write them again.

    Formatting.of(run).lay_out({"create"})        # 'directories'
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from typing import Any

from plimsoll.formats.vdbench.definition import Definition
from plimsoll.formats.vdbench.verdicts import Verdicts

Json = dict[str, Any]

_WORDS = ("yes", "no", "restart", "only", "clean", "once", "directories", "limited", "complete")
_WHOLE = "laid out before each point; files that are there as described are kept, which Vdbench would delete and write again"
#: What each word means here.
_MEANINGS = {
    "yes": _WHOLE,
    "restart": "laid out before each point, and files that are there as described are kept",
    "once": "laid out before each point where it is not there as described",
    "directories": "directories are laid out before each point, and no files",
    "no": "what the run's operations need is laid out before each point, where Vdbench would take what there is",
    "complete": "the trees are looked at all the same, and laid out where they are not there as described",
}


@dataclass(frozen=True)
class Formatting:
    """The words of ``format=`` in full; ``no`` where a run has none."""

    words: tuple[str, ...] = ("no",)

    @classmethod
    def of(cls, run: Definition) -> Formatting:
        """What a run formats."""
        parameter = run.get("format")
        if parameter is None:
            return cls()
        found = []
        for text in parameter.texts:
            word = next((known for known in _WORDS if _is(text.lower(), known)), None)
            if word is None:
                raise parameter.wrong(f"{text!r} is not known; there are {', '.join(_WORDS)}.")
            found.append(word)
        made = cls(tuple(found))
        if "limited" in found and "only" not in found:
            raise parameter.wrong("limited goes with only; write format=(only,limited).")
        if {"no", "complete"} & set(found) and made.whole:
            raise parameter.wrong(f"{' and '.join(found)} cannot both hold; write one of them.")
        return made

    @property
    def only(self) -> bool:
        """Whether nothing is measured."""
        return self.clean or "only" in self.words

    @property
    def clean(self) -> bool:
        """Whether the trees are only deleted."""
        return "clean" in self.words

    @property
    def whole(self) -> bool:
        """Whether Vdbench formats at all."""
        return bool({"yes", "restart", "once", "only", "clean", "directories", "limited"} & set(self.words))

    def lay_out(self, operations: Set[str]) -> str:
        """What exists when these operations of ours begin."""
        if "directories" in self.words:
            return "directories"
        if self.whole:
            return "files"
        if "mkdir" in operations:
            return "nothing"
        return "directories" if "create" in operations or operations == {"rmdir"} else "files"

    def say(self, run: Definition, verdicts: Verdicts) -> None:
        """The verdict on the parameter of a run that measures."""
        parameter = run.get("format")
        if parameter is None:
            return
        meaning = next(_MEANINGS[word] for word in ("directories", "restart", "once", "yes", "complete", "no") if word in self.words)
        verdicts.native(parameter, meaning)


def _is(text: str, word: str) -> bool:
    """Whether a text is a word; two of them may be cut short."""
    return text == word or (word in ("yes", "directories") and len(text) > 0 and word.startswith(text))
