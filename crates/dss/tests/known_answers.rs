//! What the generator of the specification gives, and what ours must go on giving.
//!
//! Row counts are the specification's. Counts of refresh sets 1, 75 and 150 and their first keys are those of the reference
//! data, which are not at hand here. Tables were compared with what `tpchgen-cli` writes; hashes hold what this code draws.

use std::fmt::Write as _;
use std::sync::OnceLock;

use plimsoll_dss::{
    CopyText, DataError, ORDERS, Parameter, REFRESH_SETS, RefreshSet, Scale, Source, Span, Table, copy_text, order_of,
    parameters,
};

/// Made once for all tests of this file.
fn source() -> &'static Source {
    static SOURCE: OnceLock<Source> = OnceLock::new();
    SOURCE.get_or_init(Source::new)
}

fn scale(scale: f64) -> Scale {
    Scale::new(scale).expect("a scale that there is")
}

/// FNV-1a with 64 bits: enough to notice any change.
fn hash(bytes: &[u8]) -> String {
    let digest = bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    format!("{digest:016x}")
}

fn text(source: &Source, span: &Span) -> Vec<u8> {
    let mut text = Vec::new();
    span.chunks().for_each(|chunk| copy_text(source, chunk, &mut text));
    text
}

fn lines(text: &[u8]) -> u64 {
    text.iter().filter(|byte| **byte == b'\n').count() as u64
}

#[test]
fn tables_have_the_rows_of_the_specification() {
    let counted = |size: f64| Table::ALL.map(|table| table.rows(scale(size)));
    assert_eq!(counted(1.0), [5, 25, 200_000, 10_000, 800_000, 150_000, 1_500_000, 6_001_215]);
    assert_eq!(counted(0.01), [5, 25, 2_000, 100, 8_000, 1_500, 15_000, 60_175]);
    assert_eq!(Table::LineItem.rows(scale(10.0)), 59_986_052);
}

#[test]
fn rows_that_are_drawn_are_as_many_as_rows_that_are_counted() {
    let source = source();
    for table in Table::ALL {
        for size in [0.01, 0.0237] {
            for (part, parts) in [(1, 1), (1, 3), (2, 3), (3, 3)] {
                let span = Span::part(table, scale(size), part, parts).unwrap();
                assert_eq!(
                    lines(&text(source, &span)),
                    span.rows(),
                    "{} at {size}, part {part} of {parts}",
                    table.name()
                );
            }
        }
    }
}

#[test]
fn tables_are_the_same_bytes_on_every_machine() {
    let source = source();
    let mut said = String::new();
    for table in Table::ALL {
        let _ = writeln!(said, "{} {}", table.name(), hash(&text(source, &Span::whole(table, scale(0.01)))));
    }
    assert_eq!(said, TABLES_AT_A_HUNDREDTH);
}

const TABLES_AT_A_HUNDREDTH: &str = "\
region 066e9642a97d82f4
nation 8d1dc62527ad962e
part eff0348086abac86
supplier 67034f04d6f10308
partsupp 1e88b0d3232cb17d
customer 5e810c9d9724486d
orders d446704d7d29b791
lineitem 70d8d2aff7b5b8a2
";

#[test]
fn parts_of_a_table_are_the_table() {
    let source = source();
    for table in Table::ALL {
        let whole = text(source, &Span::whole(table, scale(0.05)));
        let parts = (1..=4).flat_map(|part| text(source, &Span::part(table, scale(0.05), part, 4).unwrap()));
        assert!(parts.eq(whole.iter().copied()), "{}", table.name());
    }
}

fn refreshed(source: &Source, set: &RefreshSet) -> (Vec<u8>, Vec<u8>) {
    let (mut orders, mut items) = (Vec::new(), Vec::new());
    set.orders(source, &mut CopyText::new(&mut orders));
    set.line_items(source, &mut CopyText::new(&mut items));
    (orders, items)
}

