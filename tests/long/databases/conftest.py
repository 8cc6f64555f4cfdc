"""Whole runs on real databases: places and servers are those of the shorter tests."""

from databases.conftest import data, held, place, postgresql

__all__ = ["data", "held", "place", "postgresql"]
