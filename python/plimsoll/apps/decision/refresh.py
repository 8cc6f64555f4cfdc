"""The two refresh functions: orders that come with their items (RF1), and orders that go (RF2), a transaction each.

Model: sets are taken one after the other, and the database itself keeps in one row which were the last, changed in the same transaction; so
whatever was killed, the next set is the right one. A set is drawn before it is carried out, so that
its time is the database's alone; keys to delete go through a table of the session's own.
Limits: after a thousand sets every order of the load is gone; whoever runs looks at `Sets.left` before.

    insert = coming(session, 1.0)
    insert()                        # 7,322 rows, in one transaction
"""

from __future__ import annotations

from collections.abc import Callable

from plimsoll.apps.databases.database import Session
from plimsoll.decision import data
from plimsoll.records import dataclass

#: Where the database keeps what was loaded, and which sets came and went.
NOTE = "plimsoll_load"


@dataclass(frozen=True)
class Sets:
    """The last set that came, and the last that went."""

    inserted: int
    deleted: int

    @classmethod
    def of(cls, session: Session) -> Sets:
        """As the database has it."""
        ((inserted, deleted),) = session.run(["SELECT inserted, deleted FROM plimsoll_load"])
        return cls(int(inserted), int(deleted))

    @property
    def left(self) -> int:
        """How many more pairs there are."""
        return data.REFRESH_SETS - max(self.inserted, self.deleted)


def coming(session: Session, scale: float) -> Callable[[], int]:
    """RF1 with the next set, drawn and ready to be carried out; it says how many rows came."""
    rows = data.refresh(scale, Sets.of(session).inserted + 1)

    def insert() -> int:
        session.begin()
        count = session.copy("orders", [rows.orders]) + session.copy("lineitem", [rows.lineitem])
        session.run(["UPDATE plimsoll_load SET inserted = inserted + 1"])
        session.commit()
        return count

    return insert


def going(session: Session, scale: float) -> Callable[[], int]:
    """RF2 with the next set, drawn and ready to be carried out; it says how many orders went."""
    keys = data.refresh(scale, Sets.of(session).deleted + 1).deletes
    text = b"".join(b"%d\n" % key for key in keys)

    def delete() -> int:
        session.begin()
        session.run(["CREATE TEMPORARY TABLE IF NOT EXISTS plimsoll_gone (orderkey BIGINT)", "DELETE FROM plimsoll_gone"])
        session.copy("plimsoll_gone", [text])
        session.run(
            [
                "DELETE FROM lineitem WHERE l_orderkey IN (SELECT orderkey FROM plimsoll_gone)",
                "DELETE FROM orders WHERE o_orderkey IN (SELECT orderkey FROM plimsoll_gone)",
                "UPDATE plimsoll_load SET deleted = deleted + 1",
            ]
        )
        session.commit()
        return len(keys)

    return delete
