//! Prints for ever: what a run does when nobody reads what its guest says.

fn main() {
    let line = "shouting ".repeat(7);
    loop {
        println!("{line}");
    }
}
