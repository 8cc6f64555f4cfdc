"""Wrong input, command by command: one sentence that says what would be right, exit code 2, no traceback."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.cli import VERBS
from support.said import Plimsoll

#: What is typed, and a part of the answer that must not be missing.
WRONG = [
    (["rum"], "there is no command 'rum'; did you mean 'run'?"),
    (["frobnicate"], "there is no command 'frobnicate'; 'plimsoll help' lists all."),
    (["--colour"], "there is no option '--colour'"),
    (["run"], "missing argument 'WORKLOAD...'"),
    (["run", "oltp-bd"], "workload 'oltp-bd' is unknown; did you mean 'oltp-db'?"),
    (["run", "proliannt"], "did you mean 'proliant'?"),
    (["run", "qqqqqqqq"], "'plimsoll list' shows all names and tags"),
    (["run", "missing.toml"], "missing.toml: there is no such workload file"),
    (["run", "broken.toml"], "broken.toml: not TOML: "),
    (["run", "binary.toml"], "binary.toml: not UTF-8 text"),
    (["run", "empty.toml"], "empty.toml"),
    (["run", "typo.toml"], "did you mean 'block_size'?"),
    (["run", "directory.toml"], "directory.toml"),
    (["run", "small.toml", "--set", "queue_depth"], "--set queue_depth: not a setting; write KEY=VALUE"),
    (["run", "small.toml", "--set", "=4"], "write KEY=VALUE"),
    (["run", "small.toml", "--set", "queue_depth="], "write KEY=VALUE"),
    (["run", "small.toml", "--set", "quue_depth=4"], "did you mean 'queue_depth'?"),
    (["run", "small.toml", "--set", "log.queue_depth=4"], "no stream is called 'log'"),
    (["run", "small.toml", "--set", "block_size=4x"], "4x"),
    (["run", "small.toml", "--duration", "soon"], "soon"),
    (["run", "small.toml", "--warmup", "-1"], "warmup"),
    (["run", "small.toml", "--size", "big"], "big"),
    (["run", "small.toml", "--repeat", "0"], "--repeat"),
    (["run", "small.toml", "--repeat", "many"], "--repeat"),
    (["run", "small.toml", "--target"], "--target"),
    (["run", "small.toml", "--durration", "3"], "did you mean '--duration'?"),
    (
        ["import", "a.fio", "--hosts", "local:3"],
        "'plimsoll import' takes no --hosts: it works on this host alone; run, suite, check, replay, ramp,",
    ),
    (["watch", "sda", "--hosts", "local:3"], "takes no --hosts: it reads the counters of this host's own devices; start it on each host;"),
    (
        ["compare", "a", "b", "--hosts", "local:3"],
        "takes no --hosts: it reads what is stored, in which each host's own results are the runs",
    ),
    (
        ["size", "--share", "full"],
        "'plimsoll size' takes no --share: it works arrays out in a moment; matrix, suite, fit and reproduce run",
    ),
    (["list", "--tag", "nothing"], "no workload has the tag 'nothing'; there are "),
    (["list", "surplus"], "surplus"),
    (["list", "--tag", "report-003"], "no workload has the tag 'report-003', but arrays have: 'plimsoll list --arrays --tag report-003'."),
    (["show"], "missing argument 'NAME'"),
    (["show", "nvme"], "'nvme' is an array; write 'plimsoll show array:nvme'."),
    (["show", "absent.toml"], "'absent.toml' is an array; write 'plimsoll show array:absent.toml'."),
    (["show", "array:./lists.toml"], "./lists.toml: devices: write a list of tables, each below [[devices]]."),
    (["show", "array:./model.toml"], "./model.toml: devices[0].model: write a table, for example model = { part = "),
    (["show", "array:./unnamed.toml"], "./unnamed.toml: devices[0]: the table has no name; write for example name ="),
    (["show", "array:./sources.toml"], "./sources.toml: devices[0].model.sources: write a table."),
    (["show", "array:./copies.toml"], "./copies.toml: copies: write a whole number above 0."),
    (["show", "array:./absent.toml"], "devices.nmve: there is nothing of this name to leave out; there are nvme."),
    (["show", "array:./infinite.toml"], "./infinite.toml: link[0].rate_bytes_per_s: inf is no number that counts something"),
    (["show", "array:./part.toml"], "devices.nvme.model.part: ././sources.toml: devices[0].model.sources: write a table."),
    (["show", "array:./binary.toml"], "./binary.toml: not UTF-8 text at line 1, so not the file of an array."),
    (["show", "array:nvme?host.cores=nan"], "host.cores: nan is no number that counts something; write a finite one."),
    (["show", "array:msa2000-raid5?fail=3@10s,vd0.3@10s"], "`fail=vd0.3@10s`: member 3 of group `vd0` fails at this time already;"),
    (["show", "array:msa2000-raid5?replace=3@10s"], "group.vd0.failures: key 'replaced_at': member 3 does not fail; let it fail before,"),
    (
        ["show", "array:msa2000-raid5?fail=3@10s&replace=3@5s"],
        "key 'replaced_at': member 3 has not failed at 5 s; give a time after its failure",
    ),
    (["show", "array:msa2000-raid5?fail=3@10s&replace=12@20s"], "group.vd0.failures: key 'member': 12 is no member; give 0 to 11"),
    (["show", "array:./twice.toml"], "./twice.toml: link[1]: another is called 'pcie' already; give each of [[link]] a name of its own."),
    (["run", "small.toml", "-t", "array:nvme", "--keep"], "--keep has no effect on array:nvme: nothing of a modelled array is kept"),
    (["show", "oltp-bd"], "did you mean 'oltp-db'?"),
    (["show", "proliant"], "'proliant' is a tag of 12 workloads; name one of "),
    (["show", "small.toml", "--set", "x=1"], "'x'"),
    (["report"], "missing argument 'RUN...'"),
    (["report", "yesterday"], "there is no run in 'results' yet"),
    (["report", ".", "--out", "elsewhere"], "there is no run in 'elsewhere' yet"),
    (["export", "yesterday", "--as", "fio-json"], "there is no run in 'results' yet"),
    (["export", "yesterday"], "the form is missing; say it with --as fio-json"),
    (["export", "yesterday", "--as", "fio"], "'fio' is not one of 'fio-json'"),
    (["import"], "missing argument 'FILE...'"),
    (["translate"], "missing argument 'FILE | TOOL WORD...'"),
    (["translate", "nothing.fio"], "'nothing.fio' is neither a file nor one of fio"),
    (["fit"], "missing argument 'TRACE|DEMAND|array:NAME'"),
    (["fit", "array:dl580-local"], "--measured: say what to compare the array with"),
    (["fit", "nothing.csv"], "nothing.csv"),
    (
        ["fit", "array:nvme", "--measured", "semicolons.csv", "--unknown", "host.request_ns=1..9", "--hold-out", "size"],
        "semicolons.csv:1: the columns are not separated by commas; write for example",
    ),
    (["replay"], "missing argument 'TRACE'"),
    (["replay", "nothing.csv"], "nothing.csv: cannot be read (no such file or directory); give a trace"),
    (["replay", "."], ".: a directory; give the trace in it"),
    (["replay", "small.toml"], "small.toml:1: its format is not recognised; name it with --format, one of iolog"),
    (["replay", "small.toml", "--format", "fio"], "'fio' is not one of 'iolog'"),
    (["replay", "small.toml", "--map", "fold"], "'fold' is not one of 'refuse', 'wrap', 'scale', 'squeeze'"),
    (["replay", "small.toml", "--speed", "fast"], "--speed fast: not a speed; write how many times as fast"),
    (["replay", "small.toml", "--speed", "0"], "--speed 0: not a speed"),
    (["replay", "small.toml", "--speed", "2x", "--as-fast-as-possible"], "--speed 2x has no effect with --as-fast-as-possible"),
    (["replay", "small.toml", "--limit", "some"], "--limit some: neither a number of requests nor a time; write for example 100000"),
    (["replay", "small.toml", "--limit", "0"], "--limit 0: neither a number of requests nor a time"),
    (["replay", "small.toml", "--lateness", "no/late.csv"], "--lateness no/late.csv: not a file in a directory that exists"),
    (["replay", "small.toml", "-t", "null:", "-t", "queue:", "--lateness", "l.csv"], "--lateness: several targets would write one file"),
    (["replay", "small.toml", "--convert", "no/x.trace"], "--convert no/x.trace: there is no such directory"),
    (["replay", "small.toml", "--convert", "small.toml"], "--convert small.toml: this is what the command reads"),
    (["import", "missing.json"], "missing.json: cannot be read (no such file or directory)"),
    (["import", "typo.toml"], "typo.toml: not recognised as a result of any tool; say which with --as fio-json"),
    (["import", "typo.toml", "--as", "fio-logs"], "typo.toml: not the name of a log of fio's"),
    (["runs", "extra"], "extra"),
    (["list", "--runs", "--tag", "x"], "--runs: stored runs are a list of their own"),
    (["list", "--out", "x"], "add --runs to list the stored runs"),
    (["doctor", "--seconds", "2"], "add --calibrate, or leave it out"),
    (["doctor", "--calibrate", "-t", "x"], "is measured without storage; leave --target out"),
    (["completion", "tcsh"], "'tcsh' is not one of 'bash', 'zsh', 'fish'"),
    (
        ["size", "--iops", "5", "--read-percent", "100", "--block-size", "4k", "--dry-run"],
        "--dry-run is for measuring; add --measure, or leave it out",
    ),
    (["forget", "nosuch", "--yes"], "'nosuch' is not a run"),
    (["layout", "show", "nosuch"], "there is no layout 'nosuch'; 'plimsoll layout list' shows all"),
    (["help", "steps-of-load"], "there is no command 'steps-of-load' to explain"),
    (["check", "null:", "--objective", "p98 <= 5ms"], "'p98' is not a metric"),
    (["check", "null:", "--set", "queue_depth=4"], "there is no option '--set'"),
    (["ramp", "small.toml", "--objective", "p99 <= 5ms", "--repeats-max", "2"], "add --settle, or leave it out"),
    (["ramp", "small.toml", "--objective", "p99 <= 5ms", "--settle", "--growth", "3x"], "--growth: with --settle the load doubles"),
    (["run", "fio"], "'fio' is no workload; write the command line of fio behind it, for example 'plimsoll run fio --name=x"),
    (["run", "fio", "--name=x", "--over", "queue_depth=1,2"], "fio"),
    (["run", "--over", "queue_depth=1,2", "fio", "--name=x"], "--over has no effect on the fio command line"),
    (["doctor", "--targe", "x"], "did you mean '--target'?"),
    (["calibrate", "--seconds", "0"], "--seconds"),
    (["calibrate", "--seconds", "long"], "--seconds"),
    (["run", "small.toml", "--cache", "frozen"], "'frozen' is not one of 'cold', 'warm', 'as found'"),
    (["run", "small.toml", "--precision", "2"], "--precision: '2' is not a precision; write for example '2%'"),
    (["run", "small.toml", "--precision", "2% of write p99"], "is about write, which small never does"),
    (["run", "small.toml", "--precision", "2%", "-s", "requests=5"], "small ends by itself once its amount is done"),
    (["run", "small.toml", "--assert"], "there is no objective that could hold; give one"),
    (["run", "small.toml", "--objective", "mean <= 20"], "'20' has no unit"),
    (["run", "small.toml", "--objective", "write mean <= 20ms"], "no stream of small writes; name read"),
    (["run", "suite.toml"], "suite.toml is a file of experiments, not a workload; carry it out with 'plimsoll suite suite.toml'"),
    (["steps"], "missing argument 'WORKLOAD...'"),
    (["steps", "small.toml", "--over", "queue_depth"], "--over queue_depth: not an axis; write NAME=LEVELS"),
    (["steps", "small.toml", "--over", "queue_depht=1,2"], "did you mean 'queue_depth'?"),
    (["steps", "small.toml", "--over", "queue_depth=1.."], "'1..' is not a range"),
    (["steps", "small.toml", "--over", "queue_depth=4..1"], "'4..1' does not rise"),
    (["steps", "small.toml", "--over", "queue_depth=0,1"], "so there is nothing to measure"),
    (["steps", "small.toml", "--over", "queue_depth=1,70000"], "70000 is out of range"),
    (
        ["steps", "small.toml", "--over", "queue_depth=1", "--over", "threads=1"],
        "--over: 'plimsoll run --over' varies one option, not 2; write for example --over queue_depth=1..64.",
    ),
    (["steps", "small.toml", "--over", "queue_depth=1", "--over", "queue_depth=2"], "--over queue_depth is given twice"),
    (["steps", "small.toml", "--over", "log.queue_depth=1,2"], "no stream is called 'log'"),
    (["steps", "small.toml", "-s", "target=x"], "'target' is no setting; give it with --target"),
    (["steps", "small.toml", "-t", "null:", "-t", "null:"], "--target null: is given twice"),
    (["steps", "small.toml", "-s", "arrival=poisson"], "needs a rate"),
    (["steps", "small.toml", "--precision", "2% of max"], "a maximum has no confidence interval"),
    (["steps", "small.toml", "--assert"], "there is no objective that could hold"),
    (["steps", "small.toml", "--report", "x.pdf"], "reports end in .html, .csv, .parquet, .json, .md or .xml"),
    (["matrix", "small.toml"], "write one of --over and --grid, for example --over region_length=1GiB,4GiB --over block_size=4k,8k,64k"),
    (["matrix", "small.toml", "--over", "queue_depth=1", "--disks", "4"], "plimsoll: --disks has no effect without --grid; leave it out."),
    (["steps", "small.toml", "--over", "block_size=4k"], "as the levels of 'plimsoll run --over' are; 'plimsoll matrix' takes any value"),
    (["steps", "small.toml", "--precision", "x"], "plimsoll: --precision: 'x' is not a precision"),
    (
        ["steady", "small.toml", "--metric", "foo"],
        "'foo' is not a metric; write one of mean, p50, p90, p95, p99, p99.9, max, iops or bandwidth.",
    ),
    (["search", "small.toml", "--objective", "p98 <= 5ms"], "plimsoll: --objective: objective 'p98 <= 5ms': 'p98' is not a metric"),
    (["matrix", "small.toml", "--grid", "bsic"], "did you mean 'basic'?"),
    (["matrix", "small.toml", "--grid", "basic"], "no stream is called 'small'"),
    (
        ["ramp", "small.toml"],
        "'plimsoll ramp' needs --objective; write for example --objective 'read mean <= 20ms and write mean <= 20ms'.",
    ),
    (["ramp", "order-entry"], "'plimsoll ramp' needs --objective; write for example --objective 'p90 of new-order <= 500ms'."),
    (["ramp", "decision-support"], "write for example --objective 'p95 <= 60s'."),
    (["ramp", "mail-light"], "write for example --objective 'score <= 1s'."),
    (
        ["ramp", "file-copy", "--objective", "p99 <= 5s"],
        "no option raises the load of file-copy; name what to vary with --over NAME=LEVELS.",
    ),
    (["ramp", "small.toml", "--objective", "p98 <= 5ms"], "'p98' is not a metric"),
    (["ramp", "small.toml", "--objective", "write p99 <= 5ms"], "no stream of small writes"),
    (["ramp", "small.toml", "--objective", "achieved >= 97%"], "compares with the offered rate"),
    (["ramp", "small.toml", "--objective", "p99 <= 5ms", "--resolution", "0"], "'0' is not a resolution"),
    (["ramp", "small.toml", "--objective", "p99 <= 5ms", "--growth", "1x"], "'1x' is not a growth"),
    (["search", "small.toml", "--objective", "p99 <= 5ms", "--repeats-max", "0"], "--repeats-max"),
    (["curve", "small.toml", "--percent", "0"], "0 is not a percentage of the maximum"),
    (["curve", "small.toml", "--arrival", "burst"], "'burst' is not known"),
    (["curve", "small.toml", "--maximum", "lots"], "'lots' is not a rate"),
    (["curve", "small.toml", "-s", "arrival=poisson", "-s", "rate=5"], "the maximum is looked for in a closed loop"),
    (["scale", "small.toml", "--iterations", "2", "--repeat", "2"], "--iterations and --repeat are the same"),
    (["steady", "small.toml", "--metric", "write iops"], "metric 'write iops' is about write, which small never does"),
    (["steady", "small.toml", "--window", "1"], "--window"),
    (["suite", "four-cornerz"], "did you mean 'four-corners'?"),
    (["suite", "random-read-4k"], "'random-read-4k' is a workload, not a suite; measure it with 'plimsoll run random-read-4k'"),
    (["suite", "missing.toml"], "missing.toml: there is no such file of experiments"),
    (["suite", "small.toml"], "small.toml is a workload, not a suite"),
    (["suite", "suite.toml"], "suite.toml: experiment 'a': key 'kind': 'stepps' is not known; did you mean 'steps'?"),
    (["suite", "published.toml"], "published figures 'se6290' is unknown; did you mean 'se6920'?"),
    (["suite", "four-corners", "--precision", "x"], "--precision: 'x' is not a precision"),
    (["suite", "four-corners", "-s", "quue_depth=1"], "'quue_depth'"),
    (["suite", "four-corners", "--assert"], "there is no objective that could hold"),
    (["compare"], "missing argument 'RUN...'"),
    (["compare", "yesterday"], "there is no run in 'results' yet"),
    (["compare", "a", "-o", "x.pdf"], "reports end in .html, .csv, .parquet, .json, .md or .xml"),
    (["choose"], "--demand: nothing is demanded; give a file"),
    (["choose", "--demand", "oltp-db@5k"], "--among: say what could be bought, for example --among"),
    (["choose", "--demand", "oltp-db", "--among", "nvme"], "so it demands no rate; give one: oltp-db@5k."),
    (["choose", "--demand", "missing.json", "--among", "nvme"], "missing.json: cannot be read (no such file or directory)"),
    (["choose", "--demand", "oltp-bd@5k", "--among", "nvme"], "workload 'oltp-bd' is unknown; did you mean 'oltp-db'?"),
    (["choose", "--demand", "oltp-db@fast", "--among", "nvme"], "fast"),
    (["choose", "--demand", "oltp-db@5k", "--among", "nvmee"], "did you mean 'nvme'?"),
    (["choose", "--demand", "oltp-db@5k", "--among", "nvme-raid10?drives=few"], "drives: 'few' is no number of drives"),
    (["choose", "--demand", "oltp-db@5k", "--among", "nvme", "--objective", "p98 <= 5ms"], "'p98' is not a metric"),
    (["choose", "--demand", "oltp-db@5k", "--among", "nvme", "--capacity", "much"], "much"),
    (["choose", "--demand", "oltp-db@5k", "--among", "nvme", "--survive", "9"], "--survive"),
    (["choose", "--demand", "oltp-db@5k", "--among", "nvme", "--budget", "0"], "--budget: '0' is not an amount; write a number above 0"),
    (["choose", "--demand", "oltp-db@5k", "--among", "nvme", "--prices", "missing.toml"], "missing.toml"),
    (["choose", "--demand", "oltp-db@5k", "--among", "nvme", "--prices", "typo.toml"], "is no kind of part"),
    (
        ["choose", "--demand", "oltp-db@5k", "--among", "nvme", "--cap", "oltp-db=1k"],
        "--cap: a cap keeps one demand from disturbing another",
    ),
    (["choose", "--demand", "oltp-db@5k", "--among", "nvme", "--device", "sda"], "--device is for what 'plimsoll watch' kept"),
    (["choose", "--demand", "oltp-db@5k", "--among", "nvme", "--percentile", "9"], "--percentile is for what 'plimsoll watch' kept"),
    (
        ["choose", "--demand", "oltp-db@5k", "--among", "nvme", "--random-percent", "9"],
        "--random-percent is for what 'plimsoll watch' kept",
    ),
    (["choose", "--demand", "oltp-db@5k", "--among", "nvme", "--growth", "much"], "much"),
    (["choose", "--demand", "oltp-db@5k", "--among", "nvme", "--finalists", "0"], "--finalists"),
    (["choose", "--demand", "oltp-db@5k", "--among", "nvme", "--seed", "x"], "--seed"),
    (["choose", "--demand", "oltp-db@5k", "--among", "nvme", "--jobs", "0"], "--jobs"),
    (["size", "--iops", "many"], "many"),
    (["serve", "results"], "got unexpected extra argument (results)"),
    (["serve", "--address", "nowhere.invalid"], "nowhere.invalid"),
    (["watch"], "missing argument"),
    (["journal", "j"], "missing option '--listen'"),
    (["journal", "j", "--listen", "here"], "--listen 'here' is no address; write HOST:PORT"),
    (["journal", "j", "--listen", "127.0.0.1:99999"], "is no address; write HOST:PORT"),
    (["journal", "j", "--listen", "192.0.2.1:0"], "--listen 192.0.2.1:0: cannot listen there"),
    (["journal", "no/where/j", "--listen", "127.0.0.1:0"], "no/where/j: cannot be made"),
    (["serve-array"], "missing argument 'array:NAME'"),
    (["serve-array", "nvme", "--port", "0"], "'nvme' is not a modelled array; write array: and a name"),
    (["serve-array", "array:nvmee", "--port", "0"], "did you mean 'nvme'?"),
    (["serve-array", "array:nvme"], "nothing says where to serve; write --socket PATH, --port N, --mount DIR"),
    (["serve-array", "array:nvme", "--port", "70000"], "70000 is not in the range"),
    (["serve-array", "array:nvme", "--address", "::1"], "--address ::1 has no effect without --port"),
    (["serve-array", "array:nvme", "--port", "0", "--address", "0.0.0.0"], "--address 0.0.0.0: not a loopback address"),
    (["serve-array", "array:nvme", "--socket", "no/s"], "--socket no/s: there is no directory 'no'"),
    (["serve-array", "array:nvme", "--socket", "small.toml"], "--socket small.toml: a file of this name exists"),
    (["serve-array", "array:nvme", "--port", "0", "--duration", "soon"], "--duration: "),
    (
        ["serve-array", "array:nvme", "--port", "0", "--data", "derived", "--memory", "1GiB"],
        "--memory 1GiB has no effect with --data derived",
    ),
    (["serve-array", "array:nvme", "--port", "0", "--memory", "lots"], "--memory: "),
    (["list", "--suites", "--tag", "x"], "suites have no tags"),
    (["show", "four-corners", "--set", "a=1"], "--set changes what is measured"),
    (["reproduce", "009"], "report '009' is unknown; there are 000 (hp-sas), 001 (proliant), 002 (msa2040), 003 (msa2000), 004 (se6920)."),
    (["reproduce", "--claim", "61"], "--claim 61: there is no such claim; there are 1 to 60."),
    (["reproduce", "003", "--claim", "30-36"], "--claim 30-36: there is no such claim; there are 33 to 41."),
    (["reproduce", "--claim", "first"], "--claim first: 'first' is no number; write for example 36, 36-38 or 36,41."),
    (["reproduce", "--jobs", "0"], "0 is not in the range"),
    (["reproduce", "--json", "--markdown"], "--json and --markdown: each asks for another form"),
    (
        ["send", "latest", "--to", "gopher://x"],
        "it begins with none of https://, http://, sftp://, scp://, ftps://, ftp://, smtps://, smtp:// or file:",
    ),
    (["receive", "/nowhere"], "/nowhere is not there; name files that were sent, or the directory they lie in."),
    (["receive", ".", "--receive-max", "x"], "--receive-max: 'x' is not a size; write for example 4KiB, 64k or 1GiB."),
    (["hosts", "check", "--hosts", "local:0"], "--hosts "),
    (["run", "random-read-4k", "--hosts", "", "--target", "null:"], "--hosts '': no host is named; write "),
]


@pytest.fixture
def wrong_files(here: Path) -> None:
    (here / "broken.toml").write_text("title = \n")
    (here / "binary.toml").write_bytes(b"\xff\xfe\x00")
    (here / "empty.toml").write_text("")
    like = 'like = "nvme"\n'
    drive = '[[devices]]\nname = "nvme"\n'
    (here / "semicolons.csv").write_text("size;iops\n8G;500\n")
    (here / "lists.toml").write_text(f"{like}devices = 3\n")
    (here / "model.toml").write_text(f"{like}{drive}model = 5\n")
    (here / "unnamed.toml").write_text(f"{like}[[devices]]\ncount = 2\n")
    (here / "sources.toml").write_text(f"{like}{drive}model = {{ sources = 3 }}\n")
    (here / "copies.toml").write_text(f'{like}copies = "two"\n')
    (here / "absent.toml").write_text(f'{like}[[devices]]\nname = "nmve"\nabsent = true\n')
    (here / "infinite.toml").write_text(f'{like}[[link]]\nname = "pcie"\nrate_bytes_per_s = inf\n')
    (here / "twice.toml").write_text(f'{like}[[link]]\nname = "pcie"\n[[link]]\nname = "pcie"\n')
    (here / "part.toml").write_text(f'{like}{drive}model = {{ part = "./sources.toml" }}\n')
    (here / "typo.toml").write_text('[[stream]]\nblok_size = "4KiB"\n')
    (here / "directory.toml").mkdir()
    (here / "suite.toml").write_text('[[experiment]]\nname = "a"\nkind = "stepps"\nworkloads = ["small.toml"]\n')
    (here / "published.toml").write_text(
        'published = ["se6290"]\n[[experiment]]\nname = "a"\nkind = "single"\nworkloads = ["small.toml"]\n'
    )


@pytest.mark.parametrize(("words", "part"), WRONG, ids=[" ".join(words) for words, _ in WRONG])
@pytest.mark.usefixtures("wrong_files")
def test_wrong_input_is_answered_in_one_sentence(plimsoll: Plimsoll, words: list[str], part: str) -> None:
    said = plimsoll(*words)
    assert said.code == 2
    assert part in said.err
    assert said.out == ""
    assert said.err.startswith("plimsoll: ")
    assert len(said.err.strip().splitlines()) == 1
    assert said.err.strip()[-1] in ".?!"
    assert "Traceback" not in said.err


@pytest.mark.parametrize("ending", ["pdf", "", "html.bak"])
def test_a_report_in_an_unknown_format_is_refused(plimsoll: Plimsoll, ending: str) -> None:
    plimsoll("run", "small.toml", "-t", "null:")
    name = Path("results").iterdir().__next__().name
    said = plimsoll("report", name, "-o", f"x.{ending}")
    assert (said.code, said.out) == (2, "")
    assert "reports end in .html, .csv, .parquet, .json, .md or .xml" in said.err


def test_a_report_format_is_refused_before_anything_is_measured(plimsoll: Plimsoll) -> None:
    said = plimsoll("run", "small.toml", "-t", "null:", "--report", "x.pdf")
    assert said.code == 2
    assert not Path("results").exists()


def test_a_report_in_a_missing_directory_is_refused(plimsoll: Plimsoll) -> None:
    plimsoll("run", "small.toml", "-t", "null:")
    name = Path("results").iterdir().__next__().name
    assert "there is no directory 'no/where'" in plimsoll("report", name, "-o", "no/where/x.html").err


def test_wrong_input_touches_nothing(plimsoll: Plimsoll, here: Path) -> None:
    before = sorted(path.name for path in here.iterdir())
    plimsoll("run", "small.toml", "oltp-bd")
    plimsoll("run", "small.toml", "--set", "quue_depth=4")
    plimsoll("steps", "small.toml", "--over", "queue_depth=1,70000")
    plimsoll("ramp", "small.toml", "--objective", "write mean <= 1ms")
    assert sorted(path.name for path in here.iterdir()) == before


def test_every_verb_has_a_wrong_input_here() -> None:
    assert {words[0] for words, _ in WRONG} >= set(VERBS)


#: What the engine says of settings that do not go together is about a workload, whoever wrote them.
TYPED_WRONG = [
    words for words, _ in WRONG if words[0] in ("steps", "matrix", "ramp", "search", "curve", "scale", "steady") and "-s" not in words
]


@pytest.mark.parametrize("words", TYPED_WRONG, ids=" ".join)
def test_a_typed_command_is_answered_in_its_own_words(plimsoll: Plimsoll, words: list[str]) -> None:
    # "the command line: experiment 'ramp': key 'objective': …; write for example over = { … }" speaks of a file that nobody wrote.
    err = plimsoll(*words).err
    for word in ("command line", "experiment '", "key 'o", " = {", ' = "', "kind '"):
        assert word not in err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["run", "small.toml", "-t", "duckdb:./x"],
            "target 'duckdb:./x' is a database, and small asks for blocks; measure it with decision-support,",
        ),
        (
            ["run", "small.toml", "-t", "mail:new:/x"],
            "is a mail server, and small asks for blocks; measure it with groupware-2003, or name a file",
        ),
        (["ramp", "small.toml", "--objective", "p99 <= 5ms", "-t", "imap://h"], "is a mail server, and small asks for blocks"),
        (["run", "small.toml", "-t", "10GiB"], "target '10GiB' reads as a size; write --size 10GiB, or ./10GiB for a file of that name."),
        (["check", "1.5 TB"], "target '1.5 TB' reads as a size; write --size 1.5 TB"),
    ],
)
def test_requests_to_storage_go_to_storage(plimsoll: Plimsoll, here: Path, words: list[str], sentence: str) -> None:
    said = plimsoll(*words)
    assert said.code == 2 and sentence in said.err
    assert not (here / "10GiB").exists() and not (here / "results").exists()


def test_a_file_that_is_called_like_a_size_is_a_file(plimsoll: Plimsoll, here: Path) -> None:
    (here / "10GiB").write_bytes(bytes(4096))
    assert "reads as a size" not in plimsoll("run", "small.toml", "-t", "10GiB", "--dry-run").err


def test_latest_is_among_the_runs_that_can_be_meant(plimsoll: Plimsoll) -> None:
    assert plimsoll("run", "small.toml", "-t", "null:").code == 0
    assert "did you mean 'latest'?" in plimsoll("report", "latst").err
