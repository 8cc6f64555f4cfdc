"""Whoever follows a parameter of Vdbench through its translation is led on: ``pytest tests/formats/test_vdbench_walk.py -rP``."""

from __future__ import annotations

import pytest

from support.walk import of_vdbench, walked

#: As for fio.
BACK_MAX = 20
DISKS = "sd=sd1,lun=/dev/sdb,size=10g\n{wd}\nrd=run1,wd=wd1,{rd},elapsed=60,interval=1\n"
TREES = "fsd=fsd1,anchor=/data,depth=1,width=2,files=10,sizes=64k\n{wd}\nrd=run1,fwd=fwd1,fwdrate=max,format=yes,elapsed=60,interval=1\n"


@pytest.mark.parametrize(
    ("text", "values"),
    [
        (DISKS.format(wd="wd=wd1,sd=sd1,rdpct={}", rd="iorate=max"), ("70", "30")),
        (DISKS.format(wd="wd=wd1,sd=sd1,xfersize={}", rd="iorate=max"), ("4k", "8k")),
        (DISKS.format(wd="wd=wd1,sd=sd1", rd="iorate={}"), ("500", "600")),
        (TREES.format(wd="fwd=fwd1,fsd=fsd1,operation=read,fileselect={}"), ("random", "once")),
    ],
    ids=["rdpct", "xfersize", "iorate", "fileselect"],
)
def test_a_parameter_is_followed_with_few_steps_back(text: str, values: tuple[str, str]) -> None:
    walk = walked(of_vdbench, text, *values)
    print(walk)
    assert "vdbench/experiments.py" in walk.files, "the walk ends before the experiment"
    assert walk.back <= BACK_MAX, str(walk)
