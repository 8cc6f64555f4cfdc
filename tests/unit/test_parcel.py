"""A run that travels arrives whole, once, or not at all."""

import fcntl
import gzip
import io
import json
import os
import tarfile

import pytest

from plimsoll.errors import InputError
from plimsoll.store.parcel import Announced, Limits, digest_of, pack, remove_leftovers, unpack
from plimsoll.store.reader import list_runs, open_run
from plimsoll.store.writer import own_identity
from report.synthetic import PROFILES, Array, write_run

NAME = "2026-11-21T03-44-10_one"


@pytest.fixture
def run(tmp_path):
    path = write_run(tmp_path / "from" / NAME, Array("one", seconds=5), PROFILES[:2])
    (path / "report.html").write_text("<!doctype html>")
    (path / "points" / ".0003-x.part").mkdir()
    return open_run(str(path))


@pytest.fixture
def parcel(run):
    file = io.BytesIO()
    digest = pack(run, file)
    return file.getvalue(), digest


@pytest.fixture
def store(tmp_path):
    return str(tmp_path / "to")


def names(store):
    return sorted(os.listdir(store)) if os.path.isdir(store) else []


def received(parcel, store, name=NAME, digest=None, limits=None):
    content, packed = parcel
    return unpack(io.BytesIO(content), store, Announced(name, digest or packed), limits or Limits())


def test_a_run_arrives_as_it_was(run, parcel, store):
    assert received(parcel, store).name == NAME
    arrived = open_run(os.path.join(store, NAME))
    assert digest_of(arrived.path) == digest_of(run.path) == parcel[1]
    assert [point.result for point in arrived.points] == [point.result for point in run.points]
    assert (
        names(arrived.path) == ["points", "run.json"]
        and names(os.path.join(arrived.path, "points")) == names(os.path.join(run.path, "points"))[1:]
    )


def test_the_same_run_twice_is_one_run(parcel, store):
    assert not received(parcel, store).known
    assert received(parcel, store).known
    assert names(store) == [NAME]


def test_another_run_of_the_same_name_replaces_nothing(tmp_path, run, parcel, store):
    received(parcel, store)
    meta = json.loads((tmp_path / "from" / NAME / "run.json").read_text())
    (tmp_path / "from" / NAME / "run.json").write_text(json.dumps({**meta, "label": "another"}))
    file = io.BytesIO()
    digest = pack(open_run(run.path), file)
    again = unpack(io.BytesIO(file.getvalue()), store, Announced(NAME, digest), Limits())
    assert (again.name, again.known) == (f"{NAME}-2", False)
    assert unpack(io.BytesIO(file.getvalue()), store, Announced(NAME, digest), Limits()).known
    assert names(store) == [NAME, f"{NAME}-2"]


