"""A process that measures with a scripted engine and stores points as fast as it can, until it is killed.

PYTHONPATH=tests python -m support.killed_writer RESULTS_DIR
"""

from __future__ import annotations

import sys

from plimsoll.measure import Job, measure, unfinished
from plimsoll.store.writer import RunInfo, RunWriter
from plimsoll.target import Target
from support.scripted_engine import Script, ScriptedEngine


def main(out: str) -> None:
    """Store points for ever; the first line on stdout says that the first point has begun."""
    engine = ScriptedEngine(Script(intervals=6, latencies_ns=(1_000_000,) * 20))
    workload = engine.check_workload({"stream": [{"name": "main"}]}, "small.toml")
    options = engine.check_job({"duration": 1, "warmup": 0.2})
    while True:
        run = RunWriter.create(out, RunInfo("small", ["plimsoll"], 3, host={}, versions={}))
        for _ in range(3):
            job = Job(run.next_point_id("small"), workload, options, Target("file:/x"), {"target": {}})
            with run.begin_point(unfinished(job)) as point:
                print("begun", flush=True)
                point.finish(measure(job, engine, point, engine.control()))
        run.finish("complete")


if __name__ == "__main__":
    main(sys.argv[1])
