//! Prints what it was given: its arguments, its environment in order, and the file of `--read PATH`. `--write PATH TEXT`
//! makes a file, or prints the code of why it could not.

use std::process::ExitCode;

use wasip2::filesystem::preopens::get_directories;
use wasip2::filesystem::types::{DescriptorFlags, ErrorCode, OpenFlags, PathFlags};
use wrun_guest::files;

fn main() -> ExitCode {
    wrun_guest::run(|| {
        let arguments: Vec<String> = std::env::args().skip(1).collect();
        for argument in &arguments {
            println!("argument {argument}");
        }
        let mut variables: Vec<(String, String)> = std::env::vars().collect();
        variables.sort();
        for (name, value) in variables {
            println!("environment {name}={value}");
        }
        for pair in arguments.windows(2).filter(|pair| pair[0] == "--read") {
            let contents = files::read(&pair[1])?;
            println!("file {} of {} bytes: {}", pair[1], contents.len(), String::from_utf8_lossy(&contents).trim_end());
        }
        for three in arguments.windows(3).filter(|three| three[0] == "--write") {
            let answer = write(&three[1], three[2].as_bytes()).map_or_else(|code| code.name(), |()| "ok");
            println!("write {} -> {answer}", three[1]);
        }
        Ok(())
    })
}

/// The SDK only reads, so this is done on the bare bindings. The path begins with the name of a folder it was given.
fn write(path: &str, text: &[u8]) -> Result<(), ErrorCode> {
    let folders = get_directories();
    let (folder, rest) = folders
        .iter()
        .find_map(|(folder, name)| Some((folder, path.strip_prefix(name)?.strip_prefix('/')?)))
        .ok_or(ErrorCode::NoEntry)?;
    let create = OpenFlags::CREATE | OpenFlags::TRUNCATE;
    let file = folder.open_at(PathFlags::empty(), rest, create, DescriptorFlags::WRITE)?;
    let written = file.write(text, 0)?;
    if written == text.len() as u64 { Ok(()) } else { Err(ErrorCode::InsufficientSpace) }
}
