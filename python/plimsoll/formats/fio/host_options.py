"""The compatibility table of fio, part two: options of reports, logs and the host."""

from __future__ import annotations

from plimsoll.formats.fio.option import Option, ignored, native, unsupported

_LOG = "no log is written during the run; every interval is stored, and plimsoll export RUN --as fio-logs writes them as logs"
_LOG_FORM = "belongs to the logs, which are not written"
_OWN_BUFFERS = "buffers are allocated by the engine"
_CPU = "the operating system places our workers; start plimsoll under taskset or numactl"
_PRIORITY = "requests have the priority of the process; start plimsoll under nice or ionice"
_CGROUP = "start plimsoll inside the control group"
_SHELL = "commands of a job file are not run; run it by hand around the run"
_ALWAYS = "always reported"

REPORTS: tuple[Option, ...] = (
    native("name", "name", "name of the stream"),
    native("description", "text", "purpose of the workload"),
    native("include", "text", "its options stand in its place"),
    native("kb_base", "one of 1024 1000", "how sizes are read"),
    ignored("unit_base", "one of 0 8 1", "reports have bytes"),
    native("clat_percentiles", "switch", _ALWAYS),
    native("lat_percentiles", "switch", _ALWAYS),
    ignored("slat_percentiles", "switch", "the time of submitting is not reported by itself"),
    ignored("percentile_list", "numbers", "reports have their own list; any other follows from the stored histograms"),
    ignored("significant_figures", "from 1 to 10", "reports have their own"),
    native("disk_util", "switch", _ALWAYS),
    native("unified_rw_reporting", "one of none mixed both 0 1 2", "reports show every operation and the total"),
    native("stats", "switch", "every stream is reported"),
    ignored("block_error_percentiles", "switch", "errors are counted per operation"),
    ignored("gtod_reduce", "switch", "every request is timed; what that costs is calibrated"),
    ignored("disable_lat", "switch", "latency is always measured"),
    ignored("disable_clat", "switch", "latency is always measured"),
    ignored("disable_slat", "switch", "latency is always measured"),
    ignored("disable_bw_measurement", "switch", "bandwidth is always measured", ("disable_bw",)),
    ignored("gtod_cpu", "count", "every worker reads the clock itself"),
    ignored("clocksource", "one of gettimeofday clock_gettime cpu", "the engine chooses its clock"),
    ignored("job_start_clock_id", "count", "the start is stored in universal time", since="3.42"),
    ignored("write_bw_log", "text", _LOG),
    ignored("write_lat_log", "text", _LOG),
    ignored("write_iops_log", "text", _LOG),
    ignored("write_hist_log", "text", _LOG),
    native("bwavgtime", "millis", "interval"),
    native("iopsavgtime", "millis", "interval"),
    native("log_avg_msec", "millis", "interval"),
    native("log_hist_msec", "millis", "interval; each has its histogram"),
    ignored("log_hist_coarseness", "count", "histograms keep their resolution"),
    ignored("log_entries", "from 1024 to 1048576", _LOG_FORM),
    ignored("log_max_value", "switch", "every interval has its histogram and its maximum", ("log_window_value",)),
    ignored("log_offset", "switch", _LOG_FORM),
    ignored("log_prio", "switch", _LOG_FORM),
    ignored("log_issue_time", "flag", _LOG_FORM, since="3.42"),
    ignored("log_compression", "from 1024 to 536870912", _LOG_FORM),
    ignored("log_compression_cpus", "text", _LOG_FORM),
    ignored("log_store_compressed", "switch", _LOG_FORM),
    ignored("log_alternate_epoch", "switch", _LOG_FORM, ("log_unix_epoch",)),
    ignored("log_alternate_epoch_clock_id", "count", _LOG_FORM),
    ignored("per_job_logs", "switch", _LOG_FORM),
)

HOST: tuple[Option, ...] = (
    native("thread", "flag", "the workers are threads"),
    ignored("mem", "one of malloc shm shmhuge mmap mmapshared mmaphuge", _OWN_BUFFERS, ("iomem",)),
    ignored("iomem_align", "size", "buffers are aligned as the target asks", ("mem_align",)),
    ignored("hugepage-size", "size", _OWN_BUFFERS),
    ignored("lockmem", "size", "no memory is taken away from the page cache"),
    ignored("cpumask", "count", _CPU),
    ignored("cpus_allowed", "text", _CPU),
    ignored("cpus_allowed_policy", "one of shared split", _CPU),
    ignored("numa_cpu_nodes", "text", _CPU),
    ignored("numa_mem_policy", "text", _CPU),
    ignored("nice", "from -20 to 19", _PRIORITY),
    ignored("prio", "from 0 to 7", _PRIORITY),
    ignored("prioclass", "from 0 to 3", _PRIORITY),
    ignored("priohint", "count", _PRIORITY, since="3.42"),
    ignored("ioscheduler", "text", "the scheduler of the device is left as it is; it is stored with the host's facts"),
    ignored("cgroup", "text", _CGROUP),
    ignored("cgroup_weight", "from 100 to 1000", _CGROUP),
    ignored("cgroup_nodelete", "switch", _CGROUP),
    ignored("uid", "count", "the run has the user who starts it"),
    ignored("gid", "count", "the run has the group of the user who starts it"),
    ignored("exec_prerun", "text", _SHELL),
    ignored("exec_postrun", "text", _SHELL),
    native("continue_on_error", "one of none read write io verify all 0 1", "on_error"),
    ignored("ignore_error", "text", "every error counts; continue_on_error goes on after it"),
    ignored("error_dump", "switch", "errors are counted and reported"),
    unsupported("profile", "text", "built-in profiles of fio are not known; write their jobs out"),
)
