"""Databases as loads: engines that a driver opens, loads and asks, behind one protocol (`plimsoll.apps.databases.database`)."""
