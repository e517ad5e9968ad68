//! Traps three calls deep, so that a backtrace with files and lines has something to show.

fn main() {
    outer(std::env::args().count());
}

#[inline(never)]
fn outer(depth: usize) {
    middle(depth + 1);
}

#[inline(never)]
fn middle(depth: usize) {
    inner(depth + 1);
}

#[inline(never)]
fn inner(depth: usize) {
    panic!("this guest traps on purpose, {depth} deep");
}
