"""`plimsoll send` to sshd, an FTP server and a mail server, and `plimsoll receive` of what arrived; tests/long/test_inboxes.py has the faults."""

from __future__ import annotations

import os

import pytest

from plimsoll.store.parcel import digest_of
from report.synthetic import PROFILES, Array, write_run
from support.ftp_server import PASSWORD
from support.inboxes import certificate, missing_ssh, python_server, ssh_server
from support.said import in_this_process

NAME = "2026-11-21T03-44-10_one"
with_ssh = pytest.mark.skipif(missing_ssh() is not None, reason=f"skipped: {missing_ssh()}")


@pytest.fixture
def plimsoll(capsys, tmp_path, monkeypatch):
    """Commands beside a store with one run."""
    write_run(tmp_path / "results" / NAME, Array("one", seconds=5), PROFILES[:1])
    monkeypatch.chdir(tmp_path)
    return in_this_process(capsys)


def came_home(plimsoll, server, tmp_path):
    """One file, which becomes the run that was sent."""
    (name,) = server.files()
    assert not name.startswith(".")
    assert plimsoll("receive", str(server.inbox), "-o", "home").code == 0
    assert os.listdir(tmp_path / "home") == [NAME]
    assert digest_of(str(tmp_path / "home" / NAME)) == digest_of(str(tmp_path / "results" / NAME))


@with_ssh
def test_a_run_comes_home_by_sftp_only_to_a_known_host(plimsoll, tmp_path):
    with ssh_server(tmp_path / "ssh") as server:
        place = ("--to", server.url(f"/{server.inbox}".replace(" ", "%20")))
        said = plimsoll("send", NAME, *place, *server.words)
        assert said.code == 0 and said.out.startswith(f"{NAME} is there as {NAME}-")
        came_home(plimsoll, server, tmp_path)
        unknown = plimsoll("send", NAME, *place, *server.words[:2], "--known-hosts", "/dev/null")
        assert unknown.code == 4 and "its host key is not known here" in unknown.err


def test_a_run_comes_home_by_ftp_with_tls_only_to_a_known_certificate(plimsoll, tmp_path):
    cert = certificate(tmp_path / "tls")
    with python_server("ftp_server", tmp_path / "ftp", f"cert={cert}", scheme="ftps") as server:
        unknown = plimsoll("send", NAME, "--to", server.url(user=f"lab:{PASSWORD}"))
        assert unknown.code == 4 and "its certificate is not trusted (self-signed certificate)" in unknown.err
        assert server.files() == [] and PASSWORD not in unknown.err
        said = plimsoll("send", NAME, "--to", server.url(user=f"lab:{PASSWORD}"), "--ca", str(cert))
        assert said.code == 0 and f"is there as {NAME}-" in said.out and PASSWORD not in said.out + said.err
        came_home(plimsoll, server, tmp_path)


def test_a_run_comes_home_by_mail_with_its_report_and_its_numbers(plimsoll, tmp_path, monkeypatch):
    cert = certificate(tmp_path / "tls")
    monkeypatch.setenv("PLIMSOLL_PASSWORD", PASSWORD)
    with python_server("mail_server", tmp_path / "mail", f"cert={cert}", "login", scheme="smtp") as server:
        unknown = plimsoll("send", NAME, "--to", server.url("lab@example.org"))
        assert unknown.code == 4 and "its certificate is not trusted" in unknown.err and server.files() == []
        said = plimsoll("send", NAME, "--to", server.url("lab@example.org"), "--ca", str(cert))
        assert said.code == 0 and "(the mail server took it; whether it arrives is not known here)" in said.out
        came_home(plimsoll, server, tmp_path)
        text = (server.inbox / "0.eml").read_text()
    assert "| workload | side | read IOPS |" in text and f'filename="{NAME}.html"' in text
    assert "was mailed already" in plimsoll("send", NAME, "--to", server.url("lab@example.org")).out
