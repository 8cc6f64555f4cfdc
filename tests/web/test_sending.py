"""`plimsoll send` brings a run home through a real server: whole, once, and only to whom it was meant."""

import contextlib
import http.client
import json
import os
import re
import socket
import subprocess
import sys
import threading

import pytest

from plimsoll.store.parcel import digest_of
from report.synthetic import PROFILES, Array, write_run
from support.patience import HANGS_S, wait_until
from web.served import PATIENCE_S, served

NAME = "2026-11-21T03-44-10_one"


@pytest.fixture
def sender(tmp_path):
    """`plimsoll send` beside a store with one run; code, stdout, stderr."""
    write_run(tmp_path / "results" / NAME, Array("one", seconds=5), PROFILES[:2])

    def send(*words, run=NAME, token=None):
        environment = {**os.environ, **({} if token is None else {"PLIMSOLL_TOKEN": token})}
        done = subprocess.run(
            [sys.executable, "-m", "plimsoll", "send", run, *words],
            check=False,
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
        )
        assert "Traceback" not in done.stderr
        return done.returncode, done.stdout, done.stderr

    return send


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


def test_a_run_comes_home_once(sender, serve, home, tmp_path):
    server = serve(home, "--receive")
    place = f"http://{server.place}"
    assert sender("--to", server.address) == (0, f"{NAME} is there: {place}\n", "")
    assert sender("--to", place, token=server.token) == (0, f"{NAME} was there already: {place}\n", "")
    assert [path.name for path in home.iterdir()] == [NAME]
    assert digest_of(str(home / NAME)) == digest_of(str(tmp_path / "results" / NAME))
    (entry,) = json.loads(server.ask("/api/runs")[2])["runs"]
    assert (entry["name"], entry["points"]) == (NAME, 2)


def test_a_server_that_does_not_receive_says_so(sender, serve, home):
    code, _, err = sender("--to", serve(home).address)
    assert code == 4 and "is refused: there is nothing at /api/parcels/" in err and not home.exists()


def test_who_has_no_token_delivers_nothing(sender, serve, home):
    server = serve(home, "--receive")
    code, _, err = sender("--to", f"http://{server.place}")
    assert code == 2 and "the server asks for a token" in err
    code, _, err = sender("--to", f"http://{server.place}", token="guessed-guessed-guessed")
    assert code == 4 and "needs its token" in err and "guessed" not in err
    assert not home.exists()


def test_the_token_goes_in_clear_text_to_this_machine_alone(sender):
    code, _, err = sender("--to", "http://lab.example:8642/?token=secret-secret-secret")
    assert code == 2 and "the token would travel in clear text; use https." in err and "secret" not in err


def test_a_certificate_is_known_by_its_fingerprint_or_by_its_file(sender, serve, home, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    server = serve(home, "--receive", "--address", "0.0.0.0")
    fingerprint = re.search(r"SHA-256 (\S+)", server.process.stderr.readline())[1]
    place = f"https://localhost:{server.port}"
    code, _, err = sender("--to", place, token=server.token)
    assert code == 4 and "its certificate is not trusted (self-signed certificate); give --ca FILE, or its SHA-256 as --fingerprint." in err
    code, _, err = sender("--to", place, "--fingerprint", "00" * 32, token=server.token)
    assert code == 4 and "its certificate has another fingerprint" in err and "nothing was sent" in err
    assert not home.exists()
    assert sender("--to", place, "--fingerprint", fingerprint, token=server.token)[0] == 0
    (cert,) = (tmp_path / "cache" / "plimsoll" / "certificates").glob("*.pem")
    assert sender("--to", place, "--ca", str(cert), token=server.token)[1] == f"{NAME} was there already: {place}\n"


def test_a_server_that_comes_later_gets_the_run(sender, home, tmp_path):
    held = tmp_path / "token"
    held.write_text("0123456789abcdef0123")
    held.chmod(0o600)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "plimsoll", "send", NAME, "--to", f"http://127.0.0.1:{port}", "--token-file", str(held)]
    heard = tmp_path / "heard"
    with heard.open("w") as err, subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=err, text=True) as sending:
        wait_until(lambda: "trying again" in heard.read_text(), "nobody is there when it is sent first")
        server = served(home, "--receive", "--token-file", str(held), "--port", str(port))
        out, _ = sending.communicate(timeout=HANGS_S)
    server.stop()
    assert sending.returncode == 0 and "is there" in out
    assert re.search(r"connection refused; trying again in [\d.]+ (m?s)", heard.read_text())


