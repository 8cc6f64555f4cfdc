"""Layouts without a device: files, plans, and what is taken away, on a host that a test scripts."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from fnmatch import fnmatch
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from plimsoll.catalog.layouts import layout_document, layout_names
from plimsoll.errors import InputError, TargetError
from plimsoll.layouts.alignment import remarks
from plimsoll.layouts.creation import make
from plimsoll.layouts.document import read_layout
from plimsoll.layouts.inventory import folder, layout_of
from plimsoll.layouts.journal import Journal
from plimsoll.layouts.kinds import PACKAGES, UNMAKE
from plimsoll.layouts.members import check_root
from plimsoll.layouts.plan import Plan, planned
from plimsoll.layouts.removal import remove
from plimsoll.layouts.step import Action, Command, Member, Named

Json = dict[str, Any]
ID = "0b52a9d8-9d1c-4d0e-8a43-6f4c2b1de0aa"


def disks(count: int, size: int = 64 << 30) -> list[Member]:
    return [
        Member(
            f"/dev/sd{chr(98 + number)}",
            f"sd{chr(98 + number)}",
            size,
            (f"serial S{number}",),
            {"read_ahead_kb": "128", "scheduler": "none"},
        )
        for number in range(count)
    ]


def plan_of(document: Json, count: int = 4) -> Plan:
    return planned(read_layout(document, "mine.toml"), disks(count), Named("mine", ID))


def commands(plan: Plan) -> list[str]:
    return [str(action) for step in plan.steps for action in step.commands]


class ScriptedHost:
    """A host of which a test says what it would see; what is done to it is kept."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.answers: dict[str, str] = {}
        self.probes: dict[str, Mapping[str, str]] = {}
        self.there: set[str] = set()
        self.files: dict[str, str] = {}
        self.mounts: dict[str, str] = {}
        self.on_act: Callable[[Action], None] = lambda _action: None

    def act(self, action: Action) -> str:
        self.on_act(action)
        self.done.append(str(action))
        return ""

    def ask(self, *words: str) -> str | None:
        return next((said for asked, said in self.answers.items() if " ".join(words).endswith(asked)), None)

    def texts(self, pattern: str) -> Mapping[str, str]:
        return {path: text for path, text in self.files.items() if fnmatch(path, pattern)}

    def exists(self, path: str) -> bool:
        return path == "/" or path in self.there

    def probe(self, device: str) -> Mapping[str, str]:
        return self.probes.get(device, {})

    def signatures(self, _device: str) -> list[tuple[str, int]]:
        return []

    def read(self, _device: str, _offset: int, length: int) -> bytes:
        return bytes(length)

    def erase(self, device: str, offset: int) -> None:
        self.done.append(f"erase {device} {offset}")

    def mounted_at(self, point: str) -> str | None:
        return self.mounts.get(point)

    def same_device(self, one: str, other: str) -> bool:
        return one == other

    def remove_directory(self, path: str) -> None:
        self.done.append(f"rmdir {path}")


@pytest.fixture(autouse=True)
def _state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def test_the_eight_luns_of_report_002_become_its_script() -> None:
    plan = planned(read_layout(layout_document("lvm-xfs"), "lvm-xfs"), disks(8), Named("lvm-xfs", ID))
    said = commands(plan)
    group = next(line for line in said if line.startswith("vgcreate"))
    assert group.endswith("plimsoll-lvm-xfs /dev/sdb /dev/sdc /dev/sdd /dev/sde /dev/sdf /dev/sdg /dev/sdh /dev/sdi")
    volume = next(line for line in said if line.startswith("lvcreate"))
    assert "--type striped --stripes 8 --stripesize 65536b --extents 50%VG" in volume
    assert volume.endswith("--name sasdata plimsoll-lvm-xfs")
    made = [line for line in said if line.startswith("mkfs.xfs")]
    assert len(made) == 2
    assert all("-b size=4096" in line and "-d su=65536,sw=8" in line for line in made)
    assert "blockdev --setra 16384 /dev/plimsoll-lvm-xfs/sasdata" in said
    assert [volume.path for volume in plan.volumes] == ["/mnt/plimsoll/lvm-xfs/sasdata", "/mnt/plimsoll/lvm-xfs/saswork"]


