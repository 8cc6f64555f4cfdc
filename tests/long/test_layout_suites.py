"""Suites whose sides are layouts: made, measured and taken away side by side; killed or stopped, too, nothing is left in the end.

Loop devices need root; elsewhere these tests say that they were skipped.
"""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

from support.patience import HANGS_S
from system.test_layout_suites import Suite
from system.test_layouts import COMMAND, Site, pytestmark, site

__all__ = ["pytestmark", "site"]


def sides_of(results: list[dict[str, Any]]) -> list[str]:
    return [result["place"]["configuration"] for result in results]


def test_sides_that_are_layouts_take_turns_on_the_same_devices_and_leave_nothing(site: Site) -> None:
    suite = Suite(site, ("raid0", "raid10"))
    results = suite.results()
    assert sides_of(results) == ["raid0", "raid10"] * 2
    assert [result["status"] for result in results] == ["complete"] * 4
    for result in results:
        laid, side = result["host"]["target"]["layout"], result["place"]["configuration"]
        assert laid["name"] == side
        assert laid["options"]["filesystem"] == {"type": "btrfs", "data": side}
        assert [member.split()[0] for member in laid["members"]] == site.devices
        assert result["job"]["target"] == f"{site.point}/plimsoll-scratch.dat"
    site.nothing_is_left()
    (run,) = (site.at / "runs").iterdir()
    compared = subprocess.run(
        [COMMAND, "compare", str(run)], capture_output=True, text=True, check=False, timeout=HANGS_S, env=site.environment
    )
    assert compared.returncode == 0, compared.stderr
    for side in ("raid0", "raid10"):
        (told,) = [part for part in compared.stdout.split("\n\n") if part.lstrip("\n").startswith(f"layout {side}")]
        assert all(device in told for device in site.devices)
        assert f"filesystem: type btrfs, data {side}" in told


def test_a_side_that_cannot_be_made_fails_and_the_others_are_measured(site: Site) -> None:
    suite = Suite(site, ("raid0", "raid1"), levels="[1]")
    # A mount option that no file system has.
    (site.at / "raid1.toml").write_text(
        f"[filesystem]\ntype = 'xfs'\n[mount]\noptions = 'nosuchoption'\nat = {json.dumps(str(site.point))}\n"
    )
    results = suite.results(code=4)
    assert [(side, result["status"]) for side, result in zip(sides_of(results), results, strict=True)] == [
        ("raid0", "complete"),
        ("raid1", "failed"),
    ]
    assert {result["error"][:24] for result in results if result["status"] == "failed"} == {"layout 'raid1': step 9 o"}
    site.nothing_is_left()


def test_a_layout_that_is_named_as_target_is_measured_by_any_verb(site: Site) -> None:
    path = site.at / "plain.toml"
    path.write_text(f"[filesystem]\ntype = 'xfs'\n[mount]\nat = {json.dumps(str(site.point))}\n")
    words = ["run", "oltp-db", "-t", f"A=layout:{path}", "--on", site.devices[0], f"--destroy-data={site.devices[0]}"]
    words += ["-d", "200ms", "-w", "0", "--size", "16MiB", "-q", "--json", "-o", str(site.at / "runs")]
    done = subprocess.run([COMMAND, *words], capture_output=True, text=True, check=False, timeout=HANGS_S, env=site.environment)
    assert done.returncode == 0, done.stderr
    (result,) = json.loads(done.stdout)["results"]
    assert (result["place"]["configuration"], result["host"]["target"]["layout"]["name"]) == ("A", "plain")
    site.nothing_is_left()


def test_a_killed_suite_goes_on_and_takes_away_what_it_left(site: Site) -> None:
    suite = Suite(site, ("raid0", "raid1"), interleave=False)
    with subprocess.Popen(
        [*suite.words, suite.allowed], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=site.at, env=site.environment
    ) as running:
        assert running.stderr is not None
        for line in running.stderr:
            if line.startswith("[2/4]"):
                break
        running.send_signal(signal.SIGKILL)
    assert "left behind by" in site("list").stdout
    planned = suite(suite.allowed, "--dry-run")
    assert "was left behind by a killed run and would be taken away first" in planned.stderr
    assert str(site.point) in Path("/proc/self/mounts").read_text(), "a dry run takes nothing away"
    went_on = suite(suite.allowed)
    assert went_on.returncode == 0, went_on.stderr
    assert "taking away the layout 'raid0'" in went_on.stderr
    assert "1 point is there" in went_on.stderr
    made = [line.split(":")[0] for line in went_on.stderr.splitlines() if "[1/" in line and line.startswith("layout")]
    assert made == ["layout raid0", "layout raid1"], "each side is made once, and anew after the kill"
    site.nothing_is_left()
    (run,) = (site.at / "runs").iterdir()
    states = [json.loads(point.read_text())["status"] for point in sorted(run.glob("points/*/result.json"))]
    assert states.count("complete") == 4


def test_a_suite_that_is_stopped_takes_its_layout_away(site: Site) -> None:
    suite = Suite(site, ("raid0", "raid1"), interleave=False)
    with subprocess.Popen(
        [*suite.words, suite.allowed], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=site.at, env=site.environment
    ) as running:
        assert running.stderr is not None
        for line in running.stderr:
            # Between two steps of the first layout.
            if "[5/10]" in line:
                running.send_signal(signal.SIGINT)
                break
        said = running.stderr.read()
        assert running.wait(HANGS_S) == 130, said
    assert "left behind" not in site("list").stdout
    site.nothing_is_left()
