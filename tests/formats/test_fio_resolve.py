"""What a fio job asks for is decided once, from its values alone."""

from __future__ import annotations

import ast
import sys
from dataclasses import FrozenInstanceError, is_dataclass
from pathlib import Path
from typing import Any

import pytest

from plimsoll.errors import InputError
from plimsoll.formats.fio import translate
from plimsoll.formats.fio.forms import read_value
from plimsoll.formats.fio.notes import Note, Unfit
from plimsoll.formats.fio.options import OPTIONS
from plimsoll.formats.fio.quantity import Numbers
from plimsoll.formats.fio.requests import requests_of
from plimsoll.formats.fio.resolve import Source, resolved

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
    asked: list[Source] = []

    def counted(job: Source) -> Any:
        asked.append(job)
        return resolved(job)

    monkeypatch.setattr(sys.modules["plimsoll.formats.fio.translate"], "resolved", counted)
    translate(ONE_OF_EACH, "job.fio", None, {})
    assert [(job.name, len(job.values)) for job in asked] == [("mix", 9), ("checked", 8)]


@pytest.mark.parametrize(
    "lines",
    [
        {"rw": "randrw:4", "rwmixread": "73", "bs": "4k,8k", "bssplit": "4k/60:8k/40", "size": "1m", "fsync": "8", "rate_iops": "10,20"},
        {"ioengine": "filecreate", "nrfiles": "4", "filesize": "4k"},
        {"zonemode": "strided", "zonesize": "1m", "latency_target": "5ms", "iodepth": "8", "verify": "md5"},
    ],
)
def test_the_same_values_ask_for_the_same_and_what_comes_out_does_not_change(lines: dict[str, str]) -> None:
    source = Source("job", values(**lines), in_trees="nrfiles" in lines)
    intent, notes = resolved(source)
    assert (intent, notes) == resolved(source)
    parts = [intent, intent.load, *vars(intent).values(), *vars(intent.load).values()]
    for part in [part for part in parts if is_dataclass(part)]:
        with pytest.raises(FrozenInstanceError):
            part.name = "other"  # type: ignore[misc]


def test_behind_the_decision_nobody_looks_at_the_values_of_a_job() -> None:
    package = Path(translate.__code__.co_filename).parent
    for path in [package / name for name in ("flow.py", "layout.py", "group.py")]:
        names = {
            node.attr if isinstance(node, ast.Attribute) else node.id
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, (ast.Attribute, ast.Name))
        }
        assert not names & {"Values", "Job", "Ledger"}, path.name


def test_what_does_not_fit_is_named_by_its_option_and_then_by_its_line() -> None:
    with pytest.raises(Unfit) as found:
        resolved(Source("job", values(rate="1m", rate_iops="5")))
    assert (found.value.name, found.value.problem) == ("rate_iops", "fio takes either rate or rate_iops; drop one of the two.")
    with pytest.raises(InputError, match=r"^job\.fio:3: 'rate_iops=5': fio takes either"):
        translate("[job]\nrate=1m\nrate_iops=5\nfilename=/dev/sdb\n", "job.fio", None, {})


def test_a_start_that_is_drawn_is_remarked_upon_for_trees_of_files_too() -> None:
    text = "[job]\nioengine=filestat\nnrfiles=4\nfilesize=4k\nstartdelay=5-10\n"
    whys = {remark.text: remark.why for remark in translate(text, "job.fio", None, {}).remarks}
    assert whys["startdelay=5-10"] == "start_after is the lower end, 5s; fio draws a time from the range"


def test_rates_decide_the_shares_of_operations_of_different_alignment() -> None:
    text = "[job]\nrw=randrw\nbs=8k\nbs_is_seq_rand\nba=8k,4k\nrate_iops=30,10\nfilename=/dev/sdb\ndirect=1\n"
    access = translate(text, "job.fio", None, {}).document["workload"][0]["stream"][0]["access"]
    assert [(line["read_percent"], line["weight"]) for line in access] == [(100, 75), (0, 25)]


def test_requests_of_a_rate_are_not_held_back() -> None:
    held = "[job]\nioengine=libaio\niodepth=8\niodepth_low=2\nserialize_overlap=1\nfilename=/dev/sdb\ndirect=1\n"
    for lines, refill_depth, kind in (("", 2, "native"), ("rate_iops=100\n", None, "ignored")):
        translation = translate(held + lines, "job.fio", None, {})
        stream = translation.document["workload"][0]["stream"][0]
        assert (stream.get("refill_depth"), stream.get("serialize_overlap")) == (refill_depth, None if lines else True)
        kinds = {remark.text: remark.kind for remark in translation.remarks}
        assert (kinds["iodepth_low=2"], kinds["serialize_overlap=1"]) == (kind, kind)


def test_a_size_that_another_takes_the_place_of_is_said_to() -> None:
    requests, notes = requests_of(values(rw="randrw", rwmixread="73", bs="4k,8k", bssplit="4k/60:8k/40"))
    assert requests.shares == {"r": 73, "w": 27}
    assert requests.sizes["r"].shares == ((4096, 60.0), (8192, 40.0))
    assert notes == (Note("bs", "idle", "bssplit takes its place"),)


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
    assert requests_of(values(**lines))[0].shares == shares


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
    requests, _ = requests_of(values(**lines))
    assert all(sizes.fixed for sizes in requests.lengths)
    assert (requests.sizes["r"].least, requests.sizes["w"].least) == lengths
    assert (requests.aligned["r"], requests.aligned["w"]) == aligned


def test_what_is_only_verified_is_read_as_it_was_written() -> None:
    requests, _ = requests_of(values(rw="write", verify="md5", verify_only="1", bs="4k,64k", ba="512,4k"))
    assert (requests.mode.ops, requests.sizes["r"].least, requests.aligned["r"]) == ("r", 65536, 4096)


def test_a_size_that_another_option_takes_the_place_of_is_so_for_engines_of_files_too() -> None:
    text = "[job]\nioengine=filestat\nnrfiles=4\nfilesize=4k\nbs=8k\nbsrange=4k-16k\n"
    remarks = {remark.text: remark for remark in translate(text, "job.fio", None, {}).remarks}
    assert (remarks["bs=8k"].kind, remarks["bs=8k"].why) == ("ignored", "bsrange takes its place")
