"""Mail stores as results have them: their counters, their verdict, and the mark of a side."""
