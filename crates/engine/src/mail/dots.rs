//! A letter as it travels after DATA: a dot that begins a line is doubled, and a line with nothing but a dot ends it (RFC 5321, 4.5.2).

/// The letter, stuffed and ended.
pub(crate) fn stuffed(letter: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(letter.len() + 16);
    let mut begins = true;
    for line in letter.split_inclusive(|byte| *byte == b'\n') {
        if begins && line.first() == Some(&b'.') {
            out.push(b'.');
        }
        out.extend_from_slice(line);
        begins = line.last() == Some(&b'\n');
    }
    if !begins {
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b".\r\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_are_doubled_where_a_line_begins_and_only_there() {
        assert_eq!(stuffed(b".a\r\nb.c\r\n..\r\n"), b"..a\r\nb.c\r\n...\r\n.\r\n");
        assert_eq!(stuffed(b"without an end"), b"without an end\r\n.\r\n");
        assert_eq!(stuffed(b""), b".\r\n");
    }
}
