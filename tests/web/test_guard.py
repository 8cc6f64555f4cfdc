"""Who is let in: by token, cookie, name and origin; and what every answer forbids."""

import re
import stat
import subprocess
import sys

import pytest

from report.synthetic import PROFILES, Array, write_run
from support.patience import HANGS_S
from web.served import cookie_of, served, trusting


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    store = tmp_path_factory.mktemp("store")
    write_run(store / "2026-11-21T03-44-10_one", Array("one", seconds=5), PROFILES[:1])
    started = served(store)
    yield started
    started.stop()


@pytest.mark.parametrize("path", ["/", "/api/runs", "/api/events", "/assets/live.js", "/runs/2026-11-21T03-44-10_one/report", "/compare"])
@pytest.mark.parametrize("bearer", [None, "wrong", ""])
def test_nothing_is_told_without_the_token(server, path, bearer):
    status, _, text = server.ask(path, bearer=bearer)
    assert (status, text) == (401, "This page needs its token; open the address that 'plimsoll serve' printed.\n")


def test_the_printed_address_gives_a_cookie_that_scripts_and_other_sites_cannot_have(server):
    status, headers, _ = server.ask(f"/?token={server.token}", bearer=None)
    assert (status, headers["location"]) == (303, "/")
    assert re.fullmatch(r"plimsoll-\d+=[0-9a-f]{64}; Path=/; HttpOnly; SameSite=Strict", headers["set-cookie"])
    assert server.token not in headers["set-cookie"]
    assert server.ask("/api/runs", bearer=None, headers={"Cookie": cookie_of(headers)})[0] == 200
    assert server.ask("/api/runs", bearer=None, headers={"Cookie": cookie_of(headers)[:-1] + "0" * 2})[0] == 401


def test_a_wrong_token_in_the_address_gives_no_cookie(server):
    status, headers, text = server.ask("/?token=guessed", bearer=None)
    assert status == 401 and "set-cookie" not in headers and "not the one" in text


def test_the_token_leads_to_no_other_host(server):
    _, headers, _ = server.ask(f"//evil.example/?token={server.token}&x=1", bearer=None)
    assert headers["location"] == "/evil.example/?x=1"


@pytest.mark.parametrize("name", ["evil.example", "127.0.0.1:1", "localhost", "127.0.0.1.evil.example"])
def test_a_foreign_name_that_leads_here_is_not_answered(server, name):
    status, _, text = server.ask("/api/runs", host=name)
    assert status == 421 and "is not called that" in text


def test_the_machines_own_name_is_answered(server):
    assert server.ask("/api/runs", host=f"LocalHost:{server.port}")[0] == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1"])
def test_another_page_can_change_nothing(server, origin):
    _, headers, _ = server.ask(f"/?token={server.token}", bearer=None)
    for given in ({"Cookie": cookie_of(headers), "Origin": origin}, {"Cookie": cookie_of(headers)}):
        status, _, text = server.ask("/api/runs", "POST", bearer=None, headers=given)
        assert (status, text) == (403, "This request comes from another page; nothing is done.\n")
    assert server.ask("/api/runs", "POST", headers={"Origin": origin})[0] == 403


@pytest.mark.parametrize("path", ["/", "/api/runs", "/nowhere"])
def test_every_answer_forbids_foreign_scripts_and_frames(server, path):
    _, headers, _ = server.ask(path)
    assert headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'")
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-frame-options"] == "DENY" and headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store" and headers["cross-origin-resource-policy"] == "same-origin"


def test_a_report_keeps_the_policy_of_its_own_script(server):
    _, headers, text = server.ask("/runs/2026-11-21T03-44-10_one/report")
    assert headers["content-security-policy"] == "frame-ancestors 'none'"
    assert "script-src 'sha256-" in text


def test_no_path_leads_out_of_the_store(server):
    for name in ("..%2f..%2fetc", "%2e%2e", ".hidden", "2026-11-21T03-44-10_one%2f..%2f2026-11-21T03-44-10_one", "absent"):
        assert server.ask(f"/runs/{name}/report")[0] == 404


def test_other_addresses_get_tls_with_a_certificate_of_their_own(serve, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    server = serve(tmp_path, "--address", "0.0.0.0", "--name", "lab.example")
    assert server.address.startswith("https://lab.example:")
    made = list((tmp_path / "cache" / "plimsoll" / "certificates").iterdir())
    (cert,) = [path for path in made if path.suffix == ".pem"]
    (key,) = [path for path in made if path.suffix == ".key"]
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    status, headers, _ = server.ask(f"/?token={server.token}", bearer=None, host=f"lab.example:{server.port}", context=trusting(cert))
    assert status == 303 and headers["set-cookie"].endswith("; Secure")
    said = server.process.stderr.readline()
    assert re.fullmatch(r"certificate SHA-256 ([0-9A-F]{2}:){31}[0-9A-F]{2}\n", said)
    again = serve(tmp_path, "--address", "0.0.0.0", "--name", "lab.example")
    assert again.process.stderr.readline() == said


def test_a_token_may_come_from_a_file_that_only_its_owner_reads(serve, plimsoll_words, tmp_path):
    held = tmp_path / "token"
    held.write_text("0123456789abcdef0123\n")
    held.chmod(0o644)
    assert "others can read it; take their right away with 'chmod 600'." in plimsoll_words("--token-file", str(held))
    held.chmod(0o600)
    assert serve(tmp_path, "--token-file", str(held)).token == "0123456789abcdef0123"
    held.write_text("short")
    assert "at least 16 characters" in plimsoll_words("--token-file", str(held))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--address", "lab.example"), "is no IP address"),
        (("--name", 'lab7 "<b>'), "is no name or address of a machine"),
        (("--name", "[::1]"), "is no name or address of a machine"),
        (("--key", "x.pem"), "--cert and --key belong together"),
        (("--cert", "x.pem"), "--cert and --key belong together"),
        (("--cert", "/absent.pem", "--key", "/absent.key"), "no such file or directory"),
        (("--token-file", "/absent"), "no such file or directory"),
    ],
)
def test_what_cannot_be_served_is_said_in_a_sentence(plimsoll_words, words, said):
    assert said in plimsoll_words(*words)


def test_a_port_in_use_is_said_with_what_to_do(server, plimsoll_words):
    assert f"--port {server.port}: address already in use; give another --port, or 0 for a free one." in plimsoll_words(
        "--port", str(server.port)
    )


@pytest.fixture
def plimsoll_words(tmp_path):
    """What `plimsoll serve` says that cannot serve."""

    def say(*words):
        found = subprocess.run(
            [sys.executable, "-m", "plimsoll", "serve", "--out", str(tmp_path), *words],
            check=False,
            capture_output=True,
            text=True,
            timeout=HANGS_S,
        )
        assert found.returncode == 2 and "Traceback" not in found.stderr
        return found.stderr

    return say
