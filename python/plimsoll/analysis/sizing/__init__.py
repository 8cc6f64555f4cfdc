"""Sizing: a demand against stored load lines, and against disks in RAID levels."""
