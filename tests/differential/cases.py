"""The job files that are run by fio and by us, each with the rule it covers and what has to be alike.

Model: a job file is a line of words, each a line of the file, below defaults for all; ``alike`` names comparisons of `comparison`. What is
determined is compared request by request; what is drawn is compared within the error of the draw.
Limits: requests that are drawn are without a block map where they have several sizes (``norandommap``), because fio cuts those short that
would touch a block twice, and we do not; no trims, which fio sends to devices only.

    Case("a pass reads every block in order", "[a] rw=read", ("order",)).text
"""

from __future__ import annotations

from dataclasses import dataclass

_DEFAULTS = "[global] direct=1 size=1m"
ORDER = ("order", "counts")
PASS = ("set", "counts")
TASKS = ("tasks", "counts")
PER_FILE = ("per file", "counts")
DRAWN = ("counts", "spread", "reach")


@dataclass(frozen=True)
class Case:
    """A job file, the rule it covers, and what has to be alike; ``file`` is empty where the job names the files."""

    rule: str
    words: str
    alike: tuple[str, ...]
    file: str = "filename=data"
    same_content: bool = False

    @property
    def text(self) -> str:
        """The job file."""
        return "\n".join([*_DEFAULTS.split(), *self.file.split(), *self.words.split(), ""])


SEQUENTIAL = (
    Case("a pass reads every block in order", "[a] rw=read", ORDER),
    Case("nothing said is a pass of reads of 4 KiB", "[a]", ORDER),
    Case("a pass writes every block in order", "[a] rw=write bs=16k", ORDER),
    Case("readwrite is rw", "[a] readwrite=write blocksize=32k", ORDER),
    Case("kib counts in thousands", "[a] rw=read bs=8192 size=1024kib direct=0 ioengine=psync", ORDER),
    Case("kb_base 1000 turns the suffixes round", "[a] kb_base=1000 rw=read bs=4kib size=512kib", ORDER),
    Case("hexadecimal sizes", "[a] rw=read bs=0x2000", ORDER),
    Case("a leading zero is decimal", "[a] rw=write bs=016384", ORDER),
    Case("the last part of a region that takes no request is left out", "[a] rw=read bs=64k size=1000k", ORDER),
    Case("offset moves the region", "[a] rw=write offset=256k size=512k bs=8k", ORDER),
    Case("io_size goes on from the start of the region", "[a] rw=write size=256k io_size=640k bs=16k", ORDER),
    Case("io_size that is less than size ends the pass", "[a] rw=read size=1m io_size=100k", ORDER),
    Case("loops repeats the pass", "[a] rw=read size=256k loops=3 bs=8k", ORDER),
    Case("number_ios ends the pass", "[a] rw=read number_ios=77", ORDER),
    Case("a gap behind each request is left out", "[a] rw=read:12k bs=4k size=256k filesize=256k", ORDER),
    Case("a gap as long as the request", "[a] rw=write:8k bs=8k size=256k", ORDER),
    Case("sizes of reads and writes: a write takes the second", "[a] rw=write bs=4k,32k", ORDER),
    Case("sizes of reads and writes: a read takes the first", "[a] rw=read bs=8k,32k", ORDER),
    Case("an empty entry of sizes is the default", "[a] rw=read bs=,32k", ORDER),
    Case("bsrange of one size is that size", "[a] rw=read bsrange=8k-8k", ORDER),
    Case("bssplit of one size comes before bs", "[a] rw=read bs=4k bssplit=16k/100", ORDER),
    Case("the last of two equal options holds", "[a] rw=read bs=4k bs=64k", ORDER),
    Case("a comment ends a value", "[a] rw=read bs=8k#16k", ORDER),
    Case("requests through the page cache", "[a] rw=write direct=0 ioengine=psync bs=8k", ORDER),
    Case("buffered=0 is direct", "[a] rw=read direct=0 buffered=0 ioengine=psync", ORDER),
    Case("libaio at depth 1", "[a] rw=read ioengine=libaio bs=16k", ORDER),
    Case("libaio at depth 8 asks for every block once", "[a] rw=read ioengine=libaio iodepth=8 bs=16k", PASS),
    Case("a block that is no power of two", "[a] rw=write bs=3k direct=0 ioengine=psync", ORDER),
    Case("a size that is no multiple of the block", "[a] rw=read size=10000 direct=0 ioengine=psync", ORDER),
    Case("io_size many times the size", "[a] rw=read size=100k io_size=1m", ORDER),
    Case("io_size is rounded up to whole requests", "[a] rw=write io_size=1500k bs=64k", ORDER),
    Case("io_size of half a pass with gaps", "[a] rw=write:4k bs=4k io_size=512k", ORDER),
    Case("an offset that is no multiple of the block", "[a] rw=read bs=16k offset=20k size=512k", ORDER),
    Case("number_ios is of each loop", "[a] rw=read bs=16k number_ios=10 loops=2", ORDER),
    Case("a loop ends with the region before number_ios", "[a] rw=read bs=16k number_ios=100 loops=2", ORDER),
    Case("filesize is the end of what lies behind an offset", "[a] rw=read offset=3m size=2m filesize=4m bs=64k", ORDER),
    Case("io_size goes round in the file behind the offset", "[a] rw=read io_size=8m offset=1m size=2m filesize=4m bs=64k", ORDER),
    Case("size is not more than the file", "[a] rw=read size=3m filesize=1m bs=64k", ORDER),
    Case("size in percent of filesize", "[a] rw=read size=50% filesize=4m bs=64k", ORDER),
    Case("rwmixread=100 is a pass of reads", "[a] rw=readwrite rwmixread=100", ORDER),
    Case("batches of requests ask for the same", "[a] rw=read ioengine=libaio iodepth=8 iodepth_batch=4", PASS),
    Case(
        "a queue that is refilled in waves asks for the same",
        "[a] rw=read ioengine=libaio iodepth=8 iodepth_batch=4 iodepth_batch_complete_min=4 iodepth_low=2",
        PASS,
    ),
    Case("bs_is_seq_rand: what follows has the first size", "[a] rw=write bs=4k,16k bs_is_seq_rand=1", ORDER),
    Case("time ends a pass that is longer than it: blocks from the start on", "[a] rw=read size=1m runtime=5", ORDER),
)

