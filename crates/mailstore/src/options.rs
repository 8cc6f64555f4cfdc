//! The options of a mail store. Everything about each is declared here, once; what a generation of mail servers had is data
//! (`python/plimsoll/catalog/generations`).

use plimsoll_workload::extent::Extent;
use plimsoll_workload::kind::{Bytes, Nanos, PerSecond, Percent};
use plimsoll_workload::option::Record;
use plimsoll_workload::parts::PartList;
use plimsoll_workload::plan::Distribution;
use plimsoll_workload::spread::Spread;
use plimsoll_workload::{WorkloadError, options, words};
use serde_json::Value;

const MEBIBYTE: f64 = 1_048_576.0;
const TEBIBYTE: f64 = 1_099_511_627_776.0;
const DAY_NS: f64 = 86_400e9;

words! {
    /// What carries a workload out.
    pub enum Driver: "the driver of mail stores" {
        /// A storage engine's I/O.
        Mailstore = "mailstore",
    }
}

words! {
    /// What is done with the store.
    pub enum Test: "a test" {
        /// Threads carry out operations.
        Operations = "operations",
        /// Every database is read from its beginning to its end, once, as a backup reads it.
        Backup = "backup",
        /// Threads are added and taken away until as many as can wait no longer than `tuning_limit` for their pages are found.
        Tuning = "tuning",
        /// The log of a store that was killed is replayed, and what it had acknowledged is looked for.
        Recovery = "recovery",
    }
}

