//! Takes memory, a mebibyte at a time and touched, until there is no more to be had.

fn main() {
    let mut hoard = Vec::new();
    loop {
        hoard.push(std::hint::black_box(vec![1_u8; 1 << 20]));
    }
}
