//! A server's side of a connection: bytes become commands on a store, and their answers become bytes.
