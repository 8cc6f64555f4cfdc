//! Options of trees and streams that are fine by themselves and cannot hold together.

use crate::conflicts::{refuse, well_named};
use crate::error::WorkloadError;
use crate::files::operation::FileOp;
use crate::files::plan::{FileStreamPlan, TreePlan};
use crate::files::shape::TreeShape;
use crate::files::stream::{FileAccess, FileSelect, FileState, FileStreamOptions};
use crate::files::tree::{LayOut, TreeOptions};
use crate::files::workload::FileWorkload;
use crate::nearest::hint;
use crate::units::bytes_to_text;

const MOST_TREES: usize = 4096;
const MOST_THREADS: u64 = 1 << 14;
/// The least that direct I/O transfers.
const SECTOR_BYTES: u64 = 512;

/// What errors call a tree.
pub(crate) fn place(tree: &TreeOptions) -> String {
    format!("tree \"{}\"", tree.name)
}

/// What holds without looking at shapes.
pub(crate) fn workload(workload: &FileWorkload) -> Result<(), WorkloadError> {
    well_named("a workload", &workload.name)?;
    counted(workload)?;
    for (index, tree) in workload.trees.iter().enumerate() {
        well_named("a tree", &tree.name)?;
        refuse(workload.trees[..index].iter().any(|other| other.name == tree.name), || {
            format!("two trees are called \"{}\"; give each a name of its own", tree.name)
        })?;
        self::tree(tree).map_err(|error| error.within(place(tree)))?;
    }
    for (index, stream) in workload.streams.iter().enumerate() {
        well_named("a stream", &stream.name)?;
        refuse(workload.streams[..index].iter().any(|other| other.name == stream.name), || {
            format!("two streams are called \"{}\"; give each a name of its own", stream.name)
        })?;
        self::stream(stream).map_err(|error| error.within(format!("stream \"{}\"", stream.name)))?;
    }
    Ok(())
}

fn counted(workload: &FileWorkload) -> Result<(), WorkloadError> {
    let (trees, streams) = (workload.trees.len(), workload.streams.len());
    refuse(trees == 0, || "no tree; write at least one [[tree]]".to_owned())?;
    refuse(streams == 0, || "no stream; write at least one [[stream]]".to_owned())?;
    refuse(trees > MOST_TREES, || format!("{trees} trees; write at most {MOST_TREES}"))?;
    let threads: u64 = workload.streams.iter().map(|stream| u64::from(stream.threads)).sum();
    refuse(threads > MOST_THREADS, || {
        format!("{threads} threads in all streams; each is one of the operating system, so keep them at {MOST_THREADS}")
    })
}

pub(crate) fn tree(tree: &TreeOptions) -> Result<(), WorkloadError> {
    if let Some(path) = &tree.path {
        let proper = |part: &str| !part.is_empty() && part != "." && part != "..";
        refuse(!path.is_empty() && !path.split('/').all(proper) || path.contains('\0'), || {
            format!("path '{path}' leaves the target or is no path; write one below it, for example spool/inbox")
        })?;
    }
    refuse(tree.lay_out != LayOut::Files && tree.filled.0 < 100.0, || {
        format!("filled has no effect with lay_out {}; drop one of the two", tree.lay_out.name())
    })
}

fn stream(stream: &FileStreamOptions) -> Result<(), WorkloadError> {
    stream.common().check()?;
    let draws = |op: FileOp| stream.operation.percent(op) > 0.0;
    refuse(stream.write_created && !draws(FileOp::Create), || {
        "write_created has no effect without create; add create to operation, or drop write_created".to_owned()
    })?;
    delivering(stream)?;
    let writes = draws(FileOp::Write) || stream.write_created;
    refuse(stream.flush_at_close && !writes, || {
        "flush_at_close has no effect where nothing is written; add write to operation, or drop flush_at_close"
            .to_owned()
    })?;
    refuse(stream.file_skew.is_some() && stream.file_select != FileSelect::Random, || {
        "file_skew has no effect where files come in order; set file_select to random, or drop file_skew".to_owned()
    })?;
    let written_through = stream.file_access == FileAccess::Sequential && !draws(FileOp::Read);
    refuse(stream.file_state == FileState::Unwritten && !written_through, || {
        "files that are not written yet have nothing to read and no place for random writes; write them sequentially, \
         or drop file_state"
            .to_owned()
    })?;
    let odd = stream.transfer_size.named().into_iter().find(|bytes| !u64::from(*bytes).is_multiple_of(SECTOR_BYTES));
    match odd {
        Some(bytes) => refuse(stream.direct, || {
            let size = bytes_to_text(bytes.into());
            format!(
                "direct I/O needs multiples of 512 bytes, and {size} is none; change transfer_size, or set direct to false"
            )
        }),
        None => Ok(()),
    }
}

/// Refuses options of `deliver` without it, and it without them.
fn delivering(stream: &FileStreamOptions) -> Result<(), WorkloadError> {
    let delivers = stream.operation.percent(FileOp::Deliver) > 0.0;
    refuse(delivers && stream.made_in.is_none(), || {
        "deliver makes a file in one tree and renames it into another; name the first in made_in, for example tmp"
            .to_owned()
    })?;
    for (option, tree) in [("made_in", &stream.made_in), ("listed_in", &stream.listed_in)] {
        refuse(!delivers && tree.is_some(), || {
            format!("{option} has no effect without deliver; add deliver to operation, or drop {option}")
        })?;
    }
    Ok(())
}

