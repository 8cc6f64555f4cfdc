"""The account of the long suite: of each kind of trouble how often it was tried, survived and named.

Model: *tried* counts what was done to Plimsoll; *survived* how often it ended as it should: no traceback, no hang, the right exit code, nothing
foreign harmed, the store readable; *named* how often its words or its record say what was wrong. A test counts before it asserts, so that a
failure is in the account too. What nobody could name (a kill leaves no one to speak) is left out of that column: ``named=None``.

    tally.count("fault: lost", survived=ended.code == 6, named="lost" in ended.err)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class Account:
    """One kind of trouble."""

    tried: int = 0
    survived: int = 0
    nameable: int = 0
    named: int = 0

    def cells(self) -> tuple[str, str, str]:
        """The three figures as the table shows them."""
        return str(self.tried), str(self.survived), str(self.named) if self.nameable else "–"


@dataclass
class Tally:
    """All kinds of trouble of one session, in the order in which they were first tried."""

    accounts: dict[str, Account] = field(default_factory=dict)

    def count(self, kind: str, *, survived: bool, named: bool | None) -> None:
        """One more trial of a kind; ``named`` is None where nothing can be said of it."""
        account = self.accounts.setdefault(kind, Account())
        account.tried += 1
        account.survived += survived
        account.nameable += named is not None
        account.named += bool(named)

    def broken(self, kind: str, times: int, trial: Callable[[], object]) -> list[str]:
        """Make so many trials of a kind, each counted; what the asserts of those said that failed."""
        said: list[str] = []
        for _ in range(times):
            before = len(said)
            try:
                trial()
            except AssertionError as problem:
                said.append(str(problem))
            self.count(kind, survived=len(said) == before, named=None)
        return said

    def told(self) -> dict[str, list[int]]:
        """What `add` takes, in values that one process can send another."""
        return {kind: [of.tried, of.survived, of.nameable, of.named] for kind, of in self.accounts.items()}

    def add(self, told: dict[str, list[int]]) -> None:
        """What another process counted."""
        for kind, figures in told.items():
            account = self.accounts.setdefault(kind, Account())
            before = (account.tried, account.survived, account.nameable, account.named)
            self.accounts[kind] = Account(*(had + more for had, more in zip(before, figures, strict=True)))

    def total(self) -> Account:
        """All kinds together."""
        columns = zip(*((of.tried, of.survived, of.nameable, of.named) for of in self.accounts.values()), strict=True)
        return Account(*(sum(column) for column in columns))

    def lines(self) -> list[str]:
        """The table, and the sum as one sentence below it."""
        if not self.accounts:
            return []
        rows = [("kind", "tried", "survived", "named"), *((kind, *account.cells()) for kind, account in self.accounts.items())]
        widths = [max(len(row[column]) for row in rows) for column in range(4)]
        table = [
            row[0].ljust(widths[0]) + "".join(f"  {cell.rjust(width)}" for cell, width in zip(row[1:], widths[1:], strict=True))
            for row in rows
        ]
        total = self.total()
        return [*table, f"tried {total.tried}, survived {total.survived}, named {total.named} of {total.nameable} that could be named"]
