//! Target specifications: the text after `--target`, parsed and printed.
//!
//! | text | target |
//! |---|---|
//! | `/data/scratch`, `./scratch` | a file (made if missing) or a block device; taken character for character |
//! | `file:/data/scratch` | the same, but never a device |
//! | `/dev/sdb` | a block device |
//! | `concat:/dev/sdb,/dev/sdc` | one after the other |
//! | `stripe:/dev/sdb,/dev/sdc?unit=1MiB` | striped, as software RAID-0 |
//! | `concat:/dev/sdb,/data/log?sizes=-,1GiB` | the same; scratch files are made as long as the list says, part by part |
//! | `null:`, `null:?size=1TiB` | completes everything at once |
//! | `queue:?service=exp:1ms&servers=1` | a modelled server in virtual time, see [`QueueSpec`] |
//! | `array:{"name": …}` | a modelled array in virtual time, described by a JSON document, see [`ArrayTarget`] |
//!
//! After `file:`, `concat:` and `stripe:` a `%XX` stands for the byte with that hexadecimal code, so that paths may
//! contain `,` (`%2C`), `?` (`%3F`) and `%` (`%25`). A blank at the end of a part is written `%20`, since one beside a
//! comma may be layout as well as a part of the name. [`TargetSpec`]'s `Display` is the canonical text: parsing it
//! gives an equal specification; only of an array it is `array:` and the name, which the catalog knows.
//!
//! Limits: sets are not nested, and consist of files and devices only.
//!
//! ```
//! use plimsoll_engine::target::TargetSpec;
//! let spec: TargetSpec = "stripe:/dev/sdb,/data/a%2Cb?unit=64k".parse().unwrap();
//! assert_eq!(spec.to_string(), "stripe:/dev/sdb,/data/a%2Cb?unit=64KiB");
//! assert_eq!(spec.parts()[1].path.to_str(), Some("/data/a,b"));
//! ```

mod array;
mod escape;
mod options;
mod queue;

use std::collections::HashSet;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use plimsoll_workload::nearest::did_you_mean;
use plimsoll_workload::units::bytes_to_text;
use thiserror::Error;

pub use array::ArrayTarget;
pub use queue::{QueueFaults, QueueSpec, Service, Stall};

/// A target as asked for.
#[derive(Clone, Debug, PartialEq)]
pub enum TargetSpec {
    /// One file or device.
    Part(PartSpec),
    /// Several, one after the other; at least two.
    Concat(Vec<PartSpec>),
    /// Several, striped; at least two.
    Stripe {
        /// The parts, in order.
        parts: Vec<PartSpec>,
        /// Size of a stripe unit in bytes; a multiple of 512.
        unit_bytes: u32,
    },
    /// Nothing: every request completes at once.
    Null {
        /// Size it pretends to have, in bytes.
        size_bytes: u64,
    },
    /// A modelled server in virtual time.
    Queue(QueueSpec),
    /// A modelled array in virtual time.
    Array(Box<ArrayTarget>),
}

/// A file or device as asked for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PartSpec {
    /// The path as given, escapes resolved.
    pub path: PathBuf,
    /// Written with `file:`: a device is refused.
    pub file_only: bool,
    /// How long a scratch file is made there, in bytes; a multiple of 4 KiB. None where the target's size says it.
    pub size_bytes: Option<u64>,
}

/// Size a `null:` target pretends to have unless it is given: 1 TiB.
pub const NULL_SIZE_BYTES: u64 = 1 << 40;
/// Stripe unit unless it is given: 1 MiB.
pub const STRIPE_UNIT_BYTES: u32 = 1 << 20;

/// How long scratch files of a set can be made; multiples of the least.
const SIZES_RANGE: std::ops::RangeInclusive<u64> = 4096..=1 << 50;
/// The option of a set that says so.
const SIZES: &str = "sizes";

