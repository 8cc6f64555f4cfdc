"""From a file to a plain document: overlays, families, parts, wiring, copies, settings, and what is said when something is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tomli_w

from plimsoll.catalog.arrays import array_document, described, overlay
from plimsoll.catalog.composition.copies import copied
from plimsoll.catalog.composition.key_units import with_unit
from plimsoll.catalog.composition.merge import merged, with_source, without_absent
from plimsoll.catalog.composition.variants import Family
from plimsoll.catalog.composition.wiring import wired
from plimsoll.engine.block import native
from plimsoll.errors import InputError


def family(**changed) -> Family:
    document = {
        "title": "{drives} disks, {cache}",
        "variants": {"name": "small-{drives}{cache}", "left_out": [{"drives": "4", "cache": "off"}]},
        "axis": {
            "drives": {
                "2": {"devices": [{"name": "disk", "count": 2}], "source": "a report"},
                "4": {"devices": [{"name": "disk", "count": 4}]},
            },
            "cache": {
                "on": {"named": "", "says": "with cache"},
                "off": {"named": "-bare", "controller": [{"name": "raid", "cache": {"absent": True}}]},
            },
        },
        "controller": [{"name": "raid", "cache": {"size_bytes": 8}}],
    }
    return Family("small", {**document, **changed})


def test_a_family_is_named_by_its_values():
    assert family().names() == ["small-2", "small-2-bare", "small-4"]
    assert family().document("small-2")["title"] == "2 disks, with cache"


def test_an_overlay_brings_the_source_of_its_values():
    assert family().document("small-2")["devices"] == [{"name": "disk", "count": 2, "sources": {"count": "a report"}}]


def test_what_is_marked_absent_goes_unless_a_combination_takes_it_back():
    assert without_absent(family().document("small-2-bare"))["controller"] == [{"name": "raid"}]
    back = family(combined=[{"when": {"cache": "off"}, "controller": [{"name": "raid", "cache": {"absent": False}}]}])
    assert without_absent(back.document("small-2-bare"))["controller"] == [{"name": "raid", "cache": {"size_bytes": 8}}]


def test_a_combination_stands_for_every_value_that_it_lists():
    some = family(combined=[{"when": {"cache": "on", "drives": ["2", "4"]}, "host": {"cores": 3}}])
    assert [name for name in some.names() if some.document(name).get("host")] == ["small-2", "small-4"]


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"variants": {"name": "small-{drives}"}}, "makes 'small-2' twice"),
        ({"variants": {"name": "small-{disks}"}}, "variants.name: there is no 'disks'; there are drives, cache"),
        ({"variants": {"pattern": "x"}}, "variants has no key 'pattern'"),
        ({"title": "{disks}"}, "title: there is no 'disks'"),
        ({"combined": [{"when": {"drives": "6"}}]}, "axis drives: there is no '6'; there are 2, 4"),
        ({"combined": [{"when": {"drives": ["2", "6"]}}]}, "axis drives: there is no '6'; there are 2, 4"),
        ({"combined": [{"host": {}}]}, "an entry of combined has no `when`"),
    ],
)
def test_a_family_that_does_not_fit_together_is_refused(changed, sentence):
    with pytest.raises(InputError, match="array file 'small': ") as refused:
        family(**changed)
    assert sentence in str(refused.value)


def test_a_changed_value_loses_the_source_of_the_old_one():
    under = {"rate": 1, "kept": 2, "sources": {"rate": "manual", "kept": "manual"}}
    assert merged(under, {"rate": 5}) == {"rate": 5, "kept": 2, "sources": {"kept": "manual"}}
    assert merged(under, {"rate": 5, "sources": {"rate": "assumed"}})["sources"] == {"rate": "assumed", "kept": "manual"}


def test_a_source_for_all_leaves_those_that_have_one():
    table = with_source({"a": 1, "b": 2, "links": ["x"], "sources": {"a": "manual"}}, "report")
    assert table["sources"] == {"a": "manual", "b": "report"}


def test_devices_hang_on_the_links_of_their_enclosure():
    plain = wired(
        {
            "enclosure": [{"name": "shelf", "bays": 4, "link": [{"name": "uplink"}, {"name": "phy"}]}],
            "controller": [{"name": "raid", "link": [{"name": "bus"}]}],
            "devices": [{"name": "disk", "count": 4, "in": "shelf"}],
        }
    )
    assert plain["devices"] == [{"name": "disk", "count": 4, "links": ["shelf-uplink", "shelf-phy"]}]
    assert [link["name"] for link in plain["link"]] == ["raid-bus", "shelf-uplink", "shelf-phy"]
    assert "enclosure" not in plain and plain["controller"] == [{"name": "raid"}]


@pytest.mark.parametrize(
    ("devices", "sentence"),
    [
        ([{"name": "disk", "count": 2, "in": "rack"}], "devices.disk.in: there is no enclosure 'rack'; there are shelf."),
        (
            [{"name": "a", "count": 3, "in": "shelf"}, {"name": "b", "count": 2, "in": "shelf"}],
            "enclosure.shelf: 5 devices are in its 4 bays",
        ),
    ],
)
def test_an_enclosure_takes_no_more_than_its_bays(devices, sentence):
    with pytest.raises(InputError, match=sentence.replace(".", r"\.")):
        wired({"enclosure": [{"name": "shelf", "bays": 4}], "devices": devices})


def test_what_an_array_says_of_a_link_that_comes_with_a_part_is_laid_on_it(tmp_path):
    """It was a second link, and refused: "the name is there twice"."""
    mine = tmp_path / "mine.toml"
    mine.write_text(
        'like = "msa50-sas-10k-raid5-8"\n[[link]]\nname = "shelf-phy"\npart = "sas-6g-phy"\n'
        '[[link]]\nname = "raid-bus"\nefficiency_percent = 90\nsources = { overhead_ns = "measured" }\n'
        '[[link]]\nname = "extra"\nrate_bytes_per_s = 5\n'
    )
    changed, shipped = (array_document(name) for name in (str(mine), "msa50-sas-10k-raid5-8"))
    links, before = ({link["name"]: link for link in document["link"]} for document in (changed, shipped))
    assert set(links) == {*before, "extra"}
    assert (links["shelf-phy"]["rate_bytes_per_s"], links["shelf-phy"]["sharing"]) == (600_000_000, "per_device")
    assert links["raid-bus"] == before["raid-bus"] | {"efficiency_percent": 90, "sources": links["raid-bus"]["sources"]}
    assert links["raid-bus"]["sources"]["overhead_ns"] == "measured" and "efficiency_percent" not in links["raid-bus"]["sources"]
    assert changed["devices"][0]["links"] == shipped["devices"][0]["links"]


def test_a_link_that_comes_with_a_part_can_be_left_out_of_its_owner(tmp_path):
    mine = tmp_path / "mine.toml"
    mine.write_text('like = "msa50-sas-10k-raid5-8"\n[[enclosure]]\nname = "shelf"\nlink = [{ name = "phy", absent = true }]\n')
    assert array_document(str(mine))["devices"][0]["links"] == ["shelf-uplink"]


def test_copies_are_named_apart_and_share_what_they_are_told_to():
    document = {
        "link": [{"name": "hba"}, {"name": "phy"}, {"name": "mirror"}, {"name": "memory"}],
        "controller": [{"name": "raid", "cache": {"mirror_link": "mirror", "memory_link": "memory", "size_bytes": 5}}],
        "devices": [{"name": "disk", "links": ["phy"]}],
        "group": [{"name": "vd", "controller": "raid", "members": ["disk[0-1]"]}],
        "volumes": [{"name": "lun", "groups": ["vd"], "links": ["hba"]}],
        "copies": 3,
        "shared": {"hba": 2},
    }
    plain = copied(document)
    assert [link["name"] for link in plain["link"]][-2:] == ["hba0", "hba1"]
    assert [volumes["links"] for volumes in plain["volumes"]] == [["hba0"], ["hba1"], ["hba0"]]
    assert plain["group"][2] == {"name": "a2-vd", "controller": "a2-raid", "members": ["a2-disk[0-1]"]}
    assert plain["controller"][1]["cache"] == {"mirror_link": "a1-mirror", "memory_link": "a1-memory", "size_bytes": 5}
    with pytest.raises(InputError, match=r"shared\.fc: there is no link 'fc'"):
        copied({**document, "shared": {"fc": 1}})


def test_one_array_alone_deals_its_sets_of_volumes_to_shared_links():
    link = [{"name": "hba"}, {"name": "bus"}]
    volumes = [{"name": name, "links": ["hba", "bus"]} for name in ("one", "two", "three")]
    plain = copied({"link": link, "volumes": [*volumes, {"name": "bare"}], "shared": {"hba": 2}})
    assert plain["link"] == [{"name": "bus"}, {"name": "hba0"}, {"name": "hba1"}]
    assert [entry.get("links") for entry in plain["volumes"]] == [["hba0", "bus"], ["hba1", "bus"], ["hba0", "bus"], None]


def test_a_file_of_ones_own_differs_from_a_shipped_array_by_what_it_says(tmp_path):
    (tmp_path / "fast.toml").write_text('title = "A drive"\nlike = "savvio-15k2-146g"\ncommand_overhead_us = 100\n')
    mine = tmp_path / "mine.toml"
    mine.write_text('like = "msa50-sas-10k-raid5-10"\n[[devices]]\nname = "disk"\nmodel = { part = "fast.toml", heads = 2 }\n')
    model = array_document(str(mine))["devices"][0]["model"]
    assert (model["rotation_rpm"], model["command_overhead_us"], model["heads"]) == (15_000, 100, 2)
    assert "heads" not in model["sources"] and "command_overhead_us" not in model["sources"]
    assert array_document(str(mine))["name"] == "mine"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('like = "msa50-sas-10k-raid5-9"', "array 'msa50-sas-10k-raid5-9' is unknown; did you mean"),
        (
            'like = "nvme"\n[[devices]]\nname = "nvme"\nmodel = { part = "nvm-1t" }',
            "devices.nvme.model.part: drive 'nvm-1t' is unknown; did you mean 'nvme-1t'?",
        ),
        ('like = "nvme"\n[[link]]\nname = "pcie"\npart = "pcie9"', "link.pcie.part: link 'pcie9' is unknown"),
        ('like = "./bad.toml"', "`like` goes round in a circle"),
        ("like = ", "not TOML"),
        (
            'like = "nvme"\n[host]\nsources = { coers = "a report" }',
            "bad.toml': host.sources.coers: there is no key `coers` in host; did you mean `cores`?",
        ),
        (
            'like = "nvme"\n[[link]]\nname = "pcie"\nsources = { volts = "a report" }',
            "link.pcie.sources.volts: there is no key `volts` in link.pcie; give it a value, or name one of duplex, rate_bytes_per_s, ",
        ),
        (
            'like = "nvme"\n[[devices]]\nname = "nvme"\nmodel = { sources = { capacty_bytes = "a label" } }',
            "devices.nvme.model.sources.capacty_bytes: there is no key `capacty_bytes` in devices.nvme.model; did you mean `capacity_bytes`?",
        ),
        ('like = "nvme"\nsources = { siz = "a report" }', "sources.siz: there is no key `siz` there; "),
    ],
)
def test_a_wrong_file_is_refused_in_a_sentence_that_names_it(tmp_path, text, sentence):
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(InputError) as refused:
        array_document(str(path))
    assert sentence in str(refused.value)


def test_a_source_of_nothing_in_a_part_of_ones_own_names_the_part(tmp_path):
    (tmp_path / "fast.toml").write_text('like = "nvme-1t"\nsources = { chanels = "a label" }\n')
    (tmp_path / "mine.toml").write_text('like = "nvme"\n[[devices]]\nname = "nvme"\nmodel = { part = "fast.toml" }\n')
    with pytest.raises(
        InputError, match=r"drive '.*fast\.toml': sources\.chanels: there is no key `chanels` there; did you mean `channels`\?"
    ):
        array_document(str(tmp_path / "mine.toml"))


def test_a_source_can_be_given_to_a_value_that_comes_with_a_part(tmp_path):
    """It was dropped without a word, since the value is not there before the part is put in."""
    (tmp_path / "mine.toml").write_text('like = "nvme"\n[[devices]]\nname = "nvme"\nmodel = { sources = { channels = "counted" } }\n')
    mine, shipped = (array_document(name)["devices"][0]["model"] for name in (str(tmp_path / "mine.toml"), "nvme"))
    assert mine["sources"]["channels"] == "counted" and mine["channels"] == shipped["channels"]


def test_settings_are_laid_on_the_composed_document():
    document = described("array:msa50-sas-10k-raid5-10?controller.raid.cache.battery=false&volume=lun")
    assert document["controller"][0]["cache"]["battery"] is False
    assert document["controller"][0]["cache"]["sources"]["battery"] == "set on the command line"
    assert document["host"]["volumes"] == ["lun"]
    assert array_document("msa50-sas-10k-raid5-10")["controller"][0]["cache"]["battery"] is True


def test_a_part_is_exchanged_before_parts_are_put_in():
    plain = described("array:msa50-sas-10k-raid5-8")
    changed = described("array:msa50-sas-10k-raid5-8?devices.disk.model.part=savvio-15k3-300g&host.request_ns=7us")
    own, other = (document["devices"][0]["model"] for document in (plain, changed))
    assert (own["rotation_rpm"], other["rotation_rpm"]) == (10_000, 15_000)
    assert changed["host"]["request_ns"] == 7_000, "values are set in what comes out"
    assert {key for key in changed if changed[key] != plain[key]} == {"devices", "host"}


def test_an_array_with_another_part_is_written_whole(tmp_path):
    written = overlay("nvme", "devices.nvme.model.part=sata-ssd-960g&host.request_ns=7us", str(tmp_path), "fitted")
    (tmp_path / "mine.toml").write_text(tomli_w.dumps(written))
    mine = described(f"array:{tmp_path / 'mine.toml'}")
    meant = described("array:nvme?devices.nvme.model.part=sata-ssd-960g&host.request_ns=7us")
    assert [mine[key] for key in ("devices", "link", "group")] == [meant[key] for key in ("devices", "link", "group")]
    assert (mine["host"]["request_ns"], mine["host"]["sources"]["request_ns"]) == (7_000, "fitted")


@pytest.mark.parametrize(
    ("target", "sentence"),
    [
        ("array:", "`array:` needs a name"),
        ("array:nvme?volume", "`volume` is not of the form key=value"),
        ("array:nvme?controller.raid.cores=2", "leads nowhere at `raid`; there are software."),
        ("array:nvme?controller=2", "`controller` is a table, not a value"),
        ("array:nvm", "did you mean 'nvme'?"),
        ("array:nvme?devices.nvme.model.part=ssd", "drive 'ssd' is unknown; "),
        ("array:nvme?devices.disk.model.part=nvme-1t", "leads nowhere at `disk`; there are nvme."),
        ("array:nvme?group.single.raid.part=x", "`group.single.raid.part` exchanges nothing: there is no part"),
    ],
)
def test_a_target_that_means_nothing_is_refused(target, sentence):
    with pytest.raises(InputError) as refused:
        described(target)
    assert sentence in str(refused.value)


@pytest.mark.parametrize(
    ("setting", "key", "value"),
    [
        ("controller.raid.cache.size_bytes=256MiB", "controller.raid.cache.size_bytes", 256 << 20),
        ("controller.raid.cache.size_bytes=256m", "controller.raid.cache.size_bytes", 256 << 20),
        ("controller.raid.cache.size_bytes=268435456", "controller.raid.cache.size_bytes", 256 << 20),
        ("controller.raid.cache.destage_bytes_max=1MiB", "controller.raid.cache.destage_bytes_max", 1 << 20),
        ("link.bays-bus.rate_bytes_per_s=160MB/s", "link.bays-bus.rate_bytes_per_s", 160_000_000),
        ("link.bays-bus.rate_bytes_per_s=160MB", "link.bays-bus.rate_bytes_per_s", 160_000_000),
        ("host.request_ns=90us", "host.request_ns", 90_000),
        ("host.request_ns=1ms500us", "host.request_ns", 1_500_000),
        ("devices.disk.model.command_overhead_us=0.25ms", "devices.disk.model.command_overhead_us", 250),
        ("controller.raid.cache.high_percent=70%", "controller.raid.cache.high_percent", 70),
        ("group.raid.raid.strip_sectors=64KiB", "group.raid.raid.strip_sectors", 128),
        ("group.raid.raid.strip_sectors=128", "group.raid.raid.strip_sectors", 128),
        ("host.mode=direct", "host.mode", "direct"),
    ],
)
def test_values_take_units_where_their_key_has_one(setting: str, key: str, value: object) -> None:
    """They had to be typed as whole numbers of the key's unit, and a size like 1MiB was "a string"."""
    found = at(described(f"array:dl580-local?{setting}"), key)
    assert found == value and type(found) is type(value)


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        (
            "host.request_ns=fast",
            "host.request_ns: 'fast' is not a time in whole nanoseconds; write a whole number of nanoseconds from 0 on, or a time with its unit, "
            "for example 250us.",
        ),
        ("host.request_ns=0.5ns", "host.request_ns: '0.5ns' is not a time in whole nanoseconds"),
        ("host.request_ns=1us1ms", "host.request_ns: '1us1ms' is not a time in whole nanoseconds"),
        ("host.request_ns=1MiB", "host.request_ns: '1MiB' is not a time in whole nanoseconds"),
        ("devices.disk.model.command_overhead_us=1500ns", "command_overhead_us: '1500ns' is not a time in whole microseconds"),
        ("group.raid.raid.strip_sectors=1000B", "strip_sectors: '1000B' is not a size in whole sectors of 512 bytes"),
        (
            "controller.raid.cache.size_bytes=1KB",
            "cache.size_bytes: '1KB' is not a size in whole bytes; write a whole number of bytes from 0 on, or a size with its unit, "
            "for example 64KiB.",
        ),
        (
            "link.bays-bus.rate_bytes_per_s=1ms",
            "link.bays-bus.rate_bytes_per_s: '1ms' is not a rate in whole bytes per second; write a whole",
        ),
    ],
)
def test_what_is_no_value_in_a_unit_is_refused_with_one_that_is(setting: str, sentence: str) -> None:
    with pytest.raises(InputError) as told:
        described(f"array:dl580-local?{setting}")
    assert sentence in str(told.value)


