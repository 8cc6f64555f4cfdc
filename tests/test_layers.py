"""The table of layers in ARCHITECTURE, enforced: which part may import which, in Python and in Rust.

Model: the import statements of every source file are read, not executed; a lazy import inside a function counts like any other.
"""

from __future__ import annotations

import ast
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "python" / "plimsoll"

#: A row of the table of layers: the part, what it does, what it may import of ours, what it never touches.
ROW = re.compile(r"^\| `([\w/]+)` \|[^|]*\|([^|]*)\|", re.MULTILINE)


def _table() -> dict[str, set[str]]:
    """What each part may import, as the table of ARCHITECTURE says it; crates are named as folders, `crates/NAME`."""
    section = (ROOT / "ARCHITECTURE.md").read_text().split("## Layers")[1].split("\n## ")[0]
    return {part: {name.strip().replace("\\", "") for name in allowed.split(",") if name.strip()} for part, allowed in ROW.findall(section)}


LAYERS = _table()
#: The ground floor: what any part may import.
GROUND = {"errors", "units", "near", "records", "stored", "displayed", "passwords", "own_cost"}
#: What each part of the package may import, besides itself, the ground floor and the package's version.
MAY_IMPORT = {part: allowed for part, allowed in LAYERS.items() if not part.startswith("crates/")} | {"__main__": {"cli", "monitor"}}
#: Crates each crate may depend on, of ours.
MAY_DEPEND = {part.removeprefix("crates/"): allowed for part, allowed in LAYERS.items() if part.startswith("crates/")}

#: A pure crate knows no clock, no files, no network, no threads, and nothing whose order changes from run to run.
FORBIDDEN_IN_PURE_CRATES = (
    r"std::time",
    r"std::fs",
    r"std::net",
    r"std::env",
    r"std::thread",
    r"std::process",
    r"\bHashMap\b",
    r"\bHashSet\b",
    r"\bprintln!",
    r"\beprintln!",
)
PURE_CRATES = ("workload", "array", "dss", "traces")

#: The same for parts of the package.
PURE_PARTS = ("analysis", "experiments", "orders")

#: Names that say nothing.
FORBIDDEN_NAMES = {"utils", "util", "common", "helpers", "helper", "core", "manager", "base", "misc"}


def _parts() -> list[str]:
    return sorted({path.relative_to(PACKAGE).parts[0].removesuffix(".py") for path in PACKAGE.rglob("*.py")} - {"__init__"})


def _files(part: str) -> list[Path]:
    folder = PACKAGE / part
    return sorted(folder.rglob("*.py")) if folder.is_dir() else [PACKAGE / f"{part}.py"]


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


@cache
def _imported_parts(path: Path) -> frozenset[str]:
    found: set[str] = set()
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            module = node.module or ""
            found.update(f"{module}.{alias.name}" if module == "plimsoll" else module for alias in node.names)
    ours = {name.split(".")[1] for name in found if name.startswith("plimsoll.")}
    return frozenset(ours - {"__version__"})


def _crates() -> list[str]:
    return sorted(path.parent.name for path in (ROOT / "crates").glob("*/Cargo.toml"))


def test_the_table_of_layers_has_a_row_for_every_part_and_no_other() -> None:
    assert {*_parts(), "page", *(f"crates/{crate}" for crate in _crates())} - {"__main__"} == set(LAYERS)


@pytest.mark.parametrize("part", _parts())
def test_a_part_imports_only_what_the_table_of_layers_allows(part: str) -> None:
    if part == "cli":
        return
    assert part in MAY_IMPORT, f"{part} is new: give it a line in the table of layers"
    allowed = MAY_IMPORT[part] | GROUND | {part}
    for path in _files(part):
        assert _imported_parts(path) <= allowed, f"{path.relative_to(ROOT)} imports {_imported_parts(path) - allowed}"


def test_nothing_imports_the_command_line() -> None:
    for part in set(_parts()) - {"cli", "__main__"}:
        for path in _files(part):
            assert "cli" not in _imported_parts(path), path.relative_to(ROOT)


def _rooms(part: str) -> dict[str, set[str]]:
    """What each room of a part imports of the other rooms; a room is a folder or a file right below the part."""
    found: dict[str, set[str]] = {}
    for path in _files(part):
        room = path.relative_to(PACKAGE / part).parts[0].removesuffix(".py")
        below = found.setdefault(room, set())
        for node in ast.walk(_tree(path)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"plimsoll.{part}"):
                words = (node.module or "").split(".")[2:]
                below.update(words[:1] or {alias.name for alias in node.names})
        below.discard(room)
    return {room: below & found.keys() for room, below in found.items() if room != "__init__"}


@pytest.mark.parametrize("part", [part for part in _parts() if (PACKAGE / part).is_dir()])
def test_rooms_of_a_part_import_each_other_in_one_direction(part: str) -> None:
    left = _rooms(part)
    while free := {room for room, below in left.items() if not below & left.keys()}:
        left = {room: below for room, below in left.items() if room not in free}
    assert not left


@pytest.mark.parametrize("part", PURE_PARTS)
def test_a_pure_part_reads_no_clock_and_no_file(part: str) -> None:
    for path in _files(part):
        text = path.read_text()
        modules = set(re.findall(r"^\s*(?:import|from) (\w+)", text, re.MULTILINE))
        assert not modules & {"os", "time", "io", "pathlib", "datetime", "secrets"}, path.relative_to(ROOT)
        assert not re.search(r"(?<!\w)open\(", text), path.relative_to(ROOT)


