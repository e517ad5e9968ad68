//! What a store counts, by memcached's names.

/// Counts since the start.
#[derive(Debug, Clone, Copy, Default)]
pub struct Statistics {
    pub get_hits: u64,
    pub get_misses: u64,
    /// Misses of something that had expired.
    pub get_expired: u64,
    /// Misses of something that was flushed.
    pub get_flushed: u64,
    /// Values that came to be stored, whether they were or not.
    pub cmd_set: u64,
    pub cmd_flush: u64,
    pub delete_hits: u64,
    pub delete_misses: u64,
    pub incr_hits: u64,
    pub incr_misses: u64,
    pub decr_hits: u64,
    pub decr_misses: u64,
    pub cas_hits: u64,
    pub cas_misses: u64,
    /// Items there with another cas.
    pub cas_badval: u64,
    pub touch_hits: u64,
    pub touch_misses: u64,
    /// Items that were forgotten to make room.
    pub evictions: u64,
    /// Flushed items whose room was used again.
    pub reclaimed: u64,
    /// Items stored, since the start.
    pub total_items: u64,
}
