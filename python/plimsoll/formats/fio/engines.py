"""Every engine of fio, by name and by alias: what performs its requests here.

Model: an engine that reaches files and devices through the kernel has a backend of ours; any other is recognised and refused with the
nearest thing that works.

    ENGINES["psync"].backend          # "sync"
    ENGINE_ALIASES["aio"]             # "libaio"
"""

from __future__ import annotations

from dataclasses import dataclass


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