@pytest.mark.parametrize(
    ("name", "arrays", "volumes"), [("orion-raid50-4x12", 5, 16), ("orion-raid50-6x8", 7, 16), ("orion-raid6-4x12", 4, 16)]
)
def test_the_carvings_of_report_003_have_its_arrays_and_volumes(name: str, arrays: int, volumes: int) -> None:
    plan = planned(read_layout(layout_document(name), name), [Member(f"/dev/d{n}", f"d{n}", 1 << 40) for n in range(48)], Named(name, ID))
    assert sum(line.startswith("mdadm --create") for line in commands(plan)) == arrays
    assert len(plan.volumes) == volumes
    assert len({volume.path for volume in plan.volumes}) == volumes


@pytest.mark.parametrize("name", layout_names())
def test_every_shipped_layout_can_be_planned_and_taken_away(name: str) -> None:
    layout = read_layout(layout_document(name), name)
    plan = planned(layout, _numbered(layout.facts["members"] or 4), Named(name, ID))
    assert plan.steps
    assert {step.made for step in plan.steps} <= set(UNMAKE)
    assert plan.programs().keys() <= PACKAGES.keys()
    assert layout.facts["title"]


def _numbered(count: int) -> list[Member]:
    return [Member(f"/dev/d{n}", f"d{n}", 1 << 40, (), {"read_ahead_kb": "128"}) for n in range(count)]


@pytest.mark.parametrize(
    ("document", "sentence"),
    [
        ({}, "mine.toml: nothing is to be made; add a [[layer]], a [filesystem] or [settings]."),
        ({"layers": []}, "mine.toml: there is no key 'layers'; did you mean 'layer'?"),
        ({"layer": [{"kind": "lvn"}]}, "mine.toml: layer 1: 'lvn' is no kind of layer; did you mean 'lvm'?"),
        (
            {"layer": [{"kind": "lvm", "stripesize": "64KiB"}]},
            "mine.toml: layer 1 (lvm): there is no key 'stripesize'; did you mean 'stripe_size'?",
        ),
        ({"layer": [{"kind": "raid"}]}, "mine.toml: layer 1 (raid): the key 'level' is missing; write for example level = \"10\"."),
        ({"layer": [{"kind": "raid", "level": "7"}]}, "mine.toml: layer 1 (raid): level: '7' is not known; there are 0, 1, 10, 5, 6."),
        ({"mount": {}}, "mine.toml: 'mount' needs a file system; add [filesystem], or leave [mount] out."),
        (
            {"filesystem": {"type": "xfs", "block_size": "5000"}},
            "mine.toml: filesystem: block_size: '5000' is not a whole number of sectors",
        ),
        (
            {"filesystem": {"type": "xfs", "options": "-l logdev=/dev/sda"}},
            "mine.toml: filesystem: options: '-l logdev=/dev/sda' are no options of mkfs without a path",
        ),
        (
            {"layer": [{"kind": "lvm", "volumes": [{"name": "a", "size": "60%"}, {"name": "b", "size": "60%"}]}]},
            "mine.toml: layer 1 (lvm): volumes: the volumes take 120% of the room together; 100% is all.",
        ),
    ],
)
def test_what_is_wrong_in_a_file_is_one_sentence(document: Json, sentence: str) -> None:
    with pytest.raises(InputError) as raised:
        read_layout(document, "mine.toml")
    assert str(raised.value).startswith(sentence)


