"""Suites whose sides are layouts, on loop devices of the test's own: what is refused, and a dry run. Those that are measured, killed or stopped
are in `tests/long`.

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
