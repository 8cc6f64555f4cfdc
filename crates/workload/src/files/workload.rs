//! A workload of file operations: trees and streams with their purpose and source, as read from a file.
//!
//! Limit: reading checks each value by itself; [`FileWorkload::resolve`] says whether they hold together.

use serde_json::Value;

use crate::error::WorkloadError;
use crate::files::stream::FileStreamOptions;
use crate::files::tree::TreeOptions;
use crate::option::Record;
use crate::options;
use crate::scope::sent_home;
use crate::words;
use crate::workload::stem;

words! {
    /// What carries a workload out.
    pub enum Driver: "the driver of file operations" {
        /// Operations on files and directories.
        Files = "files",
    }
}

options! {
    /// A workload of file operations, as typed.
    pub struct FileWorkload: "workload" {
        "Workload" {
            /// Name in the catalog and in results: letters, digits, `-` and `_`.
            name: String = String::new(), unset "the file's name", example "mail-spool";
            /// What carries it out; without it a workload is one of block requests.
            driver: Driver = Driver::Files, required "write driver = \"files\"", example "files";
            /// One line for people.
            title: String = String::new(), example "Mail spool";
            /// Heading under which reports put it.
            group: String = String::new(), example "files";
            /// What it is meant to show.
            purpose: String = String::new(), example "Many small files, made and removed";
            /// Where it comes from.
            source: String = String::new(), example "Measured on our mail server in May";
            /// Why its values are what they are, and which of them the source does not give.
            rationale: String = String::new(), example "Sizes follow the spool's own";
            /// What a healthy target does under it.
            expect: String = String::new(), example "Creating is slower than reading";
            /// Words to list it by.
            tags: Vec<String> = Vec::new(), example "[\"mail\"]";
            /// The trees that the streams work on.
            trees as "tree": Vec<TreeOptions> = Vec::new(),
                required "write at least one [[tree]]", example "[{\"files\": 1000}]";
            /// The streams, which run at the same time.
            streams as "stream": Vec<FileStreamOptions> = Vec::new(),
                required "write at least one [[stream]]", example "[{\"operation\": \"stat\"}]";
        }
    }
}

impl FileWorkload {
    /// Reads a workload from JSON; `source` is the file it came from, named in errors and giving the name if
    /// there is none.
    ///
    /// # Errors
    /// On the first unknown key, bad value or missing key.
    pub fn from_json(value: &Value, source: &str) -> Result<Self, WorkloadError> {
        let mut workload = Self::read_record(value).map_err(|error| sent_home(error).within(source))?;
        if workload.name.is_empty() {
            workload.name = stem(source);
        }
        let number = |name: &mut String, noun: &str, index: usize| {
            if name.is_empty() {
                *name = format!("{noun}-{}", index + 1);
            }
        };
        workload.trees.iter_mut().enumerate().for_each(|(index, tree)| number(&mut tree.name, "tree", index));
        workload.streams.iter_mut().enumerate().for_each(|(index, stream)| number(&mut stream.name, "stream", index));
        Ok(workload)
    }

    /// The canonical JSON object, defaults included; reading it gives an equal workload.
    pub fn to_json(&self) -> Value {
        self.write_record()
    }

    /// Refuses options that cannot hold together.
    ///
    /// # Errors
    /// On the first contradiction; the sentence begins with `source`.
    pub fn check(&self, source: &str) -> Result<(), WorkloadError> {
        self.resolve_all(0).map(drop).map_err(|error| error.within(source))
    }
}
