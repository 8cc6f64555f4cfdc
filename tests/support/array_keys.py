"""The keys of an array file, read from the declarations of `crates/array` and the comments beside them.

    page(root)                  # docs/reference/arrays.md, as Markdown

Model: a structure of Rust that a document is read into is a table of the file, its public fields are the keys. What is a structure in its
turn follows as a table of its own, under the first path that leads to it.
Limits: only what these files use of Rust is understood; anything else fails with its name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from plimsoll.catalog.composition.key_units import UNITS, unit_of

#: Types whose values are written plainly: how, and what they are if `#[serde(default)]` says no more.
PLAIN = {
    "String": ("text", "empty"),
    "bool": ("`true` or `false`", "false"),
    "f64": ("number", "0"),
    "Vec<String>": ("list of names", "none"),
    "Members": ("list of names", "none"),
} | dict.fromkeys(("u16", "u32", "u64", "i32"), ("whole number", "0"))
_WHERE = "crates/array/src"


@dataclass
class Field:
    """A key: Rust's type, `serde`'s attribute, what the comment says."""

    name: str
    type: str
    attribute: str
    says: str


@dataclass
class Structure:
    """A table: what the comment says, keys, and values that stand for what is not given, by key."""

    name: str
    says: str
    fields: list[Field]
    defaults: dict[str, str] = field(default_factory=dict)


@dataclass
class Choice:
    """An enumeration: `(word, name, what the comment says, what it holds)` of each variant, the word of the default, and serde's tag."""

    variants: list[tuple[str, str, str, str]]
    default: str
    tag: str


@dataclass
class Declarations:
    """All that is declared."""

    structures: dict[str, Structure]
    choices: dict[str, Choice]
    functions: dict[str, dict[str, str]]
    file_of: dict[str, str]


def page(root: Path) -> str:
    """The whole page."""
    declared = _read(root / _WHERE)
    sections = "\n".join(_section(declared, titles, name) for titles, name in _tables(declared, "ArraySpec"))
    return f"{_HEAD}{_units()}\n{sections}"


def _units() -> str:
    """What values with a unit may be, and in what keys count them."""
    lines = ["| key | counts | with a unit | for example |", "|---|---|---|---|"]
    lines += [f'| `_{ending}` | {unit.name} | {unit.word} | `"{unit.example}"` |' for ending, unit in UNITS.items()]
    return "\n".join([*lines, "", _FORMS])


def _read(folder: Path) -> Declarations:
    declared = Declarations({}, {}, {}, {})
    for path in sorted(folder.rglob("*.rs")):
        text = path.read_text(encoding="utf-8")
        if "Deserialize" not in text:
            continue
        declared.functions[str(path)] = dict(re.findall(r"const fn (\w+)\(\) -> \w+ \{\n    (.*)\n\}", text))
        for found in re.finditer(r"((?:///[^\n]*\n)+)((?:#\[[^\n]*\]\n)+)pub (struct|enum) (\w+) \{\n(.*?)\n\}", text, re.DOTALL):
            comment, attributes, kind, name, body = found.groups()
            if "Deserialize" not in attributes:
                continue
            assert declared.file_of.setdefault(name, str(path)) == str(path), f"{name} is declared twice"
            if kind == "struct":
                defaults = _defaults(text, name) if re.search(r"serde\(.*\bdefault\b", attributes) else {}
                declared.structures[name] = Structure(name, _said(comment), _fields(body), defaults)
            else:
                tag = re.search(r'tag = "(\w+)"', attributes)
                declared.choices[name] = _choice(body, tag[1] if tag else "")
    return declared


def _said(comment: str) -> str:
    return " ".join(line.strip().removeprefix("///").strip() for line in comment.strip().splitlines())


def _fields(body: str) -> list[Field]:
    found = re.finditer(r"((?: *///.*\n)+)( *#\[.*\]\n)?(?: *pub)? +(\w+): (.+?),?(?:\n|$)", body + "\n")
    return [Field(name, kind, attribute or "", _said(comment)) for comment, attribute, name, kind in (one.groups() for one in found)]


def _defaults(text: str, name: str) -> dict[str, str]:
    """Values of `impl Default`."""
    found = re.search(rf"impl Default for {name} \{{.*?Self \{{(.*?)\n        \}}", text, re.DOTALL)
    return dict(re.findall(r"(\w+): (.*?),\n", found[1] + "\n")) if found else {}


def _choice(body: str, tag: str) -> Choice:
    variants, default = [], ""
    for comment, marked, name, held in re.findall(
        r"((?:    ///[^\n]*\n)+)(    #\[default\]\n)?    (\w+)(\(\w+\)| \{\n.*?\n    \})?,", body, re.DOTALL
    ):
        word = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
        variants.append((word, name, _said(comment), held.strip()))
        default = word if marked else default
    return Choice(variants, default, tag)


def _inner(kind: str) -> str:
    """The type of what is optional or a list."""
    found = re.fullmatch(r"(?:Option|Vec)<(.+)>", kind)
    return found[1] if found and kind not in PLAIN else kind