@pytest.mark.parametrize("part", PURE_PARTS)
def test_a_pure_part_draws_only_from_a_seed(part: str) -> None:
    for path in _files(part):
        text = path.read_text()
        assert not re.search(r"^\s*from random import (?!Random\b)", text, re.MULTILINE), path.relative_to(ROOT)
        assert not re.search(r"\brandom\.(?!Random\b)\w+|\bRandom\(\)", text), path.relative_to(ROOT)


@pytest.mark.parametrize("crate", _crates())
def test_a_crate_depends_only_on_what_the_table_of_layers_allows(crate: str) -> None:
    manifest = tomllib.loads((ROOT / "crates" / crate / "Cargo.toml").read_text())
    ours = {name for name in manifest.get("dependencies", {}) if name.startswith("plimsoll")}
    assert ours <= {f"plimsoll-{name}" for name in MAY_DEPEND[crate]}
    assert crate == "python" or "pyo3" not in manifest.get("dependencies", {})


@pytest.mark.parametrize("crate", [crate for crate in _crates() if crate in PURE_CRATES])
@pytest.mark.parametrize("word", FORBIDDEN_IN_PURE_CRATES)
def test_a_pure_crate_knows_no_clock_no_file_and_no_random_order(crate: str, word: str) -> None:
    for path in sorted((ROOT / "crates" / crate / "src").rglob("*.rs")):
        for number, line in enumerate(path.read_text().splitlines(), start=1):
            code = line.split("//")[0]
            assert not re.search(word, code), f"{path.relative_to(ROOT)}:{number}: {line.strip()}"


def test_the_engine_prints_nothing() -> None:
    for path in sorted((ROOT / "crates" / "engine" / "src").rglob("*.rs")):
        if "test" in path.name:
            continue
        for number, line in enumerate(path.read_text().splitlines(), start=1):
            assert not re.search(r"\b(e?println|print|dbg)!", line.split("//")[0]), f"{path.relative_to(ROOT)}:{number}"


@pytest.mark.parametrize("part", ["points", "reproduction"])
def test_what_measures_tells_its_listener_and_prints_nothing(part: str) -> None:
    for path in _files(part):
        text = path.read_text()
        assert not re.search(r"^\s*(?:import|from) (?:click|rich)\b|(?<!\w)print\(|sys\.std(?:out|err)|os\.write\(", text, re.MULTILINE), (
            path
        )


def test_no_file_is_named_after_nothing_in_particular() -> None:
    sources = [*PACKAGE.rglob("*.py"), *(ROOT / "crates").rglob("src/**/*.rs")]
    assert not [path for path in sources if path.stem in FORBIDDEN_NAMES]


def test_every_python_module_says_what_it_is_for() -> None:
    for path in PACKAGE.rglob("*.py"):
        assert ast.get_docstring(_tree(path)), path.relative_to(ROOT)


def test_functions_stay_within_seventy_lines_and_five_parameters() -> None:
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(_tree(path)):
            if isinstance(node, ast.FunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                parameters = [argument.arg for argument in (*node.args.args, *node.args.kwonlyargs) if argument.arg not in ("self", "cls")]
                assert lines <= 70, f"{path.relative_to(ROOT)}:{node.lineno} {node.name} has {lines} lines"
                assert len(parameters) <= 5, f"{path.relative_to(ROOT)}:{node.lineno} {node.name} has {len(parameters)} parameters"


# The parts of a modelled array, each with those that it may name: it calls what lies below, and is told of by what lies above.
ARRAY = ROOT / "crates/array/src/array"
ARRAY_PARTS = {
    "topology": set(),
    "operations": {"topology"},
    "jobs": {"topology", "operations"},
    "faults": {"topology", "operations"},
    "storage": {"topology", "operations", "jobs", "faults"},
    "host": {"topology", "storage", "jobs"},
}


def _sources_of_array_part(part: str) -> list[Path]:
    return [*(ARRAY / part).glob("*.rs"), *ARRAY.glob(f"{part}.rs")]


@pytest.mark.parametrize("part", ARRAY_PARTS)
def test_a_part_of_the_array_names_only_what_lies_below_it(part: str) -> None:
    files = _sources_of_array_part(part)
    assert files
    for path in files:
        of_array = r"crate::array::" if path.parent != ARRAY and path.stem != "mod" else r"(?:crate::array|super)::"
        paths = re.findall(of_array + r"(\w+|\{[^}]*\})", path.read_text())
        named = {word for found in paths for word in re.findall(r"\w+", found)} & ({*ARRAY_PARTS, "Array"} - {part})
        assert named <= ARRAY_PARTS[part], f"{path.relative_to(ROOT)} names {named - ARRAY_PARTS[part]}"


def test_no_part_of_the_array_has_more_than_forty_methods() -> None:
    counts: dict[str, int] = {}
    for path in ARRAY.rglob("*.rs"):
        for owner, body in re.findall(r"^impl (\w+) \{\n(.*?)^\}", path.read_text(), re.MULTILINE | re.DOTALL):
            counts[owner] = counts.get(owner, 0) + len(re.findall(r"^    (?:pub(?:\([^)]*\))? )?(?:const )?fn ", body, re.MULTILINE))
    assert {"Array", "Host", "Jobs", "Operations", "Faults"} <= counts.keys()
    assert not {owner: count for owner, count in counts.items() if count > 40}


def test_objects_of_json_that_are_only_passed_on_have_one_name() -> None:
    """A private alias in each file says nothing of what is inside; what is ours has a record."""
    # `arrival` runs on hosts that have nothing of ours.
    own = {PACKAGE / "stored" / "json.py", PACKAGE / "gang" / "arrival.py"}
    aliases = [path for path in PACKAGE.rglob("*.py") if path not in own and re.search(r"^Json\b.*=", path.read_text(), re.MULTILINE)]
    assert aliases == [], "import it from plimsoll.stored, or write a record"
