"""Job files of a host whose devices are not here, for every tool alike: a typed target in the place of all, sizes that are given, and refusals."""

from __future__ import annotations

from typing import Any

import pytest

from formats.iometer.made import simple, worker
from plimsoll.engine.block import native
from plimsoll.errors import InputError
from plimsoll.experiments.document import read_experiments
from plimsoll.formats.known_targets import KnownTargets
from plimsoll.formats.tools import Around, translate
from plimsoll.formats.translation import Translation

GIB = 1 << 30
SECTORS = GIB // 512

#: Two devices used at the same time, or shares of devices: what cannot be laid out before their sizes are known.
FIO = "[one]\nfilename=/dev/sdx\nrw=randread\nsize=50%\nloops=3\n[two]\nfilename=/dev/sdy\nrw=write\nbs=64k\noffset=10%\nsize=32m\n"
VDBENCH = (
    "sd=sd1,lun=/dev/sdx\nsd=sd2,lun=/dev/sdy\nwd=wd1,sd=sd*,xfersize=4k,range=(10,20)\nrd=run1,wd=wd1,iorate=100,elapsed=5,interval=1\n"
)
ICF = simple(None, worker(targets=["sdx", "sdy"]))
ORION = "-run simple -testname luns -num_disks 2\n"
DISKSPD = "diskspd -b4K -r -Sh -d5 /dev/sdx /dev/sdy\n"
TEXTS = {"fio": FIO, "vdbench": VDBENCH, "iometer": ICF, "orion": ORION, "diskspd": DISKSPD}
#: The same with names of Windows.
OF_WINDOWS = {
    "fio": FIO.replace("/dev/sdx", r"\\.\PhysicalDrive1").replace("/dev/sdy", r"C\:\data\test"),
    "vdbench": VDBENCH.replace("/dev/sdx", r"\\.\PhysicalDrive1").replace("/dev/sdy", r"c:\vdbench\file2"),
    "iometer": simple(None, worker(targets=["C:", '1: "\\\\.\\PHYSICALDRIVE1"'])),
    "diskspd": DISKSPD.replace("/dev/sdx", "#1").replace("/dev/sdy", r"C:\test.dat"),
}
LUNS = {"luns.lun": "/dev/sdx\n/dev/sdy\n"}


def translated(tool: str, text: str, targets: KnownTargets) -> Translation:
    def include(name: str) -> str:
        if name not in LUNS:
            raise InputError(f"{name}: cannot be read.")
        return LUNS[name]

    return translate(tool, text, f"job.{tool}", Around(include, {}, targets))


def on(target: str, given: int | None = None) -> KnownTargets:
    return KnownTargets({}.get, target, given)


def check_runnable(translation: Translation) -> dict[str, Any]:
    assert translation.refusal() is None
    for workload in translation.document["workload"]:
        native().check_workload(workload, translation.source)
    read_experiments(translation.document, translation.source)
    return translation.document


def targets_of(document: dict[str, Any]) -> set[str]:
    return {one["target"] for experiment in document["experiment"] for one in experiment["configurations"]}


@pytest.mark.parametrize("tool", TEXTS)
def test_a_typed_target_takes_the_place_of_devices_that_are_not_here(tool: str) -> None:
    # All of these were refused for the sizes of the devices, although none of them was to be used.
    document = check_runnable(translated(tool, TEXTS[tool], on("./scratch.dat", 64 << 20)))
    assert targets_of(document) == {"./scratch.dat"}
    assert {experiment["set"]["size"] for experiment in document["experiment"]} == {"64MiB"}


@pytest.mark.parametrize("tool", OF_WINDOWS)
def test_a_typed_target_takes_the_place_of_names_of_windows(tool: str) -> None:
    assert targets_of(check_runnable(translated(tool, OF_WINDOWS[tool], KnownTargets({"null:": 1 << 40}.get, "null:")))) == {"null:"}