ZONES = (
    Case("part of each zone", "[a] rw=read zonemode=strided zonesize=16k zonerange=32k zoneskip=32k size=256k", ORDER),
    Case("each zone whole", "[a] rw=write zonemode=strided zonesize=32k zonerange=32k zoneskip=32k size=256k", ORDER),
    Case("each zone more than once", "[a] rw=read zonemode=strided zonesize=48k zonerange=32k zoneskip=0 size=256k", ORDER),
    Case("a zone is as long as what is transferred in it", "[a] rw=read zonemode=strided zonesize=16k zoneskip=32k size=256k", ORDER),
    Case("zones are worked through again", "[a] rw=read zonemode=strided zonesize=32k zoneskip=32k size=256k io_size=1m", ORDER),
    Case("what is transferred in a zone is whole requests", "[a] rw=read zonemode=strided zonesize=10k zonerange=32k size=256k", ORDER),
    Case("random blocks of one zone after the other", "[a] rw=randread zonemode=strided zonesize=32k zoneskip=32k size=256k", PASS),
    Case(
        "random draws of one zone after the other",
        "[a] rw=randread zonemode=strided zonesize=256k zoneskip=256k size=4m norandommap io_size=8m",
        DRAWN,
    ),
    Case("zones go on behind the size", "[a] rw=read zonemode=strided zonesize=16k zoneskip=112k size=256k filesize=1m", ORDER),
)

