"""Unknown values of a modelled array, adjusted to measured rows: what is searched, what is held out, and what it is held against."""
