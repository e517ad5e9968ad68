//! Compiles the schema to messages.

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=cache.proto");
    let schema = protox::compile(["cache.proto"], ["."])?;
    prost_build::Config::new().bytes(["."]).compile_fds(schema)?;
    Ok(())
}
