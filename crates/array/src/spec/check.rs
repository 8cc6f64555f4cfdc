//! Whether the names in a specification stand for something, and values can hold together; ranges of single keys are declared with
//! them.

use std::collections::BTreeSet;

use super::{
    ArraySpec, CacheSpec, FlashCacheSpec, FlashWrites, GroupEntry, HostMode, ReadAheadSpec, Sharing, Spread, VolumeSet,
};
use crate::raid::Level;

pub(super) type Checked = Result<(), String>;

/// The most pages that a cache has, whose tables take about 5 GB then: 1 TiB in pages of 16 KiB.
const CACHE_PAGES_MAX: u64 = 1 << 26;

pub(super) fn check(spec: &ArraySpec) -> Checked {
    let named = |kind: &str, names: Vec<&String>| -> Result<BTreeSet<String>, String> {
        let mut seen = BTreeSet::new();
        for name in names {
            if !seen.insert(name.clone()) {
                return Err(format!("{kind}.{name}: the name is there twice"));
            }
        }
        Ok(seen)
    };
    let links = named("link", spec.link.iter().map(|link| &link.name).collect())?;
    let controllers = named("controller", spec.controller.iter().map(|controller| &controller.name).collect())?;
    let groups = named("group", spec.group.iter().map(|group| &group.name).collect())?;
    named("devices", spec.devices.iter().map(|set| &set.name).collect())?;
    named("volumes", spec.volumes.iter().map(|set| &set.name).collect())?;
    for (key, empty) in [
        ("controller", controllers.is_empty()),
        ("devices", spec.devices.is_empty()),
        ("group", groups.is_empty()),
        ("volumes", spec.volumes.is_empty()),
    ] {
        if empty {
            return Err(format!("{key}: an array has at least one"));
        }
    }
    for set in &spec.devices {
        let at = format!("devices.{}", set.name);
        known(&at, "links", "link", &set.links, &links)?;
    }
    for group in &spec.group {
        let at = format!("group.{}", group.name);
        known(&at, "controller", "controller", std::slice::from_ref(&group.controller), &controllers)?;
        check_members(spec, &group.name, group.raid.devices, &group.members.0)?;
        check_copy_links(spec, group, &links)?;
        if let Some(cache) = &group.flash_cache {
            check_flash_cache(spec, group, cache)?;
        }
    }
    check_spares(spec)?;
    check_volumes(spec, &links, &groups)?;
    for controller in &spec.controller {
        check_controller(spec, controller)?;
    }
    check_host(spec)
}

/// A spare is in no group and in no other list of spares.
fn check_spares(spec: &ArraySpec) -> Checked {
    let mut taken: BTreeSet<u16> =
        spec.group.iter().flat_map(|group| group.members.numbers(&spec.devices).unwrap_or_default()).collect();
    let own = spec.group.iter().map(|group| (format!("group.{}.spares", group.name), &group.spares));
    for (at, spares) in own.chain([("spares".to_owned(), &spec.spares)]) {
        let numbers = spares.numbers(&spec.devices).map_err(|error| format!("{at}: {error}"))?;
        if let Some(number) = numbers.iter().find(|&&number| !taken.insert(number)) {
            return Err(format!("{at}: device number {number} is a member or a spare already"));
        }
    }
    Ok(())
}

fn check_members(spec: &ArraySpec, group: &str, devices: u16, members: &[String]) -> Checked {
    let numbers = super::Members(members.to_vec()).numbers(&spec.devices);
    let numbers = numbers.map_err(|error| format!("group.{group}.members: {error}"))?;
    if numbers.len() != usize::from(devices) {
        let found = numbers.len();
        return Err(format!("group.{group}.members: {found} devices, but raid.devices is {devices}; make them equal"));
    }
    let others = spec.group.iter().filter(|other| other.name != group);
    let mut taken: BTreeSet<u16> =
        others.flat_map(|other| other.members.numbers(&spec.devices).unwrap_or_default()).collect();
    match numbers.iter().find(|&&number| !taken.insert(number)) {
        Some(number) => Err(format!("group.{group}.members: device number {number} is in a group already")),
        None => Ok(()),
    }
}

