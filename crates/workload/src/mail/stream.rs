//! The options of a group of mail users. Everything about each option is declared here, once.

use crate::bounds::{DAY_NS, PEBIBYTE};
use crate::files::FileSizes;
use crate::kind::{Nanos, Percent};
use crate::mail::table::TaskTable;
use crate::mail::task::MailTask;
use crate::options;
use crate::sizes::Sizes;

const EIGHT_HOURS_NS: u64 = 8 * 3600 * 1_000_000_000;

/// The weights of LoadSim's score: reading counts half, deleting a tenth, everything else a twentieth.
const fn score_weights() -> TaskTable {
    let mut weights = [1.0; MailTask::COUNT];
    weights[MailTask::Read as usize] = 10.0;
    weights[MailTask::Delete as usize] = 2.0;
    weights[MailTask::Search as usize] = 0.0;
    weights[MailTask::Login as usize] = 0.0;
    TaskTable(weights)
}

options! {
    /// The options of one group of users, as typed.
    pub struct MailStreamOptions: "stream" {
        "Users" {
            /// Name in results, messages and `--set NAME.key=value`: letters, digits, `-` and `_`, unique
            /// in its workload.
            name: String = String::new(), unset "`stream-1`, `stream-2` … by position", example "clerks";
            /// How many users there are.
            users: u32 = 100, range 1.0 => 1_000_000.0, example "1200";
            /// How often each user does each task in a working day.
            tasks: TaskTable = TaskTable([0.0; MailTask::COUNT]),
                required "every group says what its users do, for example { read = 80, send = 15 }",
                example "read=80,send=15";
            /// How long the working day is that the numbers of `tasks` are for.
            day: Nanos = Nanos(EIGHT_HOURS_NS), range 1e9 => DAY_NS, example "10h";
            /// How many times as fast the day passes: at 60, an hour of it takes a minute, and every rate is 60 times as high.
            speed: f64 = 1.0, range 0.001 => 100_000.0, example "60";
            /// What the 95th percentile of each task weighs in the score.
            score_weights: TaskTable = score_weights(), example "read=10,delete=2,send=1";
            /// Threads of Plimsoll that act for the users; they share them out.
            threads: u32 = 1, range 1.0 => 256.0, example "2";
            /// Seed of this group; mixed with the seed of the job and the position of the group.
            seed: u64 = 0, example "7";
        }
        "Mailboxes" {
            /// Folders of each user besides Inbox, Sent, Trash and Calendar.
            folders: u32 = 10, range 0.0 => 10_000.0, example "40";
            /// Messages in each of these folders before anything is measured.
            folder_messages: u32 = 10, range 0.0 => 1_000_000.0, example "5";
            /// Messages in Inbox before anything is measured.
            inbox_messages: u32 = 100, range 0.0 => 1_000_000.0, example "20";
            /// Appointments in Calendar before anything is measured.
            appointments: u32 = 25, range 0.0 => 100_000.0, example "0";
        }
        "Messages" {
            /// How large messages are, attachments included.
            sizes: FileSizes = FileSizes(Sizes::Fixed(76_800)), range 512.0 => PEBIBYTE, example "1KiB=60,4KiB=30,100KiB=10";
            /// How many recipients a new message has on average, lists left out.
            recipients: f64 = 4.7, range 1.0 => 1000.0, example "2.5";
            /// Percentage of the new messages that also go to a distribution list.
            list_percent: Percent = Percent(0.0), range 0.0 => 100.0, example "30";
            /// How many members a distribution list has on average; from a fifth of that to twice as many.
            list_members: u32 = 10, range 1.0 => 10_000.0, example "20";
        }
    }
}
