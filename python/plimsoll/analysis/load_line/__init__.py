"""Load lines: response against throughput, the mark on them, and how throughput scales with concurrency."""
