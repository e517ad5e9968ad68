//! The frame around a guest's `main`.

use std::error::Error;
use std::process::ExitCode;

/// Runs the body of `main`. An error goes to standard error as `error: ...`, with its causes, and makes the guest fail.
///
/// WASI knows one kind of failure, so every failing guest exits 1, whatever went wrong.
pub fn run(body: impl FnOnce() -> Result<(), Box<dyn Error>>) -> ExitCode {
    let Err(error) = body() else { return ExitCode::SUCCESS };
    eprintln!("error: {}", with_causes(error.as_ref()));
    ExitCode::FAILURE
}

/// An error and what caused it. Many errors say their cause themselves: it is not said again.
fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let words = error.to_string();
        if !text.ends_with(&words) {
            text = format!("{text}: {words}");
        }
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_told_with_its_causes() {
        #[derive(Debug)]
        struct Outer(std::num::ParseIntError);
        impl std::fmt::Display for Outer {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a port is a number")
            }
        }
        impl Error for Outer {
            fn source(&self) -> Option<&(dyn Error + 'static)> {
                Some(&self.0)
            }
        }
        let error = Outer("x".parse::<u16>().expect_err("x is no number"));
        assert_eq!(with_causes(&error), "a port is a number: invalid digit found in string");
    }

    #[test]
    fn a_cause_that_an_error_says_itself_is_not_said_again() {
        let error = lexopt::Error::from("a URL is missing");
        assert_eq!(with_causes(&error), "a URL is missing");
    }
}