#[test]
fn refresh_sets_are_those_of_the_reference_data() {
    let source = source();
    let known = [
        (1, 5_822, "fb56d73c16a18a55", "824a499afbd88bff"),
        (75, 5_913, "0092b3f1b688b7fb", "bcae0be43b920316"),
        (150, 6_006, "9d65f2e344516e92", "3b2dd7939fb64657"),
    ];
    for (number, items_known, orders_hash, items_hash) in known {
        let set = RefreshSet::new(scale(1.0), number).unwrap();
        let (orders, items) = refreshed(source, &set);
        assert_eq!((lines(&orders), lines(&items), set.deletes().len()), (1500, items_known, 1500), "set {number}");
        assert_eq!((hash(&orders).as_str(), hash(&items).as_str()), (orders_hash, items_hash), "set {number}");
    }
    let set = RefreshSet::new(scale(1.0), 1).unwrap();
    assert_eq!((set.deletes()[..9].to_vec(), set.deletes()[1499]), (vec![1, 2, 3, 4, 5, 6, 7, 32, 33], 5988));
    assert!(
        refreshed(source, &set)
            .0
            .starts_with(b"9\t12658\tO\t129872.68\t1998-07-06\t4-NOT SPECIFIED\tClerk#000000248\t0\t")
    );
}

#[test]
fn refresh_sets_insert_keys_that_are_free_and_delete_keys_that_are_loaded() {
    let source = source();
    let keys = |text: &[u8]| -> Vec<i64> {
        let text = std::str::from_utf8(text).unwrap();
        text.lines().map(|line| line.split('\t').next().unwrap().parse().unwrap()).collect()
    };
    let mut loaded = keys(&text(source, &Span::whole(Table::Orders, scale(0.1))));
    for number in [1, 2, 999, REFRESH_SETS] {
        let set = RefreshSet::new(scale(0.1), number).unwrap();
        let inserted = keys(&refreshed(source, &set).0);
        assert_eq!(inserted.len(), 150);
        assert!(inserted.iter().all(|key| loaded.binary_search(key).is_err()), "set {number} inserts a key twice");
        assert!(
            set.deletes().iter().all(|key| loaded.binary_search(key).is_ok()),
            "set {number} deletes what is not there"
        );
        loaded.retain(|key| !set.deletes().contains(key));
        loaded.extend(inserted);
        loaded.sort_unstable();
    }
}

#[test]
fn parts_of_a_refresh_set_are_the_set_order_by_order() {
    let source = source();
    let whole = RefreshSet::new(scale(0.1), 3).unwrap();
    let (mut orders, mut items, mut deletes) = (Vec::new(), Vec::new(), Vec::new());
    for part in 1..=7 {
        let part = RefreshSet::new(scale(0.1), 3).unwrap().part(part, 7).unwrap();
        let (some_orders, some_items) = refreshed(source, &part);
        assert_eq!(lines(&some_orders), part.deletes().len() as u64);
        orders.extend(some_orders);
        items.extend(some_items);
        deletes.extend(part.deletes());
    }
    assert!((orders, items) == refreshed(source, &whole));
    assert_eq!(deletes, whole.deletes());
}

#[test]
fn every_order_asks_every_query_once_and_no_two_orders_are_the_same() {
    for (row, order) in ORDERS.iter().enumerate() {
        let mut sorted = *order;
        sorted.sort_unstable();
        assert!(sorted.iter().copied().eq(1..=22), "row {row}");
        assert!(!ORDERS[..row].contains(order), "row {row}");
    }
    assert_eq!(ORDERS[0][..5], [14, 2, 9, 20, 6]);
    assert_eq!(
        (order_of(0), order_of(40), order_of(41), order_of(81)),
        (&ORDERS[0], &ORDERS[40], &ORDERS[1], &ORDERS[1])
    );
}

