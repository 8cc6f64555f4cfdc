"""One measured point: from its intervals to totals, estimates and what the engine found out beside them."""
