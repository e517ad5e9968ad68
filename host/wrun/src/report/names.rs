//! The names a guest gives: each kept once, told apart by a small number from then on.
//!
//! Numbers make noting a sample cheap on the guest's thread: no text is copied, hashed or compared for it.

use std::collections::HashMap;

use super::words::Words;

/// Names of phases that are told apart. Later ones are [`OTHER`].
pub(super) const PHASE_NAMES: usize = 1024;

/// What a name beyond the bound is reported as.
const OTHER: &str = "(other)";

/// A name of a sample or a phase, from [`super::Recorder::intern`]. Of use only with the recorder it is from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    pub(super) id: u16,
    text: Words,
}

impl Name {
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

/// All names of a run, by number. Number 0 is [`OTHER`].
pub(super) struct Names {
    words: Vec<Words>,
    ids: HashMap<Words, u16>,
}

impl Names {
    pub(super) fn new() -> Self {
        let mut names = Self { words: Vec::new(), ids: HashMap::new() };
        names.insert(OTHER.into());
        names
    }

    /// The name's number, given now if need be; `None` when it would be one more than so many.
    pub(super) fn intern(&mut self, text: &str, most: usize) -> Option<Name> {
        let words = Words::from(text);
        if let Some(id) = self.ids.get(&words) {
            return Some(Name { id: *id, text: words });
        }
        (self.words.len() <= most).then(|| self.insert(words))
    }

    pub(super) fn other(&self) -> Name {
        Name { id: 0, text: self.words(0) }
    }

    /// The text of a number. One that was never given is taken for [`OTHER`].
    pub(super) fn words(&self, id: u16) -> Words {
        self.words.get(usize::from(id)).unwrap_or(&self.words[0]).clone()
    }

    fn insert(&mut self, words: Words) -> Name {
        let id = u16::try_from(self.words.len()).unwrap_or(0);
        self.words.push(words.clone());
        self.ids.insert(words.clone(), id);
        Name { id, text: words }
    }
}
