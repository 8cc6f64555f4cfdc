"""An array is named by its family and what it differs in, behind the question mark; the long names stay."""

from __future__ import annotations

import pytest

from plimsoll.catalog.arrays import array_document, described, families, overlay
from plimsoll.errors import InputError


def test_a_family_and_its_axes_mean_the_first_array_that_has_them():
    assert described("array:dl360?server=g8&drive=6g-15k") == array_document("dl360-g8-6g-15k-raid5-3")
    # Three drives are left out for RAID 1+0, so the first is that of four.
    assert described("array:dl360?level=raid10")["name"] == "dl360-g5-3g-10k-raid10-4"


@pytest.mark.parametrize("family", families(), ids=lambda family: family.name)
def test_every_array_can_be_named_by_its_family_and_all_axes(family):
    for name in family.names()[:: max(1, len(family.names()) // 7)]:
        axes = "&".join(f"{axis}={value}" for axis, value in family.choice(name).items())
        assert described(f"array:{family.name}?{axes}")["name"] == name


def test_an_axis_behind_a_whole_name_changes_that_and_nothing_else():
    assert described("array:dl360-g5-3g-10k-raid10-8-nocache?server=g8")["name"] == "dl360-g8-3g-10k-raid10-8-nocache"
    assert described("array:nvme-raid10?drives=8")["name"] == "nvme-raid10-8"


def test_keys_of_the_file_follow_axes_in_any_order():
    found = described("array:dl360?host.cores=2&server=g8&spares=1&devices.disk.model.part=savvio-15k3-300g")
    assert (found["name"], found["host"]["cores"], len(found["spares"])) == ("dl360-g8-3g-10k-raid5-3", 2, 1)
    assert found["devices"][0]["model"]["rotation_rpm"] == 15_000


@pytest.mark.parametrize(
    ("target", "told"),
    [
        ("array:dl360?server=g9", "target `array:dl360?server=g9`: server: there is no 'g9'; there are g5, g6, g7, g8."),
        ("array:dl360-g5-3g-10k-raid10-4?drives=3", "there is no dl360 with server g5, drive 3g-10k, level raid10, drives 3, cache on"),
        ("array:dl360?colour=red", "array 'dl360' is a family of 120 arrays; say which one by server"),
    ],
)
def test_an_axis_or_value_that_is_not_there_is_told(target, told):
    with pytest.raises(InputError) as refused:
        described(target)
    assert told in str(refused.value)


def test_a_file_is_like_what_axes_mean(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('like = "dl360?server=g8&level=raid10"\ntitle = "Mine"\n')
    assert described(f"array:{path}")["controller"] == array_document("dl360-g8-3g-10k-raid10-4")["controller"]
    path.write_text('like = "dl360?server=g8&host.cores=2"\n')
    with pytest.raises(InputError, match=r"`like`: 'host.cores=2' is no axis of the family"):
        described(f"array:{path}")


def test_what_is_written_as_a_file_names_the_array_itself():
    laid = overlay("dl360", "server=g8&host.cores=2", ".", "typed")
    assert laid["like"] == "dl360-g8-3g-10k-raid5-3"
    assert laid["host"]["cores"] == 2
