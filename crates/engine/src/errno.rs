//! The names of the ways in which an I/O fails, as results and reports have them.

use crate::recorder::SHORT;

/// What is known; a device answers with few of them, but file systems in user space and networks with any.
const KNOWN: &[(i32, &str)] = &[
    (SHORT, "SHORT"),
    (libc::EIO, "EIO"),
    (libc::ENOSPC, "ENOSPC"),
    (libc::EFBIG, "EFBIG"),
    (libc::EDQUOT, "EDQUOT"),
    (libc::ENODEV, "ENODEV"),
    (libc::ENXIO, "ENXIO"),
    (libc::ENOMEDIUM, "ENOMEDIUM"),
    (libc::EINVAL, "EINVAL"),
    (libc::EBADF, "EBADF"),
    (libc::EROFS, "EROFS"),
    (libc::EPERM, "EPERM"),
    (libc::EACCES, "EACCES"),
    (libc::EAGAIN, "EAGAIN"),
    (libc::ENOMEM, "ENOMEM"),
    (libc::EOPNOTSUPP, "EOPNOTSUPP"),
    (libc::ETIMEDOUT, "ETIMEDOUT"),
    (libc::EREMOTEIO, "EREMOTEIO"),
    (libc::EILSEQ, "EILSEQ"),
    (libc::ENODATA, "ENODATA"),
    (libc::ECANCELED, "ECANCELED"),
    (libc::ENOLINK, "ENOLINK"),
    (libc::EBUSY, "EBUSY"),
    (libc::ENOENT, "ENOENT"),
    (libc::EEXIST, "EEXIST"),
    (libc::ENOTDIR, "ENOTDIR"),
    (libc::EISDIR, "EISDIR"),
    (libc::ENOTEMPTY, "ENOTEMPTY"),
    (libc::EXDEV, "EXDEV"),
    (libc::EMFILE, "EMFILE"),
    (libc::ENFILE, "ENFILE"),
    (libc::ENAMETOOLONG, "ENAMETOOLONG"),
    (libc::EMLINK, "EMLINK"),
    (libc::ESTALE, "ESTALE"),
    (libc::ELOOP, "ELOOP"),
    (libc::EINTR, "EINTR"),
    // What file systems in user space, networks and device mappers answer with.
    (libc::ESRCH, "ESRCH"),
    (libc::E2BIG, "E2BIG"),
    (libc::ECHILD, "ECHILD"),
    (libc::EFAULT, "EFAULT"),
    (libc::ENOTBLK, "ENOTBLK"),
    (libc::ENOTTY, "ENOTTY"),
    (libc::ETXTBSY, "ETXTBSY"),
    (libc::ESPIPE, "ESPIPE"),
    (libc::EPIPE, "EPIPE"),
    (libc::EDOM, "EDOM"),
    (libc::ERANGE, "ERANGE"),
    (libc::EDEADLK, "EDEADLK"),
    (libc::ENOLCK, "ENOLCK"),
    (libc::ENOSYS, "ENOSYS"),
    (libc::ENOSTR, "ENOSTR"),
    (libc::ETIME, "ETIME"),
    (libc::ENONET, "ENONET"),
    (libc::ECOMM, "ECOMM"),
    (libc::EPROTO, "EPROTO"),
    (libc::EBADMSG, "EBADMSG"),
    (libc::EOVERFLOW, "EOVERFLOW"),
    (libc::EUSERS, "EUSERS"),
    (libc::ENOTSOCK, "ENOTSOCK"),
    (libc::EMSGSIZE, "EMSGSIZE"),
    (libc::EPROTONOSUPPORT, "EPROTONOSUPPORT"),
    (libc::EADDRINUSE, "EADDRINUSE"),
    (libc::EADDRNOTAVAIL, "EADDRNOTAVAIL"),
    (libc::ENETDOWN, "ENETDOWN"),
    (libc::ENETUNREACH, "ENETUNREACH"),
    (libc::ENETRESET, "ENETRESET"),
    (libc::ECONNABORTED, "ECONNABORTED"),
    (libc::ECONNRESET, "ECONNRESET"),
    (libc::ENOBUFS, "ENOBUFS"),
    (libc::ENOTCONN, "ENOTCONN"),
    (libc::ESHUTDOWN, "ESHUTDOWN"),
    (libc::ECONNREFUSED, "ECONNREFUSED"),
    (libc::EHOSTDOWN, "EHOSTDOWN"),
    (libc::EHOSTUNREACH, "EHOSTUNREACH"),
    (libc::EALREADY, "EALREADY"),
    (libc::EINPROGRESS, "EINPROGRESS"),
    (libc::EUCLEAN, "EUCLEAN"),
    (libc::EMEDIUMTYPE, "EMEDIUMTYPE"),
    (libc::ENOKEY, "ENOKEY"),
    (libc::EKEYEXPIRED, "EKEYEXPIRED"),
    (libc::EKEYREVOKED, "EKEYREVOKED"),
    (libc::EKEYREJECTED, "EKEYREJECTED"),
    (libc::EOWNERDEAD, "EOWNERDEAD"),
    (libc::ENOTRECOVERABLE, "ENOTRECOVERABLE"),
    (libc::EHWPOISON, "EHWPOISON"),
];

/// What mail servers answer, and how dialogues with them end (`crate::mail`).
const OF_DIALOGUES: &[(i32, &str)] = &[(-1, "NO"), (-2, "CLOSED"), (-3, "GARBLED"), (-4, "TIMEOUT")];

/// The name of an errno; `SHORT` for 0. Numbers below it are of dialogues; those of SMTP are the negative of a reply's code.
pub fn errno_name(errno: i32) -> String {
    if errno < -100 {
        return format!("SMTP{}", -errno);
    }
    let known = if errno < 0 { OF_DIALOGUES } else { KNOWN };
    known
        .iter()
        .find(|(number, _)| *number == errno)
        .map_or_else(|| format!("E{errno}"), |(_, name)| (*name).to_owned())
}

#[cfg(test)]
mod tests {
    use super::errno_name;

    #[test]
    fn what_a_kernel_answers_has_a_name() {
        // E103 was ECONNABORTED: a file system in user space whose server was ended.
        assert_eq!(
            [103, 107, 74, 117, 133].map(errno_name),
            ["ECONNABORTED", "ENOTCONN", "EBADMSG", "EUCLEAN", "EHWPOISON"]
        );
        assert_eq!(errno_name(4_000), "E4000");
        assert_eq!([-1, -4, -452].map(errno_name), ["NO", "TIMEOUT", "SMTP452"]);
    }
}
