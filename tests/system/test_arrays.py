"""Any workload on a modelled array: what the command prints, stores and draws."""

from __future__ import annotations

import json
import signal
import subprocess
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from plimsoll import catalog
from plimsoll.analysis.point.array import bottleneck, component_sets
from plimsoll.catalog.arrays import Family, families
from plimsoll.engine.block import native
from plimsoll.reports.terminal.footnotes import footnotes
from plimsoll.store.reader import open_run
from plimsoll.target import target_of
from support.patience import HANGS_S, wait_until
from support.suite_points import suites_of_storage
from system.conftest import COMMAND

ARRAYS = Path(catalog.__file__).with_name("arrays")
TIMES = ("--duration", "20s", "--warmup", "2s")
#: A load beside a rebuild of an hour that leaves most of the time to it.
LIGHT = ("--set", "queue_depth=1", "--set", "think_time=1s")


#: One of every file of the catalog.
FAMILIES = (
    "bcache-writeback",
    "cloud-gp3-1t",
    "dl360-g5-3g-10k-raid5-3",
    "dl580-local",
    "dl585-tpch",
    "draid-24-1s",
    "erasure-coded-4-2",
    "hdd-x24",
    "md-raid5-4",
    "msa2000-raid5",
    "msa2040",
    "msa30-u320-15k-raid5-10",
    "msa50-sas-10k-raid0-10",
    "nearline-raid6",
    "nitro",
    "nvme",
    "nvme-raid10",
    "nvme-tcp-8",
    "replicated",
    "sata-ssd",
    "se6920-raid5-200g-10k",
    "ssd-pm9a3",
    "trimode-9560-raid5-4",
    "zfs-raidz2-6",
)


@pytest.mark.parametrize("family", families(), ids=lambda family: family.name)
def test_oltp_runs_on_every_shipped_array(family: Family) -> None:
    for name in family.names():
        _oltp_runs_on(name)


def _oltp_runs_on(name: str) -> None:
    engine, errors, counted = native(), Counter[str](), Counter[str]()

    def take(kind: str, event: dict[str, Any]) -> None:
        for cell in event["cells"] if kind == "interval" and event["phase"] == "measure" else ():
            counted[cell["op"]] += cell["count"]
            errors.update(cell["errors"])

    workload, options = (
        engine.check_workload(catalog.document("oltp-db"), "oltp-db.toml"),
        engine.check_job({"duration": "5s", "warmup": "1s"}),
    )
    job = {"workload": workload, "job": options, "target": target_of(f"array:{name}"), "permission": None}
    outcome = engine.run_job(job, take, engine.control())
    assert outcome["backend"]["used"] == "array"
    assert {"host", "cpu"} <= {component["kind"] for component in outcome["engine"]["components"]}
    assert counted["read"] > counted["write"] > 0
    assert not errors and outcome["first_error"] is None


def test_every_file_of_the_catalog_has_its_family_here() -> None:
    assert {_file_of(name) for name in FAMILIES} == {path.stem for path in ARRAYS.glob("*.toml")}


def _file_of(name: str) -> str:
    """The longest name of a file that an array's name begins with."""
    return max((path.stem for path in ARRAYS.glob("*.toml") if name.startswith(path.stem)), key=len)


@pytest.mark.parametrize("name", FAMILIES)
def test_the_command_runs_oltp_on_an_array_of_every_family_and_marks_it_modelled(results, name: str) -> None:
    (result,) = results("oltp-db", "--target", f"array:{name}", *TIMES)
    assert result["status"] == "complete"
    assert result["modelled"]
    assert result["engine"]["backend"]["used"] == "array"
    assert result["totals"]["read"]["errors"] == 0
    assert {"host", "cpu"} <= {component["kind"] for component in result["engine"]["engine"]["components"]}


def test_equal_seeds_give_equal_totals_and_others_do_not(results) -> None:
    def totals(seed: int, workers: int) -> object:
        # On an array alone more workers than its one would be refused.
        beside = ("--target", "null:") if workers > 1 else ()
        settings = ("--set", f"seed={seed}", "--set", f"workers={workers}", "--duration", "1s", "--warmup", "0s")
        return results("oltp-db", "--target", "array:dl360-g6-6g-10k-raid5-4", *beside, *settings)[0]["totals"]

    assert totals(1, 1) == totals(1, 2)
    assert totals(1, 1) != totals(2, 1)


def test_the_components_say_what_limits_a_deep_queue(results, plimsoll, tmp_path) -> None:
    target = ("--target", "array:msa50-sas-10k-raid0-10", "--set", "queue_depth=64")
    results("random-read-4k", *target, *TIMES)
    (directory,) = (tmp_path / "results").glob("*_random-read-4k")
    (point,) = open_run(str(directory)).points
    sets = component_sets(point.result)
    assert sets[0].name == "disk"
    assert sets[0].count == 10
    limit = bottleneck(sets)
    assert limit is not None
    assert limit.name == "disk"
    assert "random-read-4k: limited by the disks; 10 × disk" in footnotes([point.result])
    assert plimsoll("report", str(directory)).returncode == 0
    page = (directory / "report.html").read_text()
    assert '"components"' in page
    assert "Components of the array" in page


