"""What several hosts measured at the same time, as one."""
