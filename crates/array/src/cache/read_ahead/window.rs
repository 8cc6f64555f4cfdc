//! How far a stream is read ahead.

/// What is read ahead for one stream.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    /// Up to where it was read ahead.
    pub(super) ahead: u64,
    /// How much comes next.
    pub(super) sectors: u64,
    /// Whether something was lost before it was used.
    pub(super) lost: bool,
}

impl Window {
    pub(super) const NONE: Self = Self { ahead: 0, sectors: 0, lost: false };
}
