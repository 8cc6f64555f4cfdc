//! Threads of the kernel that carry out ring requests, because a device could not without blocking.
//!
//! Model: the kernel adds them to the process that made the ring, under a name that begins with [`NAME`]. Those of an earlier run of the
//! same process linger while its workers end, so only threads that were not there before this run's rings are counted.
//!
//! Limits: another run that begins later in the same process is counted, too.

use std::collections::BTreeSet;
use std::ffi::OsString;

use plimsoll_workload::job::BackendWord;

/// How the kernel begins their names (Linux, io_uring/io-wq.c).
const NAME: &str = "iou-wrk";

/// See the module.
#[derive(Debug)]
pub(crate) struct RingThreads {
    /// Their numbers that were there before; `None` where no ring carries the requests.
    before: Option<BTreeSet<OsString>>,
}

impl RingThreads {
    /// To be made before the rings of a run are.
    pub(crate) fn before(backend: BackendWord) -> Self {
        Self { before: (backend == BackendWord::Uring).then(|| here().collect()) }
    }

    /// How many there are of this run.
    pub(crate) fn count(&self) -> usize {
        self.before.as_ref().map_or(0, |before| here().filter(|number| !before.contains(number)).count())
    }
}

/// The numbers of those that this process has now; see proc(5), `/proc/self/task`.
fn here() -> impl Iterator<Item = OsString> {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let named = |name: std::io::Result<String>| name.is_ok_and(|name| name.starts_with(NAME));
    tasks.filter(move |task| named(std::fs::read_to_string(task.path().join("comm")))).map(|task| task.file_name())
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Sender, channel};
    use std::thread::{Builder, JoinHandle};

    use super::*;

    /// A thread that has such a name until the sender is dropped.
    fn named(name: &str) -> (Sender<()>, JoinHandle<()>) {
        let (stay, ended) = channel::<()>();
        let (begun, begins) = channel();
        let work = move || {
            begun.send(()).unwrap();
            let _ = ended.recv();
        };
        let thread = Builder::new().name(name.to_owned()).spawn(work).unwrap();
        begins.recv().unwrap();
        (stay, thread)
    }

    #[test]
    fn threads_of_an_earlier_run_are_not_counted() {
        let (earlier, earlier_ends) = named("iou-wrk-7");
        let threads = RingThreads::before(BackendWord::Uring);
        assert_eq!(threads.count(), 0, "it lingers");
        let (own, own_ends) = named("iou-wrk-8");
        assert_eq!(threads.count(), 1);
        assert_eq!(RingThreads::before(BackendWord::Sync).count(), 0, "no ring, no threads of rings");
        drop((earlier, own));
        earlier_ends.join().unwrap();
        own_ends.join().unwrap();
        assert_eq!(threads.count(), 0);
    }
}
