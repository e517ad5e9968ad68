//! What `stats` lists, by memcached's names, as far as there is such a thing here.

use super::{Cache, Traffic, VERSION};
use crate::store::Statistics;

/// Which list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    General,
    Settings,
    Items,
    Slabs,
    Sizes,
    Connections,
}

impl Kind {
    /// The list that is asked for by a name.
    pub fn named(name: &[u8]) -> Option<Self> {
        match name {
            b"settings" => Some(Self::Settings),
            b"items" => Some(Self::Items),
            b"slabs" => Some(Self::Slabs),
            b"sizes" => Some(Self::Sizes),
            b"conns" => Some(Self::Connections),
            _ => None,
        }
    }
}

/// The counts that a client has had reset, as they were then. They themselves only grow: somebody else may watch them.
#[derive(Debug, Clone, Copy, Default)]
pub struct Reset {
    store: Statistics,
    traffic: Traffic,
}

/// Begins all counts anew, for those who ask for them.
pub fn reset(cache: &mut Cache) {
    cache.reset = Reset { store: *cache.store.statistics(), traffic: cache.traffic };
}

/// Hands over each line of a list.
pub fn list(kind: Kind, cache: &Cache, mut line: impl FnMut(&str, &str)) {
    match kind {
        Kind::General => general(cache, &mut line),
        Kind::Settings => settings(cache, &mut line),
        Kind::Items => items(cache, &mut line),
        Kind::Slabs => slabs(cache, &mut line),
        // What memcached says too, unless it was told to keep count of them.
        Kind::Sizes => line("sizes_status", "disabled"),
        Kind::Connections => {}
    }
}

fn general(cache: &Cache, line: &mut impl FnMut(&str, &str)) {
    let Cache { store, traffic, now, started, reset } = cache;
    let moved = |count: fn(&Traffic) -> u64| count(traffic) - count(&reset.traffic);
    let counted = |count: fn(&Statistics) -> u64| counted(cache, count);
    // A component has no process of its own; clients expect a number.
    line("pid", "1");
    line("uptime", &now.saturating_sub(*started).to_string());
    line("time", &now.to_string());
    line("version", VERSION);
    line("pointer_size", &usize::BITS.to_string());
    for (name, value) in [
        ("max_connections", traffic.connections_limit),
        ("curr_connections", traffic.connections),
        ("total_connections", moved(|traffic| traffic.connections_accepted)),
        ("cmd_get", counted(|counts| counts.get_hits + counts.get_misses)),
        ("cmd_set", counted(|counts| counts.cmd_set)),
        ("cmd_flush", counted(|counts| counts.cmd_flush)),
        ("cmd_touch", counted(|counts| counts.touch_hits + counts.touch_misses)),
        ("get_hits", counted(|counts| counts.get_hits)),
        ("get_misses", counted(|counts| counts.get_misses)),
        ("get_expired", counted(|counts| counts.get_expired)),
        ("get_flushed", counted(|counts| counts.get_flushed)),
        ("delete_misses", counted(|counts| counts.delete_misses)),
        ("delete_hits", counted(|counts| counts.delete_hits)),
        ("incr_misses", counted(|counts| counts.incr_misses)),
        ("incr_hits", counted(|counts| counts.incr_hits)),
        ("decr_misses", counted(|counts| counts.decr_misses)),
        ("decr_hits", counted(|counts| counts.decr_hits)),
        ("cas_misses", counted(|counts| counts.cas_misses)),
        ("cas_hits", counted(|counts| counts.cas_hits)),
        ("cas_badval", counted(|counts| counts.cas_badval)),
        ("touch_hits", counted(|counts| counts.touch_hits)),
        ("touch_misses", counted(|counts| counts.touch_misses)),
        ("bytes_read", moved(|traffic| traffic.bytes_read)),
        ("bytes_written", moved(|traffic| traffic.bytes_written)),
        ("limit_maxbytes", store.limit() as u64),
        ("threads", 1),
        ("bytes", store.bytes()),
        ("curr_items", store.items()),
        ("total_items", counted(|counts| counts.total_items)),
        ("evictions", counted(|counts| counts.evictions)),
        ("reclaimed", counted(|counts| counts.reclaimed)),
    ] {
        line(name, &value.to_string());
    }
}

/// What the store has counted since the last reset.
fn counted(cache: &Cache, count: fn(&Statistics) -> u64) -> u64 {
    count(cache.store.statistics()) - count(&cache.reset.store)
}

fn settings(cache: &Cache, line: &mut impl FnMut(&str, &str)) {
    line("maxbytes", &cache.store.limit().to_string());
    line("maxconns", &cache.traffic.connections_limit.to_string());
    line("evictions", "on");
    line("cas_enabled", "yes");
    line("item_size_max", &cache.store.max_item().to_string());
    line("num_threads", "1");
    line("binding_protocol", "auto-negotiate");
    line("flush_enabled", "yes");
}

/// There is one class of items for all sizes: the first.
fn items(cache: &Cache, line: &mut impl FnMut(&str, &str)) {
    if cache.store.items() == 0 {
        return;
    }
    line("items:1:number", &cache.store.items().to_string());
    line("items:1:evicted", &counted(cache, |counts| counts.evictions).to_string());
    line("items:1:reclaimed", &counted(cache, |counts| counts.reclaimed).to_string());
}

fn slabs(cache: &Cache, line: &mut impl FnMut(&str, &str)) {
    line("active_slabs", "1");
    line("total_malloced", &cache.store.bytes().to_string());
}
