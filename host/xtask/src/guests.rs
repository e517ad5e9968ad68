//! Builds the guests' workspace, and makes sure that components came out.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

use anyhow::{Context as _, Result, ensure};

use crate::command::stdout;
use crate::repo::Repo;
use crate::toolchain::Tools;

/// Builds every guest for release, and gives where they lie.
pub fn build(repo: &Repo, tools: &Tools) -> Result<Vec<PathBuf>> {
    let mut command = tools.rust.cargo(repo, "build")?;
    command.args(["--release", "--message-format", "json-render-diagnostics"]);
    tools.c.tell(&mut command);
    let built = programs(&stdout(&mut command)?);
    ensure!(!built.is_empty(), "{} has no guest to build", repo.guests().display());
    for guest in &built {
        let component = is_component(guest).with_context(|| format!("cannot read {}", guest.display()))?;
        ensure!(component, "{} is not a component; the linker was not wasm-component-ld", guest.display());
    }
    Ok(built)
}

/// The programs that cargo's messages, one JSON object a line, say were built or are fresh.
fn programs(messages: &str) -> Vec<PathBuf> {
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    messages.filter_map(|message| message["executable"].as_str().map(PathBuf::from)).collect()
}

/// Whether a file begins as components do: the magic, version 13, layer 1.
fn is_component(file: &Path) -> io::Result<bool> {
    let mut start = [0; 8];
    fs::File::open(file)?.read_exact(&mut start)?;
    Ok(start == *b"\0asm\x0d\0\x01\0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_programs_are_taken_from_cargos_messages() {
        let messages = concat!(
            r#"{"reason":"compiler-artifact","executable":null}"#,
            "\n",
            r#"{"reason":"compiler-artifact","executable":"/t/a.wasm"}"#,
            "\nnot json\n",
            r#"{"reason":"build-finished","success":true}"#,
        );
        assert_eq!(programs(messages), [PathBuf::from("/t/a.wasm")]);
    }

    #[test]
    fn a_core_module_is_not_a_component() {
        let file = std::env::temp_dir().join(format!("xtask-core-{}.wasm", std::process::id()));
        fs::write(&file, b"\0asm\x01\0\0\0").unwrap();
        let component = is_component(&file);
        fs::remove_file(&file).unwrap();
        assert!(!component.unwrap());
    }
}
