"""Results as tables for spreadsheets and data frames: a row per point and operation (`points`), typed columns (`column`), and the ways out
of Python (`table`)."""
