"""The file of a lab: the hosts that measure together, and how each is reached. See docs/hosts.md."""
