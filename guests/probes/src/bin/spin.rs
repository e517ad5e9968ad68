//! Prints a line, and then spins for ever without calling the host: only a host that interrupts guests can end it.

fn main() {
    println!("spinning");
    let mut turns = 0_u64;
    loop {
        turns = std::hint::black_box(turns).wrapping_add(1);
    }
}
