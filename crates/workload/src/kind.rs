//! The kinds of values most options share: sizes, durations, rates, percentages, counts, switches, texts and lists.
//!
//! Numbers carry their unit in their type ([`Bytes`], [`Nanos`], [`PerSecond`], [`Percent`]), so that a default or an
//! engine cannot mix them up. Canonical JSON holds plain numbers: bytes, seconds, requests per second, percent.

use serde_json::{Value, json};

use crate::error::WorkloadError;
use crate::option::{Inside, Kind, Range, Record, not_a, record_schema};
use crate::units;

/// The largest whole number that JSON carries exactly everywhere.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// A size in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bytes(pub u64);

/// A duration in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Nanos(pub u64);

/// Events per second.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct PerSecond(pub f64);

/// A percentage; 100 is the whole.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Percent(pub f64);

/// A JSON number without a needless fraction.
pub(crate) fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < EXACT { json!(value as i64) } else { json!(value) }
}

/// JSON Schema of a number with bounds given in units of `scale`.
pub(crate) fn number_schema(kind: &str, range: Option<Range>, scale: f64) -> Value {
    let mut schema = json!({ "type": kind });
    if let Some(range) = range {
        schema["minimum"] = number(range.least / scale);
        if range.most < f64::MAX {
            schema["maximum"] = number(range.most / scale);
        }
    }
    schema
}

/// JSON Schema of "this number, or text of this pattern".
fn number_or_text(number: Value, pattern: &str) -> Value {
    json!({ "anyOf": [number, { "type": "string", "pattern": pattern }] })
}

/// Pattern of a size in text, as the schema states it.
pub(crate) const SIZE_PATTERN: &str = r"[0-9]+(\.[0-9]+)? ?([bB]|[kKmMgGtTpP]([iI][bB]?)?|[kMGTP]B)?";

/// A whole number of bytes from a JSON number.
fn whole(value: &Value) -> Option<u64> {
    let as_float = value.as_f64().filter(|float| (0.0..EXACT).contains(float) && float.fract() == 0.0);
    value.as_u64().or(as_float.map(|float| float as u64))
}

impl Kind for Bytes {
    const NOUN: &'static str = "a size";
    const FORM: &'static str = "`4096`, `\"4KiB\"`, `\"64k\"`, `\"1.5GiB\"`. A bare number is bytes; `k m g t p` and \
        `KiB MiB …` count in steps of 1024, `kB MB GB …` in steps of 1000. `KB` and `mb` are refused because both \
        readings are common.";

    fn read(value: &Value) -> Result<Self, WorkloadError> {
        let bytes = match value {
            Value::String(text) => units::bytes_from_text(text)?,
            other => whole(other).ok_or_else(|| not_a(other, Self::NOUN, "write for example 4KiB, 64k or 1GiB"))?,
        };
        Ok(Self(bytes))
    }

    fn write(&self) -> Value {
        json!(self.0)
    }

    fn show(&self) -> String {
        units::bytes_to_text(self.0)
    }

    fn schema(range: Option<Range>) -> Value {
        let range = range.unwrap_or(Range { least: 0.0, most: EXACT });
        number_or_text(number_schema("integer", Some(range), 1.0), &format!("^{SIZE_PATTERN}$"))
    }

    fn extremes(&self) -> Option<(f64, f64)> {
        Some((self.0 as f64, self.0 as f64))
    }

    fn show_bound(bound: f64) -> String {
        units::bytes_to_text(bound as u64)
    }
}

impl Kind for Nanos {
    const NOUN: &'static str = "a duration";
    const FORM: &'static str =
        "`10`, `\"250ms\"`, `\"10s\"`, `\"1m30s\"`, `\"2h\"`. A bare number is seconds; units are `ns us ms s m h d`.";

    fn read(value: &Value) -> Result<Self, WorkloadError> {
        let advice = "write for example 250ms, 10s or 1m30s";
        let ns = match value {
            Value::String(text) => units::ns_from_text(text)?,
            other => {
                let seconds = other.as_f64().filter(|seconds| (0.0..1e9).contains(seconds));
                (seconds.ok_or_else(|| not_a(other, Self::NOUN, advice))? * 1e9).round() as u64
            }
        };
        Ok(Self(ns))
    }

