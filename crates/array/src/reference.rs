//! The reference page of array files, derived from the declarations (`docs/reference/arrays.md`).
//!
//! Model: what is a table in its turn follows as a section of its own, under every path that leads to it.

use std::fmt::Write;

use plimsoll_workload::option::{Declaration, Fallback, Inside, Record, Shape};
use plimsoll_workload::unit;

use crate::spec::ArraySpec;

const INTRODUCTION: &str = r#"# Keys of an array file

<!-- Generated from crates/array; bless with PLIMSOLL_BLESS=1 cargo test -p plimsoll-array --test documents. -->

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
referred to by their `name`. Editors check such a file with [array.schema.json](array.schema.json). The last word of a key is its unit, and a bare number counts in it. Where this page says so, a text with a unit stands
for the number: `request_ns = "4.5ms"` in a file, `host.request_ns=4.5ms` after the `?` of a target.

"#;

const FORMS: &str = "
Times are written as for `-d` (`\"250ms\"`, `\"1m30s\"`, `\"2d\"`). Of sizes and rates `k m g t p` and `KiB MiB …` count in steps of 1024,
`kB MB …` in steps of 1000. What does not come to a whole number is refused where this page says *whole number*.
";

/// The whole page, in Markdown.
pub fn reference_markdown() -> String {
    let mut sections = Vec::new();
    collect("", "The file itself".to_owned(), ArraySpec::shape(), &mut sections);
    let mut page = INTRODUCTION.to_owned();
    page.push_str("| key | counts | with a unit | for example |\n|---|---|---|---|\n");
    for unit in unit::ALL {
        let _ = writeln!(page, "| `_{}` | {} | {} | `\"{}\"` |", unit.ending, unit.name, unit.word, unit.example);
    }
    page.push_str(FORMS);
    sections.iter().for_each(|section| write_section(&mut page, section));
    page
}

/// A table, and every heading under which it can be written.
struct Section {
    titles: Vec<String>,
    shape: Shape,
}

/// Tables in the order of a file, each once.
fn collect(path: &str, title: String, shape: Shape, found: &mut Vec<Section>) {
    if let Some(known) = found.iter_mut().find(|known| known.shape.noun == shape.noun) {
        known.titles.push(title);
        return;
    }
    let declarations = shape.declarations.clone();
    found.push(Section { titles: vec![title], shape });
    for declaration in declarations {
        let below = if path.is_empty() { declaration.key.to_owned() } else { format!("{path}.{}", declaration.key) };
        match declaration.inside {
            Inside::Nothing => {}
            Inside::Table(shape) => collect(&below, format!("`[{below}]`"), shape, found),
            Inside::List(shape) => collect(&below, format!("`[[{below}]]`"), shape, found),
            Inside::Choice { tag, tables } => {
                for (word, shape) in tables {
                    collect(&below, format!("`[{below}]` with `{tag} = \"{word}\"`"), shape, found);
                }
            }
        }
    }
}

fn write_section(page: &mut String, section: &Section) {
    let _ = write!(page, "\n## {}\n\n{}\n\n", section.titles.join(", "), section.shape.about);
    page.push_str("| key | value | if not given | what it is | example |\n|---|---|---|---|---|\n");
    section.shape.declarations.iter().for_each(|declaration| write_row(page, declaration));
}

fn write_row(page: &mut String, declaration: &Declaration) {
    let Declaration { key, help, words, example, .. } = declaration;
    let meanings: String = words.iter().map(|(word, help)| format!(" `{word}`: {}", lowered(help))).collect();
    let (value, default) = (value(declaration), default(declaration));
    let example = match declaration.inside {
        Inside::Nothing => format!("`{example}`"),
        _ => String::new(),
    };
    let _ = writeln!(page, "| `{key}` | {value} | {default} | {help}{meanings} | {example} |");
}

/// What a key can be.
fn value(declaration: &Declaration) -> String {
    let quoted = |words: Vec<&str>| words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
    match &declaration.inside {
        Inside::Table(_) => return "table".to_owned(),
        Inside::List(_) => return "tables".to_owned(),
        Inside::Choice { tag, tables } => {
            let each: Vec<String> = tables.iter().map(|(word, _)| format!("`{tag} = \"{word}\"`")).collect();
            return format!("table with {}", each.join(" or "));
        }
        Inside::Nothing if !declaration.words.is_empty() => {
            return quoted(declaration.words.iter().map(|(word, _)| *word).collect());
        }
        Inside::Nothing => {}
    }
    let noun = match declaration.noun {
        "a switch" => "`true` or `false`",
        "a list of texts" => "list of names",
        noun => noun.trim_start_matches("a "),
    };
    let unit = declaration.unit.map_or_else(String::new, |unit| format!(" or {}", unit.word));
    format!("{noun}{unit}{}", bounds(declaration))
}

/// The range of a number, where it is narrower than its type.
fn bounds(declaration: &Declaration) -> String {
    let Some((least, most)) = &declaration.range else { return String::new() };
    match most.parse::<f64>() {
        Ok(number) if number >= f64::from(u32::MAX) && number < 5e9 || number >= 1e19 => {
            format!(", from {}", spaced(least))
        }
        _ => format!(", {} to {}", spaced(least), spaced(most)),
    }
}

/// What a key is that is not given.
fn default(declaration: &Declaration) -> String {
    match &declaration.default {
        Fallback::Required(_) => "**must be given**".to_owned(),
        Fallback::Unset(consequence) => (*consequence).to_owned(),
        Fallback::Is { shown, .. } if shown.is_empty() => "empty".to_owned(),
        Fallback::Is { json, .. } if json.is_number() => spaced(&json.to_string()),
        Fallback::Is { shown, .. } if !declaration.words.is_empty() => format!("`{shown}`"),
        Fallback::Is { shown, .. } => shown.clone(),
    }
}

/// A number with a comma after each thousand.
fn spaced(number: &str) -> String {
    let (whole, rest) =
        number.split_once('.').map_or((number, String::new()), |(whole, rest)| (whole, format!(".{rest}")));
    let digits = whole.len();
    let mut text = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (digits - index).is_multiple_of(3) && !text.ends_with('-') {
            text.push(',');
        }
        text.push(digit);
    }
    text + &rest
}

/// A sentence that goes on after a colon.
fn lowered(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}
