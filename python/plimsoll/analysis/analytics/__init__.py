"""Analytics: the published I/O test, workflows by level, what limited them, and the throughput that is asked for each core."""
