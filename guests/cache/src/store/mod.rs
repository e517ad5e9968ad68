//! What is kept: values by key, within a bound of memory, the least recently used forgotten first.