MISSING = (
    Case("an offset in percent of a file to be made is none", "[a] rw=read offset=50% size=512k", ORDER),
    Case("so it is with a filesize", "[a] rw=read offset=25% size=512k filesize=1m", ORDER),
    Case("a size in percent is of the filesize", "[a] rw=read offset=256k size=50% filesize=1m", ORDER),
)

FLUSHES = (
    Case("fsync flushes after so many writes", "[a] rw=write fsync=8 size=1000k", ("order", "flushes")),
    Case("fdatasync flushes after so many writes", "[a] rw=write fdatasync=16 size=1000k", ("order", "flushes")),
    Case("fsync=1 flushes after every write", "[a] rw=randwrite fsync=1 size=256k", ("set", "flushes")),
    Case("in a mix, writes alone are counted", "[a] rw=randrw fsync=8 size=4m", ("visits", "mix", "flush points")),
    Case("flushes at depth 4", "[a] rw=write ioengine=libaio iodepth=4 fsync=8 size=500k", PASS),
    Case("loops count on", "[a] rw=write loops=2 fsync=10 size=180k", ("order", "flushes")),
    Case("the least of fsync and number_ios", "[a] rw=write fsync=4 number_ios=50", ("order", "flushes")),
    Case("end_fsync flushes at the end", "[a] rw=write end_fsync=1", ("order", "flushes")),
    Case("fsync_on_close flushes at the end", "[a] rw=write fsync_on_close=1", ("order", "flushes")),
    Case("reads are not flushed", "[a] rw=read fsync=4", ("order", "flushes")),
    Case("the flush that is due with the last write is not made", "[a] rw=write fsync=8 size=256k", ("order", "flushes")),
    Case("end_fsync makes it", "[a] rw=write fsync=8 size=256k end_fsync=1", ("order", "flushes")),
    Case("sync=dsync makes no flushes of its own", "[a] rw=write sync=dsync size=256k", ("order", "flushes")),
)

GROUPS = (
    Case("stonewall runs one after the other", "[a] rw=write [b] stonewall rw=read bs=8k", ORDER),
    Case("wait_for_previous is stonewall", "[a] rw=write [b] wait_for_previous rw=read bs=8k", ORDER),
    Case("jobs of a group run at the same time", "[a] rw=write size=512k [b] rw=read size=512k offset=512k bs=8k", TASKS),
    Case("clones of a pass each make a pass", "[a] rw=read numjobs=3 size=512k", TASKS),
    Case("offset_increment gives every clone its region", "[a] rw=write numjobs=4 size=256k offset_increment=256k", TASKS),
    Case("a second global adds to the first", "[a] rw=write stonewall [global] bs=16k [b] stonewall rw=read", ORDER),
    Case("what begins with global holds defaults", "[globally] bs=32k [a] rw=read", ORDER),
    Case("jobs with files of their own", "[a] rw=write filename=x [b] rw=read filename=y bs=8k", PER_FILE, ""),
    Case("startdelay of a second job", "[a] rw=write size=256k [b] rw=read size=256k offset=512k startdelay=100ms", TASKS),
)

