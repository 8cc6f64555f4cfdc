"""The shipped arrays: every configuration of the reports is there, sized as reported, and every value says where it comes from."""

from __future__ import annotations

import re
import tomllib
from math import prod
from operator import attrgetter
from pathlib import Path

import pytest

from plimsoll.catalog.arrays import array_document, array_names, families
from plimsoll.catalog.composition.parts import KINDS, part_document, part_names, part_title
from plimsoll.catalog.composition.sources import unsourced, values_of

CATALOG = Path(__file__).resolve().parents[2] / "python/plimsoll/catalog"
TB = 1e12
WORDS = ("title", "purpose", "source", "rationale")
FAMILY = attrgetter("name")


def redundant(raid) -> tuple[int, int]:
    """Members whose space is data, out of how many."""
    devices = raid["devices"]
    per_group = {"raid0": 0, "raid5": 1, "raid6": 2, "raid50": raid.get("groups", 1), "raid60": 2 * raid.get("groups", 1)}
    return (devices // 2 if raid["level"] in ("raid1", "raid10") else devices - per_group[raid["level"]]), devices


def usable_bytes(name: str) -> int:
    """Data capacity of all groups."""
    document = array_document(name)
    sets = {devices["name"]: devices for devices in document["devices"]}
    size = {group["name"]: sets[group["members"][0].partition("[")[0]]["model"]["capacity_bytes"] for group in document["group"]}
    return sum(redundant(group["raid"])[0] * size[group["name"]] for group in document["group"])


def test_every_configuration_of_the_reports_has_its_name():
    names = set(array_names())
    levels = ("raid0", "raid10", "raid5", "raid6")
    wanted = {f"msa30-u320-{rpm}-{level}-{drives}" for rpm in ("10k", "15k") for level in levels for drives in (6, 8, 10)}
    wanted |= {f"msa50-sas-10k-{level}-{drives}" for level in levels for drives in (6, 8, 10)}
    for server in ("g5", "g6", "g7", "g8"):
        for drive in ("3g-10k", "6g-10k", "6g-15k"):
            shapes = ("raid5-3", "raid5-4", "raid5-8", "raid10-4", "raid10-8")
            wanted |= {f"dl360-{server}-{drive}-{shape}{cache}" for shape in shapes for cache in ("", "-nocache")}
    carvings = ("raid5", "raid6", "raid50", "raid50-split", "raid50-6x8")
    for many in ("msa2000", "msa2000x4"):
        wanted |= {f"{many}-{carving}{volumes}{hosts}" for carving in carvings for volumes in ("", "-16vol") for hosts in ("", "-2hosts")}
    wanted |= {"dl585-tpch", "msa2040", "se6920-raid5", "se6920-raid1", "dl580-local"}
    wanted |= {"sata-ssd", "nvme", "nvme-raid10", "nearline-raid6"}
    assert wanted <= names


def test_no_name_is_taken_twice():
    assert len(array_names()) == len(set(array_names()))


def test_names_begin_with_that_of_their_file():
    assert all(name.startswith(family.name) for family in families() for name in family.names())


@pytest.mark.parametrize("family", families(), ids=FAMILY)
def test_a_family_has_all_combinations_but_those_it_leaves_out(family):
    document = tomllib.loads((CATALOG / "arrays" / f"{family.name}.toml").read_text())
    combinations = prod(len(axis.values) for axis in family.axes)
    choices = [tuple(family.choice(name).items()) for name in family.names()]
    assert len(set(choices)) == len(choices)
    left_out = document.get("variants", {}).get("left_out", [])
    absent = [prod(len(axis.values) for axis in family.axes if axis.name not in entry) for entry in left_out]
    assert len(choices) == combinations - sum(absent)


@pytest.mark.parametrize("family", families(), ids=FAMILY)
def test_an_array_says_what_it_is_and_where_every_value_comes_from(family):
    for name in family.names():
        document = array_document(name)
        assert document["name"] == name
        assert all(str(document[word]).strip() for word in WORDS)
        assert "{" not in document["title"]
        assert unsourced(document) == []
        assert all(source.strip() for _, source in values_of(document) if source is not None)


@pytest.mark.parametrize("family", families(), ids=FAMILY)
def test_an_array_is_plain_and_refers_only_to_what_it_has(family):
    for name in family.names():
        document = array_document(name)
        known = set(WORDS) | {"name", "tags", "host", "link", "controller", "devices", "group", "volumes", "spares"}
        assert set(document) <= known
        for kind in ("link", "controller", "devices", "group", "volumes"):
            names = [entry["name"] for entry in document.get(kind, [])]
            assert len(set(names)) == len(names)
        links = {link["name"] for link in document.get("link", [])}
        for entry in (*document["devices"], *document["volumes"]):
            assert {*entry.get("links", []), *entry.get("ports", [])} <= links
        members = [member for group in document["group"] for member in group["members"]]
        assert {member.partition("[")[0] for member in members} <= {devices["name"] for devices in document["devices"]}


@pytest.mark.parametrize("family", families(), ids=FAMILY)
def test_a_component_is_called_by_what_it_is_and_not_as_another_thing_is(family):
    """A link was called "array", and a controller "host": its "host.cpu" stood beside the "host", which is the host's processor."""
    for name in family.names():
        document = array_document(name)
        sets = {kind: {entry["name"] for entry in document.get(kind, [])} for kind in ("link", "controller", "devices")}
        names = set.union(*sets.values())
        assert not names & {"array", "host", "link", "controller", "device", "devices", "cache", "cpu"}
        assert len(names) == sum(map(len, sets.values()))


@pytest.mark.parametrize("kind", KINDS)
def test_a_part_says_what_it_is_and_where_every_value_comes_from(kind):
    for name in part_names(kind):
        part = part_document(kind, name)
        assert part_title(kind, name) != name
        links = [{key: value for key, value in link.items() if key not in ("name", "part")} for link in part.get("link", [])]
        assert unsourced({**part, "link": links}) == [], name


def test_every_part_is_used_by_an_array_or_another_part():
    files = [*(CATALOG / "arrays").glob("*.toml"), *(CATALOG / "parts").rglob("*.toml")]
    text = "\n".join(path.read_text() for path in files)
    unused = [name for kind in KINDS for name in part_names(kind) if f'part = "{name}"' not in text and f'like = "{name}"' not in text]
    # Drives that the brief lists for sale and measured nothing with.
    assert unused == ["cheetah-10k6-u320-300g"]


@pytest.mark.parametrize(("name", "terabytes"), [("msa2000x4-raid5", 25.6), ("msa2000x4-raid6", 23.4), ("msa2000-raid5", 25.6 / 4)])
def test_an_msa2000_holds_what_its_report_says(name, terabytes):
    # No capacity of a drive gives both to the digit: 25.6 ÷ 176 is 145.5 GB, 23.4 ÷ 160 is 146.3. 25.6 is 16 × "roughly 1.6 TB".
    assert usable_bytes(name) / TB == pytest.approx(terabytes, rel=0.005)


@pytest.mark.parametrize(("name", "printed"), [("se6920-raid5", 2.9), ("se6920-raid1", 1.7)])
def test_an_se6920_holds_what_its_report_says(name, printed):
    assert int(usable_bytes(name) / TB * 10) / 10 == printed


def test_the_partition_of_the_dl580_begins_63_sectors_behind_a_border_and_says_why():
    (lun,) = array_document("dl580-local")["volumes"]
    assert lun["offset_bytes"] == 63 * 512 and "63 sectors" in lun["sources"]["offset_bytes"]


def test_the_msa_2040_has_eight_volumes_of_300_gigabytes():
    volumes = array_document("msa2040")["volumes"]
    assert sum(entry["count"] for entry in volumes) == 8 and {entry["size_bytes"] for entry in volumes} == {300 * 10**9}
    assert usable_bytes("msa2040") >= 2.4 * TB


@pytest.mark.parametrize(("carving", "gigabytes"), [("raid5", 401), ("raid6", 365), ("raid50", 401), ("raid50-6x8", 383)])
def test_sixteen_volumes_of_one_msa2000_have_360_to_403_gigabytes(carving, gigabytes):
    size = usable_bytes(f"msa2000-{carving}-16vol") / 16 / 1e9
    assert size == pytest.approx(gigabytes, rel=0.005)
    assert 360 <= size <= 403


def test_the_drives_of_the_tpc_h_system_have_the_capacity_that_was_published():
    document = array_document("dl585-tpch")
    assert sum(devices["count"] for devices in document["devices"]) == 160
    assert len(document["controller"]) == 8
    assert usable_bytes("dl585-tpch") == pytest.approx(5898.8e9)


def test_the_gen8_controller_keeps_its_cache_when_told_not_to():
    bare, cached = (array_document(f"dl360-g8-6g-10k-raid10-4{cache}")["controller"] for cache in ("-nocache", ""))
    assert bare == cached and bare[0]["cache"]["write_cache"] == "forced_on"
    assert "cache" not in array_document("dl360-g7-6g-10k-raid10-4-nocache")["controller"][0]


def test_every_disk_has_its_buffer_answer_sooner_than_its_mechanics():
    drives = [part_document("drives", name) for name in part_names("drives")]
    disks = [drive for drive in drives if drive["kind"] == "disk"]
    assert len(disks) > 10
    assert all(disk["buffer"]["hit_overhead_us"] < disk["command_overhead_us"] for disk in disks)


def test_four_arrays_share_the_adapters_of_one_host_and_two_hosts_have_two():
    one, two = (array_document(f"msa2000x4-raid5{hosts}") for hosts in ("", "-2hosts"))
    used = [{link for volumes in document["volumes"] for link in volumes["links"] if link.startswith("hba")} for document in (one, two)]
    assert used == [{"hba"}, {"hba0", "hba1"}]
    assert len(one["controller"]) == 8 and sum(devices["count"] for devices in one["devices"]) == 4 * 49


@pytest.mark.parametrize("name", [name for name in array_names() if re.fullmatch("msa2000-.*-2hosts", name)])
def test_two_hosts_of_one_array_have_half_of_its_volumes_each_by_an_adapter_of_their_own(name):
    one, two = array_document(name.removesuffix("-2hosts")), array_document(name)
    assert [(volumes["links"], volumes["count"] * len(volumes["groups"])) for volumes in two["volumes"]] == [
        (["hba0", "array-maximum"], 8 if "16vol" in name else 2),
        (["hba1", "array-maximum"], 8 if "16vol" in name else 2),
    ]
    assert (one["group"], one["devices"]) == (two["group"], two["devices"]) and two["host"]["cores"] == 2
    assert {volumes["name"] for volumes in two["volumes"]} == {"lun-a", "lun-b"}


def test_carving_across_shelves_takes_six_drives_of_each_shelf_in_turn():
    members = array_document("msa2000-raid50-split")["group"][0]["members"]
    assert members[:4] == ["front[0-5]", "rear[0-5]", "front[6-11]", "rear[6-11]"]