def test_what_is_cut_off_or_changed_on_the_way_is_not_stored(parcel, store):
    content, digest = parcel
    for end in (0, 1, 100, len(content) // 2, len(content) * 9 // 10):
        with pytest.raises(InputError, match=r"send it again|no whole parcel"):
            received((content[:end], digest), store)
    with pytest.raises(InputError, match="what came is not what was sent"):
        received(parcel, store, digest="0" * 64)
    assert names(store) == []


def test_every_changed_byte_is_noticed(parcel, store):
    content, digest = parcel
    plain = bytearray(gzip.decompress(content))
    with tarfile.open(fileobj=io.BytesIO(plain)) as packed:
        plain[packed.getmember("run.json").offset_data + 40] ^= 1
    with pytest.raises(InputError):
        received((gzip.compress(bytes(plain)), digest), store)
    assert names(store) == []


def tarred(*members):
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as packed:
        for about, content in members:
            about.size = len(content)
            packed.addfile(about, io.BytesIO(content))
    return file.getvalue(), "0" * 64


def member(name, kind=tarfile.REGTYPE, link=""):
    about = tarfile.TarInfo(name)
    about.type, about.linkname = kind, link
    return about


@pytest.mark.parametrize(
    "about",
    [
        member("../evil"),
        member("/etc/evil"),
        member("points/../../evil"),
        member("points/0001-x/../../../evil"),
        member("run.json/x"),
        member("report.html"),
        member("points/run.json"),
        member("points/0001-x/.hidden"),
        member("points/0001-x/a\nb"),
        member("points/" + "/".join("abcdefgh") + "/deep.json"),
        member("points/0001-x/job.json", tarfile.SYMTYPE, "/etc/passwd"),
        member("points/0001-x/job.json", tarfile.LNKTYPE, "run.json"),
        member("points/0001-x/job.json", tarfile.FIFOTYPE),
        member("points/0001-x/job.json", tarfile.CHRTYPE),
        member("points", tarfile.DIRTYPE),
    ],
    ids=lambda about: f"{about.name[:20]!r} {about.type!r}",
)
def test_nothing_but_files_of_a_run_is_written(about, store, tmp_path):
    with pytest.raises(InputError, match="is no file of a run"):
        received(tarred((about, b"" if about.type != tarfile.REGTYPE else b"x")), store)
    assert names(store) == [] and not (tmp_path / "evil").exists()


def header(kind, size=0, magic=tarfile.USTAR_FORMAT):
    about = member("run.json", kind)
    about.size = size
    return about.tobuf(magic)


def sparse_map():
    about = member("run.json")
    about.size = 512
    about.pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": "run.json", "GNU.sparse.realsize": "1"}
    return about.tobuf(tarfile.PAX_FORMAT) + b"99999999999\n".ljust(512, b"1")


@pytest.mark.parametrize(
    "headers",
    [
        header(tarfile.XHDTYPE, (1 << 33) - 1),
        header(tarfile.XGLTYPE, (1 << 33) - 1),
        header(tarfile.GNUTYPE_LONGNAME, (1 << 33) - 1),
        header(tarfile.GNUTYPE_SPARSE),
        header(tarfile.XGLTYPE) + header(tarfile.XGLTYPE),
        sparse_map(),
    ],
    ids=["names", "of all", "long name", "sparse", "of all, twice", "sparse map"],
)
def test_headers_that_would_fill_the_memory_are_refused(headers, store):
    with pytest.raises(InputError, match="is no file of a run"):
        received((gzip.compress(headers + bytes(4096)), "0" * 64), store)
    assert names(store) == []


def test_headers_without_end_are_refused(store):
    with pytest.raises(InputError, match="no whole parcel"):
        received((gzip.compress(header(tarfile.XHDTYPE) * 5000), "0" * 64), store)
    assert names(store) == []


@pytest.mark.parametrize("name", ["..", ".hidden", "a/b", "", "a\nb", "x" * 300])
def test_a_name_that_is_none_is_refused(parcel, store, name):
    with pytest.raises(InputError, match="is no name of a run"):
        received(parcel, store, name=name)


def test_limits_hold_while_it_comes(parcel, store):
    for limits in (Limits(bytes=10_000), Limits(files=3)):
        with pytest.raises(InputError, match="which is all that is taken here"):
            received(parcel, store, limits=limits)
    bomb = tarred((member("run.json"), b"0" * 50_000_000))
    assert len(bomb[0]) < 100_000
    with pytest.raises(InputError, match="which is all that is taken here"):
        received(bomb, store, limits=Limits(bytes=1 << 20))
    assert names(store) == []


def test_a_damaged_run_is_not_stored_and_says_what_is_wrong(run, store):
    with open(os.path.join(run.points[0].path, "result.json"), "w") as file:
        file.write("{")
    content = io.BytesIO()
    digest = pack(run, content)
    with pytest.raises(InputError, match=r"is damaged, so it is not stored: points/0001-[a-z0-9-]+/result.json: not JSON"):
        received((content.getvalue(), digest), store)
    with pytest.raises(InputError, match=r"has no run\.json"):
        received(_only_a_point(), store)
    assert names(store) == []


def _only_a_point():
    import hashlib

    made, _ = tarred((member("points/0001-x/job.json"), b"{}"))
    line = f"{hashlib.sha256(b'{}').hexdigest()}  points/0001-x/job.json\n"
    return made, hashlib.sha256(line.encode()).hexdigest()


def test_a_run_that_is_being_measured_is_not_sent(run):
    meta = {**run.meta, "status": "running", "process": own_identity()}
    with open(os.path.join(run.path, "run.json"), "w") as file:
        json.dump(meta, file)
    with pytest.raises(InputError, match="is being measured; send it when it has ended"):
        pack(open_run(run.path), io.BytesIO())


def test_a_run_that_was_killed_travels_with_its_torn_line(run, store):
    point = run.points[1].path
    with open(os.path.join(point, "result.json")) as file:
        begun = {**json.load(file), "status": "incomplete"}
    os.remove(os.path.join(point, "result.json"))
    with open(os.path.join(point, "job.json"), "w") as file:
        json.dump(begun, file)
    with open(os.path.join(point, "intervals.jsonl"), "a") as file:
        file.write('{"index": 99, "pha')
    content = io.BytesIO()
    digest = pack(run, content)
    received((content.getvalue(), digest), store)
    (arrived,) = list_runs(store)
    assert arrived.points[1].result.status == "incomplete"


def test_what_was_coming_when_its_receiver_was_killed_goes(store):
    os.makedirs(os.path.join(store, ".coming-abc", "points"))
    assert list_runs(store) == []
    remove_leftovers(store)
    assert names(store) == []


def test_what_another_receives_at_this_moment_stays(store):
    coming = os.path.join(store, ".coming-abc")
    os.makedirs(coming)
    held = os.open(coming, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    remove_leftovers(store)
    assert names(store) == [".coming-abc"]
    os.close(held)


def test_a_directory_whose_name_travels_nowhere_says_so(tmp_path):
    path = write_run(tmp_path / "my run; rm -rf ~", Array("one", seconds=5), PROFILES[:1])
    with pytest.raises(InputError, match="is no name of a run that travels"):
        pack(open_run(str(path)), io.BytesIO())