/// Refuses a total size that the files do not reach.
pub(crate) fn reaches(shape: &TreeShape, total_bytes: u64) -> Result<(), WorkloadError> {
    let sum: u64 = (0..shape.files()).map(|file| shape.size_bytes(file)).sum();
    refuse(sum < total_bytes, || {
        format!(
            "total_size {} is more than the {} of all files; raise files, width or depth",
            bytes_to_text(total_bytes),
            bytes_to_text(sum)
        )
    })
}

/// Refuses trees that lie in each other.
pub(crate) fn anchors(trees: &[TreePlan]) -> Result<(), WorkloadError> {
    let holds = |outer: &str, inner: &str| {
        outer.is_empty() || inner == outer || inner.strip_prefix(outer).is_some_and(|rest| rest.starts_with('/'))
    };
    for (index, tree) in trees.iter().enumerate() {
        let lies_in = |other: &&TreePlan| holds(&other.path, &tree.path) || holds(&tree.path, &other.path);
        let clash = trees[..index].iter().filter(|other| other.part == tree.part).find(lies_in);
        if let Some(other) = clash {
            return Err(WorkloadError::impossible(format!(
                "the trees \"{}\" and \"{}\" lie in each other; give each a path of its own",
                other.name, tree.name
            )));
        }
    }
    Ok(())
}

/// The numbers of the trees that a stream names.
pub(crate) fn trees_of(stream: &FileStreamOptions, trees: &[TreePlan]) -> Result<Vec<usize>, WorkloadError> {
    let Some(names) = &stream.tree else {
        let beside = |tree: &TreePlan| [&stream.made_in, &stream.listed_in].contains(&&Some(tree.name.clone()));
        return Ok((0..trees.len()).filter(|number| !beside(&trees[*number])).collect());
    };
    let mut found = Vec::new();
    for name in &names.0 {
        let number = trees.iter().position(|tree| tree.name == *name).ok_or_else(|| unknown_tree(name, trees))?;
        refuse(found.contains(&number), || format!("tree {name} stands twice; write it once"))?;
        found.push(number);
    }
    Ok(found)
}

/// The number of a tree that `option` names, which is none of those that the stream works on.
pub(crate) fn tree_beside(
    stream: &FileStreamOptions,
    option: &str,
    name: Option<&str>,
    trees: &[TreePlan],
) -> Result<Option<usize>, WorkloadError> {
    let Some(name) = name else { return Ok(None) };
    let number = trees.iter().position(|tree| tree.name == name).ok_or_else(|| unknown_tree(name, trees))?;
    let own = trees_of(stream, trees)?;
    refuse(own.contains(&number), || {
        format!("{option} names tree {name}, which the stream works on; name another one in {option} or in tree")
    })?;
    refuse(own.is_empty(), || format!("no tree is left to deliver to beside {option}; add one"))?;
    refuse(own.iter().any(|tree| trees[*tree].part != trees[number].part), || {
        format!("{option} names tree {name}, which lies in another part than what is delivered to; give them one part")
    })?;
    refuse(trees[number].shape.files() == 0, || {
        format!("{option} names tree {name}, which has no files; set its files")
    })?;
    Ok(Some(number))
}

fn unknown_tree(name: &str, trees: &[TreePlan]) -> WorkloadError {
    let names = || trees.iter().map(|tree| tree.name.as_str());
    let listed = || format!("this workload has {}", names().collect::<Vec<_>>().join(", "));
    let advice = hint(name, names()).unwrap_or_else(listed);
    WorkloadError::impossible(format!("no tree is called '{name}'; {advice}"))
}

/// Refuses operations that the stream's trees give nothing to do.
pub(crate) fn fits(stream: &FileStreamPlan, trees: &[TreePlan]) -> Result<(), WorkloadError> {
    let (first, own) = (&trees[stream.trees[0]], || stream.trees.iter().map(|tree| &trees[*tree]));
    for op in stream.mix.occurring() {
        let word = op.name();
        let directories = matches!(op, FileOp::Mkdir | FileOp::Rmdir);
        refuse(directories && own().all(|tree| tree.shape.directories() == 1), || {
            format!("{word} needs directories below the anchor, and tree \"{}\" has none; set its depth", first.name)
        })?;
        refuse(!directories && own().all(|tree| tree.shape.files() == 0), || {
            format!("{word} needs files, and tree \"{}\" has none; set its files", first.name)
        })?;
        refuse(matches!(op, FileOp::Copy | FileOp::Move) && stream.trees.len() > 2, || {
            format!("{word} goes from one tree to another, and the stream has {}; name two in tree", stream.trees.len())
        })?;
    }
    let odd = || {
        own().find(|tree| {
            (0..tree.shape.files().min(1000)).any(|file| !tree.shape.size_bytes(file).is_multiple_of(SECTOR_BYTES))
        })
    };
    match odd().filter(|_| stream.direct) {
        Some(tree) => Err(WorkloadError::impossible(format!(
            "direct I/O needs multiples of 512 bytes, and sizes of tree \"{}\" are none; change sizes, or set direct \
             to false",
            tree.name
        ))),
        None => Ok(()),
    }
}
