"""Other tools' files ↔ ours: what a job file of fio, Vdbench, Iometer, ORION or DiskSpd asks for, in our words. Pure: text in, data out.

Model: each tool has a package of its own with ``recognises`` and ``translate``; all yield a `translation.Translation`, the experiment file
that does the same together with one remark for everything the foreign file says.
"""
