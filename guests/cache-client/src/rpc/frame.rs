//! gRPC's frame around a message: a byte that says whether it is compressed, its length in four bytes, and itself.

use bytes::{Buf, BufMut, Bytes, BytesMut};
use prost::Message;

/// Bytes of the frame before its message.
const PREFIX: usize = 5;

/// A message in its frame.
pub fn wrap(message: &impl Message) -> Bytes {
    let length = message.encoded_len();
    let mut framed = BytesMut::with_capacity(PREFIX + length);
    framed.put_u8(0);
    // No request is as long as that in a guest of 32 bits; elsewhere the server would refuse what is longer than it says.
    framed.put_u32(u32::try_from(length).unwrap_or(u32::MAX));
    message.encode_raw(&mut framed);
    framed.freeze()
}

/// One message, as its bytes come in.
pub struct Unwrapping {
    /// The longest message that is taken, in bytes.
    limit: usize,
    bytes: BytesMut,
}

impl Unwrapping {
    /// Of at most `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self { limit, bytes: BytesMut::new() }
    }

    /// Takes the next bytes of the frame.
    ///
    /// # Errors
    /// Words for a frame that is compressed, too long, or followed by something.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.bytes.extend_from_slice(bytes);
        match self.length() {
            Some(_) if self.bytes[0] != 0 => Err("a compressed answer, which was not asked for".to_owned()),
            Some(length) if length > self.limit => {
                Err(format!("an answer of {length} bytes; at most {} are taken", self.limit))
            }
            Some(length) if self.bytes.len() > PREFIX + length => Err("more than one message in an answer".to_owned()),
            _ => Ok(()),
        }
    }

    /// The message, when its stream has ended; `None` when there was none.
    ///
    /// # Errors
    /// Words for a frame that was not complete, or a message that is none.
    pub fn finish<M: Message + Default>(mut self) -> Result<Option<M>, String> {
        if self.bytes.is_empty() {
            return Ok(None);
        }
        if self.length().is_none_or(|length| self.bytes.len() < PREFIX + length) {
            return Err("an answer that ends within its message".to_owned());
        }
        self.bytes.advance(PREFIX);
        M::decode(self.bytes.freeze())
            .map(Some)
            .map_err(|error| format!("an answer that is not of the schema: {error}"))
    }

    /// What the prefix announces, in bytes, when it is complete.
    fn length(&self) -> Option<usize> {
        let length = self.bytes.get(1..PREFIX)?.try_into().ok()?;
        usize::try_from(u32::from_be_bytes(length)).ok()
    }
}

#[cfg(test)]
mod tests {
    use cache_rpc::{GetResponse, Item, SetResponse};

    use super::*;

    fn unwrap(bytes: &[u8], step: usize) -> Result<Option<GetResponse>, String> {
        let mut unwrapping = Unwrapping::new(1000);
        bytes.chunks(step).try_for_each(|chunk| unwrapping.push(chunk))?;
        unwrapping.finish()
    }

    #[test]
    fn a_message_is_the_same_however_it_comes_in() {
        let message = GetResponse { item: Some(Item { value: vec![7; 300].into(), flags: 9 }) };
        let framed = wrap(&message);
        for step in [1, 4, 5, 6, 64, 1000] {
            assert_eq!(unwrap(&framed, step), Ok(Some(message.clone())), "{step}");
        }
    }

    #[test]
    fn an_empty_message_has_a_frame_and_no_message_has_none() {
        assert_eq!(&wrap(&SetResponse {})[..], [0, 0, 0, 0, 0]);
        assert_eq!(unwrap(&[0, 0, 0, 0, 0], 5), Ok(Some(GetResponse { item: None })));
        assert_eq!(unwrap(&[], 1), Ok(None));
    }

    #[test]
    fn a_frame_that_is_wrong_is_told_in_words() {
        let huge = [&[0][..], &u32::MAX.to_be_bytes()].concat();
        let cases: [(&[u8], &str); 6] = [
            (&[1, 0, 0, 0, 0], "compressed"),
            (&huge, "at most"),
            (&[0, 0, 0, 0, 1, 8, 8], "more than one message"),
            (&[0, 0, 0], "ends within"),
            (&[0, 0, 0, 0, 2, 8], "ends within"),
            (&[0, 0, 0, 0, 1, 0xff], "not of the schema"),
        ];
        for (bytes, words) in cases {
            let error = unwrap(bytes, 1).expect_err(words);
            assert!(error.contains(words), "{error}");
        }
    }
}
