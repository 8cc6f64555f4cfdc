"""Parameter files of Vdbench and configurations of Iometer as people write them: for a lab's acceptance test, a database, a video wall.

Model: each is written here for the purpose, with the habits that such files have: comments behind values, defaults, includes of luns that are
not on this host, commas too many, cycles. `SEEDS` says how many points each has and what its requests are: (read %, random %, sizes).

    SEEDS["oltp.vdb"].text
"""

from __future__ import annotations

from dataclasses import dataclass

from formats.iometer.made import icf, manager, managers, setup, simple, specs, worker

#: Read percent, random percent, and sizes of requests in bytes of a stream.
Load = tuple[float, float, tuple[int, ...]]


@dataclass(frozen=True)
class Seed:
    """A file, its points, and the distinct loads of its streams."""

    text: str
    points: int
    loads: frozenset[Load]


def seed(text: str, points: int, *loads: Load) -> Seed:
    return Seed(text, points, frozenset(loads))


K = 1024
#: Iometer's four corners of 4 KiB and 64 KiB, as acceptance tests have them.
CORNERS = [
    ("4K rand read", ["4096,100,100,100,0,1,4096,0"]),
    ("4K rand write", ["4096,100,0,100,0,1,4096,0"]),
    ("64K seq read", ["65536,100,100,0,0,1,65536,0"]),
    ("64K seq write", ["65536,100,0,0,0,1,65536,0"]),
]
FILE_SERVER = [
    "512,10,80,100,0,1,0,0", "1024,5,80,100,0,1,0,0", "2048,5,80,100,0,1,0,0", "4096,60,80,100,0,1,0,0",
    "8192,2,80,100,0,1,0,0", "16384,4,80,100,0,1,0,0", "32768,4,80,100,0,1,0,0", "65536,10,80,100,0,1,0,0",
]  # fmt: skip

