"""Plimsoll: how much load a storage target carries, and which configuration carries more.

The package is the Python side of the benchmark: it turns a workload and a target into a job, hands the job to the Rust
engine (``plimsoll._core``), and keeps, judges and shows what was measured. Importing it costs nothing; every command
imports what it needs when it runs.

    from plimsoll.engine import native
    from plimsoll.measure import Job, measure
"""

__version__ = "0.1.0"
