"""What a cluster's own tools are handed before hosts can be reached there: pods for Kubernetes, and the line for Slurm.

Model: text alone. Pods sleep until the command reaches them by `kubectl exec`, one on each node; they hold nothing but Python. A Ray
cluster for KubeRay is `plimsoll.lab.kuberay`.
Limits: neither was tried against a cluster; docs/hosts.md says what was.

    print(manifest_of(read_lab("lab.toml")))
"""

from __future__ import annotations

import json
import shlex
import sys

from plimsoll.errors import InputError
from plimsoll.gang.lineup import Lineup
from plimsoll.lab.kuberay import APART, raycluster_of

_POD = (
    """apiVersion: v1
kind: Pod
metadata:
  name: {name}
  labels: {{app: plimsoll}}
spec:
  restartPolicy: Never
"""
    + APART
    + """  containers:
    - name: host
      image: {image}
      command: ["sleep", "infinity"]
"""
)


def manifest_of(lineup: Lineup) -> str:
    """The text for the lab's launcher. Raises `InputError` for one that needs none."""
    if lineup.launcher == "kubernetes":
        image = lineup.image or f"python:{sys.version_info[0]}.{sys.version_info[1]}-slim"
        return "---\n".join(_POD.format(name=seat.address or seat.name, image=json.dumps(image)) for seat in lineup.seats)
    if lineup.launcher == "ray":
        return raycluster_of(lineup)
    if lineup.launcher == "slurm":
        nodes = ",".join(seat.address or seat.name for seat in lineup.seats)
        words = ["salloc", f"--nodes={len(lineup.seats)}", f"--nodelist={nodes}", "--exclusive", "plimsoll", "run", "WORKLOAD", "--hosts"]
        return f"{' '.join(words)} {shlex.quote(lineup.text)}\n"
    raise InputError(
        f"--hosts {lineup.text}: hosts of launcher = \"{lineup.launcher}\" need no manifest; 'slurm', 'kubernetes' and 'ray' do."
    )
