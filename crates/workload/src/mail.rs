//! The load of a mail server: users with mailboxes, the tasks that their working day makes due, and the messages they send.
//!
//! Model (LoadSim 2003's, on open protocols): a [`MailWorkload`] names groups of users, written as streams. Each user has a mailbox of
//! folders and messages, and does tasks at random instants of a working day, so many of each kind a day ([`TaskTable`]). All users of a
//! thread together are one Poisson process; which user does which task is drawn for each instant ([`Workday`]), which is the same as a
//! process for each user and task. A [`Letter`] is a message made from its number alone: who it is to, how long it is, and every byte of it.
//!
//! Everything is pure and seeded, as in the rest of this crate: equal options give equal days and equal letters.
//!
//! ```
//! use plimsoll_workload::mail::{MailTask, MailWorkload, Workday};
//! use serde_json::json;
//!
//! let file = json!({
//!     "driver": "mail",
//!     "stream": [{ "name": "clerks", "users": 100, "tasks": { "read": 80, "send": 15 } }],
//! });
//! let plan = MailWorkload::from_json(&file, "office.toml").unwrap().resolve(1).unwrap();
//! let mut day = Workday::new(&plan.streams[0], 0);
//! let first = day.next();
//! assert!(first.user < 100 && matches!(first.task, MailTask::Read | MailTask::Send));
//! ```

mod check;
mod letter;
mod page;
mod plan;
mod resolve;
mod scope;
mod share;
mod stream;
mod table;
mod task;
mod workday;
mod workload;

pub use letter::{Letter, Letters, MARK, hash};
pub use page::{reference_markdown, schema};
pub use plan::{MailPlan, MailStreamPlan};
pub use scope::{option_names, set_option};
pub use share::{MailSeat, MailShare, users_at};
pub use stream::MailStreamOptions;
pub use table::TaskTable;
pub use task::MailTask;
pub use workday::{Due, Workday};
pub use workload::{Driver, MailSync, MailWorkload};
