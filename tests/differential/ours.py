"""A process of its own that runs job files with our reader and engine, so that it can be observed like fio.

Model: a line of standard input names a folder with ``job.fio``; it is translated and its experiments run there, one after the other. The
line of standard output that answers holds the totals of the engine, the instant at which each began, or why the file was refused.
Limits: whatever the translation says, requests are made by the ``sync`` backend, because the observer sees calls and not rings; experiments
of kind single only.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

from plimsoll.engine.block import NativeEngine, native
from plimsoll.errors import PlimsollError
from plimsoll.formats import fio
from plimsoll.target import Target

Json = dict[str, Any]

#: As many as there are clones in a file, so that each of them is a thread with requests of its own.
_WORKERS = 8
#: A file that goes on for ever is a fault of the translation; the test should say so and not hang.
_LONGEST_S = 120.0


def main() -> None:
    """Serve until standard input ends."""
    engine = native()
    for line in sys.stdin:
        folder = line.rstrip("\n")
        os.chdir(folder)
        try:
            answer = performed(engine, folder)
        except PlimsollError as problem:
            answer = {"refused": str(problem)}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def performed(engine: NativeEngine, folder: str) -> Json:
    """The totals of every experiment of ``job.fio``, and the remarks on it."""
    with open("job.fio", encoding="utf-8") as file:
        translation = fio.translate(file.read(), "job.fio", None, {})
    refusal = translation.refusal()
    if refusal:
        return {"refused": refusal}
    workloads = {workload["name"]: workload for workload in translation.document["workload"]}
    points = [point(engine, workloads[experiment["workloads"][0]], experiment, folder) for experiment in translation.document["experiment"]]
    return {"points": points, "document": translation.document, "remarks": [remark.why for remark in translation.remarks]}


def point(engine: NativeEngine, workload: Json, experiment: Json, folder: str) -> Json:
    """One experiment as its only point: the instant of its start and the counts of the engine."""
    if experiment["kind"] != "single":
        raise PlimsollError(f"experiment {experiment['name']} is {experiment['kind']}; only single points are observed.")
    workload = engine.check_workload(workload, "job.fio")
    options = engine.check_job(experiment["set"] | {"backend": "sync", "workers": _WORKERS})
    options = options | {"duration": min(float(options["duration"]), _LONGEST_S)}
    target = Target(experiment["configurations"][0]["target"])
    engine.prepare_target(target, options.get("size"), None, lambda done, total: None, engine.control())
    began: list[int] = []
    totals: dict[str, list[int]] = {}

    def take(kind: str, event: Json) -> None:
        if kind == "start":
            began.append(event["monotonic_ns"])
        elif kind == "interval":
            count(event, totals)

    outcome = engine.run_job({"workload": workload, "job": options, "target": target, "permission": None}, take, engine.control())
    return {
        "began_ns": began[0],
        "ended_ns": time.monotonic_ns(),
        "totals": totals,
        "stopped_by": outcome.get("stopped_by"),
        "target": target.text,
    }


def count(event: Json, totals: dict[str, list[int]]) -> None:
    """Adds an interval's requests and bytes per operation; cells of parts count the same requests again."""
    for cell in event["cells"]:
        if cell["part"] is None:
            both = totals.setdefault(cell["op"], [0, 0])
            both[0] += cell["count"]
            both[1] += cell["bytes"]


if __name__ == "__main__":
    main()
