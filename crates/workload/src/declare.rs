//! The one way to declare an option.
//!
//! [`crate::options!`] takes a struct in which every field states, once, its help (the doc comment), kind, default, range, unit
//! and example. The macro derives the field itself, how it is read from JSON or `--set` text and written, its JSON Schema,
//! its line in the reference page and the texts of its errors. A field may be a struct of options itself (a table), a list of
//! them, or a [`crate::choices!`] of several.
//!
//! ```
//! use plimsoll_workload::kind::PerSecond;
//! use plimsoll_workload::option::Record;
//!
//! plimsoll_workload::options! {
//!     /// One step of a schedule.
//!     pub struct Step: "step" {
//!         "Step" {
//!             /// Requests per second from this instant on.
//!             rate: PerSecond = PerSecond(0.0), range 0.0 => 1e9, example "20k";
//!         }
//!     }
//! }
//! let step = Step::read_record(&serde_json::json!({ "rate": "20k" })).unwrap();
//! assert_eq!(step.rate, PerSecond(20_000.0));
//! let wrong = Step::read_record(&serde_json::json!({ "rate": -1 })).unwrap_err();
//! assert_eq!(wrong.to_string(), "rate: -1/s is out of range; write 0/s to 1000000000/s");
//! ```

use serde_json::Value;

use crate::error::{Problem, WorkloadError};
use crate::option::{Declaration, Dialect, Fallback, Kind, Range, Record};
use crate::unit::Unit;

/// The part of a declaration that its author writes.
#[derive(Clone, Copy, Debug)]
pub struct Written {
    /// The heading in the reference page.
    pub section: &'static str,
    /// The key.
    pub key: &'static str,
    /// What it does.
    pub help: &'static str,
    /// Bounds.
    pub range: Option<Range>,
    /// What a bare number counts in.
    pub unit: Option<Unit>,
    /// A valid value.
    pub example: &'static str,
    /// What follows when it is not given.
    pub unset: Option<&'static str>,
    /// What it is needed for.
    pub required: Option<&'static str>,
}

/// Completes what the author wrote with what the kind knows.
pub fn declare<K: Kind>(written: &Written, default: &K) -> Declaration {
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
        unit: written.unit,
        example: written.example,
        schema: K::schema(written.range),
        inside: K::inside(),
    }
}

/// Reads `value` into `slot` if it is of the slot's kind and in range. Errors name the key.
///
/// # Errors
/// If it is not.
pub fn assign<K: Kind>(slot: &mut K, written: &Written, value: &Value, dialect: Dialect) -> Result<(), WorkloadError> {
    let named = |error: WorkloadError| {
        let is_named = !dialect.exact && K::NAMES_PLACE && error.is_placed();
        if is_named { error } else { error.within(written.key) }
    };
    if dialect.exact {
        check_number::<K>(value, written).map_err(named)?;
    }
    let read = if dialect.exact { K::read_exact(value) } else { K::read(value) };
    let read = read.map_err(|error| named(with_bounds::<K>(error, written, dialect)))?;
    check_range(&read, written)?;
    *slot = read;
    Ok(())
}

/// Refuses a value out of its range, and those inside it.
///
/// # Errors
/// On the first one.
pub fn check<K: Kind>(value: &K, written: &Written) -> Result<(), WorkloadError> {
    check_range(value, written)?;
    value.check_inside().map_err(|error| error.within(written.key))
}

fn check_range<K: Kind>(value: &K, written: &Written) -> Result<(), WorkloadError> {
    let (Some(range), Some((low, high))) = (written.range, value.extremes()) else { return Ok(()) };
    if low >= range.least && high <= range.most {
        return Ok(());
    }
    Err(out_of_range::<K>(value.show(), low, range).within(written.key))
}

/// Refuses a number out of range before it is read as a type that could not hold it.
fn check_number<K: Kind>(value: &Value, written: &Written) -> Result<(), WorkloadError> {
    let Some(limits) = K::LIMITS else { return Ok(()) };
    let range = written.range.unwrap_or(limits);
    match value.as_f64() {
        Some(number) if (value.is_i64() || value.is_u64()) && !(number >= range.least && number <= range.most) => {
            Err(out_of_range::<K>(value.to_string(), number, range))
        }
        _ => Ok(()),
    }
}

fn out_of_range<K: Kind>(found: String, number: f64, range: Range) -> WorkloadError {
    let (least, most) = (K::show_bound(range.least), K::show_bound(range.most));
    match number < range.least && is_open::<K>(range) {
        true => Problem::TooSmall { found, least }.into(),
        false => Problem::OutOfRange { found, least, most }.into(),
    }
}

