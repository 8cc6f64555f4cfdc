"""What goes wrong between a sender and servers of SFTP, FTP and mail, and what lies there afterwards: whole runs, each once, or nothing."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from plimsoll.delivery.outbox import FOLDER
from plimsoll.store.parcel import digest_of
from report.synthetic import PROFILES, Array, write_run
from support.ftp_server import PASSWORD
from support.inboxes import certificate, free_port, missing_ssh, python_server, ssh_server
from support.patience import HANGS_S, wait_until
from support.said import in_this_process

NAME = "2026-11-21T03-44-10_one"
with_ssh = pytest.mark.skipif(missing_ssh() is not None, reason=f"skipped: {missing_ssh()}")
LAB = f"lab:{PASSWORD}"


@pytest.fixture
def sender(tmp_path):
    """`plimsoll` beside a store with one run, as a process; code, stdout, stderr. Nothing it says or writes has the password."""
    write_run(tmp_path / "results" / NAME, Array("one", seconds=90), PROFILES[:4])

    def command(*words, expect=0, **environment):
        done = subprocess.run(
            [sys.executable, "-m", "plimsoll", *words],
            check=False,
            cwd=tmp_path,
            env={**os.environ, "HOME": str(tmp_path), **environment},
            capture_output=True,
            text=True,
            timeout=HANGS_S,
        )
        assert "Traceback" not in done.stderr and done.returncode == expect, done.stderr + done.stdout
        assert PASSWORD not in done.stdout + done.stderr
        for path in (tmp_path / "results").rglob("*"):
            assert not path.is_file() or PASSWORD.encode() not in path.read_bytes(), path
        return done

    return command


def send(sender, *words, **more):
    return sender("send", NAME, "--to", *words, **more)


def check_home(sender, server, tmp_path, hidden=0):
    """One file that is whole, which becomes the run that was sent; ``hidden`` others."""
    names = server.files()
    assert len([name for name in names if not name.startswith(".")]) == 1
    assert len([name for name in names if name.startswith(".")]) == hidden
    sender("receive", str(server.inbox), "-o", "home")
    assert os.listdir(tmp_path / "home") == [NAME]
    assert digest_of(str(tmp_path / "home" / NAME)) == digest_of(str(tmp_path / "results" / NAME))
    shutil.rmtree(tmp_path / "home")


def into(server, scheme):
    """The server's inbox, whose name has a blank."""
    return server.url(f"/{server.inbox}".replace(" ", "%20"), scheme=scheme)


class Relay:
    """Hands bytes on between a sender and a server; each connection of ``cuts`` ends after so many bytes of the sender's."""

    def __init__(self, port, cuts):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port, self.to, self.cuts = self.listener.getsockname()[1], port, list(cuts)
        self.cut = 0
        self.sockets, self.threads = [], []
        self._begin(self._accept)

    def _begin(self, what, *arguments):
        thread = threading.Thread(target=what, args=arguments, daemon=True)
        self.threads.append(thread)
        thread.start()

    def _accept(self):
        with suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                server = socket.create_connection(("127.0.0.1", self.to))
                left = self.cuts.pop(0) if self.cuts else None
                self.sockets += [client, server]
                self._begin(self._hand, client, server, left)
                self._begin(self._hand, server, client, None)

    def _hand(self, source, to, left):
        with suppress(OSError):
            while piece := source.recv(4096):
                if left is not None and (left := left - len(piece)) < 0:
                    self.cut += 1
                    break
                to.sendall(piece)
        for one in (source, to):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def close(self):
        with suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        for thread in self.threads:
            thread.join(HANGS_S)
        for one in (self.listener, *self.sockets):
            one.close()