SEEDS = {
    "acceptance.vdb": seed(
        "* Acceptance of array 7, shelf 2\nsd=default,openflags=o_direct,threads=16\nsd=sd1,lun=/dev/mapper/mpatha\n"
        "wd=wd1,sd=sd1,rdpct=100,seekpct=100,xfersize=4k   all reads\nwd=wd2,sd=sd1,rdpct=0,seekpct=100,xfersize=4k\n"
        "wd=wd3,sd=sd1,rdpct=100,seekpct=0,xfersize=256k\nrd=default,iorate=max,elapsed=4,interval=1,warmup=1\n"
        "rd=rd1,wd=wd1\nrd=rd2,wd=wd2\nrd=rd3,wd=wd3\n",
        3, (100, 100, (4 * K,)), (0, 100, (4 * K,)), (100, 0, (256 * K,)),
    ),
    "oltp.vdb": seed(
        "sd=sd1,lun=/dev/sdq,size=100g,openflags=directio\nwd=oltp,sd=sd1,xfersize=(4k,20,8k,70,16k,10),readpct=70,seekpct=random\n"
        "rd=curve,wd=oltp,iorate=curve,curve=(10,30,50,70,90),elapsed=4,interval=1,warmup=1,forthreads=(16)\n",
        6, (70, 100, (4 * K, 8 * K, 16 * K)),
    ),
    "threads.vdb": seed(
        "sd=sd1,lun=/dev/rdsk/c0t0d0s2\nwd=wd1,sd=sd1,xfersize=8k,rdpct=65\nrd=run1,wd=wd1,iorate=max,elapsed=3,interval=1,forthreads=(1-32,d)\n",
        6, (65, 100, (8 * K,)),
    ),
    "sizes_and_mixes.vdb": seed(
        "sd=sd1,lun=/tmp/big,size=10g,openflags=o_direct,threads=8\nwd=wd1,sd=sd*\n"
        "rd=rd1,wd=wd1,iorate=max,elapsed=3,interval=1,forxfersize=(512,4k,64k),forrdpct=(0,50,100),forseekpct=(100,0)\n",
        18, *((mix, order, (size,)) for mix in (0, 50, 100) for order in (0, 100) for size in (512, 4 * K, 64 * K)),
    ),
    "rates.vdb": seed(
        "sd=sd1,lun=/dev/sdb,threads=32\nwd=wd1,sd=sd1,xfersize=16k,writepct=30\nrd=r,wd=wd1,iorate=(500,1000,max),elapsed=4,interval=1,warmup=1\n",
        3, (70, 100, (16 * K,)),
    ),
    "max_then_percent.vdb": seed(
        "sd=sd1,lun=/dev/sdb,threads=8\nwd=wd1,sd=sd1,xfersize=4k\nrd=r1,wd=wd1,iorate=max,elapsed=4,interval=1\n"
        "rd=r2,wd=wd1,iorate=(25%,75%),elapsed=4,interval=1\n",
        4, (100, 100, (4 * K,)),
    ),
    "backup_beside_mail.vdb": seed(
        "sd=sd1,lun=/dev/sdb,size=200g,threads=20\nwd=mail,sd=sd1,xfersize=8k,rdpct=60,skew=80\nwd=backup,sd=sd1,xfersize=256k,seekpct=seq,skew=20\n"
        "rd=both,wd=(mail,backup),iorate=800,elapsed=4,interval=1,warmup=2\n",
        1, (60, 100, (8 * K,)), (100, 0, (256 * K,)),
    ),
    "skewed.vdb": seed(
        "sd=sd1,lun=/dev/sdb,threads=12\nwd=default,sd=sd1,xfersize=4k\nwd=w1,skew=75,rdpct=100\nwd=w2,skew=25,rdpct=0\n"
        "rd=run,wd=w*,iorate=max,elapsed=4,interval=1\n",
        1, (100, 100, (4 * K,)), (0, 100, (4 * K,)),
    ),
    "hot_bands.vdb": seed(
        "* Four hot bands, as measurements of energy have them\nsd=sd1,lun=/dev/sdb,size=400g,threads=16,\nsd=sd2,lun=/dev/sdb,size=400g,threads=4\n"
        "wd=default,xfersize=(8k,31,4k,27,64k,20,16k,5,32k,17),rdpct=70,sd=sd1\nwd=hot1,skew=28,hotband=(10,18)\n"
        "wd=hot2,skew=14,hotband=(32,40)\nwd=hot3,skew=7,hotband=(55,63)\nwd=hot4,skew=5,hotband=(80,88)\nwd=rest,skew=46\n"
        "rd=hbw,wd=(hot1,hot2,hot3,hot4,rest),iorate=2000,elapsed=4,interval=1,warmup=1\n",
        1, (70, 100, (4 * K, 8 * K, 16 * K, 32 * K, 64 * K)),
    ),
    "one_word_per_line.vdb": seed(
        "sd=sd1\nlun=/dev/sdc\nthreads=4\nwd=wd1\nsd=sd1\nxfersize=1m\nseekpct=0\nrdpct=0\nrd=rd1\nwd=wd1\niorate=max\nelapsed=4\ninterval=1\n",
        1, (0, 0, (1024 * K,)),
    ),
    "commas.vdb": seed(
        "compratio=2,\nsd=sd1,lun=/dev/sdc,threads=4,\nsd=sd2,lun=/dev/sdc,threads=6,\nwd=wd1,sd=sd2,xfersize=32k,\nrd=rd1,wd=wd1,iorate=max,\n"
        "elapsed=4,interval=1,\n",
        1, (100, 100, (32 * K,)),
    ),
    "video.vdb": seed(
        "sd=sd1,lun=/dev/sdd,size=2t,threads=8\nwd=play,sd=sd1,xfersize=512k,seekpct=0,streams=4\nrd=wall,wd=play,iorate=400,"
        "distribution=deterministic,elapsed=4,interval=1\n",
        1, (100, 0, (512 * K,)),
    ),
    "cache_hits.vdb": seed(
        "sd=sd1,lun=/dev/sdb,size=10g,hitarea=64m\nwd=wd1,sd=sd1,xfersize=4k,rdpct=100,rhpct=40\nrd=rd1,wd=wd1,iorate=max,elapsed=4,interval=1\n",
        1, (100, 100, (4 * K,)),
    ),
    "random_sizes.vdb": seed(
        "sd=sd1,lun=/dev/sdb,threads=8\nwd=wd1,sd=sd1,xfersize=(4k,64k,4k),rdpct=50,seekpct=60\nrd=rd1,wd=wd1,iorate=max,elapsed=4,interval=1\n",
        1, (50, 60, (4 * K, 64 * K)),
    ),
    "poisson_places.vdb": seed(
        "sd=sd1,lun=/dev/sdb,threads=8\nwd=wd1,sd=sd1,xfersize=8k,seekpct=(poisson,5)\nrd=rd1,wd=wd1,iorate=max,elapsed=4,interval=1\n",
        1, (100, 100, (8 * K,)),
    ),
    "shares_of_99_9.vdb": seed(
        "sd=sd1,lun=/dev/sdb,threads=8\nwd=wd1,sd=sd1,xfersize=(4k,33.3,8k,33.3,16k,33.3),rdpct=100,rdpct=75\n"
        "rd=rd1,wd=wd1,iorate=max,elapsed=4,interval=1\n",
        1, (75, 100, (4 * K, 8 * K, 16 * K)),
    ),
    "deduplicated.vdb": seed(
        "dedupratio=2\ndedupunit=8k\ncompratio=1.5\nsd=sd1,lun=/dev/sdb,threads=8\nwd=wd1,sd=sd1,xfersize=8k,rdpct=0\n"
        "rd=rd1,wd=wd1,iorate=max,elapsed=4,interval=1\n",
        1, (0, 100, (8 * K,)),
    ),
    "stop_of_a_curve.vdb": seed(
        "sd=sd1,lun=/dev/sdb,th=8\nwd=wd1,sd=sd1,xf=4k,se=random\nrd=rd1,wd=wd1,io=curve,stopc=30,el=4,in=1,wa=1\n",
        7, (100, 100, (4 * K,)),
    ),
    "corners.icf": seed(
        simple(
            {"Run Time": "0          0          4", "Ramp Up Time (s)": "1"},
            worker(assigned=[name for name, _ in CORNERS], targets=["sdb"], outstanding="16,DISABLED,1"),
            lines=CORNERS,
        ),
        4, *((mix, order, (size,)) for size, order in ((4 * K, 100), (64 * K, 0)) for mix in (0, 100)),
    ),
    "file_server.icf": seed(
        simple(
            {"Run Time": "0          0          4", "Ramp Up Time (s)": "1"},
            worker(assigned=["File Server"], outstanding="32,DISABLED,1"),
            lines=[("File Server", FILE_SERVER)],
        ),
        1, *((80, 100, (512 << power,)) for power in range(8)),
    ),
    "queue_depths.icf": seed(
        simple(
            {
                "Run Time": "0          0          3",
                "Ramp Up Time (s)": "1",
                "Test Type": "CYCLE_OUTSTANDING_IOS",
                "Queue Depth Cycling": "1          64         2          EXPONENTIAL",
            },
            worker(assigned=["OLTP"]),
            lines=[("OLTP", ["8192,100,70,100,0,1,8192,0"])],
        ),
        7, (70, 100, (8 * K,)),
    ),
    "bursts.icf": seed(
        simple(
            {"Run Time": "0          0          4", "Ramp Up Time (s)": "1"},
            worker(assigned=["Web"], outstanding="4,DISABLED,1"),
            lines=[("Web", ["8192,90,100,75,10,8,0,0", "524288,10,100,0,0,1,0,0"])],
        ),
        1, (100, 75, (8 * K,)), (100, 0, (512 * K,)),
    ),
    "eight_workers.icf": seed(
        icf(
            setup({"Run Time": "0          0          4", "Ramp Up Time (s)": "1"}),
            specs([("VDI", ["4096,80,20,80,0,1,4096,0", "16384,20,40,80,0,1,4096,0"])]),
            managers(manager(*(worker(f"Worker {n}", ["VDI"], ["sdb"], "8,DISABLED,1") for n in range(1, 9)))),
        ),
        1, (20, 80, (4 * K,)), (40, 80, (16 * K,)),
    ),
    "1998.icf": seed(
        icf(
            setup({"Run Time": "0          0          4", "Ramp Up Time (s)": "1"}, end=False),
            "'ACCESS SPECIFICATIONS ====\n'size %size reads random delay burst\n\t2048 100 67 100 0 1\n'END access specifications\n",
            managers(manager(worker(assigned=["2 KiB random 67% reads"], outstanding="2,DISABLED,1"))),
            version="1998.03.02",
        ),
        1, (67, 100, (2 * K,)),
    ),
}  # fmt: skip
