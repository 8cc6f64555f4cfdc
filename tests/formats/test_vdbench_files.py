"""Rules of Vdbench's file-system workloads that translations keep, each asked for by itself."""

from __future__ import annotations

import random
from typing import Any

import pytest

from formats.vdbench.carried_out import check_document
from plimsoll.errors import InputError
from plimsoll.experiments.document import read_experiments
from plimsoll.formats.translation import Translation
from plimsoll.formats.vdbench import recognises, translate

#: `tests/fuzz` goes on with others of the kind.
LIKELY_FILES = 300

TREE = "fsd=fsd1,anchor=/data/tree,depth=2,width=3,files=10,sizes=64k,openflags=o_direct\n"
READER = "fwd=fwd1,fsd=fsd1,operation=read\n"
RUN = "rd=run1,fwd=*,fwdrate=max,elapsed=60,interval=1\n"


def read(text: str) -> Translation:
    return translate(text, "job", None, {})


def workload(text: str) -> dict[str, Any]:
    """The only workload."""
    (found,) = read(text).document["workload"]
    assert isinstance(found, dict) and found["driver"] == "files"
    return found


def stream(text: str) -> dict[str, Any]:
    """The only stream of the only workload."""
    (found,) = workload(text)["stream"]
    assert isinstance(found, dict)
    return found


def tree(text: str) -> dict[str, Any]:
    """The only tree."""
    (found,) = workload(text)["tree"]
    assert isinstance(found, dict)
    return found


def verdict(text: str, parameter: str) -> str:
    (found,) = [remark.kind for remark in read(text).remarks if remark.text == parameter and remark.kind != "surprise"]
    return found


def run(more: str) -> str:
    return f"rd=run1,fwd=*,elapsed=60,interval=1,{more}\n"


def test_a_file_is_known_by_its_first_lines() -> None:
    assert recognises("job", TREE + READER + RUN)
    assert recognises("job", "create_anchors=yes\nfsd=default,depth=1\n")


def test_one_anchor_is_the_target_and_its_tree_has_no_path() -> None:
    document = read(TREE + READER + RUN).document
    assert document["experiment"][0]["configurations"] == [{"name": "fsd1", "target": "/data/tree"}]
    assert "path" not in document["workload"][0]["tree"][0]


def test_every_anchor_is_a_directory_of_the_target_and_nothing_above_them_is() -> None:
    text = (
        "fsd=default,depth=1,width=1,files=1,sizes=4k\nfsd=fsd1,anchor=/data/x/a\nfsd=fsd2,anchor=/srv/y/b?c\nfsd=fsd3,anchor=tree\n"
        "fwd=fwd1,fsd=*,operation=getattr\n" + RUN
    )
    (experiment,) = read(text).document["experiment"]
    assert experiment["configurations"][0]["target"] == "concat:/data/x/a,/srv/y/b%3Fc,./tree"
    assert [(item.get("part", 0), "path" in item) for item in workload(text)["tree"]] == [(0, False), (1, False), (2, False)]


def test_anchors_that_are_never_used_together_stay_targets_of_their_own() -> None:
    text = (
        "fsd=default,depth=1,width=1,files=1,sizes=4k\nfsd=fsd1,anchor=/data/a\nfsd=fsd2,anchor=/data/b\n"
        "fwd=default,operation=getattr\nfwd=fwd1,fsd=fsd1\nfwd=fwd2,fsd=fsd2\n"
        "rd=default,fwdrate=max,elapsed=60,interval=1\nrd=rd1,fwd=fwd1\nrd=rd2,fwd=fwd2\n"
    )
    targets = [item["configurations"][0]["target"] for item in read(text).document["experiment"]]
    assert targets == ["/data/a", "/data/b"]