@pytest.mark.parametrize("tool", ["fio", "vdbench"])
def test_names_of_windows_are_refused_with_the_option_that_replaces_them(tool: str) -> None:
    refused = translated(tool, OF_WINDOWS[tool], KnownTargets(given=GIB)).of("unsupported")
    assert any("--target" in remark.why and "Windows" in remark.why for remark in refused)


@pytest.mark.parametrize("tool", ["fio", "vdbench", "iometer", "diskspd"])
def test_streams_that_share_a_typed_target_are_told_of(tool: str) -> None:
    translation = translated(tool, TEXTS[tool], on("./scratch.dat", 64 << 20))
    assert any("--target ./scratch.dat takes the place of all of them" in remark.why for remark in translation.of("surprise"))


@pytest.mark.parametrize("tool", ["vdbench", "iometer", "diskspd"])
def test_several_devices_that_are_not_here_need_no_size(tool: str) -> None:
    document = check_runnable(translated(tool, TEXTS[tool], KnownTargets()))
    assert targets_of(document) == {"concat:/dev/sdx,/dev/sdy"}
    assert [stream["parts"] for stream in document["workload"][0]["stream"]] == [0, 1]


def test_devices_that_are_not_here_have_the_size_that_was_given() -> None:
    # Three passes over a share of a device can be counted only where its size is known.
    refusal = translated("fio", FIO, KnownTargets(remedy="give --assume-size")).refusal()
    assert refusal is not None and "give --assume-size" in refusal
    document = check_runnable(translated("fio", FIO, KnownTargets(given=100 * GIB)))
    assert targets_of(document) == {"concat:/dev/sdx,/dev/sdy"}
    assert document["workload"][0]["stream"][0]["amount"] == "150GiB"
    assert document["workload"][0]["stream"][1]["region_start"] == "10%"


def test_what_is_here_has_the_size_that_it_has() -> None:
    document = check_runnable(translated("fio", FIO, KnownTargets({"/dev/sdx": 4 * GIB}.get, given=100 * GIB)))
    assert document["workload"][0]["stream"][0]["amount"] == "6GiB"


def test_a_size_in_the_job_holds_over_the_one_that_was_given() -> None:
    document = check_runnable(translated("fio", "[a]\nfilename=data\nsize=8m\nrw=read\n", KnownTargets(given=GIB)))
    assert document["experiment"][0]["set"]["size"] == "8MiB"


BEYOND = {
    "fio": "[a]\nfilename=/dev/sdx\nrw=randread\nsize=1g\n",
    "vdbench": VDBENCH.replace("lun=/dev/sdx", "lun=/dev/sdx,size=1g"),
    "iometer": simple(None, worker(targets=["sdx"], region=f"{SECTORS},0")),
    "diskspd": "diskspd -b4K -r -Sh -d5 -c1G C:\\test.dat\n",
}


@pytest.mark.parametrize("tool", BEYOND)
def test_a_region_beyond_the_given_size_is_refused_before_anything_is_measured(tool: str) -> None:
    refusal = translated(tool, BEYOND[tool], on("./scratch.dat", 64 << 20)).refusal()
    assert refusal is not None and ("64MiB" in refusal or str(64 << 20) in refusal)


@pytest.mark.parametrize("size", ["1g", "100%"])
def test_a_region_that_just_fits_is_none_beyond(size: str) -> None:
    check_runnable(translated("fio", f"[a]\nfilename=/dev/sdx\nrw=randread\nsize={size}\n", on("./scratch.dat", GIB)))


def test_a_percentage_before_the_region_counts_towards_its_end() -> None:
    refusal = translated("fio", "[a]\nfilename=/dev/sdx\noffset=1%\nsize=1g\n", on("./scratch.dat", GIB)).refusal()
    assert refusal is not None and "its region ends at" in refusal


