"""``plimsoll serve-array`` as other programs see it: fio, libnbd and qemu over NBD, and any program on the mounted file.

Data that are written come back, several clients share one array, trims free and read as zeros, what lies outside is refused, and
nothing is left behind, however the server ends.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support.patience import HANGS_S, wait_until
from support.served_array import fio, missing_for_mount, missing_of_fio, served

#: Two disks are quick to build; caches make its writes quick.
ARRAY = "array:msa50-sas-10k-raid10-6"
#: One request after the other, each 10 ms, so that those of one client queue however seldom the machine lets it and the server run.
SLOW = f"{ARRAY}?host.request_ns=10ms"
ELSEWHERE = ["--socket", "./array.sock"]

nbd_fio = pytest.mark.skipif(missing_of_fio("nbd") is not None, reason=str(missing_of_fio("nbd")))
mount = pytest.mark.skipif(missing_for_mount() is not None, reason=str(missing_for_mount()))


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _flags(report: dict) -> set[str]:
    return {flag["name"] for flag in report["flags"]}


@nbd_fio
@pytest.mark.parametrize("data", ["memory", "./kept"])
def test_what_fio_writes_over_nbd_it_reads_back(data: str) -> None:
    with served(ARRAY, *ELSEWHERE, "--data", data) as server:
        options = ["--ioengine=nbd", f"--uri={server.addresses[0]}", "--rw=randwrite", "--bs=4k", "--iodepth=16", "--size=4m"]
        ended = fio(*options, "--verify=crc32c", "--do_verify=1", "--verify_fatal=1", "--fsync=64")
        assert ended.returncode == 0, ended.stdout + ended.stderr
        report = server.stop()
    counts = report["counts"]
    assert (counts["reads"], counts["writes"], counts["written_bytes"]) == (1024, 1024, 4 << 20)
    assert counts["flushes"] >= 16
    assert not Path("array.sock").exists()
    if data == "./kept":
        kept = Path(data).stat()
        assert kept.st_size > 100 << 30 and kept.st_blocks * 512 < 32 << 20, "as large as the array, and sparse"


@nbd_fio
def test_requests_of_one_connection_are_under_way_together() -> None:
    with served(SLOW, *ELSEWHERE) as server:
        options = ["--ioengine=nbd", f"--uri={server.addresses[0]}", "--rw=randread", "--bs=4k", "--iodepth=16", "--size=256k"]
        ended = fio(*options)
        assert ended.returncode == 0, ended.stdout + ended.stderr
        report = server.stop()
    assert report["counts"]["reads"] == 64 and 4 < report["outstanding_max"] <= 16


@nbd_fio
def test_several_connections_share_one_array() -> None:
    with served(SLOW, *ELSEWHERE, "--port", "0", places=2) as server:
        assert server.addresses[0].startswith("nbd://127.0.0.1:")
        jobs = [
            "--numjobs=4",
            "--group_reporting",
            "--ioengine=nbd",
            "--rw=randread",
            "--bs=4k",
            "--iodepth=4",
            "--size=1g",
            "--number_ios=25",
        ]
        for address in server.addresses:
            ended = fio(*jobs, f"--uri={address}")
            assert ended.returncode == 0, ended.stderr
        report = server.stop()
    assert report["counts"]["reads"] == 2 * 4 * 25
    assert report["outstanding_max"] > 4, "one connection has four at most"


class _Client:
    """As much of the protocol as a test of what the server refuses needs; a client keeps to what is allowed."""

    def __init__(self, path: str) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        assert self._take(16) == b"NBDMAGICIHAVEOPT"
        self._take(2)
        name = struct.pack(">IQII", 3, int.from_bytes(b"IHAVEOPT", "big"), 1, 0)
        self.socket.sendall(name)
        self.size_bytes, self.flags = struct.unpack(">QH", self._take(10))

    def ask(self, kind: int, offset: int, length: int, data: bytes = b"") -> tuple[int, bytes]:
        """Error number and what was read."""
        self.socket.sendall(struct.pack(">IHHQQI", 0x25609513, 0, kind, 7, offset, length) + data)
        magic, error, cookie = struct.unpack(">IIQ", self._take(16))
        assert (magic, cookie) == (0x67446698, 7)
        return error, self._take(length) if kind == 0 and not error else b""

    def _take(self, count: int) -> bytes:
        taken = b""
        while len(taken) < count:
            piece = self.socket.recv(count - len(taken))
            assert piece, "the server hung up"
            taken += piece
        return taken


@pytest.fixture
def connect() -> Iterator[Callable[[], _Client]]:
    """Connect to ``array.sock`` until the test is over."""
    clients: list[_Client] = []

    def connected() -> _Client:
        clients.append(_Client("array.sock"))
        return clients[-1]

    yield connected
    for client in clients:
        client.socket.close()


READ, WRITE, FLUSH, TRIM, ZEROES = 0, 1, 3, 4, 6


def test_trims_and_zeros_read_as_zeros_and_what_lies_outside_is_refused(connect: Callable[[], _Client]) -> None:
    with served(ARRAY, *ELSEWHERE) as server:
        client = connect()
        # has flags, flush, FUA, rotational, trim, write zeroes, several connections
        assert client.flags & 0x17D == 0x17D
        end = client.size_bytes
        assert client.ask(WRITE, end - 8192, 8192, b"x" * 8192) == (0, b"")
        assert client.ask(FLUSH, 0, 0) == (0, b"")
        assert client.ask(TRIM, end - 8192, 4096) == (0, b"")
        assert client.ask(ZEROES, end - 4096, 1024) == (0, b"")
        assert client.ask(READ, end - 8192, 8192) == (0, b"\0" * 5120 + b"x" * 3072)
        assert client.ask(READ, end - 100, 101)[0] == 22
        assert client.ask(WRITE, end, 1, b"x")[0] == 28
        assert client.ask(TRIM, end - 1, 4096)[0] in (22, 28)
        assert client.ask(READ, end - 3, 3) == (0, b"xxx"), "it goes on after a refusal"
        report = server.stop()
    assert report["data"]["kept_bytes"] == 4096


def test_a_full_memory_refuses_writes_and_says_so(connect: Callable[[], _Client]) -> None:
    with served(ARRAY, *ELSEWHERE, "--memory", "8KiB") as server:
        client = connect()
        assert client.ask(WRITE, 0, 8192, b"x" * 8192)[0] == 0
        assert client.ask(WRITE, 1 << 20, 512, b"x" * 512)[0] == 28
        assert client.ask(READ, 0, 1)[1] == b"x"
        report = server.stop()
    assert "full" in _flags(report)


def test_derived_data_follow_from_their_address_and_drop_what_differs(connect: Callable[[], _Client]) -> None:
    with served("array:nearline-raid6", *ELSEWHERE, "--data", "derived") as server:
        client = connect()
        assert client.size_bytes > 10**14
        at = 10**14 // 8 * 8
        assert client.ask(READ, at, 16)[1] == struct.pack("<QQ", at, at + 8)
        assert client.ask(WRITE, at, 8, struct.pack("<Q", at))[0] == 0
        assert client.ask(WRITE, at, 8, b"differen")[0] == 0
        assert client.ask(READ, at, 8)[1] == struct.pack("<Q", at)
        report = server.stop()
    assert report["data"]["differing_writes"] == 1 and "dropped" in _flags(report)


@pytest.mark.skipif(shutil.which("nbdinfo") is None, reason="libnbd's tools are not installed (libnbd-bin)")
def test_the_tools_of_libnbd_work_on_it() -> None:
    with served("array:sata-ssd", *ELSEWHERE) as server:
        shown = subprocess.run(["nbdinfo", server.addresses[0]], capture_output=True, text=True, check=True).stdout
        for fact in (
            "newstyle-fixed without TLS, using structured packets",
            "can_multi_conn: true",
            "can_fua: true",
            "is_rotational: false",
        ):
            assert fact in shown, shown
        Path("sent").write_bytes(os.urandom(1 << 20))
        script = "h.pwrite(open('sent','rb').read(), 4096); assert h.pread(1 << 20, 4096) == open('sent','rb').read()"
        if shutil.which("nbdsh"):
            subprocess.run(["nbdsh", "-u", server.addresses[0], "-c", script], check=True, timeout=HANGS_S)


@pytest.mark.skipif(shutil.which("qemu-io") is None, reason="qemu's tools are not installed (qemu-utils, 100 MB with what it needs)")
def test_the_tools_of_qemu_work_on_it() -> None:
    with served("array:sata-ssd", *ELSEWHERE) as server:
        orders = ["write -P 7 4096 64k", "read -P 7 4096 64k", "discard 4096 64k", "read -P 0 4096 64k", "flush"]
        command = ["qemu-io", "-f", "raw", *(word for order in orders for word in ("-c", order)), server.addresses[0]]
        ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=HANGS_S)
        assert ended.returncode == 0 and "failed" not in ended.stdout, ended.stdout + ended.stderr


def test_sigusr1_asks_for_a_report(connect: Callable[[], _Client]) -> None:
    with served(ARRAY, *ELSEWHERE) as server:
        connect().ask(READ, 0, 4096)
        server.process.send_signal(signal.SIGUSR1)
        assert server.process.stderr is not None
        assert any("served    1 requests" in line for line in server.process.stderr)
        assert any("lateness  mean" in line for line in server.process.stderr)
        assert server.stop()["counts"]["reads"] == 1


def test_a_duration_ends_it() -> None:
    with served(ARRAY, *ELSEWHERE, "--duration", "1s") as server:
        out, _ = server.process.communicate(timeout=HANGS_S)
        server.report = {"ended": True}
    assert server.process.returncode == 0
    assert '"reads": 0' in out and not Path("array.sock").exists()


def test_the_server_ends_with_its_owner(connect: Callable[[], _Client]) -> None:
    with served(ARRAY, *ELSEWHERE) as server:
        client = connect()
        server.process.kill()
        server.process.communicate()
        server.report = {"killed": True}
    client.socket.settimeout(HANGS_S)
    assert client.socket.recv(1) == b"", "it has hung up"


@mount
def test_data_in_a_file_that_is_no_such_file_are_refused_and_it_stays(plimsoll: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    Path("mine").write_text("precious")
    Path("place").mkdir()
    for data, part in (("./mine", "it has 8 bytes and the array"), ("no/data", "it cannot be made"), ("/dev/null", "no regular file")):
        ended = plimsoll("serve-array", ARRAY, "--mount", "place", "--data", data)
        assert ended.returncode == 2 and part in ended.stderr and ended.stderr.count("\n") == 1, ended.stderr
    assert Path("mine").read_text() == "precious" and not os.path.ismount("place")


@mount
@pytest.mark.skipif(missing_of_fio("libaio") is not None, reason=str(missing_of_fio("libaio")))
def test_what_fio_writes_to_the_mounted_file_it_reads_back() -> None:
    Path("place").mkdir()
    with served(ARRAY, "--mount", "place") as server:
        assert server.addresses == [str(Path("place/array").resolve())]
        options = ["--filename=place/array", "--ioengine=libaio", "--direct=1", "--rw=randwrite", "--bs=4k", "--iodepth=16", "--size=4m"]
        ended = fio(*options, "--verify=crc32c", "--do_verify=1", "--verify_fatal=1", "--fsync=64", "--allow_file_create=0")
        assert ended.returncode == 0, ended.stdout + ended.stderr
        report = server.stop()
    assert (report["counts"]["writes"], report["counts"]["reads"]) == (1024, 1024)
    assert report["counts"]["flushes"] >= 10
    assert not os.path.ismount("place") and os.listdir("place") == []


@mount
@pytest.mark.skipif(missing_of_fio("libaio") is not None, reason=str(missing_of_fio("libaio")))
@pytest.mark.parametrize("rw", ["randread", "randwrite"])
def test_requests_to_the_mounted_file_are_under_way_together(rw: str) -> None:
    Path("place").mkdir()
    with served(SLOW, "--mount", "place") as server:
        options = ["--filename=place/array", "--ioengine=libaio", "--direct=1", f"--rw={rw}", "--bs=4k", "--iodepth=16", "--size=256k"]
        ended = fio(*options, "--allow_file_create=0")
        assert ended.returncode == 0, ended.stdout + ended.stderr
        report = server.stop()
    counts = report["counts"]
    assert (counts["reads"], counts["writes"]) == ((64, 0) if rw == "randread" else (0, 64))
    assert 4 < report["outstanding_max"] <= 16


@mount
def test_any_program_can_use_the_mounted_file() -> None:
    Path("place").mkdir()
    with served(ARRAY, "--mount", "place", "--memory", "1MiB") as server:
        file = os.open("place/array", os.O_RDWR)
        size = os.fstat(file).st_size
        os.pwrite(file, b"x" * 8192, 4096)
        os.fsync(file)
        punch = 0x02 | 0x01
        libc = ctypes.CDLL(None, use_errno=True)
        assert libc.fallocate(file, punch, ctypes.c_long(4096), ctypes.c_long(4096)) == 0, os.strerror(ctypes.get_errno())
        assert os.pread(file, 8192, 4096) == b"\0" * 4096 + b"x" * 4096
        assert os.pread(file, 4096, size - 100) == b"\0" * 100, "a read ends where the file does"
        assert os.pread(file, 1, size) == b""
        with pytest.raises(OSError, match="No space left"):
            os.pwrite(file, b"x", size)
        assert 0 < os.pwrite(file, b"x" * (2 << 20), 0) < 2 << 20, "a write that only fits in part is short, as on any file system"
        with pytest.raises(OSError, match="No space left"):
            os.pwrite(file, b"x", 3 << 20)
        os.close(file)
        _check_that_nothing_beside_it_can_be_made_or_changed(Path("place"))
        report = server.stop(signal.SIGTERM)
    assert report["counts"]["trims"] == 1 and "full" in _flags(report)
    assert not os.path.ismount("place")


def _check_that_nothing_beside_it_can_be_made_or_changed(place: Path) -> None:
    """ "Function not implemented" was said of some of these."""
    file = place / "array"
    size = file.stat().st_size
    for forbidden in (
        (place / "another").touch,
        (place / "folder").mkdir,
        lambda: (place / "link").symlink_to("array"),
        lambda: (place / "link").hardlink_to(file),
        lambda: file.rename(place / "other"),
        file.unlink,
        lambda: os.truncate(file, 0),
        lambda: os.truncate(file, size + 1),
        lambda: file.chmod(0o644),
    ):
        with pytest.raises(PermissionError, match="Operation not permitted"):
            forbidden()
    os.truncate(file, size)
    os.utime(file)
    os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC))
    assert os.listdir(place) == ["array"] and file.stat().st_size == size, "what truncates as it opens goes on, as on a device"


@mount
def test_a_file_that_is_open_does_not_keep_the_server_from_ending() -> None:
    Path("place").mkdir()
    with served(ARRAY, "--mount", "place") as server:
        file = os.open("place/array", os.O_RDWR)
        server.stop()
        assert not os.path.ismount("place")
        with pytest.raises(OSError, match=r"not connected|aborted|Input/output"):
            os.pread(file, 4096, 0)
        os.close(file)


@mount
@pytest.mark.parametrize("arguments", [[], ELSEWHERE])
def test_a_killed_server_leaves_no_mount(arguments: list[str]) -> None:
    Path("place").mkdir()
    with served(ARRAY, "--mount", "place", *arguments, places=1 + bool(arguments)) as server:
        server.process.kill()
        server.process.communicate()
        server.report = {"killed": True}
    wait_until(lambda: not os.path.ismount("place") and not _is_dead("place"), "the guard takes it away")
    assert os.listdir("place") == []


@mount
def test_a_server_that_is_killed_as_soon_as_it_has_mounted_leaves_no_mount() -> None:
    """Before its guard could learn which mount it is."""
    Path("place").mkdir()
    killed = "import os; from plimsoll.serving import session; session.tell_guard = lambda *_: os.kill(os.getpid(), 9)"
    command = [
        sys.executable,
        "-c",
        f"{killed}; from plimsoll.cli.program import main; main(['serve-array', '{ARRAY}', '--mount', 'place'])",
    ]
    ended = subprocess.run(command, capture_output=True, check=False, timeout=HANGS_S)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    wait_until(lambda: not os.path.ismount("place") and not _is_dead("place"), "the guard takes it away")
    assert os.listdir("place") == []


def _is_dead(place: str) -> bool:
    try:
        os.listdir(place)
    except OSError:
        return True
    return False


@mount
def test_socket_and_mount_are_one_array(connect: Callable[[], _Client]) -> None:
    Path("place").mkdir()
    with served(ARRAY, *ELSEWHERE, "--mount", "place", places=2) as server:
        assert connect().ask(WRITE, 4096, 5, b"hello")[0] == 0
        with open("place/array", "rb", buffering=0) as file:
            file.seek(4096)
            assert file.read(5) == b"hello"
        report = server.stop()
    assert (report["counts"]["writes"], report["counts"]["reads"]) == (1, 1)
