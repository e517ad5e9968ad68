//! The store against a model that has all the memory there is.

use std::collections::HashMap;

use proptest::prelude::*;

use super::*;
use crate::number;

const NOW: Seconds = 1_700_000_000;

/// One call.
#[derive(Debug, Clone)]
enum Call {
    Write(Mode, u8, Vec<u8>),
    Get(u8),
    Delete(u8),
    Count(u8, Change),
    Touch(u8, i64),
    Flush,
    Wait(u32),
    /// A value that is begun and given up.
    GiveUp(u8, usize),
}

fn call() -> impl Strategy<Value = Call> {
    let mode = prop_oneof![
        4 => Just(Mode::Set),
        1 => Just(Mode::Add),
        1 => Just(Mode::Replace),
        1 => Just(Mode::Append),
        1 => Just(Mode::Prepend),
    ];
    let value = prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..700),
        any::<u64>().prop_map(|number| number.to_string().into_bytes()),
    ];
    let key = || 0..8_u8;
    prop_oneof![
        6 => (mode, key(), value).prop_map(|(mode, key, value)| Call::Write(mode, key, value)),
        6 => key().prop_map(Call::Get),
        2 => key().prop_map(Call::Delete),
        2 => (key(), any::<u64>()).prop_map(|(key, by)| Call::Count(key, Change::Up(by))),
        2 => (key(), any::<u64>()).prop_map(|(key, by)| Call::Count(key, Change::Down(by))),
        2 => (key(), -1..5_i64).prop_map(|(key, expiry)| Call::Touch(key, expiry)),
        1 => Just(Call::Flush),
        1 => (0..3_u32).prop_map(Call::Wait),
        1 => (key(), 0..2000_usize).prop_map(|(key, length)| Call::GiveUp(key, length)),
    ]
}

/// The bytes of a key; some are longer than what a first block holds.
fn name(key: u8) -> Vec<u8> {
    vec![b'a' + key; 1 + usize::from(key) * 35]
}

/// What an item is to be.
#[derive(Debug, Clone, PartialEq)]
struct Kept {
    value: Vec<u8>,
    expiry: Expiry,
}

fn value_of(item: Item<'_>) -> Vec<u8> {
    item.value().flatten().copied().collect()
}

fn write(store: &mut Store, mode: Mode, key: &[u8], value: &[u8], now: Seconds) -> Result<Outcome, Refusal> {
    let mut draft = store.draft(key, value.len(), Intent { mode, ..Intent::default() }, now)?;
    for piece in value.chunks(97) {
        if let Err(refusal) = store.write(&mut draft, piece) {
            store.discard(draft);
            return Err(refusal);
        }
    }
    Ok(store.finish(draft, now))
}

/// What the model says to a write.
fn model_write(model: &mut HashMap<u8, Kept>, mode: Mode, key: u8, value: &[u8]) -> bool {
    let old = model.get(&key).cloned();
    let new = match (mode, old) {
        (Mode::Set | Mode::Add, None) | (Mode::Set | Mode::Replace, Some(_)) => {
            Kept { value: value.to_vec(), expiry: Expiry::NEVER }
        }
        (Mode::Append, Some(old)) => Kept { value: [&old.value, value].concat(), ..old },
        (Mode::Prepend, Some(old)) => Kept { value: [value, &old.value].concat(), ..old },
        _ => return false,
    };
    model.insert(key, new);
    true
}

/// What the model says to a count.
fn model_count(model: &mut HashMap<u8, Kept>, key: u8, change: Change) -> Counted {
    let Some(kept) = model.get_mut(&key) else { return Counted::NotFound };
    let Some(before) = number::unsigned(&kept.value) else { return Counted::NoNumber };
    let after = match change {
        Change::Up(by) => before.wrapping_add(by),
        Change::Down(by) => before.saturating_sub(by),
    };
    // What gets shorter is padded.
    let width = kept.value.len();
    kept.value = format!("{after:<width$}").into_bytes();
    Counted::Number(after)
}

