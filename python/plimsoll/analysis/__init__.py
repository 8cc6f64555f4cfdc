"""Pure analysis: from intervals and results to totals, steadiness and validity flags. No clock, no files, no global state."""