@with_ssh
@pytest.mark.parametrize("scheme", ["sftp", "scp"])
def test_a_connection_that_breaks_in_the_middle_is_begun_again(sender, tmp_path, scheme):
    with ssh_server(tmp_path / "ssh") as server:
        relay = Relay(server.port, [1500, None, 60_000, None])
        known = (server.home / "known_hosts").read_text().replace(f":{server.port} ", f":{relay.port} ")
        (server.home / "known_relay").write_text(known)
        url = into(server, scheme).replace(f":{server.port}/", f":{relay.port}/")
        done = send(sender, url, *server.words[:2], "--known-hosts", str(server.home / "known_relay"))
        assert "trying again" in done.stderr and relay.cut == 2 and f"{NAME} is there" in done.stdout
        check_home(sender, server, tmp_path)
        relay.close()


@with_ssh
@pytest.mark.parametrize("scheme", ["sftp", "scp"])
def test_the_same_upload_twice_is_one_file(sender, tmp_path, scheme):
    with ssh_server(tmp_path / "ssh") as server:
        assert "is there as" in send(sender, into(server, scheme), *server.words).stdout
        assert "was there already as" in send(sender, into(server, scheme), *server.words).stdout
        # A file that is damaged over there is replaced.
        (name,) = server.files()
        (server.inbox / name).write_bytes(b"torn")
        assert "is there as" in send(sender, into(server, scheme), *server.words).stdout
        check_home(sender, server, tmp_path)


@with_ssh
@pytest.mark.parametrize("scheme", ["sftp", "scp"])
def test_another_host_key_than_before_ends_it_whatever_the_configuration_says(sender, tmp_path, scheme):
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh" / "config").write_text("Host *\n  StrictHostKeyChecking no\n  NoHostAuthenticationForLocalhost yes\n")
    with ssh_server(tmp_path / "ssh") as server:
        known = server.home / "known_hosts"
        other = (server.home / "key.pub").read_text().split()[1]
        known.write_text(re.sub(r"\S+$", other, known.read_text().strip()) + "\n")
        done = send(sender, into(server, scheme), *server.words, expect=4)
        assert "its host key is another than the known one" in done.stderr and server.files() == []
        known.write_text("")
        done = send(sender, into(server, scheme), *server.words, expect=4)
        assert "its host key is not known here" in done.stderr and server.files() == [] and known.read_text() == ""


@with_ssh
@pytest.mark.parametrize("scheme", ["sftp", "scp"])
def test_a_key_that_is_not_taken_and_a_directory_that_is_not_there_are_said(sender, tmp_path, scheme):
    with ssh_server(tmp_path / "ssh") as server:
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / "other key")], check=True)
        done = send(sender, into(server, scheme), "--identity", str(tmp_path / "other key"), *server.words[2:], expect=4)
        assert "it takes none of the keys; give one with --identity FILE" in done.stderr
        done = send(sender, server.url("/nowhere/at all".replace(" ", "%20"), scheme=scheme), *server.words, expect=4)
        assert "there is no directory '/nowhere/at all'." in done.stderr
        assert server.files() == []


@with_ssh
@pytest.mark.parametrize("scheme", ["sftp", "scp"])
@pytest.mark.parametrize("folder", ['it\'s [a] "b"*', "-rf", "$(touch pwned)", "a\\b;c", "äöü ?", "%h"])
def test_hostile_names_of_directories_are_names(sender, tmp_path, scheme, folder):
    from urllib.parse import quote

    keys = tmp_path / 'keys "100%h'
    with ssh_server(tmp_path / "ssh") as server:
        shutil.copytree(server.home, keys)
        server.inbox = server.inbox / folder
        server.inbox.mkdir()
        words = ["--identity", str(keys / "key"), "--known-hosts", str(keys / "known_hosts")]
        send(sender, server.url(quote(f"/{server.inbox}", safe=""), scheme=scheme), *words)
        check_home(sender, server, tmp_path)
        assert not list(tmp_path.rglob("pwned"))