proptest! {
    #[test]
    fn while_there_is_room_the_store_does_what_a_map_does(calls in proptest::collection::vec(call(), 1..120)) {
        let mut store = Store::new(1 << 20, 1 << 18);
        let mut model: HashMap<u8, Kept> = HashMap::new();
        let mut now = NOW;
        for call in calls {
            model.retain(|_, kept| !kept.expiry.has_passed(now));
            match call {
                Call::Write(mode, key, value) => {
                    let stored = matches!(write(&mut store, mode, &name(key), &value, now), Ok(Outcome::Stored(_)));
                    prop_assert_eq!(stored, model_write(&mut model, mode, key, &value));
                }
                Call::Get(key) => {
                    let found = store.get(&name(key), now).map(|item| Kept { value: value_of(item), expiry: item.expiry() });
                    prop_assert_eq!(found.as_ref(), model.get(&key));
                }
                Call::Delete(key) => prop_assert_eq!(store.delete(&name(key), now), model.remove(&key).is_some()),
                Call::Count(key, change) => {
                    prop_assert_eq!(store.count(&name(key), change, 0, now), model_count(&mut model, key, change));
                }
                Call::Touch(key, expiry) => {
                    let expiry = Expiry::from_client(expiry, now);
                    let touched = store.touch(&name(key), expiry, now).is_some();
                    let kept = model.get_mut(&key);
                    prop_assert_eq!(touched, kept.is_some());
                    kept.into_iter().for_each(|kept| kept.expiry = expiry);
                }
                Call::Flush => {
                    store.flush(Flush::Now, now);
                    model.clear();
                }
                Call::Wait(seconds) => now += seconds,
                Call::GiveUp(key, length) => {
                    let mut draft = store.draft(&name(key), length, Intent { mode: Mode::Add, ..Intent::default() }, now);
                    if let Ok(draft) = &mut draft {
                        let _ = store.write(draft, &vec![b'x'; length / 2]);
                    }
                    draft.into_iter().for_each(|draft| store.discard(draft));
                }
            }
        }
    }

    #[test]
    fn in_little_memory_what_is_found_is_what_was_stored_last_and_nothing_is_lost(
        calls in proptest::collection::vec(call(), 1..300)
    ) {
        let mut store = Store::new(8 << 10, 4 << 10);
        let mut last: HashMap<u8, Vec<u8>> = HashMap::new();
        for call in calls {
            match call {
                Call::Write(mode @ (Mode::Set | Mode::Add), key, value) => {
                    let outcome = write(&mut store, mode, &name(key), &value, NOW);
                    prop_assert!(outcome.is_ok());
                    if let Ok(Outcome::Stored(_)) = outcome {
                        last.insert(key, value);
                    }
                }
                Call::Write(mode, key, value) => {
                    // It may find no room for what comes of it; then what was there stays, or is forgotten.
                    let outcome = write(&mut store, mode, &name(key), &value, NOW);
                    if let Ok(Outcome::Stored(_)) = outcome {
                        let old = last.remove(&key).unwrap_or_default();
                        last.insert(key, match mode {
                            Mode::Append => [old, value].concat(),
                            Mode::Prepend => [value, old].concat(),
                            _ => value,
                        });
                    }
                }
                Call::Get(key) => {
                    if let Some(item) = store.get(&name(key), NOW) {
                        prop_assert_eq!(Some(&value_of(item)), last.get(&key));
                    }
                }
                Call::Delete(key) => {
                    store.delete(&name(key), NOW);
                }
                _ => {}
            }
            prop_assert!(store.bytes() <= 8 << 10);
        }
        // Every block is either an item's or free: with all items gone, none is in use.
        for key in 0..8 {
            store.remove(&name(key), NOW);
        }
        prop_assert_eq!((store.items(), store.bytes()), (0, 0));
    }
}

#[test]
fn the_least_recently_used_is_forgotten_first() {
    let mut store = Store::new(64 << 10, 32 << 10);
    for key in 0..40_u8 {
        store.set(&[b'k', key + 33], &[0; 1000], 0, Expiry::NEVER, NOW).expect("there is room for this much");
    }
    // The first is used, the second is not.
    assert!(store.get(&[b'k', 33], NOW).is_some());
    let mut key = 40_u8;
    while store.statistics().evictions == 0 {
        store.set(&[b'k', key + 33], &[0; 1000], 0, Expiry::NEVER, NOW).expect("room is made");
        key += 1;
    }
    assert!(store.get(&[b'k', 33], NOW).is_some());
    assert!(store.get(&[b'k', 34], NOW).is_none());
}