def _tables(declared: Declarations, first: str) -> list[tuple[list[str], str]]:
    """`(titles, name)` of every structure that can be reached, in the order of a file."""
    titles: dict[str, list[str]] = {}

    def visit(name: str, path: str, title: str) -> None:
        known = name in titles
        titles.setdefault(name, []).append(title)
        for one in declared.structures[name].fields if not known else []:
            inside, below = _inner(one.type), f"{path}.{one.name}".lstrip(".")
            choice = declared.choices.get(inside)
            if inside in declared.structures:
                visit(inside, below, f"`[[{below}]]`" if one.type.startswith("Vec<") else f"`[{below}]`")
            elif choice and choice.tag:
                for word, _, _, held in choice.variants:
                    if held.startswith("("):
                        visit(held.strip("()"), below, f'`[{below}]` with `{choice.tag} = "{word}"`')

    visit(first, "", "The file itself")
    return [(titles_of, name) for name, titles_of in titles.items()]


def _section(declared: Declarations, titles: list[str], name: str) -> str:
    structure = declared.structures[name]
    lines = [f"## {', '.join(titles)}", "", structure.says, "", "| key | value | if not given | what it is |", "|---|---|---|---|"]
    lines += [_row(declared, structure, one) for one in structure.fields]
    lines += _tagged(declared, structure)
    return "\n".join([*lines, ""])


def _row(declared: Declarations, structure: Structure, one: Field) -> str:
    inside = _inner(one.type)
    choice = declared.choices.get(inside)
    if inside in PLAIN:
        unit = unit_of(one.name) if "number" in PLAIN[inside][0] else None
        value = PLAIN[inside][0] + (f" or {unit.word}" if unit else "")
    elif choice and not choice.tag:
        value = ", ".join(f"`{word}`" for word, *_ in choice.variants)
    elif choice:
        value = "table with " + " or ".join(f'`{choice.tag} = "{word}"`' for word, *_ in choice.variants)
    else:
        assert inside in declared.structures, f"{structure.name}.{one.name} is of {inside}, of which nothing is known"
        value = "tables" if one.type.startswith("Vec<") else "table"
    says = one.says
    if choice and not choice.tag:
        says += " " + " ".join(f"`{word}`: {said[0].lower()}{said[1:]}" for word, _, said, _ in choice.variants)
    return f"| `{one.name}` | {value} | {_absent(declared, structure, one)} | {says} |"


def _absent(declared: Declarations, structure: Structure, one: Field) -> str:
    """What a key is that is not given."""
    called = re.search(r'default = "(\w+)"', one.attribute)
    if called:
        return _value(declared.functions[declared.file_of[structure.name]][called[1]])
    inside = _inner(one.type)
    choice = declared.choices.get(inside)
    if choice and choice.default and (one.attribute or structure.defaults):
        return f"`{choice.default}`"
    if one.type.startswith("Option<"):
        return "none"
    if "default" in one.attribute:
        return PLAIN[inside][1] if inside in PLAIN else "none" if one.type.startswith("Vec<") else "as its keys say"
    return _value(structure.defaults[one.name]) if one.name in structure.defaults else "**must be given**"


def _value(text: str) -> str:
    """A constant of Rust in digits."""
    if text in {"None", "Vec::new()"}:
        return "none"
    if text in {"true", "false"}:
        return text
    shifted = re.fullmatch(r"(\d+) << (\d+)", text)
    number = int(shifted[1]) << int(shifted[2]) if shifted else float(text.replace("_", ""))
    return f"{number:,.15g}" if number != int(number) else f"{int(number):,}"


def _tagged(declared: Declarations, structure: Structure) -> list[str]:
    """Keys of choices that hold some themselves."""
    lines = []
    for one in structure.fields:
        choice = declared.choices.get(_inner(one.type))
        for word, _, said, held in choice.variants if choice and choice.tag else []:
            if held.startswith("{"):
                lines += [
                    "",
                    f'`{one.name}` with `{choice.tag} = "{word}"`: {said}',
                    "",
                    "| key | value | if not given | what it is |",
                    "|---|---|---|---|",
                ]
                lines += [_row(declared, structure, inner) for inner in _fields(held)]
    return lines


_FORMS = """Times are written as for `-d` (`"250ms"`, `"1m30s"`, `"2d"`). Of sizes and rates `k m g t p` and `KiB MiB …` count in steps of 1024,
`kB MB …` in steps of 1000. What does not come to a whole number is refused where this page says *whole number*.
"""

_HEAD = """# Keys of an array file

<!-- Generated from crates/array by tests/support/array_keys.py; renew with PLIMSOLL_RENEW=1 pytest tests/unit/test_array_keys.py. -->

What stands in the TOML file of a modelled array; [arrays.md](../arrays.md) says how files follow from others (`like`), are put together from parts
and say where their values come from (`sources`). The smallest array that works:

```toml
title = "Two mirrored disks"

[[controller]]
name = "raid"
request_ns = 20_000

[[devices]]
name = "disk"
count = 2
model = { part = "savvio-15k2-146g" }

[[group]]
name = "mirror"
controller = "raid"
members = ["disk"]
raid = { level = "raid1", devices = 2 }

[[volumes]]
name = "lun"
groups = ["mirror"]
```

Saved as `mine.toml` it is used as `--target array:./mine.toml`, and its `name` is `mine` if it gives none. Tables in double brackets are repeated, once for each link, controller and so on, and are
referred to by their `name`. The last word of a key is its unit, and a bare number counts in it. Where this page says so, a text with a unit stands
for the number: `request_ns = "4.5ms"` in a file, `host.request_ns=4.5ms` after the `?` of a target.

"""
