"""The compatibility table of fio, part three: options that belong to one engine, and what becomes of the engines themselves.

Model: an engine that reaches files and devices through the kernel has a backend of ours. Options of such an engine are ignored or native
one by one; options of any other engine go with it.
"""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.formats.fio.option import DEBIAN, Option, Verdict

_GONE = "belongs to an engine that is not supported"
_PRIORITY = "requests have the priority of the process"
_PASSTHROUGH = "belongs to commands that go past the block layer"


@dataclass(frozen=True)
class Engine:
    """``backend`` is ours, or empty; ``synchronous`` ones have one request outstanding whatever iodepth says."""

    backend: str
    synchronous: bool
    why: str


_FILES = "files and devices only; nearest is ioengine=io_uring on a file or a mapped device"
_META = "this operation on the file system is not issued from a job file; nearest are ioengine=filecreate, filestat and filedelete"
_NETWORK = "the network itself is not measured; nearest is ioengine=io_uring on a file of a mounted share"

ENGINES: dict[str, Engine] = {
    "libaio": Engine("auto", False, "io_uring takes its place"),
    "io_uring": Engine("auto", False, ""),
    "posixaio": Engine("auto", False, "io_uring takes its place"),
    "windowsaio": Engine("auto", False, "io_uring takes its place"),
    "solarisaio": Engine("auto", False, "io_uring takes its place"),
    "sync": Engine("sync", True, "pread and pwrite in place of lseek, read and write"),
    "psync": Engine("sync", True, ""),
    "vsync": Engine("sync", True, "neighbouring requests are not joined into vectors"),
    "pvsync": Engine("sync", True, "pread and pwrite in place of preadv and pwritev"),
    "pvsync2": Engine("sync", True, "pread and pwrite in place of preadv2 and pwritev2"),
    "mmap": Engine("mmap", True, ""),
    "null": Engine("null", False, "target null:"),
    "filecreate": Engine("files", True, "driver files, operation create"),
    "filestat": Engine("files", True, "driver files, operation stat"),
    "filedelete": Engine("files", True, "driver files, operation delete"),
} | {
    name: Engine("", False, why)
    for why, names in {
        _FILES: "io_uring_cmd sg mtd nbd rados rbd rdma gfapi gfapi_async http libhdfs libiscsi libnfs nfs dfs daos ime spdk spdk_bdev "
        "spdk_nvme xnvme libblkio libcufile libhipfile pmemblk dev-dax libpmem libpmem2 librpma_apm_client librpma_apm_server "
        "librpma_gpspm_client librpma_gpspm_server libzbc",
        _META: "ftruncate filexattr dircreate dirstat dirdelete falloc e4defrag fileoperation",
        _NETWORK: "net netsplice",
        "data are not moved between pipes; nearest is ioengine=psync": "splice",
        "the processor itself is not loaded; leave the job out": "cpuio",
        "other programs are not run; leave the job out": "exec",
        "exists on other systems only; nearest is ioengine=libaio": "guasi syslet-rw binject",
        "engines of others cannot be loaded; nearest is ioengine=io_uring": "external",
    }.items()
    for name in names.split()
}


#: Other names of engines.
ENGINE_ALIASES = {"aio": "libaio", "linuxaio": "libaio"}


def _of(engine: str, how: tuple[Verdict, str], why: str, names: str, since: str = DEBIAN) -> tuple[Option, ...]:
    """Options of an engine that are alike; ``how`` is verdict and form."""
    verdict, form = how
    return tuple(Option(name, verdict, form, why, (), since, engine) for name in names.split())


_OPTIONS: tuple[Option, ...] = (
    *_of("io_uring, pvsync2, sg", ("native", "flag"), "polled", "hipri"),
    *_of("pvsync2", ("ignored", "percent"), "all requests are polled or none", "hipri_percentage"),
    *_of("io_uring", ("native", "flag"), "buffers and files are registered with the ring", "fixedbufs registerfiles nonvectored"),
    *_of("io_uring", ("ignored", "flag"), "the ring is entered by the worker, not polled by the kernel", "sqthread_poll"),
    *_of("io_uring", ("ignored", "count"), "the ring is entered by the worker, not polled by the kernel", "sqthread_poll_cpu"),
    *_of("io_uring, pvsync2", ("ignored", "flag"), "the page cache keeps what buffered requests bring", "uncached"),
    *_of("io_uring, libaio, pvsync2", ("ignored", "flag"), "requests wait where the kernel has to", "nowait"),
    *_of("io_uring", ("ignored", "count"), "the kernel decides where a request runs", "force_async"),
    *_of("io_uring, libaio", ("ignored", "percent"), _PRIORITY, "cmdprio_percentage"),
    *_of("io_uring, libaio", ("ignored", "count"), _PRIORITY, "cmdprio cmdprio_class"),
    *_of("io_uring, libaio", ("ignored", "text"), _PRIORITY, "cmdprio_bssplit"),
    *_of("io_uring, libaio", ("ignored", "count"), _PRIORITY, "cmdprio_hint", "3.42"),
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

ENGINE_OPTIONS = _OPTIONS
