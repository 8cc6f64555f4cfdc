//! What an option is: its kind, its record, and everything known about it.
//!
//! A [`Kind`] says what a value can be (a size, a rate, one of several words); a [`Record`] is a struct of options, declared
//! by [`crate::options!`]. A [`Dialect`] says how a kind of document is written: text may stand for numbers where `--set`
//! gives it, or every value is taken exactly.

use serde_json::{Map, Value, json};

use crate::error::{Problem, WorkloadError};
use crate::nearest::hint;
use crate::unit::Unit;

/// How the documents are written that a record stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// The page that lists all keys.
    pub page: &'static str,
    /// Whether values are taken exactly as they are: no text stands for a number, and places are paths (`host.cores`).
    pub exact: bool,
}

/// Workloads: what is given to `--set` is text, whatever it stands for.
pub const WORKLOADS: Dialect = Dialect { page: "docs/reference/options.md", exact: false };

/// The most keys that are named where none of them is near an unknown one.
const NAMED_MAX: usize = 12;

/// What a value can be, independent of the option that holds it.
pub trait Kind: Sized {
    /// One value of the kind, with its article: "a size".
    const NOUN: &'static str;
    /// How such values are written; shown once in the reference page.
    const FORM: &'static str;

    /// Bounds of the type itself, if it is a number that has some.
    const LIMITS: Option<Range> = None;
    /// Whether errors name the entry themselves, so that the key need not be named.
    const NAMES_PLACE: bool = false;

    /// Reads a value from JSON; every kind also reads from text, so that `--set` needs no types.
    ///
    /// # Errors
    /// If the value does not read as this kind.
    fn read(value: &Value) -> Result<Self, WorkloadError>;

    /// Reads a value that is exactly of this kind: no text stands for a number.
    ///
    /// # Errors
    /// If the value is not of this kind.
    fn read_exact(value: &Value) -> Result<Self, WorkloadError> {
        Self::read(value)
    }

    /// Checks the ranges of the options inside.
    ///
    /// # Errors
    /// On the first value that is out of its range.
    fn check_inside(&self) -> Result<(), WorkloadError> {
        Ok(())
    }

    /// The canonical JSON form; reading it gives the same value again.
    fn write(&self) -> Value;

    /// The value as a person would write it.
    fn show(&self) -> String;

    /// JSON Schema of what [`Kind::read`] accepts in a file, narrowed to a range.
    fn schema(range: Option<Range>) -> Value;

    /// Smallest and largest number inside the value, for the range check; `None` if it has none.
    fn extremes(&self) -> Option<(f64, f64)> {
        None
    }

    /// A bound of a range as a person would write it.
    fn show_bound(bound: f64) -> String {
        crate::units::number_to_text(bound)
    }

    /// The words this kind consists of, each with its meaning; empty unless it is a choice of words.
    fn words() -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// The options inside, if the kind is a table or a list of them.
    fn inside() -> Inside {
        Inside::Nothing
    }
}

/// What a table is about, and its options.
#[derive(Clone, Debug)]
pub struct Shape {
    /// What such a table is called, without article.
    pub noun: &'static str,
    /// What it is, in plain sentences.
    pub about: String,
    /// Its options in the order of declaration.
    pub declarations: Vec<Declaration>,
}

/// The options inside a value.
#[derive(Clone, Debug)]
pub enum Inside {
    /// The value is no table.
    Nothing,
    /// It is a table.
    Table(Shape),
    /// It is a list of tables.
    List(Shape),
    /// It is a table whose options follow from a word in it.
    Choice {
        /// The key that holds the word.
        tag: &'static str,
        /// Words, and the options of each.
        tables: Vec<(&'static str, Shape)>,
    },
}

/// Inclusive bounds, in the unit of the kind (bytes, nanoseconds, percent …).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// Smallest valid number.
    pub least: f64,
    /// Largest valid number.
    pub most: f64,
}

