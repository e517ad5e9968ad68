//! The functions of `wasi:io/streams`.
//!
//! They are called once or twice for every request on the wire, so the halves of a connection take a short way: they lie
//! in the guest's table as what they are and not behind wasmtime-wasi's boxed traits, they are tried before anything is
//! made to wait with, and the bytes that a guest writes are handed on from where they lie in its memory.

use wasmtime::component::{Linker, Resource, ResourceTable, WasmList};
use wasmtime::{Result, StoreContextMut};
use wasmtime_wasi::p2::{
    DynInputStream, DynOutputStream, DynPollable, InputStream, OutputStream, StreamError, StreamResult, subscribe,
};

use super::{Reader, Writer};
use crate::guest::imports::NEWEST;
use crate::wasi::bindings::wasi::io::streams;
use crate::wasi::poll::{self, Half};
use crate::wasi::{HasSockets, Host, View};

/// The standard's limit for the calls that write and flush at once, in bytes.
const MAX_FLUSHED: usize = 4096;

/// A guest's handle of a receiving half.
pub fn input(reader: Resource<Reader>) -> Resource<DynInputStream> {
    Resource::new_own(reader.rep())
}

/// A guest's handle of a sending half.
pub fn output(writer: Resource<Writer>) -> Resource<DynOutputStream> {
    Resource::new_own(writer.rep())
}

/// Where a guest's handle would be if it is a receiving half.
fn reader(stream: &Resource<DynInputStream>) -> Resource<Reader> {
    Resource::new_borrow(stream.rep())
}

/// Where a guest's handle would be if it is a sending half.
fn writer(stream: &Resource<DynOutputStream>) -> Resource<Writer> {
    Resource::new_borrow(stream.rep())
}

fn any_input<'a>(
    table: &'a mut ResourceTable,
    stream: &Resource<DynInputStream>,
) -> StreamResult<&'a mut dyn InputStream> {
    let half = reader(stream);
    if table.get(&half).is_ok() { Ok(table.get_mut(&half)?) } else { Ok(&mut **table.get_mut(stream)?) }
}

fn any_output<'a>(
    table: &'a mut ResourceTable,
    stream: &Resource<DynOutputStream>,
) -> StreamResult<&'a mut dyn OutputStream> {
    let half = writer(stream);
    if table.get(&half).is_ok() { Ok(table.get_mut(&half)?) } else { Ok(&mut **table.get_mut(stream)?) }
}

/// A length on this machine.
fn size(length: u64) -> usize {
    usize::try_from(length).unwrap_or(usize::MAX)
}

fn check_flushed(name: &str, length: usize) -> StreamResult<()> {
    if length <= MAX_FLUSHED {
        return Ok(());
    }
    let words = format!("{name} of {length} bytes, of which the standard allows {MAX_FLUSHED}");
    Err(StreamError::Trap(wasmtime::Error::msg(words)))
}

impl streams::Host for View<'_> {
    fn convert_stream_error(&mut self, error: StreamError) -> Result<streams::StreamError> {
        match error {
            StreamError::Closed => Ok(streams::StreamError::Closed),
            StreamError::LastOperationFailed(error) => {
                Ok(streams::StreamError::LastOperationFailed(self.table.push(error)?))
            }
            StreamError::Trap(trap) => Err(trap),
        }
    }
}

impl streams::HostInputStream for View<'_> {
    fn read(&mut self, this: Resource<DynInputStream>, len: u64) -> StreamResult<Vec<u8>> {
        if let Ok(reader) = self.table.get(&reader(&this)) {
            return reader.read(size(len));
        }
        Ok(self.table.get_mut(&this)?.read(size(len))?.into())
    }

    async fn blocking_read(&mut self, this: Resource<DynInputStream>, len: u64) -> StreamResult<Vec<u8>> {
        if let Ok(reader) = self.table.get(&reader(&this)) {
            return reader.read_some(size(len)).await;
        }
        Ok(self.table.get_mut(&this)?.blocking_read(size(len)).await?.into())
    }

    fn skip(&mut self, this: Resource<DynInputStream>, len: u64) -> StreamResult<u64> {
        Ok(any_input(self.table, &this)?.skip(size(len))? as u64)
    }

    async fn blocking_skip(&mut self, this: Resource<DynInputStream>, len: u64) -> StreamResult<u64> {
        Ok(any_input(self.table, &this)?.blocking_skip(size(len)).await? as u64)
    }

    fn subscribe(&mut self, this: Resource<DynInputStream>) -> Result<Resource<DynPollable>> {
        match self.table.get(&reader(&this)).cloned() {
            Ok(reader) => poll::subscribe(self.table, Half::Reads(reader), &this),
            Err(_) => subscribe(self.table, this),
        }
    }

    async fn drop(&mut self, this: Resource<DynInputStream>) -> Result<()> {
        if self.table.get(&reader(&this)).is_ok() {
            // Nothing of it goes on by itself.
            self.table.delete(Resource::<Reader>::new_own(this.rep()))?;
        } else {
            self.table.delete(this)?.cancel().await;
        }
        Ok(())
    }
}