fn check_copy_links(spec: &ArraySpec, group: &GroupEntry, links: &BTreeSet<String>) -> Checked {
    let at = format!("group.{}", group.name);
    if !group.copy_links.is_empty() && !group.raid.level.is_mirrored() {
        let level = group.raid.level.name();
        return Err(format!("{at}.copy_links: {level} has no copies; write raid1 or raid10, or leave copy_links out"));
    }
    known(&at, "copy_links", "link", &group.copy_links, links)?;
    shared(&at, "copy_links", spec, &group.copy_links)
}

/// A flash cache lies on a group of flash drives that nothing else uses.
fn check_flash_cache(spec: &ArraySpec, group: &GroupEntry, cache: &FlashCacheSpec) -> Checked {
    let at = format!("group.{}.flash_cache", group.name);
    let Some(flash) = spec.group.iter().find(|other| other.name == cache.group && other.name != group.name) else {
        return Err(format!("{at}.group: there is no other group `{}`; name the group of flash drives", cache.group));
    };
    let name = &flash.name;
    if flash.controller != group.controller {
        return Err(format!("{at}.group: `{name}` is of another controller; write one of `{}`", group.controller));
    }
    let level = flash.raid.level;
    if !matches!(level, Level::Raid0 | Level::Raid1 | Level::Raid10) {
        return Err(format!("{at}.group: `{name}` is {}; write raid0, raid1 or raid10", level.name()));
    }
    if cache.writes == FlashWrites::Back && level == Level::Raid0 {
        return Err(format!(
            "{at}.writes: a drive of `{name}` that fails would take writes with it; write raid1 or raid10 there, or through"
        ));
    }
    let caches = spec.group.iter().filter_map(|other| other.flash_cache.as_ref());
    let is_used = caches.filter(|other| other.group == *name).count() > 1 || flash.flash_cache.is_some();
    if is_used || spec.volumes.iter().any(|set| set.groups.contains(name)) {
        return Err(format!("{at}.group: `{name}` is used by others; a cache has a group for itself, without volumes"));
    }
    if !cache.extent_bytes.is_multiple_of(512) {
        return Err(format!(
            "{at}.extent_bytes: {} bytes are not whole sectors; write a multiple of 512",
            cache.extent_bytes
        ));
    }
    if cache.low_percent > cache.high_percent {
        return Err(format!("{at}.low_percent: {} lies above high_percent; write less", cache.low_percent));
    }
    Ok(())
}

/// Several volumes or devices pass such links together.
fn shared(at: &str, key: &str, spec: &ArraySpec, names: &[String]) -> Checked {
    let own = |name: &&String| spec.link.iter().any(|link| link.name == **name && link.sharing == Sharing::PerDevice);
    match names.iter().find(own) {
        Some(name) => Err(format!("{at}.{key}: `{name}` is a link per device; write a shared one")),
        None => Ok(()),
    }
}

fn check_volumes(spec: &ArraySpec, links: &BTreeSet<String>, groups: &BTreeSet<String>) -> Checked {
    for set in &spec.volumes {
        let at = format!("volumes.{}", set.name);
        if set.groups.is_empty() {
            return Err(format!("{at}.groups: 0 is too few; write at least 1"));
        }
        known(&at, "groups", "group", &set.groups, groups)?;
        check_offset(&at, set)?;
        check_limit(&at, set)?;
        for (key, list) in [("links", &set.links), ("ports", &set.ports)] {
            known(&at, key, "link", list, links)?;
            shared(&at, key, spec, list)?;
        }
    }
    Ok(())
}

fn check_offset(at: &str, set: &VolumeSet) -> Checked {
    if !set.offset_bytes.is_multiple_of(512) {
        return Err(format!(
            "{at}.offset_bytes: {} bytes are not whole sectors; write a multiple of 512",
            set.offset_bytes
        ));
    }
    if set.offset_bytes > 0 && set.spread == Spread::Joined {
        return Err(format!("{at}.offset_bytes: only volumes on one group each have one; leave it out, or `spread`"));
    }
    Ok(())
}

fn check_limit(at: &str, set: &VolumeSet) -> Checked {
    let Some(limit) = &set.limit else { return Ok(()) };
    for (of, lasting, burst, credit) in [
        ("requests", limit.requests_per_s, limit.burst_requests_per_s, limit.burst_requests),
        ("bytes", limit.bytes_per_s, limit.burst_bytes_per_s, limit.burst_bytes),
    ] {
        if lasting.is_none() && (burst.is_some() || credit > 0) {
            return Err(format!(
                "{at}.limit.{of}_per_s: a burst needs the rate that lasts; write it, or leave the burst out"
            ));
        }
        if burst.is_some() && credit == 0 {
            return Err(format!(
                "{at}.limit.burst_{of}: a burst needs credit; write it, or leave burst_{of}_per_s out"
            ));
        }
        if let (Some(lasting), Some(burst)) = (lasting, burst)
            && burst < lasting
        {
            return Err(format!(
                "{at}.limit.burst_{of}_per_s: {burst} is less than {of}_per_s; write at least {lasting}"
            ));
        }
    }
    Ok(())
}

