"""`plimsoll receive`: parcels, mails and stores that arrived become runs, whole, once, or not at all."""

from __future__ import annotations

import gzip
import io
import os
import tarfile
from email.message import EmailMessage

import pytest

from plimsoll.store.parcel import ENDING, announced_in, digest_of, pack
from plimsoll.store.reader import open_run
from report.synthetic import PROFILES, Array, write_run
from support.said import in_this_process

NAME = "2026-11-21T03-44-10_one"
FILE = f"{NAME}-abc{ENDING}"


@pytest.fixture
def receive(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plimsoll = in_this_process(capsys)
    return lambda *words: plimsoll("receive", *map(str, words))


@pytest.fixture
def run(tmp_path):
    return open_run(str(write_run(tmp_path / "from" / NAME, Array("one", seconds=5), PROFILES[:1])))


@pytest.fixture
def parcel(run):
    file = io.BytesIO()
    pack(run, file)
    return file.getvalue()


@pytest.fixture
def inbox(tmp_path):
    (tmp_path / "inbox").mkdir()
    return tmp_path / "inbox"


def stored(tmp_path):
    return sorted(os.listdir(tmp_path / "results")) if (tmp_path / "results").exists() else []


def mail(*attachments):
    made = EmailMessage()
    made["Subject"], made["From"], made["To"] = "Plimsoll", "rack@example.org", "lab@example.org"
    made.set_content("numbers")
    for content in attachments:
        made.add_attachment(content, maintype="application", subtype="gzip", filename="whatever it is called.bin")
    return made.as_bytes()


def test_a_parcel_becomes_the_run_that_was_sent(receive, parcel, inbox, tmp_path, run):
    (inbox / FILE).write_bytes(parcel)
    assert receive(inbox / FILE).out == f"{NAME} is there: {inbox / FILE}\n"
    assert digest_of(str(tmp_path / "results" / NAME)) == digest_of(run.path)


def test_the_same_twice_is_one_run_whichever_way_it_came(receive, parcel, inbox, tmp_path):
    (inbox / FILE).write_bytes(parcel)
    (inbox / "a.eml").write_bytes(mail(parcel))
    said = receive(inbox)
    assert said.code == 0 and said.out.count("is there:") == 1 and said.out.count("was there already:") == 1
    assert receive(tmp_path / "from").out == f"{NAME} was there already: {tmp_path / 'from' / NAME}\n"
    assert stored(tmp_path) == [NAME]


def test_a_mail_is_known_by_what_is_in_it(receive, parcel, inbox, tmp_path):
    (inbox / "1700000000.M1P2.rack:2,S").write_bytes(mail(b"\x89PNG", parcel))
    assert receive(inbox / "1700000000.M1P2.rack:2,S").code == 0
    assert stored(tmp_path) == [NAME]


def test_a_maildir_is_gone_through(receive, parcel, inbox, tmp_path):
    for part in ("cur", "new", "tmp"):
        (inbox / part).mkdir()
    (inbox / "new" / "1700000000.M1P2.rack").write_bytes(mail(parcel))
    assert receive(inbox).code == 0 and stored(tmp_path) == [NAME]


def test_what_is_still_coming_is_left_alone(receive, parcel, inbox, tmp_path):
    (inbox / f".coming-0badcafe-{FILE}").write_bytes(parcel[:1000])
    (inbox / "notes.txt").write_text("x")
    said = receive(inbox)
    assert said.code == 2 and "holds no parcel (.parcel.tgz), no mail (.eml) and no run" in said.err and stored(tmp_path) == []


def test_one_that_is_damaged_keeps_no_other_out(receive, parcel, inbox, tmp_path):
    (inbox / f"a{ENDING}").write_bytes(parcel[: len(parcel) // 2])
    (inbox / f"b{ENDING}").write_bytes(parcel)
    said = receive(inbox)
    assert said.code == 2 and f"a{ENDING}: what came is no whole parcel" in said.err
    assert stored(tmp_path) == [NAME]


@pytest.mark.parametrize("end", [0, 1, 2, 20, 200, 1000])
def test_what_is_cut_off_is_not_stored(receive, parcel, inbox, tmp_path, end):
    (inbox / FILE).write_bytes(parcel[:end])
    assert receive(inbox / FILE).code == 2 and stored(tmp_path) == []


def header(**records):
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz", format=tarfile.PAX_FORMAT, pax_headers=records) as packed:
        packed.addfile(tarfile.TarInfo("run.json"))
    return file.getvalue()


def huge_header():
    about = tarfile.TarInfo("././@PaxHeader")
    about.type, about.size = tarfile.XGLTYPE, (1 << 33) - 1
    return gzip.compress(about.tobuf(tarfile.USTAR_FORMAT) + b"x" * 2000)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"plain text", "it is no parcel and no mail that carries one"),
        (mail(), "it is no parcel and no mail that carries one"),
        (mail(gzip.compress(b"a log")), "it is no parcel"),
        (gzip.compress(b"x" * 5000), "it is no parcel"),
        (header(), "it is no parcel"),
        (header(**{"PLIMSOLL.name": "../evil", "PLIMSOLL.digest": "0" * 64}), "it does not say which run it holds"),
        (header(**{"PLIMSOLL.name": NAME, "PLIMSOLL.digest": "no"}), "it does not say which run it holds"),
        (header(**{"PLIMSOLL.name": NAME, "PLIMSOLL.digest": "0" * 64}), "what came is not what was sent"),
        (huge_header(), "it is no parcel"),
    ],
    ids=["text", "mail", "mail with a log", "log", "tar", "name", "digest", "other content", "huge header"],
)
def test_what_is_no_parcel_is_said(receive, inbox, tmp_path, content, said):
    (inbox / FILE).write_bytes(content)
    answer = receive(inbox / FILE)
    assert answer.code == 2 and said in answer.err and answer.err.count("\n") == 1 and stored(tmp_path) == []


def test_limits_hold(receive, parcel, inbox, tmp_path):
    (inbox / FILE).write_bytes(parcel)
    assert "which is all that is taken here" in receive(inbox, "--receive-max", "4KiB").err and stored(tmp_path) == []


def test_what_is_not_there_or_no_file_is_said(receive, inbox):
    assert "is not there; name files that were sent" in receive(inbox / "absent").err
    os.mkfifo(inbox / "pipe")
    assert "it is neither a file nor a directory" in receive(inbox / "pipe").err


def test_the_same_run_gives_the_same_bytes(run, parcel):
    file = io.BytesIO()
    pack(run, file)
    assert file.getvalue() == parcel
    assert announced_in(io.BytesIO(parcel)).name == NAME
