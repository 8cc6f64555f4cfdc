//! What each program that works for Plimsoll keeps in the directory of its name: only that goes when the directory goes.
//!
//! Model: a path below the directory is ours where it is one of a list of shapes. In a shape `*` stands for any text within
//! a name, `<number>` for digits, `<hex>` for 32 hexadecimal ones, and `**` at the end for everything below. What has no
//! such shape somebody else put there.
//! Limits: where names are another program's own (below PostgreSQL's data, mailboxes, Spark's work), all there counts as its.

use std::ffi::CStr;

use super::calls::Kind;

/// Shapes by the directory's name. Drivers name their directories (`python/plimsoll/apps`).
const SHAPES: &[(&str, &[&str])] = &[
    ("sqlite", &["orders.db", "orders.db-wal", "orders.db-shm", "orders.db-journal"]),
    ("duckdb", &["plimsoll.duckdb", "plimsoll.duckdb.wal*", "plimsoll.duckdb.tmp*", "spill/duckdb_temp_*"]),
    (
        "postgresql",
        &[
            "server.log",
            "data.making/**",
            "data/base/**",
            "data/global/**",
            "data/pg_*",
            "data/pg_*/**",
            "data/PG_VERSION",
            "data/postgresql*.conf*",
            "data/plimsoll.conf*",
            "data/postmaster.opts",
            "data/postmaster.pid",
            "data/current_logfiles",
        ],
    ),
    ("spark", &["spark.log", "tables.json", "tables.json.new", "making/**", "work/**", "*/<hex>.parquet"]),
    (
        "mail",
        &[
            "mailboxes/**",
            "postfix/**",
            "mailboxes.json",
            "mailboxes.json.new",
            "ledger",
            "dovecot.conf",
            "dovecot.log",
            "postfix.log",
        ],
    ),
    ("io-test", &["f<number>", "files.json", "files.json.new"]),
    ("work", &["<number>/**"]),
    (
        "input",
        &[
            "<number>.rows",
            "<number>.rows.json",
            "<number>.rows.json.part",
            "<number>.csv",
            "<number>.csv.json",
            "<number>.csv.json.part",
        ],
    ),
];

/// Whose something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whose {
    /// Ours with everything below it.
    Ours,
    /// A directory of ours, in which something else may lie.
    Mixed,
    /// Somebody's.
    Foreign,
}

/// What is ours in a directory with a name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Possession(&'static [&'static str]);

impl Possession {
    /// Of the directory that is called so; nothing is ours where no driver has one of that name.
    pub(super) fn of(name: &str) -> Option<Self> {
        SHAPES.iter().find(|(known, _)| *known == name).map(|(_, shapes)| Self(shapes))
    }

    /// Whose the entry at a path of names below the directory is.
    pub(super) fn whose(self, path: &[&CStr], kind: Kind) -> Whose {
        let found = self.0.iter().map(|shape| of_shape(shape, path, kind));
        found.fold(Whose::Foreign, |whose, one| match (whose, one) {
            (Whose::Ours, _) | (_, Whose::Ours) => Whose::Ours,
            (Whose::Mixed, _) | (_, Whose::Mixed) => Whose::Mixed,
            _ => Whose::Foreign,
        })
    }
}

fn of_shape(shape: &str, path: &[&CStr], kind: Kind) -> Whose {
    let (shape, is_open) = shape.strip_suffix("/**").map_or((shape, false), |above| (above, true));
    let names: Vec<&str> = shape.split('/').collect();
    if !names.iter().zip(path).all(|(name, found)| has_shape(name.as_bytes(), found.to_bytes())) {
        return Whose::Foreign;
    }
    match (path.len().cmp(&names.len()), is_open, kind) {
        (std::cmp::Ordering::Greater, true, _) => Whose::Ours,
        (std::cmp::Ordering::Equal, true, Kind::Directory) | (std::cmp::Ordering::Less, _, Kind::Directory) => {
            Whose::Mixed
        }
        (std::cmp::Ordering::Equal, false, kind) if kind != Kind::Directory => Whose::Ours,
        _ => Whose::Foreign,
    }
}

/// Whether a name has a shape.
fn has_shape(shape: &[u8], name: &[u8]) -> bool {
    if let Some(rest) = shape.strip_prefix(b"<number>") {
        let digits = name.iter().take_while(|byte| byte.is_ascii_digit()).count();
        return digits > 0 && has_shape(rest, &name[digits..]);
    }
    if let Some(rest) = shape.strip_prefix(b"<hex>") {
        return name.len() >= 32 && name[..32].iter().all(u8::is_ascii_hexdigit) && has_shape(rest, &name[32..]);
    }
    match shape.split_first() {
        None => name.is_empty(),
        Some((b'*', rest)) => (0..=name.len()).any(|skipped| has_shape(rest, &name[skipped..])),
        Some((byte, rest)) => name.split_first().is_some_and(|(first, after)| first == byte && has_shape(rest, after)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_writes_is_ours_and_what_lies_beside_it_is_not() {
        let cases: &[(&str, &[&CStr], Kind, Whose)] = &[
            ("sqlite", &[c"orders.db"], Kind::File, Whose::Ours),
            ("sqlite", &[c"orders.db-wal"], Kind::File, Whose::Ours),
            ("sqlite", &[c"orders.db.bak"], Kind::File, Whose::Foreign),
            ("sqlite", &[c"orders.db"], Kind::Directory, Whose::Foreign),
            ("duckdb", &[c"spill"], Kind::Directory, Whose::Mixed),
            ("duckdb", &[c"spill"], Kind::File, Whose::Foreign),
            ("duckdb", &[c"spill", c"duckdb_temp_storage_S32K-0.tmp"], Kind::File, Whose::Ours),
            ("duckdb", &[c"spill", c"notes"], Kind::File, Whose::Foreign),
            ("postgresql", &[c"data", c"base", c"1"], Kind::Directory, Whose::Ours),
            ("postgresql", &[c"data", c"notes.txt"], Kind::File, Whose::Foreign),
            ("spark", &[c"orders", c"0123456789abcdef0123456789abcdef.parquet"], Kind::File, Whose::Ours),
            ("spark", &[c"spark.log"], Kind::File, Whose::Ours),
            ("spark", &[c"orders", c"mine.parquet"], Kind::File, Whose::Foreign),
            ("io-test", &[c"f17"], Kind::File, Whose::Ours),
            ("io-test", &[c"f17a"], Kind::File, Whose::Foreign),
            ("work", &[c"3", c"any", c"thing"], Kind::File, Whose::Ours),
            ("work", &[c"three"], Kind::Directory, Whose::Foreign),
            ("input", &[c"12.rows.json"], Kind::File, Whose::Ours),
            ("input", &[c".rows"], Kind::File, Whose::Foreign),
        ];
        for (name, path, kind, whose) in cases {
            let possession = Possession::of(name).expect("a driver's");
            assert_eq!(possession.whose(path, *kind), *whose, "{name} {path:?}");
        }
        assert!(Possession::of("precious").is_none());
    }
}
