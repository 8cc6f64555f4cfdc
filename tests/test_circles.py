"""Modules of our crates and of the package use each other in one direction: whoever is read first can be understood without the rest.

Model: an arrow leads from a file to every module of its crate that it names, in `use` statements and in paths, macros included. A
re-export at the crate's root stands for the module behind it. A module and those inside it count as one reading, so arrows between
them are left out; so are unit tests. In Python an arrow leads from a file to every file that it imports, also where a function does
so late; what is imported for types alone is left out.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

CRATES = sorted(path.parent.name for path in (ROOT / "crates").glob("*/Cargo.toml"))

Module = tuple[str, ...]

USE = re.compile(r"\buse\s+((?:crate|super|self)\b[^;]*);")
PATH = re.compile(r"\b((?:crate|super)(?:::\w+)+)")


def _modules(source: Path) -> dict[Module, str]:
    """Every module of a crate with its code, without comments and unit tests; the root is `()`."""
    found: dict[Module, str] = {}
    for path in sorted(source.rglob("*.rs")):
        parts = path.relative_to(source).with_suffix("").parts
        if parts[-1] == "tests":
            continue
        name = () if parts == ("lib",) else parts[:-1] if parts[-1] == "mod" else parts
        code = re.split(r"^#\[cfg\(test\)\]\nmod tests\b", path.read_text(), maxsplit=1, flags=re.MULTILINE)[0]
        found[name] = "\n".join(line for line in code.splitlines() if not line.lstrip().startswith("//"))
    return found


def _expand(tree: str) -> list[list[str]]:
    """The paths of a `use` tree: `a::{b, c::{d, e}}` has three."""
    head, brace, rest = tree.strip().partition("{")
    prefix = [part for part in head.split("::") if part]
    if not brace:
        return [re.sub(r"\s+as\s+\w+$", "", head).split("::")]
    entries, depth = [""], 0
    for letter in rest[: rest.rindex("}")]:
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            entries.append("")
        else:
            entries[-1] += letter
    return [prefix + path for entry in entries if entry.strip() for path in _expand(entry)]


def _named(module: Module, code: str) -> list[Module]:
    """Every path of the crate that a module names, from the crate's root on."""
    paths = [path for tree in USE.findall(code) for path in _expand(tree)]
    paths += [path.split("::") for path in PATH.findall(code)]
    named = []
    for path in paths:
        here = [] if path[0] == "crate" else list(module)
        for part in path:
            if part == "super":
                here = here[:-1]
            elif part not in ("crate", "self"):
                here.append(part.strip())
        named.append(tuple(here))
    return named


def _arrows(modules: dict[Module, str]) -> dict[Module, set[Module]]:
    def home(path: Module) -> Module:
        """The module that a path leads into."""
        return next(path[:length] for length in range(len(path), -1, -1) if path[:length] in modules)

    exported = {path[-1]: home(path) for path in _named((), modules[()].replace("pub use ", "pub use self::"))}
    arrows: dict[Module, set[Module]] = {}
    for module, code in modules.items():
        ends = {exported.get(path[0], ()) if path and not home(path) else home(path) for path in _named(module, code)}
        within = {end for end in ends if end[: len(module)] == module or module[: len(end)] == end}
        arrows[module] = ends - within
    return arrows


def _circle(modules: dict[Module, str]) -> list[str]:
    """One circle of modules, in its order; empty if there is none."""
    try:
        TopologicalSorter(_arrows(modules)).prepare()
    except CycleError as error:
        return ["::".join(module) for module in error.args[1]]
    return []


@pytest.mark.parametrize("crate", CRATES)
def test_modules_of_a_crate_form_no_circle(crate: str) -> None:
    modules = _modules(ROOT / "crates" / crate / "src")
    assert len(modules) > 3
    assert not _circle(modules)


@pytest.mark.parametrize(
    "way_back",
    [
        "use crate::low::Thing;",
        "use crate::{\n    error::Error,\n    low::{Thing as Other, inner::More},\n};",
        "use super::low;",
        "use crate::Thing;",
        "macro_rules! m { () => { $crate::low::Thing } }",
        "fn f() { crate::low::f() }",
    ],
)
def test_a_way_back_is_found_however_it_is_written(way_back: str) -> None:
    modules = {
        (): "pub mod error;\npub mod high;\npub mod low;\npub use low::Thing;\npub use error::{Error};",
        ("error",): "",
        ("low",): "use crate::error::Error;\nuse crate::high::{self};\nmod inner;",
        ("low", "inner"): "use super::Thing;",
        ("high",): "use crate::error::Error;",
    }
    assert not _circle(modules)
    assert sorted(set(_circle({**modules, ("high",): way_back}))) == ["high", "low"]


def _imported(tree: ast.AST) -> Iterator[str]:
    """What is imported but for types alone; of a name of a package, the name with it."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            yield from (found for other in node.orelse for found in _imported(other))
            continue
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        yield from _imported(node)


def _files_of_python(package: Path) -> dict[str, set[str]]:
    """Every module of a package with those of them that it imports."""
    paths = {".".join(path.relative_to(package.parent).with_suffix("").parts): path for path in package.rglob("*.py")}
    paths = {name.removesuffix(".__init__"): path for name, path in paths.items()}
    found = {}
    for name, path in paths.items():
        asked = {one if one in paths else one.rpartition(".")[0] for one in _imported(ast.parse(path.read_text()))}
        found[name] = {one for one in asked if one in paths and one != name}
    return found


def test_modules_of_the_package_form_no_circle() -> None:
    try:
        list(TopologicalSorter(_files_of_python(ROOT / "python/plimsoll")).static_order())
    except CycleError as circle:
        pytest.fail(f"modules import each other in a circle: {' → '.join(circle.args[1])}; move what both need below them")


def test_a_circle_of_late_imports_is_seen_and_one_of_types_is_none(tmp_path: Path) -> None:
    package = tmp_path / "ours"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "one.py").write_text("from ours.two import b\n")
    (package / "two.py").write_text("def late():\n    from ours import one\n")
    assert _files_of_python(package) == {"ours": set(), "ours.one": {"ours.two"}, "ours.two": {"ours.one"}}
    (package / "two.py").write_text("if TYPE_CHECKING:\n    from ours.one import a\n")
    assert _files_of_python(package)["ours.two"] == set()
