"""Statistics in plain Python: distributions, regression, intervals of correlated values, steadiness."""