FILES = (
    Case("two files take turns", "[a] rw=write filename=x:y bs=16k", ORDER, ""),
    Case("nrfiles share the size", "[a] rw=read nrfiles=4 bs=16k", ORDER, ""),
    Case("two files one after the other", "[a] rw=write filename=x:y file_service_type=sequential bs=16k", ORDER, ""),
    Case("two requests to each file in turn", "[a] rw=read filename=x:y file_service_type=roundrobin:2 bs=16k", ORDER, ""),
    Case("a file is named after its job", "[a] rw=write bs=64k", ORDER, ""),
    Case("clones have files of their own", "[a] rw=write numjobs=2 bs=64k", PER_FILE, ""),
    Case("filename_format names the files", "[a] rw=write bs=64k filename_format=$jobname-$filenum", ORDER, ""),
    Case("names of a job are added to those before it", "[a] rw=write filename=x bs=64k", ORDER),
    Case("names on two lines are both used", "[a] filename=x filename=y rw=write bs=64k", ORDER, ""),
    Case("more clones than 64", "[a] rw=write numjobs=70 size=64k bs=16k", PER_FILE, ""),
    Case("clones each take files of their own in turn", "[a] rw=write numjobs=2 nrfiles=4 bs=16k", PER_FILE, ""),
    Case("three clones with files that are no whole number of requests", "[a] rw=read numjobs=3 nrfiles=2 bs=64k size=900k", PER_FILE, ""),
    Case("jobs each take files of their own in turn", "[global] nrfiles=2 bs=16k [a] rw=write [b] rw=read", PER_FILE, ""),
    Case("files in turn beside a file of another job", "[a] rw=write filename=x:y bs=16k [b] rw=read filename=z bs=8k", PER_FILE, ""),
    Case("other files in turn in other units", "[a] rw=write nrfiles=2 bs=16k [b] rw=read nrfiles=3 bs=8k size=720k", PER_FILE, ""),
    Case(
        "a region of a file beside a longer one",
        "[a] rw=write filename=x offset=256k size=512k [b] rw=read filename=y size=2m",
        PER_FILE,
        "",
    ),
    Case("clones with files go round", "[a] rw=read numjobs=2 nrfiles=2 bs=16k size=256k io_size=640k", PER_FILE, ""),
    Case("files of a random pass", "[a] rw=randread nrfiles=4 bs=16k", PASS, ""),
    Case("files in random turn", "[a] rw=write nrfiles=4 file_service_type=random", PASS, ""),
    Case("files whose parts are no whole number of requests", "[a] rw=write filename=x:y:z bs=64k", ORDER, ""),
    Case("loops over files", "[a] rw=read nrfiles=4 bs=16k loops=2", ORDER, ""),
    Case("io_size over files", "[a] rw=read nrfiles=4 bs=16k io_size=2m", ORDER, ""),
    Case("size is not more than the files", "[a] rw=read nrfiles=2 filesize=1m size=4m bs=64k", ORDER, ""),
    Case("filesize and nrfiles", "[a] rw=read nrfiles=2 filesize=256k size=512k bs=8k", ORDER, ""),
)

MIXES = (
    Case("a sequential mix has two positions", "[a] rw=rw size=4m", ("operations", "mix", "total")),
    Case("a sequential mix of two sizes", "[a] rw=rw bs=4k,16k size=4m", ("operations", "mix", "sizes")),
    Case("rwmixread of a sequential mix", "[a] rw=readwrite rwmixread=80 size=4m", ("operations", "mix", "total")),
    Case("a sequential mix that goes round until its time is over", "[a] rw=rw size=64k runtime=200ms time_based", ("operations", "mix")),
)

PASSES = (
    Case("randread visits every block once", "[a] rw=randread", PASS),
    Case("randwrite visits every block once", "[a] rw=randwrite bs=8k", PASS),
    Case("every loop visits every block once", "[a] rw=randread size=256k loops=3", PASS),
    Case("randwrite with an offset", "[a] rw=randwrite offset=512k size=256k", PASS),
    Case("a random pass at depth 16", "[a] rw=randread ioengine=libaio iodepth=16", PASS),
    Case("randrw visits every block once, by one operation or the other", "[a] rw=randrw size=4m", ("visits", "mix")),
    Case("allrandrepeat does not change what is visited", "[a] rw=randread allrandrepeat=1 bs=16k", PASS),
    Case("softrandommap does not change what is visited", "[a] rw=randread softrandommap=1 bs=16k", PASS),
    Case("clones of a random pass each visit every block once", "[a] rw=randread numjobs=2 size=512k", PASS),
    Case("a random region that takes no whole number of requests", "[a] rw=randread bs=64k size=1000k", PASS),
    Case("a random pass goes round", "[a] rw=randread size=512k io_size=1m", PASS),
    Case("number_ios beyond the pass", "[a] rw=randread number_ios=600", PASS),
    Case("rwmixread=0 is a pass of writes", "[a] rw=randrw rwmixread=0", PASS),
    Case("reads take the first of three sizes", "[a] rw=randread bs=4k,8k,16k", PASS),
    Case("part of a pass visits no block twice", "[a] rw=randread io_size=512k", ("counts", "once", "reach")),
)

