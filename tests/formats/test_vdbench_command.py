"""Command lines of Vdbench: files, overrides, values by name, and options that cannot be kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from plimsoll.errors import InputError
from plimsoll.formats.translation import Translation
from plimsoll.formats.vdbench import translate_command

STORAGE = "sd=sd1,lun=$lun\n"
REST = "wd=wd1,sd=sd1\nrd=run1,wd=wd1,iorate=max,elapsed=60,interval=1\n"
FILES = {"job": STORAGE + REST, "sds": STORAGE, "rest": REST, "fixed": "sd=sd1,lun=/dev/sdb\n" + REST}


def command(words: str, files: Mapping[str, str] = FILES) -> Translation:
    def read(name: str) -> str:
        if name not in files:
            raise FileNotFoundError(2, "No such file or directory", name)
        return files[name]

    return translate_command(words.split(), "vdbench", read, {"HOME": "/root"})


def said(translation: Translation) -> Sequence[tuple[int | None, str, str]]:
    return [(remark.line, remark.text, remark.kind) for remark in translation.remarks]


def test_values_are_filled_in_by_name() -> None:
    assert command("-f job lun=/dev/sdc").document["experiment"][0]["configurations"] == [{"name": "sd1", "target": "/dev/sdc"}]


def test_several_files_are_read_as_one() -> None:
    translation = command("-f sds rest lun=/dev/sdc")
    assert translation.document["experiment"][0]["configurations"][0]["target"] == "/dev/sdc"
    assert [text for _, text, _ in said(translation)][:3] == ["sds:1: $lun", "sds:1: sd=sd1", "sds:1: lun=/dev/sdc"]


def test_options_override_what_every_run_says() -> None:
    translation = command("-f fixed -e 120 -i 2 -w 10 -l 3 -v")
    (experiment,) = translation.document["experiment"]
    assert experiment["set"] == {"duration": "120s", "warmup": "10s", "interval": "2s"} and experiment["repeat"] == 3
    assert translation.document["workload"][0]["stream"][0]["verify"] == "all"
    assert (None, "-e 120", "native") in said(translation) and (None, "-w 10", "native") in said(translation)
    (why,) = [remark.why for remark in translation.remarks if remark.text == "elapsed=60"]
    assert why == "the command line says otherwise"


def test_options_say_how_every_run_formats() -> None:
    files = {
        "tree": "fsd=fsd1,anchor=/data,depth=1,width=1,files=9,sizes=4k\nfwd=fwd1,fsd=fsd1,operation=create\nrd=rd1,fwd=fwd1,fwdrate=max\n"
    }
    layouts = [command(f"-f tree {word}", files).document["workload"][0]["tree"][0]["lay_out"] for word in ("-cn", "-cy", "-co")]
    assert layouts == ["directories", "files", "files"]
    # A run on devices formats nothing.
    assert said(command("-f fixed -cy"))[0] == (None, "-cy", "ignored")


def test_options_about_vdbench_itself_are_ignored() -> None:
    translation = command("-f fixed -o output -m 4 -k")
    assert said(translation)[:3] == [(None, "-o output", "ignored"), (None, "-m 4", "ignored"), (None, "-k", "ignored")]
    assert translation.refusal() is None


@pytest.mark.parametrize("words", ["-t", "-tf", "-f fixed -s", "-f fixed -r run1", "-f fixed -jr", "-f fixed -vr"])
def test_what_cannot_be_kept_is_unsupported(words: str) -> None:
    assert command(words).refusal() is not None


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ("", "no parameter file is named"),
        ("job", "'job' is no option"),
        ("-f", "-f names no file"),
        ("-f nothing", "nothing cannot be read (No such file or directory)"),
        ("-f fixed -e", "option -e has no value"),
        ("-f fixed -e soon", "'-e soon': that is not a time"),
        ("-f fixed -l often", "'-l often': write a whole number"),
        ("-f fixed -z", "option '-z' is not known"),
        ("-f job", "'$lun' has no value"),
        ("-f fixed lun=/dev/sdb", "no line uses lun=/dev/sdb"),
        ("-f fixed fixed", "fixed is named twice"),
    ],
)
def test_mistakes_are_told_in_one_sentence(words: str, part: str) -> None:
    with pytest.raises(InputError) as caught:
        refused = command(words).refusal()
        raise InputError(refused or "translated")
    assert part in str(caught.value) and "\n" not in str(caught.value)
