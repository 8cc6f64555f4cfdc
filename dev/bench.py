#!/usr/bin/env python3
"""`make bench`: Plimsoll's own cost beside fio's, against the goals set for its speed.

Model: everything is measured in one run, contestants in turn (A B A B …), and medians are compared in I/Os per CPU-second
of the threads that make the load, because that is far steadier on a shared machine than wall-clock IOPS. Targets cost
(almost) nothing: ``null``, io_uring NOPs, and the holes of sparse files.
Limits: a goal that is missed does not fail the program; CPU time says nothing about waiting, so what concerns time
(start, rates, many streams) is also shown by the clock and does suffer from other load on the machine.

    .venv/bin/python dev/bench.py --quick
"""

from speed.cli import main

if __name__ == "__main__":
    main()