DRAWS = (
    Case("norandommap draws anew", "[a] rw=randread norandommap io_size=8m size=4m", DRAWN),
    Case("norandommap with writes", "[a] rw=randwrite norandommap io_size=8m size=4m", DRAWN),
    Case("norandommap in a region", "[a] rw=randread norandommap io_size=4m offset=1m size=2m filesize=4m", DRAWN),
    Case("number_ios of random requests", "[a] rw=randread norandommap number_ios=1000 size=4m", DRAWN),
    Case("clones of random requests", "[a] rw=randread norandommap numjobs=3 size=4m", DRAWN),
    Case("a mix of half and half", "[a] rw=randrw norandommap io_size=8m size=4m", ("mix", "spread", "total")),
    Case("rwmixread", "[a] rw=randrw rwmixread=70 norandommap io_size=8m size=4m", ("mix", "spread", "total")),
    Case("rwmixwrite", "[a] rw=randrw rwmixwrite=90 norandommap io_size=8m size=4m", ("mix", "spread", "total")),
    Case("bssplit", "[a] rw=randread bssplit=4k/60:8k/30:32k/10 norandommap io_size=16m size=4m", ("sizes", "spread", "reach")),
    Case(
        "bssplit with a blank share",
        "[a] rw=randwrite bssplit=4k/50:8k/:16k/ norandommap io_size=16m size=4m",
        ("sizes", "spread", "reach"),
    ),
    Case("bsrange", "[a] rw=randread bsrange=4k-32k norandommap io_size=32m size=4m", ("sizes", "spread", "reach")),
    Case("bssplit of a pass", "[a] rw=read bssplit=4k/50:16k/50 io_size=16m size=4m", ("sizes",)),
    Case(
        "sizes of reads and writes in a mix",
        "[a] rw=randrw bs=4k,16k norandommap number_ios=2000 io_size=64m size=4m",
        ("mix", "sizes", "spread"),
    ),
    Case(
        "ba aligns to less than the size",
        "[a] rw=randread bs=16k ba=4k norandommap number_ios=2000 io_size=64m size=4m",
        ("spread", "reach", "sizes"),
    ),
    Case(
        "ba aligns to more than the size",
        "[a] rw=randread bs=4k ba=64k norandommap number_ios=2000 io_size=64m size=4m",
        ("spread", "reach", "sizes"),
    ),
    Case(
        "bssplit of reads and of writes",
        "[a] rw=randrw bssplit=4k/80:8k/20,16k/50:32k/50 norandommap io_size=32m size=4m",
        ("mix", "sizes"),
    ),
    Case("bsrange of reads and bs of writes", "[a] rw=randrw bsrange=4k-16k,8k-8k norandommap io_size=16m size=4m", ("mix", "sizes")),
    Case("percentage_random", "[a] rw=randread percentage_random=40 norandommap number_ios=2000 io_size=64m size=4m", ("counts", "runs")),
    Case(
        "a new address after every eighth request",
        "[a] rw=randread:8 norandommap number_ios=2000 io_size=64m size=4m",
        ("counts", "runs of eight"),
    ),
    Case(
        "the same address eight times",
        "[a] rw=randwrite:8 rw_sequencer=identical norandommap number_ios=2000 io_size=64m size=4m",
        ("counts", "eight alike"),
    ),
    Case(
        "bs_is_seq_rand: random requests have the second size",
        "[a] rw=randread bs=4k,16k bs_is_seq_rand=1 percentage_random=40 norandommap number_ios=2000 io_size=64m size=4m",
        ("sizes", "runs"),
    ),
    Case("bs_is_seq_rand: all random", "[a] rw=randread bs=4k,16k bs_is_seq_rand=1 norandommap number_ios=500 io_size=64m size=4m", DRAWN),
    # fio scatters the ranks of zipf and pareto by a hash of the file's path, and several may fall on one block: popularity differs from path to path.
    Case("zipf", "[a] rw=randread random_distribution=zipf:1.2 number_ios=3000 io_size=64m size=4m", ("counts", "aligned")),
    Case(
        "zipf that is flatter",
        "[a] rw=randread random_distribution=zipf:0.8 number_ios=3000 io_size=64m size=4m",
        ("counts", "aligned"),
    ),
    Case("pareto", "[a] rw=randread random_distribution=pareto:0.2 number_ios=3000 io_size=64m size=4m", ("counts", "aligned")),
    Case(
        "normal", "[a] rw=randread random_distribution=normal:10 number_ios=3000 io_size=64m size=4m", ("counts", "popularity", "aligned")
    ),
    Case(
        "zoned",
        "[a] rw=randread random_distribution=zoned:60/10:30/20:10/70 norandommap number_ios=3000 io_size=64m size=4m",
        ("counts", "spread"),
    ),
)

