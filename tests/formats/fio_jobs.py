"""Job files as people write them, of our own making: each asks for a load that is used in practice, in the words and the order that are usual for it.

JOBS["queue depth sweep"]
"""

from __future__ import annotations

GLOBAL = "[global]\n"

JOBS: dict[str, str] = {
    "nvme random read": "[global]\nioengine=libaio\ndirect=1\nfilename=/dev/nvme1n1\ntime_based\nruntime=60\nramp_time=5\n"
    "group_reporting\n\n[rand-read-4k]\nrw=randread\nbs=4k\niodepth=32\nnumjobs=4\nnorandommap\n",
    "four corners": "[global]\nioengine=io_uring\ndirect=1\nsize=1g\nfilename=/mnt/test/file\nruntime=30\ntime_based=1\n"
    "[seq-read]\nrw=read\nbs=1m\niodepth=8\nstonewall\n[seq-write]\nrw=write\nbs=1m\niodepth=8\nstonewall\n"
    "[rand-read]\nrw=randread\nbs=4k\niodepth=64\nstonewall\n[rand-write]\nrw=randwrite\nbs=4k\niodepth=64\nstonewall\n",
    "oltp mix": "; 70 % reads, as a database of orders has\n[oltp]\nioengine=libaio\ndirect=1\nrw=randrw\nrwmixread=70\nbs=8k\niodepth=16\n"
    "numjobs=8\nsize=4g\ndirectory=/u01/fio\ntime_based\nruntime=2m\ngroup_reporting=1\n",
    "log and data": "[global]\ndirect=1\nioengine=libaio\nruntime=60\ntime_based\n[redo]\nfilename=/dev/sdx\nrw=write\nbs=16k\niodepth=1\nfdatasync=1\n"
    "[data]\nfilename=/dev/sdy\nrw=randrw\nrwmixwrite=30\nbs=8k\niodepth=32\nnumjobs=2\n",
    "queue depth sweep": "[global]\nioengine=libaio\ndirect=1\nrw=randread\nbs=4k\nfilename=/dev/sdx\nruntime=10\ntime_based\nstonewall\n"
    + "".join(f"[qd{depth}]\niodepth={depth}\n" for depth in (1, 2, 4, 8, 16, 32, 64)),
    "block size sweep": "[global]\nioengine=psync\nthread\ndirect=1\nsize=512m\nfilename=${DATA}/sweep\nstonewall\n"
    + "".join(f"[bs-{size}]\nrw=read\nbs={size}\n" for size in ("4k", "16k", "64k", "256k", "1m")),
    "latency probe": "[probe]\nioengine=psync\nrw=randread\nbs=4k\ndirect=1\nfilename=/dev/sdx\nrate_iops=100\nruntime=30\ntime_based\n"
    "percentile_list=50:90:99:99.9:99.99\nlat_percentiles=1\n",
    "poisson arrivals": "[open]\nioengine=io_uring\ndirect=1\nrw=randread\nbs=4k\niodepth=256\nrate_iops=5000\nrate_process=poisson\n"
    "filename=/dev/sdx\nsize=100%\nruntime=20\ntime_based\n",
    "video streams": "[global]\nrw=read\nbs=256k\nioengine=libaio\niodepth=2\ndirect=1\ndirectory=/media\nfilesize=1g\nruntime=30\ntime_based\n"
    "[stream]\nnumjobs=12\nrate=4m\nfile_service_type=sequential\n",
    "backup and users": "[users]\nioengine=libaio\ndirect=1\nrw=randread\nbs=8k\niodepth=4\nsize=2g\nfilename=/vol/users\nruntime=60\ntime_based\n"
    "[backup]\nioengine=psync\nrw=read\nbs=1m\nsize=2g\nfilename=/vol/users\nstartdelay=20\nruntime=40\ntime_based\n",
    "boot storm": "[global]\nioengine=libaio\nbssplit=4k/60:8k/10:16k/10:32k/10:64k/10\nrw=randrw\nrwmixread=90\nrandom_distribution=zipf:1.1\n"
    "direct=1\nsize=1g\n[vm]\nnumjobs=10\niodepth=2\nfilename_format=vm.$jobnum.img\ndirectory=/images\nruntime=30\ntime_based\n",
    "mail spool": "[global]\nioengine=sync\nbuffered=1\ndirectory=/var/spool/test\nnrfiles=64\nfilesize=64k\nfile_service_type=random\n"
    "[deliver]\nrw=randwrite\nbs=4k\nfsync_on_close=1\nfsync=1\nsize=4m\nnumjobs=4\n",
    "write verified": "[write-and-verify]\nrw=randwrite\nbs=4k\ndirect=1\nioengine=libaio\niodepth=16\nverify=crc32c\nfilename=/dev/sdx\nsize=256m\ndo_verify=1\n"
    "verify_fatal=1\n",
    "steady state": "[ss]\nioengine=libaio\niodepth=32\ndirect=1\nrw=randwrite\nbs=4k\nfilename=/dev/sdx\nsteadystate=iops:5%\nsteadystate_duration=300\n"
    "steadystate_ramp_time=60\nruntime=3600\ntime_based\n",
    "fill then measure": "[fill]\nrw=write\nbs=128k\niodepth=32\nioengine=libaio\ndirect=1\nfilename=/dev/sdx\nsize=100%\nloops=2\n"
    "[measure]\nstonewall\nrw=randwrite\nbs=4k\niodepth=32\nioengine=libaio\ndirect=1\nfilename=/dev/sdx\nruntime=600\ntime_based\nlog_avg_msec=1000\n"
    "write_iops_log=ss\n",
    "trim mix": "[trim]\nrw=trimwrite\nbs=64k\nioengine=libaio\ndirect=1\nfilename=/dev/sdx\nsize=1g\n",
    "discard only": "[discard]\nrw=randtrim\nbs=1m\nioengine=libaio\niodepth=4\ndirect=1\nfilename=/dev/sdx\nsize=10g\nruntime=10\n",
    "two halves": "[global]\nfilename=/dev/sdx\ndirect=1\nioengine=libaio\niodepth=8\nruntime=20\ntime_based\n"
    "[outer]\nrw=read\nbs=256k\nsize=50%\n[inner]\nrw=read\nbs=256k\noffset=50%\nsize=50%\n",
    "offset per clone": "[clones]\nrw=write\nbs=1m\nioengine=libaio\niodepth=4\ndirect=1\nfilename=/dev/sdx\nnumjobs=4\noffset_increment=25%\nsize=25%\n",
    "thinking users": "[user]\nioengine=psync\nrw=randread\nbs=8k\nthinktime=20ms\nthinktime_blocks=5\nnumjobs=16\nfilename=/data/db\nsize=1g\nruntime=30\n"
    "time_based\n",
    "hot zones": "[zoned]\nioengine=libaio\niodepth=8\ndirect=1\nrw=randread\nbs=4k\nrandom_distribution=zoned:80/5:15/15:5/80\nfilename=/dev/sdx\n"
    "runtime=10\ntime_based\n",
    "hot bytes": "[zoned]\nioengine=libaio\niodepth=8\ndirect=1\nrw=randread\nbs=4k\nrandom_distribution=zoned_abs:80/1g:20/9g\nfilename=/dev/sdx\n"
    "runtime=10\ntime_based\n",
    "latency target": "[search]\nioengine=libaio\niodepth=128\ndirect=1\nrw=randread\nbs=4k\nfilename=/dev/sdx\nlatency_target=2ms\nlatency_window=5s\n"
    "latency_percentile=99\nruntime=120\ntime_based\n",
    "incompressible": "[dedupe]\nrw=write\nbs=128k\nioengine=libaio\niodepth=16\ndirect=1\nrefill_buffers\nbuffer_compress_percentage=40\n"
    "buffer_compress_chunk=4k\ndedupe_percentage=20\nfilename=/dev/sdx\nsize=8g\n",
    "zero pattern": "[zeros]\nrw=write\nbs=1m\nzero_buffers\nsize=512m\nfilename=zeros.img\nend_fsync=1\n",
    "page cache": "[cached]\nrw=read\nbs=128k\nsize=256m\nfilename=cached.bin\nloops=3\ninvalidate=0\n",
    "mapped": "[mapped]\nioengine=mmap\nrw=randread\nbs=4k\nsize=128m\nfilename=mapped.bin\nruntime=5\ntime_based\n",
    "strided": "[strides]\nrw=read\nbs=64k\nzonemode=strided\nzonesize=1m\nzoneskip=15m\nfilename=/dev/sdx\nsize=4g\n",
    "skipping reads": "[skips]\nrw=read:60k\nbs=4k\nfilename=/dev/sdx\ndirect=1\nsize=1g\n",
    "cpus and priority": "[tuned]\nrw=randread\nbs=4k\nioengine=libaio\niodepth=4\ncpus_allowed=0-3\ncpus_allowed_policy=split\nnice=-5\nprioclass=1\nprio=0\n"
    "numa_cpu_nodes=0\nmem=mmaphuge\nhugepage-size=2m\nfilename=/dev/sdx\ndirect=1\nruntime=5\ntime_based\nnumjobs=4\n",
    "polled": "[polled]\nioengine=io_uring\nhipri\nfixedbufs\nregisterfiles\nsqthread_poll=1\nrw=randread\nbs=512\niodepth=1\ndirect=1\nfilename=/dev/nvme0n1\n"
    "runtime=5\ntime_based\n",
    "many devices": "[global]\nioengine=libaio\ndirect=1\nrw=randread\nbs=8k\niodepth=16\nruntime=30\ntime_based\n"
    + "".join(f"[disk-{letter}]\nfilename=/dev/sd{letter}\n" for letter in "pqrstuvw"),
    "striped by name": "[stripe]\nfilename=/dev/sdp:/dev/sdq:/dev/sdr:/dev/sds\nioengine=libaio\ndirect=1\nrw=randread\nbs=64k\niodepth=64\nruntime=10\n"
    "time_based\n",
    "named after devices": "[global]\ndirect=1\nioengine=libaio\nrw=read\nbs=1m\niodepth=4\nruntime=10\ntime_based\n[/dev/sdp]\n[/dev/sdq]\n",
    "batches": "[batched]\nioengine=libaio\niodepth=32\niodepth_batch_submit=8\niodepth_batch_complete_min=8\niodepth_low=16\nrw=randread\nbs=4k\ndirect=1\n"
    "filename=/dev/sdx\nruntime=5\ntime_based\n",
    "ratio of jobs": "[global]\nioengine=libaio\niodepth=4\ndirect=1\nfilename=/dev/sdx\nbs=4k\nruntime=10\ntime_based\nflow_id=1\n"
    "[reads]\nrw=randread\nflow=3\n[writes]\nrw=randwrite\nflow=1\n",
    "minimum rate": "[guarantee]\nrw=read\nbs=256k\nioengine=psync\ndirect=1\nrate_min=50m\nfilename=/dev/sdx\nruntime=10\ntime_based\nmax_latency=500ms\n",
    "mixed sizes": "[sizes]\nrw=randrw\nbs=4k,64k\nrwmixread=60\nioengine=libaio\niodepth=8\ndirect=1\nfilename=/dev/sdx\nruntime=10\ntime_based\n",
    "partly random": "[partly]\nrw=randread\npercentage_random=30\nbs=16k\nioengine=libaio\niodepth=4\ndirect=1\nfilename=/dev/sdx\nruntime=10\ntime_based\n",
    "calculated": "[pages]\nrw=randread\nbs=$pagesize\nsize=$mb_memory\nfilename=calc.bin\nioengine=psync\nio_size=16m\n",
    "template": "[templated]\nrw=randread\nbs=4k\nfilename=/dev/sdx\nsize=100%%\nioengine=aio\niodepth= 8\ndirect = 1\nruntime= 5\ntime_based = 1\nname= X\n",
    "windows paths": "[win]\nioengine=windowsaio\nfilename=\\\\.\\PhysicalDrive1\nrw=randread\nbs=4k\niodepth=8\nthread\ndirect=1\nruntime=10\ntime_based\n",
    "object store": "[objects]\nioengine=rados\nclientname=admin\npool=bench\nrw=randwrite\nbs=64k\nsize=1g\n",
}
#: Refused for an engine that we have not, wherever it runs.
REFUSED = frozenset(("object store",))
#: Refused where no target takes the place of its own.
OF_WINDOWS = frozenset(("windows paths",))
