//! Names of devices in lists, as they are written: `disk` is a whole set, `disk[3]` one device of it, `disk[0-11]` several.

use plimsoll_workload::WorkloadError;
use plimsoll_workload::option::{Kind, Range};
use serde_json::Value;

/// A list of names of devices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Members(pub Vec<String>);

impl Kind for Members {
    const NOUN: &'static str = "a list of names";
    const FORM: &'static str = "`[\"disk\"]` for a whole set, `[\"disk[3]\", \"disk[5-7]\"]` for some of it.";

    fn read(value: &Value) -> Result<Self, WorkloadError> {
        Vec::<String>::read_exact(value).map(Self)
    }

    fn write(&self) -> Value {
        self.0.write()
    }

    fn show(&self) -> String {
        self.0.show()
    }

    fn schema(range: Option<Range>) -> Value {
        Vec::<String>::schema(range)
    }
}
