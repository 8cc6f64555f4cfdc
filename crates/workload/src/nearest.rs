//! The valid name that is nearest to a misspelt one.
//!
//! Distance is optimal string alignment (insert, delete, replace, swap of neighbours, each 1); `-`, `_`, blanks and
//! case do not count. Limit: a name is suggested up to a distance of 1 plus a quarter of the word's length.

/// The candidate nearest to `word`, if one is near enough to be meant.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = plain(word);
    let allowed = 1 + plain.chars().count() / 4;
    candidates
        .into_iter()
        .map(|candidate| (strsim::osa_distance(&plain, &self::plain(candidate)), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min()
        .map(|(_, candidate)| candidate)
}

/// `did you mean '...'?` for a misspelt word.
pub fn hint<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(word, candidates).map(|name| format!("did you mean '{name}'?"))
}

/// ` (did you mean `...`?)` for a misspelt word, or nothing.
pub fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, candidates).map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"))
}

fn plain(word: &str) -> String {
    word.chars().filter(|c| !matches!(c, '-' | '_' | ' ')).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_name_finds_the_one_that_was_meant() {
        let names = ["queue_depth", "block_size", "read_percent"];
        assert_eq!(nearest("quue_depth", names), Some("queue_depth"));
        assert_eq!(nearest("blokc-size", names), Some("block_size"));
        assert_eq!(nearest("ReadPercent", names), Some("read_percent"));
        assert_eq!(did_you_mean("quue_depth", names), " (did you mean `queue_depth`?)");
    }

    #[test]
    fn a_foreign_name_finds_nothing() {
        assert_eq!(nearest("ioengine", ["queue_depth", "block_size"]), None);
        assert_eq!(nearest("xy", ["align", "rate"]), None);
        assert_eq!(did_you_mean("xy", ["align", "rate"]), "");
    }

    /// Distances 1 + 7 / 4 = 2 are near enough for seven letters, 3 are not; a swap is 1.
    #[test]
    fn a_name_is_near_up_to_a_quarter_of_the_word() {
        assert_eq!(nearest("streams", ["stream"]), Some("stream"));
        assert_eq!(nearest("tsraem", ["stream"]), Some("stream"), "two swaps");
        assert_eq!(nearest("stxyzms", ["streams"]), None);
        assert_eq!(nearest("größe", ["grösze"]), Some("grösze"), "letters count, not bytes");
        assert_eq!(nearest("", ["a", "ab"]), Some("a"));
    }

    /// Of names equally near the first in the alphabet.
    #[test]
    fn of_two_that_are_equally_near_always_the_same_is_suggested() {
        assert_eq!(nearest("rite", ["write", "rate", "site"]), Some("rate"));
    }
}