    fn write(&self) -> Value {
        number(self.0 as f64 / 1e9)
    }

    fn show(&self) -> String {
        units::ns_to_text(self.0)
    }

    fn schema(range: Option<Range>) -> Value {
        let pattern = r"^([0-9]+(\.[0-9]+)? ?(ns|us|µs|ms|s|sec|m|min|h|d)? ?)+$";
        let range = range.unwrap_or(Range { least: 0.0, most: EXACT });
        number_or_text(number_schema("number", Some(range), 1e9), pattern)
    }

    fn extremes(&self) -> Option<(f64, f64)> {
        Some((self.0 as f64, self.0 as f64))
    }

    fn show_bound(bound: f64) -> String {
        units::ns_to_text(bound as u64)
    }
}

/// Kinds that are one floating-point number: how they read from text, and how they look.
macro_rules! float_kind {
    ($kind:ident, $noun:literal, $form:literal, $advice:literal, $from_text:path, $pattern:literal, $suffix:literal) => {
        impl Kind for $kind {
            const NOUN: &'static str = $noun;
            const FORM: &'static str = $form;

            fn read(value: &Value) -> Result<Self, WorkloadError> {
                match value {
                    Value::String(text) => Ok(Self($from_text(text)?)),
                    other => Ok(Self(other.as_f64().ok_or_else(|| not_a(other, $noun, $advice))?)),
                }
            }

            fn write(&self) -> Value {
                number(self.0)
            }

            fn show(&self) -> String {
                Self::show_bound(self.0)
            }

            fn schema(range: Option<Range>) -> Value {
                number_or_text(number_schema("number", range, 1.0), $pattern)
            }

            fn extremes(&self) -> Option<(f64, f64)> {
                Some((self.0, self.0))
            }

            fn show_bound(bound: f64) -> String {
                format!("{}{}", units::number_to_text(bound), $suffix)
            }
        }
    };
}

float_kind!(
    PerSecond,
    "a rate",
    "`500`, `\"20k\"`, `\"1.5k/s\"`: requests per second; `k` and `m` count in steps of 1000.",
    "write requests per second, for example 500, 20k or 1.5k/s",
    units::rate_from_text,
    r"^[0-9]+(\.[0-9]+)? ?[kKmM]?(/s)?$",
    "/s"
);
float_kind!(
    Percent,
    "a percentage",
    "`70`, `70.5`, `\"70%\"`.",
    "write for example 70, 70.5 or 70%",
    units::percent_from_text,
    r"^[0-9]+(\.[0-9]+)? ?%?$",
    "%"
);

/// The JSON that a `--set` text stands for, if it is JSON at all.
pub(crate) fn json_text(value: &Value) -> Option<Value> {
    serde_json::from_str(value.as_str()?.trim()).ok()
}

/// Kinds that are one whole number.
macro_rules! count_kind {
    ($kind:ty) => {
        impl Kind for $kind {
            const NOUN: &'static str = "a whole number";
            const FORM: &'static str = "`32`.";
            const LIMITS: Option<Range> = Some(Range { least: Self::MIN as f64, most: Self::MAX as f64 });

            fn read(value: &Value) -> Result<Self, WorkloadError> {
                let parsed = json_text(value);
                let read = parsed.as_ref().unwrap_or(value);
                let count = Self::read_exact(read).ok().or_else(|| Self::try_from(whole(read)?).ok());
                Ok(count.ok_or_else(|| not_a(value, <Self as Kind>::NOUN, "write for example 1 or 32"))?)
            }

            fn read_exact(value: &Value) -> Result<Self, WorkloadError> {
                let signed = value.as_i64().and_then(|count| Self::try_from(count).ok());
                let count = signed.or_else(|| Self::try_from(value.as_u64()?).ok());
                Ok(count.ok_or_else(|| not_a(value, <Self as Kind>::NOUN, "write for example 1 or 32"))?)
            }

            fn write(&self) -> Value {
                json!(self)
            }

            fn show(&self) -> String {
                self.to_string()
            }

            fn schema(range: Option<Range>) -> Value {
                let limits = Range { least: Self::MIN as f64, most: Self::MAX as f64 };
                number_schema("integer", Some(range.unwrap_or(limits)), 1.0)
            }

            fn extremes(&self) -> Option<(f64, f64)> {
                Some((*self as f64, *self as f64))
            }
        }
    };
}