@pytest.mark.parametrize(
    ("document", "count", "sentence"),
    [
        ({"members": 8, "filesystem": {"type": "xfs"}}, 4, "the layout is made of 8 devices; --on names 4."),
        ({"layer": [{"kind": "raid", "level": "6"}]}, 3, "layer 1 (raid): RAID 6 needs 4 devices at least; there are 3."),
        ({"layer": [{"kind": "raid", "level": "5", "devices": 3}]}, 4, "layer 1 (raid): 4 devices cannot be divided into arrays of 3"),
        ({"layer": [{"kind": "lvm", "stripes": 8}]}, 4, "layer 1 (lvm): a volume over 8 devices needs as many; there are 4."),
        ({"filesystem": {"type": "btrfs", "data": "raid10"}}, 1, "filesystem: raid10 needs 2 devices at least; there is 1."),
        ({"filesystem": {"type": "btrfs", "stripe_unit": "64KiB", "stripe_width": 2}}, 2, "filesystem: 'stripe_unit' is for xfs and ext4"),
        ({"filesystem": {"type": "xfs", "stripe_unit": "64KiB"}}, 2, "filesystem: 'stripe_unit' and 'stripe_width' belong together"),
    ],
)
def test_a_layout_that_does_not_fit_its_members_is_one_sentence(document: Json, count: int, sentence: str) -> None:
    with pytest.raises(InputError) as raised:
        plan_of(document, count)
    assert str(raised.value).startswith(sentence)


def test_parts_begin_where_they_shall_and_are_equal_and_leave_room_for_the_copy_of_the_table() -> None:
    plan = planned(read_layout({"layer": [{"kind": "partitions", "count": 3}]}, "x"), disks(1, 10 << 30), Named("x", ID))
    table = next(action.text for step in plan.steps for action in step.commands if isinstance(action, Command) and action.text)
    parts = [tuple(int(word.split("=")[1]) for word in line.split(", ")) for line in table.splitlines() if line.startswith("start")]
    assert parts[0][0] == 2048
    assert len({size for _, size in parts}) == 1
    assert all(start + size == following[0] for (start, size), following in pairwise(parts))
    assert parts[-1][0] + parts[-1][1] <= (10 << 30) // 512 - 33


def test_stripes_follow_from_the_layer_below() -> None:
    plan = plan_of({"layer": [{"kind": "raid", "level": "6", "chunk": "128KiB"}], "filesystem": {"type": "ext4"}}, 6)
    assert any("stride=32,stripe_width=128" in line for line in commands(plan))


def test_what_does_not_fit_is_said_with_what_would() -> None:
    plan = plan_of(
        {
            "strip": "256KiB",
            "layer": [{"kind": "lvm", "stripe_size": "64KiB"}],
            "filesystem": {"type": "xfs", "stripe_unit": "32KiB", "stripe_width": 3},
            "settings": {"read_ahead": "128KiB"},
        }
    )
    said = " ".join(remarks(plan))
    assert "no multiple of the 256 KiB that the storage writes to one disk" in said
    assert "told stripes of 3 × 32 KiB, and what lies below has 4 × 64 KiB" in said
    assert "Read-ahead of 128 KiB is less than a full stripe of 256 KiB" in said
    assert remarks(plan_of({"layer": [{"kind": "lvm"}], "filesystem": {"type": "xfs"}, "settings": {"read_ahead": "8MiB"}})) == []
    told = {
        "strip": "256KiB",
        "filesystem": {"type": "xfs", "stripe_unit": "64KiB", "stripe_width": 4},
        "settings": {"read_ahead": "128KiB"},
    }
    assert remarks(plan_of(told)) == [
        "A stripe unit of 64 KiB is no multiple of the 256 KiB that the storage writes to one disk, so that units touch two disks; take 256 KiB.",
        "Read-ahead of 128 KiB is less than a full stripe of 256 KiB: one reader never has all 4 devices at work; take 256 KiB or more.",
    ]


def test_a_step_is_in_the_journal_before_its_first_command_runs() -> None:
    plan = plan_of({"filesystem": {"type": "xfs"}}, 1)
    host = ScriptedHost()
    with Journal.made(plan) as journal:
        noted = []
        host.on_act = lambda _action: noted.append(dict(Journal.of("mine").events))
        make(plan, journal, host, lambda _number, _step: None)
    assert [max(events) for events in noted] == [0, 1, 2, 2]
    assert all(events[max(events)] == "begun" for events in noted)
    assert Journal.of("mine").complete


