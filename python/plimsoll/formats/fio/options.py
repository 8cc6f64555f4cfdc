"""Every option of fio, by name and by alias: what becomes of it, how its value is read, and how large it may be.

Model: a row has one of three verdicts. *native*: it takes effect. *ignored*: the run goes on without it, and ``why`` says what that
changes. *unsupported*: the file cannot be run faithfully, and ``why`` says the reason and what comes nearest. A native option may turn out
ignored or unsupported for some of its values; the code that reads it says so then. The rows are what the compatibility page shows, in its
order. Options of an engine that we do not have go with it. `LIMITS` holds where fio takes larger values than we do, so that the sentence
can name the line.
Limits: what several options make together (offset and size, rate and block size) is checked where it is put together.

    OPTIONS["bs"].verdict                  # "native"
    canonical("blocksize")                 # "bs"
    meant("blocksze")                      # "blocksize"
    check_limit("iodepth", 70_000)         # InputError: it is more than 65536, the most that …
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from plimsoll.errors import InputError
from plimsoll.near import nearest

Verdict = Literal["native", "ignored", "unsupported"]

#: The version of fio whose own help names the option; later ones are known from its documents.
DEBIAN = "3.33"


@dataclass(frozen=True)
class Option:
    """A row of the table. ``form`` names how the value is read, see `values.FORMS`."""

    name: str
    verdict: Verdict
    form: str
    why: str
    aliases: tuple[str, ...] = ()
    since: str = DEBIAN
    #: Options of one engine are named beside it.
    engine: str = ""


def native(name: str, form: str, why: str, aliases: tuple[str, ...] = (), since: str = DEBIAN) -> Option:
    """Takes effect; ``why`` says as what."""
    return Option(name, "native", form, why, aliases, since)


def ignored(name: str, form: str, why: str, aliases: tuple[str, ...] = (), since: str = DEBIAN) -> Option:
    """The run goes on without it; ``why`` says what that changes."""
    return Option(name, "ignored", form, why, aliases, since)


def unsupported(name: str, form: str, why: str, aliases: tuple[str, ...] = (), since: str = DEBIAN) -> Option:
    """The file cannot be run faithfully; ``why`` says the reason and the nearest thing."""
    return Option(name, "unsupported", form, why, aliases, since)


_ZONED = "zoned devices are not driven by their zones; a conventional region is region_start and region_length"
_ONE_BIO = "requests go through the block layer; they carry no such directive"
_METHODS = (
    "0 md5 crc7 crc16 crc32 crc32c crc32c-intel crc64 sha1 sha256 sha512 sha3-224 sha3-256 sha3-384 sha3-512 xxhash pattern pattern_hdr "
    "null meta"
)
_MERGED = "traces are not merged; give each a job with read_iolog of its own"

FILES: tuple[Option, ...] = (
    native("filename", "name", "the target"),
    native("directory", "name", "where the files of the target are"),
    native("filename_format", "name", "names of the files of the target"),
    ignored("unique_filename", "switch", "files are named as for a local run"),
    ignored(
        "lockfile", "one of none exclusive readwrite", "files are not locked, so requests of several jobs to one file run at the same time"
    ),
    unsupported("opendir", "text", "the files of a directory are not looked up; name them with filename="),
    native("nrfiles", "count1", "how many files the target consists of; from 257 on, files of a tree", ("nr_files",)),
    native(
        "file_service_type",
        "service",
        "whether several files are used in turn (stripe:, parts_unit) or one after the other (concat:)",
    ),
    ignored("openfiles", "count", "all files stay open"),
    native("filesize", "sizerange", "how long each file is"),
    ignored("file_append", "switch", "requests go into the region, not behind the end of the file"),
    native("fill_device", "switch", "amount = 100%", ("fill_fs",)),
    native("size", "share", "region_length and amount"),
    native("io_size", "share", "amount", ("io_limit",)),
    native("offset", "share", "region_start", ("fileoffset",)),
    native("offset_increment", "share", "region_start of the clones"),
    native("offset_align", "size", "region_start is rounded to it"),
    native("number_ios", "count", "requests"),
    native("fallocate", "one of none native posix keep truncate 0 1", "files are allocated and filled before they are measured"),
    native("overwrite", "switch", "files are filled before they are measured, so every write overwrites"),
    native("fadvise_hint", "one of 0 1 random sequential noreuse", "read_ahead"),
    native("create_serialize", "switch", "files are made one after the other"),
    native("create_fsync", "switch", "files are flushed after they were made"),
    ignored("create_on_open", "switch", "files are made before the run"),
    unsupported("create_only", "switch", "a job that only makes files measures nothing; a precondition experiment fills a target"),
    ignored("allow_file_create", "switch", "a missing file is made"),
    ignored("allow_mounted_write", "switch", "devices are protected by our own rules; see --destroy-data"),
    ignored("pre_read", "switch", "the files are not read into memory first, so a buffered run starts colder"),
    native("invalidate", "switch", 'cache = "cold" for buffered jobs'),
    native("unlink", "switch", "files that were made for the run are removed after it"),
    ignored("unlink_each_loop", "switch", "files stay until the end of the run"),
    unsupported("write_barrier", "count", "Linux has no barrier writes; fsync= flushes after a number of writes"),
    ignored("write_hint", "one of none short medium long extreme", "the device is not told how long data lives"),
    ignored("fs_write_hint", "one of none short medium long extreme", "the device is not told how long data lives", since="3.42"),
)

PATTERN: tuple[Option, ...] = (
    native("rw", "rw", "read_percent, write_percent, trim_percent and random_percent", ("readwrite",)),
    native("rw_sequencer", "one of sequential identical", "run_repeats"),
    native("bs", "sizes", "block_size", ("blocksize",)),
    native("ba", "sizes", "align", ("blockalign",)),
    native("bsrange", "ranges", "block_size", ("blocksize_range",)),
    native("bssplit", "splits", "block_size", ()),
    native("bs_unaligned", "flag", "sizes of a range need not be multiples of its least", ("blocksize_unaligned",)),
    native("bs_is_seq_rand", "flag", "access, with an entry for sequential and one for random requests", ("blocksize_is_seq_rand",)),
    native("randrepeat", "switch", "equal seeds give equal requests", ("allrandrepeat",)),
    native("randseed", "count", "seed"),
    ignored("use_os_rand", "flag", "random numbers come from our own generator", since="3.42"),
    native("norandommap", "flag", 'distribution = "uniform" in place of "permutation"'),
    native("softrandommap", "flag", "a permutation needs no memory"),
    native("random_generator", "one of tausworthe lfsr tausworthe64", "random numbers come from our own generator, which covers any size"),
    native("random_distribution", "distribution", "distribution"),
    native("percentage_random", "percents", "random_percent"),
    native("rwmixread", "percent", "read_percent"),
    native("rwmixwrite", "percent", "write_percent"),
    native("zonemode", "one of none strided zbd", "none and strided; zoned devices (zbd) are not driven by their zones"),
    native("zonesize", "portion", "zone_amount"),
    ignored("zonecapacity", "size", _ZONED),
    native("zonerange", "size", "zone_length"),
    native("zoneskip", "share", "zone_skip"),
    ignored("read_beyond_wp", "switch", _ZONED),
    ignored("max_open_zones", "from 0 to 4096", _ZONED),
    ignored("job_max_open_zones", "from 0 to 4096", _ZONED),
    ignored("ignore_zone_limits", "switch", _ZONED),
    unsupported("zone_reset_threshold", "number", _ZONED),
    unsupported("zone_reset_frequency", "number", _ZONED),
    ignored("recover_zbd_write_error", "flag", _ZONED, since="3.42"),
    unsupported("num_range", "count", "a trim covers one range; trim_block_size makes it longer", since="3.42"),
    ignored("sprandom", "flag", "the region is not preconditioned this way; a precondition experiment writes it twice", since="3.42"),
    ignored("spr_over_provisioning", "number", "belongs to sprandom, which is ignored", ("spr_op",), since="3.42"),
    ignored("spr_num_regions", "count", "belongs to sprandom, which is ignored", since="3.42"),
    ignored("spr_cache_size", "size", "belongs to sprandom, which is ignored", since="3.42"),
    unsupported("fdp", "flag", _ONE_BIO, since="3.42"),
    unsupported("dataplacement", "text", _ONE_BIO, since="3.42"),
    ignored("plid_select", "text", _ONE_BIO, ("fdp_pli_select",), since="3.42"),
    ignored("plids", "text", _ONE_BIO, ("fdp_pli",), since="3.42"),
    ignored("dp_scheme", "text", _ONE_BIO, since="3.42"),
)

PACE: tuple[Option, ...] = (
    native("ioengine", "name", "backend"),
    native("iodepth", "depth", "queue_depth"),
    native(
        "iodepth_batch",
        "count",
        "merge_depth, where so many are missing at once; from 3 on the kernel joins neighbours",
        ("iodepth_batch_submit",),
    ),
    native("iodepth_batch_complete_min", "count", "refill_depth", ("iodepth_batch_complete",)),
    ignored("iodepth_batch_complete_max", "count", "completions are taken as they come"),
    native("iodepth_low", "count", "refill_depth"),
    native("serialize_overlap", "switch", "serialize_overlap"),
    native("io_submit_mode", "one of inline offload", "requests of an open arrival never wait for those before them"),
    native("numjobs", "count1", "threads, or a stream for each clone"),
    native("loops", "count1", "amount, times this"),
    native("startdelay", "delay", "start_after"),
    native("runtime", "seconds", "duration, or end_after beside jobs that end at another time", ("timeout",)),
    native("time_based", "flag", "streams have no amount"),
    native("ramp_time", "seconds", "warmup"),
    ignored("ramp_size", "share", "the warm-up is a time; write ramp_time=", since="3.42"),
    native("thinktime", "micros", "think_time, or pause"),
    ignored("thinktime_spin", "micros", "the pause is spent asleep, which leaves the processor idle"),
    ignored("thinkcycles", "count", "no cycles of the processor are spent between requests", since="3.42"),
    native("thinktime_blocks", "count1", "pause_requests"),
    native("thinktime_blocks_type", "one of complete issue", "blocks are counted as they are issued"),
    native("thinktime_iotime", "seconds", "pause_interval"),
    native("rate", "counts", "arrival and rate"),
    native("rate_iops", "counts", "arrival and rate"),
    native("rate_min", "counts", "objective", ("ratemin",)),
    native("rate_iops_min", "counts", "objective"),
    native("rate_process", "one of linear poisson", "arrival"),
    ignored("rate_cycle", "millis", "an objective is judged over the whole point", ("ratecycle",)),
    native("rate_ignore_thinktime", "switch", "a rate counts from the start of the run, whatever pauses there are"),
    native("max_latency", "latencies", "objective; the run is judged by it and not ended"),
    native("latency_target", "micros", "experiment of kind ramp over queue_depth"),
    native("latency_window", "micros", "duration of a level"),
    native("latency_percentile", "percentile", "metric of the objective"),
    native("latency_run", "switch", "the levels are repeated until the mark is found"),
    native("steadystate", "steady", "experiment of kind steady", ("ss",)),
    native("steadystate_duration", "seconds", "duration of the rounds", ("ss_dur",)),
    native("steadystate_ramp_time", "seconds", "warmup of the rounds", ("ss_ramp",)),
    ignored("steadystate_check_interval", "seconds", "judged after every round", ("ss_interval",), since="3.42"),
    native("flow", "weight", "share"),
    native("flow_id", "count", "share_group"),
    ignored("flow_sleep", "micros", "a job that is ahead looks again after 50 us"),
    ignored("flow_watermark", "count", "a job waits as soon as it is ahead", since="3.42"),
    native("stonewall", "flag", "a further experiment", ("wait_for_previous",)),
    native("wait_for", "name", "a further experiment"),
    native("new_group", "flag", "reports show every stream by itself"),
    native("group_reporting", "flag", "reports show streams and their total"),
    native("exitall", "flag", "the first runtime that is over ends the point; ignored where a job ends by what it has transferred"),
    native("exit_what", "one of group stonewall all", "a point is a group"),
    native("exitall_on_error", "flag", 'on_error = "stop" ends the point', ("exit_on_error",)),
)

CONTENT: tuple[Option, ...] = (
    native("direct", "switch", "direct"),
    native("buffered", "switch", "direct"),
    unsupported("atomic", "switch", "writes are not asked to be atomic; direct=1 and sync=1 come nearest"),
    native("sync", "one of none 0 sync 1 dsync", "dsync"),
    native("fsync", "count", "flush_every, as fdatasync; with libaio flush_holds"),
    native("fdatasync", "count", "flush_every; with libaio flush_holds"),
    unsupported("sync_file_range", "text", "ranges are not written back by themselves; fsync= flushes after a number of writes"),
    native("end_fsync", "switch", "flush_at_end"),
    native("fsync_on_close", "switch", "flush_at_end"),
    native("zero_buffers", "flag", 'content = "zeros"'),
    native("refill_buffers", "flag", "every write has bytes of its own"),
    native("scramble_buffers", "switch", "every write has bytes of its own"),
    native("buffer_pattern", "pattern", "pattern"),
    native("buffer_compress_percentage", "percent", "compress_ratio"),
    ignored("buffer_compress_chunk", "size", "every block is compressible by itself"),
    native("dedupe_percentage", "percent", "duplicate_ratio"),
    native("dedupe_mode", "one of repeat working_set", "duplicates repeat earlier blocks"),
    ignored("dedupe_working_set_percentage", "percent", "duplicates repeat blocks of the whole run"),
    ignored("dedupe_global", "switch", "every stream has duplicates of its own"),
    native("verify", f"one of {_METHODS}", "verify, with stamps of our own in every sector"),
    native("do_verify", "switch", "what was written is read back after the run"),
    ignored("verify_interval", "from 80 to 2147483647", "every sector has a stamp of its own, so mistakes are found per 512 bytes"),
    ignored("verify_offset", "from 40 to 2147483647", "a stamp has its place in the sector"),
    ignored("verify_pattern", "offsets", "verified data are stamps, not a pattern"),
    ignored("verify_pattern_interval", "size", "verified data are stamps, not a pattern", since="3.42"),
    ignored("verify_fatal", "switch", "faults are counted and reported; the run goes on"),
    ignored("verify_dump", "switch", "faults are reported with address and kind, not with the block"),
    ignored("verify_async", "count", "the worker that reads a block checks it"),
    ignored("verify_async_cpus", "text", "the worker that reads a block checks it"),
    ignored("verify_backlog", "count", "what was written is read back after the run, not in between"),
    ignored("verify_backlog_batch", "count", "what was written is read back after the run, not in between"),
    native("verify_only", "flag", 'reads of what would be written, with verify = "found"'),
    native("experimental_verify", "switch", "what was written is kept in a ledger"),
    ignored("verify_state_save", "switch", "the ledger ends with the run"),
    unsupported("verify_state_load", "switch", "the ledger of another run is not known; write and verify in one job"),
    native("verify_write_sequence", "flag", "stamps carry the generation of every write", since="3.42"),
    ignored("verify_header_seed", "flag", "stamps are told apart by address and generation", since="3.42"),
    unsupported("trim_percentage", "percent", "blocks are not trimmed between writing and verifying; rw=randtrim is a job of trims"),
    ignored("trim_verify_zero", "switch", "belongs to trim_percentage"),
    ignored("trim_backlog", "count", "belongs to trim_percentage"),
    ignored("trim_backlog_batch", "count", "belongs to trim_percentage"),
    native("read_iolog", "text", "trace"),
    ignored("read_iolog_chunked", "switch", "a log is converted once and read as it is needed"),
    ignored("write_iolog", "name", "requests are not written down one by one; equal seeds repeat them"),
    native("replay_no_stall", "switch", "closed arrival in place of that of the trace"),
    native("replay_redirect", "name", "the target"),
    unsupported("replay_scale", "count", "addresses are not divided; trace_map = scale or squeeze fits a long trace onto a short target"),
    native("replay_align", "power", "align, by which lengths are rounded up as well"),
    native("replay_time_scale", "from 1 to 2147483647", "trace_speed"),
    native("replay_skip", "text", "trace_skip"),
    unsupported("merge_blktrace_file", "text", _MERGED),
    ignored("merge_blktrace_scalars", "floats", "belongs to merge_blktrace_file"),
    ignored("merge_blktrace_iters", "floats", "belongs to merge_blktrace_file"),
)


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


_GONE = "belongs to an engine that is not supported"
_PRIORITY_OF_PROCESS = "requests have the priority of the process"
_PASSTHROUGH = "belongs to commands that go past the block layer"


def _of(engine: str, how: tuple[Verdict, str], why: str, names: str, since: str = DEBIAN) -> tuple[Option, ...]:
    """Options of an engine that are alike; ``how`` is verdict and form."""
    verdict, form = how
    return tuple(Option(name, verdict, form, why, (), since, engine) for name in names.split())


ENGINE_OPTIONS: tuple[Option, ...] = (
    *_of("io_uring, pvsync2, sg", ("native", "flag"), "polled", "hipri"),
    *_of("pvsync2", ("ignored", "percent"), "all requests are polled or none", "hipri_percentage"),
    *_of("io_uring", ("native", "flag"), "buffers and files are registered with the ring", "fixedbufs registerfiles nonvectored"),
    *_of("io_uring", ("ignored", "flag"), "the ring is entered by the worker, not polled by the kernel", "sqthread_poll"),
    *_of("io_uring", ("ignored", "count"), "the ring is entered by the worker, not polled by the kernel", "sqthread_poll_cpu"),
    *_of("io_uring, pvsync2", ("ignored", "flag"), "the page cache keeps what buffered requests bring", "uncached"),
    *_of("io_uring, libaio, pvsync2", ("ignored", "flag"), "requests wait where the kernel has to", "nowait"),
    *_of("io_uring", ("ignored", "count"), "the kernel decides where a request runs", "force_async"),
    *_of("io_uring, libaio", ("ignored", "percent"), _PRIORITY_OF_PROCESS, "cmdprio_percentage"),
    *_of("io_uring, libaio", ("ignored", "count"), _PRIORITY_OF_PROCESS, "cmdprio cmdprio_class"),
    *_of("io_uring, libaio", ("ignored", "text"), _PRIORITY_OF_PROCESS, "cmdprio_bssplit"),
    *_of("io_uring, libaio", ("ignored", "count"), _PRIORITY_OF_PROCESS, "cmdprio_hint", "3.42"),
    *_of("libaio", ("ignored", "flag"), "completions are taken as the engine does", "userspace_reap"),
    *_of("libaio", ("ignored", "flag"), "requests have one buffer", "libaio_vectored", "3.42"),
    *_of("mmap", ("ignored", "flag"), "the kernel decides about huge pages", "thp"),
    *_of("io_uring_cmd", ("unsupported", "text"), _PASSTHROUGH, "cmd_type"),
    *_of(
        "io_uring_cmd",
        ("unsupported", "text"),
        _PASSTHROUGH,
        "md_per_io_size pi_act pi_chk apptag apptag_mask write_mode verify_mode",
        "3.42",
    ),
    *_of("io_uring_cmd, sg", ("unsupported", "flag"), "writes do not force unit access; sync=dsync comes nearest", "readfua writefua"),
    *_of("io_uring_cmd", ("unsupported", "flag"), "reads do not set the limited retry bit", "deterministic", "3.42"),
    *_of("sg", ("unsupported", "text"), _GONE, "sg_write_mode stream_id"),
    *_of("cpuio", ("unsupported", "text"), _GONE, "cpuload cpuchunks cpumode exit_on_io_done"),
    *_of("net, rdma, libhdfs", ("unsupported", "text"), _GONE, "hostname port"),
    Option("protocol", "unsupported", "text", _GONE, ("proto",), DEBIAN, "net"),
    *_of("net", ("unsupported", "text"), _GONE, "nodelay listen pingpong interface ttl window_size mss"),
    *_of("rdma", ("unsupported", "text"), _GONE, "bindname verb"),
    *_of("filestat", ("ignored", "text"), "files are asked for their facts by stat", "stat_type"),
    *_of("fileoperation", ("unsupported", "text"), _GONE, "operation", "3.42"),
    *_of("exec", ("unsupported", "text"), _GONE, "program arguments grace_time std_redirect"),
    *_of("e4defrag", ("unsupported", "text"), _GONE, "donorname inplace"),
    *_of("gfapi", ("unsupported", "text"), _GONE, "volume brick single-instance"),
    *_of("mtd", ("unsupported", "text"), _GONE, "skip_bad"),
    *_of("nbd", ("unsupported", "text"), _GONE, "uri"),
    *_of("rados, rbd", ("unsupported", "text"), _GONE, "clustername rbdname pool clientname conf busy_poll touch_objects"),
    *_of(
        "http",
        ("unsupported", "text"),
        _GONE,
        "https http_mode http_object_mode http_host http_user http_pass http_s3_key http_s3_keyid http_s3_region http_s3_security_token "
        "http_s3_sse_customer_key http_s3_sse_customer_algorithm http_s3_storage_class http_swift_auth_token http_verbose",
        "3.42",
    ),
    *_of("libhdfs", ("unsupported", "text"), _GONE, "namenode hdfsdirectory chunk_size single_instance hdfs_use_direct", "3.42"),
    *_of("nfs", ("unsupported", "text"), _GONE, "nfs_url", "3.42"),
    *_of("dfs", ("unsupported", "text"), _GONE, "cont object_class svcl", "3.42"),
    *_of(
        "libblkio",
        ("unsupported", "text"),
        _GONE,
        "libblkio_driver libblkio_path libblkio_pre_connect_props libblkio_num_entries libblkio_queue_size libblkio_pre_start_props "
        "libblkio_vectored libblkio_write_zeroes_on_trim libblkio_wait_mode libblkio_force_enable_completion_eventfd",
        "3.42",
    ),
    *_of(
        "xnvme",
        ("unsupported", "text"),
        _GONE,
        "xnvme_async xnvme_sync xnvme_admin xnvme_dev_nsid xnvme_dev_subnqn xnvme_mem xnvme_iovec",
        "3.42",
    ),
    *_of("libcufile", ("unsupported", "text"), _GONE, "gpu_dev_ids cuda_io", "3.42"),
    *_of("libhipfile", ("unsupported", "text"), _GONE, "rocm_io", "3.42"),
    *_of("librpma", ("unsupported", "text"), _GONE, "serverip direct_write_to_pmem busy_wait_polling", "3.42"),
    *_of("libpmem2, windowsaio", ("unsupported", "text"), _GONE, "no_completion_thread", "3.42"),
    *_of("spdk", ("unsupported", "text"), _GONE, "spdk_conf spdk_json_conf spdk_mem spdk_rpc_listen_addr", "3.42"),
)

#: In the order of the compatibility page.
PARTS: tuple[tuple[str, tuple[Option, ...]], ...] = (
    ("Files and regions", FILES),
    ("Operations, sizes and addresses", PATTERN),
    ("Concurrency, pace and order", PACE),
    ("Content, durability, verification and traces", CONTENT),
    ("Reports and logs", REPORTS),
    ("Host", HOST),
    ("Options of engines", ENGINE_OPTIONS),
)

OPTIONS: dict[str, Option] = {option.name: option for _, options in PARTS for option in options}
ALIASES: dict[str, str] = {alias: option.name for option in OPTIONS.values() for alias in option.aliases}


def canonical(key: str) -> str | None:
    """The option that a word of a file means; None when there is none."""
    return key if key in OPTIONS else ALIASES.get(key)


def meant(key: str) -> str | None:
    """The known word that looks most like an unknown one."""
    return nearest(key, [*OPTIONS, *ALIASES])


_DAY_NS = 86_400 * 10**9

#: The largest value, and how fio's line would say it.
LIMITS: Mapping[str, tuple[int, str]] = {
    "iodepth": (65_536, "65536"),
    "runtime": (1000 * _DAY_NS, "1000d"),
    "ramp_time": (1000 * _DAY_NS, "1000d"),
    "startdelay": (_DAY_NS, "1d"),
    "thinktime": (_DAY_NS, "1d"),
    "latency_window": (1000 * _DAY_NS, "1000d"),
    "steadystate_duration": (1000 * _DAY_NS, "1000d"),
    "log_avg_msec": (_DAY_NS, "1d"),
    "rate_iops": (10**9, "1000000000"),
    "number_ios": (10**15, "1000000000000000"),
    "fsync": (10**12, "1000000000000"),
}


def check_limit(name: str, value: Any) -> None:
    """Raise `InputError` without a place for a value, or one of several, beyond the limit of its option."""
    if name not in LIMITS:
        return
    most, written = LIMITS[name]
    if any(number > most for number in _numbers_in(value)):
        raise InputError(f"it is more than {written}, the most that is taken here; write {written} or less.")


def _numbers_in(value: Any) -> list[int]:
    if isinstance(value, (list, tuple)):
        return [number for part in value for number in _numbers_in(part)]
    if isinstance(value, Mapping):
        return _numbers_in(list(value.values()))
    return [value] if isinstance(value, int) and not isinstance(value, bool) else []
