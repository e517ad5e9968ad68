//! Files that somebody names: bounded, text, and an error that says which of these it was not.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The text of a file of at most `most` bytes. The error is a clause about the file, without its name.
pub fn text(path: &Path, most: u64) -> Result<String, String> {
    let unreadable = |error: std::io::Error| format!("cannot be read: {error}");
    let file = File::open(path).map_err(unreadable)?;
    if file.metadata().map_err(unreadable)?.is_dir() {
        return Err("is a folder: name a file in it".to_owned());
    }
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > most {
        return Err(format!("is too large: at most {}", crate::units::bytes_text(most)));
    }
    String::from_utf8(bytes).map_err(|error| {
        format!("is not UTF-8 text, from byte {} on: save it as that", error.utf8_error().valid_up_to())
    })
}