count_kind!(u16);
count_kind!(u32);
count_kind!(u64);
count_kind!(i32);

impl Kind for f64 {
    const NOUN: &'static str = "a number";
    const FORM: &'static str = "`2`, `2.5`.";

    fn read(value: &Value) -> Result<Self, WorkloadError> {
        let parsed = json_text(value);
        let float = parsed.as_ref().unwrap_or(value).as_f64();
        Ok(float.ok_or_else(|| not_a(value, Self::NOUN, "write for example 2 or 2.5"))?)
    }

    fn read_exact(value: &Value) -> Result<Self, WorkloadError> {
        Ok(value.as_f64().ok_or_else(|| not_a(value, Self::NOUN, "write for example 2 or 2.5"))?)
    }

    fn write(&self) -> Value {
        number(*self)
    }

    fn show(&self) -> String {
        units::number_to_text(*self)
    }

    fn schema(range: Option<Range>) -> Value {
        number_schema("number", range, 1.0)
    }

    fn extremes(&self) -> Option<(f64, f64)> {
        Some((*self, *self))
    }
}

impl Kind for bool {
    const NOUN: &'static str = "a switch";
    const FORM: &'static str = "`true` or `false`.";

    fn read(value: &Value) -> Result<Self, WorkloadError> {
        match value {
            Value::Bool(on) => Ok(*on),
            Value::String(text) if text == "true" => Ok(true),
            Value::String(text) if text == "false" => Ok(false),
            other => Err(not_a(other, Self::NOUN, "write true or false").into()),
        }
    }

    fn read_exact(value: &Value) -> Result<Self, WorkloadError> {
        Ok(value.as_bool().ok_or_else(|| not_a(value, Self::NOUN, "write true or false"))?)
    }

    fn write(&self) -> Value {
        json!(self)
    }

    fn show(&self) -> String {
        self.to_string()
    }

    fn schema(_: Option<Range>) -> Value {
        json!({ "type": "boolean" })
    }
}

impl Kind for String {
    const NOUN: &'static str = "a text";
    const FORM: &'static str = "any text.";

    fn read(value: &Value) -> Result<Self, WorkloadError> {
        let text = value.as_str().ok_or_else(|| not_a(value, Self::NOUN, "put it in quotes"))?;
        Ok(text.to_owned())
    }

    fn write(&self) -> Value {
        json!(self)
    }

    fn show(&self) -> String {
        self.clone()
    }

    fn schema(_: Option<Range>) -> Value {
        json!({ "type": "string" })
    }
}

impl Kind for Vec<String> {
    const NOUN: &'static str = "a list of texts";
    const FORM: &'static str = "`[\"one\", \"two\"]`.";

    fn read(value: &Value) -> Result<Self, WorkloadError> {
        let parsed = json_text(value);
        let list = parsed.as_ref().unwrap_or(value).as_array();
        let list = list.ok_or_else(|| not_a(value, Self::NOUN, "write for example [\"one\", \"two\"]"))?;
        list.iter().map(String::read).collect()
    }

    fn read_exact(value: &Value) -> Result<Self, WorkloadError> {
        let list = value.as_array().ok_or_else(|| not_a(value, Self::NOUN, "write for example [\"one\", \"two\"]"))?;
        let entry = |(index, item)| String::read(item).map_err(|error| error.within(format!("[{index}]")));
        list.iter().enumerate().map(entry).collect()
    }

    fn write(&self) -> Value {
        json!(self)
    }

    fn show(&self) -> String {
        if self.is_empty() { "none".to_owned() } else { self.join(", ") }
    }

    fn schema(_: Option<Range>) -> Value {
        json!({ "type": "array", "items": { "type": "string" } })
    }
}

impl<K: Kind> Kind for Option<K> {
    const NOUN: &'static str = K::NOUN;
    const FORM: &'static str = K::FORM;
    const LIMITS: Option<Range> = K::LIMITS;
    const NAMES_PLACE: bool = K::NAMES_PLACE;

    fn read(value: &Value) -> Result<Self, WorkloadError> {
        if value.is_null() { Ok(None) } else { K::read(value).map(Some) }
    }

