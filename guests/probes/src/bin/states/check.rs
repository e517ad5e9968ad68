//! A claim about an answer, printed with the answer.

use std::fmt::Debug;
use std::io;

use wasip2::sockets::network::ErrorCode;

/// Counts the claims that did not hold.
#[derive(Default)]
pub struct Checks {
    made: usize,
    off: usize,
}

impl Checks {
    /// The answer is `ok` or, otherwise, the name of an error code.
    pub fn answers<T>(&mut self, what: &str, expected: &str, answer: Result<T, ErrorCode>) {
        let answer = answer.as_ref().map_or_else(|code| code.name(), |_| "ok");
        self.shows(what, expected, answer);
    }

    /// The same for the SDK's answers.
    pub fn says<T>(&mut self, what: &str, expected: &str, answer: io::Result<T>) {
        let answer = answer.map_or_else(|error| wrun_guest::reason(&error), |_| "ok".to_owned());
        self.shows(what, expected, &answer);
    }

    pub fn is<T: Debug + PartialEq>(&mut self, what: &str, expected: T, answer: T) {
        let expected_text = format!("{expected:?}");
        self.line(what, &format!("{answer:?}"), answer == expected, &expected_text);
    }

    /// What was received, which is text in this probe.
    pub fn reads(&mut self, what: &str, expected: &str, data: Vec<u8>) {
        self.is(what, expected, &String::from_utf8_lossy(&data));
    }

    pub fn shows(&mut self, what: &str, expected: &str, answer: &str) {
        self.line(what, answer, answer == expected, expected);
    }

    /// # Errors
    /// How many claims did not hold, if any.
    pub fn verdict(&self) -> Result<(), String> {
        match self.off {
            0 => Ok(()),
            off => Err(format!("{off} of {} answers are off the standard", self.made)),
        }
    }

    fn line(&mut self, what: &str, answer: &str, holds: bool, expected: &str) {
        self.made += 1;
        if holds {
            println!("{what} -> {answer}");
        } else {
            self.off += 1;
            println!("{what} -> {answer}, but should be {expected}");
        }
    }
}
