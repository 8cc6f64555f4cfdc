"""A run on nodes of Slurm, of which only `srun` is another: one that runs its command on this machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path


def test_a_run_goes_through_srun_as_it_does_through_ssh(tmp_path: Path) -> None:
    """A srun that runs its command here, with a home of each node's own: the whole of a run but the network."""
    srun = tmp_path / "bin" / "srun"
    srun.parent.mkdir()
    srun.write_text(SRUN.format(place=tmp_path))
    srun.chmod(0o755)
    lab = tmp_path / "lab.toml"
    lab.write_text(f'launcher = "slurm"\npython = "{sys.executable}"\n[[host]]\nname = "n1"\n[[host]]\nname = "n2"\n')
    command = os.path.join(os.path.dirname(sys.executable), "plimsoll")
    words = (
        "run",
        "random-read-4k",
        "--hosts",
        str(lab),
        "--target",
        "null:",
        "-d",
        "200ms",
        "-w",
        "0s",
        "-q",
        "--out",
        str(tmp_path / "results"),
    )
    environment = {**os.environ, "PATH": f"{srun.parent}:{os.environ['PATH']}", "HOME": str(tmp_path)}
    done = subprocess.run([command, *words], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (path,) = tmp_path.glob("results/*/points/*/result.json")
    point = json.loads(path.read_text())
    assert [(host["name"], host["status"]) for host in point["hosts"]] == [("n1", "complete"), ("n2", "complete")]
    assert point["totals"]["read"]["count"] == sum(host["totals"]["read"]["count"] for host in point["hosts"])
    assert not list(tmp_path.glob("n*/.local/state/plimsoll/gangs/*")), "what was collected does not stay"


SRUN = """#!/bin/sh
for word; do
    case $word in
    --nodelist=*) node=${{word#--nodelist=}} ;;
    --*) ;;
    *) break ;;
    esac
    shift
done
mkdir -p {place}/$node
unset XDG_CACHE_HOME XDG_STATE_HOME
HOME={place}/$node exec "$@"
"""
