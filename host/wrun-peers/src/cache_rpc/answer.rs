//! What a call came to.

use cache_rpc::{DeleteResponse, GetResponse, IncrementResponse, SetResponse};
use tonic::Status;

/// The answer of any of the methods. Cheap to clone: a value is shared.
#[derive(Debug, Clone)]
pub enum Answer {
    Get(GetResponse),
    Set(SetResponse),
    Delete(DeleteResponse),
    Increment(IncrementResponse),
}

/// A message that answers one of the methods.
pub trait Message: Sized {
    /// The message in `answer`; `None` if that is another method's.
    fn of(answer: Answer) -> Option<Self>;
}

macro_rules! message {
    ($($method:ident $message:ty),*) => {$(
        impl Message for $message {
            fn of(answer: Answer) -> Option<Self> {
                match answer {
                    Answer::$method(message) => Some(message),
                    _ => None,
                }
            }
        }
    )*};
}

message!(Get GetResponse, Set SetResponse, Delete DeleteResponse, Increment IncrementResponse);

/// Bytes that keeping an answer takes.
pub fn size(answer: &Result<Answer, Status>) -> usize {
    let within = match answer {
        Ok(Answer::Get(GetResponse { item: Some(item) })) => item.value.len(),
        Ok(_) => 0,
        Err(status) => status.message().len(),
    };
    size_of::<Result<Answer, Status>>() + within
}