const KINDS: [&str; 6] = ["file", "concat", "stripe", "null", "queue", "array"];

impl TargetSpec {
    /// Files and devices of the target, in order; none for `null:`, `queue:` and `array:`.
    pub fn parts(&self) -> &[PartSpec] {
        match self {
            Self::Part(part) => std::slice::from_ref(part),
            Self::Concat(parts) | Self::Stripe { parts, .. } => parts,
            Self::Null { .. } | Self::Queue(_) | Self::Array(_) => &[],
        }
    }

    /// The word for it in results: `path`, `concat`, `stripe`, `null`, `queue` or `array`.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Part(_) => "path",
            Self::Concat(_) => "concat",
            Self::Stripe { .. } => "stripe",
            Self::Null { .. } => "null",
            Self::Queue(_) => "queue",
            Self::Array(_) => "array",
        }
    }
}

/// Why a text is not a target specification; one sentence.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("target `{text}`: {problem}")]
pub struct SpecError {
    text: String,
    problem: SpecProblem,
}

/// What is wrong with a specification.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum SpecProblem {
    #[error("it is empty; give a file or a device, for example /data/scratch or /dev/sdb")]
    Empty,
    #[error("`{kind}:` is not a kind of target{hint}; a file of that name is written `./{text}`")]
    UnknownKind { kind: String, hint: String, text: String },
    #[error("`array:` needs the document of an array here; the names of the catalog are resolved before")]
    NoDocument,
    #[error("{0}")]
    Array(String),
    #[error("write `{kind}:` for the kind of target, or `./{kind}` for a file of that name")]
    BareKind { kind: String },
    #[error("`{kind}:` needs a path, for example `{kind}:{example}`")]
    NoPath { kind: &'static str, example: &'static str },
    #[error("`{kind}:` needs at least two parts separated by commas, for example `{kind}:/dev/sdb,/dev/sdc`")]
    TooFewParts { kind: &'static str },
    #[error("`{part}` cannot be a part of a set; parts are files and devices")]
    NotAPart { part: String },
    #[error("`{path}` is there twice; every part must be another file or device")]
    Twice { path: String },
    #[error("`{kind}:` takes nothing before the `?`; write for example `{kind}:?{example}`")]
    NotAPath { kind: &'static str, example: &'static str },
    #[error("`file:` takes no options; a `?` in a path is written `%3F`")]
    FileOption,
    #[error("`{text}` is not of the form key=value")]
    NotAnOption { text: String },
    #[error("option `{key}` is not known here{hint}; there are {known}")]
    UnknownOption { key: String, hint: String, known: String },
    #[error("option `{key}` is given twice")]
    OptionTwice { key: String },
    #[error(
        "a blank stands at an end of the part `{part}`; write it `%20` where it belongs to the name, and leave it out where it does not"
    )]
    Blank { part: String },
    #[error(
        "option `sizes` says the size of {given} parts, and there are {parts}; write one size for each, `-` for a part that \
         has its own, or a single one for all"
    )]
    SizeCount { given: usize, parts: usize },
    #[error("option `{key}`: {reason}")]
    Value { key: &'static str, reason: String },
    #[error("`{text}` is not an escape; write %2C for a comma, %3F for a question mark, %25 for a percent sign")]
    Escape { text: String },
}

impl FromStr for TargetSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let shown = || array::shown(text.trim()).unwrap_or_else(|| text.to_owned());
        parse(written(text)).map_err(|problem| SpecError { text: shown(), problem })
    }
}

/// Blanks around a model and before a set are layout; those around a path are part of the file's name.
fn written(text: &str) -> &str {
    let bare = text.trim();
    match split_kind(bare) {
        _ if bare.is_empty() || KINDS.contains(&bare) => bare,
        None | Some(("file", _)) => text,
        Some(("concat" | "stripe", rest)) if !rest.contains('?') => text.trim_start(),
        Some(_) => bare,
    }
}

