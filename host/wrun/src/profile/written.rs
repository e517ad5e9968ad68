//! The format: what may stand in a profile's file, and where. Types only.
//!
//! Every table refuses keys that it does not know; only [`Version`] looks past them. The values are taken as they stand, each with its place in the text;
//! what they mean, and whether they make sense, is [`super::meaning`]'s.

use std::fmt;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, MapAccess, Visitor};
use toml::{Spanned, Value};

use super::given::{Given, List, only_from_tables};

/// What is looked at before the rest: the keys of another version may be others, and are not to blame.
#[derive(Debug, Deserialize)]
pub struct Version {
    pub schema: Option<Given>,
}

/// A table with the keys that the file, a rule and an entry of a schedule have in common.
///
/// They are repeated in each, rather than flattened into it, since flattened tables cannot refuse unknown keys.
macro_rules! with_effects {
    ($(#[$meta:meta])* $name:ident { $($field:ident: $kind:ty,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Default, Deserialize)]
        #[serde(remote = "Self", default, deny_unknown_fields, rename_all = "kebab-case")]
        pub struct $name {
            $(pub $field: Option<$kind>,)*
            rtt: Option<Given>,
            acknowledgement: Option<Given>,
            both: Option<Spanned<Path>>,
            up: Option<Spanned<Path>>,
            down: Option<Spanned<Path>>,
            connect: Option<Spanned<Opening>>,
            resolve: Option<Spanned<Opening>>,
            stall: Option<Spanned<Stall>>,
        }

        impl $name {
            pub fn effects(&self) -> Effects<'_> {
                Effects {
                    rtt: self.rtt.as_ref(),
                    acknowledgement: self.acknowledgement.as_ref(),
                    both: self.both.as_ref(),
                    up: self.up.as_ref(),
                    down: self.down.as_ref(),
                    connect: self.connect.as_ref(),
                    resolve: self.resolve.as_ref(),
                    stall: self.stall.as_ref(),
                }
            }
        }
    };
}

with_effects! {
    /// The whole file.
    File {
        schema: Given,
        name: Given,
        description: Given,
        source: Given,
        scope: Given,
        schedule: Spanned<List<Spanned<Entry>>>,
        rule: Spanned<List<Spanned<Rule>>>,
        board: Board,
    }
}

with_effects! {
    Rule {
        name: Given,
        r#match: Spanned<Match>,
        schedule: Spanned<List<Spanned<Entry>>>,
    }
}

with_effects! {
    /// An entry of a schedule.
    Entry {
        lasts: Given,
    }
}

/// The effects of a table, wherever it stands.
#[derive(Debug, Clone, Copy)]
pub struct Effects<'a> {
    /// There and back; half of it is the delay of each way.
    pub rtt: Option<&'a Given>,
    pub acknowledgement: Option<&'a Given>,
    /// What holds for `up` and `down`.
    pub both: Option<&'a Spanned<Path>>,
    pub up: Option<&'a Spanned<Path>>,
    pub down: Option<&'a Spanned<Path>>,
    pub connect: Option<&'a Spanned<Opening>>,
    pub resolve: Option<&'a Spanned<Opening>>,
    pub stall: Option<&'a Spanned<Stall>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(remote = "Self", default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Path {
    pub delay: Option<Given>,
    pub jitter: Option<Given>,
    pub distribution: Option<Given>,
    pub rate: Option<Given>,
    pub trace: Option<Given>,
    pub queue: Option<Given>,
    pub loss: Option<Spanned<Loss>>,
    pub duplicate: Option<Given>,
    pub reorder: Option<Given>,
    pub offline: Option<Given>,
}

/// A share, or a table for losses in bursts.
#[derive(Debug)]
pub enum Loss {
    Share(Value),
    Bursts(Box<Bursts>),
}

/// Either `share` and `length`, or the four probabilities.
#[derive(Debug, Default, Deserialize)]
#[serde(remote = "Self", default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Bursts {
    pub share: Option<Given>,
    pub length: Option<Given>,
    pub good_to_bad: Option<Given>,
    pub bad_to_good: Option<Given>,
    pub loss_in_good: Option<Given>,
    pub loss_in_bad: Option<Given>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(remote = "Self", default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Opening {
    pub delay: Option<Given>,
    pub jitter: Option<Given>,
    pub distribution: Option<Given>,
    pub failure: Option<Given>,
    pub how: Option<Given>,
    pub timeout: Option<Given>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(remote = "Self", default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Stall {
    pub connect: Option<Spanned<List<Spanned<Mode>>>>,
    pub answer: Option<Spanned<List<Spanned<Mode>>>>,
    pub send: Option<Spanned<List<Spanned<Mode>>>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(remote = "Self", default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Mode {
    pub weight: Option<Given>,
    pub from: Option<Given>,
    pub to: Option<Given>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(remote = "Self", default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Match {
    pub protocol: Option<Given>,
    pub address: Option<Given>,
    pub port: Option<Given>,
    pub operation: Option<Given>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(remote = "Self", default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Board {
    pub sockets: Option<Given>,
    pub receive: Option<Given>,
    pub unsupported: Option<Spanned<List<Given>>>,
    pub tick: Option<Given>,
    pub linger: Option<Linger>,
    pub send_queue: Option<Spanned<SendQueue>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(remote = "Self", default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Linger {
    pub without: Option<Given>,
    pub stall: Option<Given>,
    pub option: Option<Given>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(remote = "Self", default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct SendQueue {
    pub depth: Option<Given>,
    pub max_depth: Option<Given>,
    pub clears_after: Option<Given>,
    pub kinds: Option<Spanned<List<Spanned<List<Given>>>>>,
}

only_from_tables!(File, Rule, Entry, Path, Bursts, Opening, Stall, Mode, Match, Board, Linger, SendQueue);

impl<'de> Deserialize<'de> for Loss {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;

        impl<'de> Visitor<'de> for Either {
            type Value = Loss;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a share such as \"1 %\" or 0.01, or a table for losses in bursts")
            }

            fn visit_i64<E>(self, value: i64) -> Result<Loss, E> {
                Ok(Loss::Share(Value::Integer(value)))
            }

            fn visit_f64<E>(self, value: f64) -> Result<Loss, E> {
                Ok(Loss::Share(Value::Float(value)))
            }

            fn visit_str<E>(self, value: &str) -> Result<Loss, E> {
                Ok(Loss::Share(Value::String(value.to_owned())))
            }

            fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<Loss, M::Error> {
                Bursts::deserialize(MapAccessDeserializer::new(map)).map(|bursts| Loss::Bursts(Box::new(bursts)))
            }
        }

        deserializer.deserialize_any(Either)
    }
}
