//! Files in the folders that the guest was given (`wrun --dir`).
//!
//! They are read through `wasi:filesystem` directly: `std::fs` cannot be linked with every toolchain for this target.
//! Writing and listing are left out.

use std::io::{self, ErrorKind};

use wasip2::filesystem::preopens::get_directories;
use wasip2::filesystem::types::{DescriptorFlags, ErrorCode, OpenFlags, PathFlags};

/// Bytes asked for at a time.
const PIECE: u64 = 64 * 1024;

/// All of a file. A path that begins with `/` is looked for in the folders given under such a name, any other in `.`
/// and, as if the guest had been started there, in `/`.
///
/// # Errors
/// With the path, and the standard's name of what went wrong: `read ca.pem: no-entry`. When no folder that was given
/// has the path in it, that is said, with what to do.
pub fn read(path: &str) -> io::Result<Vec<u8>> {
    // Declared before what is opened in them, so that they are dropped after it.
    let folders = get_directories();
    let found = folders
        .iter()
        .filter_map(|(folder, name)| Some((folder, inside(name, path)?)))
        // The innermost folder: it may have been given with other rights than the one around it.
        .min_by_key(|(_, rest)| rest.len());
    let Some((folder, rest)) = found else {
        let text = format!("read {path}: in none of the folders this guest was given; give one with --dir");
        return Err(io::Error::new(ErrorKind::NotFound, text));
    };
    let failed = |code: ErrorCode| io::Error::new(kind(code), format!("read {path}: {}", code.name()));
    let file =
        folder.open_at(PathFlags::SYMLINK_FOLLOW, rest, OpenFlags::empty(), DescriptorFlags::READ).map_err(failed)?;
    let mut contents = Vec::new();
    loop {
        let (piece, end) = file.read(PIECE, contents.len() as u64).map_err(failed)?;
        let nothing = piece.is_empty();
        contents.extend(piece);
        if end || nothing {
            return Ok(contents);
        }
    }
}

/// The part of `path` below a folder of this name, if it is there.
fn inside<'a>(folder: &str, path: &'a str) -> Option<&'a str> {
    let path = path.trim_start_matches("./");
    let folder = folder.trim_end_matches('/');
    let folder = folder.strip_prefix("./").unwrap_or(folder);
    if folder == "." || folder.is_empty() {
        // `.` holds what is relative, `/` everything.
        let relative = path.trim_start_matches('/');
        return (folder.is_empty() || !path.starts_with('/')).then_some(relative);
    }
    path.strip_prefix(folder)?.strip_prefix('/')
}

fn kind(code: ErrorCode) -> ErrorKind {
    match code {
        ErrorCode::NoEntry => ErrorKind::NotFound,
        ErrorCode::Access | ErrorCode::NotPermitted => ErrorKind::PermissionDenied,
        ErrorCode::IsDirectory => ErrorKind::IsADirectory,
        ErrorCode::NotDirectory => ErrorKind::NotADirectory,
        _ => ErrorKind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_found_below_the_folder_that_holds_it() {
        for (folder, path, rest) in [
            (".", "ca.pem", Some("ca.pem")),
            (".", "./sub/ca.pem", Some("sub/ca.pem")),
            (".", "/ca.pem", None),
            ("/", "/etc/ca.pem", Some("etc/ca.pem")),
            ("/", "ca.pem", Some("ca.pem")),
            ("/certs", "/certs/ca.pem", Some("ca.pem")),
            ("/certs/", "/certs/ca.pem", Some("ca.pem")),
            ("/certs", "/certs2/ca.pem", None),
            ("/certs", "ca.pem", None),
            ("certs", "certs/ca.pem", Some("ca.pem")),
            ("certs", "other/ca.pem", None),
        ] {
            assert_eq!(inside(folder, path), rest, "{path} in {folder}");
        }
    }
}
