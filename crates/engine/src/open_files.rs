//! The limit of open files of this process, which many parts and streams, and trees, reach.

/// Raises the limit as far as needed and as the hard limit allows; how many files can be open then.
pub(crate) fn allow(needed: u64) -> u64 {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: both calls take a valid rlimit; a refusal leaves the limit as it is, and opening says so later.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) == 0 && limit.rlim_cur < needed {
            let raised = libc::rlimit { rlim_cur: needed.min(limit.rlim_max), ..limit };
            if libc::setrlimit(libc::RLIMIT_NOFILE, &raw const raised) == 0 {
                limit = raised;
            }
        }
    }
    limit.rlim_cur
}
