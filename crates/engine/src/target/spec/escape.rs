//! `%XX` escapes of paths in target specifications. Bytes that are not UTF-8 survive.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use super::SpecProblem;

/// The path that `text` means.
pub(super) fn decode(text: &str) -> Result<PathBuf, SpecProblem> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('%') {
        bytes.extend_from_slice(before.as_bytes());
        let digits = after.get(..2).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()).filter(|byte| *byte != 0);
        let wrong = || SpecProblem::Escape { text: format!("%{}", after.chars().take(2).collect::<String>()) };
        bytes.push(byte.ok_or_else(wrong)?);
        rest = &after[2..];
    }
    bytes.extend_from_slice(rest.as_bytes());
    Ok(OsString::from_vec(bytes).into())
}

/// The text that means `path`.
pub(super) fn encode(path: &Path) -> String {
    let mut text = String::new();
    for chunk in path.as_os_str().as_bytes().utf8_chunks() {
        for character in chunk.valid().chars() {
            if matches!(character, '%' | ',' | '?') || character.is_control() || character.is_whitespace() {
                let mut bytes = [0; 4];
                escape(character.encode_utf8(&mut bytes).as_bytes(), &mut text);
            } else {
                text.push(character);
            }
        }
        escape(chunk.invalid(), &mut text);
    }
    text
}

fn escape(bytes: &[u8], text: &mut String) {
    for byte in bytes {
        text.push_str(&format!("%{byte:02X}"));
    }
}