@pytest.mark.parametrize(
    ("array", "link"),
    [("msa2000x4-raid5", "hba"), ("nvme", "pcie")],
)
def test_a_full_duplex_link_that_only_reads_at_its_rate_is_what_limits(results, array: str, link: str) -> None:
    # It counted as half busy, and nothing was saturated at the limit of the link.
    load = [flag for setting in ("block_size=1MiB", "queue_depth=256", "random_percent=0") for flag in ("--set", setting)]
    (result,) = results("random-read-4k", "--target", f"array:{array}", *load, "--duration", "2s", "--warmup", "500ms")
    (found,) = [one for one in result["engine"]["engine"]["components"] if one["name"] == link]
    busiest = max((one for one in result["engine"]["engine"]["components"] if one["kind"] != "cache"), key=lambda one: one["utilisation"])
    assert found["utilisation"] > 0.97
    assert busiest["name"] == link


def ended_in(run) -> dict:
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


#: Each suite on an array of its report; the report 004 copied files, too, which an array in virtual time has none of.
SUITES = {
    "hp-iometer": "msa50-sas-10k-raid5-8",
    "orion-sequential": "msa2000-raid5",
    "proliant-generations": "dl360-g7-6g-10k-raid10-4",
    "vdbench-matrix": "se6920-raid5",
    "dd-cp": "se6920-raid5-200g",
    "four-corners": "nearline-raid6",
    "mailstore": "msa2000-raid5",
}


def test_every_suite_has_an_array() -> None:
    assert set(SUITES) == set(suites_of_storage())


@pytest.mark.parametrize(("suite", "array"), SUITES.items())
def test_the_suites_of_the_reports_run_on_arrays_of_their_reports(plimsoll, tmp_path, suite: str, array: str) -> None:
    ended = plimsoll("suite", suite, "--quick", "-t", f"array:{array}", "-d", "500ms", "-w", "100ms", "--json")
    points = json.loads(ended.stdout)["results"]
    assert ended.returncode == 0, ended.stderr
    assert points and all(point["modelled"] and point["status"] == "complete" for point in points)
    (directory,) = (tmp_path / "results").iterdir()
    assert all(component_sets(point.result) for point in open_run(str(directory)).points)


def test_modelled_is_said_wherever_a_number_stands(plimsoll, tmp_path) -> None:
    run = plimsoll("run", "oltp-db", "--target", "array:msa2000-raid5", "-d", "5s", "-w", "1s")
    assert run.returncode == 0, run.stderr
    assert "(modelled)" in run.stdout
    assert "notes: virtual time" in run.stdout
    (directory,) = (tmp_path / "results").iterdir()
    for name in ("a.html", "a.json", "a.csv"):
        assert plimsoll("report", str(directory), "-o", name).returncode == 0
        assert "modelled" in (tmp_path / name).read_text(), name
    for form in (
        "fio-json",
        "fio-json+",
        "iometer-csv",
        "iometer-csv-1.1",
        "diskspd-xml",
        "diskspd-text",
        "prometheus",
        "csv",
        "fio-terse",
        "fio-text",
    ):
        assert "modelled" in plimsoll("export", str(directory), "--as", form).stdout, form
    for form in ("fio-logs", "vdbench"):
        said = plimsoll("export", str(directory), "--as", form, "-o", f"{form}/")
        files = [path.read_text() for path in (tmp_path / form).iterdir()]
        assert "modelled" in said.stderr or any("modelled" in text for text in files), form


def test_volumes_make_the_target_smaller_and_are_told_apart(results) -> None:
    def size_bytes(volumes: str) -> int:
        (result,) = results("oltp-db", "--target", f"array:msa2000-raid5?volume={volumes}", *TIMES)
        return result["host"]["target"]["size_bytes"]

    assert size_bytes("lun-a[0],lun-a[1]") == 2 * size_bytes("lun-a[0]")