@with_ssh
@pytest.mark.parametrize("scheme", ["sftp", "scp"])
def test_a_full_disk_at_the_receiver_is_waited_for(sender, tmp_path, scheme):
    if os.geteuid() != 0:
        pytest.skip("skipped: needs root, for a small file system")
    with ssh_server(tmp_path / "ssh") as server:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(server.inbox)], check=True)
        try:
            filler = server.inbox / "filler"
            with suppress(OSError), open(filler, "wb", buffering=0) as file:
                while file.write(b"x" * 4096):
                    pass
            process = _started(tmp_path, into(server, scheme), *server.words)
            assert "trying again" in _line_with(process, "trying again")
            filler.unlink()
            assert process.wait(HANGS_S) == 0
            process.stderr.close()
            check_home(sender, server, tmp_path)
        finally:
            subprocess.run(["umount", str(server.inbox)], check=True)


def _started(tmp_path, *words):
    return subprocess.Popen(
        [sys.executable, "-m", "plimsoll", "send", NAME, "--to", *words],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )


def _line_with(process, word):
    for line in process.stderr:
        if word in line:
            return line
    return ""


@with_ssh
def test_a_sender_that_was_killed_goes_on_and_leaves_nothing(sender, tmp_path):
    with ssh_server(tmp_path / "ssh") as server:
        # Behind the relay the upload stops, so that the kill comes in its middle.
        relay = Relay(server.port, [None, 60_000])
        held = threading.Event()
        whole = relay._hand

        def stopping(source, to, left):
            if left is not None:
                with suppress(OSError):
                    while left > 0:
                        piece = source.recv(2048)
                        left -= len(piece)
                        to.sendall(piece)
                held.wait(HANGS_S)
            whole(source, to, None)

        relay._hand = stopping
        known = (server.home / "known_hosts").read_text()
        (server.home / "known_hosts").write_text(known + known.replace(f":{server.port} ", f":{relay.port} "))
        process = _started(tmp_path, into(server, "sftp").replace(f":{server.port}/", f":{relay.port}/"), *server.words)
        wait_until(lambda: any(name.startswith(".coming-") for name in server.files()), "the upload begins")
        process.send_signal(signal.SIGKILL)
        process.wait(HANGS_S)
        process.stderr.close()
        held.set()
        assert [path.suffix for path in (tmp_path / "results" / FOLDER).glob("*.json")] == [".json"]
        done = sender("send", "--unsent")
        assert f"{NAME} is there" in done.stdout
        # The same hidden name again: the torn file went with it.
        check_home(sender, server, tmp_path)
        assert "nothing in results is still to be sent" in sender("send", "--unsent").stderr
        relay.close()


@with_ssh
def test_a_server_without_sftp_says_what_to_use(sender, tmp_path):
    with ssh_server(tmp_path / "ssh", sftp="/bin/false") as server:
        done = send(sender, into(server, "sftp"), *server.words, "--give-up-after", "1s", expect=4)
        assert server.files() == [] and "sftp://" in done.stderr
        send(sender, into(server, "scp"), *server.words)
        check_home(sender, server, tmp_path)


@with_ssh
def test_a_user_who_has_nothing_but_sftp_in_a_directory_of_his_own_is_enough(sender, tmp_path):
    with ssh_server(tmp_path / "ssh", more=f"ForceCommand internal-sftp -d /{tmp_path}/ssh") as server:
        send(sender, server.url("in%20box"), *server.words)
        check_home(sender, server, tmp_path)


@with_ssh
def test_an_inbox_that_nobody_may_change_says_so(sender, tmp_path):
    with ssh_server(tmp_path / "ssh", sftp="internal-sftp -R") as server:
        done = send(sender, into(server, "sftp"), *server.words, expect=4)
        assert "does not let files be written or renamed there" in done.stderr and server.files() == []


@with_ssh
def test_a_rename_that_is_refused_leaves_nothing_there(sender, tmp_path):
    with ssh_server(tmp_path / "ssh", sftp="internal-sftp -P rename,posix-rename") as server:
        done = send(sender, into(server, "sftp"), *server.words, expect=4)
        assert "does not let files be written or renamed there" in done.stderr and server.files() == []


