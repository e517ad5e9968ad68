//! A session that is given bytes whole and in pieces: it must not panic, must say the same unless a line is so long that it
//! is not waited for, and must give back what it took of the store.

use cache::server::{Cache, Session, Wants};
use cache::store::Store;

/// Somewhat less than the longest line that is waited for.
const LONG: usize = 2000;

/// Any time will do.
const NOW: u32 = 1_700_000_000;

pub fn feed(start: &[u8], input: &[u8]) {
    let bytes = [start, input].concat();
    let whole = answers([bytes.as_slice()].into_iter());
    // Pieces of sizes that the bytes themselves choose, so that a finding is found again.
    let size = 1 + usize::from(input.first().copied().unwrap_or(0)) % 50;
    let pieces = answers(bytes.chunks(size));
    let is_text = bytes.first() != Some(&0x80);
    if is_text && bytes.split(|byte| *byte == b'\n').any(|line| line.len() > LONG) {
        return;
    }
    assert_eq!(whole, pieces, "in pieces of {size}");
}

fn answers<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut cache = Cache::new(Store::new(256 << 10, 64 << 10), NOW);
    let mut session = Session::default();
    let (mut input, mut answers) = (Vec::new(), Vec::new());
    'pieces: for piece in pieces {
        input.extend_from_slice(piece);
        loop {
            let mut output = Vec::new();
            let (used, wants) = session.receive(&input, &mut output, &mut cache);
            input.drain(..used);
            answers.append(&mut output);
            match wants {
                Wants::Room => {}
                Wants::Input => break,
                Wants::Close => break 'pieces,
            }
        }
    }
    session.close(&mut cache.store);
    assert!(cache.store.items() > 0 || cache.store.bytes() == 0, "memory is lost");
    answers
}
