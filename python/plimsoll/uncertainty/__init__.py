"""Arrays as they may be in truth: what nobody has looked up is drawn from its range, and a figure is worked out for each draw."""
