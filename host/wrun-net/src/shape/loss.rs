//! What is lost, one datagram or segment after another.

use super::dice::Dice;
use super::profile::Loss;

/// How something is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attempt {
    First,
    /// After a retransmission timeout, which a burst is not expected to last: it is lost as often as anything is. If it
    /// met the burst that lost it before, a single segment would be sent into the whole of it.
    Again,
}

/// The state of a link that loses in bursts. The link has one, whoever sends: a burst hits all who send during it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Weather {
    bad: bool,
}

impl Loss {
    /// Whether nothing is ever lost.
    pub fn is_none(&self) -> bool {
        match *self {
            Self::None => true,
            Self::Independent(probability) => probability <= 0.0,
            Self::Bursts { good_to_bad, loss_in_good, loss_in_bad, .. } => {
                loss_in_good <= 0.0 && (good_to_bad <= 0.0 || loss_in_bad <= 0.0)
            }
        }
    }

    /// The share that is lost in the long run.
    pub fn mean(&self) -> f64 {
        match *self {
            Self::None => 0.0,
            Self::Independent(probability) => probability,
            Self::Bursts { good_to_bad, loss_in_good, .. } if good_to_bad <= 0.0 => loss_in_good,
            Self::Bursts { good_to_bad, bad_to_good, loss_in_good, loss_in_bad } => {
                (good_to_bad * loss_in_bad + bad_to_good * loss_in_good) / (good_to_bad + bad_to_good)
            }
        }
    }
}

impl Weather {
    /// Whether the next datagram is lost: first it is lost or not as the state has it, then the state may change, so
    /// that the first one meets the good state.
    pub fn loses(&mut self, loss: &Loss, attempt: Attempt, dice: &mut Dice) -> bool {
        match *loss {
            _ if attempt == Attempt::Again => dice.chance(loss.mean()),
            Loss::None => false,
            Loss::Independent(probability) => dice.chance(probability),
            Loss::Bursts { good_to_bad, bad_to_good, loss_in_good, loss_in_bad } => {
                let (lost, changes) = if self.bad { (loss_in_bad, bad_to_good) } else { (loss_in_good, good_to_bad) };
                let lost = dice.chance(lost);
                self.bad ^= dice.chance(changes);
                lost
            }
        }
    }
}
