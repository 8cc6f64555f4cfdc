"""The built page that is committed is the one its sources make, and those pass their own tests."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "page"
BUILT = ROOT / "python" / "plimsoll" / "reports" / "page"


@pytest.fixture(scope="module")
def sources():
    if shutil.which("node") is None or shutil.which("npm") is None:
        pytest.skip("Node is not installed: the committed page is used as it is")
    # npm writes this file last: without it the folder holds what an install left that did not end.
    if not any(SOURCES.joinpath("node_modules", ".package-lock.json").exists() or installed() for _ in range(3)):
        pytest.skip("npm cannot install the tools of page/: the committed page is used as it is")
    return SOURCES


def installed():
    command = ("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
    return subprocess.run(command, check=False, cwd=SOURCES, capture_output=True, text=True).returncode == 0


def run(sources, *command):
    done = subprocess.run(command, check=False, cwd=sources, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_committed_page_is_what_its_sources_build(sources, tmp_path):
    run(sources, "node", "build.mjs", str(tmp_path))
    for built in sorted(tmp_path.iterdir()):
        assert (BUILT / built.name).read_bytes() == built.read_bytes(), f"{built.name} is stale: npm run build --prefix page"


def test_the_types_of_the_page_hold(sources):
    run(sources, "npm", "run", "--silent", "check")


def test_the_page_passes_its_own_tests(sources):
    run(sources, "npm", "test", "--silent")


def test_the_licence_of_what_is_bundled_stands_beside_it():
    assert "Apache ECharts" in (BUILT / "NOTICE").read_text()
    assert "Apache License" in (BUILT / "LICENSE-echarts").read_text()
