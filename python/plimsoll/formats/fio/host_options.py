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
    native("name", "text", "name of the stream"),
    native("description", "text", "purpose of the workload"),
    native("include", "text", "its options stand in its place"),
    native("kb_base", "count", "how sizes are read"),
    ignored("unit_base", "count", "reports have bytes"),
    native("clat_percentiles", "flag", _ALWAYS),
    native("lat_percentiles", "flag", _ALWAYS),
    ignored("slat_percentiles", "flag", "the time of submitting is not reported by itself"),
    ignored("percentile_list", "numbers", "reports have their own list; any other follows from the stored histograms"),
    ignored("significant_figures", "count", "reports have their own"),
    native("disk_util", "flag", _ALWAYS),
    native("unified_rw_reporting", "text", "reports show every operation and the total"),
    native("stats", "flag", "every stream is reported"),
    ignored("block_error_percentiles", "flag", "errors are counted per operation"),
    ignored("gtod_reduce", "flag", "every request is timed; what that costs is calibrated"),
    ignored("disable_lat", "flag", "latency is always measured"),
    ignored("disable_clat", "flag", "latency is always measured"),
    ignored("disable_slat", "flag", "latency is always measured"),
    ignored("disable_bw_measurement", "flag", "bandwidth is always measured", ("disable_bw",)),
    ignored("gtod_cpu", "count", "every worker reads the clock itself"),
    ignored("clocksource", "text", "the engine chooses its clock"),
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
    ignored("log_entries", "count", _LOG_FORM),
    ignored("log_max_value", "text", "every interval has its histogram and its maximum", ("log_window_value",)),
    ignored("log_offset", "flag", _LOG_FORM),
    ignored("log_prio", "flag", _LOG_FORM),
    ignored("log_issue_time", "flag", _LOG_FORM, since="3.42"),
    ignored("log_compression", "size", _LOG_FORM),
    ignored("log_compression_cpus", "text", _LOG_FORM),
    ignored("log_store_compressed", "flag", _LOG_FORM),
    ignored("log_alternate_epoch", "flag", _LOG_FORM, ("log_unix_epoch",)),
    ignored("log_alternate_epoch_clock_id", "count", _LOG_FORM),
    ignored("per_job_logs", "flag", _LOG_FORM),
)

HOST: tuple[Option, ...] = (
    native("thread", "flag", "the workers are threads"),
    ignored("mem", "text", _OWN_BUFFERS, ("iomem",)),
    ignored("iomem_align", "size", "buffers are aligned as the target asks", ("mem_align",)),
    ignored("hugepage-size", "size", _OWN_BUFFERS),
    ignored("lockmem", "size", "no memory is taken away from the page cache"),
    ignored("cpumask", "count", _CPU),
    ignored("cpus_allowed", "text", _CPU),
    ignored("cpus_allowed_policy", "text", _CPU),
    ignored("numa_cpu_nodes", "text", _CPU),
    ignored("numa_mem_policy", "text", _CPU),
    ignored("nice", "integer", _PRIORITY),
    ignored("prio", "count", _PRIORITY),
    ignored("prioclass", "count", _PRIORITY),
    ignored("priohint", "count", _PRIORITY, since="3.42"),
    ignored("ioscheduler", "text", "the scheduler of the device is left as it is; it is stored with the host's facts"),
    ignored("cgroup", "text", _CGROUP),
    ignored("cgroup_weight", "count", _CGROUP),
    ignored("cgroup_nodelete", "flag", _CGROUP),
    ignored("uid", "count", "the run has the user who starts it"),
    ignored("gid", "count", "the run has the group of the user who starts it"),
    ignored("exec_prerun", "text", _SHELL),
    ignored("exec_postrun", "text", _SHELL),
    native("continue_on_error", "text", "on_error"),
    ignored("ignore_error", "text", "every error counts; continue_on_error goes on after it"),
    ignored("error_dump", "flag", "errors are counted and reported"),
    unsupported("profile", "text", "built-in profiles of fio are not known; write their jobs out"),
)
