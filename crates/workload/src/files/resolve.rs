//! From options as typed to trees and streams of plain numbers.

use crate::error::WorkloadError;
use crate::files::check;
use crate::files::draw::SizeDraw;
use crate::files::operation::FileOp;
use crate::files::plan::{FilePlan, FileStreamPlan, TreePlan};
use crate::files::shape::{DIRECTORIES_MAX, FILES_MAX, TreeShape};
use crate::files::stop::StopAfter;
use crate::files::stream::{FileAccess, FileStreamOptions};
use crate::files::tree::TreeOptions;
use crate::files::workload::FileWorkload;
use crate::option::Record;
use crate::plan::Budget;
use crate::resolve::stream_seed;
use crate::scope::sent_home;

/// Requests per opened file with random access, when nothing else is said (Vdbench's).
const RANDOM_REQUESTS: u64 = 100;

impl FileWorkload {
    /// Turns trees and streams into plans. Equal options and `seed` (the job's) give equal plans.
    ///
    /// # Errors
    /// If options cannot hold together; the sentence begins with the workload's name.
    pub fn resolve(&self, seed: u64) -> Result<FilePlan, WorkloadError> {
        self.resolve_all(seed).map_err(|error| error.within(format!("workload \"{}\"", self.name)))
    }

    /// [`FileWorkload::resolve`] without the workload's name.
    pub(crate) fn resolve_all(&self, seed: u64) -> Result<FilePlan, WorkloadError> {
        check::workload(self)?;
        let alone = |tree: &TreeOptions| self.trees.iter().filter(|other| other.part == tree.part).count() == 1;
        let plan = |tree: &TreeOptions| tree_plan(tree, alone(tree)).map_err(|error| error.within(check::place(tree)));
        let trees = self.trees.iter().map(plan).collect::<Result<Vec<_>, _>>()?;
        check::anchors(&trees)?;
        let mut streams = Vec::with_capacity(self.streams.len());
        for (index, stream) in self.streams.iter().enumerate() {
            let seed = stream_seed(seed, stream.seed, index as u64);
            let plan = stream_plan(stream, &trees, seed).and_then(|plan| check::fits(&plan, &trees).map(|()| plan));
            streams.push(plan.map_err(|error| error.within(format!("stream \"{}\"", stream.name)))?);
        }
        Ok(FilePlan { trees, streams })
    }
}

fn tree_plan(tree: &TreeOptions, alone: bool) -> Result<TreePlan, WorkloadError> {
    let shape = TreeShape::new(tree).ok_or_else(|| {
        WorkloadError::impossible(format!(
            "depth {}, width {} and files {} make more than {DIRECTORIES_MAX} directories or {FILES_MAX} files; lower \
             one of them",
            tree.depth, tree.width, tree.files
        ))
    })?;
    if let Some(total) = tree.total_size {
        check::reaches(&shape, total.0)?;
    }
    let default = if alone { String::new() } else { tree.name.clone() };
    let path = tree.path.clone().unwrap_or(default);
    // The working set is a choice among what is laid out, and the marker stands in the directory that `part` is about.
    let (name, place) = ("tree".to_owned(), Some(path.clone()));
    let decisive = TreeOptions { working_set: None, name, part: 0, path: place, ..tree.clone() };
    let mut definition = decisive.write_record();
    if let Some(record) = definition.as_object_mut() {
        record.remove("part");
    }
    let (name, part, definition) = (tree.name.clone(), tree.part as usize, definition.to_string());
    Ok(TreePlan { name, part, path, shape, lay_out: tree.lay_out, definition })
}

impl TreePlan {
    /// The tree that a [`TreePlan::definition`] stands for.
    ///
    /// # Errors
    /// If the text is none.
    pub fn of_definition(definition: &str) -> Result<Self, WorkloadError> {
        let value = serde_json::from_str(definition).unwrap_or(serde_json::Value::Null);
        let options = TreeOptions::read_record(&value).map_err(sent_home)?;
        check::tree(&options)?;
        tree_plan(&options, true)
    }
}

fn stream_plan(stream: &FileStreamOptions, trees: &[TreePlan], seed: u64) -> Result<FileStreamPlan, WorkloadError> {
    let common = stream.common();
    let default = match stream.file_access {
        FileAccess::Sequential => StopAfter::End,
        FileAccess::Random => StopAfter::Requests(RANDOM_REQUESTS),
    };
    Ok(FileStreamPlan {
        name: stream.name.clone(),
        trees: check::trees_of(stream, trees)?,
        made_in: check::tree_beside(stream, "made_in", stream.made_in.as_deref(), trees)?,
        listed_in: check::tree_beside(stream, "listed_in", stream.listed_in.as_deref(), trees)?,
        mix: stream.operation.clone(),
        ops: recorded(stream),
        threads: stream.threads,
        select: stream.file_select,
        skew: stream.file_skew,
        state: stream.file_state,
        access: stream.file_access,
        transfer: SizeDraw::new(&stream.transfer_size.sizes()),
        max_transfer: stream.transfer_size.largest(),
        stop: stream.stop_after.map_or(default, |stop| stop.0),
        shared: stream.shared,
        write_created: stream.write_created,
        direct: stream.direct,
        dsync: stream.dsync,
        flush_at_close: stream.flush_at_close,
        arrival: common.arrival_plan(),
        start_ns: stream.start_after.0,
        budget: Budget {
            bytes: stream.amount.map_or(u64::MAX, |amount| amount.0),
            requests: stream.requests.unwrap_or(u64::MAX),
        },
        content: common.content_plan(),
        seed,
    })
}

/// The operations drawn, and those that come with them.
fn recorded(stream: &FileStreamOptions) -> [bool; FileOp::COUNT] {
    let mut ops = stream.operation.0.map(|percent| percent > 0.0);
    let mut add = |op: FileOp, when: bool| ops[op as usize] |= when;
    let draws = |op: FileOp| stream.operation.percent(op) > 0.0;
    let opens = [FileOp::Read, FileOp::Write, FileOp::Flush, FileOp::Open, FileOp::Close].into_iter().any(draws);
    add(FileOp::Open, opens);
    add(FileOp::Close, opens || draws(FileOp::Create));
    add(FileOp::Write, draws(FileOp::Create) && stream.write_created);
    add(FileOp::Flush, stream.flush_at_close);
    ops
}
