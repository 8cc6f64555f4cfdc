"""What sides cost, and what one unit of their headline costs: composite, IOPS or MB/s."""
