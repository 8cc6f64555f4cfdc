"""The driver of decision support: 22 queries and two refresh functions on a database, derived from TPC-H.

Model: `options` says what can be asked for, `data` what the database holds, `tests` what is carried out and in which order, `observation`
what storage and processors did meanwhile, `figures` what comes of it; `driver` is the whole.
"""