def test_a_tree_has_one_place_in_all_runs() -> None:
    """Otherwise a run would lay out again, and elsewhere, what another one laid out."""
    text = (
        "fsd=default,depth=1,width=1,files=1,sizes=4k\nfsd=fsd1,anchor=/data/a\nfsd=fsd2,anchor=/data/b\n"
        "fwd=default,operation=getattr\nfwd=fwd1,fsd=fsd1\nfwd=fwd2,fsd=fsd2\n"
        "rd=default,fwdrate=max,elapsed=60,interval=1\nrd=rd1,fwd=fwd1\nrd=rd2,fwd=(fwd1,fwd2)\n"
    )
    document = read(text).document
    assert [item["configurations"][0]["target"] for item in document["experiment"]] == ["/data/a", "concat:/data/a,/data/b"]
    assert [item["tree"][0] for item in document["workload"]] == [document["workload"][0]["tree"][0]] * 2


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ("64k", "64KiB"),
        ("5g", "5GiB"),
        ("(4k,50,64k,50)", {"4KiB": 50, "64KiB": 50}),
        ("(4k,30,4k,30,8k,40)", {"4KiB": 60, "8KiB": 40}),
        ("(4k,100,8k,0)", {"4KiB": 100}),
    ],
)
def test_sizes_of_files(sizes: str, expected: Any) -> None:
    assert tree(f"fsd=fsd1,anchor=/data,depth=1,width=1,files=1,sizes={sizes}\n{READER}{RUN}")["sizes"] == expected


@pytest.mark.parametrize("mean", ["1k", "4k", "100k", "10m", "1g"])
def test_sizes_around_a_size_have_it_as_their_mean_and_go_from_half_to_one_and_a_half(mean: str) -> None:
    low, high = tree(f"fsd=fsd1,anchor=/data,depth=1,width=1,files=1,sizes=({mean},0)\n{READER}{RUN}")["sizes"].split("-")
    wanted, ends = in_bytes(mean), (in_bytes(low), in_bytes(high))
    assert ends[0] == wanted // 2
    assert abs(sum(ends) / 2 - wanted) <= wanted / 64
    assert abs(ends[1] - 3 * wanted / 2) <= wanted / 32


def in_bytes(size: str) -> int:
    digits = size.rstrip("KMGiBkmg")
    return int(digits) << {"": 0, "k": 10, "m": 20, "g": 30}[size[len(digits) : len(digits) + 1].lower()]


@pytest.mark.parametrize(
    ("operations", "format_", "expected"),
    [
        ("mkdir", "no", "nothing"),
        ("create", "no", "directories"),
        ("(mkdir,create,write)", "no", "nothing"),
        ("(create,delete)", "no", "directories"),
        ("rmdir", "no", "directories"),
        ("(rmdir,delete)", "no", "files"),
        ("read", "no", "files"),
        ("create", "yes", "files"),
        ("create", "restart", "files"),
        ("create", "directories", "directories"),
        ("read", "once", "files"),
    ],
)
def test_what_exists_when_a_run_begins(operations: str, format_: str, expected: str) -> None:
    text = TREE + READER + run(f"fwdrate=10,operations={operations},format={format_}")
    assert tree(text)["lay_out"] == expected


def test_a_run_that_only_formats_is_no_point_where_others_work_on_its_tree() -> None:
    text = TREE + READER + "rd=rd1,fwd=fwd1,format=only\n" + RUN
    assert [item["name"] for item in read(text).document["experiment"]] == ["run1"]
    (alone,) = read(TREE + READER + "rd=rd1,fwd=fwd1,format=only\n").document["workload"]
    assert alone["stream"] == [{"name": "format", "tree": "fsd1", "operation": "stat", "requests": 1}]


def test_threads_are_divided_by_trees_and_operations_and_what_does_not_divide_is_left_out() -> None:
    trees = "fsd=default,depth=1,width=1,files=9,sizes=4k\nfsd=fsd,anchor=/data/tree,count=(1,3)\n"
    text = trees + "fwd=fwd1,fsd=*,operation=read,fileselect=random,threads={}\n" + run("fwdrate=90,operations=(read,getattr)")
    assert [item["threads"] for item in workload(text.format(20))["stream"]] == [9, 9]
    assert [item["threads"] for item in workload(text.format(1))["stream"]] == [3, 3]
    assert [item["rate"] for item in workload(text.format(1))["stream"]] == [45, 45]


def test_trees_of_one_shape_are_one_stream_only_where_files_are_selected_at_random() -> None:
    trees = "fsd=default,depth=1,width=1,files=9,sizes=4k\nfsd=fsd,anchor=/data/tree,count=(1,2)\n"
    assert stream(trees + "fwd=fwd1,fsd=*,operation=read,fileselect=random\n" + RUN)["tree"] == ["fsd1", "fsd2"]
    for selection in ("seq", "once"):
        found = workload(trees + f"fwd=fwd1,fsd=*,operation=read,fileselect={selection}\n" + RUN)["stream"]
        assert [item["tree"] for item in found] == ["fsd1", "fsd2"]


