"""Comparisons of configurations: what may be compared, ratios with their error, and findings in sentences."""