impl streams::HostOutputStream for View<'_> {
    fn check_write(&mut self, this: Resource<DynOutputStream>) -> StreamResult<u64> {
        let granted = match self.table.get(&writer(&this)) {
            Ok(writer) => writer.check()?,
            Err(_) => self.table.get_mut(&this)?.check_write()?,
        };
        Ok(granted as u64)
    }

    fn write(&mut self, this: Resource<DynOutputStream>, contents: Vec<u8>) -> StreamResult<()> {
        any_output(self.table, &this)?.write(contents.into())
    }

    async fn blocking_write_and_flush(
        &mut self,
        this: Resource<DynOutputStream>,
        contents: Vec<u8>,
    ) -> StreamResult<()> {
        check_flushed("blocking-write-and-flush", contents.len())?;
        any_output(self.table, &this)?.blocking_write_and_flush(contents.into()).await
    }

    fn flush(&mut self, this: Resource<DynOutputStream>) -> StreamResult<()> {
        any_output(self.table, &this)?.flush()
    }

    async fn blocking_flush(&mut self, this: Resource<DynOutputStream>) -> StreamResult<()> {
        let stream = any_output(self.table, &this)?;
        stream.flush()?;
        stream.write_ready().await?;
        Ok(())
    }

    fn subscribe(&mut self, this: Resource<DynOutputStream>) -> Result<Resource<DynPollable>> {
        match self.table.get(&writer(&this)).cloned() {
            Ok(writer) => poll::subscribe(self.table, Half::Writes(writer), &this),
            Err(_) => subscribe(self.table, this),
        }
    }

    fn write_zeroes(&mut self, this: Resource<DynOutputStream>, len: u64) -> StreamResult<()> {
        any_output(self.table, &this)?.write_zeroes(size(len))
    }

    async fn blocking_write_zeroes_and_flush(&mut self, this: Resource<DynOutputStream>, len: u64) -> StreamResult<()> {
        check_flushed("blocking-write-zeroes-and-flush", size(len))?;
        any_output(self.table, &this)?.blocking_write_and_flush(vec![0; size(len)].into()).await
    }

    fn splice(
        &mut self,
        this: Resource<DynOutputStream>,
        from: Resource<DynInputStream>,
        len: u64,
    ) -> StreamResult<u64> {
        let granted = any_output(self.table, &this)?.check_write()?.min(size(len));
        if granted == 0 {
            return Ok(0);
        }
        let bytes = any_input(self.table, &from)?.read(granted)?;
        let moved = bytes.len() as u64;
        if moved > 0 {
            any_output(self.table, &this)?.write(bytes)?;
        }
        Ok(moved)
    }

    async fn blocking_splice(
        &mut self,
        this: Resource<DynOutputStream>,
        from: Resource<DynInputStream>,
        len: u64,
    ) -> StreamResult<u64> {
        let granted = any_output(self.table, &this)?.write_ready().await?.min(size(len));
        if granted == 0 {
            return Ok(0);
        }
        let bytes = any_input(self.table, &from)?.blocking_read(granted).await?;
        let moved = bytes.len() as u64;
        if moved > 0 {
            any_output(self.table, &this)?.blocking_write_and_flush(bytes).await?;
        }
        Ok(moved)
    }

    async fn drop(&mut self, this: Resource<DynOutputStream>) -> Result<()> {
        if self.table.get(&writer(&this)).is_ok() {
            self.table.delete(Resource::<Writer>::new_own(this.rep()))?.cancel().await;
        } else {
            self.table.delete(this)?.cancel().await;
        }
        Ok(())
    }
}

