//! Does nothing: what a run costs when the guest costs nothing. It imports nothing of `wrun:net`.

fn main() {}
