"""A gang: hosts that measure together, started by the clock. See docs/hosts.md; a run on one host imports nothing of this."""