def test_an_answer_that_was_lost_does_no_harm(sender, home, serve):
    # Between the two stands a relay, which has another name and cuts the first connection when the server answers.
    server = serve(home, "--receive")
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    threading.Thread(target=_cutting, args=(listener, server.port), daemon=True).start()
    code, out, err = sender("--to", f"http://localhost:{port}", token=server.token)
    assert (code, out) == (0, f"{NAME} was there already: http://localhost:{port}\n"), err
    assert "trying again" in err and [path.name for path in home.iterdir()] == [NAME]


def _cutting(listener, port):
    """Hands on what comes; the first time without the answer."""
    for cut in (True, False):
        client, _ = listener.accept()
        server = socket.create_connection(("127.0.0.1", port))
        threading.Thread(target=_handed_on, args=(client, server, listener.getsockname()[1], port), daemon=True).start()
        answer = b""
        while piece := server.recv(65536):
            answer += piece
            if b'"known"' in answer or cut:
                break
        if not cut:
            client.sendall(answer)
        for one in (client, server):
            # Another thread still reads; to close it alone would tell the other end nothing.
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
    listener.close()


def _handed_on(client, server, own, port):
    first = True
    with contextlib.suppress(OSError):
        while piece := client.recv(65536):
            server.sendall(piece.replace(f"localhost:{own}".encode(), f"127.0.0.1:{port}".encode()) if first else piece)
            first = False


def test_time_that_is_over_is_said(sender):
    code, _, err = sender("--to", "http://127.0.0.1:1", "--for", "1s", token="x" * 20)
    assert code == 4 and f"{NAME} was not delivered in 1 s: connection refused." in err


def test_a_directory_is_a_destination(sender, tmp_path):
    assert sender("--to", f"file:{tmp_path / 'stick'}")[:2] == (0, f"{NAME} is there: {tmp_path / 'stick'}\n")
    assert sender("--to", f"file:{tmp_path / 'stick'}")[1].startswith(f"{NAME} was there already")


def test_a_directory_that_cannot_be_one_is_said_with_the_option_that_names_another(sender, tmp_path):
    (tmp_path / "file").write_text("")
    for place, reason in ((tmp_path / "file", "file exists"), ("/proc/nowhere", "no such file or directory")):
        code, _, err = sender("--to", f"file:{place}")
        assert code == 5 and f"{place}: nothing can be stored there ({reason}); name another directory, --to file:DIR." in err


def test_an_address_without_a_host_is_none_whether_there_is_a_token_or_not(sender):
    code, _, err = sender("--to", "https://", token=None)
    assert code == 2 and "'https://' is no address; write for example https://lab7:8642." in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--to", "gopher://x"), "it begins with none of https://, http://, sftp://, scp://, ftps://, ftp://, smtps://, smtp:// or file:"),
        (("--to", "https://"), "is no address; write for example https://lab7:8642."),
        (("--to", "https://[x"), "is no address"),
        (("--to", "file:"), "names no directory"),
        (("--to", "https://x", "--fingerprint", "3F"), "it has 64 hexadecimal digits"),
        (("--to", "https://x", "--ca", "/absent"), "--ca /absent: no such file or directory"),
        (("--to", "https://x", "--token-file", "/absent"), "--token-file /absent: no such file or directory"),
        (("--to", "https://x", "--give-up-after", "soon"), "--give-up-after"),
        (("--to", "https://x", "--identity", "id"), "--identity is for sftp:// or scp://; leave it out for https://."),
        ((), "--to is missing"),
    ],
)
def test_what_cannot_be_sent_is_said_in_a_sentence(sender, words, said):
    code, _, err = sender(*words, token="x" * 20)
    assert code == 2 and said in err


@pytest.mark.parametrize(
    ("headers", "body", "status", "said"),
    [
        ({}, b"x", 400, "X-Plimsoll-Digest is missing"),
        ({"X-Plimsoll-Digest": "0" * 64, "Content-Length": str(5 << 30)}, b"", 413, "not more than 4 GiB"),
        ({"X-Plimsoll-Digest": "0" * 64}, b"no parcel", 400, "no whole parcel"),
    ],
)
def test_what_is_no_parcel_is_refused(serve, home, headers, body, status, said):
    server = serve(home, "--receive")
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE_S)
    connection.putrequest("PUT", "/api/parcels/x", skip_host=True)
    for name, value in {
        "Host": server.place,
        "Authorization": f"Bearer {server.token}",
        "Content-Length": str(len(body)),
        **headers,
    }.items():
        connection.putheader(name, value)
    connection.endheaders()
    connection.send(body)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    assert (answer.status, said in text) == (status, True)
    assert not home.exists() or list(home.iterdir()) == []
