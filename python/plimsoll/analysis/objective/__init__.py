"""The objective: its clauses, how many requests judging them takes, and whether a point kept it."""