/// What a guest is told of a call that writes.
type Told = (Result<(), streams::StreamError>,);

fn told<T: HasSockets>(store: &mut StoreContextMut<'_, T>, result: StreamResult<()>) -> Result<Told> {
    Ok(match result {
        Ok(()) => (Ok(()),),
        Err(error) => (Err(streams::Host::convert_stream_error(&mut store.data_mut().sockets(), error)?),),
    })
}

/// Links the interface. The generated form of the calls that carry a guest's bytes copies them before anybody has looked
/// where they go; for a connection they need not be.
pub fn add_to_linker<T: HasSockets>(linker: &mut Linker<T>) -> Result<()> {
    streams::add_to_linker::<T, Host>(linker, T::sockets)?;
    linker.allow_shadowing(true);
    let mut interface = linker.instance(&format!("wasi:io/streams@{NEWEST}"))?;
    interface.func_wrap("[method]output-stream.write", write)?;
    interface.func_wrap_async("[method]output-stream.blocking-write-and-flush", |store, arguments| {
        Box::new(write_and_flush(store, arguments))
    })?;
    linker.allow_shadowing(false);
    Ok(())
}

fn write<T: HasSockets>(
    mut store: StoreContextMut<'_, T>,
    (this, contents): (Resource<DynOutputStream>, WasmList<u8>),
) -> Result<Told> {
    let result = match store.data().table().get(&writer(&this)) {
        Ok(writer) => writer.write(contents.as_le_slice(&store)),
        Err(_) => {
            let contents = contents.as_le_slice(&store).to_vec();
            streams::HostOutputStream::write(&mut store.data_mut().sockets(), this, contents)
        }
    };
    told(&mut store, result)
}

async fn write_and_flush<T: HasSockets>(
    mut store: StoreContextMut<'_, T>,
    (this, contents): (Resource<DynOutputStream>, WasmList<u8>),
) -> Result<Told> {
    let begun = match store.data().table().get(&writer(&this)) {
        Ok(writer) => check_flushed("blocking-write-and-flush", contents.len())
            .and_then(|()| writer.begin(contents.as_le_slice(&store)))
            .map(|rest| rest.map(|rest| (writer.clone(), rest))),
        Err(_) => {
            let contents = contents.as_le_slice(&store).to_vec();
            let mut view = store.data_mut().sockets();
            let result = streams::HostOutputStream::blocking_write_and_flush(&mut view, this, contents).await;
            return told(&mut store, result);
        }
    };
    let result = match begun {
        Ok(None) => Ok(()),
        Ok(Some((writer, rest))) => writer.finish(rest).await,
        Err(error) => Err(error),
    };
    told(&mut store, result)
}

#[cfg(test)]
mod tests {
    use wasmtime_wasi::p2::pipe::{MemoryInputPipe, MemoryOutputPipe};
    use wrun_net::memory::Memory;
    use wrun_net::{Backend, Family};

    use super::*;

    #[tokio::test]
    async fn a_handle_finds_its_stream_whether_it_is_a_half_of_a_connection_or_not() {
        let backend = Memory::new();
        let listening = backend.tcp(Family::V4).unwrap();
        let address = listening.bind(([127, 0, 0, 1], 0).into()).await.unwrap();
        let _listener = listening.listen(1).await.unwrap();
        let stream = backend.tcp(Family::V4).unwrap().connect(address).await.unwrap();

        let mut table = ResourceTable::new();
        let half_in = input(table.push(Reader::new(stream.clone())).unwrap());
        let half_out = output(table.push(Writer::new(stream)).unwrap());
        let other_in = table.push(Box::new(MemoryInputPipe::new("other")) as DynInputStream).unwrap();
        let other_out = table.push(Box::new(MemoryOutputPipe::new(7)) as DynOutputStream).unwrap();

        assert!(any_input(&mut table, &half_in).unwrap().read(9).unwrap().is_empty());
        assert_eq!(any_input(&mut table, &other_in).unwrap().read(9).unwrap(), "other");
        assert_eq!(any_output(&mut table, &half_out).unwrap().check_write().unwrap(), super::super::MAX_PIECE);
        assert_eq!(any_output(&mut table, &other_out).unwrap().check_write().unwrap(), 7);
        // One is not taken for the other.
        assert!(any_input(&mut table, &Resource::new_borrow(half_out.rep())).is_err());
    }
}
