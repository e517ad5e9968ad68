//! A server that counts numbered datagrams: which never came, which came twice, and how long the gaps were.
//!
//! It says the address of its datagrams and that of its control connection. There, a byte `?` is answered as soon as all
//! datagrams that have come until then are counted, and any other byte with the result.

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream, UdpSocket};

use anyhow::Result;

use crate::servers::announce;

pub fn serve() -> Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let datagrams = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    datagrams.set_nonblocking(true)?;
    announce(format_args!("{} {}", datagrams.local_addr()?, listener.local_addr()?))?;
    loop {
        let (stream, _) = listener.accept()?;
        count(stream, &datagrams)?;
    }
}

/// One client's datagrams.
fn count(mut control: TcpStream, datagrams: &UdpSocket) -> io::Result<()> {
    let mut times: Vec<u8> = Vec::new();
    let mut asked = [0];
    control.set_nodelay(true)?;
    while control.read(&mut asked)? > 0 {
        let mut number = [0; 4];
        // Until there is none.
        while datagrams.recv(&mut number).is_ok() {
            let number = u32::from_le_bytes(number) as usize;
            times.resize(times.len().max(number + 1), 0);
            times[number] = times[number].saturating_add(1);
        }
        if asked == *b"?" {
            control.write_all(b".")?;
            continue;
        }
        let lost = times.iter().filter(|times| **times == 0).count();
        let doubled = times.iter().filter(|times| **times > 1).count();
        let gaps = (0..times.len()).filter(|at| times[*at] == 0 && (*at == 0 || times[at - 1] > 0)).count();
        return control
            .write_all(format!("count={} lost={lost} doubled={doubled} gaps={gaps}\n", times.len()).as_bytes());
    }
    Ok(())
}
