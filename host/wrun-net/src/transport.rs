//! TCP or UDP, and which options each may have.

use crate::backend::OptionKind;
use crate::error::{Error, Result};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    Tcp,
    Udp,
}

impl Transport {
    /// [`Error::NotSupported`] for an option that only the other kind of socket may have. Kernels take some of those
    /// too, in silence and to no effect.
    pub fn admits(self, kind: OptionKind) -> Result<()> {
        let admitted = match self {
            Self::Tcp => kind.is_tcp(),
            Self::Udp => kind.is_udp(),
        };
        if admitted { Ok(()) } else { Err(Error::NotSupported) }
    }
}
