"""Suites whose sides are layouts, on loop devices of the test's own: made, measured and taken away side by side. Those that are killed or
stopped are in `tests/long`.

Loop devices need root; elsewhere these tests say that they were skipped.
"""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

from support.patience import HANGS_S
from system.test_layouts import COMMAND, PATH, Site, pytestmark, site

__all__ = ["pytestmark", "site"]

BTRFS = "[filesystem]\ntype = 'btrfs'\ndata = '{}'\n[mount]\nat = {}\n[settings]\nread_ahead = '1MiB'\n"
SUITE = """
title = "Which carving carries more"
[[experiment]]
name = "carving"
kind = "steps"
workloads = ["oltp-db"]
over = {{ threads = {} }}
configurations = [{}]
interleave = {}
set = {{ duration = "300ms", warmup = 0, size = "16MiB" }}
"""


class Suite:
    """A suite beside its layouts, on the devices of a site."""

    def __init__(self, site: Site, profiles: tuple[str, ...], *, interleave: bool = True, levels: str = "[1, 2]") -> None:
        self.site = site
        for profile in profiles:
            (site.at / f"{profile}.toml").write_text(BTRFS.format(profile, json.dumps(str(site.point))))
        sides = ", ".join(f'{{ layout = "{profile}.toml" }}' for profile in profiles)
        self.file = site.at / "mine.toml"
        self.file.write_text(SUITE.format(levels, sides, str(interleave).lower()))
        self.words = [COMMAND, "suite", str(self.file), "--on", ",".join(site.devices), "-o", str(site.at / "runs")]
        self.allowed = f"--destroy-data={','.join(site.devices)}"

    def __call__(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*self.words, *words], capture_output=True, text=True, check=False, timeout=HANGS_S, cwd=self.site.at, env=self.site.environment
        )

    def results(self, *words: str, code: int = 0) -> list[dict[str, Any]]:
        done = self(self.allowed, "-q", "--json", *words)
        assert done.returncode == code, done.stderr
        results: list[dict[str, Any]] = json.loads(done.stdout)["results"]
        return results


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


def test_layouts_of_a_suite_need_the_same_words_as_everywhere(site: Site) -> None:
    suite = Suite(site, ("raid0",))
    subprocess.run(["mkfs.ext4", "-q", "-F", site.devices[2]], check=True, env={**os.environ, "PATH": PATH})
    before = site.states()
    for words in ((), ("--destroy-data",), ("--destroy-data=WRONG",), (f"--destroy-data={site.devices[0]}",)):
        refused = suite(*words)
        assert (refused.returncode, "repeat with `--destroy-data" in refused.stderr) == (3, True), refused.stderr
    assert site.states() == before
    assert not (site.at / "state").exists()
    assert not (site.at / "runs").exists()


def test_a_device_that_is_in_use_is_never_laid_out_whatever_is_typed(site: Site) -> None:
    suite = Suite(site, ("raid0",))
    other = site.at / "other"
    other.mkdir()
    environment = {**os.environ, "PATH": PATH}
    subprocess.run(["mkfs.ext4", "-q", "-F", site.devices[2]], check=True, env=environment)
    subprocess.run(["mount", site.devices[2], str(other)], check=True, env=environment)
    try:
        refused = suite(suite.allowed)
        assert (refused.returncode, "is mounted" in refused.stderr) == (3, True), refused.stderr
        assert not (site.at / "state").exists()
    finally:
        subprocess.run(["umount", str(other)], check=True, env=environment)


def test_a_dry_run_shows_every_command_and_touches_nothing(site: Site) -> None:
    suite = Suite(site, ("raid0", "raid10"))
    before = site.states()
    shown = suite(suite.allowed, "--dry-run")
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.count("mkfs.btrfs --quiet --force --uuid") == 2
    assert f"mount -o defaults {site.devices[0]} {site.point}" in shown.stdout
    plan = json.loads(suite(suite.allowed, "--dry-run", "--json").stdout)
    assert [(one["name"], len(one["members"]), len(one["steps"])) for one in plan["layouts"]] == [("raid0", 4, 10), ("raid10", 4, 10)]
    assert site.states() == before
    assert not (site.at / "state").exists()


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
