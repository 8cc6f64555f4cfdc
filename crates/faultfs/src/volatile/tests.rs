//! The cache against a plain list of bytes.

use super::*;

/// A file as bytes, on which changes are carried out at once.
fn carry_out(file: &mut Vec<u8>, change: &Change) {
    file.resize(change.size_after(file.len() as u64) as usize, 0);
    let range = change.range().start as usize..change.range().end as usize;
    match change {
        Change::Write { data, .. } => file[range].copy_from_slice(data),
        Change::Zero { .. } => file[range].fill(0),
        Change::Resize { .. } => {}
    }
}

fn drawn(draw: Draw) -> Change {
    let (offset, len, value) = (draw.next().below(64), 1 + draw.next().next().below(24), draw.0 as u8);
    match draw.below(6) {
        0 => Change::Zero { offset, len },
        1 => Change::Resize { size: offset },
        _ => Change::Write { offset, data: vec![value; len as usize] },
    }
}

fn seen(durable: &[u8], pending: &Pending) -> Vec<u8> {
    let mut bytes = vec![0; pending.size(durable.len() as u64) as usize];
    let common = durable.len().min(bytes.len());
    bytes[..common].copy_from_slice(&durable[..common]);
    pending.overlay(0, &mut bytes);
    bytes
}

#[test]
fn what_is_read_is_what_was_written_whether_it_is_durable_or_not() {
    for seed in 0..300 {
        let (mut durable, mut right, mut pending) = (vec![9; 32], vec![9; 32], Pending::default());
        for n in 0..30 {
            let draw = Chance(seed).at(n);
            let change = drawn(draw);
            carry_out(&mut right, &change);
            match draw.next().below(5) {
                0 if matches!(change, Change::Write { .. }) => {
                    let before = pending.supersede(&change.range(), durable.len() as u64);
                    before.iter().chain([&change]).for_each(|change| carry_out(&mut durable, change));
                }
                1 => {
                    pending.push(change);
                    pending.pop().iter().for_each(|oldest| carry_out(&mut durable, oldest));
                }
                2 => {
                    pending.push(change);
                    pending.flush().iter().for_each(|change| carry_out(&mut durable, change));
                }
                _ => pending.push(change),
            }
            assert_eq!(seen(&durable, &pending), right, "seed {seed} change {n}");
        }
    }
}

#[test]
fn a_part_is_read_as_the_whole_is() {
    let mut pending = Pending::default();
    (0..20).for_each(|n| pending.push(drawn(Chance(5).at(n))));
    let whole = seen(&[9; 64], &pending);
    for (offset, end) in [(0, 10), (3, 40), (17, 18)] {
        let mut bytes = vec![9; end - offset];
        pending.overlay(offset as u64, &mut bytes);
        assert_eq!(bytes, whole[offset..end]);
    }
}

#[test]
fn a_cut_keeps_nothing_or_everything_as_it_is_told() {
    let full = || {
        let mut pending = Pending::default();
        (0..50).for_each(|n| pending.push(Change::Write { offset: n * 4096, data: vec![n as u8; 4096] }));
        pending
    };
    let cut = |keep, tear| Cut { keep, tear, tear_bytes: 512, seed: 3 };
    assert!(full().cut(&cut(0.0, 0.0), 1).iter().all(|fate| fate.kept.is_empty()));
    assert!(full().cut(&cut(1.0, 0.0), 1).iter().all(|fate| fate.kept.len() == 1 && !fate.torn));
    let mut emptied = full();
    let half = emptied.cut(&cut(0.5, 1.0), 1);
    assert!(emptied.is_empty() && emptied.held_bytes() == 0);
    let kept: Vec<&Fate> = half.iter().filter(|fate| !fate.kept.is_empty()).collect();
    assert!((15..36).contains(&kept.len()), "{}", kept.len());
    for fate in kept {
        let bytes: u64 = fate.kept.iter().map(|change| change.range().end - change.range().start).sum();
        assert!(fate.torn && (512..4096).contains(&bytes), "{bytes}");
    }
}

#[test]
fn a_cut_tears_at_the_unit() {
    let mut pending = Pending::default();
    pending.push(Change::Write { offset: 2048, data: vec![1; 8192] });
    let fates = pending.cut(&Cut { keep: 1.0, tear: 1.0, tear_bytes: 4096, seed: 1 }, 1);
    let inner = |at: u64| at == 2048 || at == 10_240 || at.is_multiple_of(4096);
    assert!(fates[0].torn);
    assert!(fates[0].kept.iter().all(|change| inner(change.range().start) && inner(change.range().end)));
}

#[test]
fn a_lie_makes_some_durable_and_forgets_nothing() {
    let mut pending = Pending::default();
    (0..100).for_each(|n| pending.push(Change::Write { offset: n, data: vec![1] }));
    let durable = pending.lie(Chance(1).at(0));
    assert_eq!(pending.len(), 100);
    assert!((30..70).contains(&durable.len()), "{}", durable.len());
    assert!(!durable.is_sorted_by_key(|change| change.range().start));
}

#[test]
fn a_durable_write_leaves_what_waits_beside_it() {
    let mut pending = Pending::default();
    pending.push(Change::Write { offset: 0, data: vec![1, 2, 3, 4, 5, 6] });
    assert_eq!(pending.supersede(&(2..4), 6), []);
    let left = pending.flush();
    assert_eq!(left, [Change::Write { offset: 0, data: vec![1, 2] }, Change::Write { offset: 4, data: vec![5, 6] }]);
}