/// Whether a range ends only where the type does, which says nothing to people.
fn is_open<K: Kind>(range: Range) -> bool {
    range.most >= K::LIMITS.map_or(f64::MAX, |limits| limits.most)
}

/// Lets the refusal of what is no number say which numbers would be right.
fn with_bounds<K: Kind>(error: WorkloadError, written: &Written, dialect: Dialect) -> WorkloadError {
    let is_told = |range: &Range| dialect.exact && !error.is_placed() && !(range.least < 0.0 && is_open::<K>(*range));
    let Some(range) = written.range.or(K::LIMITS).filter(is_told) else { return error };
    let Problem::NotA { found, expected, .. } = error.problem() else { return error };
    let of = written.unit.map_or_else(String::new, |unit| format!(" {}", unit.name));
    let most = if is_open::<K>(range) { "or more".to_owned() } else { format!("to {}", K::show_bound(range.most)) };
    let advice = format!("write {} {most}{of}", K::show_bound(range.least));
    Problem::NotA { found: found.clone(), expected, advice }.into()
}

/// Reads a record for `serde`.
///
/// # Errors
/// The sentence about the first value that is wrong, after the path to it.
pub fn deserialize<'de, R: Record, D: serde::Deserializer<'de>>(input: D) -> Result<R, D::Error> {
    let value: Value = serde::Deserialize::deserialize(input)?;
    R::read_record(&value).map_err(|error| serde::de::Error::custom(error.with_path()))
}

/// Writes a record for `serde`: every option that is set.
///
/// # Errors
/// As the serializer.
pub fn serialize<R: Record, S: serde::Serializer>(record: &R, output: S) -> Result<S::Ok, S::Error> {
    output.collect_map(record.fields().into_iter().filter(|(_, value)| !value.is_null()))
}

/// Declares a struct of options; see the module's header for the form.
///
/// After the noun may follow `in DIALECT` for documents other than workloads. After a default may follow, in this order:
/// `required "why"`, `unset "what follows when it is not given"`, `range least => most`, `unit UNIT`; then `example "text"`.
/// `field as "key"` gives a key that differs from the field's name. Defaults of fields that must be given are placeholders.
#[macro_export]
macro_rules! options {
    (
        $(#[doc = $about:literal])+
        $(#[derive($($derived:ident),+)])?
        pub struct $name:ident: $noun:literal $(in $dialect:path)? {
            $( $section:literal {
                $(
                    $(#[doc = $help:literal])+
                    $field:ident $(as $key:literal)? : $kind:ty = $default:expr,
                        $(required $required:literal,)?
                        $(unset $unset:literal,)?
                        $(range $least:expr => $most:expr,)?
                        $(unit $unit:expr,)?
                        example $example:literal;
                )+
            } )+
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, PartialEq $($(, $derived)+)?)]
        pub struct $name {
            $($( $(#[doc = $help])+ pub $field: $kind, )+)+
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($( $field: $default, )+)+ }
            }
        }

        impl $name {
            /// What is declared of each option, in order.
            const WRITTEN: &'static [$crate::declare::Written] = &[$($(
                $crate::declare::Written {
                    section: $section,
                    key: $crate::options!(@key $field $(as $key)?),
                    help: concat!($($help),+),
                    range: $crate::options!(@range $($least => $most)?),
                    unit: $crate::options!(@maybe $($unit)?),
                    example: $example,
                    unset: $crate::options!(@maybe $($unset)?),
                    required: $crate::options!(@maybe $($required)?),
                },
            )+)+];
        }

        impl $crate::option::Record for $name {
            const NOUN: &'static str = $noun;
            const ABOUT: &'static str = concat!($($about),+);
            const DIALECT: $crate::option::Dialect = $crate::options!(@dialect $($dialect)?);

            fn declarations() -> Vec<$crate::option::Declaration> {
                let default = Self::default();
                let mut written = Self::WRITTEN.iter();
                let mut all = Vec::with_capacity(Self::WRITTEN.len());
                $($(
                    all.extend(written.next().map(|written| $crate::declare::declare::<$kind>(written, &default.$field)));
                )+)+
                all
            }

            fn required() -> impl Iterator<Item = (&'static str, &'static str)> {
                Self::WRITTEN.iter().filter_map(|written| Some((written.key, written.required?)))
            }

            fn assign(
                &mut self,
                key: &str,
                value: &$crate::serde_json::Value,
            ) -> Option<Result<(), $crate::error::WorkloadError>> {
                let written = Self::WRITTEN.iter().find(|written| written.key == key)?;
                $($(
                    if key == $crate::options!(@key $field $(as $key)?) {
                        return Some($crate::declare::assign(&mut self.$field, written, value, Self::DIALECT));
                    }
                )+)+
                None
            }

            fn fields(&self) -> Vec<(&'static str, $crate::serde_json::Value)> {
                vec![$($(
                    ($crate::options!(@key $field $(as $key)?), $crate::option::Kind::write(&self.$field)),
                )+)+]
            }

            fn check_ranges(&self) -> Result<(), $crate::error::WorkloadError> {
                let mut written = Self::WRITTEN.iter();
                $($(
                    written.next().map_or(Ok(()), |written| $crate::declare::check(&self.$field, written))?;
                )+)+
                Ok(())
            }
        }

        impl $crate::serde::Serialize for $name {
            fn serialize<S: $crate::serde::Serializer>(&self, output: S) -> Result<S::Ok, S::Error> {
                $crate::declare::serialize(self, output)
            }
        }

        impl<'de> $crate::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::serde::Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
                $crate::declare::deserialize(input)
            }
        }
    };
    // The key of a field: its name, or the one given.
    (@key $field:ident) => { stringify!($field) };
    (@key $field:ident as $key:literal) => { $key };
    (@range) => { None };
    (@range $least:expr => $most:expr) => { Some($crate::option::Range { least: $least, most: $most }) };
    (@maybe) => { None };
    (@maybe $given:expr) => { Some($given) };
    (@dialect) => { $crate::option::WORKLOADS };
    (@dialect $dialect:path) => { $dialect };
}

