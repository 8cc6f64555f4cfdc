"""Decision support: the pure part of the load derived from TPC-H – data, queries, validation, metrics."""
