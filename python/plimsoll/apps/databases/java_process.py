"""The Java process that Spark's driver is: looked for, started, stopped, and never left running.

Model: pyspark's own script starts it, and what it says goes to a file. It works in the directory of the database, where it can be found.
It ends when its standard input closes, and so when this process ends, however it ends. One that hangs is stopped by the next command,
which finds the note of it (`plimsoll.orphans`).
Limits: Linux. pyspark keeps one gateway in a process, so one database at a time is open.

    check(1 << 30)                                     # raises the sentence of what is missing
    process = JavaProcess("/mnt/array/dss/spark", "/mnt/array/dss", alone=True)
    context = process.context({"spark.master": "local[*]", "spark.driver.memory": "1024m"})
    process.stop()
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from plimsoll.apps.databases.database import DatabaseError
from plimsoll.errors import InputError
from plimsoll.host.machine import meminfo
from plimsoll.orphans import Note, forget, note
from plimsoll.units import binary

KIND = "spark"
JAVA_OLDEST = 17
#: Of the memory of the process, what is beside the heap: code, threads, buffers.
_BESIDE_HEAP = 400 << 20
_LOG = "spark.log"
_START_S = 300.0
_STOP_S = 30.0
_LOOK_S = 0.02
_MISSING = "Spark is not installed here; install it with: pip install 'plimsoll[spark]'."
_INSTALL_JAVA = (
    "install it (Debian, Ubuntu: apt-get install default-jre-headless; Fedora: dnf install java-latest-openjdk-headless), or set JAVA_HOME"
)
#: What is handed on to a process of our own; everything else of the user's is none of its business.
_PASSED_ON = ("PATH", "HOME", "JAVA_HOME", "TMPDIR", "LANG")
_SAID = re.compile(r"(?:ERROR|FATAL|Error:|Exception in thread \"[^\"]*\"|Caused by:)\s+(.*)")


def package() -> Any:
    """The package ``pyspark``, imported where a run needs it. Raises `InputError` with what to install."""
    try:
        import pyspark
    except ImportError:
        raise InputError(_MISSING) from None
    return pyspark


def check(heap_bytes: int) -> None:
    """Raise `InputError` with what is missing: pyspark, Java, or memory for a heap of so many bytes."""
    package()
    version = java_version()
    if version is None:
        raise InputError(f"Spark needs Java {JAVA_OLDEST} or newer, which is not installed here; {_INSTALL_JAVA}.")
    if version < JAVA_OLDEST:
        raise InputError(f"Spark needs Java {JAVA_OLDEST} or newer, and {java()} is Java {version}; {_INSTALL_JAVA}.")
    needed, free = heap_bytes + _BESIDE_HEAP, meminfo("MemAvailable")
    if free < needed:
        raise InputError(
            f"Spark takes about {binary(needed)} of memory here, and {binary(free)} are available; end something else, or give it less"
            " (--memory)."
        )


def java() -> str | None:
    """The Java that Spark's script takes: that of JAVA_HOME, else the first on PATH."""
    home = os.environ.get("JAVA_HOME")
    return os.path.join(home, "bin", "java") if home else shutil.which("java")


def java_version() -> int | None:
    """Its main version; None where there is none that can be started."""
    program = java()
    try:
        said = subprocess.run([str(program), "-version"], capture_output=True, text=True, check=False, timeout=60).stderr if program else ""
    except (OSError, subprocess.TimeoutExpired):
        return None
    # 1.8.0 is Java 8.
    number = re.search(r'version "(?:1\.)?(\d+)', said)
    return int(number[1]) if number else None


