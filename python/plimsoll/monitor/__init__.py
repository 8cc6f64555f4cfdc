"""Activity of the host while a job runs: block devices, CPU and paging, read from /proc at each interval boundary.

A `Sampler` takes raw snapshots (some 100 µs each) wherever the engine ticks; the difference of two is a sample, with iostat's
and vmstat's definitions. A counter file that is absent leaves its section out; nothing here can fail a run.
"""
