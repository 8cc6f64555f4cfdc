//! The action of the block layer at which requests are counted.

/// See the module; the default is the issue to the driver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Counted {
    /// Where they enter the block layer.
    Queue,
    /// Where they go to the driver.
    #[default]
    Issue,
    /// Where they come back.
    Complete,
}

impl Counted {
    /// The action of a name.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "queue" => Some(Self::Queue),
            "issue" => Some(Self::Issue),
            "complete" => Some(Self::Complete),
            _ => None,
        }
    }
}