class JavaProcess:
    """Spark's driver in ``home``, a directory of Plimsoll's own below the target ``directory``; ``alone`` when it does the work itself."""

    def __init__(self, home: str, directory: str, *, alone: bool) -> None:
        self._home = home
        self._directory = directory
        self._alone = alone
        self._process: subprocess.Popen[bytes] | None = None
        self._gateway: Any = None

    @property
    def pid(self) -> int | None:
        """The process; None when it does not run."""
        return None if self._process is None or self._process.poll() is not None else self._process.pid

    def ended(self, within_s: float = 0.0) -> int | None:
        """Its exit status; None while it runs, ``within_s`` seconds from now as well, or was not started."""
        if self._process is None:
            return None
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(within_s)
        return self._process.poll()

    def context(self, configuration: Mapping[str, str]) -> Any:
        """Start it, and Spark in it: pyspark's ``SparkContext``."""
        # A remark about the version of pandas, which is not used here.
        warnings.filterwarnings("ignore", category=FutureWarning, module="pyspark")
        pyspark = package()
        from pyspark.java_gateway import launch_gateway

        if pyspark.SparkContext._gateway is not None:
            raise DatabaseError(f"{self._directory}: this process has Spark started already, and can have it only once.", "locked")
        stop_process(self._home)
        note(Note(KIND, self._directory, {"home": self._home}))
        try:
            with tempfile.TemporaryDirectory(prefix="plimsoll-spark-") as folder:
                port, secret = self._started(configuration, os.path.join(folder, "gateway"))
            with _environment({"PYSPARK_GATEWAY_PORT": str(port), "PYSPARK_GATEWAY_SECRET": secret}):
                self._gateway = launch_gateway()
            settings = pyspark.SparkConf(loadDefaults=False).setAll(list(configuration.items()))
            with _own_signals():
                return pyspark.SparkContext(gateway=self._gateway, conf=settings)
        except BaseException:
            self.stop()
            raise

    def _started(self, configuration: Mapping[str, str], told: str) -> tuple[int, str]:
        """The port of the gateway and its secret, which the process writes to the file ``told``."""
        home = os.path.dirname(package().__file__)
        command = [os.path.join(home, "bin", "spark-submit")]
        for name, value in configuration.items():
            command += ["--conf", f"{name}={value}"]
        environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ} if self._alone else dict(os.environ)
        environment |= {"SPARK_CONNECT_MODE": "0", "_PYSPARK_DRIVER_CONN_INFO_PATH": told, "SPARK_HOME": home}
        if "spark.driver.bindAddress" in configuration:
            environment["SPARK_LOCAL_IP"] = configuration["spark.driver.bindAddress"]
        with open(os.path.join(self._home, _LOG), "wb") as log:
            # Of its own session, so that Ctrl-C is ours to hear; see the module for its end.
            self._process = subprocess.Popen(
                [*command, "pyspark-shell"],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                cwd=self._home,
                env=environment,
                start_new_session=True,
            )
        until = time.monotonic() + _START_S
        while not os.path.exists(told):
            if self._process.poll() is not None or time.monotonic() > until:
                raise DatabaseError(f"{self._directory}: Spark's Java process did not start: {self.last_words()}.", "lost")
            time.sleep(_LOOK_S)
        with open(told, "rb") as file:
            port = int.from_bytes(file.read(4), "big")
            secret = file.read(int.from_bytes(file.read(4), "big")).decode()
        return port, secret

    def last_words(self) -> str:
        """What it said of its last failure."""
        lines = self._lines()
        if lines is None:
            return "nothing is known"
        return _shortened((self._failures(lines) or lines or ["it ended without a word"])[-1])

    def failure(self, words: str) -> str | None:
        """The last failure that it told of in these ``words``, a regular expression; None where it told of none."""
        return next((_shortened(said) for said in reversed(self._failures(self._lines() or ())) if re.search(words, said)), None)

    def _lines(self) -> list[str] | None:
        """The end of what it said; None where nothing is known of that."""
        try:
            with open(os.path.join(self._home, _LOG), "rb") as file:
                file.seek(max(0, os.fstat(file.fileno()).st_size - 65536))
                return [line.strip() for line in file.read().decode("utf-8", "replace").splitlines() if line.strip()]
        except OSError:
            return None

    @staticmethod
    def _failures(lines: Sequence[str]) -> list[str]:
        return [said[1] for said in map(_SAID.search, lines) if said]

    def stop(self) -> None:
        """Stop Spark and the process, and wait until it has ended."""
        from pyspark import SparkContext
        from pyspark.sql import SparkSession

        gateway, self._gateway = self._gateway, None
        if gateway is not None:
            with suppress(Exception):
                gateway.shutdown()
            # What pyspark forgets itself only where the process still answers.
            SparkContext._gateway = SparkContext._jvm = SparkContext._active_spark_context = None
            SparkSession._instantiatedSession = None
        process, self._process = self._process, None
        if process is not None:
            if process.stdin is not None:
                with suppress(OSError):
                    process.stdin.close()
            try:
                process.wait(_STOP_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        forget(self._directory)


def _shortened(said: str) -> str:
    return " ".join(said.split())[:300].rstrip(".")


def running(home: str) -> list[int]:
    """The processes of Java, or of the script that starts it, which work in a directory."""
    try:
        asked = os.stat(home)
    except OSError:
        return []
    found: list[int] = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            works_in = os.stat(f"/proc/{name}/cwd")
            if (works_in.st_dev, works_in.st_ino) == (asked.st_dev, asked.st_ino):
                with open(f"/proc/{name}/cmdline", "rb") as file:
                    if b"org.apache.spark.deploy.SparkSubmit" in (words := file.read()) or b"spark-submit" in words:
                        found.append(int(name))
    return found


def stop_process(home: str) -> list[int]:
    """Stop the processes of a directory whose run is dead; which there were. Whoever asks has claimed the directory of the target."""
    found = running(home)
    # Nothing that they hold is needed any more: tables change by a rename.
    for pid in found:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    until = time.monotonic() + _STOP_S
    while left := running(home):
        if time.monotonic() > until:
            raise DatabaseError(
                f"{home}: the process of Spark that a killed run left (pid {left[0]}) does not stop; end it first.", "locked"
            )
        time.sleep(_LOOK_S)
    return found


def stop_orphan(one: Note) -> str | None:
    """Stop the process that a killed run left; a sentence when there was one."""
    home = one.facts.get("home", "")
    stopped = stop_process(home) if home.startswith(one.directory + os.sep) else []
    forget(one.directory)
    return f"stopped Spark in {one.directory}, which a killed run had left running (pid {stopped[0]})" if stopped else None


@contextmanager
def _environment(values: Mapping[str, str]) -> Iterator[None]:
    """These variables are set inside: pyspark is told of a gateway in no other way."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextmanager
def _own_signals() -> Iterator[None]:
    """pyspark puts a handler of its own in place of ours for Ctrl-C, where it is started in the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
