//! From a file to a component that can be run, or to words that say why not.

use std::fmt;
use std::path::Path;

use sha2::{Digest, Sha256};
use wasmtime::Engine;
use wasmtime::component::Component;

use super::cache::Cache;
use super::{Host, Prepared, imports};

/// A guest that can be run.
pub struct Guest {
    pub prepared: Prepared,
    pub about: About,
}

/// What can be said of a guest without running it.
#[derive(Debug, Clone)]
pub struct About {
    /// The file's name.
    pub name: String,
    /// In hexadecimal.
    pub sha256: String,
    pub bytes: u64,
    /// Interfaces it imports, in its own order.
    pub imports: Vec<String>,
    pub exports: Vec<String>,
}

/// Why a file is no guest that wrun can run.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error("{path}: cannot be read: {error}")]
    Read { path: String, error: std::io::Error },
    #[error("{0}: is a folder; name the component in it")]
    Folder(String),
    #[error("{0}: is not a file; a guest is a file with a component")]
    NotFile(String),
    #[error("{0}: is not WebAssembly; a guest is a component, as built for the target wasm32-wasip2")]
    NotWasm(String),
    #[error("{0}: is WebAssembly as text; make a component of it with `wasm-tools parse`")]
    Text(String),
    #[error(
        "{0}: is a core WebAssembly module, not a component; build it for the target wasm32-wasip2, or make a component \
         of it with `wasm-tools component new`"
    )]
    CoreModule(String),
    #[error("{path}: is damaged, or built for a newer WebAssembly: {error:#}")]
    Invalid { path: String, error: wasmtime::Error },
    #[error("{path}: {problem}")]
    CannotRun { path: String, problem: Problem },
}

/// Why a component, whole as it is, cannot be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// It is no command. Holds its exports.
    NoRun(Vec<String>),
    /// It is a command of a version of WASI that wrun does not run.
    OtherWasi(String),
    /// It imports what wrun lacks.
    Missing(Vec<String>),
    /// The names are right, and what is behind them is not.
    Misfit(String),
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRun(exports) if exports.is_empty() => f.write_str(
                "exports nothing, and a guest exports wasi:cli/run@0.2: build it as a program, not a library",
            ),
            Self::NoRun(exports) => write!(
                f,
                "exports {}, and a guest exports wasi:cli/run@0.2: build it as a program, not a library",
                exports.join(", ")
            ),
            Self::OtherWasi(version) => {
                write!(f, "is a command of WASI {version}, and wrun runs those of WASI 0.2: build it for wasm32-wasip2")
            }
            Self::Missing(imports) => write!(
                f,
                "imports what wrun lacks: {}; wrun provides wasi:cli, clocks, filesystem, io, random and sockets of \
                 version 0.2, and wrun:net@0.1",
                imports.join(", ")
            ),
            Self::Misfit(why) => write!(
                f,
                "does not fit what wrun provides, as when it was built for a newer WASI than {}: {why}",
                imports::NEWEST
            ),
        }
    }
}

impl About {
    /// What keeps wrun from running it, as far as its names say.
    fn problem(&self) -> Option<Problem> {
        let versions: Vec<_> = self.exports.iter().filter_map(|export| imports::command_version(export)).collect();
        if !versions.iter().any(|version| imports::runs(version)) {
            return Some(match versions.first() {
                Some(version) => Problem::OtherWasi((*version).to_owned()),
                None => Problem::NoRun(self.exports.clone()),
            });
        }
        let missing: Vec<_> = self.imports.iter().filter(|import| !imports::provided(import)).cloned().collect();
        (!missing.is_empty()).then_some(Problem::Missing(missing))
    }
}

impl Guest {
    /// Loads a guest that can be run. Compiles it, unless the cache has it.
    pub fn load(host: &Host, path: &Path, cache: Option<&Cache>) -> Result<Self, LoadError> {
        let (component, about) = load(&host.engine, path, cache)?;
        match prepare(host, &component, &about) {
            Ok(prepared) => Ok(Self { prepared, about }),
            Err(problem) => Err(LoadError::CannotRun { path: path.display().to_string(), problem }),
        }
    }
}

/// What can be said of a component, and what keeps it from being run.
pub fn examine(host: &Host, path: &Path) -> Result<(About, Option<Problem>), LoadError> {
    let (component, about) = load(&host.engine, path, None)?;
    let problem = prepare(host, &component, &about).err();
    Ok((about, problem))
}

fn prepare(host: &Host, component: &Component, about: &About) -> Result<Prepared, Problem> {
    match about.problem() {
        Some(problem) => Err(problem),
        None => host.prepare(component).map_err(|error| Problem::Misfit(format!("{error:#}"))),
    }
}

/// Loads any component, also one that cannot be run.
fn load(engine: &Engine, path: &Path, cache: Option<&Cache>) -> Result<(Component, About), LoadError> {
    let shown = path.display().to_string();
    let read_error = |error| LoadError::Read { path: shown.clone(), error };
    let kind = std::fs::metadata(path).map_err(read_error)?.file_type();
    if kind.is_dir() {
        return Err(LoadError::Folder(shown));
    }
    // A device or a pipe may never end.
    if !kind.is_file() {
        return Err(LoadError::NotFile(shown));
    }
    let bytes = std::fs::read(path).map_err(read_error)?;
    // Magic number, then a version that tells modules (1) from components (13, layer 1).
    match bytes.get(..8) {
        Some([b'\0', b'a', b's', b'm', 1, 0, 0, 0]) => return Err(LoadError::CoreModule(shown)),
        Some([b'\0', b'a', b's', b'm', ..]) => {}
        _ if bytes.trim_ascii_start().starts_with(b"(") => return Err(LoadError::Text(shown)),
        _ => return Err(LoadError::NotWasm(shown)),
    }
    let sha256 = hex(&Sha256::digest(&bytes));
    let component = match cache.and_then(|cache| cache.get(engine, &sha256)) {
        Some(component) => component,
        None => {
            let component =
                Component::from_binary(engine, &bytes).map_err(|error| LoadError::Invalid { path: shown, error })?;
            if let Some(cache) = cache {
                cache.put(engine, &sha256, &component);
            }
            component
        }
    };
    let kind = component.component_type();
    let about = About {
        name: path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned()),
        sha256,
        bytes: bytes.len() as u64,
        imports: kind.imports(engine).map(|(name, _)| name.to_owned()).collect(),
        exports: kind.exports(engine).map(|(name, _)| name.to_owned()).collect(),
    };
    Ok((component, about))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
