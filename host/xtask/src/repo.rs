//! Where things lie.

use std::path::{Path, PathBuf};

/// The clone this xtask was built from.
pub struct Repo {
    pub root: PathBuf,
    /// Cargo's folder for the host workspace, wherever the user's settings put it.
    pub target: PathBuf,
}

impl Repo {
    pub fn here() -> Self {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = manifest.ancestors().nth(2).unwrap_or(manifest).to_owned();
        // Cargo has put this program into TARGET/PROFILE/xtask.
        let target = std::env::current_exe().ok().and_then(|exe| exe.ancestors().nth(2).map(Path::to_owned));
        Self { target: target.unwrap_or_else(|| root.join("target")), root }
    }

    /// The guests' workspace.
    pub fn guests(&self) -> PathBuf {
        self.root.join("guests")
    }

    /// A built guest, by the name of its program.
    pub fn guest(&self, name: &str) -> PathBuf {
        self.guests().join("target/wasm32-wasip2/release").join(format!("{name}.wasm"))
    }

    /// A built program of the host workspace; `profile` is the folder's name, `debug` or `release`.
    pub fn program(&self, profile: &str, name: &str) -> PathBuf {
        self.target.join(profile).join(name)
    }
}
