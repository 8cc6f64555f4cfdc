//! The nearest valid name to a misspelt one.
//!
//! Distance is optimal string alignment (insert, delete, replace, swap of neighbours, each 1); `-`, `_` and case do not
//! count. Limit: names further away than a third of their length are not suggested.

/// The candidate nearest to `word`, if one is near enough to be meant.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = plain(word);
    let allowed = 1 + plain.len() / 4;
    candidates
        .into_iter()
        .map(|candidate| (distance(&plain, &self::plain(candidate)), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min()
        .map(|(_, candidate)| candidate)
}

/// ` (did you mean ...?)` for a misspelt word, or nothing.
pub fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, candidates).map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"))
}

fn plain(word: &str) -> Vec<char> {
    word.chars().filter(|c| !matches!(c, '-' | '_' | ' ')).flat_map(char::to_lowercase).collect()
}

fn distance(a: &[char], b: &[char]) -> usize {
    let mut rows = vec![(0..=b.len()).collect::<Vec<usize>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replace = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replace.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
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

    #[test]
    fn swapped_neighbours_count_once() {
        assert_eq!(distance(&['a', 'b'], &['b', 'a']), 1);
        assert_eq!(distance(&[], &['b', 'a']), 2);
    }
}