def test_a_step_that_fails_says_which() -> None:
    plan = plan_of({"filesystem": {"type": "xfs"}}, 1)
    host = ScriptedHost()

    def refuse(action: Action) -> None:
        if "mkfs" in str(action):
            raise TargetError("mkfs.xfs failed: size too small.")

    host.on_act = refuse
    with Journal.made(plan) as journal, pytest.raises(TargetError) as raised:
        make(plan, journal, host, lambda _number, _step: None)
    assert str(raised.value) == ("step 2 of 3 (make the file system xfs on /dev/sdb): mkfs.xfs failed: size too small.")
    assert not Journal.of("mine").complete


def test_a_key_of_encryption_is_its_owners_alone_and_goes_with_the_layout() -> None:
    plan = plan_of({"layer": [{"kind": "encryption"}]}, 1)
    with Journal.made(plan) as journal:
        assert Path(journal.key_path).stat().st_mode & 0o777 == 0o600
        assert len(Path(journal.key_path).read_bytes()) == 32
        assert not any(Path(journal.key_path).read_bytes().hex() in line for line in commands(plan))
        make(plan, journal, ScriptedHost(), lambda _number, _step: None)
        remove(journal, ScriptedHost(), lambda _step: None)
    assert not Path(folder()).exists()


def _made(document: Json, count: int = 4) -> Journal:
    plan = plan_of(document, count)
    journal = Journal.made(plan)
    make(plan, journal, ScriptedHost(), lambda _number, _step: None)
    journal.release()
    return Journal.of("mine")


def test_volumes_of_lvm_go_from_the_top_and_only_with_the_layouts_tag() -> None:
    journal = _made({"layer": [{"kind": "lvm"}]}, 2)
    host = ScriptedHost()
    tag = f"plimsoll.{ID}"
    host.answers = {"lv_tags plimsoll-mine/data": f"  {tag}", "vg_tags plimsoll-mine": f"  {tag}"}
    uuids = {step["facts"]["device"]: step["facts"]["uuid"] for step in journal.plan["steps"] if step["made"] == "physical volume"}
    host.answers |= {f"pv_uuid,vg_name {device}": f"  {uuid}  " for device, uuid in uuids.items()}
    remove(journal, host, lambda _step: None)
    assert host.done == [
        "lvremove --yes plimsoll-mine/data",
        "vgremove --yes plimsoll-mine",
        "pvremove --yes /dev/sdc",
        "pvremove --yes /dev/sdb",
    ]


@pytest.mark.parametrize(
    ("document", "answers", "probes", "sentence"),
    [
        ({"layer": [{"kind": "lvm"}]}, {"lv_tags plimsoll-mine/data": " mine "}, {}, "holds something without this layout's tag by now"),
        (
            {"layer": [{"kind": "raid", "level": "1"}]},
            {"--export /dev/sdc": "MD_UUID=1:2:3:4\n"},
            {},
            "/dev/sdc holds a member of the RAID 1:2:3:4",
        ),
        ({"layer": [{"kind": "encryption"}]}, {}, {"/dev/sdc": {"TYPE": "xfs", "UUID": "x"}}, "/dev/sdc holds xfs by now"),
        ({"layer": [{"kind": "partitions"}]}, {}, {"/dev/sdc": {"PTTYPE": "gpt", "PTUUID": "x"}}, "/dev/sdc holds gpt by now"),
        ({"filesystem": {"type": "ext4"}}, {}, {"/dev/sdc": {"TYPE": "ext4", "UUID": "x"}}, "/dev/sdc holds ext4 by now"),
        ({"filesystem": {"type": "zfs"}}, {"comment plimsoll-mine": "someone"}, {}, "plimsoll-mine holds another pool by now"),
    ],
)
def test_what_somebody_else_made_since_is_left_alone(
    document: Json, answers: dict[str, str], probes: dict[str, Any], sentence: str
) -> None:
    journal, host = _made(document, 2), ScriptedHost()
    host.answers, host.probes, host.there = answers, probes, {"/dev/sdb", "/dev/sdc"}
    with pytest.raises(TargetError, match=sentence.replace("(", r"\(")):
        remove(journal, host, lambda _step: None)
    assert not any("/dev/sdc" in line for line in host.done)
    assert Journal.of("mine").left(), "what is left stays in the journal"


