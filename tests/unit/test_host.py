"""Host facts: parsers on known files, and absence with a reason."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from plimsoll.host import host_facts, target_facts
from plimsoll.host.device import mount_of, parse
from plimsoll.host.facts import Absent, collect_facts, known, text, why_absent
from plimsoll.host.target import target_paths

TABLE = r"""/dev/sda1 / ext4 rw,relatime 0 0
proc /proc proc rw 0 0
/dev/sdb1 /data xfs rw,noatime 0 0
/dev/sdb2 /data/my\040files btrfs rw,compress=zstd 0 0
tmpfs /data tmpfs rw 0 0
"""


def test_a_fact_that_cannot_be_read_says_why() -> None:
    facts = collect_facts({"there": lambda: 7, "missing": lambda: text("/does/not/exist"), "odd": lambda: int("x")})
    assert (facts["there"], facts["missing"], facts["odd"]) == (7, None, None)
    assert facts["absent"]["missing"] == why_absent(facts, "missing") == "no such file or directory"
    assert facts["absent"]["odd"].startswith("ValueError") and list(facts["absent"]) == ["missing", "odd"]
    assert [known(facts, name) for name in ("there", "missing", "never heard of")] == [7, None, None]
    assert why_absent(facts, "never heard of") == "not collected"
    assert collect_facts({"there": lambda: 7}) == {"there": 7}


def test_records_of_earlier_versions_have_the_reason_in_the_place_of_the_fact() -> None:
    facts = {"governor": "absent: no such file or directory", "model": "Xeon"}
    assert (known(facts, "governor"), known(facts, "model")) == (None, "Xeon")
    assert why_absent(facts, "governor") == "no such file or directory"


def test_no_fact_of_this_host_is_prose() -> None:
    def texts(value: Any) -> Iterator[str]:
        if isinstance(value, dict):
            for inner in value.values():
                yield from texts(inner)
        elif isinstance(value, str):
            yield value

    assert not [found for found in texts(host_facts()) if found.startswith("absent")]


def test_a_path_belongs_to_its_longest_mount_and_the_latest_of_equals() -> None:
    assert mount_of("/data/my files/x", TABLE).fs_type == "btrfs"
    assert mount_of("/data/x", TABLE).fs_type == "tmpfs"
    assert mount_of("/database", TABLE).fs_type == "ext4"
    assert parse(TABLE)[3].point == "/data/my files"


def test_no_mount_is_an_absent_fact() -> None:
    with pytest.raises(Absent, match="no mount holds"):
        mount_of("/data/x", "")


def test_the_host_describes_itself_without_failing() -> None:
    facts = host_facts()
    assert facts["cpu"]["count"] >= 1
    assert facts["memory"]["total_bytes"] > 1 << 20
    assert facts["kernel"]["release"] == os.uname().release


def test_a_sparse_file_shows_by_its_allocation(tmp_path: Path) -> None:
    path = tmp_path / "holes"
    with path.open("wb") as file:
        file.truncate(1 << 20)
    facts = target_facts({"kind": "file", "path": str(path), "parts": []})
    assert facts["apparent_bytes"] == 1 << 20
    assert facts["allocated_bytes"] == 0
    assert facts["filesystem"]["mount"]["type"]


def test_a_file_yet_to_be_made_lies_on_the_file_system_of_its_directory(tmp_path: Path) -> None:
    facts = target_facts({"kind": "file", "path": str(tmp_path / "new"), "parts": []})
    assert known(facts["filesystem"], "mount")
    assert "allocated_bytes" not in facts


def test_the_paths_of_a_striped_target_are_those_of_its_parts() -> None:
    inspection = {"kind": "stripe", "parts": [{"path": "/dev/a"}, {"path": "/dev/b"}]}
    assert target_paths(inspection) == ["/dev/a", "/dev/b"]


def test_a_target_without_storage_has_no_devices() -> None:
    assert target_facts({"kind": "null", "parts": []})["devices"] == []
