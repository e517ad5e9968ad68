//! Prints what it was given: its arguments, its environment in order, and the file of `--read PATH`.

use std::process::ExitCode;

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
        Ok(())
    })
}
