"""Decision support derived from TPC-H: its queries, their expected answers and the metrics, without an engine.

Model: everything here is a value or a formula: no connection, no clock. Who runs the queries is `plimsoll.apps`. Files are read only where
they are data of the package.
Limits: derived from TPC-H, not comparable with published TPC-H results. The queries: docs/reference/queries.md.
"""

#: Stands wherever a figure of decision support does.
BANNER = "derived from TPC-H, not comparable with published TPC-H results"