/// Declares a table whose options follow from a word in it: an enum of records.
///
/// ```text
/// choices! {
///     /// What a device is.
///     pub enum Model: "a kind of device", tag "kind" {
///         /// A rotating disk.
///         Disk(Disk) = "disk",
///     }
/// }
/// ```
#[macro_export]
macro_rules! choices {
    (
        $(#[doc = $about:literal])+
        $(#[derive($($derived:ident),+)])?
        pub enum $name:ident: $noun:literal, tag $tag:literal {
            $( $(#[doc = $meaning:literal])+ $variant:ident($record:ty) = $word:literal, )+
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, PartialEq $($(, $derived)+)?)]
        pub enum $name { $( $(#[doc = $meaning])+ $variant($record), )+ }

        impl $crate::option::Kind for $name {
            const NOUN: &'static str = "a table";
            const FORM: &'static str = concat!("a table whose options follow from its key `", $tag, "`.");

            fn read(value: &$crate::serde_json::Value) -> Result<Self, $crate::error::WorkloadError> {
                let chosen = $crate::choice::chosen(value, $tag, $noun, &[$($word),+])?;
                match chosen.word {
                    $( $word => Ok(Self::$variant(<$record as $crate::option::Record>::read_record(&chosen.rest)?)), )+
                    _ => unreachable!("one of the words"),
                }
            }

            fn write(&self) -> $crate::serde_json::Value {
                match self {
                    $( Self::$variant(inside) => $crate::choice::written(inside, $tag, $word), )+
                }
            }

            fn show(&self) -> String {
                "as its keys say".to_owned()
            }

            fn schema(_: Option<$crate::option::Range>) -> $crate::serde_json::Value {
                $crate::serde_json::json!({ "oneOf": [$( $crate::choice::schema::<$record>($tag, $word) ),+] })
            }

            fn check_inside(&self) -> Result<(), $crate::error::WorkloadError> {
                match self {
                    $( Self::$variant(inside) => $crate::option::Record::check_ranges(inside), )+
                }
            }

            fn inside() -> $crate::option::Inside {
                let tables = vec![$(
                    ($word, $crate::option::Shape {
                        about: concat!($($meaning),+).trim().to_owned(),
                        ..<$record as $crate::option::Record>::shape()
                    }),
                )+];
                $crate::option::Inside::Choice { tag: $tag, tables }
            }
        }

        impl $crate::serde::Serialize for $name {
            fn serialize<S: $crate::serde::Serializer>(&self, output: S) -> Result<S::Ok, S::Error> {
                $crate::serde::Serialize::serialize(&$crate::option::Kind::write(self), output)
            }
        }

        impl<'de> $crate::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::serde::Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
                let value: $crate::serde_json::Value = $crate::serde::Deserialize::deserialize(input)?;
                <Self as $crate::option::Kind>::read(&value)
                    .map_err(|error| $crate::serde::de::Error::custom(error.with_path()))
            }
        }
    };
}
