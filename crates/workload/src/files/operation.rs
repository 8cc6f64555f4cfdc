//! The operations on files and directories.

/// What can be done to a file or directory. The order is the order of every per-operation table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum FileOp {
    /// Read from an open file.
    Read = 0,
    /// Write to an open file.
    Write,
    /// Make what was written to an open file durable (`fsync`).
    Flush,
    /// Make a file that does not exist.
    Create,
    /// Open a file.
    Open,
    /// Close it.
    Close,
    /// Ask whether a file may be read and written (`access`).
    Access,
    /// Ask for a file's attributes (`stat`).
    Stat,
    /// Set a file's times.
    Setattr,
    /// Give a file another name in its directory.
    Rename,
    /// Copy a file's content to a file that does not exist.
    Copy,
    /// Move a file to the place of one that does not exist.
    Move,
    /// Remove a file.
    Delete,
    /// Make a directory.
    Mkdir,
    /// Remove an empty directory.
    Rmdir,
    /// Make a file in one tree, make it durable, and give it its name in another: a message that arrives in a mailbox.
    Deliver,
}

impl FileOp {
    /// How many there are.
    pub const COUNT: usize = 16;

    /// Every operation, in table order.
    pub const ALL: [Self; Self::COUNT] = [
        Self::Read,
        Self::Write,
        Self::Flush,
        Self::Create,
        Self::Open,
        Self::Close,
        Self::Access,
        Self::Stat,
        Self::Setattr,
        Self::Rename,
        Self::Copy,
        Self::Move,
        Self::Delete,
        Self::Mkdir,
        Self::Rmdir,
        Self::Deliver,
    ];

    /// The words of all operations, in table order.
    pub const NAMES: [&'static str; Self::COUNT] = [
        "read", "write", "flush", "create", "open", "close", "access", "stat", "setattr", "rename", "copy", "move",
        "delete", "mkdir", "rmdir", "deliver",
    ];

    /// The word used in files, tables and JSON.
    pub const fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// The operation of a word.
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|op| op.name() == word)
    }

    /// Whether it changes which files or directories exist, or their names.
    pub const fn changes_names(self) -> bool {
        matches!(
            self,
            Self::Create
                | Self::Rename
                | Self::Copy
                | Self::Move
                | Self::Delete
                | Self::Mkdir
                | Self::Rmdir
                | Self::Deliver
        )
    }

    /// Whether it goes on in the file that the thread has open.
    pub const fn needs_open_file(self) -> bool {
        matches!(self, Self::Read | Self::Write | Self::Flush)
    }
}
