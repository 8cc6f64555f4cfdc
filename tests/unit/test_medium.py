"""What is below a target when it is no storage device of this host."""

from __future__ import annotations

from typing import Any

import pytest

from plimsoll.host.target import medium_of

ON_EXT4 = {"mount": {"type": "ext4", "point": "/", "options": "rw", "source": "/dev/sda1"}}


@pytest.mark.parametrize(
    ("facts", "kind"),
    [
        ({"filesystem": ON_EXT4, "devices": [{"name": "sda1"}]}, None),
        ({"filesystem": {"mount": "absent: no mount holds it"}}, None),
        ({"devices": [{"name": "nvme0n1"}]}, None),
        ({"filesystem": {"mount": {"type": "tmpfs"}}}, "memory"),
        ({"devices": [{"name": "zram0"}]}, "memory"),
        ({"devices": [{"name": "loop3", "backing": {"path": "/dev/shm/x", "type": "tmpfs"}}]}, "memory"),
        ({"devices": [{"name": "loop3", "backing": {"path": "/x", "type": "ext4"}}]}, None),
        ({"filesystem": {"mount": {"type": "fuse.sshfs"}}}, "elsewhere"),
        ({"filesystem": {"mount": {"type": "nfs4"}}}, "elsewhere"),
    ],
)
def test_memory_and_other_machines_are_told_from_devices(facts: dict[str, Any], kind: str | None) -> None:
    assert (medium_of(facts) or {"kind": None})["kind"] == kind