def test_a_mount_of_somebody_else_at_the_same_point_stays() -> None:
    journal, host = _made({"filesystem": {"type": "xfs"}}, 1), ScriptedHost()
    host.mounts = {"/mnt/plimsoll/mine": "/dev/other"}
    with pytest.raises(TargetError, match="holds the file system of /dev/other by now"):
        remove(journal, host, lambda _step: None)
    assert host.done == []


def test_settings_get_the_value_that_they_had() -> None:
    journal, host = _made({"settings": {"read_ahead": "8MiB", "scheduler": "bfq"}}, 1), ScriptedHost()
    host.there = {"/sys/class/block/sdb/queue/read_ahead_kb", "/sys/class/block/sdb/queue/scheduler"}
    remove(journal, host, lambda _step: None)
    assert host.done == ["echo 128 > /sys/class/block/sdb/queue/read_ahead_kb", "echo none > /sys/class/block/sdb/queue/scheduler"]


def test_settings_of_the_host_are_noted_before_they_are_changed_and_go_back() -> None:
    plan = plan_of({"settings": {"governor": "performance", "dirty_ratio": 40, "swappiness": 10}}, 1)
    governors = {f"/sys/devices/system/cpu/cpu{number}/cpufreq/scaling_governor": "powersave" for number in range(2)}
    host = ScriptedHost()
    host.files = {
        **governors,
        "/proc/sys/vm/dirty_ratio": "0",
        "/proc/sys/vm/dirty_bytes": "4096000",
        "/proc/sys/vm/swappiness": "60",
    }
    with Journal.made(plan) as journal:
        noted: list[Any] = []
        host.on_act = lambda _action: noted.append(dict(Journal.of("mine").found))
        make(plan, journal, host, lambda _number, _step: None)
        assert noted[0][0]["before"] == governors, "noted when the step begins, so that a kill loses nothing"
        host.done.clear()
        remove(journal, host, lambda _step: None)
    assert host.done == [
        "echo 60 > /proc/sys/vm/swappiness",
        "echo 4096000 > /proc/sys/vm/dirty_bytes",
        *(f"echo powersave > {path}" for path in governors),
    ]


def test_a_setting_that_the_host_has_not_is_one_sentence() -> None:
    plan = plan_of({"settings": {"governor": "performance"}}, 1)
    with Journal.made(plan) as journal, pytest.raises(TargetError, match="this host has no setting governor, as many guests; leave it out"):
        make(plan, journal, ScriptedHost(), lambda _number, _step: None)


def test_nothing_of_the_host_is_set_that_was_not_asked_for() -> None:
    plan = plan_of({"filesystem": {"type": "xfs"}, "settings": {"read_ahead": "1MiB"}}, 1)
    assert not any("/proc/sys" in line or "/sys/kernel" in line or "cpufreq" in line for line in commands(plan))


def test_further_options_of_a_file_system_go_to_its_mkfs_before_ours() -> None:
    for type_ in ("xfs", "ext4", "btrfs"):
        (made,) = [line for line in commands(plan_of({"filesystem": {"type": type_, "options": "-a b=1"}}, 1)) if line.startswith("mkfs")]
        assert " -a b=1 " in made
        assert made.index("-a b=1") < made.index(Named("mine", ID).uuid("file system /dev/sdb" if type_ != "btrfs" else "file system"))


def test_nobody_but_root_lays_storage_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    with pytest.raises(InputError, match=r"^only root may lay storage out; run the command with sudo, or 'plimsoll layout plan'"):
        check_root()