fn check_controller(spec: &ArraySpec, controller: &super::ControllerSpec) -> Checked {
    let at = format!("controller.{}", controller.name);
    if let Some(cache) = &controller.cache {
        check_cache(&format!("{at}.cache"), cache)?;
        for (key, link) in [("mirror_link", &cache.mirror_link), ("memory_link", &cache.memory_link)] {
            let shared =
                |link: &String| spec.link.iter().any(|found| found.name == *link && found.sharing == Sharing::Shared);
            if let Some(link) = link.as_ref().filter(|link| !shared(link)) {
                return Err(format!("{at}.cache.{key}: there is no shared link `{link}`"));
            }
        }
    }
    match &controller.read_ahead {
        Some(_) if controller.cache.is_none() => {
            Err(format!("{at}.read_ahead: needs a cache to read into; give one, or leave it out"))
        }
        Some(read_ahead) => check_read_ahead(&format!("{at}.read_ahead"), read_ahead),
        None => Ok(()),
    }
}

fn check_cache(at: &str, cache: &CacheSpec) -> Checked {
    if !cache.page_bytes.is_power_of_two() {
        return Err(format!("{at}.page_bytes: {} is no power of two; write for example 16384", cache.page_bytes));
    }
    check_size(at, cache.size_bytes, cache.page_bytes)?;
    if cache.low_percent > cache.high_percent {
        return Err(format!("{at}.low_percent: {} lies above high_percent; write less", cache.low_percent));
    }
    Ok(())
}

fn check_size(at: &str, size_bytes: u64, page_bytes: u32) -> Checked {
    let most = CACHE_PAGES_MAX * u64::from(page_bytes);
    if size_bytes < u64::from(page_bytes) {
        return Err(format!("{at}.size_bytes: holds no page; write at least {page_bytes}"));
    }
    if size_bytes > most {
        let pages = size_bytes / u64::from(page_bytes);
        return Err(format!(
            "{at}.size_bytes: {size_bytes} bytes are {pages} pages, too many to model; write at most {most}"
        ));
    }
    Ok(())
}

fn check_read_ahead(at: &str, spec: &ReadAheadSpec) -> Checked {
    at_least(at, "max_bytes", spec.max_bytes, spec.initial_bytes)
}

fn check_host(spec: &ArraySpec) -> Checked {
    let host = &spec.host;
    if host.chunk_bytes > 0 {
        at_least("host", "chunk_bytes", host.chunk_bytes, 512)?;
    }
    if !host.page_bytes.is_power_of_two() {
        return Err(format!("host.page_bytes: {} is no power of two; write for example 4096", host.page_bytes));
    }
    match (&host.page_cache, host.mode) {
        (None, HostMode::Buffered) => {
            Err("host.mode: buffered needs a page cache; give host.page_cache.size_bytes".to_owned())
        }
        (Some(pages), _) => {
            check_size("host.page_cache", pages.size_bytes, host.page_bytes)?;
            at_least("host.page_cache", "warm_block_bytes", pages.warm_block_bytes, host.page_bytes)?;
            pages.read_ahead.as_ref().map_or(Ok(()), |spec| check_read_ahead("host.page_cache.read_ahead", spec))
        }
        (None, HostMode::Direct) => Ok(()),
    }
}

fn known(at: &str, key: &str, kind: &str, names: &[String], there: &BTreeSet<String>) -> Checked {
    let Some(name) = names.iter().find(|name| !there.contains(*name)) else { return Ok(()) };
    let known: Vec<&str> = there.iter().map(String::as_str).collect();
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    Err(format!("{at}.{key}: there is no {kind} `{name}`; there are: {known}"))
}

/// Bytes of which another key, or more than none, says the least; the most is declared.
fn at_least(at: &str, key: &str, value: u32, least: u32) -> Checked {
    if value >= least {
        return Ok(());
    }
    Err(format!("{at}.{key}: {value} is out of range; write {least} to {}", 1 << 30))
}
