"""What is checked before an array is served, and what clears up behind a server that was killed."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from plimsoll.errors import InputError, PlimsollError, TargetError
from plimsoll.reports.terminal.server import serving_text
from plimsoll.serving.endpoints import loopback_socket, mountable, unix_socket
from plimsoll.serving.guard import is_mounted
from support.said import Plimsoll


def _sentence(problem: pytest.ExceptionInfo[PlimsollError]) -> str:
    text = str(problem.value)
    assert "\n" not in text and text.endswith("."), text
    return text


def test_a_socket_is_made_and_one_that_is_in_use_is_refused(tmp_path: Path) -> None:
    path = str(tmp_path / "array.sock")
    bound = unix_socket(path)
    with pytest.raises(InputError) as problem:
        unix_socket(path)
    assert "a socket of this name exists and is in use; end its server" in _sentence(problem)
    bound.close()


def test_the_socket_of_a_server_that_was_killed_is_taken_over(tmp_path: Path) -> None:
    # It stays when its server is killed, and the same command was refused from then on.
    path = str(tmp_path / "array.sock")
    unix_socket(path).close()
    bound = unix_socket(path)
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(path)
    bound.close()


def test_a_socket_of_another_kind_that_is_in_use_is_left_alone(tmp_path: Path) -> None:
    path = str(tmp_path / "log.sock")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as log:
        log.bind(path)
        with pytest.raises(InputError):
            unix_socket(path)
        assert os.path.exists(path)


def test_a_file_is_no_place_for_a_socket_and_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "mine"
    path.write_text("precious")
    with pytest.raises(InputError) as problem:
        unix_socket(str(path))
    assert "a file of this name exists" in _sentence(problem)
    assert path.read_text() == "precious"


def test_a_socket_without_a_directory_or_with_a_long_path_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError) as problem:
        unix_socket(str(tmp_path / "no" / "array.sock"))
    assert "there is no directory" in _sentence(problem)
    with pytest.raises(InputError) as problem:
        unix_socket("x" * 108)
    assert "longer than the 107 bytes" in _sentence(problem)


def test_a_port_that_is_taken_is_refused_and_zero_finds_a_free_one() -> None:
    bound = loopback_socket("127.0.0.1", 0)
    port = bound.getsockname()[1]
    assert port > 0
    with pytest.raises(InputError) as problem:
        loopback_socket("127.0.0.1", port)
    assert f"--port {port}: another program listens there" in _sentence(problem)
    bound.close()


@pytest.mark.parametrize(
    ("address", "part"), [("0.0.0.0", "not a loopback address"), ("192.168.1.1", "not a loopback"), ("::", "not a"), ("here", "not an IP")]
)
def test_only_loopback_addresses_are_served(address: str, part: str) -> None:
    with pytest.raises(InputError) as problem:
        loopback_socket(address, 0)
    assert part in _sentence(problem)


@pytest.mark.skipif(not socket.has_ipv6 or not os.path.exists("/proc/net/if_inet6"), reason="this machine has no IPv6")
def test_the_loopback_of_version_six_is_one() -> None:
    loopback_socket("::1", 0).close()


def test_an_array_is_mounted_on_an_empty_directory_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    device = str(tmp_path / "fuse")
    with pytest.raises(TargetError) as problem:
        mountable(str(tmp_path), device=device)
    assert "is missing, so nothing can be mounted here" in _sentence(problem)
    Path(device).touch()
    with monkeypatch.context() as patched, pytest.raises(TargetError) as problem:
        patched.setattr(os, "access", lambda *_: False)
        mountable(str(tmp_path), device=device)
    assert "you may not open" in _sentence(problem)
    for directory, part in ((str(tmp_path), "not empty"), (str(tmp_path / "no"), "no such directory"), (device, "this is no directory")):
        with pytest.raises(InputError) as problem:
            mountable(directory, device=device)
        assert part in _sentence(problem)
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to("empty")
    assert mountable(str(tmp_path / "link"), device=device) == str((tmp_path / "empty").resolve())


def test_the_guard_knows_its_mount_by_directory_and_device() -> None:
    mounts = r"""36 1 8:1 / / rw - ext4 /dev/sda1 rw
90 36 0:57 / /mnt/an\040array rw,nosuid - fuse plimsoll:x rw
"""
    assert is_mounted("/mnt/an array", "0:57", mounts)
    assert not is_mounted("/mnt/an array", "0:58", mounts), "somebody else's by now"
    assert not is_mounted("/mnt/other", "0:57", mounts)


def test_a_report_shows_lateness_beside_service_and_its_doubts() -> None:
    digest = {"mean_ns": 1e6, "p50_ns": 900_000, "p99_ns": 2_000_000, "max_ns": 3_000_000}
    late = {"mean_ns": 2e4, "p50_ns": 10_000, "p99_ns": 50_000, "max_ns": 1_000_000}
    counts = dict.fromkeys(("reads", "writes", "trims", "flushes", "failed"), 0) | {"reads": 1234}
    text = serving_text(
        {
            "answers": 1234,
            "elapsed_ns": 2e9,
            "answers_per_s": 617.0,
            "counts": counts,
            "service": digest,
            "lateness": late,
            "lateness_share": 0.05,
            "outstanding_max": 4,
            "data": {"kind": "memory", "kept_bytes": 4096, "bound_bytes": 1 << 30},
            "flags": [{"name": "late", "text": "too late"}],
            "scheduled_first": False,
        }
    )
    assert text.splitlines() == [
        "served    1,234 requests in 2.0 s (617 per s): 1,234 reads; at most 4 at once",
        "service   mean 1.00 ms, p50 900 µs, p99 2.00 ms (modelled)",
        "lateness  mean 20.0 µs, p50 10.0 µs, p99 50.0 µs, max 1.00 ms; p99 is 5.0 % of the mean service",
        "data      memory, 4 KiB of at most 1 GiB kept",
        "advice    as root, or with a limit 'ulimit -r 1', the server comes before other programs and is less late",
        "flag      late: too late",
    ]


def test_nothing_is_left_of_a_socket_when_the_rest_is_wrong(plimsoll: Plimsoll, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("precious")
    ended = plimsoll("serve-array", "array:nvme", "--socket", str(tmp_path / "s"), "--data", str(tmp_path / "mine"))
    assert ended.code == 2 and "it has 8 bytes and the array" in ended.err
    assert not (tmp_path / "s").exists()
