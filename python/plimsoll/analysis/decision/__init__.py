"""Decision support as results have it: the runs of a side, and which of them is reported."""