def test_raw_devices_are_measured_as_they_are() -> None:
    plan = plan_of({"layer": [{"kind": "raw"}]}, 2)
    assert [volume.path for volume in plan.volumes] == ["/dev/sdb", "/dev/sdc"]
    assert commands(plan) == ["wipefs --quiet --all /dev/sdb", "wipefs --quiet --all /dev/sdc"]


def test_directories_that_were_there_before_stay() -> None:
    plan = plan_of({"filesystem": {"type": "xfs"}}, 1)
    host = ScriptedHost()
    host.there = {"/mnt", "/"}
    with Journal.made(plan) as journal:
        make(plan, journal, host, lambda _number, _step: None)
        host.done.clear()
        remove(journal, host, lambda _step: None)
    assert [line for line in host.done if line.startswith("rmdir")] == ["rmdir /mnt/plimsoll/mine", "rmdir /mnt/plimsoll"]


def test_a_directory_that_two_layouts_share_goes_with_the_last_of_them() -> None:
    host = ScriptedHost()
    host.there = {"/mnt", "/"}
    for name in ("first", "second"):
        plan = planned(read_layout({"filesystem": {"type": "xfs"}}, name), disks(1), Named(name, ID))
        with Journal.made(plan) as journal:
            make(plan, journal, host, lambda _number, _step: None)
        host.there |= {"/mnt/plimsoll", f"/mnt/plimsoll/{name}"}
    host.done.clear()
    for name in ("first", "second"):
        remove(Journal.of(name), host, lambda _step: None)
    assert [line for line in host.done if line.startswith("rmdir")] == [
        "rmdir /mnt/plimsoll/first",
        "rmdir /mnt/plimsoll",
        "rmdir /mnt/plimsoll/second",
        "rmdir /mnt/plimsoll",
    ]


def test_a_journal_whose_last_line_a_power_cut_left_in_pieces_is_read() -> None:
    journal = _made({"filesystem": {"type": "xfs"}}, 1)
    events = Path(journal.path) / "journal.jsonl"
    events.write_text(events.read_text()[:-9])
    assert Journal.of("mine").events[2] == "begun"
    events.write_text("rubbish\n" + events.read_text())
    with pytest.raises(Exception, match="line 1, cannot be read"):
        Journal.of("mine")


def test_two_commands_do_not_change_one_layout_at_once() -> None:
    journal = _made({"filesystem": {"type": "xfs"}}, 1)
    journal.hold()
    with pytest.raises(InputError, match="another command is at work"):
        Journal.of("mine").hold()


def test_a_second_layout_of_the_same_name_is_refused() -> None:
    _made({"filesystem": {"type": "xfs"}}, 1)
    with pytest.raises(InputError, match="there is a layout 'mine' already"):
        Journal.made(plan_of({"filesystem": {"type": "xfs"}}, 1))


def test_the_plan_that_is_remembered_is_json_with_the_identities() -> None:
    journal = _made({"filesystem": {"type": "xfs"}}, 1)
    plan = json.loads((Path(journal.path) / "plan.json").read_text())
    assert plan["schema"] == "plimsoll.layout/1"
    assert plan["steps"][1]["facts"]["uuid"] == Named("mine", ID).uuid("file system /dev/sdb")


def test_a_target_on_a_layout_is_known_by_member_volume_and_mount(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert layout_of(["/dev/sdb"]) is None
    _made({"title": "A stripe", "layer": [{"kind": "lvm"}], "filesystem": {"type": "xfs"}, "mount": {"at": str(tmp_path)}}, 2)
    for path in ("/dev/sdb", "/dev/plimsoll-mine/data", str(tmp_path)):
        found = layout_of([path])
        assert found is not None, path
        assert (found["name"], found["title"], found["members"]) == ("mine", "A stripe", ["/dev/sdb (serial S0)", "/dev/sdc (serial S1)"])
    assert layout_of(["/dev/sdd", "/etc/hostname"]) is None