def test_equal_seeds_give_equal_results_in_one_process_and_in_two_at_once(plimsoll, tmp_path) -> None:
    def arguments(seed: int, out: str) -> tuple[str, ...]:
        array = "array:msa50-sas-10k-raid5-8"
        return ("run", "oltp-db", "-t", array, "-s", f"seed={seed}", "-d", "10s", "-w", "1s", "--json", "-o", out)

    def totals(ended) -> list:
        return [result["totals"] for result in ended_in(ended)["results"]]

    def beside(words: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
        return subprocess.run([COMMAND, *words], capture_output=True, text=True, check=False, timeout=HANGS_S)

    alone = [totals(plimsoll(*arguments(seed, "alone"))) for seed in (1, 2)]
    with ThreadPoolExecutor(2) as threads:
        runs = [threads.submit(beside, arguments(seed, f"side{seed}")) for seed in (1, 2)]
        together = [totals(run.result()) for run in runs]
    assert alone == together
    assert alone[0] != alone[1]


def test_a_failed_member_is_rebuilt_during_a_run_and_mirrors_sooner_than_parity(results) -> None:
    def rebuilt_s(level: str) -> float:
        target = f"array:msa30-u320-10k-{level}-8?fail=0@1s&spares=1"
        (result,) = results("oltp-db", "--target", target, "-d", "1h", "-w", "0s", *LIGHT)
        facts = result["engine"]["engine"]["facts"]
        assert "member 0 of group raid rebuilt" in facts["incidents"]
        return float(facts["rebuild_s"])

    mirrors, parity = rebuilt_s("raid10"), rebuilt_s("raid5")
    assert mirrors < parity


def test_a_new_drive_gets_back_what_the_spare_holds_where_the_controller_copies_back(results) -> None:
    def told(copies: str) -> dict:
        settings = f"fail=0@1s&spares=1&replace=0@30s&controller.raid.copy_back={copies}&controller.raid.rebuild.priority_percent=100"
        asked = ("--target", f"array:msa50-sas-10k-raid10-8?{settings}", "-d", "1h", "-w", "0s", *LIGHT)
        (result,) = results("oltp-db", *asked)
        return result["engine"]["engine"]["facts"]

    back, stays = told("true"), told("false")
    assert back["incidents"].endswith("member 0 of group raid copied back") and float(back["copy_back_s"]) > 0
    assert stays["incidents"].endswith("member 0 of group raid rebuilt") and "copy_back_s" not in stays
    assert "30.000 s: member 0 of group raid given a new spare" in stays["incidents"]


FILE = """
[[controller]]
name = "a"
[[devices]]
name = "disk"
count = 2
[devices.model]
{model}
[[group]]
name = "g"
controller = "a"
members = ["disk"]
raid = {{ level = "raid0", devices = 2 }}
[[volumes]]
name = "lun"
groups = ["g"]
"""


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        ("capacity_bytes = 1", './x.toml: devices.disk.model: key \'kind\' is missing; write "disk" or "flash"'),
        ('kind = "dsk"', "./x.toml: devices.disk.model.kind: 'dsk' is not a kind of device; did you mean 'disk'?"),
        (
            'kind = "disk"\ncapacity_bytes = "much"',
            "./x.toml: devices.disk.model.capacity_bytes: 'much' is not a size in whole bytes; write a whole number of bytes from 0 on, or",
        ),
        (
            'kind = "disk"\nrotation_rpm = "fast"',
            "./x.toml: devices.disk.model.rotation_rpm: 'fast' is not a whole number; write 1000 to 30000",
        ),
        ("kind = ", "./x.toml: not TOML"),
        (
            'kind = "flash"\ntranslation = { kind = "pagemap" }',
            "./x.toml: devices.disk.model.translation.kind: 'pagemap' is not a way from addresses to places; did you mean 'page_map'?",
        ),
        ('kind = "disk"\nbuffer = 3', "./x.toml: devices.disk.model.buffer: 3 is not a table; every buffer is a table of options"),
        ('kind = "disk"\nbufer = { }', "./x.toml: devices.disk.model: key 'bufer' is not known; did you mean 'buffer'?"),
    ],
)
def test_a_wrong_file_is_told_in_a_sentence_with_its_path_and_key(plimsoll, tmp_path, model: str, sentence: str) -> None:
    (tmp_path / "x.toml").write_text(FILE.format(model=model))
    for verb in (("show",), ("run", "oltp-db", "-t")):
        ended = plimsoll(*verb, "array:./x.toml")
        assert ended.returncode == 2
        assert sentence in ended.stderr
        assert ended.stderr.count("\n") == 1


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_run_of_virtual_years_without_drawing_its_hours(tmp_path: Path, stop: signal.Signals) -> None:
    """The report of what had been measured took longer than the seconds that it had been measured in."""

    def intervals() -> int:
        return sum(path.read_bytes().count(b"\n") for path in tmp_path.glob("*/points/*/intervals.jsonl"))

    command = [COMMAND, "run", "oltp-db", "-t", "array:msa50-sas-10k-raid10-8", "-d", "20000h", "-w", "0s", "--out", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        wait_until(lambda: process.poll() is not None or intervals() > 1_000, "its hours are stored")
        assert process.poll() is None
        process.send_signal(stop)
        said, _ = process.communicate(timeout=HANGS_S)
    assert process.returncode == 130
    (folder,) = tmp_path.iterdir()
    assert f"intervals; 'plimsoll report {folder}' draws it" in said
    run = open_run(str(folder))
    assert (run.status, run.points[0].result.status) == ("interrupted", "interrupted")
    assert run.points[0].result.totals["read"].count > 0 and not (folder / "report.html").exists()
