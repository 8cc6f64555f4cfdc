//! A thread for which the kernel lacks system calls: `openat2`, as kernels before 5.6 and many sandboxes do, or renaming
//! without replacing, as NFS does.

/// Runs `work` in a thread, and in those that it starts, where a call gives an error instead.
pub fn without<T: Send>(call: libc::c_long, errno: i32, work: impl FnOnce() -> T + Send) -> T {
    let run = || {
        forbid(call, errno);
        work()
    };
    std::thread::scope(|scope| scope.spawn(run).join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
}

fn forbid(call: libc::c_long, errno: i32) {
    const LOAD_NUMBER: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
    const IF_EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
    const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
    let step = |code, jt, k| libc::sock_filter { code, jt, jf: 0, k };
    let missing = libc::SECCOMP_RET_ERRNO | errno as u32;
    let mut filter = [
        step(LOAD_NUMBER, 0, 0),
        step(IF_EQUAL, 1, call as u32),
        step(RETURN, 0, libc::SECCOMP_RET_ALLOW),
        step(RETURN, 0, missing),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: the program is valid, and the kernel copies it; the call is refused before it looks at what it is given.
    unsafe {
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        assert_eq!(libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program), 0);
        let asked = libc::syscall(call, 0, 0, 0, 0, 0);
        assert_eq!((asked, std::io::Error::last_os_error().raw_os_error()), (-1, Some(errno)));
    }
}
