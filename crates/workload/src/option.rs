//! What an option is, and the one way to declare it.
//!
//! `options!` takes a struct in which every field states, once, its help (the doc comment), kind, default, range and
//! example. The macro derives the field itself, how it is read from JSON or `--set` text and written, its JSON Schema,
//! its line in the reference page and the texts of its errors. A [`Kind`] says what a value can be (a size, a rate, one
//! of several words); a [`Record`] is a struct of options.
//!
//! ```text
//! options! {
//!     /// One step of a schedule.
//!     pub struct ScheduleStep: "schedule step" {
//!         "Step" {
//!             /// Requests per second from this instant on.
//!             rate: PerSecond = PerSecond(0.0), range 0.0 => 1e9, example "20k";
//!         }
//!     }
//! }
//! ```

use serde_json::{Map, Value, json};

use crate::error::{Problem, WorkloadError};
use crate::nearest::hint;

/// What a value can be, independent of the option that holds it.
pub trait Kind: Sized {
    /// One value of the kind, with its article: "a size".
    const NOUN: &'static str;
    /// How such values are written; shown once in the reference page.
    const FORM: &'static str;

    /// Reads a value from JSON; every kind also reads from text, so that `--set` needs no types.
    ///
    /// # Errors
    /// If the value does not read as this kind.
    fn read(value: &Value) -> Result<Self, WorkloadError>;

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

    /// The options inside, if the kind is a list of records.
    fn inner() -> Vec<Declaration> {
        Vec::new()
    }
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
    /// A valid value as written after `--set key=`.
    pub example: &'static str,
    /// JSON Schema of its value.
    pub schema: Value,
    /// Options of each entry, if it is a list of records.
    pub inner: Vec<Declaration>,
}

/// A struct whose fields are options; implemented by `options!` only.
pub trait Record: Sized + Default {
    /// What one such record is called: "access entry".
    const NOUN: &'static str;

    /// Its options in the order of declaration.
    fn declarations() -> Vec<Declaration>;

    /// The options that must be given, each with what for.
    fn required() -> impl Iterator<Item = (&'static str, &'static str)>;

    /// Reads one option; `None` if the key is not known.
    fn assign(&mut self, key: &str, value: &Value) -> Option<Result<(), WorkloadError>>;

