//! A workload: a named set of streams with its purpose and source, as read from a file.
//!
//! Limit: reading checks each value by itself, so that options can be set one after the other on an incomplete
//! workload;
//! [`Workload::check`] says whether they can hold together, and [`Workload::resolve`] whether they fit a target.
//!
//! ```
//! use plimsoll_workload::{TargetShape, Workload};
//! use serde_json::json;
//!
//! let file = json!({ "stream": [{ "block_size": "8KiB", "read_percent": 70 }] });
//! let mut workload = Workload::from_json(&file, "oltp.toml").unwrap();
//! workload.set("queue_depth", &json!("32")).unwrap();
//! let plans = workload.resolve(TargetShape { size_bytes: 1 << 30, block_bytes: 512 }, 1).unwrap();
//! assert_eq!((workload.name.as_str(), plans[0].queue_depth, plans[0].max_len), ("oltp", 32, 8192));
//! ```

use serde_json::Value;

use crate::error::WorkloadError;
use crate::nearest::nearest;
use crate::option::{Record, options};
use crate::scope::unknown_key;
use crate::stream::StreamOptions;

options! {
    /// A workload, as typed.
    pub struct Workload: "workload" {
        "Workload" {
            /// Name in the catalog and in results: letters, digits, `-` and `_`.
            name: String = String::new(), unset "the file's name", example "oltp-db";
            /// One line for people.
            title: String = String::new(), example "OLTP database";
            /// Heading under which reports put it, for example sequential, random or combined.
            group: String = String::new(), example "random";
            /// What it is meant to show.
            purpose: String = String::new(), example "Small random requests of a transaction system";
            /// Where it comes from.
            source: String = String::new(), example "HP ProLiant DL360 Gen5 to Gen8 report";
            /// Why its values are what they are, and which of them the source does not give.
            rationale: String = String::new(), example "The report gives 8 KiB, 70 % reads, all random";
            /// What a healthy target does under it.
            expect: String = String::new(), example "IOPS rise with queue depth until the disks are busy";
            /// Words to list it by.
            tags: Vec<String> = Vec::new(), example "[\"proliant\"]";
            /// The streams, which run at the same time.
            streams as "stream": Vec<StreamOptions> = Vec::new(),
                required "write at least one [[stream]]", example "[{\"block_size\": \"8KiB\"}]";
        }
    }
}

impl Workload {
    /// The same on a target whose parts are not known: what is asked of it, not where.
    #[must_use]
    pub fn anywhere(&self) -> Self {
        let mut anywhere = self.clone();
        for stream in &mut anywhere.streams {
            (stream.parts, stream.parts_unit) = (None, None);
        }
        anywhere
    }

    /// Reads a workload from JSON; `source` is the file it came from, named in errors and giving the name if there is
    /// none.
    ///
    /// # Errors
    /// On the first unknown key, bad value or missing stream.
    pub fn from_json(value: &Value, source: &str) -> Result<Self, WorkloadError> {
        let mut workload = Self::read_record(value).map_err(|error| error.within(source))?;
        if workload.name.is_empty() {
            workload.name = stem(source);
        }
        for (index, stream) in workload.streams.iter_mut().enumerate() {
            if stream.name.is_empty() {
                stream.name = format!("stream-{}", index + 1);
            }
        }
        Ok(workload)
    }

    /// The canonical JSON object, defaults included; reading it gives an equal workload.
    pub fn to_json(&self) -> Value {
        self.write_record()
    }

    /// Sets a stream option from a JSON value or from text: `key` on every stream, `NAME.key` on the stream called
    /// NAME. A
    /// refused value changes no stream.
    ///
    /// # Errors
    /// If there is no such stream or option, if the value is not valid, or if an access list decides what is being set.
    pub fn set(&mut self, key: &str, value: &Value) -> Result<(), WorkloadError> {
        let (stream, key) = key.split_once('.').map_or((None, key), |(stream, key)| (Some(stream), key));
        let names: Vec<String> = self.streams.iter().map(|stream| stream.name.clone()).collect();
        if let Some(stream) = stream
            && !names.iter().any(|name| name == stream)
        {
            return Err(no_stream(stream, &names));
        }
        let meant = |target: &StreamOptions| stream.is_none_or(|name| name == target.name);
        if !value.is_null() && StreamOptions::ACCESS_DECIDES.contains(&key) {
            let decided = self.streams.iter().find(|target| meant(target) && target.access.is_some());
            decided.map_or(Ok(()), |target| Err(access_decides(key, &target.name)))?;
        }
        for target in self.streams.iter_mut().filter(|target| meant(target)) {
            target.assign(key, value).unwrap_or_else(|| Err(unknown_key::<StreamOptions>(key)))?;
        }
        Ok(())
    }
}

/// The file's name without directories and ending, reduced to the letters a name may have.
pub(crate) fn stem(source: &str) -> String {
    let file = source.rsplit(['/', '\\']).next().unwrap_or(source);
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    let allowed = |letter: char| if letter.is_ascii_alphanumeric() || letter == '_' { letter } else { '-' };
    let name: String = stem.chars().map(allowed).collect();
    if name.is_empty() { "workload".to_owned() } else { name }
}

fn no_stream(name: &str, names: &[String]) -> WorkloadError {
    let advice = match nearest(name, names.iter().map(String::as_str)) {
        Some(near) => format!("did you mean '{near}'?"),
        None => format!("this workload has {}", names.join(", ")),
    };
    WorkloadError::impossible(format!("no stream is called '{name}'; {advice}"))
}

fn access_decides(key: &str, stream: &str) -> WorkloadError {
    WorkloadError::impossible(format!(
        "{key} cannot be set: stream \"{stream}\" has an access list, whose entries decide it; set access itself, or \
         take a workload without an access list"
    ))
}