#[test]
fn what_the_specification_does_not_have_is_refused() {
    let one = scale(1.0);
    assert_eq!(Span::part(Table::Orders, one, 3, 2), Err(DataError::Part { part: 3, parts: 2 }));
    assert_eq!(Span::part(Table::Orders, one, 0, 0), Err(DataError::Part { part: 0, parts: 0 }));
    assert_eq!(RefreshSet::new(one, 0), Err(DataError::RefreshSet { number: 0, sets: REFRESH_SETS }));
    assert_eq!(RefreshSet::new(one, 1001), Err(DataError::RefreshSet { number: 1001, sets: REFRESH_SETS }));
    let unknown = Table::named("order").unwrap_err().to_string();
    assert!(unknown.starts_with("table 'order' is not known; there are "), "{unknown}");
    assert!(unknown.contains("orders, lineitem"), "{unknown}");
    for (seed, stream) in [(0, 0), (-1, 3), (2_147_483_646, 1), (i64::MAX, 0)] {
        assert_eq!(parameters(seed, stream, one), Err(DataError::Seed(seed)));
    }
}

#[test]
fn parameters_are_the_same_on_every_machine() {
    assert_eq!(hash(format!("{:?}", parameters(1_122_093_000, 0, scale(1.0)).unwrap()).as_bytes()), "cfee855030174fe4");
    assert_eq!(parameters(7, 3, scale(1.0)), parameters(10, 0, scale(1.0)), "a stream is an addition to the seed");
}

#[test]
fn parameters_stay_in_their_ranges_and_reach_their_ends() {
    let numbers = |query: usize, name: &str| -> (i64, i64) {
        let drawn = (1..=2000).map(|seed| {
            let drawn = parameters(seed * seed * 1_009 % 2_147_483_647, 0, scale(1.0)).unwrap();
            match &drawn[query - 1].iter().find(|(found, _)| *found == name).unwrap().1 {
                Parameter::Number(number) => *number,
                other => panic!("{other:?}"),
            }
        });
        let drawn: Vec<i64> = drawn.collect();
        (*drawn.iter().min().unwrap(), *drawn.iter().max().unwrap())
    };
    assert_eq!(numbers(1, "delta"), (60, 120));
    assert_eq!(numbers(2, "size"), (1, 50));
    assert_eq!(numbers(6, "quantity"), (24, 25));
    assert_eq!(numbers(18, "quantity"), (312, 315));
    assert_eq!(numbers(19, "quantity1"), (1, 10));
    assert_eq!(numbers(19, "quantity2"), (10, 20));
    assert_eq!(numbers(19, "quantity3"), (20, 30));
}

#[test]
fn values_that_have_to_differ_do() {
    for seed in 1..=2000 {
        let drawn = parameters(seed, 0, scale(1.0)).unwrap();
        assert_ne!(drawn[6][0].1, drawn[6][1].1, "nations of Q7");
        assert_ne!(drawn[11][0].1, drawn[11][1].1, "ship modes of Q12");
        for (query, name, count) in [(15, "sizes", 8), (21, "codes", 7)] {
            let mut values = match &drawn[query][drawn[query].len() - 1] {
                (found, Parameter::Numbers(numbers)) if *found == name => numbers.iter().map(i64::to_string).collect(),
                (found, Parameter::Texts(texts)) if *found == name => texts.clone(),
                other => panic!("{other:?}"),
            };
            values.sort_unstable();
            values.dedup();
            assert_eq!(values.len(), count, "{name}");
        }
    }
}

#[test]
fn the_fraction_of_q11_follows_the_scale() {
    let fraction = |size: f64| parameters(1, 0, scale(size)).unwrap()[10][1].1.clone();
    assert_eq!(fraction(1.0), Parameter::Text("0.0001000000".into()));
    assert_eq!(fraction(300.0), Parameter::Text("0.0000003333".into()));
    assert_eq!(fraction(0.01), Parameter::Text("0.0100000000".into()));
}
