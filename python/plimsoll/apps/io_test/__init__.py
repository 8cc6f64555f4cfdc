"""The published I/O test of analytics servers: a file and a stream per core, written, flushed and read."""