def test_at_the_maximum_one_stream_keeps_the_shares_of_operations() -> None:
    """Vdbench keeps FWDs and operations in step; streams of their own would go as fast as each can."""
    text = TREE + "fwd=default,fsd=fsd1,threads=2,fileio=random\nfwd=fwd1,rdpct=50,skew=80\nfwd=fwd2,operation=getattr\n"
    found = stream(text + RUN)
    assert (found["operation"], found["threads"]) == ({"read": 40, "write": 40, "stat": 20}, 4)
    # With a rate each FWD has its own.
    assert [item["rate"] for item in workload(text + run("fwdrate=100"))["stream"]] == [80, 20]


def test_shares_of_operations_make_a_hundred() -> None:
    found = stream(TREE + READER + run("fwdrate=max,operations=(access,getattr,setattr)"))
    assert sum(found["operation"].values()) == pytest.approx(100, abs=1e-9)


def test_streams_of_different_sizes_are_not_drawn_by_one_and_the_remark_says_so() -> None:
    text = TREE + "fwd=fwd1,fsd=fsd1,operation=read,xfersize=4k,skew=80\nfwd=fwd2,fsd=fsd1,operation=write,xfersize=8k\n" + RUN
    assert len(workload(text)["stream"]) == 2
    assert verdict(text, "skew=80") == "ignored"


def test_loops_over_trees_and_streams_are_axes_in_order_of_appearance() -> None:
    text = TREE + READER + run("fwdrate=max,forfiles=(1,2),forxfersize=(4k,8k),fordepth=(1,2)")
    (experiment,) = read(text).document["experiment"]
    assert experiment["over"] == {"files": [1, 2], "transfer_size": ["4KiB", "8KiB"], "depth": [1, 2]}
    assert len(read_experiments({"experiment": [experiment]}, "job").experiments) == 1


def test_operations_in_turn_are_an_axis_where_they_begin_with_the_same_tree() -> None:
    (experiment,) = read(TREE + READER + run("fwdrate=max,foroperations=(read,write,getattr)")).document["experiment"]
    assert experiment["over"] == {"operation": ["read", "write", "stat"]}
    found = read(TREE + READER + run("fwdrate=max,foroperations=(mkdir,create,read),format=no")).document["workload"]
    assert [item["tree"][0]["lay_out"] for item in found] == ["nothing", "directories", "files"]


def test_the_fwd_called_format_is_never_run() -> None:
    text = TREE + "fwd=format,threads=32\n" + READER + RUN
    assert [item["name"] for item in workload(text)["stream"]] == ["fwd1"]
    assert verdict(text, "threads=32") == "ignored"


def test_flags_of_the_run_come_before_those_of_the_fwd_and_these_before_those_of_the_fsd() -> None:
    flags = [
        stream(TREE + f"fwd=fwd1,fsd=fsd1,operation=write{own}\n" + run(f"fwdrate=max{of_run}"))
        for own, of_run in (("", ""), (",openflags=fsync", ""), (",openflags=fsync", ",openflags=o_dsync"))
    ]
    assert [(item["direct"], item.get("dsync", False), item.get("flush_at_close", False)) for item in flags] == [
        (True, False, False),
        (False, False, True),
        (False, True, False),
    ]


def test_copies_go_to_another_tree_that_begins_without_files() -> None:
    text = (
        "fsd=default,depth=1,width=1,files=9,sizes=4k\nfsd=from,anchor=/data/from\nfsd=to,anchor=/data/to\n"
        "fwd=fwd1,fsd=from,target=to,operation=copy\n" + run("fwdrate=max,format=yes")
    )
    assert stream(text)["tree"] == ["from", "to"]
    assert [(item["name"], item["lay_out"]) for item in workload(text)["tree"]] == [("from", "files"), ("to", "directories")]


def test_files_that_are_created_and_written_at_random_get_their_content_when_they_are_created() -> None:
    """A random write needs a file with content; Vdbench fills a new one first."""
    text = TREE + "fwd=fwd1,fsd=fsd1,fileio={},operation=read\n" + run("fwdrate={},format={},operations=(create,write)")
    assert [item.get("write_created") for item in workload(text.format("random", 10, "directories"))["stream"]] == [True, None]
    assert stream(text.format("random", "max", "directories"))["write_created"] is True
    # A sequential write fills the file itself, and where all files exist none is created.
    assert "write_created" not in stream(text.format("seq", "max", "directories"))
    assert "write_created" not in stream(text.format("random", "max", "yes"))


