//! Makes the server's side of the service from the schema that guests have too.

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    const SCHEMA: &str = "../../guests/cache-rpc/cache.proto";
    println!("cargo::rerun-if-changed={SCHEMA}");
    let schema = protox::compile([SCHEMA], ["../../guests/cache-rpc"])?;
    tonic_prost_build::configure().build_client(false).extern_path(".cache.v1", "::cache_rpc").compile_fds(schema)?;
    Ok(())
}
