//! That a request takes any time at all.
//!
//! Model: a request that a controller or the pages of a host answer from memory costs a processor or a link something. Where
//! it did not, any number of them would fit into an instant, and a closed loop would hardly come to the next one.
//!
//! Limits: only reads and writes are looked at; flushes and trims that find nothing to do are answered in no time where a host
//! costs nothing per request.

use super::{ArraySpec, ControllerSpec, HostMode, SpecError, VolumeSet};

impl ArraySpec {
    /// Refuses an array in which only devices take time while a cache or the host's pages answer before them: requests would
    /// take no time at all, and a closed loop would never end.
    ///
    /// # Errors
    /// One sentence about the first component that should cost something.
    pub fn check_takes_time(&self) -> Result<(), SpecError> {
        let host = &self.host;
        if host.request_ns > 0 || host.page_ns > 0 {
            return Ok(());
        }
        if host.mode == HostMode::Buffered && host.page_cache.is_some() {
            return Err(self.refusal(
                "host.page_ns: what its page cache holds is answered in no time at all; write what copying a page costs, or a \
                 request as host.request_ns",
            ));
        }
        match self.volumes.iter().filter(|set| is_way_free(set)).find_map(|set| self.free_cache(set)) {
            None => Ok(()),
            Some(controller) => Err(self.refusal(format!(
                "controller.{}.request_ns: what its cache holds is answered in no time at all; write what a request costs, here or \
                 as host.request_ns",
                controller.name
            ))),
        }
    }

    /// A controller that answers requests to a set of volumes from its cache, and for nothing.
    fn free_cache(&self, set: &VolumeSet) -> Option<&ControllerSpec> {
        self.group.iter().filter(|group| set.groups.contains(&group.name)).find_map(|group| {
            let controller = self.controller.iter().find(|controller| controller.name == group.controller)?;
            let is_free = controller.cache.is_some() && controller.request_ns == 0 && controller.kib_ns == 0;
            is_free.then_some(controller)
        })
    }
}

/// Whether no link lies between the host and a set of volumes.
const fn is_way_free(set: &VolumeSet) -> bool {
    set.links.is_empty() && set.ports.is_empty()
}
