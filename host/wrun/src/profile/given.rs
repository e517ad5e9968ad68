//! How values are taken from TOML: with their places, lists only so long, and tables only from tables.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use serde::Deserialize;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use toml::{Spanned, Value};

/// A value, and where it stands.
pub type Given = Spanned<Value>;

/// A list of at most [`LONGEST`]: a file of nothing but empty rules would take a thousand times its own size.
#[derive(Debug)]
pub struct List<T>(Vec<T>);

/// More than any list here may have; the finer limits are [`super::meaning`]'s.
const LONGEST: usize = 1000;

impl<T> Deref for List<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Several<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Several<T> {
            type Value = List<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }

            fn visit_seq<S: SeqAccess<'de>>(self, mut list: S) -> Result<List<T>, S::Error> {
                let mut items = Vec::new();
                while let Some(item) = list.next_element()? {
                    if items.len() == LONGEST {
                        return Err(S::Error::custom(format_args!("a list of more than {LONGEST}")));
                    }
                    items.push(item);
                }
                Ok(List(items))
            }
        }

        deserializer.deserialize_seq(Several(PhantomData))
    }
}

/// Makes these readable from tables alone. Derived reading would take a list too, for the fields in their order.
macro_rules! only_from_tables {
    ($($name:ident),*) => {$(
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Table;

                impl<'de> Visitor<'de> for Table {
                    type Value = $name;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str("a table")
                    }

                    fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<$name, M::Error> {
                        // The derived one, which `remote` makes a function of the type itself.
                        $name::deserialize(MapAccessDeserializer::new(map))
                    }
                }

                deserializer.deserialize_map(Table)
            }
        }
    )*};
}

pub(super) use only_from_tables;
