"""What fio writes, from results of ours, and back: JSON, JSON+, logs, terse version 3 and its normal text.

Model: the form is that of fio 3.33: keys, their order, which numbers are integers and how many digits the others have. A stream of ours
is a job, a point a group of jobs that ran at the same time. fio's ``lat`` is our latency from the intended instant, its ``clat`` our
service time from submission; how long submitting took (``slat``) is not recorded apart and stands as fio writes what it did not measure,
0 of 0.
Limits: what Plimsoll does not count is 0 as well: context switches, page faults, requests per submission, merges. ``iodepth_level`` is
made from the mean number of requests outstanding in each interval, where fio samples it at each submission.

    json_text([Recorded(result, intervals, monitor)], plus=True)
    read_json(text, "randread.json")
"""

from plimsoll.formats.fio.results.read_json import read_json
from plimsoll.formats.fio.results.read_logs import is_log, read_logs
from plimsoll.formats.fio.results.write_json import json_text
from plimsoll.formats.fio.results.write_logs import job_name, log_files
from plimsoll.formats.fio.results.write_text import normal_text, terse_text

__all__ = ["is_log", "job_name", "json_text", "log_files", "normal_text", "read_json", "read_logs", "terse_text"]
