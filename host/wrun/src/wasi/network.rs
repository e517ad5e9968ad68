//! `wasi:sockets/network` and `instance-network`: the handle that stands for "the network".

use wasmtime::Result;
use wasmtime::component::Resource;

use super::View;
use super::bindings::wasi::sockets::{instance_network, network};
use super::error::{SocketError, code};

/// The handle. It holds nothing: what a guest may reach is the policy's to say, address by address.
pub struct Network;

impl network::Host for View<'_> {
    fn convert_error_code(&mut self, error: SocketError) -> Result<network::ErrorCode> {
        self.convert(error)
    }

    fn network_error_code(&mut self, error: Resource<wasmtime::Error>) -> Result<Option<network::ErrorCode>> {
        let error = self.table.get(&error)?;
        match error.downcast_ref::<wrun_net::Error>() {
            Some(error) => Ok(Some(code(error)?)),
            None => Ok(None),
        }
    }
}

impl network::HostNetwork for View<'_> {
    fn drop(&mut self, network: Resource<Network>) -> Result<()> {
        self.table.delete(network)?;
        Ok(())
    }
}

impl instance_network::Host for View<'_> {
    fn instance_network(&mut self) -> Result<Resource<Network>> {
        Ok(self.table.push(Network)?)
    }
}
