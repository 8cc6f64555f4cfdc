"""What a driver shows of its own on the page: a section for each, made from the points that it measured.

Model: a section is a record in a file of its own here, and is drawn by the file of the same name in ``page/src/drivers``. What every load
has (rates, latencies, load lines, marks, flags) stands in the report anyway; a section is for what only this driver knows. It reads
stored results, so a report drawn later is the same. `DriverSections` and `_MADE` are the whole list.
Limits: a driver without points in the report has no section.

    driver_sections(members)["files"]["workloads"][0]["title"]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypedDict, cast

from plimsoll.reports.view.drivers.analytics import AnalyticsWorkflows, workflows
from plimsoll.reports.view.drivers.database_durability import DatabaseDurability, database_durability
from plimsoll.reports.view.drivers.decision_support import DecisionSupport, decision_support
from plimsoll.reports.view.drivers.files import FileOperations, file_operations
from plimsoll.reports.view.drivers.io_test import IoTestView, io_tests_view
from plimsoll.reports.view.drivers.mail import MailUsers, mail_users
from plimsoll.reports.view.drivers.mailstore import MailStores, mail_stores
from plimsoll.reports.view.drivers.order_entry import OrderEntry, order_entry
from plimsoll.reports.view.experiments import Member

#: What makes the section of a driver from the points that it measured; None where there is nothing to show.
Made = Callable[[Sequence[Member]], Mapping[str, Any] | None]


class DriverSections(TypedDict, total=False):
    """The sections of drivers, by the name that the key ``driver`` of a workload has, with ``_`` for ``-``."""

    files: FileOperations
    analytics: AnalyticsWorkflows
    io_test: IoTestView
    mail: MailUsers
    mailstore: MailStores
    decision_support: DecisionSupport
    order_entry: OrderEntry
    database_durability: DatabaseDurability


#: Those that have bars of their own, or none to compare; of the others bars stand with those of all loads.
WITH_BARS = frozenset(("decision_support", "order_entry", "database_durability"))
_MADE: dict[str, Made] = {
    "files": file_operations,
    "analytics": workflows,
    "io_test": io_tests_view,
    "mail": mail_users,
    "mailstore": mail_stores,
    "decision_support": decision_support,
    "order_entry": order_entry,
    "database_durability": database_durability,
}


def driver_sections(members: Sequence[Member]) -> DriverSections:
    """The section of every driver that has one, in the order of the list."""
    found = {
        name: made(own)
        for name, made in _MADE.items()
        if (own := [one for one in members if driver_key(one.result.job.definition) == name])
    }
    return cast("DriverSections", {name: section for name, section in found.items() if section is not None})


def driver_key(definition: Mapping[str, Any]) -> str:
    """The key of the section of a workload's driver, as `DriverSections` has it; empty for block I/O."""
    return str(definition.get("driver") or "").replace("-", "_")