@with_ssh
def test_a_server_that_lets_nobody_read_is_compared_by_size(sender, tmp_path):
    with ssh_server(tmp_path / "ssh", sftp="internal-sftp -P read") as server:
        done = send(sender, into(server, "sftp"), *server.words)
        assert "only its size was compared" in done.stdout
        check_home(sender, server, tmp_path)


@pytest.mark.parametrize("tls", [True, False], ids=["ftps", "ftp"])
@pytest.mark.parametrize("fault", ["cut", "garble"])
def test_an_upload_that_goes_wrong_is_begun_again(sender, tmp_path, tls, fault):
    cert = certificate(tmp_path / "tls")
    words = [f"cert={cert}"] if tls else []
    with python_server("ftp_server", tmp_path / "ftp", *words, f"fault={fault}", scheme="ftps" if tls else "ftp") as server:
        done = send(sender, server.url(user=LAB), *(["--ca", str(cert)] if tls else []))
        assert "trying again" in done.stderr and ("in clear text" in done.stderr) is not tls
        check_home(sender, server, tmp_path)


def test_a_full_disk_of_an_ftp_server_is_waited_for(sender, tmp_path):
    with python_server("ftp_server", tmp_path / "ftp", "fault=full", scheme="ftp") as server:
        process = _started(tmp_path, server.url(user=LAB))
        assert "trying again" in _line_with(process, "trying again")
        (server.home / "room").touch()
        assert process.wait(HANGS_S) == 0
        process.stderr.close()
        check_home(sender, server, tmp_path)


def test_what_an_ftp_server_forbids_is_said_or_done_without(sender, tmp_path):
    with python_server("ftp_server", tmp_path / "a", "fault=no-rename", scheme="ftp") as server:
        done = send(sender, server.url(user=LAB), expect=4)
        assert "it does not let files be renamed there (550" in done.stderr and server.files() == []
    with python_server("ftp_server", tmp_path / "b", "fault=no-read", scheme="ftp") as server:
        assert "only its size was compared" in send(sender, server.url(user=LAB)).stdout
        check_home(sender, server, tmp_path)
        assert "cannot" not in send(sender, server.url(user=LAB)).stderr
        check_home(sender, server, tmp_path)
    with python_server("ftp_server", tmp_path / "c", scheme="ftp") as server:
        assert "there is no directory 'nowhere'." in send(sender, server.url("nowhere", user=LAB), expect=4).stderr


@pytest.mark.parametrize("way", ["address", "file", "environment", "netrc"])
def test_no_password_is_shown_even_where_a_server_repeats_it(sender, tmp_path, way):
    # The server knows another user's password, and repeats in its refusal what was given.
    with python_server("ftp_server", tmp_path / "ftp", "fault=echo", scheme="ftp") as server:
        user, words, environment = "other", [], {}
        if way == "address":
            user = f"other:{PASSWORD}"
        elif way == "file":
            (tmp_path / "secret").write_text(f"{PASSWORD}\n")
            words = ["--password-file", str(tmp_path / "secret")]
        elif way == "environment":
            environment = {"PLIMSOLL_PASSWORD": PASSWORD}
        else:
            (tmp_path / ".netrc").write_text(f"machine 127.0.0.1 login other password {PASSWORD}\n")
            (tmp_path / ".netrc").chmod(0o600)
        done = send(sender, server.url(user=user), *words, expect=4, **environment)
        assert "it does not let 'other' in (530 User other with *** is not let in)" in done.stderr