fn parse(text: &str) -> Result<TargetSpec, SpecProblem> {
    if text.is_empty() {
        return Err(SpecProblem::Empty);
    }
    let Some((kind, rest)) = split_kind(text) else {
        if KINDS.contains(&text) {
            return Err(SpecProblem::BareKind { kind: text.to_owned() });
        }
        return Ok(TargetSpec::Part(PartSpec { path: text.into(), file_only: false, size_bytes: None }));
    };
    match kind {
        "file" => Ok(TargetSpec::Part(parse_file(rest)?)),
        "concat" => {
            let (list, options) = options::split(rest);
            let mut sizes = Vec::new();
            options::read(options, &mut [(SIZES, &mut |value| part_sizes(value, &mut sizes))])?;
            Ok(TargetSpec::Concat(sized(parse_parts("concat", list)?, &sizes)?))
        }
        "stripe" => parse_stripe(rest),
        "null" => parse_null(rest),
        "queue" => {
            let (path, options) = options::split(rest);
            nothing_before("queue", "service=exp:1ms", path)?;
            Ok(TargetSpec::Queue(queue::parse(options)?))
        }
        "array" => Ok(TargetSpec::Array(Box::new(array::parse(rest)?))),
        _ => Err(SpecProblem::UnknownKind {
            kind: kind.to_owned(),
            hint: did_you_mean(kind, KINDS),
            text: text.to_owned(),
        }),
    }
}

/// Splits `kind:rest`; a colon after a slash belongs to a path.
fn split_kind(text: &str) -> Option<(&str, &str)> {
    let (kind, rest) = text.split_once(':')?;
    let is_word = !kind.is_empty() && kind.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    is_word.then_some((kind, rest))
}

fn parse_file(rest: &str) -> Result<PartSpec, SpecProblem> {
    if rest.contains('?') {
        return Err(SpecProblem::FileOption);
    }
    if rest.is_empty() {
        return Err(SpecProblem::NoPath { kind: "file", example: "/data/scratch" });
    }
    Ok(PartSpec { path: escape::decode(rest)?, file_only: true, size_bytes: None })
}

fn parse_stripe(rest: &str) -> Result<TargetSpec, SpecProblem> {
    let (list, options) = options::split(rest);
    let (mut unit_bytes, mut sizes) = (STRIPE_UNIT_BYTES, Vec::new());
    let mut unit = |value: &str| {
        unit_bytes = options::bytes(value, 512..=1 << 30)? as u32;
        if unit_bytes.is_multiple_of(512) { Ok(()) } else { Err("a unit is a multiple of 512 bytes".to_owned()) }
    };
    options::read(options, &mut [("unit", &mut unit), (SIZES, &mut |value| part_sizes(value, &mut sizes))])?;
    Ok(TargetSpec::Stripe { parts: sized(parse_parts("stripe", list)?, &sizes)?, unit_bytes })
}

/// Reads `64MiB,-,1GiB`: how long scratch files are made, part by part.
fn part_sizes(value: &str, sizes: &mut Vec<Option<u64>>) -> Result<(), String> {
    for text in value.split(',') {
        let size_bytes = match text.trim() {
            "-" => None,
            text => Some(options::bytes(text, SIZES_RANGE)?),
        };
        if size_bytes.is_some_and(|size_bytes| !size_bytes.is_multiple_of(*SIZES_RANGE.start())) {
            return Err("the size of a scratch file is a multiple of 4KiB".to_owned());
        }
        sizes.push(size_bytes);
    }
    Ok(())
}

/// The parts with the sizes of such a list, if there is one.
fn sized(mut parts: Vec<PartSpec>, sizes: &[Option<u64>]) -> Result<Vec<PartSpec>, SpecProblem> {
    let count = parts.len();
    match sizes {
        [] => {}
        [one] => parts.iter_mut().for_each(|part| part.size_bytes = *one),
        several if several.len() == count => {
            parts.iter_mut().zip(several).for_each(|(part, size_bytes)| part.size_bytes = *size_bytes);
        }
        several => return Err(SpecProblem::SizeCount { given: several.len(), parts: count }),
    }
    Ok(parts)
}