ZONED = (
    Case(
        "zoned_abs",
        "[a] rw=randread random_distribution=zoned_abs:60/512k:30/1m:10/2m norandommap number_ios=3000 io_size=64m size=4m",
        ("counts", "spread"),
    ),
    Case(
        "percentage_random of a mix moves a position of each operation",
        "[a] rw=randrw percentage_random=30 norandommap number_ios=3000 io_size=64m size=4m",
        ("mix", "runs of operations"),
    ),
)

TIMED = (
    Case("rate_iops", "[a] rw=randread rate_iops=500 runtime=400ms time_based", ("rate",)),
    Case("rate in bytes", "[a] rw=randwrite rate=2m bs=4k runtime=400ms time_based", ("rate",)),
    Case("a rate of each operation", "[a] rw=randrw rate_iops=300,150 runtime=600ms time_based norandommap", ("rate", "mix")),
    Case("a rate until the amount is done", "[a] rw=write rate_iops=1000 size=1m", ("order", "lasts")),
    Case("poisson", "[a] rw=randread rate_iops=1000 rate_process=poisson runtime=500ms time_based", ("poisson",)),
    Case("clones have a rate each", "[a] rw=randread numjobs=2 rate_iops=300 runtime=400ms time_based", ("rate",)),
    Case("a rate of writes is the second", "[a] rw=randwrite rate=1m,512k number_ios=32", ("counts", "lasts")),
    Case("thinktime pauses after every request", "[a] rw=randread thinktime=2000 number_ios=100", ("counts", "pauses")),
    Case("thinktime_blocks pauses after so many", "[a] rw=read thinktime=20ms thinktime_blocks=16 size=512k", ("counts", "bursts")),
    Case(
        "thinktime_blocks at depth 4 pauses when all are back",
        "[a] rw=read ioengine=libaio iodepth=4 thinktime=20ms thinktime_blocks=16 thinktime_blocks_type=issue size=512k",
        ("counts", "bursts"),
    ),
    Case(
        "thinktime_iotime pauses after so much time",
        "[a] rw=randread thinktime=60ms thinktime_iotime=40ms runtime=800ms time_based",
        ("stalls",),
    ),
    Case(
        "jobs keep the ratio of their flows",
        "[global] rw=randread runtime=300ms time_based norandommap [a] flow=6 filename=x [b] flow=2 filename=y",
        ("ratio",),
        "",
    ),
    Case(
        "groups of flows know nothing of each other",
        "[global] rw=randread runtime=500ms time_based thinktime=5ms [a] flow=60 flow_id=1 filename=x [b] flow=2 flow_id=2 filename=y",
        ("even",),
        "",
    ),
    Case(
        "jobs end at times of their own",
        "[global] rate_iops=400 rw=randread time_based [a] filename=x runtime=200ms [b] filename=y runtime=600ms",
        ("rate of each file",),
        "",
    ),
    Case(
        "a job that ends by its amount beside one that ends by time",
        "[a] rw=write filename=x size=256k [b] rw=randread filename=y rate_iops=400 runtime=300ms time_based",
        ("rate of each file",),
        "",
    ),
)

