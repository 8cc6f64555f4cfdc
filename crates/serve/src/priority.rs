//! Ahead of other programs: whoever has to be punctual may not wait behind them.
//!
//! Model: the calling thread, and every thread it starts afterwards, is scheduled by `SCHED_FIFO` at its lowest priority, which
//! comes before all ordinary programs. That takes root, `CAP_SYS_NICE` or a limit (`ulimit -r`); without them everything
//! works, and answers are late while the processors are busy with something else.
//!
//! Limits: the kernel keeps 5 % of the time for others by default.

/// Schedules this thread and those it starts ahead of ordinary ones; whether the kernel allows it.
pub fn come_first() -> bool {
    let parameters = libc::sched_param { sched_priority: 1 };
    // SAFETY: the structure is complete and lives during the call; 0 is the calling thread.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &parameters) == 0 }
}
