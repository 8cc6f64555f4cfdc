"""What people who hear the page or use it from the keyboard meet: axe-core has no serious finding on any page, light or dark."""

import pytest

from report.browsing import PATIENCE_S, until
from report.synthetic import PROFILES, Array, write_run
from support.page_tools import page_tools
from web.served import GoingOn, served


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    store = tmp_path_factory.mktemp("store")
    flags = ((PROFILES[0].name, "not-steady"),)
    for name, speed in (("slow", 1.0), ("fast", 1.5)):
        write_run(store / f"2026-11-21T03-44-10_{name}", Array(name, label=name, speed=speed, seconds=5, flags=flags), PROFILES[:2])
    (write_run(store / "2026-11-20T03-44-10_damaged", Array("d", seconds=5), PROFILES[:1]) / "run.json").write_text("{")
    run = GoingOn(store)
    run.intervals(6)
    started = served(store, "--allow-runs", "--target", "null:", "--target", "fast=queue:?service=exp:1ms")
    yield started
    started.stop()


#: Where each page is, and what tells that it has drawn itself.
PAGES = {
    "list": ("/", "document.querySelectorAll('#start option').length > 10 && document.querySelectorAll('tr[data-run]').length === 4"),
    "run live": ("/#2026-11-23T10-00-00_going-on", "document.querySelectorAll('#going .chart[data-marks]').length >= 2"),
    "report": ("/runs/2026-11-21T03-44-10_fast/report", "document.documentElement.dataset.complete === 'true'"),
    "compare": (
        "/compare?run=2026-11-21T03-44-10_slow&run=2026-11-21T03-44-10_fast",
        "document.querySelector('#comparison') && document.documentElement.dataset.complete === 'true'",
    ),
}


# In the dark only colours differ.
@pytest.mark.parametrize(("scheme", "rules"), [("light", "{}"), ("dark", "{ runOnly: ['color-contrast'] }")], ids=["light", "dark"])
def test_nothing_serious_keeps_anybody_out(browser, server, scheme, rules):
    axe = (page_tools() / "axe-core" / "axe.min.js").read_text()
    context = browser.new_context(color_scheme=scheme)
    context.set_default_timeout(PATIENCE_S * 1000)
    page, found = context.new_page(), {}
    page.goto(server.address)
    for name, (path, drawn) in PAGES.items():
        page.goto(f"http://{server.place}{path}")
        until(page, f"Boolean({drawn})")
        page.evaluate(axe)
        said = page.evaluate(f"axe.run(document, {rules})")
        assert said["passes"], name
        for violation in said["violations"]:
            if violation["impact"] in ("serious", "critical"):
                found[f"{name}: {violation['id']}"] = [
                    (node["html"][:200], node["failureSummary"][:300]) for node in violation["nodes"][:4]
                ]
    context.close()
    assert found == {}
