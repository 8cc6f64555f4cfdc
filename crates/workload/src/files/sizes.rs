//! How large files are, as typed: one size, a range, or a table of sizes with their shares.

use serde_json::Value;

use crate::error::WorkloadError;
use crate::option::{Kind, Range};
use crate::sizes::{Grammar, Sizes};
use crate::units;

const GRAMMAR: Grammar = Grammar {
    noun: FileSizes::NOUN,
    advice: "write a size (64KiB), a range (4KiB-64KiB) or shares in percent (4KiB=60,1MiB=40)",
};

/// The sizes of a tree's files. A range goes in steps of the greatest common divisor of its ends.
#[derive(Clone, Debug, PartialEq)]
pub struct FileSizes(pub Sizes);

impl Kind for FileSizes {
    const NOUN: &'static str = "a file size";
    const FORM: &'static str = "a size; a range `\"4KiB-64KiB\"`, uniform in steps of the greatest common divisor of \
        both ends; or a table of sizes with their shares of the files in percent, `{ \"4KiB\" = 60, \"1MiB\" = 40 }`, \
        on the command line `4KiB=60,1MiB=40`.";

    fn read(value: &Value) -> Result<Self, WorkloadError> {
        Sizes::read(value, GRAMMAR).map(Self)
    }

    fn write(&self) -> Value {
        self.0.write()
    }

    fn show(&self) -> String {
        self.0.show()
    }

    fn schema(range: Option<Range>) -> Value {
        Sizes::schema(range)
    }

    fn extremes(&self) -> Option<(f64, f64)> {
        self.0.extremes()
    }

    fn show_bound(bound: f64) -> String {
        units::bytes_to_text(bound as u64)
    }
}
