"""Hosts of a lab's file as a level: the first one alone, then both, with an objective; through a ``srun`` that runs here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from long.test_hosts_through_srun import SRUN

LAB = """
launcher = "slurm"

[[host]]
name = "n1"

[[host]]
name = "n2"
"""


def test_a_ramp_over_the_hosts_of_a_lab_takes_the_first_ones(tmp_path: Path) -> None:
    srun = tmp_path / "bin" / "srun"
    srun.parent.mkdir()
    srun.write_text(SRUN.format(place=tmp_path))
    srun.chmod(0o755)
    (tmp_path / "lab.toml").write_text(LAB)
    command = os.path.join(os.path.dirname(sys.executable), "plimsoll")
    words = ["ramp", "random-read-4k", "--hosts", str(tmp_path / "lab.toml"), "--target", "null:", "--over", "hosts=1..2"]
    words += ["--objective", "mean <= 10s", "-d", "200ms", "-w", "0s", "-q", "--out", str(tmp_path / "results")]
    environment = {**os.environ, "PATH": f"{srun.parent}:{os.environ['PATH']}", "HOME": str(tmp_path)}
    done = subprocess.run([command, *words], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    points = [json.loads(path.read_text()) for path in sorted(tmp_path.glob("results/*/points/*/result.json"))]
    assert [[host["name"] for host in point["hosts"]] for point in points][:2] == [["n1"], ["n1", "n2"]]
    for point in points:
        assert point["totals"]["read"]["count"] == sum(host["totals"]["read"]["count"] for host in point["hosts"])
