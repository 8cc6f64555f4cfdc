"""What `bench.py` is made of: the contestants, one file per group of goals, and the table."""
