//! Compiled guests, kept in the user's cache folder.
//!
//! A compiled guest is machine code, and loading it trusts the file: the folder is for its owner only, and is not used
//! otherwise. The name of a file is the guest's hash and that of everything the code depends on: the engine's version
//! and settings, and wrun's own version. Beside each file stands its checksum, so that a damaged one is not loaded.
//! Whatever goes wrong here only costs a compilation: nothing here fails.

use std::fs::{self, DirBuilder};
use std::hash::{Hash, Hasher};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use wasmtime::Engine;
use wasmtime::component::Component;
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

/// The most bytes of compiled guests that are kept; the least recently used go first.
const MAX_BYTES: u64 = 1 << 30;

/// The age at which a file that belongs to nothing was surely left behind.
const LEFTOVER: Duration = Duration::from_secs(24 * 60 * 60);

pub struct Cache {
    folder: PathBuf,
}

impl Cache {
    /// The user's cache, made if it is not there. `None` where there is no place for one that is the user's alone.
    pub fn open() -> Option<Self> {
        let base = match std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from) {
            Some(path) if path.is_absolute() => path,
            _ => PathBuf::from(std::env::var_os("HOME")?).join(".cache"),
        };
        Self::at(&base.join("wrun"))
    }

    fn at(folder: &Path) -> Option<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(folder).ok()?;
        let about = fs::symlink_metadata(folder).ok()?;
        let private = about.is_dir() && about.mode() & 0o077 == 0 && about.uid() == rustix::process::geteuid().as_raw();
        private.then(|| Self { folder: folder.to_owned() })
    }

    pub fn get(&self, engine: &Engine, guest: &str) -> Option<Component> {
        let path = self.path(engine, guest);
        let code = fs::read(&path).ok()?;
        if fs::read(checksum_path(&path)).ok()? != checksum(&code) {
            return None;
        }
        drop(code);
        // SAFETY: the file is what `put` wrote: it lies in a folder that only its owner can write, files in it are only
        // ever replaced whole, and its checksum holds. The engine refuses code of another version or of other settings.
        let component = unsafe { Component::deserialize_file(engine, &path) }.ok()?;
        touch(&path);
        Some(component)
    }

    /// Keeps a compiled guest. Each file appears whole or not at all, whoever else is writing it.
    pub fn put(&self, engine: &Engine, guest: &str, component: &Component) {
        let Ok(code) = component.serialize() else { return };
        let path = self.path(engine, guest);
        // The checksum first: code without its checksum is not loaded.
        if self.write(&checksum_path(&path), &checksum(&code)).is_ok() && self.write(&path, &code).is_ok() {
            self.trim();
        }
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> std::io::Result<()> {
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        file.write_all(bytes)?;
        file.persist(path)?;
        Ok(())
    }

    fn path(&self, engine: &Engine, guest: &str) -> PathBuf {
        let mut hasher = Xxh3::new();
        engine.precompile_compatibility_hash().hash(&mut hasher);
        env!("CARGO_PKG_VERSION").hash(&mut hasher);
        self.folder.join(format!("{guest}-{:016x}.cwasm", hasher.finish()))
    }

    /// Removes what was not used for longest, until the rest fits.
    fn trim(&self) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        let mut files = Vec::new();
        for entry in entries.flatten() {
            let path = entry.path();
            let Ok((used, bytes)) = entry.metadata().and_then(|about| Ok((about.modified()?, about.len()))) else {
                continue;
            };
            if path.extension().is_some_and(|extension| extension == "cwasm") {
                files.push((used, bytes, path));
            } else if !path.with_extension("cwasm").exists() && used.elapsed().is_ok_and(|age| age > LEFTOVER) {
                // What a wrun that was killed had begun to write, or a checksum without its code.
                _ = fs::remove_file(path);
            }
        }
        files.sort();
        let mut total: u64 = files.iter().map(|(_, bytes, _)| bytes).sum();
        for (_, bytes, path) in files {
            if total <= MAX_BYTES {
                break;
            }
            // Another wrun may have removed it first.
            _ = fs::remove_file(checksum_path(&path));
            _ = fs::remove_file(&path);
            total -= bytes;
        }
    }
}

fn checksum(code: &[u8]) -> Vec<u8> {
    format!("{:032x}\n", xxh3_128(code)).into_bytes()
}

fn checksum_path(path: &Path) -> PathBuf {
    path.with_extension("sum")
}

/// Marks a file as used now, for `trim`.
fn touch(path: &Path) {
    if let Ok(file) = fs::File::options().append(true).open(path) {
        _ = file.set_modified(std::time::SystemTime::now());
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    const GUEST: &str = "(component)";

    fn cached() -> (tempfile::TempDir, Cache, Engine, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(&folder.path().join("wrun")).unwrap();
        let engine = Engine::default();
        cache.put(&engine, "abc", &Component::new(&engine, GUEST).unwrap());
        let path = cache.path(&engine, "abc");
        (folder, cache, engine, path)
    }

    #[test]
    fn what_was_put_is_got_by_the_same_engine_and_guest_only() {
        let (_folder, cache, engine, _) = cached();
        assert!(cache.get(&engine, "abc").is_some());
        assert!(cache.get(&engine, "abd").is_none());
        let other = Engine::new(wasmtime::Config::new().epoch_interruption(true)).unwrap();
        assert!(cache.get(&other, "abc").is_none());
    }

    #[test]
    fn a_damaged_or_cut_file_is_not_loaded() {
        let (_folder, cache, engine, path) = cached();
        let mut code = fs::read(&path).unwrap();
        let middle = code.len() / 2;
        code[middle] ^= 1;
        fs::write(&path, &code).unwrap();
        assert!(cache.get(&engine, "abc").is_none());
        fs::write(&path, &code[..middle]).unwrap();
        assert!(cache.get(&engine, "abc").is_none());
        fs::write(&path, "").unwrap();
        assert!(cache.get(&engine, "abc").is_none());
    }

    #[test]
    fn a_folder_that_others_can_enter_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let shared = folder.path().join("wrun");
        fs::create_dir(&shared).unwrap();
        fs::set_permissions(&shared, fs::Permissions::from_mode(0o755)).unwrap();
        assert!(Cache::at(&shared).is_none());
        fs::set_permissions(&shared, fs::Permissions::from_mode(0o700)).unwrap();
        assert!(Cache::at(&shared).is_some());
    }
}