options! {
    /// A workload of a mail store, as typed.
    pub struct MailstoreWorkload: "workload" {
        "Workload" {
            /// Name in the catalog and in results: letters, digits, `-` and `_`.
            name: String = String::new(), unset "the file's name", example "mailstore-2003";
            /// What carries it out; without it a workload is one of block requests.
            driver: Driver = Driver::Mailstore, required "write driver = \"mailstore\"", example "mailstore";
            /// The generation whose values hold for what is not given here, and whose limits the result is held against.
            generation: String = String::new(), unset "every value is this file's own", example "2003";
            /// One line for people.
            title: String = String::new(), example "Mail store of 2003";
            /// Heading under which reports put it.
            group: String = String::new(), example "random";
            /// What it is meant to show.
            purpose: String = String::new(), example "How many transfers a database gets before it waits 20 ms";
            /// Where it comes from.
            source: String = String::new(), example "HP SAS benchmark performance tests";
            /// Why its values are what they are, and which of them the source does not give.
            rationale: String = String::new(), example "The mix is published, the cache is assumed";
            /// What a healthy target does under it.
            expect: String = String::new(), example "Reads reach the limit before writes do";
            /// Words to list it by.
            tags: Vec<String> = Vec::new(), example "[\"mail\"]";
            /// What is done with the store.
            test: Test = Test::Operations, example "backup";
        }
        "Databases" {
            /// Databases, each with files, a cache, a log and threads of its own. They share the target evenly.
            databases: u32 = 1, range 1.0 => 256.0, example "4";
            /// Which parts of a target `concat:A,B,C` hold the databases, in turn, counted from 0.
            database_parts: Option<PartList> = None, unset "all of the target", example "0,1";
            /// Which parts of it hold the logs, in turn.
            log_parts: Option<PartList> = None, unset "they lie beside their database", example "2";
            /// A page: 4KiB, 8KiB, 16KiB or 32KiB.
            page_size: Bytes = Bytes(4096), range 4096.0 => 32768.0, example "8KiB";
            /// Room for a database, growth included; a percentage is of its share of the target.
            database_size: Extent = Extent::Percent(100.0), range 1.0 => 16.0 * TEBIBYTE, example "100GiB";
            /// How much of that is in use at the beginning.
            filled: Percent = Percent(80.0), range 1.0 => 100.0, example "80";
            /// Mailboxes of each database; each is a table.
            mailboxes: u32 = 1500, range 1.0 => 10_000_000.0, example "1200";
            /// A record of a table.
            record_size: Bytes = Bytes(1000), range 64.0 => 16384.0, example "1000";
            /// What an inner page of a tree takes for each page below it.
            index_entry: Bytes = Bytes(40), range 12.0 => 1024.0, example "40";
        }
        "Operations" {
            /// Percentage of operations that insert a record.
            insert_percent: Percent = Percent(17.0), range 0.0 => 100.0, example "40";
            /// Percentage of operations that delete one.
            delete_percent: Percent = Percent(5.0), range 0.0 => 100.0, example "20";
            /// Percentage of operations that replace one.
            replace_percent: Percent = Percent(68.0), range 0.0 => 100.0, example "5";
            /// Percentage of operations that only look one up.
            seek_percent: Percent = Percent(10.0), range 0.0 => 100.0, example "35";
            /// Percentage of commits that do not wait for the log.
            lazy_commit_percent: Percent = Percent(90.0), range 0.0 => 100.0, example "70";
            /// How much of a record a replace changes, and logs.
            replaced_percent: Percent = Percent(60.0), range 0.0 => 100.0, example "100";
            /// Percentage of operations on the newest pages of a mailbox; the others go to any page.
            recent_percent: Percent = Percent(67.0), range 0.0 => 100.0, example "80";
            /// How many pages of a mailbox are its newest.
            recent_pages: u32 = 2, range 1.0 => 1000.0, example "4";
            /// How the operations on any page spread over the pages.
            distribution: Spread = Spread(Distribution::Uniform), example "zipf:0.8";
        }
        "Cache" {
            /// Memory for pages, of each database.
            cache_size: Option<Bytes> = None, unset "1% of the database, 32MiB at least and 256MiB at most",
                range MEBIBYTE => TEBIBYTE, example "1GiB";
            /// The longest write that adjacent dirty pages are joined to.
            coalesce: Bytes = Bytes(1_048_576), range 4096.0 => 16.0 * MEBIBYTE, example "256KiB";
            /// Page writes of a database that are outstanding at most.
            writes_outstanding: u32 = 32, range 1.0 => 1024.0, example "64";
        }
        "Log" {
            /// A file of the log.
            log_file_size: Bytes = Bytes(5_242_880), range 131_072.0 => 1024.0 * MEBIBYTE, example "1MiB";
            /// Files that the log uses in turn.
            log_files: Option<u32> = None, unset "as many as twice the checkpoint depth needs, and four",
                range 3.0 => 100_000.0, example "16";
            /// Records that wait to be written are this much at most.
            log_buffer: Bytes = Bytes(64_512), range 8192.0 => 64.0 * MEBIBYTE, example "1MiB";
            /// How far the oldest change that no page write has saved may lie behind the log's end.
            checkpoint_depth: Bytes = Bytes(20_971_520), range 65_536.0 => TEBIBYTE, example "100MiB";
        }
        "Background" {
            /// Bytes per second that maintenance reads of each database, 256 KiB at a time; 0 is none.
            maintenance: Bytes = Bytes(0), range 0.0 => 10_240.0 * MEBIBYTE, example "5MB";
            /// Copies of each database elsewhere: every log file that is closed is read once for each.
            copies: u32 = 0, range 0.0 => 16.0, example "2";
        }
        "Load" {
            /// Threads of each database.
            threads: u32 = 1, range 1.0 => 4096.0, example "16";
            /// What the mean read and the mean write may take while it is tuned; `threads` are then the most that are tried.
            tuning_limit: Nanos = Nanos(20_000_000), range 1000.0 => 1e10, example "20ms";
            /// Operations per second of all threads together; a thread sleeps until its next is due.
            rate: Option<PerSecond> = None, unset "threads go on at once", range 0.001 => 1e9, example "500";
            /// Pause of a thread after each operation.
            think_time: Nanos = Nanos(0), range 0.0 => DAY_NS, example "5ms";
            /// Processor time of an operation, on modelled targets; on real ones it takes what it takes.
            operation_time: Nanos = Nanos(50_000), range 1000.0 => 1e9, example "100us";
        }
        "Durability" {
            /// Bypass the page cache (`O_DIRECT`).
            direct: bool = true, example "false";
            /// Pages and log are durable before their writes complete (`O_DSYNC`).
            write_through: bool = true, example "false";
            /// A file on another disk that says how many hard commits were acknowledged; a recovery looks for as many.
            acknowledged: Option<String> = None, unset "nobody remembers", example "/mnt/other/commits";
        }
    }
}

