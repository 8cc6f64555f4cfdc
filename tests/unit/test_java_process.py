"""What Spark needs is looked for before anything is written, and its Java process is stopped by whoever finds it left."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from plimsoll.apps.databases import java_process, spark
from plimsoll.apps.databases.address import parse
from plimsoll.apps.databases.java_process import check, running, stop_orphan, stop_process
from plimsoll.errors import InputError
from plimsoll.orphans import Note

GIB = 1 << 30


@pytest.fixture(autouse=True)
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """pyspark, Java 17, and memory enough."""
    monkeypatch.setattr(java_process, "package", lambda: None)
    monkeypatch.setattr(java_process, "meminfo", lambda _: 4 * GIB)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    java(tmp_path, '17.0.15" 2025-04-15')


def java(folder: Path, version: str) -> None:
    program = folder / "java"
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}' >&2\n")
    program.chmod(0o755)


def test_nothing_is_said_where_everything_is_there() -> None:
    check(GIB)


@pytest.mark.parametrize(("version", "number"), [('1.8.0_422"', 8), ('11.0.2" 2019-01-15', 11), ('21" 2023-09-19', 21)])
def test_the_version_of_java_is_read(tmp_path: Path, version: str, number: int) -> None:
    java(tmp_path, version)
    assert java_process.java_version() == number


def test_a_java_that_is_too_old_is_named(tmp_path: Path) -> None:
    java(tmp_path, '11.0.2" 2019-01-15')
    with pytest.raises(InputError, match=rf"needs Java 17 or newer, and {tmp_path}/java is Java 11; install it .*default-jre-headless"):
        check(GIB)


def test_a_missing_java_is_said_with_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    with pytest.raises(InputError, match=r"not installed here; install it .*apt-get install default-jre-headless"):
        check(GIB)


def test_too_little_memory_is_said_before_java_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(java_process, "meminfo", lambda _: GIB)
    with pytest.raises(InputError, match=r"takes about 2\.391 GiB of memory here, and 1 GiB are available"):
        check(2 * GIB)


def test_a_missing_package_is_said_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(InputError, match=r"pip install 'plimsoll\[spark\]'"):
        check(GIB)


def test_a_master_that_does_not_answer_is_named() -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        port = nobody.getsockname()[1]
        address = parse(f"spark://127.0.0.1:{port}?data=/mnt/dss")
        with pytest.raises(InputError, match=rf"no Spark master answers \(127\.0\.0\.1:{port}: connection refused\)"):
            spark.check(address, None)


@contextmanager
def left_behind(home: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process like Spark's in a directory."""
    home.mkdir(parents=True, exist_ok=True)
    waiting = "import sys; print(flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", waiting, "org.apache.spark.deploy.SparkSubmit"]
    with subprocess.Popen(command, cwd=home, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield process
        finally:
            process.kill()


def test_the_process_of_a_killed_run_is_stopped_and_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    home = tmp_path / "target" / "spark"
    with left_behind(home) as process:
        said = stop_orphan(Note("spark", str(tmp_path / "target"), {"home": str(home)}))
        assert said == f"stopped Spark in {tmp_path}/target, which a killed run had left running (pid {process.pid})"
        assert process.wait() < 0
    assert running(str(home)) == []


def test_processes_that_are_not_sparks_or_work_elsewhere_stay(tmp_path: Path) -> None:
    with left_behind(tmp_path / "other") as elsewhere:
        other = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], cwd=tmp_path, stdin=subprocess.PIPE)
        try:
            assert stop_process(str(tmp_path)) == []
            assert other.poll() is elsewhere.poll() is None
        finally:
            other.communicate(b"")


def test_a_note_that_names_a_place_outside_its_target_stops_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with left_behind(tmp_path / "elsewhere") as process:
        assert stop_orphan(Note("spark", str(tmp_path / "target"), {"home": str(tmp_path / "elsewhere")})) is None
        assert process.poll() is None


def test_variables_that_pyspark_is_told_by_go_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "1")
    with java_process._environment({"PYSPARK_GATEWAY_PORT": "2", "PYSPARK_GATEWAY_SECRET": "word"}):
        assert os.environ["PYSPARK_GATEWAY_SECRET"] == "word"
    assert os.environ["PYSPARK_GATEWAY_PORT"] == "1"
    assert "PYSPARK_GATEWAY_SECRET" not in os.environ


def test_a_process_that_dies_after_its_connection_is_waited_for(tmp_path: Path) -> None:
    process = java_process.JavaProcess(str(tmp_path), str(tmp_path), alone=True)
    assert process.ended(within_s=60.0) is None
    process._process = subprocess.Popen(["sleep", "0.3"])
    assert process.ended() is None
    assert process.ended(within_s=60.0) == 0