/// What holds when an option is not given.
#[derive(Clone, Debug, PartialEq)]
pub enum Fallback {
    /// It must be given; the text says what for.
    Required(&'static str),
    /// Nothing is stored; the text says what follows then.
    Unset(&'static str),
    /// This value.
    Is {
        /// As a person would write it.
        shown: String,
        /// As canonical JSON.
        json: Value,
    },
}

/// Everything known about one option.
#[derive(Clone, Debug)]
pub struct Declaration {
    /// Heading it stands under in the reference page.
    pub section: &'static str,
    /// Its key in files and for `--set`.
    pub key: &'static str,
    /// What it does, in plain sentences.
    pub help: String,
    /// Noun of its kind, with article.
    pub noun: &'static str,
    /// How its kind is written.
    pub form: &'static str,
    /// Words it can be, with their meanings.
    pub words: Vec<(&'static str, String)>,
    /// What holds when it is not given.
    pub default: Fallback,
    /// Bounds, as a person would write them.
    pub range: Option<(String, String)>,
    /// What a bare number counts in; with it, a text with its unit may stand for the number in a file.
    pub unit: Option<Unit>,
    /// A valid value as written after `--set key=`.
    pub example: &'static str,
    /// JSON Schema of its value.
    pub schema: Value,
    /// The options inside.
    pub inside: Inside,
}

/// A struct whose fields are options; implemented by `options!` only.
pub trait Record: Sized + Default {
    /// What one such record is called: "access entry".
    const NOUN: &'static str;
    /// What it is, in plain sentences.
    const ABOUT: &'static str;
    /// How the documents are written that it stands in.
    const DIALECT: Dialect;

    /// Its options in the order of declaration.
    fn declarations() -> Vec<Declaration>;

    /// The options that must be given, each with what for.
    fn required() -> impl Iterator<Item = (&'static str, &'static str)>;

    /// Reads one option; `None` if the key is not known.
    fn assign(&mut self, key: &str, value: &Value) -> Option<Result<(), WorkloadError>>;

    /// Every option with its canonical JSON; unset ones are null.
    fn fields(&self) -> Vec<(&'static str, Value)>;

    /// Refuses values out of their ranges, as reading does, in a record that was not read.
    ///
    /// # Errors
    /// On the first value that is out of its range.
    fn check_ranges(&self) -> Result<(), WorkloadError>;

    /// What it is about, and its options.
    fn shape() -> Shape {
        Shape { noun: Self::NOUN, about: Self::ABOUT.trim().to_owned(), declarations: Self::declarations() }
    }

    /// Reads a record from a JSON object.
    ///
    /// # Errors
    /// On the first unknown key, bad value or missing key.
    fn read_record(value: &Value) -> Result<Self, WorkloadError> {
        let Value::Object(map) = value else {
            return Err(not_a(value, "a table", format!("every {} is a table of options", Self::NOUN)).into());
        };
        let mut record = Self::default();
        for (key, value) in map {
            record.assign(key, value).unwrap_or_else(|| Err(unknown_key::<Self>(key)))?;
        }
        match Self::required().find(|(key, _)| !map.contains_key(*key)) {
            Some((key, advice)) => Err(Problem::MissingKey { key, advice }.into()),
            None => Ok(record),
        }
    }

    /// The canonical JSON object: every option that is set, defaults included.
    fn write_record(&self) -> Value {
        let set = self.fields().into_iter().filter(|(_, value)| !value.is_null());
        Value::Object(set.map(|(key, value)| (key.to_owned(), value)).collect::<Map<_, _>>())
    }
}

/// The keys of a record, in the order of declaration.
pub fn keys<R: Record>() -> Vec<&'static str> {
    R::declarations().iter().map(|declaration| declaration.key).collect()
}

/// The refusal of a key that `R` does not have.
pub(crate) fn unknown_key<R: Record>(key: &str) -> WorkloadError {
    Problem::UnknownKey { key: key.to_owned(), record: R::NOUN, advice: suggestion(key, &keys::<R>(), R::DIALECT) }
        .into()
}

/// What to write in place of a key that is none of `keys`.
pub(crate) fn suggestion(key: &str, keys: &[&'static str], dialect: Dialect) -> String {
    hint(key, keys.iter().copied()).unwrap_or_else(|| match keys.len() {
        0..=NAMED_MAX => format!("known are {}", keys.join(", ")),
        _ => format!("{} lists all keys", dialect.page),
    })
}

/// JSON Schema of a record: every option, and nothing else.
pub fn record_schema<R: Record>() -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for declaration in R::declarations() {
        let mut schema = with_unit(declaration.schema, declaration.unit);
        schema["description"] = json!(declaration.help);
        schema["examples"] = json!([example(declaration.example)]);
        match declaration.default {
            Fallback::Required(_) => required.push(declaration.key),
            Fallback::Is { json, .. } => schema["default"] = json,
            Fallback::Unset(_) => {}
        }
        properties.insert(declaration.key.to_owned(), schema);
    }
    json!({ "type": "object", "additionalProperties": false, "required": required, "properties": properties })
}

/// JSON Schema of a number, or of a text with its unit where it has one.
fn with_unit(schema: Value, unit: Option<Unit>) -> Value {
    unit.map_or(schema.clone(), |unit| json!({ "anyOf": [schema, { "type": "string", "pattern": unit.pattern }] }))
}

/// The example as it would stand in a file: JSON if it is JSON, otherwise text.
fn example(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| json!(text))
}

/// The refusal of a value that is not of the kind expected.
pub fn not_a(value: &Value, expected: &'static str, advice: impl Into<String>) -> Problem {
    let found = match value {
        Value::String(text) => format!("'{text}'"),
        Value::Null => "nothing".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "a table".to_owned(),
        other => other.to_string(),
    };
    Problem::NotA { found, expected, advice: advice.into() }
}