#: Time ends them, but what they ask for does not depend on when.
ROUNDS = (
    Case("serialize_overlap", "[a] rw=randwrite ioengine=libaio iodepth=8 serialize_overlap=1 size=256k", PASS),
    Case("time_based goes round", "[a] rw=read size=64k bs=16k runtime=1s time_based", ("beginning", "rounds")),
    Case("a random pass that goes round", "[a] rw=randread size=64k runtime=1s time_based", ("rounds",)),
)

CONTENTS = (
    Case("a pattern is written over and over", "[a] rw=write buffer_pattern=0xdeadbeef", ORDER, same_content=True),
    Case("a pattern in quotes", '[a] rw=randwrite buffer_pattern="plimsoll"', PASS, same_content=True),
    Case("zero_buffers", "[a] rw=write zero_buffers bs=64k", ORDER, same_content=True),
    Case("verify reads everything back", "[a] rw=write verify=md5 size=256k", ORDER),
    Case(
        "a job that reads verifies what another wrote",
        "[a] rw=write verify=md5 do_verify=0 size=256k [b] stonewall rw=read verify=md5 size=256k bs=8k verify_interval=4k",
        ORDER,
    ),
    Case(
        "verify_only reads what would be written",
        "[a] rw=write verify=crc32c do_verify=0 size=256k [b] stonewall rw=write verify=crc32c verify_only size=256k",
        ORDER,
    ),
    Case("do_verify=0 does not", "[a] rw=randwrite verify=crc32c do_verify=0 size=256k", PASS),
)

#: What `make test` compares, once each; `TIMED` is in real time and compared again and again by the long suite.
CASES = (*SEQUENTIAL, *ZONES, *MISSING, *FLUSHES, *GROUPS, *FILES, *MIXES, *PASSES, *DRAWS, *ZONED, *ROUNDS, *CONTENTS)

#: What is known not to be alike, by the comparisons that fail, and part of the remark that says so.
DIFFERENT = (
    (Case("a sequential mix begins anew with both operations", "[a] rw=rw size=256k loops=3", ("operations",)), "begins anew with both"),
    (Case("a backward pass begins with the first block", "[a] rw=read:-8k size=256k", ("order",)), "begins with the first block"),
    (Case("a flush that is due is repeated after reads", "[a] rw=randrw fsync=8", ("flushes",)), "flushes again after each read"),
    (Case("loops each end with a flush", "[a] rw=write bs=64k loops=3 end_fsync=1", ("flushes",)), "at the end of every loop"),
    (Case("a file that is named twice is two", "[a] rw=write bs=64k filename=data", ("order", "set")), "named twice"),
    (Case("random blocks begin at an odd offset", "[a] rw=randread bs=16k offset=20k size=512k", ("aligned",)), "begin at the offset"),
    (Case("several sizes with a map of blocks", "[a] rw=randread bssplit=4k/50:8k/50 size=4m", ("visits",)), "cuts requests short"),
    (
        Case("a normal distribution is scattered", "[a] rw=randread random_distribution=normal:10 size=4m", ("spread",)),
        "scatters the popular blocks",
    ),
    (
        Case("exitall ends those that are not done", "[a] rw=randread exitall runtime=200ms time_based [b] rw=read size=64k", ("total",)),
        "does not end the others",
    ),
)
