//! A short name for trees and the operations drawn on them: equal fingerprints, equal load.

use crate::arrival::{Arrivals, Thinker};
use crate::files::operation::FileOp;
use crate::files::plan::{FilePlan, FileStreamPlan, TreePlan};
use crate::files::script::Script;
use crate::files::stream::FileState;
use crate::fingerprint::Fnv;

/// Sixteen hexadecimal digits over the names, sizes and existence of the first `draws` files of every tree, and over as
/// many operations, candidates, lengths, places and instants of every thread.
pub fn fingerprint(plan: &FilePlan, draws: u64) -> String {
    let mut hash = Fnv::new();
    plan.trees.iter().for_each(|tree| hash_tree(&mut hash, tree, draws));
    plan.streams.iter().for_each(|stream| hash_stream(&mut hash, stream, plan, draws));
    hash.text()
}

fn hash_tree(hash: &mut Fnv, tree: &TreePlan, draws: u64) {
    let shape = &tree.shape;
    hash.bytes(tree.path.as_bytes());
    [shape.directories(), shape.files(), shape.worked()].into_iter().for_each(|count| hash.number(count));
    let mut path = Vec::new();
    for place in 0..shape.worked().min(draws) {
        let file = shape.worked_file(place);
        shape.file_path(file, &mut path);
        hash.bytes(&path);
        hash.number(shape.size_bytes(file));
        hash.bytes(&[shape.exists_first(file).into()]);
    }
}

fn hash_stream(hash: &mut Fnv, stream: &FileStreamPlan, plan: &FilePlan, draws: u64) {
    let words = [stream.select.name(), stream.access.name()];
    words.into_iter().for_each(|word| hash.bytes(word.as_bytes()));
    if stream.state != FileState::Any {
        hash.bytes(stream.state.name().as_bytes());
    }
    let flags = [stream.shared, stream.write_created, stream.direct, stream.dsync, stream.flush_at_close];
    flags.into_iter().for_each(|flag| hash.bytes(&[flag.into()]));
    stream.trees.iter().for_each(|tree| hash.number(*tree as u64));
    stream.made_in.iter().chain(&stream.listed_in).for_each(|tree| hash.number(*tree as u64));
    let files: u64 = stream.trees.iter().map(|tree| plan.trees[*tree].shape.worked()).sum();
    for shard in 0..stream.threads {
        let mut script = Script::new(stream, shard);
        let mut arrivals = Arrivals::new(stream, shard);
        let mut thinker = Thinker::new(stream, shard);
        for _ in 0..draws {
            let op = script.operation();
            hash.bytes(&[op as u8]);
            hash.number(script.candidate(files.max(1)));
            if matches!(op, FileOp::Read | FileOp::Write) {
                hash.number(script.transfer_bytes().into());
                hash.number(script.place(1 << 20));
            }
            hash.number(if stream.arrival.is_open() { arrivals.next_ns() } else { thinker.next_ns() });
        }
    }
}
