//! A thread for which the kernel has no `openat2`, as kernels before 5.6 and many sandboxes have none.

/// Runs `work` in such a thread, and in those that it starts.
pub fn without_openat2<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let run = || {
        forbid_openat2();
        work()
    };
    std::thread::scope(|scope| scope.spawn(run).join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
}

fn forbid_openat2() {
    const LOAD_NUMBER: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
    const IF_EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
    const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
    let step = |code, jt, k| libc::sock_filter { code, jt, jf: 0, k };
    let missing = libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32;
    let mut filter = [
        step(LOAD_NUMBER, 0, 0),
        step(IF_EQUAL, 1, libc::SYS_openat2 as u32),
        step(RETURN, 0, libc::SECCOMP_RET_ALLOW),
        step(RETURN, 0, missing),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: the program is valid, and the kernel copies it.
    unsafe {
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        assert_eq!(libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program), 0);
        let asked = libc::syscall(libc::SYS_openat2, libc::AT_FDCWD, c".".as_ptr(), std::ptr::null::<u8>(), 0);
        assert_eq!((asked, std::io::Error::last_os_error().raw_os_error()), (-1, Some(libc::ENOSYS)));
    }
}
