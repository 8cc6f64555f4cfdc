"""Fit of a modelled array to measured rows: its unknown values, the search for them, and what judges the outcome."""
