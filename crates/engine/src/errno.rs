//! The names of the ways in which an I/O fails, as results and reports have them.

use crate::recorder::SHORT;

/// The name of an errno; `SHORT` for 0.
pub fn errno_name(errno: i32) -> String {
    let known = [
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
    ];
    known
        .iter()
        .find(|(number, _)| *number == errno)
        .map_or_else(|| format!("E{errno}"), |(_, name)| (*name).to_owned())
}