    fn read_exact(value: &Value) -> Result<Self, WorkloadError> {
        if value.is_null() { Ok(None) } else { K::read_exact(value).map(Some) }
    }

    fn check_inside(&self) -> Result<(), WorkloadError> {
        self.as_ref().map_or(Ok(()), K::check_inside)
    }

    fn write(&self) -> Value {
        self.as_ref().map_or(Value::Null, K::write)
    }

    fn show(&self) -> String {
        self.as_ref().map_or_else(|| "unset".to_owned(), K::show)
    }

    fn schema(range: Option<Range>) -> Value {
        K::schema(range)
    }

    fn extremes(&self) -> Option<(f64, f64)> {
        self.as_ref().and_then(K::extremes)
    }

    fn show_bound(bound: f64) -> String {
        K::show_bound(bound)
    }

    fn words() -> Vec<(&'static str, String)> {
        K::words()
    }

    fn inside() -> Inside {
        K::inside()
    }
}

/// A table.
impl<R: Record> Kind for R {
    const NOUN: &'static str = "a table";
    const FORM: &'static str = "`{ … }`; its options have a section of their own below.";

    fn read(value: &Value) -> Result<Self, WorkloadError> {
        Self::read_record(value)
    }

    fn write(&self) -> Value {
        self.write_record()
    }

    fn show(&self) -> String {
        "as its keys say".to_owned()
    }

    fn schema(_: Option<Range>) -> Value {
        record_schema::<R>()
    }

    fn check_inside(&self) -> Result<(), WorkloadError> {
        self.check_ranges()
    }

    fn inside() -> Inside {
        Inside::Table(R::shape())
    }
}

/// A list of tables; of workloads never empty.
impl<R: Record> Kind for Vec<R> {
    const NOUN: &'static str = "a list of tables";
    const FORM: &'static str =
        "`[{ … }, { … }]`, with at least one entry; the options of an entry have a section of their own below.";
    const NAMES_PLACE: bool = true;

    fn read(value: &Value) -> Result<Self, WorkloadError> {
        let parsed = json_text(value);
        let list = parsed.as_ref().unwrap_or(value).as_array().filter(|list| !list.is_empty());
        let advice = || format!("write a list of at least one {}", R::NOUN);
        let list = list.ok_or_else(|| not_a(value, Self::NOUN, advice()))?;
        let entry = |(index, item)| R::read_record(item).map_err(|error| error.within(place::<R>(item, index)));
        list.iter().enumerate().map(entry).collect()
    }

    fn read_exact(value: &Value) -> Result<Self, WorkloadError> {
        let advice = || format!("write a list with a table for each {}", R::NOUN);
        let list = value.as_array().ok_or_else(|| not_a(value, Self::NOUN, advice()))?;
        let name = |item: &Value| item.get("name").and_then(Value::as_str).map(str::to_owned);
        let at = |(index, item)| name(item).unwrap_or_else(|| format!("[{index}]"));
        let entry = |(index, item)| R::read_record(item).map_err(|error| error.within(at((index, item))));
        list.iter().enumerate().map(entry).collect()
    }

    fn write(&self) -> Value {
        self.iter().map(R::write_record).collect()
    }

    fn show(&self) -> String {
        if self.is_empty() { "none".to_owned() } else { self.write().to_string() }
    }

    fn schema(_: Option<Range>) -> Value {
        let least = u32::from(!R::DIALECT.exact);
        json!({ "type": "array", "minItems": least, "items": record_schema::<R>() })
    }

    fn check_inside(&self) -> Result<(), WorkloadError> {
        let entry =
            |(index, record): (usize, &R)| record.check_ranges().map_err(|error| error.within(format!("[{index}]")));
        self.iter().enumerate().try_for_each(entry)
    }

    fn inside() -> Inside {
        Inside::List(R::shape())
    }
}

/// What errors call an entry of a list: its name, or its position counted from 1.
fn place<R: Record>(item: &Value, index: usize) -> String {
    match item.get("name").and_then(Value::as_str) {
        Some(name) => format!("{} \"{name}\"", R::NOUN),
        None => format!("{} {}", R::NOUN, index + 1),
    }
}