impl Test {
    /// Whether threads carry operations out.
    pub const fn operates(self) -> bool {
        matches!(self, Self::Operations | Self::Tuning)
    }
}

impl MailstoreWorkload {
    /// Reads a workload from JSON; `source` is the file it came from, named in errors and giving the name if there is none.
    ///
    /// # Errors
    /// On the first unknown key, bad value or missing key.
    pub fn from_json(value: &Value, source: &str) -> Result<Self, WorkloadError> {
        let mut workload = Self::read_record(value).map_err(|error| error.within(source))?;
        if workload.name.is_empty() {
            workload.name = plimsoll_workload::workload::stem(source);
        }
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
        self.contradiction().map_or(Ok(()), |sentence| Err(WorkloadError::impossible(sentence).within(source)))
    }

    fn contradiction(&self) -> Option<String> {
        let sum = self.insert_percent.0 + self.delete_percent.0 + self.replace_percent.0 + self.seek_percent.0;
        if (sum - 100.0).abs() > 1e-6 {
            return Some(format!(
                "insert_percent, delete_percent, replace_percent and seek_percent add up to {sum}; they have to be 100"
            ));
        }
        if self.distribution.0 == Distribution::Permutation {
            return Some(
                "distribution permutation has an order, and operations have none; write uniform or zipf:0.8".to_owned(),
            );
        }
        if self.test == Test::Tuning && self.databases > 1 {
            return Some(format!(
                "test tuning finds the threads of one database, and databases are {}; tune one, and run all with its threads",
                self.databases
            ));
        }
        if !self.page_size.0.is_power_of_two() {
            return Some(format!("page_size {} is none; write 4KiB, 8KiB, 16KiB or 32KiB", self.page_size.0));
        }
        if self.record_size.0 > self.page_size.0 / 2 {
            return Some(format!(
                "record_size {} is more than half a page of {}; write a smaller one, or a larger page_size",
                self.record_size.0, self.page_size.0
            ));
        }
        if self.coalesce.0 < self.page_size.0 || !self.coalesce.0.is_multiple_of(self.page_size.0) {
            return Some(format!("coalesce {} is no multiple of the page_size {}", self.coalesce.0, self.page_size.0));
        }
        if !self.log_file_size.0.is_multiple_of(65_536) {
            return Some(format!(
                "log_file_size {} is no multiple of 64KiB; write for example 1MiB",
                self.log_file_size.0
            ));
        }
        if self.log_buffer.0 > self.log_file_size.0 || self.log_buffer.0 < 4 * self.record_size.0 {
            return Some(format!(
                "log_buffer {} has to hold four records of {} and fit into a log file of {}",
                self.log_buffer.0, self.record_size.0, self.log_file_size.0
            ));
        }
        if u64::from(self.ring_files()) * self.log_file_size.0 < self.checkpoint_depth.0 + 2 * self.log_file_size.0 {
            return Some(format!(
                "log_files {} hold less than the checkpoint_depth of {} and two more; write {} or more, or leave it out",
                self.ring_files(),
                self.checkpoint_depth.0,
                self.checkpoint_depth.0.div_ceil(self.log_file_size.0) + 2
            ));
        }
        None
    }

    /// What is doubtful and allowed; the original warns of the same.
    pub fn warnings(&self) -> Vec<String> {
        let mut all = Vec::new();
        if self.delete_percent.0 > self.insert_percent.0 {
            all.push("more records are deleted than inserted: the databases shrink".to_owned());
        } else if self.delete_percent.0 > 10.0 {
            all.push(format!("delete_percent {} is above 10", self.delete_percent.0));
        }
        all
    }

    /// Files of the ring.
    pub(crate) fn ring_files(&self) -> u32 {
        let needed = (2 * self.checkpoint_depth.0).div_ceil(self.log_file_size.0) + 4;
        self.log_files.unwrap_or(needed as u32)
    }
}
