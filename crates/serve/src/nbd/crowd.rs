//! How many requests of all clients the model works on, those of clients that have left included.
//!
//! Model: who wants to put in one more waits for a place; a place is given back when the model has answered. So clients that
//! ask and hang up, again and again, cannot fill the memory faster than the array works off what they asked for.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

use crate::locked;

/// See the module.
#[derive(Debug)]
pub(crate) struct Crowd {
    inside: Mutex<usize>,
    left: Condvar,
    most: usize,
}

/// A place; dropping it gives it back.
#[derive(Debug)]
pub(crate) struct Place(Arc<Crowd>);

impl Crowd {
    pub(crate) fn of(most: usize) -> Arc<Self> {
        Arc::new(Self { inside: Mutex::new(0), left: Condvar::new(), most })
    }

    /// Waits for a place.
    pub(crate) fn enter(crowd: &Arc<Self>) -> Place {
        let full = |inside: &mut usize| *inside >= crowd.most;
        let mut inside = crowd.left.wait_while(locked(&crowd.inside), full).unwrap_or_else(PoisonError::into_inner);
        *inside += 1;
        Place(Arc::clone(crowd))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        *locked(&self.0.inside) -= 1;
        self.0.left.notify_one();
    }
}