@pytest.mark.parametrize(("selection", "skew"), [("poisson", 3), ("(poisson,5)", 5), ("skewed", 3), ("(random,0.5)", 0.5)])
def test_poisson_prefers_the_first_files(selection: str, skew: float) -> None:
    found = stream(TREE + f"fwd=fwd1,fsd=fsd1,operation=read,fileselect={selection}\n" + RUN)
    assert (found["file_select"], found["file_skew"]) == ("random", skew)


def test_empty_files_are_those_that_were_created_and_not_written() -> None:
    text = TREE + "fwd=fwd1,fsd=fsd1,fileselect=empty,operation={}\n" + run("fwdrate=max,format=directories,operations=(create,write)")
    assert stream(text.format("write"))["file_state"] == "unwritten"
    reading = TREE + "fwd=fwd1,fsd=fsd1,fileselect=empty,operation=read\n" + RUN
    assert verdict(reading, "fileselect=empty") == "unsupported"


def test_fileio_and_fileselect_have_the_defaults_of_vdbench() -> None:
    found = stream(TREE + READER + RUN)
    assert (found["file_access"], found["file_select"], found["transfer_size"], found["threads"]) == ("sequential", "sequential", "4KiB", 1)


def test_a_run_on_devices_has_no_use_for_words_of_files() -> None:
    text = "sd=sd1,lun=/dev/sdb\nwd=wd1,sd=sd1\nrd=rd1,wd=wd1,iorate=max,format=yes,elapsed=60,interval=1\n"
    assert verdict(text, "format=yes") == "ignored"
    assert "driver" not in read(text).document["workload"][0]


#: What a FSD, a FWD and a run may say, likely words first.
FSD_WORDS: dict[str, tuple[str, ...]] = {
    "depth": ("1", "2", "3"),
    "width": ("1", "2", "5"),
    "files": ("1", "10", "100"),
    "sizes": ("4k", "1m", "(4k,50,64k,50)", "(64k,0)", "1000", "(1000,0)", "5g"),
    "distribution": ("bottom", "all"),
    "totalsize": ("100k", "10m", "0"),
    "wss": ("4k", "1m"),
    "openflags": ("o_direct", "o_dsync", "(o_sync,fsync)", "fsync", "none", "clear_cache"),
    "shared": ("yes", "no"),
}
FWD_WORDS: dict[str, tuple[str, ...]] = {
    "operation": ("read", "write", "create", "delete", "mkdir", "rmdir", "getattr", "setattr", "access", "open", "close", "copy", "move"),
    "fileio": ("random", "(random,shared)", "seq", "sequentialnz", "(seq,delete)"),
    "fileselect": ("random", "seq", "once", "(random,once)", "seqnz", "full", "empty", "notfull", "poisson"),
    "xfersize": ("4k", "64k", "(4k,50,8k,50)", "1000", "1m"),
    "threads": ("1", "3", "16"),
    "rdpct": ("0", "30", "100"),
    "skew": ("30", "50", "0"),
    "stopafter": ("1", "100"),
    "openflags": ("o_direct", "fsync", "(o_dsync,fsync)"),
    "target": ("other", "fsd1"),
}
RUN_WORDS: dict[str, tuple[str, ...]] = {
    "format": ("yes", "no", "restart", "only", "once", "directories", "(clean,only)"),
    "operations": ("read", "(read,write)", "(mkdir,create,write)", "(create,delete)", "(getattr,access,close)", "(copy,move)"),
    "foroperations": ("(read,write)", "(mkdir,create,read,delete,rmdir)"),
    "forthreads": ("(1-8,d)", "4"),
    "forxfersize": ("(4k,64k)", "1000"),
    "forfiles": ("(1,10)", "5"),
    "fordepth": ("(1,2)",),
    "forsizes": ("(4k,8k)", "1000"),
    "fortotalsize": ("(100k,200k)",),
    "forwss": ("(4k,8k)",),
    "forrdpct": ("(0,50,100)",),
    "maxdata": ("1g", "2"),
    "warmup": ("5",),
    "openflags": ("directio",),
}


