"""A host over ssh whose clock is set while it measures, or whose Python is another: said with its name, and nothing is added up wrongly."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.lab import Lab, missing
from support.patience import HANGS_S

pytestmark = [
    pytest.mark.skipif(missing() is not None, reason=str(missing())),
    pytest.mark.skipif(shutil.which("cc") is None, reason="a C compiler is not installed (apt-get install gcc)"),
]
HIDDEN = (str(Path(__file__).resolve().parents[2]),)
SECOND_NS = 1_000_000_000
LOAD = ("run", "random-read-4k", "--target", "null:", "-w", "0s", "--fresh", "--set", "interval=100ms")
#: Python of the host, with clocks that a file sets.
STEPPED = """#!/bin/sh
LD_PRELOAD=/root/stepped_clock.so STEPPED_CLOCK=/root/stepped exec {python} "$@"
"""
#: Python that says it is another.
OLD = """#!/bin/sh
exec {python} -c "import sys; sys.version_info = (3, 12, 1, 'final', 0); $2"
"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with Lab(tmp_path_factory.mktemp("differ"), 3, HIDDEN) as lab:
        home = lab.hosts["h2"].home
        source = Path(__file__).parents[1] / "support" / "stepped_clock.c"
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", str(home / "stepped_clock.so"), str(source), "-ldl"], check=True)
        # As its shell finds it: the one of this test is hidden from it.
        python = f"python{sys.version_info[0]}.{sys.version_info[1]}"
        for name, text in (("stepped-python", STEPPED), ("old-python", OLD)):
            (home / name).write_text(text.format(python=python))
            (home / name).chmod(0o755)
        yield lab


def of_h2(lab: Lab, python: str) -> str:
    """A lab's file in which h2 has this Python."""
    file = lab.file(carrier="ssh")
    text = Path(file).read_text()
    Path(file).write_text(text.replace('name = "h2"', f'name = "h2"\npython = "{python}"'))
    return file


def stepped(lab: Lab, wall_ns: int, monotonic_ns: int) -> Any:
    """The point of a run during which the clocks of h2 are set by so much."""
    told = lab.hosts["h2"].home / "stepped"
    told.unlink(missing_ok=True)
    process = lab.start(*LOAD, "--hosts", of_h2(lab, "/root/stepped-python"), "-d", "5s")
    lab.wait_for_load(process)
    told.with_name("part").write_text(f"{wall_ns} {monotonic_ns}\n")
    told.with_name("part").rename(told)
    _, said = process.communicate(timeout=HANGS_S)
    told.unlink()
    assert process.returncode == 0, said
    point = lab.points()[-1]
    assert [host["status"] for host in point["hosts"]] == ["complete"] * 3
    assert point["totals"]["read"]["count"] == sum(host["totals"]["read"]["count"] for host in point["hosts"])
    return point


def moved(point: Any) -> list[tuple[str, str]]:
    return [(flag["severity"], flag["message"]) for flag in point["flags"] if flag["name"] == "clock_moved"]


def test_a_wall_clock_that_is_set_is_told_and_figures_do_not_depend_on_it(lab: Lab) -> None:
    point = stepped(lab, -3600 * SECOND_NS, 0)
    (told,) = moved(point)
    assert told[0] == "note"
    assert told[1].startswith("h2's wall clock was set by -3,600 s"), told
    by_name = {host["name"]: host for host in point["hosts"]}
    assert abs(by_name["h2"]["clock_set_ns"] + 3600 * SECOND_NS) < SECOND_NS
    assert all(abs(by_name[name]["clock_set_ns"]) < SECOND_NS for name in ("h1", "h3"))
    assert all(abs(host["offset_ns"] - lab.hosts[name].ahead_s * SECOND_NS) <= host["offset_bound_ns"] for name, host in by_name.items())


def test_a_clock_that_jumps_while_it_measures_is_a_doubt_with_its_host_s_name(lab: Lab) -> None:
    point = stepped(lab, 0, 500_000_000)
    (told,) = moved(point)
    assert told[0] == "doubt"
    assert told[1].startswith("h2's clock moved by 500 ms against the others'"), told
    drifts = {host["name"]: host["drift_ns"] for host in point["hosts"]}
    assert abs(drifts["h2"] - 500_000_000) < 100_000_000
    assert max(abs(drifts["h1"]), abs(drifts["h3"])) < 100_000_000


def test_a_host_with_another_python_is_refused_before_anything_is_carried(lab: Lab) -> None:
    cache = lab.hosts["h2"].home / ".cache"
    shutil.rmtree(cache, ignore_errors=True)
    before = len(lab.points())
    done = lab.run(*LOAD, "-q", "--hosts", of_h2(lab, "/root/old-python"), "-d", "1s")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "h2: " in done.stderr and "3.12" in done.stderr, done.stderr
    assert not list(cache.glob("plimsoll/environments/*")), "nothing was carried there"
    assert len(lab.points()) == before, "and nothing was measured"
