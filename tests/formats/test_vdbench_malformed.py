"""Files that make no sense are refused in one sentence that names file and line, whatever is done to them."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.errors import InputError
from plimsoll.formats.vdbench import translate

FOLDER = Path(__file__).parent / "vdbench"

SD = "sd=sd1,lun=/dev/sdb\n"
WD = "wd=wd1,sd=sd1\n"
BOTH = SD + WD
RD = "rd=run1,wd=wd1,iorate=max,elapsed=60,interval=1\n"


FSD = "fsd=fsd1,anchor=/data,depth=1,width=2,files=10,sizes=1m\n"
FWD = "fwd=fwd1,fsd=fsd1,operation=read\n"
FILES = FSD + FWD
FILE_RD = "rd=run1,fwd=fwd1,fwdrate=max,elapsed=60,interval=1\n"


def run(more: str, name: str = "run1") -> str:
    return f"rd={name},wd=wd1,elapsed=60,interval=1,{more}\n"


def fsd(more: str, name: str = "fsd1") -> str:
    return f"fsd={name},depth=1,width=2,files=10,{more}\n"


def fwd(more: str) -> str:
    return f"fwd=fwd1,fsd=fsd1,{more}\n"


def file_run(more: str) -> str:
    return f"rd=run1,fwd=fwd1,elapsed=60,interval=1,{more}\n"


#: The file, the line that is named (None: none is), and a part of the sentence.
MALFORMED = [
    # words and lists
    ('sd=sd1,lun="/dev/sdb\n' + WD + RD, 1, "a quote is opened and not closed"),
    ("sd=sd1,lun=/dev/sdb,\n", None, "there is no RD"),
    ("sd=sd1,lun=/dev/sdb,,threads=4\n" + WD + RD, 1, "a keyword is missing before ',threads=4'"),
    ("sd=sd1,lun=\n" + WD + RD, 1, "has no value; write keyword=value"),
    ("sd=sd1,lun=/dev/sdb,threads\n" + WD + RD, 1, "threads has no value"),
    ("sd=sd1,lun=a=b\n" + WD + RD, 1, "has two equals signs"),
    (SD + "wd=wd1,sd=(sd1\n" + RD, 2, "opens a list and does not close it"),
    (SD + "wd=wd1,sd=(sd1,)\n" + RD, 2, "lacks a value in its list"),
    (SD + "wd=wd1,sd=()\n" + RD, 2, "lacks a value in its list"),
    (SD + "wd=wd1,sd=(sd1)rdpct=50\n" + RD, 2, "follows a value without a comma"),
    ("=sd1\n", 1, "a keyword is missing"),
    (SD + WD + "rd=run1,wd=$workload\n", 3, "'$workload' has no value; give workload=VALUE"),
    ("include=nothing\n" + BOTH + RD, 1, "the file cannot be read"),
    ("include=a,include=b\n" + BOTH + RD, 1, "an include names one file"),
    # keywords and blocks
    ("sd=sd1,lun=/dev/sdb\x00\n" + WD + RD, 1, "has a letter that cannot be printed"),
    ("sdd=sd1\n" + BOTH + RD, 1, "keyword 'sdd' is not known among the general parameters"),
    ("sd=sd1,luns=/dev/sdb\n" + WD + RD, 1, "keyword 'luns' is not known for SDs; did you mean 'lun'?"),
    ("sd=sd1,l=/dev/sdb\n" + WD + RD, 1, "keyword 'l' is not known"),
    ("dedup=2\n" + BOTH + RD, 1, "is short for dedupratio and dedupunit and dedupsets"),
    (SD + "wd=wd1,sd=sd1,elapsed=5\n" + RD, 2, "keyword 'elapsed' is not known for WDs"),
    (SD + "wd=wd1,sd=sd1,rd=50\n" + RD, 2, "RDs are no part of a WD"),
    (WD + SD + RD, 2, "SDs come before WDs; move the line up"),
    (SD + RD + WD, 3, "WDs come before RDs"),
    (SD + "compratio=2\n" + WD + RD, 2, "general parameters come before everything else"),
    (SD + "hd=localhost\n" + WD + RD, 2, "HDs come before SDs"),
    (SD + "fsd=fsd1,anchor=/data\n", 2, "do not stand in one file"),
    ("fsd=fsd1,anchor=/data\nwd=wd1,sd=sd1\n", 2, "do not stand in one file"),
    (SD + SD + WD + RD, 2, "SD 'sd1' is defined in line 1, too"),
    (BOTH + RD + RD, 4, "RD 'run1' is defined in line 3, too"),
    (BOTH + "rd=run1,wd=wd1,wd=wd2,iorate=max\n", 3, "a run names its WDs once; write wd=(wd1,wd2)"),
    (SD + "wd=wd1,sd=sd1\nsd=sd2\n" + RD, 3, "SDs come before WDs; move the line up"),
    (SD + "hd=localhost\nwd=wd1,sd=sd1\n" + RD, 2, "HDs come before SDs; move the line up"),
    (SD + "threads=4\nlunn=x\n" + WD + RD, 3, "keyword 'lunn' is not known"),
    ("sd=(sd1,sd2),lun=/dev/sdb\n" + WD + RD, 1, "one SD is defined in a line"),
    (BOTH, None, "there is no RD"),
    ("", None, "there is no RD"),
    ("eof\n" + BOTH + RD, None, "there is no RD"),
    # values
    ("sd=sd1,lun=/dev/sdb,threads=many\n" + WD + RD, 1, "'many' is not a number"),
    ("sd=sd1,lun=/dev/sdb,threads=0\n" + WD + RD, 1, "0 is no number of threads"),
    ("sd=sd1,lun=/dev/sdb,threads=2.5\n" + WD + RD, 1, "2.5 is no number of threads"),
    ("sd=sd1,lun=/dev/sdb,threads=(1,2)\n" + WD + RD, 1, "threads takes one value, not 2"),
    ("sd=sd1,lun=/dev/sdb,size=10x\n" + WD + RD, 1, "'10x' is not a number"),
    ("sd=sd1,lun=/dev/sdb,size=512\n" + WD + RD, 1, "that is no size"),
    ("sd=sd1,lun=/dev/sdb,size=50%\n" + WD + RD, 1, "that is no size"),
    ("sd=sd1,threads=4\n" + WD + RD, 1, "SD 'sd1' has no lun"),
    ("sd=sd,lun=/dev/sdb,count=5\n" + WD + RD, 1, "a count has a first number and how many"),
    ("sd=sd,lun=/dev/sdb,count=(1,0)\n" + WD + RD, 1, "0 SDs from number 1 on are not to be made"),
    ("sd=sd1,lun=/dev/sdb,offset=100\n" + WD + RD, 1, "an offset is a multiple of 512"),
    ("sd=sd1,lun=/dev/sdb,openflags=fast\n" + WD + RD, 1, "'fast' is not a flag"),
    ("sd=sd1,lun=/dev/sdb,size=1g,range=(20,10)\n" + WD + RD, 1, "a range has a beginning and a larger end"),
    ("sd=sd1,lun=/dev/sdb,size=1g,range=(1g,3g)\n" + WD + RD, 1, "does not lie within the 1073741824 bytes"),
    ("concatenatesds=perhaps\n" + BOTH + RD, 1, "neither yes nor no"),
    ("compratio=0.5\n" + BOTH + RD, 1, "'0.5' is no ratio"),
    ("validate=often\n" + BOTH + RD, 1, "'often' is not known; there are no, yes"),
    ("loop=0\n" + BOTH + RD, 1, "a whole number from 1 to 1000"),
    (SD + "wd=wd1,sd=sd2\n" + RD, 2, "'sd2' names nothing that is defined above; there is sd1"),
    (SD + "wd=wd1,sd=x*\n" + RD, 2, "'x*' names nothing"),
    (SD + "wd=wd1,sd=sd3-sd9\n" + RD, 2, "'sd3-sd9' names nothing"),
    (SD + "wd=wd1\n" + RD, 2, "WD 'wd1' has no sd"),
    (SD + "wd=wd1,sd=(sd1,2)\n" + RD, 2, "numbers and words stand in one list"),
    (SD + "wd=wd1,sd=sd1,rdpct=101\n" + RD, 2, "101 is no percentage"),
    (SD + "wd=wd1,sd=sd1,readpct=101\n" + RD, 2, "101 is no percentage"),
    (SD + "wd=wd1,sd=sd1,writepct=101\n" + RD, 2, "101 is no percentage"),
    (SD + "wd=wd1,sd=sd1,seekpct=sideways\n" + RD, 2, "'sideways' is not a number"),
    (SD + "wd=wd1,sd=sd1,seekpct=-5\n" + RD, 2, "-5 is no percentage; write 0 to 100, random, seq"),
    (SD + "wd=wd1,sd=sd1,seekpct=(poisson,0)\n" + RD, 2, "poisson has one number, its midpoint"),
    (SD + "wd=wd1,sd=sd1,seekpct=(random,seq)\n" + RD, 2, "random and seq cannot both hold"),
    (SD + "wd=wd1,sd=sd1,xfersize=0\n" + RD, 2, "0 is no size of requests"),
    (SD + "wd=wd1,sd=sd1,xfersize=2g\n" + RD, 2, "is no size of requests"),
    (SD + "wd=wd1,sd=sd1,xfersize=(4k,50,8k,40)\n" + RD, 2, "the percentages make 90 and not 100"),
    (SD + "wd=wd1,sd=sd1,xfersize=(4k,50,8k,49.4)\n" + RD, 2, "the percentages make 99.4 and not 100"),
    (SD + "wd=wd1,sd=sd1,xfersize=(4k,50,8k,50.5)\n" + RD, 2, "the percentages make 100.5 and not 100"),
    (SD + "wd=wd1,sd=sd1,hotband=40\n" + RD, 2, "a range has a beginning and a larger end"),
    (SD + "wd=wd1,sd=sd1,xfersize=(4k,8k)\n" + RD, 2, "8192 is no percentage"),
    (SD + "wd=wd1,sd=sd1,xfersize=(4k,64k,3k)\n" + RD, 2, "a range of sizes is (smallest,largest,align)"),
    (SD + "wd=wd1,sd=sd1,xfersize=(4k,50,8k,25,16k)\n" + RD, 2, "5 values are neither sizes with their percentages"),
    (SD + "wd=wd1,sd=sd1,stride=4k\n" + RD, 2, "a stride is (smallest,largest)"),
    (SD + "wd=wd1,sd=sd1,streams=0\n" + RD, 2, "0 is no number of streams"),
    (SD + "wd=wd1,sd=sd1,skew=60\nwd=wd2,sd=sd1,skew=60\nrd=run1,wd=*,iorate=max,elapsed=60,interval=1\n", 3, "make 120 and not 100"),
    (SD + "wd=wd1,sd=sd1,skew=100\nwd=wd2,sd=sd1\nrd=run1,wd=*,iorate=max,elapsed=60,interval=1\n", 2, "WD 'wd2' has none left"),
    (SD + "wd=wd1,sd=sd1,skew=0\n" + RD, 2, "0 is no share"),
    (BOTH + run("iorate=max,xfersize=(4k,50,8k,50)"), 3, "xfersize takes one value, not 4"),
    (BOTH + "rd=run1,iorate=max\n", 3, "RD 'run1' has no wd"),
    (BOTH + "rd=run1,wd=wd9,iorate=max\n", 3, "'wd9' names nothing"),
    (BOTH + "rd=run1,wd=wd1\n", 3, "RD 'run1' has no iorate"),
    (BOTH + run("iorate=fast"), 3, "an iorate is max, curve, a rate"),
    (BOTH + run("iorate=0"), 3, "0 is out of range"),
    (BOTH + run("iorate=(100,curve)"), 3, "numbers and words stand in one list"),
    (BOTH + run("iorate=(100-300,100,max)"), 3, "a series and max stand in one list; write the rates out"),
    (BOTH + run("iorate=(50%,max)"), 3, "percentages are of a maximum before them; write for example (max,50%,80%)"),
    (FILES + file_run("fwdrate=(100,max)"), 3, "numbers and words stand in one list"),
    (BOTH + run("iorate=(100,50%)"), 3, "rates and percentages stand in one list"),
    (BOTH + run("iorate=curve,curve=(0,50)"), 3, "0 is out of range"),
    (BOTH + run("iorate=curve,stopcurve=0"), 3, "that is no response time"),
    (BOTH + run("iorate=100,distribution=normal"), 3, "'normal' is not known; there are exponential, uniform"),
    (BOTH + run("iorate=max,maxdata=0"), 3, "that is no amount of data"),
    (BOTH + run("iorate=max,forthreads=(1-64)"), 3, "does not say how to step"),
    (BOTH + run("iorate=max,forthreads=(1-64,0)"), 3, "a step of 0 never arrives"),
    (BOTH + run("iorate=max,forthreads=(0-64,d)"), 3, "cannot be doubled or halved"),
    (BOTH + run("iorate=max,forthreads=(1-100000,1)"), 3, "more than 1000 values"),
    (BOTH + run("iorate=max,forthreads=(1-100,1),forrdpct=(0-100,1)"), 3, "its loops make more than 1000 rounds"),
    (BOTH + run("iorate=max,forthreads=(1,x)"), 3, "numbers and words stand in one list"),
    (BOTH + run("iorate=max,forrdpct=(50,150)"), 3, "150 is no percentage"),
    (BOTH + run("iorate=max,forxfersize=(4k,2g)"), 3, "is no size of requests"),
    (BOTH + "rd=run1,wd=wd1,iorate=max,elapsed=soon\n", 3, "that is not a time"),
    (BOTH + "rd=run1,wd=wd1,iorate=max,elapsed=5k\n", 3, "that is not a time"),
    (BOTH + "rd=run1,wd=wd1,iorate=max,elapsed=0\n", 3, "elapsed lasts from 1 second to 1000 days"),
    (BOTH + "rd=run1,wd=wd1,iorate=max,elapsed=60,interval=0\n", 3, "interval lasts from 1 second"),
    (BOTH + "rd=run1,wd=wd1,iorate=max,elapsed=10,interval=10\n", 3, "10 s hold no interval of 10 s after the first"),
    (BOTH + "rd=run1,wd=wd1,iorate=max,elapsed=9999999h\n", 3, "elapsed lasts from 1 second to 1000 days"),
    ("fsd=fsd1,anchor=/data,depth=deep\nfwd=fwd1,fsd=fsd1\nrd=run1,fwd=fwd1,fwdrate=max,format=yes\n", 1, "'deep' is not a number"),
    ("fsd=fsd1,anchor=/data\nfwd=fwd1,fsd=fsd2\nrd=run1,fwd=fwd1,fwdrate=max\n", 2, "'fsd2' names nothing"),
    ("fsd=fsd1,anchor=/data\nfwd=fwd1,fsd=fsd*\nrd=run1,fwd=fwd2,fwdrate=max\n", 3, "'fwd2' names nothing"),
    ("fsd=fsd1,anchor=/data,shared=perhaps\nfwd=fwd1,fsd=fsd1\nrd=run1,fwd=fwd1,fwdrate=max,format=yes\n", 1, "neither yes nor no"),
    # file systems
    ("fsd=fsd1,depth=1,width=1,files=1,sizes=4k\n" + FWD + FILE_RD, 1, "FSD 'fsd1' has no anchor; write for example anchor=/data/tree"),
    ("fsd=fsd1,anchor=/data,depth=0,width=1,files=1,sizes=4k\n" + FWD + FILE_RD, 1, "0 is no depth of a tree; write a whole number from 1"),
    ("fsd=fsd1,anchor=/data,depth=1,width=1.5,files=1,sizes=4k\n" + FWD + FILE_RD, 1, "1.5 is no width of a tree"),
    ("fsd=fsd1,anchor=/data,depth=1,width=1,files=0,sizes=4k\n" + FWD + FILE_RD, 1, "0 is no files of a tree"),
    ("fsd=fsd1,anchor=/data,depth=30,width=30,files=9,sizes=4k\n" + FWD + FILE_RD, 1, "has more than 67108864 directories"),
    ("fsd=fsd1,anchor=/data,depth=1,width=100,files=10000000,sizes=4k\n" + FWD + FILE_RD, 1, "and 134217728 files"),
    (fsd("anchor=/data,sizes=0") + FWD + FILE_RD, 1, "0 is no size of a file"),
    (fsd("anchor=/data,sizes=10%") + FWD + FILE_RD, 1, "10% is no size of a file"),
    (fsd("anchor=/data,sizes=(4k,50,8k)") + FWD + FILE_RD, 1, "3 values are no sizes with their percentages"),
    (fsd("anchor=/data,sizes=(4k,50,8k,40)") + FWD + FILE_RD, 1, "the percentages make 90 and not 100"),
    (fsd("anchor=/data,sizes=4k,distribution=top") + FWD + FILE_RD, 1, "'top' is not known; there are bottom and all"),
    (fsd("anchor=/data,sizes=4k,totalsize=50%") + FWD + FILE_RD, 1, "a percentage is no totalsize of an FSD"),
    (fsd("anchor=/data,sizes=4k,totalsize=81k") + FWD + FILE_RD, 1, "the totalsize is more than the 81920 bytes of the files"),
    (fsd("anchor=/data,sizes=4k,totalsize=40k,wss=44k") + FWD + FILE_RD, 1, "the workingsetsize is more than the 40960 bytes of the files"),
    (FSD + FWD + file_run("fwdrate=max,forwss=(1m,30m)"), 3, "the workingsetsize is more than the 20971520 bytes"),
    (fsd("anchor=/data,sizes=4k,wss=-1") + FWD + FILE_RD, 1, "a percentage is no workingsetsize of an FSD"),
    (fsd("anchor=/data,sizes=4k,count=(1,0)", "fsd") + FWD + FILE_RD, 1, "0 FSDs from number 1 on are not to be made"),
    (fsd("anchor=/data,sizes=4k,openflags=fast") + FWD + FILE_RD, 1, "'fast' is not a flag; there are o_direct, directio, o_sync"),
    (
        fsd("anchor=/data,sizes=4k") + fsd("anchor=/data/x,sizes=4k", "fsd2") + "fwd=fwd1,fsd=*,operation=read\n" + FILE_RD,
        2,
        "/data/x and /data, the anchor of FSD 'fsd1', lie in each other",
    ),
    (
        fsd("anchor=/data,sizes=4k") + fsd("anchor=/data/,sizes=8k", "fsd2") + "fwd=fwd1,fsd=*,operation=read\n" + FILE_RD,
        2,
        "FSD 'fsd1' has the same anchor with another sizes",
    ),
    (FSD + "fwd=fwd1,operation=read\n" + FILE_RD, 2, "FWD 'fwd1' has no fsd; write fsd=NAME"),
    (FSD + fwd("operation=rename") + FILE_RD, 2, "'rename' is no operation; there are read, write, create"),
    (FSD + fwd("operation=(read,write)") + FILE_RD, 2, "operations takes one value, not 2"),
    (FSD + fwd("fileio=random,rdpct=101") + FILE_RD, 2, "101 is no percentage"),
    (
        FSD + fwd("operation=read,rdpct=70,fileio=sequential") + FILE_RD,
        2,
        "Vdbench takes no rdpct with sequential access; write fileio=random",
    ),
    (FSD + fwd("operation=getattr,readpct=70") + FILE_RD, 2, "Vdbench takes no rdpct with sequential access; write fileio=random"),
    (FSD + fwd("operation=read,xfersize=(4k,50,8k,49.5)") + FILE_RD, 2, "the percentages make 99.5 and not 100"),
    (FSD + fwd("operation=read,fileio=backward") + FILE_RD, 2, "'backward' is not known; there are random, (random,shared)"),
    (FSD + fwd("operation=read,fileio=(random,delete)") + FILE_RD, 2, "'delete' does not go with random"),
    (FSD + fwd("operation=read,fileio=(seq,shared)") + FILE_RD, 2, "'shared' does not go with sequential"),
    (FSD + fwd("operation=read,fileselect=any") + FILE_RD, 2, "'any' is not known; there are random, seq, seqnz, once"),
    (FSD + fwd("operation=read,fileselect=(poisson,0)") + FILE_RD, 2, "poisson has one number, its midpoint"),
    (FSD + fwd("operation=read,stopafter=0") + FILE_RD, 2, "0 is no number of requests"),
    (
        FSD + fwd("operation=read,xfersize=(4k,64k,4k)") + FILE_RD,
        2,
        "3 values are no sizes with their percentages; write for example (4k,60",
    ),
    (FSD + fwd("operation=read,threads=0") + FILE_RD, 2, "0 is no number of threads; write a whole number from 1"),
    (FSD + fwd("operation=copy,target=fsd9") + FILE_RD, 2, "'fsd9' names nothing that is defined above; there is fsd1"),
    (FSD + fwd("operation=copy,target=fsd1") + FILE_RD, 2, "copy and move go to one other FSD"),
    (
        "fwd_thread_adjust=no\n" + FSD + fwd("operation=read,threads=3") + FILE_RD[:-1] + ",operations=(read,access)\n",
        3,
        "3 do not divide by 2 FSDs",
    ),
    (FILES + "rd=run1,fwdrate=max\n", 3, "RD 'run1' has no fwd; write fwd=NAME"),
    (FILES + "rd=run1,fwd=format,fwdrate=max\n", 3, "'format' names nothing that is defined above"),
    (FILES + "rd=run1,fwd=fwd1\n", 3, "RD 'run1' has no fwdrate; write fwdrate=max"),
    (FILES + file_run("fwdrate=fast"), 3, "a fwdrate is max, curve, a rate"),
    (FILES + file_run("fwdrate=0.0001"), 3, "the share of fwd1 is less than 0.001 per second"),
    (FILES + file_run("fwdrate=max,format=perhaps"), 3, "'perhaps' is not known; there are yes, no, restart"),
    (FILES + file_run("fwdrate=max,format=limited"), 3, "limited goes with only"),
    (FILES + file_run("fwdrate=max,format=(no,yes)"), 3, "no and yes cannot both hold"),
    (FILES + file_run("fwdrate=max,operations=fly"), 3, "'fly' is no operation"),
    (FILES + file_run("fwdrate=max,operations=read,foroperations=write"), 3, "'foroperations=write' says the same thing otherwise"),
    (FILES + file_run("fwdrate=max,fordepth=(1,0)"), 3, "0 is no depth of a tree"),
    (FILES + file_run("fwdrate=max,forsizes=(4k,0)"), 3, "0 is no size of a file; write bytes"),
    ("* comment\n\n" + BOTH + "\n* comment\n" + run("iorate=fast"), 7, "an iorate is max"),
    ("sd=sd1,\n  lun=/dev/sdb,\n  threads=x\n" + WD + RD, 3, "'x' is not a number"),
]


def missing(name: str) -> str:
    raise FileNotFoundError(2, "No such file or directory", name)


@pytest.mark.parametrize(("text", "line", "part"), MALFORMED, ids=lambda value: str(value)[:40] if isinstance(value, str) else "")
def test_a_mistake_is_told_in_one_sentence_with_its_line(text: str, line: int | None, part: str) -> None:
    with pytest.raises(InputError) as caught:
        translate(text, "job.vdb", missing, {})
    sentence = str(caught.value)
    assert sentence.startswith("job.vdb: " if line is None else f"job.vdb:{line}: "), sentence
    assert part in sentence
    assert "\n" not in sentence and sentence.endswith((".", "?"))


def test_there_are_many_kinds_of_mistakes() -> None:
    assert len(MALFORMED) >= 50 and len({part for _, _, part in MALFORMED}) >= 50