def test_ftps_knows_a_server_by_its_certificate_alone(sender, tmp_path):
    cert, other, named = (certificate(tmp_path / one, name) for one, name in (("a", "127.0.0.1"), ("b", "127.0.0.1"), ("c", "nas.example")))
    shown = subprocess.run(
        ["openssl", "x509", "-in", str(cert), "-noout", "-fingerprint", "-sha256"], capture_output=True, text=True, check=True
    ).stdout
    with python_server("ftp_server", tmp_path / "ftp", f"cert={cert}", scheme="ftps") as server:
        url = server.url(user=LAB)
        assert "its certificate is not trusted" in send(sender, url, "--ca", str(other), expect=4).stderr
        assert "has another fingerprint" in send(sender, url, "--fingerprint", "0" * 64, expect=4).stderr
        # Nobody was named before that: no password went to whom nobody knows.
        assert server.files() == [] and "lab" not in (server.home / "log").read_text()
        send(sender, url, "--fingerprint", shown.strip().partition("=")[2])
        check_home(sender, server, tmp_path)
    with python_server("ftp_server", tmp_path / "named", f"cert={named}", scheme="ftps") as server:
        assert (
            "its certificate is not trusted (IP address mismatch" in send(sender, server.url(user=LAB), "--ca", str(named), expect=4).stderr
        )


def test_tls_from_the_first_byte_is_what_port_990_means(sender, tmp_path, monkeypatch, capsys):
    cert = certificate(tmp_path / "tls")
    with python_server("ftp_server", tmp_path / "ftp", f"cert={cert}", "implicit", scheme="ftps") as server:
        monkeypatch.setattr("plimsoll.delivery.ftp._TLS_PORT", server.port)
        monkeypatch.chdir(tmp_path)
        said = in_this_process(capsys)("send", NAME, "--to", server.url(user=LAB), "--ca", str(cert))
        assert said.code == 0, said.err
        check_home(sender, server, tmp_path)


def test_a_server_of_ftp_without_tls_gets_nothing_from_ftps(sender, tmp_path):
    with python_server("ftp_server", tmp_path / "ftp", scheme="ftps") as server:
        assert "it refuses" in send(sender, server.url(user=LAB), expect=4).stderr
        assert server.files() == [] and "lab" not in (server.home / "log").read_text()


@pytest.mark.parametrize("way", ["starttls", "smtps", "plain"])
def test_a_mail_becomes_the_run_that_was_sent(sender, tmp_path, way):
    cert = certificate(tmp_path / "tls")
    words = {"starttls": [f"cert={cert}", "login"], "smtps": [f"cert={cert}", "implicit", "login"], "plain": []}[way]
    with python_server("mail_server", tmp_path / "mail", *words, scheme="smtps" if way == "smtps" else "smtp") as server:
        user = "" if way == "plain" else LAB
        url = server.url("lab@example.org,second@example.org?from=rack12@example.org", user=user).replace("//@", "//")
        url = url.replace(f"//{server.user}@", "//") if way == "plain" else url
        done = send(sender, url, *(["--ca", str(cert)] if words else []))
        assert "the mail server took it; whether it arrives is not known here" in done.stdout
        check_home(sender, server, tmp_path)
        assert "was mailed already" in send(sender, url, *(["--ca", str(cert)] if words else [])).stdout
        assert server.files() == ["0.eml"]
        text = (server.inbox / "0.eml").read_text()
        assert "From: rack12@example.org" in text and "To: lab@example.org, second@example.org" in text


def test_a_mail_whose_answer_was_lost_comes_twice_and_is_one_run(sender, tmp_path):
    with python_server("mail_server", tmp_path / "mail", "fault=cut", scheme="smtp") as server:
        assert "trying again" in send(sender, _plain(server)).stderr
        assert server.files() == ["0.eml", "1.eml"]
        assert len({re.search(r"Message-ID: \S+", (server.inbox / name).read_text())[0] for name in server.files()}) == 1
        done = sender("receive", str(server.inbox), "-o", "home")
        assert done.stdout.count("was there already") == 1 and os.listdir(tmp_path / "home") == [NAME]


