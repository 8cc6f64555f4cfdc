//! What mail users do.

/// A task of a user, as whoever waits for it sees it. The order is the order of every per-task table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum MailTask {
    /// Log out, if logged in, and log in again.
    Login = 0,
    /// Ask for new messages and list them.
    CheckInbox,
    /// Read a message: its headers, its body, and mark it as seen.
    Read,
    /// Send a new message and keep a copy.
    Send,
    /// Answer the sender of a message.
    Reply,
    /// Answer everybody whom a message went to.
    ReplyAll,
    /// Send a message on.
    Forward,
    /// Move a message to a folder.
    Move,
    /// Move a message to the folder of deleted ones.
    Delete,
    /// Look for messages by words.
    Search,
    /// Make an appointment in the calendar.
    Calendar,
    /// Ask the server whether it knows a name.
    Resolve,
}

impl MailTask {
    /// How many there are.
    pub const COUNT: usize = 12;

    /// Every task, in table order.
    pub const ALL: [Self; Self::COUNT] = [
        Self::Login,
        Self::CheckInbox,
        Self::Read,
        Self::Send,
        Self::Reply,
        Self::ReplyAll,
        Self::Forward,
        Self::Move,
        Self::Delete,
        Self::Search,
        Self::Calendar,
        Self::Resolve,
    ];

    /// The words of all tasks, in table order.
    pub const NAMES: [&'static str; Self::COUNT] = [
        "login",
        "check-inbox",
        "read",
        "send",
        "reply",
        "reply-all",
        "forward",
        "move",
        "delete",
        "search",
        "calendar",
        "resolve",
    ];

    /// The word used in files, tables and JSON.
    pub const fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// The task of a word.
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|task| task.name() == word)
    }

    /// Whether it sends a message.
    pub const fn sends(self) -> bool {
        matches!(self, Self::Send | Self::Reply | Self::ReplyAll | Self::Forward)
    }

    /// Whether it needs a message that is in the inbox.
    pub const fn needs_message(self) -> bool {
        matches!(self, Self::Read | Self::Reply | Self::ReplyAll | Self::Forward | Self::Move | Self::Delete)
    }
}