#[test]
fn what_is_flushed_later_is_there_until_then_and_what_comes_after_that_second_stays() {
    let mut store = Store::new(64 << 10, 32 << 10);
    store.set(b"before", b"x", 0, Expiry::NEVER, NOW).expect("there is room");
    store.flush(Flush::In(NOW + 10), NOW);
    assert!(store.get(b"before", NOW + 9).is_some());
    assert!(store.get(b"before", NOW + 10).is_none());
    store.set(b"meanwhile", b"x", 0, Expiry::NEVER, NOW + 10).expect("there is room");
    assert!(store.get(b"meanwhile", NOW + 10).is_none());
    store.set(b"after", b"x", 0, Expiry::NEVER, NOW + 11).expect("there is room");
    assert!(store.get(b"after", NOW + 20).is_some());
}

#[test]
fn a_flush_in_a_second_in_which_nobody_asks_takes_what_was_stored_before_and_not_what_is_stored_after() {
    let mut store = Store::new(64 << 10, 32 << 10);
    store.set(b"before", b"x", 0, Expiry::NEVER, NOW).expect("there is room");
    store.flush(Flush::In(NOW + 10), NOW);
    store.set(b"after", b"x", 0, Expiry::NEVER, NOW + 20).expect("there is room");
    assert!(store.get(b"before", NOW + 20).is_none());
    assert!(store.get(b"after", NOW + 20).is_some());
}

#[test]
fn a_flush_that_is_called_off_leaves_everything() {
    let mut store = Store::new(64 << 10, 32 << 10);
    store.set(b"k", b"x", 0, Expiry::NEVER, NOW).expect("there is room");
    store.flush(Flush::In(NOW + 10), NOW);
    store.flush(Flush::Never, NOW);
    assert!(store.get(b"k", NOW + 20).is_some());
    // A second that is over is now, and what is stored after that stays.
    store.flush(Flush::In(NOW + 10), NOW + 20);
    assert!(store.get(b"k", NOW + 20).is_none());
    store.set(b"k", b"x", 0, Expiry::NEVER, NOW + 20).expect("there is room");
    assert!(store.get(b"k", NOW + 20).is_some());
}

#[test]
fn items_are_refused_at_memcached_s_size_and_a_set_that_is_refused_removes_what_was_there() {
    let mut store = Store::new(4 << 20, 1 << 20);
    let largest = (1 << 20) - ITEM_OVERHEAD - 1;
    assert!(store.set(b"k", &vec![0; largest], 0, Expiry::NEVER, NOW).is_ok());
    assert_eq!(store.set(b"k", &vec![0; largest + 1], 0, Expiry::NEVER, NOW), Err(Refusal::TooLarge));
    assert!(store.get(b"k", NOW).is_none());
    assert_eq!(store.set(b"k", &vec![0; largest], 1, Expiry::NEVER, NOW), Err(Refusal::TooLarge));
}

#[test]
fn a_value_that_is_being_written_survives_a_flush_and_everything_else_being_forgotten() {
    let mut store = Store::new(32 << 10, 16 << 10);
    let mut draft = store.draft(b"slow", 8000, Intent::default(), NOW).expect("there is room");
    store.write(&mut draft, &[b'a'; 4000]).expect("there is room");
    store.flush(Flush::Now, NOW);
    for key in 0..100_u8 {
        store.set(&[b'k', key + 33], &[b'x'; 3000], 0, Expiry::NEVER, NOW).expect("room is made");
    }
    store.write(&mut draft, &[b'b'; 4000]).expect("room is made");
    assert!(matches!(store.finish(draft, NOW), Outcome::Stored(_)));
    let value = store.get(b"slow", NOW).map(value_of).expect("it was just stored");
    assert_eq!(value, [[b'a'; 4000], [b'b'; 4000]].concat());
}