def test_what_a_mail_server_answers_is_waited_for_or_said(sender, tmp_path):
    with python_server("mail_server", tmp_path / "a", "fault=later", scheme="smtp") as server:
        assert "452 4.3.1 the disk is full; trying again" in send(sender, _plain(server)).stderr
        check_home(sender, server, tmp_path)
    with python_server("mail_server", tmp_path / "b", "fault=refuse", scheme="smtp") as server:
        assert "it refuses: 554 5.7.1 attachments are not taken." in send(sender, _plain(server), expect=4).stderr
        # One of two who is unknown: nobody gets it, so that it cannot come twice to the other.
        both = _plain(server).replace("lab@", "lab@example.org,nobody@")
        assert "550 5.1.1 no such mailbox" in send(sender, both, expect=4).stderr
        assert server.files() == []


def test_a_mail_that_is_too_large_goes_without_the_report_or_not_at_all(sender, tmp_path):
    with python_server("mail_server", tmp_path / "a", f"size={600 << 10}", scheme="smtp") as server:
        send(sender, _plain(server))
        text = (server.inbox / "0.eml").read_text()
        assert "text/html" not in text and "The report was too large to attach" in text
        check_home(sender, server, tmp_path)
    with python_server("mail_server", tmp_path / "b", f"size={2 << 10}", scheme="smtp") as server:
        done = send(sender, _plain(server), expect=4)
        assert "and the server takes 2 KiB; send it to https:// or sftp://." in done.stderr and server.files() == []


@pytest.mark.parametrize("way", ["address", "file", "environment"])
def test_a_mail_server_that_repeats_the_password_is_not_quoted(sender, tmp_path, way):
    cert = certificate(tmp_path / "tls")
    with python_server("mail_server", tmp_path / "mail", f"cert={cert}", "login", "fault=echo", scheme="smtp") as server:
        user, words, environment = "other", [], {}
        if way == "address":
            user = f"other:{PASSWORD}"
        elif way == "file":
            (tmp_path / "secret").write_text(PASSWORD)
            words = ["--password-file", str(tmp_path / "secret")]
        else:
            environment = {"PLIMSOLL_PASSWORD": PASSWORD}
        done = send(sender, server.url("lab@example.org", user=user), "--ca", str(cert), *words, expect=4, **environment)
        assert "it does not let 'other' in (535 5.7.8 *** is wrong)" in done.stderr and server.files() == []


def test_a_mail_server_without_the_tls_that_was_asked_for_gets_nothing(sender, tmp_path):
    cert = certificate(tmp_path / "tls")
    with python_server("mail_server", tmp_path / "mail", scheme="smtp") as server:
        assert "it offers no TLS" in send(sender, _plain(server), "--ca", str(cert), expect=4).stderr
        assert server.files() == []


def test_one_that_fails_keeps_no_other_from_going_and_unsent_takes_it_up(sender, tmp_path):
    second = "2026-11-21T04-44-10_two"
    write_run(tmp_path / "results" / second, Array("two", seconds=5), PROFILES[:1])
    port = free_port()
    url = f"ftp://{LAB}@127.0.0.1:{port}/"
    done = sender("send", NAME, second, "--to", url, "--give-up-after", "1s", expect=4)
    assert done.stderr.count("was not delivered in 1 s: connection refused.") == 2
    with python_server("ftp_server", tmp_path / "ftp", f"port={port}", scheme="ftp") as server:
        # The password is nowhere noted, so it is given again.
        done = sender("send", "--unsent", expect=4)
        assert done.stderr.count("no password was given, see --password-file") == 2 and server.files() == []
        done = sender("send", "--unsent", PLIMSOLL_PASSWORD=PASSWORD)
        assert done.stdout.count("is there") == 2 and len(server.files()) == 2
        assert not list(Path(tmp_path / "results").glob(f"{FOLDER}/*.json"))


def _plain(server):
    return f"smtp://127.0.0.1:{server.port}/lab@example.org"
