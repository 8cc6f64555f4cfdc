"""Text for a terminal: tables of points, findings, fits and demands, and the details of special runs."""
