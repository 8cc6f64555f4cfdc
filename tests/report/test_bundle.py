"""The built page that is committed is the one its sources make, and those pass their own tests."""

import subprocess

import pytest

from support.page_tools import PAGE, page_tools

PACKAGE = PAGE.parent / "python" / "plimsoll"
BUILT = PACKAGE / "reports" / "page"
LIVE = PACKAGE / "web" / "page"


@pytest.fixture(scope="module")
def sources():
    page_tools()
    return PAGE


def run(sources, *command):
    done = subprocess.run(command, check=False, cwd=sources, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_committed_page_is_what_its_sources_build(sources, tmp_path):
    run(sources, "node", "build.mjs", str(tmp_path))
    for built in sorted(tmp_path.iterdir()):
        committed = LIVE if built.name.startswith("live.") else BUILT
        assert (committed / built.name).read_bytes() == built.read_bytes(), f"{built.name} is stale: npm run build --prefix page"


def test_the_types_of_the_page_hold(sources):
    run(sources, "npm", "run", "--silent", "check")


def test_the_page_passes_its_own_tests(sources):
    run(sources, "npm", "test", "--silent")


def test_the_licence_of_what_is_bundled_stands_beside_it():
    assert "Apache ECharts" in (BUILT / "NOTICE").read_text()
    assert "Apache License" in (BUILT / "LICENSE-echarts").read_text()
