"""Reports: from stored results to what people and other tools read, the terminal, HTML, CSV, JSON."""