fn parse_null(rest: &str) -> Result<TargetSpec, SpecProblem> {
    let (path, options) = options::split(rest);
    nothing_before("null", "size=1TiB", path)?;
    let mut size_bytes = NULL_SIZE_BYTES;
    options::read(
        options,
        &mut [("size", &mut |value| {
            size_bytes = options::bytes(value, options::SIZE_RANGE)?;
            Ok(())
        })],
    )?;
    Ok(TargetSpec::Null { size_bytes })
}

fn nothing_before(kind: &'static str, example: &'static str, path: &str) -> Result<(), SpecProblem> {
    if path.is_empty() { Ok(()) } else { Err(SpecProblem::NotAPath { kind, example }) }
}

fn parse_parts(kind: &'static str, list: &str) -> Result<Vec<PartSpec>, SpecProblem> {
    let parts = list.split(',').filter(|text| !text.is_empty()).map(parse_part).collect::<Result<Vec<_>, _>>()?;
    if parts.len() < 2 {
        return Err(SpecProblem::TooFewParts { kind });
    }
    let mut seen = HashSet::new();
    match parts.iter().find(|part| !seen.insert(&part.path)) {
        Some(twice) => Err(SpecProblem::Twice { path: twice.path.display().to_string() }),
        None => Ok(parts),
    }
}

fn parse_part(text: &str) -> Result<PartSpec, SpecProblem> {
    if text != text.trim() {
        return Err(SpecProblem::Blank { part: text.to_owned() });
    }
    match split_kind(text) {
        Some(("file", rest)) => parse_file(rest),
        Some(_) => Err(SpecProblem::NotAPart { part: text.to_owned() }),
        None => Ok(PartSpec { path: escape::decode(text)?, file_only: false, size_bytes: None }),
    }
}

impl fmt::Display for PartSpec {
    /// The form inside a set; escapes are used where needed.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let prefix = if self.file_only { "file:" } else { "" };
        let text = escape::encode(&self.path);
        let dot = if !self.file_only && split_kind(&text).is_some() { "./" } else { "" };
        write!(out, "{prefix}{dot}{text}")
    }
}

impl fmt::Display for TargetSpec {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Part(part) if part.file_only => write!(out, "{part}"),
            Self::Part(part) => write!(out, "{}", part.path.display()),
            Self::Concat(parts) => write!(out, "concat:{}{}", join(parts), Sizes("?", parts)),
            Self::Stripe { parts, unit_bytes } => {
                let unit = bytes_to_text((*unit_bytes).into());
                write!(out, "stripe:{}?unit={unit}{}", join(parts), Sizes("&", parts))
            }
            Self::Null { size_bytes } => write!(out, "null:?size={}", bytes_to_text(*size_bytes)),
            Self::Queue(queue) => write!(out, "queue:?{queue}"),
            Self::Array(array) => write!(out, "array:{}", array.spec.name),
        }
    }
}

/// The option `sizes` of a set, behind what stands before it; nothing where no part has a size.
struct Sizes<'a>(&'static str, &'a [PartSpec]);

impl fmt::Display for Sizes<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(before, parts) = self;
        if parts.iter().all(|part| part.size_bytes.is_none()) {
            return Ok(());
        }
        let alike = parts.iter().all(|part| part.size_bytes == parts[0].size_bytes);
        let shown = if alike { &parts[..1] } else { parts };
        let sizes: Vec<_> = shown.iter().map(|part| part.size_bytes.map_or("-".to_owned(), bytes_to_text)).collect();
        write!(out, "{before}{SIZES}={}", sizes.join(","))
    }
}

fn join(parts: &[PartSpec]) -> String {
    parts.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests;
