//! Calls that never wait, and always see what is there.

use std::io;

/// Makes a call that never waits by `by_tokio`, which is one of tokio's `try_io`; or directly where that does not call.
///
/// tokio keeps in mind that a socket had nothing, answers so by itself, and hears otherwise only when the thread next
/// waits. Somebody who asks again and again without waiting is to see what has come meanwhile, so the kernel is asked
/// then. Such a call leaves alone what tokio keeps in mind: only `try_io`, which looked at it before the call, may take
/// readiness back without losing a wake-up.
pub fn ask<T>(
    mut call: impl FnMut() -> io::Result<T>,
    by_tokio: impl FnOnce(&mut dyn FnMut() -> io::Result<T>) -> io::Result<T>,
) -> io::Result<T> {
    let mut asked = false;
    let answer = by_tokio(&mut || {
        asked = true;
        call()
    });
    if asked { answer } else { call() }
}
