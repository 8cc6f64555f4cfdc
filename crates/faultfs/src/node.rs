//! The files and directories that the kernel knows, by the number of their inode.
//!
//! Model: a node is made when a name is looked up and forgotten when the kernel forgets it, unless its file holds something
//! that would be forgotten with it: changes that are not durable, or wrong data. Since a node holds its file, the file's
//! number is not used again meanwhile. A node's path is the one by which it was last looked up; rules and the log go by it.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use crate::blame::Blame;
use crate::past::Past;
use crate::volatile::Pending;
use crate::{backing, locked};

/// The number of the root, as FUSE has it.
pub const ROOT: u64 = 1;

/// What is known of a file's bytes.
#[derive(Debug, Default)]
pub struct Content {
    /// What is not durable.
    pub pending: Pending,
    /// What is wrong.
    pub blame: Blame,
    /// Whether there ever was something wrong.
    pub blamed: bool,
    /// What stood there before.
    pub past: Past,
}

/// A file or directory.
#[derive(Debug)]
pub struct Node {
    /// Its number.
    pub number: u64,
    /// Holds it.
    pub held: OwnedFd,
    /// What is known of its bytes.
    pub content: Mutex<Content>,
    path: Mutex<String>,
    gone: AtomicBool,
    bytes: OnceLock<File>,
}

impl Node {
    fn new(number: u64, held: OwnedFd, path: String) -> Self {
        let (content, path) = (Mutex::default(), Mutex::new(path));
        Self { number, held, content, path, gone: AtomicBool::new(false), bytes: OnceLock::new() }
    }

    /// Below the mount; of the root itself nothing.
    pub fn path(&self) -> String {
        locked(&self.path).clone()
    }

    /// The path of a name in this directory.
    pub fn below(&self, name: &OsStr) -> String {
        let path = locked(&self.path);
        Path::new(path.as_str()).join(name).to_string_lossy().into_owned()
    }

    /// The file opened for bytes.
    ///
    /// # Errors
    /// When it cannot be opened, or was removed behind its user's back.
    pub fn bytes(&self) -> io::Result<&File> {
        if self.gone.load(Ordering::Relaxed) {
            return Err(io::Error::from_raw_os_error(libc::ESTALE));
        }
        if let Some(file) = self.bytes.get() {
            return Ok(file);
        }
        let opened = backing::open_bytes(&self.held)?;
        Ok(self.bytes.get_or_init(|| opened))
    }

    /// From now on all that is asked of its bytes fails.
    pub fn vanish(&self) {
        self.gone.store(true, Ordering::Relaxed);
    }

    /// Whether nothing would be lost with it.
    fn is_idle(&self) -> bool {
        let content = locked(&self.content);
        content.pending.is_empty() && !content.blamed
    }
}

/// All nodes.
#[derive(Debug)]
pub struct Nodes {
    root: Arc<Node>,
    root_inode: u64,
    known: Mutex<HashMap<u64, (Arc<Node>, u64)>>,
}

impl Nodes {
    /// The root alone.
    ///
    /// # Errors
    /// When it is no directory that can be opened.
    pub fn new(root: &Path) -> io::Result<Self> {
        let held = backing::hold_root(root)?;
        let root_inode = backing::status(&held)?.st_ino;
        Ok(Self { root: Arc::new(Node::new(ROOT, held, String::new())), root_inode, known: Mutex::default() })
    }

    /// The root.
    pub const fn root(&self) -> &Arc<Node> {
        &self.root
    }

    /// The number under which FUSE knows an inode.
    pub const fn number(&self, inode: u64) -> u64 {
        if inode == self.root_inode { ROOT } else { inode }
    }

    /// A node that was looked up.
    ///
    /// # Errors
    /// ESTALE where there is none, which is a mistake of the kernel or ours.
    pub fn get(&self, number: u64) -> io::Result<Arc<Node>> {
        if number == ROOT {
            return Ok(Arc::clone(&self.root));
        }
        let known = locked(&self.known);
        let found = known.get(&number).map(|(node, _)| Arc::clone(node));
        found.ok_or_else(|| io::Error::from_raw_os_error(libc::ESTALE))
    }

    /// Looks a name up; the kernel forgets the node as often as it was looked up.
    ///
    /// # Errors
    /// What the backing directory answers.
    pub fn look_up(&self, parent: &Node, name: &OsStr) -> io::Result<(Arc<Node>, libc::stat)> {
        let held = backing::hold(&parent.held, name)?;
        let status = backing::status(&held)?;
        let mut known = locked(&self.known);
        let (node, lookups) =
            known.entry(status.st_ino).or_insert_with(|| (Arc::new(Node::new(status.st_ino, held, String::new())), 0));
        *lookups += 1;
        *locked(&node.path) = parent.below(name);
        Ok((Arc::clone(node), status))
    }

    /// The kernel forgets a node `lookups` times.
    pub fn forget(&self, number: u64, lookups: u64) {
        let mut known = locked(&self.known);
        let Some((node, count)) = known.get_mut(&number) else { return };
        *count = count.saturating_sub(lookups);
        let removed = || backing::status(&node.held).is_ok_and(|status| status.st_nlink == 0);
        if *count == 0 && (node.is_idle() || removed()) {
            known.remove(&number);
        }
    }

    /// All of them.
    pub fn all(&self) -> Vec<Arc<Node>> {
        let mut nodes: Vec<Arc<Node>> = locked(&self.known).values().map(|(node, _)| Arc::clone(node)).collect();
        nodes.sort_unstable_by_key(|node| node.number);
        nodes
    }

    /// A name stands for another file now: that one's path is the new one, if it is known.
    pub fn renamed(&self, parent: &Node, name: &OsStr) {
        let Ok(status) = backing::hold(&parent.held, name).and_then(|held| backing::status(&held)) else { return };
        if let Some((node, _)) = locked(&self.known).get(&status.st_ino) {
            *locked(&node.path) = parent.below(name);
        }
    }
}
