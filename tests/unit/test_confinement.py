"""What the gang puts in front of the path of Ray's processes: two of them only name ports, and `import ray` reads less."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from plimsoll.gang import confinement
from support.patience import wait_until

FOLDER = next(iter(confinement.__path__))
ENVIRONMENT = {**os.environ, "PYTHONPATH": FOLDER}
NODE = "ab" * 28


@pytest.mark.parametrize(
    ("program", "ports"),
    [
        ("ray/dashboard/agent.py", ["dashboard_agent_listen_port", "metrics_agent_port", "metrics_export_port"]),
        ("ray/_private/runtime_env/agent/main.py", ["runtime_env_agent_port"]),
    ],
)
def test_a_process_that_serves_nobody_names_no_port_and_goes_with_its_node(tmp_path: Path, program: str, ports: list[str]) -> None:
    path = tmp_path / program
    path.parent.mkdir(parents=True)
    path.write_text("raise SystemExit('it runs itself')")
    session = tmp_path / "session"
    session.mkdir()
    words = [sys.executable, "-u", str(path), f"--session-dir={session}", f"--node-id={NODE}", "--listen-port=0"]
    # Its parent is a shell, which is killed as a node is.
    node = subprocess.Popen(
        ["sh", "-c", '"$@" & echo $!; cat', "sh", *words], env=ENVIRONMENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert node.stdout is not None and node.stdin is not None
    stand_in = int(node.stdout.readline())
    try:
        names = [f"{port}_{NODE}" for port in ports]
        wait_until(lambda: sorted(os.listdir(session)) == names or _has_gone(stand_in), "its ports are named")
        assert [(session / name).read_text() for name in names] == ["-1"] * len(names)
        sockets = [link for link in Path(f"/proc/{stand_in}/fd").iterdir() if os.readlink(link).startswith("socket:")]
        assert sockets == []
    finally:
        node.send_signal(signal.SIGKILL)
        node.wait()
        node.stdin.close()
        node.stdout.close()
    wait_until(lambda: _has_gone(stand_in), "it goes when its node has gone")


def _has_gone(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2][0] == "Z"
    except OSError:
        return True


def test_every_other_process_is_itself() -> None:
    said = subprocess.run([sys.executable, "-c", "print('itself')"], env=ENVIRONMENT, capture_output=True, text=True, check=True)
    assert said.stdout == "itself\n"


@pytest.mark.skipif(find_spec("ray") is None, reason="skipped: Ray is not installed (pip install 'plimsoll[cluster]')")
def test_packages_that_only_jobs_need_are_read_when_one_asks() -> None:
    script = (
        "import sys, ray; read = sorted(sys.modules); print('urllib3' in read, 'referencing' in read)\n"
        "import requests.exceptions, requests; from jsonschema import validate\n"
        "print(requests.get.__name__, requests.exceptions.HTTPError.__name__, validate.__name__, 'urllib3' in sys.modules)"
    )
    said = subprocess.run([sys.executable, "-s", "-c", script], env=ENVIRONMENT, capture_output=True, text=True, check=True)
    assert said.stdout == "False False\nget HTTPError validate True\n"
