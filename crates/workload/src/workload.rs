//! A workload: a named set of streams with its purpose and source, as read from a file.
//!
//! Limit: reading checks each value by itself, so that options can be set one after the other on an incomplete
//! workload; [`Workload::check`] says whether they can hold together, and [`Workload::resolve`] whether
//! they fit a target.
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

use crate::option::Record;
use crate::options;
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
            /// Words to list it by. With `bandwidth`, reports speak of MB/s before IOPS, as they do of requests of 64 KiB and more.
            tags: Vec<String> = Vec::new(), example "[\"proliant\"]";
            /// The streams, which run at the same time.
            streams as "stream": Vec<StreamOptions> = Vec::new(),
                required "write at least one [[stream]]", example "[{\"block_size\": \"8KiB\"}]";
        }
    }
}

impl Workload {
    /// The same workload for a target whose parts are not known: it keeps what to issue and forgets where.
    #[must_use]
    pub fn anywhere(&self) -> Self {
        let mut anywhere = self.clone();
        for stream in &mut anywhere.streams {
            (stream.parts, stream.parts_unit) = (None, None);
        }
        anywhere
    }

    /// The canonical JSON object, defaults included; reading it gives an equal workload.
    pub fn to_json(&self) -> Value {
        self.write_record()
    }
}

/// The file's name without directories and ending, reduced to the letters a name may have.
pub fn stem(source: &str) -> String {
    let file = source.rsplit(['/', '\\']).next().unwrap_or(source);
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    let allowed = |letter: char| if letter.is_ascii_alphanumeric() || letter == '_' { letter } else { '-' };
    let name: String = stem.chars().map(allowed).collect();
    if name.is_empty() { "workload".to_owned() } else { name }
}
