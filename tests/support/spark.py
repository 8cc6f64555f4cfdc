"""Spark as tests have it: pyspark where dev/spark.sh has put it, and a cluster of one worker on loopback.

with spark_packages():                 # importable here, and by the commands that are started inside
    with cluster(tmp_path) as master:  # "spark://127.0.0.1:41234"
        ...
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from plimsoll.apps.databases.java_process import JAVA_OLDEST, java_version
from support.patience import HANGS_S, wait_until

PACKAGES = Path(__file__).parents[2] / ".cache/spark/packages"


def missing_spark() -> str | None:
    """Why there is no Spark to test with."""
    if not (PACKAGES / "pyspark").is_dir():
        return "skipped: Spark is not installed; dev/spark.sh installs it"
    if (java_version() or 0) < JAVA_OLDEST:
        return f"skipped: Java {JAVA_OLDEST} is not installed; dev/spark.sh installs it where root can"
    return None


@contextmanager
def spark_packages() -> Iterator[None]:
    """pyspark can be imported, here and in processes that are started inside."""
    before = os.environ.get("PYTHONPATH")
    sys.path.append(str(PACKAGES))
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (before, str(PACKAGES))))
    try:
        yield
    finally:
        sys.path.remove(str(PACKAGES))
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before


@contextmanager
def master(folder: Path) -> Iterator[str]:
    """The address of a master without workers."""
    log = folder / "master.log"
    with _daemon(log, "master.Master", "--port", "0"):
        wait_until(lambda: _address(log) is not None, "the master says where it listens")
        yield str(_address(log))


@contextmanager
def worker(folder: Path, of: str, through: Sequence[str] = ()) -> Iterator[subprocess.Popen[bytes]]:
    """A worker with two processors and 1.5 GiB, started ``through`` another command where there is one."""
    given = ("--cores", "2", "--memory", "1536m", "--work-dir", str(folder / "work"), of)
    log = folder / "worker.log"
    with _daemon(log, "worker.Worker", *given, through=through) as process:
        wait_until(lambda: "Successfully registered with master" in log.read_text(), "the worker is known to its master")
        yield process


def _address(log: Path) -> str | None:
    found = re.search(r"Starting Spark master at (spark://\S+)", log.read_text())
    return found[1] if found else None


@contextmanager
def _daemon(log: Path, name: str, *arguments: str, through: Sequence[str] = ()) -> Iterator[subprocess.Popen[bytes]]:
    """A process of Spark's own cluster, until the end."""
    home = PACKAGES / "pyspark"
    command = [
        *through,
        str(home / "bin/spark-class"),
        f"org.apache.spark.deploy.{name}",
        "--host",
        "127.0.0.1",
        "--webui-port",
        "0",
        *arguments,
    ]
    # Its log is at the level of what is looked for here.
    settings = log.with_suffix(".properties")
    settings.write_text("rootLogger.level = info\nrootLogger.appenderRef.c.ref = c\nappender.c.type = Console\nappender.c.name = c\n")
    environment = {**os.environ, "SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_NO_DAEMONIZE": "1"}
    environment["SPARK_DAEMON_JAVA_OPTS"] = f"-Dlog4j2.configurationFile={settings}"
    environment["SPARK_DAEMON_MEMORY"] = "256m"
    with open(log, "wb") as file, subprocess.Popen(command, stdout=file, stderr=file, env=environment) as process:
        try:
            yield process
        finally:
            process.terminate()
            process.wait(HANGS_S)