def test_whatever_a_file_asks_for_can_be_carried_out_or_is_refused() -> None:
    """Files of likely words are put together at random; what is translated without refusal, the driver takes."""
    draw = random.Random(4)
    carried_out = 0
    for _ in range(LIKELY_FILES):
        try:
            carried_out += can_be_carried_out(likely(draw))
        except InputError as problem:
            assert "\n" not in str(problem)
    assert carried_out > 10


def can_be_carried_out(text: str) -> bool:
    """Whether a file is translated without refusal and the driver takes all of it; that it does not is a mistake of ours."""
    translation = read(text)
    if translation.refusal() is not None:
        return False
    try:
        return accepted(translation.document)
    except InputError as problem:
        raise AssertionError(f"called runnable, but: {problem}") from None


def accepted(document: dict[str, Any]) -> bool:
    """Whether the driver takes all of it. Only when sizes are drawn does it know that a tree has less than a part of it should have."""
    try:
        check_document(document, "job")
    except InputError as problem:
        trees = [tree for workload in document["workload"] for tree in workload["tree"]]
        assert "total_size" in str(problem) and any(isinstance(tree["sizes"], dict | str) for tree in trees)
        return False
    return True


def likely(draw: random.Random) -> str:
    """One or two FSDs, one to three FWDs and one or two runs, each with some words."""
    shape = f"fsd=default,{drawn(draw, FSD_WORDS, ('depth', 'width', 'files', 'sizes'))}\n"
    count = draw.choice(("", ",count=(1,2)"))
    lines = [shape, f"fsd=fsd{'' if count else 1},anchor=/data/tree{count}\n", f"fsd=other,anchor=/data/other{extra(draw, FSD_WORDS, 1)}\n"]
    for number in range(1, draw.randint(2, 4)):
        operation = drawn(draw, FWD_WORDS, ("operation",))
        lines.append(f"fwd=fwd{number},fsd={draw.choice(('fsd1', 'fsd*', '*'))},{operation}{extra(draw, FWD_WORDS, 4)}\n")
    for number in range(1, draw.randint(2, 3)):
        rate = draw.choice(("max", "max", "100", "(10,20)", "curve"))
        lines.append(f"rd=rd{number},fwd=fwd*,fwdrate={rate},elapsed=10,interval=1{extra(draw, RUN_WORDS, 3)}\n")
    return "".join(lines)


def drawn(draw: random.Random, words: dict[str, tuple[str, ...]], names: tuple[str, ...]) -> str:
    return ",".join(f"{name}={draw.choice(words[name])}" for name in names)


def extra(draw: random.Random, words: dict[str, tuple[str, ...]], most: int) -> str:
    names = [name for name in draw.sample(sorted(words), draw.randint(0, most)) if name != "operation"]
    return "".join(f",{name}={draw.choice(words[name])}" for name in names)


def test_wrong_skews_of_fwds_are_called_theirs() -> None:
    fwds = "fwd=fwd1,fsd=fsd1,operation=read,skew=60\nfwd=fwd2,fsd=fsd1,operation=stat,skew=60\n"
    with pytest.raises(InputError, match="the skews of the run's FWDs make 120"):
        read(TREE + fwds + RUN)


def test_what_an_fsd_and_a_fwd_leave_out_is_what_vdbench_takes() -> None:
    """``FsdEntry`` and ``FwdEntry`` of its public source: ten files of 4 KiB in one directory, read."""
    text = "fsd=fsd1,anchor=/data/tree\nfwd=fwd1,fsd=fsd1\n" + RUN
    ((tree,), (found,)) = workload(text)["tree"], workload(text)["stream"]
    assert {name: tree[name] for name in ("depth", "width", "files", "sizes")} == {"depth": 1, "width": 1, "files": 10, "sizes": "4KiB"}
    assert (found["operation"], found["transfer_size"]) == ("read", "4KiB")
    assert any("depth=1, width=1, files=10, sizes=4k hold in Vdbench" in remark.why for remark in read(text).remarks)
    with pytest.raises(InputError, match="the workingsetsize is more than the 40960 bytes"):
        read("fsd=fsd1,anchor=/data/tree,wss=1m\nfwd=fwd1,fsd=fsd1\n" + RUN)
