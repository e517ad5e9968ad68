//! A file that is whole at every moment: what is new is written beside it and renamed over it.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Puts what `write` writes in the place of the file. When that fails the file is as it was, and nothing lies beside it.
pub(crate) fn replace(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    // Through a link, so that the file it leads to is replaced and not the link.
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mut file = beside(path)?;
    let mut writer = BufWriter::with_capacity(1 << 16, file.as_file_mut());
    write(&mut writer)?;
    writer.flush()?;
    drop(writer);
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// A new file in the same folder, which goes when it is dropped. No error names it: nobody has asked for it.
pub(crate) fn beside(path: &Path) -> io::Result<tempfile::NamedTempFile> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Made by us, and so with what the umask leaves of the permissions, like any new file.
    let create = |path: &Path| File::options().read(true).write(true).create_new(true).open(path);
    tempfile::Builder::new().prefix(".wrun-").make_in(folder, create)
}