def test_luns_need_no_file_where_a_target_is_typed() -> None:
    document = check_runnable(translated("orion", "-run simple -testname other -num_disks 2\n", on("./scratch.dat", GIB)))
    assert targets_of(document) == {"./scratch.dat"}


def test_anchors_of_several_trees_hang_below_the_typed_directory() -> None:
    trees = (
        "fsd=fsd1,anchor=/data/a,depth=1,width=1,files=2,sizes=4k\nfsd=fsd2,anchor=c:\\b,depth=1,width=1,files=2,sizes=4k\n"
        "fwd=fwd1,fsd=fsd*,operation=read,xfersize=4k,fileio=sequential,fileselect=random,threads=2\n"
        "rd=rd1,fwd=fwd1,fwdrate=max,format=yes,elapsed=5,interval=1\n"
    )
    document = translated("vdbench", trees, on("./trees")).document
    assert targets_of(document) == {"./trees"}
    assert [tree["path"] for tree in document["workload"][-1]["tree"]] == ["data/a", "b"]


@pytest.mark.parametrize(
    ("job", "says"), [("rw=read\n", "write size="), ("rw=read\nio_size=1m\n", "write size="), ("rw=read\nsize=0\n", "write size=")]
)
@pytest.mark.parametrize("engine", ["psync", "null"])
def test_a_job_of_fio_without_any_size_is_refused_like_fio_does(job: str, says: str, engine: str) -> None:
    # It ran at the size of a scratch file; fio 3.33 ends with "you need to specify size=".
    text = f"[a]\nfilename=data\nioengine={engine}\n{job}"
    refusal = translated("fio", text, KnownTargets()).refusal()
    assert refusal is not None and says in refusal and "give --size" in refusal
    document = check_runnable(translated("fio", text, KnownTargets(given=GIB)))
    assert document["workload"][0]["stream"][0]["region_length"] == "1GiB"


@pytest.mark.parametrize(
    ("tool", "text"),
    [("vdbench", VDBENCH.replace("/dev/sdx", "data")), ("diskspd", "diskspd -b4K -r -Sh -d5 io.dat\n")],
)
def test_files_of_other_tools_that_are_not_there_need_a_size_too(tool: str, text: str) -> None:
    looked = KnownTargets({"/dev/sdy": GIB}.get)
    refusal = translated(tool, text, looked).refusal()
    assert refusal is not None and "there is no such file" in refusal and "give --size" in refusal
    check_runnable(translated(tool, text.replace(",sd=sd*", ",sd=sd1"), KnownTargets(looked.found, given=GIB)))


@pytest.mark.parametrize(
    ("job", "option", "key", "most"),
    [
        ("rw=read\nfilename=/data/f\nsize=400g\nloops=3000\n", "loops=3000", "amount", "1024TiB"),
        ("rw=read\nfilename=/data/f\nsize=1t\nio_size=8192t\n", "io_size=8192t", "amount", "1024TiB"),
        ("rw=read\nnrfiles=300\nfile_service_type=sequential\nfilesize=1t\nloops=50000\n", "loops=50000", "amount", "1024TiB"),
        ("rw=read\nsize=1m\nnumber_ios=1000000000000000\nloops=2\n", "loops=2", "requests", 10**15),
    ],
)
def test_more_than_a_stream_can_be_asked_for_is_capped_and_said(job: str, option: str, key: str, most: object) -> None:
    # 1,172 TiB became 1,024 TiB in silence; requests and trees beyond the limit were refused by the run that translate had promised.
    translation = translated("fio", f"[a]\n{job}", KnownTargets())
    assert translation.document["workload"][0]["stream"][0][key] == most
    (remark,) = [remark for remark in translation.remarks if remark.text == option]
    assert remark.kind == "ignored" and "which no run reaches in its time" in remark.why
    check = native().check_workload if "tree" not in translation.document["workload"][0] else (lambda *_: None)
    check(translation.document["workload"][0], "job.fio")