    /// Every option with its canonical JSON; unset ones are null.
    fn fields(&self) -> Vec<(&'static str, Value)>;

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
pub(crate) fn keys<R: Record>() -> Vec<&'static str> {
    R::declarations().iter().map(|declaration| declaration.key).collect()
}

/// The refusal of a key that `R` does not have.
pub(crate) fn unknown_key<R: Record>(key: &str) -> WorkloadError {
    Problem::UnknownKey { key: key.to_owned(), record: R::NOUN, advice: suggestion(key, &keys::<R>()) }.into()
}

/// What to write in place of a key that is none of `keys`.
pub(crate) fn suggestion(key: &str, keys: &[&'static str]) -> String {
    hint(key, keys.iter().copied()).unwrap_or_else(|| match keys.len() {
        0..=12 => format!("known are {}", keys.join(", ")),
        _ => "docs/reference/options.md lists all keys".to_owned(),
    })
}

/// JSON Schema of a record: every option, and nothing else.
pub(crate) fn record_schema<R: Record>() -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for declaration in R::declarations() {
        let mut schema = declaration.schema;
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

/// The example as it would stand in a file: JSON if it is JSON, otherwise text.
fn example(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| json!(text))
}

/// The refusal of a value that is not of the kind expected.
pub(crate) fn not_a(value: &Value, expected: &'static str, advice: impl Into<String>) -> Problem {
    let found = match value {
        Value::String(text) => format!("'{text}'"),
        Value::Null => "nothing".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "a table".to_owned(),
        other => other.to_string(),
    };
    Problem::NotA { found, expected, advice: advice.into() }
}

/// Reads `value` into `slot` if it is of the slot's kind and in range. Errors name the key.
pub(crate) fn assign<K: Kind>(
    slot: &mut K,
    key: &'static str,
    value: &Value,
    range: Option<Range>,
) -> Result<(), WorkloadError> {
    let named = |error: WorkloadError| if error.is_placed() { error } else { error.within(key) };
    let read = K::read(value).map_err(named)?;
    if let (Some(range), Some((low, high))) = (range, read.extremes())
        && !(low >= range.least && high <= range.most)
    {
        let (least, most) = (K::show_bound(range.least), K::show_bound(range.most));
        return Err(named(Problem::OutOfRange { found: read.show(), least, most }.into()));
    }
    *slot = read;
    Ok(())
}

/// The part of a declaration that its author writes.
pub(crate) struct Written {
    pub(crate) section: &'static str,
    pub(crate) key: &'static str,
    pub(crate) help: &'static str,
    pub(crate) range: Option<Range>,
    pub(crate) example: &'static str,
    pub(crate) unset: Option<&'static str>,
    pub(crate) required: Option<&'static str>,
}

/// Completes what the author wrote with what the kind knows.
pub(crate) fn declare<K: Kind>(written: Written, default: &K) -> Declaration {
    let json = default.write();
    let default = match (written.required, written.unset) {
        (Some(why), _) => Fallback::Required(why),
        (None, Some(consequence)) => Fallback::Unset(consequence),
        (None, None) => Fallback::Is { shown: default.show(), json },
    };
    Declaration {
        section: written.section,
        key: written.key,
        help: written.help.trim().to_owned(),
        noun: K::NOUN,
        form: K::FORM,
        words: K::words(),
        default,
        range: written.range.map(|range| (K::show_bound(range.least), K::show_bound(range.most))),
        example: written.example,
        schema: K::schema(written.range),
        inner: K::inner(),
    }
}

/// Declares a struct of options; see the module's header for the form.
///
/// After the default may follow, in this order: `required "why"`, `unset "what follows when it is not given"`,
/// `range least => most`; then `example "text"`. `field as "key"` gives a key that differs from the field's name.
macro_rules! options {
    (
        $(#[doc = $about:literal])+
        pub struct $name:ident: $noun:literal {
            $( $section:literal {
                $(
                    $(#[doc = $help:literal])+
                    $field:ident $(as $key:literal)? : $kind:ty = $default:expr,
                        $(required $required:literal,)?
                        $(unset $unset:literal,)?
                        $(range $least:expr => $most:expr,)?
                        example $example:literal;
                )+
            } )+
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name {
            $($( $(#[doc = $help])+ pub $field: $kind, )+)+
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($( $field: $default, )+)+ }
            }
        }

        impl $crate::option::Record for $name {
            const NOUN: &'static str = $noun;

            fn declarations() -> Vec<$crate::option::Declaration> {
                let default = Self::default();
                vec![$($(
                    $crate::option::declare::<$kind>(
                        $crate::option::Written {
                            section: $section,
                            key: $crate::option::key!($field $(as $key)?),
                            help: concat!($($help),+),
                            range: $crate::option::range!($($least => $most)?),
                            example: $example,
                            unset: $crate::option::maybe!($($unset)?),
                            required: $crate::option::maybe!($($required)?),
                        },
                        &default.$field,
                    ),
                )+)+]
            }

            fn required() -> impl Iterator<Item = (&'static str, &'static str)> {
                let all: &[(&'static str, Option<&'static str>)] =
                    &[$($( ($crate::option::key!($field $(as $key)?), $crate::option::maybe!($($required)?)), )+)+];
                all.iter().filter_map(|&(key, why)| Some((key, why?)))
            }

            fn assign(
                &mut self,
                key: &str,
                value: &serde_json::Value,
            ) -> Option<Result<(), $crate::error::WorkloadError>> {
                $($(
                    if key == $crate::option::key!($field $(as $key)?) {
                        let range = $crate::option::range!($($least => $most)?);
                        let key = $crate::option::key!($field $(as $key)?);
                        return Some($crate::option::assign(&mut self.$field, key, value, range));
                    }
                )+)+
                None
            }

            fn fields(&self) -> Vec<(&'static str, serde_json::Value)> {
                vec![$($(
                    ($crate::option::key!($field $(as $key)?), $crate::option::Kind::write(&self.$field)),
                )+)+]
            }
        }
    };
}

/// The key of a field: its name, or the one given.
macro_rules! key {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident as $key:literal) => {
        $key
    };
}

/// An optional range.
macro_rules! range {
    () => {
        None
    };
    ($least:expr => $most:expr) => {
        Some($crate::option::Range { least: $least, most: $most })
    };
}

/// An optional text.
macro_rules! maybe {
    () => {
        None
    };
    ($text:literal) => {
        Some($text)
    };
}

pub(crate) use {key, maybe, options, range};