@pytest.mark.parametrize(
    ("path", "written", "meant"),
    [
        ("host.request_ns", "4.5ms", 4_500_000),
        ("host.stripe_bytes", "64KiB", 65_536),
        ("link.bays-bus.rate_bytes_per_s", "320MB/s", 320_000_000),
        ("controller.raid.cache.idle_ns", "1m30s", 90_000_000_000),
        ("controller.raid.cache.destage_bytes_max", "1MiB", 1 << 20),
        ("controller.raid.cache.low_percent", "40 %", 40),
        ("devices.disk.model.capacity_bytes", "36.4GB", 36_400_000_000),
        ("devices.disk.model.read_seek.average_us", "4.7ms", 4700),
        ("devices.disk.model.queue.age_limit_ms", "0.25s", 250),
        ("group.raid.raid.strip_sectors", "16KiB", 32),
        ("group.raid.failures.rate.replaced_after_hours", "1d", 24),
        ("group.raid.failures.rate.replaced_after_hours", "90m", 1.5),
        ("group.raid.failures.rate.afr_percent", "0.9%", 0.9),
        ("host.request_ns", 4500, 4500),
    ],
)
def test_values_in_a_file_of_ones_own_take_the_units_of_their_keys(path: str, written: object, meant: object, tmp_path: Path) -> None:
    """In a file they had to be bare numbers, though after the `?` of a target they could have units."""
    document = array_file(tmp_path, path, written)
    found = at(array_document(str(document)), path)
    assert found == meant and type(found) is type(meant)


