"""Whoever follows an option of fio through its translation is led on, and not to and fro: ``pytest tests/formats/test_fio_walk.py -rP``."""

from __future__ import annotations

import pytest

from support.walk import of_fio, walked

JOB = "[job]\nioengine=libaio\niodepth=8\ndirect=1\nfilename=/dev/sdb\nruntime=10\ntime_based\n"
#: The goal of the structure: fewer turns than a page has lines.
BACK_MAX = 20


@pytest.mark.parametrize(
    ("lines", "values"),
    [
        ("rw=randrw\nbs=4k\nrwmixread={}\n", ("70", "30")),
        ("rw=randrw\nbs={}\n", ("4k", "8k")),
        ("rw=randread\nbs=4k\nrate_iops={}\n", ("500", "600")),
        ("rw=read\nbs=4k\nzonesize=1m\nzonemode={}\n", ("strided", "zbd")),
    ],
    ids=["rwmixread", "bs", "rate_iops", "zonemode"],
)
def test_an_option_is_followed_with_few_steps_back(lines: str, values: tuple[str, str]) -> None:
    walk = walked(of_fio, JOB + lines, *values)
    print(walk)
    assert "fio/group.py" in walk.files, "the walk ends before the workload"
    assert walk.back <= BACK_MAX, str(walk)


def test_a_step_back_is_counted() -> None:
    walk = walked(of_fio, JOB + "rw=randrw\nrwmixread={}\n", "70", "30")
    assert walk.back > 0
    assert len(walk.stays) == len(walk.files) + walk.back
