//! Options of mail users that are fine by themselves and cannot hold together.

use crate::conflicts::{refuse, well_named};
use crate::error::WorkloadError;
use crate::mail::task::MailTask;
use crate::mail::workload::MailWorkload;

const MOST_STREAMS: usize = 256;
const MOST_USERS: u64 = 1_000_000;
/// Messages that are laid out for all users together: what a file system of names of 64 bits still does.
const MOST_MESSAGES: u64 = 1_000_000_000;

/// What holds of a workload.
pub(crate) fn workload(workload: &MailWorkload) -> Result<(), WorkloadError> {
    well_named("a workload", &workload.name)?;
    let streams = &workload.streams;
    refuse(streams.is_empty(), || "no stream; write at least one [[stream]]".to_owned())?;
    refuse(streams.len() > MOST_STREAMS, || format!("{} streams; write at most {MOST_STREAMS}", streams.len()))?;
    for (index, stream) in streams.iter().enumerate() {
        well_named("a stream", &stream.name)?;
        refuse(streams[..index].iter().any(|other| other.name == stream.name), || {
            format!("two streams are called \"{}\"; give each a name of its own", stream.name)
        })?;
        let moves_nowhere = stream.tasks.of(MailTask::Move) > 0.0 && stream.folders == 0;
        refuse(moves_nowhere, || "move needs a folder to move to; set folders, or leave move out".to_owned())
            .map_err(|error| error.within(format!("stream \"{}\"", stream.name)))?;
    }
    let users: u64 = streams.iter().map(|stream| u64::from(stream.users)).sum();
    refuse(users > MOST_USERS, || format!("{users} users in all streams; keep them at {MOST_USERS}"))?;
    let each = |messages: u32, folders: u32| u64::from(messages) * u64::from(folders);
    let messages: u64 = streams
        .iter()
        .map(|stream| {
            let kept = each(stream.folder_messages, stream.folders) + u64::from(stream.inbox_messages);
            u64::from(stream.users).saturating_mul(kept)
        })
        .fold(0, u64::saturating_add);
    refuse(messages > MOST_MESSAGES, || {
        format!(
            "{messages} messages in the beginning; lower users, folders, folder_messages or inbox_messages to {MOST_MESSAGES}"
        )
    })
}