def test_times_of_failures_in_a_file_take_units_and_sources_stay_texts(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(
        'like = "dl580-local"\n[host]\nrequest_ns = "3us"\nsources = { request_ns = "4us in a book" }\n'
        '[[group]]\nname = "raid"\nfailures = { at = [{ member = 1, time_s = "1m30s" }, { member = 2, time_s = "0.5s" }] }\n'
    )
    document = array_document(str(tmp_path / "mine.toml"))
    assert [one["time_s"] for one in document["group"][0]["failures"]["at"]] == [90, 0.5]
    assert document["host"]["request_ns"] == 3000 and document["host"]["sources"]["request_ns"] == "4us in a book"


def test_a_part_of_ones_own_takes_units_and_is_named_where_they_are_wrong(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('like = "dl580-local"\n[[devices]]\nname = "disk"\nmodel = { part = "drive.toml" }\n')
    (tmp_path / "drive.toml").write_text('like = "savvio-15k2-146g"\ncapacity_bytes = "146GB"\nbuffer = { segment_bytes = "1MiB" }\n')
    model = array_document(str(tmp_path / "mine.toml"))["devices"][0]["model"]
    assert (model["capacity_bytes"], model["buffer"]["segment_bytes"]) == (146_000_000_000, 1 << 20)
    (tmp_path / "other.toml").write_text('like = "dl580-local"\n[[devices]]\nname = "disk"\nmodel = { part = "wrong.toml" }\n')
    (tmp_path / "wrong.toml").write_text('like = "savvio-15k2-146g"\nbuffer = { segment_bytes = "1ms" }\n')
    with pytest.raises(InputError, match=r"wrong\.toml: buffer\.segment_bytes: '1ms' is not a size in whole bytes"):
        array_document(str(tmp_path / "other.toml"))


@pytest.mark.parametrize(
    ("path", "written", "sentence"),
    [
        (
            "controller.raid.cache.idle_ns",
            "1MiB",
            "mine.toml: controller.raid.cache.idle_ns: '1MiB' is not a time in whole nanoseconds; write a whole number of nanoseconds from 0 "
            "on, or a time with its unit, for example 250us.",
        ),
        ("controller.raid.cache.idle_ns", "0.3ns", "'0.3ns' is not a time in whole nanoseconds"),
        (
            "controller.raid.cache.idle_ns",
            "-3ms",
            "'-3ms' is not a time in whole nanoseconds; write a whole number of nanoseconds from 0 on",
        ),
        ("controller.raid.cache.idle_ns", "4500", "'4500' is not a time in whole nanoseconds"),
        ("controller.raid.cache.size_bytes", "0.1B", "'0.1B' is not a size in whole bytes"),
        (
            "controller.raid.cache.high_percent",
            "70ms",
            "'70ms' is not a share; write a number of percent from 0 on, or a share with its unit",
        ),
        ("link.bays-bus.rate_bytes_per_s", "320MB/m", "link.bays-bus.rate_bytes_per_s: '320MB/m' is not a rate in whole bytes per second"),
        ("group.raid.raid.strip_sectors", "128", "'128' is not a size in whole sectors of 512 bytes"),
    ],
)
def test_what_is_no_value_in_a_unit_is_refused_with_the_file_and_the_key(path: str, written: str, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as told:
        array_document(str(array_file(tmp_path, path, written)))
    assert str(told.value).startswith(str(tmp_path)) and sentence in str(told.value)


def array_file(folder: Path, path: str, value: object) -> Path:
    """A file that is like `dl580-local` with a value at a path of keys and names."""
    first, *steps, key = path.split(".")
    table: dict[str, Any] = {key: value}
    named = first != "host"
    for step in reversed(steps[named:]):
        table = {step: table}
    document = {"like": "dl580-local", first: [{"name": steps[0], **table}] if named else table}
    (folder / "mine.toml").write_text(tomli_w.dumps(document))
    return folder / "mine.toml"


def at(document: Any, path: str) -> Any:
    """What is at a path of keys and names."""
    for step in path.split("."):
        document = next(entry for entry in document if entry["name"] == step) if isinstance(document, list) else document[step]
    return document


@pytest.mark.parametrize("text", ["64k", "64K", "64Ki", "64KiB", "64kib", "64 KiB", "64kB", "1.5GiB", "2MB", "1TB", "4096B", "1t", "0.5m"])
def test_sizes_are_those_of_the_command_line(text: str) -> None:
    assert with_unit("size_bytes", text) == native().check_job({"size": text})["size"]


@pytest.mark.parametrize("text", ["250ms", "10s", "1m30s", "2h", "1.5ms", "1d", "3min", "90 s", "2h 30m", "1500us", "1500µs"])
def test_times_are_those_of_the_command_line(text: str) -> None:
    assert with_unit("idle_ns", text) == round(native().check_job({"duration": text})["duration"] * 1e9)


@pytest.mark.parametrize("text", ["64KB", "64mb", "64x", "1.GiB", ".5k", "1e6k", "k", "0.1B", "64KiB/s", "99999999t", "٤k"])
def test_what_is_no_size_on_the_command_line_is_none_here(text: str) -> None:
    for refused in (lambda: native().check_job({"size": text}), lambda: with_unit("size_bytes", text)):
        with pytest.raises(InputError):
            refused()


@pytest.mark.parametrize("text", ["1s1m", "1s1s", "10", "ms", "1.s", "5 parsecs", "0.5ns", "1M"])
def test_what_is_no_time_on_the_command_line_is_none_here(text: str) -> None:
    with pytest.raises(InputError):
        with_unit("idle_ns", text)
    if text not in ("10", "0.5ns"):  # bare seconds; below the least of a job
        with pytest.raises(InputError):
            native().check_job({"duration": text})


@pytest.mark.parametrize(
    ("source", "settings"),
    [
        ("msa50-sas-10k-raid5-8", "host.request_ns=5us"),
        ("msa50-sas-10k-raid5-8", "fail=0@1s,raid.1@2s&spares=1&controller.raid.request_ns=5us"),
        ("msa2000-raid5", "fail=vd1.0@3s&volume=lun[1]"),
        ("msa2000x4-raid5", "host.request_ns=5us&controller.a1-b.request_ns=5us&fail=a2-vd0.1@3s"),
    ],
)
def test_a_file_with_what_is_set_means_what_the_target_means(source: str, settings: str, tmp_path: Path) -> None:
    file = tmp_path / "set.toml"
    file.write_text(tomli_w.dumps(overlay(source, settings, str(tmp_path), "said so")))
    written, meant = described(f"array:{file}"), described(f"array:{source}?{settings}")
    assert unsourced(written) == unsourced(meant)
    assert "set on the command line" not in str(written) and str(written).count("said so") == str(meant).count("set on the command line")


def unsourced(value: Any) -> Any:
    """A document without names of its own and without sources."""
    if isinstance(value, dict):
        return {key: unsourced(entry) for key, entry in value.items() if key not in ("name", "sources")}
    return [unsourced(entry) for entry in value] if isinstance(value, list) else value
