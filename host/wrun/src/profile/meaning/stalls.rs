//! Waits of whole operations, as mixtures of modes.

use toml::Spanned;
use wrun_net::shape::profile::{Mixture, Mode, Stalls};

use super::notes::Notes;
use crate::profile::given::List;
use crate::profile::written;

/// Modes of one mixture.
const MODES: usize = 100;

/// Of weights only the proportions count.
const WEIGHTS: std::ops::RangeInclusive<f64> = 0.000_001..=1_000_000.0;

pub fn stalls(notes: &mut Notes<'_>, written: Option<&Spanned<written::Stall>>) -> Stalls {
    let Some(written) = written.map(Spanned::get_ref) else { return Stalls::default() };
    let mut mixture = |modes| mixture(notes, modes);
    Stalls { connect: mixture(&written.connect), answer: mixture(&written.answer), send: mixture(&written.send) }
}

fn mixture(notes: &mut Notes<'_>, written: &Option<Spanned<List<Spanned<written::Mode>>>>) -> Mixture {
    let Some(modes) = written else { return Mixture::default() };
    if modes.get_ref().is_empty() || modes.get_ref().len() > MODES {
        let help = format!("write 1 to {MODES} modes, such as {{ weight = 1, from = \"1 s\", to = \"8 s\" }}");
        notes.note(modes.span(), format!("a stall of {} modes", modes.get_ref().len()), help);
    }
    Mixture(modes.get_ref().iter().take(MODES).filter_map(|mode| self::mode(notes, mode)).collect())
}

fn mode(notes: &mut Notes<'_>, written: &Spanned<written::Mode>) -> Option<Mode> {
    let written::Mode { weight, from, to } = written.get_ref();
    let (Some(from), Some(to)) = (from, to) else {
        notes.note(
            written.span(),
            "a mode without its times",
            "write from = \"1 s\" and to = \"8 s\", or the same twice",
        );
        return None;
    };
    let weight = weight.as_ref().map_or(Some(1.0), |weight| notes.number(weight, "a weight", WEIGHTS));
    let (shortest, longest) = (notes.time(from), notes.time(to));
    let (weight, shortest, longest) = (weight?, shortest?, longest?);
    if longest < shortest {
        notes.note(to.span(), "a mode that ends before it begins", "write the shorter time at from");
    }
    Some(Mode { weight, from: shortest, to: longest })
}
