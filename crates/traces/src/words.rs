//! Words and cells of a line.
//!
//! White space is what Python's `str.isspace` takes for it, so that every reader of ours, in either language, sees the
//! same words: Unicode's, and the four separators of ASCII.

/// Whether a character stands between words.
#[inline]
pub fn is_space(character: char) -> bool {
    match character {
        '\t'..='\r' | '\x1c'..='\x1f' | ' ' => true,
        '\0'..='\x7f' => false,
        other => other.is_whitespace(),
    }
}

/// Words between white space.
pub fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(is_space).filter(|word| !word.is_empty())
}

/// Cells between commas, without white space around them: the first `N`, and how many there are.
pub fn cells<const N: usize>(line: &str) -> ([&str; N], usize) {
    let mut cells = [""; N];
    let mut count = 0;
    for cell in line.split(',') {
        if let Some(place) = cells.get_mut(count) {
            *place = cell.trim_matches(is_space);
        }
        count += 1;
    }
    (cells, count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_of_ascii_and_spaces_of_unicode_stand_between_words() {
        assert_eq!(words("a\x1cb\u{a0}c\x0b\u{3000}d").collect::<Vec<_>>(), ["a", "b", "c", "d"]);
        assert_eq!(words(" \t").count(), 0);
    }

    #[test]
    fn cells_are_counted_beyond_those_that_are_wanted() {
        assert_eq!(cells::<2>("a , b,c"), (["a", "b"], 3));
        assert_eq!(cells::<2>("a"), (["a", ""], 1));
    }
}
