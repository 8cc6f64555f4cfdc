"""What a fio job asks for is decided once, from its values alone."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import Any

import pytest

from plimsoll.formats.fio import jobs, translate
from plimsoll.formats.fio.options import OPTIONS
from plimsoll.formats.fio.quantity import Numbers
from plimsoll.formats.fio.resolve import Said, resolved
from plimsoll.formats.fio.values import read_value

ONE_OF_EACH = """
[global]
filename=/dev/sdb
runtime=10
time_based
[mix]
rw=randrw:4
rwmixread=73
bssplit=4k/60:8k/40
rate_iops=100,50
fsync=8
numjobs=3
[checked]
stonewall
rw=write
verify=md5
verify_only
size=1m
"""


def values(**lines: str) -> dict[str, Any]:
    return {name: read_value(OPTIONS[name].form, text, Numbers()) for name, text in lines.items()}


def test_each_job_is_resolved_once_however_much_is_asked_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, Any]] = []

    def counted(of: dict[str, Any]) -> Any:
        asked.append(dict(of))
        return resolved(of)

    monkeypatch.setattr(jobs, "resolved", counted)
    translate(ONE_OF_EACH, "job.fio", None, {})
    assert [len(of) for of in asked if of] == [9, 8]


def test_the_same_values_ask_for_the_same_and_what_comes_out_does_not_change() -> None:
    given = values(rw="randrw", rwmixread="73", bs="4k,8k", bssplit="4k/60:8k/40")
    requests, said = resolved(given)
    assert (requests, said) == resolved(given)
    with pytest.raises(FrozenInstanceError):
        requests.direct = True  # type: ignore[misc]
    assert requests.shares == {"r": 73, "w": 27}
    assert requests.sizes["r"].shares == ((4096, 60.0), (8192, 40.0))
    assert said == (Said("bs", "idle", "bssplit takes its place"),)


@pytest.mark.parametrize(
    ("lines", "shares"),
    [
        ({"rw": "randrw"}, {"r": 50, "w": 50}),
        ({"rw": "rw", "rwmixwrite": "10"}, {"r": 90, "w": 10}),
        ({"rw": "randread", "rwmixread": "10"}, {"r": 100}),
        ({"rw": "trimwrite"}, {"w": 100}),
        ({"rw": "write", "verify": "md5", "verify_only": "1"}, {"r": 100}),
        ({"rw": "write", "verify": "0", "verify_only": "1"}, {"w": 100}),
        ({}, {"r": 100}),
    ],
)
def test_operations_have_the_shares_that_fio_gives_them(lines: dict[str, str], shares: dict[str, float]) -> None:
    assert resolved(values(**lines))[0].shares == shares


@pytest.mark.parametrize(
    ("lines", "lengths", "aligned"),
    [
        ({"rw": "randrw"}, (4096, 4096), (4096, 4096)),
        ({"rw": "randrw", "bs": "8k,16k"}, (8192, 16384), (8192, 16384)),
        ({"rw": "randrw", "bs": ",16k"}, (4096, 16384), (4096, 16384)),
        ({"rw": "randrw", "bs": "8k", "bsrange": "16k-16k"}, (16384, 16384), (16384, 16384)),
        ({"rw": "randrw", "bsrange": "16k-16k", "bssplit": "8k/100,"}, (8192, 16384), (8192, 16384)),
        ({"rw": "randrw", "bs": "8k,16k", "ba": "512"}, (8192, 16384), (512, 512)),
        ({"rw": "randrw", "bs": "8k,16k", "bs_is_seq_rand": "1"}, (16384, 16384), (8192, 16384)),
        ({"rw": "rw", "bs": "8k,16k", "bs_is_seq_rand": "1"}, (8192, 8192), (8192, 16384)),
    ],
)
def test_lengths_and_alignment_follow_the_options_in_their_order(
    lines: dict[str, str], lengths: tuple[int, int], aligned: tuple[int, int]
) -> None:
    requests, _ = resolved(values(**lines))
    assert all(sizes.fixed for sizes in requests.lengths)
    assert (requests.sizes["r"].least, requests.sizes["w"].least) == lengths
    assert (requests.aligned["r"], requests.aligned["w"]) == aligned


def test_what_is_only_verified_is_read_as_it_was_written() -> None:
    requests, _ = resolved(values(rw="write", verify="md5", verify_only="1", bs="4k,64k", ba="512,4k"))
    assert (requests.mode.ops, requests.sizes["r"].least, requests.aligned["r"], requests.index("r")) == ("r", 65536, 4096, 1)


def test_a_size_that_another_option_takes_the_place_of_is_so_for_engines_of_files_too() -> None:
    text = "[job]\nioengine=filestat\nnrfiles=4\nfilesize=4k\nbs=8k\nbsrange=4k-16k\n"
    remarks = {remark.text: remark for remark in translate(text, "job.fio", None, {}).remarks}
    assert (remarks["bs=8k"].kind, remarks["bs=8k"].why) == ("ignored", "bsrange takes its place")
