//! Writing a report while the run goes on, so that a killed run leaves what was measured.
//!
//! Beside the report's file lies another, with `.partial` at the end of its name: a header, then a line for everything
//! that has happened, five times a second. When the run is over the whole report takes the place of the file at once,
//! and the partial one goes. Until then an older report stays as it was.

use std::fs::{self, File, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::changes::{Cursor, Line};
use super::data::Report;
use super::recorder::Recorder;
use crate::replace::replace;

/// Time between two looks for something new.
const PACE: Duration = Duration::from_millis(200);

/// Why a report cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum LiveError {
    #[error("cannot write the report to {}: {why}; name a file in a folder that exists and can be written", path.display())]
    Unwritable { path: PathBuf, why: io::Error },
    #[error(
        "cannot write the report to {}: what is measured meanwhile goes to {}: {why}; move that away, or name another file",
        path.display(), partial.display()
    )]
    Beside { path: PathBuf, partial: PathBuf, why: io::Error },
    #[error("cannot write the report to {}: it is no regular file; name another, or - for the standard output", path.display())]
    NoFile { path: PathBuf },
    #[error("cannot write the report to {}: another wrun is writing to it; wait for it to end or name another file", path.display())]
    Taken { path: PathBuf },
    #[error(
        "the report could not be written to {}: {why}; what was measured may be read with wrun show {}", path.display(),
        partial.display()
    )]
    Unfinished { path: PathBuf, partial: PathBuf, why: io::Error },
}

/// A report that is being written. Dropped unfinished, it leaves the partial file behind.
pub struct Live {
    path: PathBuf,
    partial: PathBuf,
    /// Dropped to stop the thread.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Live {
    /// Begins to write what the recorder is told. The first line is written before this returns, so that a file which
    /// cannot be written is known before the guest starts.
    ///
    /// `after` rounds of the same series are in the report that is at `path` already.
    pub fn start(path: &Path, recorder: Arc<Recorder>, after: u64) -> Result<Self, LiveError> {
        // Through a link, so that the file it leads to is replaced and not the link.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        if path.file_name().is_none() || fs::metadata(&path).is_ok_and(|metadata| !metadata.is_file()) {
            return Err(LiveError::NoFile { path });
        }
        let partial = partial_of(&path);
        let unwritable = |why| LiveError::Unwritable { path: path.clone(), why };
        let unwritable_part = |why| match partial.exists() {
            // It is in the way; else it is as the file itself would be.
            true => LiveError::Beside { path: path.clone(), partial: partial.clone(), why },
            false => unwritable(why),
        };
        if fs::metadata(&path).is_ok_and(|metadata| metadata.permissions().readonly()) {
            return Err(unwritable(io::ErrorKind::PermissionDenied.into()));
        }
        let file = File::options().create(true).write(true).truncate(false).open(&partial).map_err(unwritable_part)?;
        match file.try_lock() {
            // Some file systems have no locks; the lock is a courtesy, and they do without.
            Ok(()) | Err(TryLockError::Error(_)) => {}
            Err(TryLockError::WouldBlock) => return Err(LiveError::Taken { path }),
        }
        file.set_len(0).map_err(unwritable_part)?;
        let mut header = Lines::new(&file);
        header.add(&recorder.first_line(after));
        header.finish().map_err(unwritable_part)?;
        let (stop, stopped) = mpsc::channel();
        let thread = thread::Builder::new()
            .name("report".to_owned())
            .spawn(move || {
                let mut cursor = Cursor::default();
                loop {
                    let at_the_end = stopped.recv_timeout(PACE) != Err(RecvTimeoutError::Timeout);
                    let mut lines = Lines::new(&file);
                    recorder.changes(&mut cursor, at_the_end, &mut |line| lines.add(&line));
                    // A full disk must not end the run. After half a line nothing more is written, since it would look
                    // like damage; whether the whole report can be written is seen at the end.
                    if lines.finish().is_err() || at_the_end {
                        return;
                    }
                }
            })
            .map_err(unwritable)?;
        Ok(Self { path, partial, stop: Some(stop), thread: Some(thread) })
    }

    /// Puts the whole report in the place of the file, and takes the partial one away.
    pub fn finish(mut self, report: &Report) -> Result<(), LiveError> {
        self.stop();
        replace(&self.path, |writer| report.write_json(writer)).map_err(|why| LiveError::Unfinished {
            path: self.path.clone(),
            partial: self.partial.clone(),
            why,
        })?;
        // The report is there; a partial file that cannot be removed is older than it and will not be read.
        let _ = fs::remove_file(&self.partial);
        Ok(())
    }

    fn stop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            // Its panic, if any, was printed; the report does not depend on it.
            let _ = thread.join();
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The file beside a report that holds its lines while the run goes on.
pub fn partial_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".partial");
    name.into()
}

/// Lines on their way to a file, until one cannot be written.
struct Lines<'a> {
    writer: BufWriter<&'a File>,
    result: io::Result<()>,
}

impl<'a> Lines<'a> {
    fn new(file: &'a File) -> Self {
        Self { writer: BufWriter::with_capacity(1 << 16, file), result: Ok(()) }
    }

    fn add(&mut self, line: &Line) {
        if self.result.is_ok() {
            let written = serde_json::to_writer(&mut self.writer, line).map_err(io::Error::from);
            self.result = written.and_then(|()| self.writer.write_all(b"\n"));
        }
    }

    fn finish(mut self) -> io::Result<()> {
        self.result?;
        self.writer.flush()
    }
}
