"""What the devices of a target moved is counted once, where one of them lies below another: a partition on its disk, a loop device."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from plimsoll.apps.analytics.driver import top_devices as tops_of_analytics
from plimsoll.apps.decision import driver as decision
from plimsoll.host import target
from plimsoll.reports.view.drivers import mail
from plimsoll.reports.view.drivers.decision_support import decision_support
from plimsoll.reports.view.experiments import Member
from plimsoll.stored import TargetFacts, counted_once, top_devices
from plimsoll.tables import points
from support.made_drivers import queried

#: A loop device shows a file on a partition of a disk.
TREE: TargetFacts = {"devices": [{"name": "loop7", "below": None}, {"name": "sda1", "below": "loop7"}, {"name": "sda", "below": "loop7"}]}
COUNTED = {
    name: {"r_per_s": 100.0, "w_per_s": 10.0, "write_bytes_per_s": 4096.0, "util_percent": 50.0} for name in ("loop7", "sda1", "sda")
}


def test_a_query_counts_the_device_that_its_files_are_on_and_not_the_disk_below_it_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(target, "name_of_number", lambda _number: "loop7")
    monkeypatch.setattr(target, "physical_devices", lambda _name: ["loop7"])
    monkeypatch.setattr(target, "_backing_devices", lambda _name: ["sda1", "sda"])
    monkeypatch.setattr(target, "device_facts", lambda name: {"name": name})
    inspection = {"kind": "directory", "path": str(tmp_path), "exists": True}
    facts = target.target_facts(inspection)  # type: ignore[arg-type]
    assert target.monitored_devices(facts) == ["loop7", "sda1", "sda"]
    assert decision._tops(inspection) == ["loop7"]  # type: ignore[arg-type]
    assert [device["name"] for device in tops_of_analytics(facts)] == ["loop7"]


def test_two_partitions_are_both_counted() -> None:
    two: TargetFacts = {"devices": [{"name": "sda1", "below": None}, {"name": "sda", "below": "sda1"}, {"name": "sdb1", "below": None}]}
    assert [device["name"] for device in top_devices(two)] == ["sda1", "sdb1"]
    assert counted_once(two, {"sda1": {"n": 1}, "sda": {"n": 3}, "sdb1": {"n": 2}}) == [{"n": 1}, {"n": 2}]
    assert top_devices(None) == []


def test_the_table_and_the_report_add_up_what_is_counted_once() -> None:
    one = queried("duckdb:/mnt/a", 0.1)
    one = replace(one, host={**one.host, "target": TREE}, monitor={**one.monitor, "devices": COUNTED})
    row = points._host(one)
    assert (row["device_reads_per_s"], row["device_writes_per_s"], row["device_util_percent"]) == (100.0, 10.0, 50.0)
    storage = mail._storage([one])
    assert storage is not None
    assert (storage["writes_per_s"], storage["write_bytes_per_s"]) == (10.0, 4096.0)
    section = decision_support([Member(0, 0, 0, one)])
    assert section is not None
    assert [side["devices"] for side in section["sides"]] == [["loop7"]]
