//! "Did you mean": the known name that is nearest to a mistyped one.

/// The nearest of `known` by edit distance, if it is near enough to have been meant.
pub fn nearest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Whoever writes more than that has not mistyped a name; comparing costs the product of the lengths.
    if wrong.len() > 64 {
        return None;
    }
    let wrong = wrong.to_lowercase();
    let distance = |known: &str| strsim::damerau_levenshtein(&wrong, &known.to_lowercase());
    let (name, distance) =
        known.into_iter().map(|name| (name, distance(name))).min_by_key(|(_, distance)| *distance)?;
    let longest = name.chars().count().max(wrong.chars().count());
    (distance <= (longest / 3).max(1) && distance < longest).then_some(name)
}

/// The same as the beginning of a sentence: `did you mean 3g? `, or nothing.
pub fn did_you_mean<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(wrong, known).map(|name| format!("did you mean `{name}`? ")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_name_and_a_stranger_finds_none() {
        let known = ["delay", "jitter", "rate", "3g-lossy"];
        for (wrong, meant) in [("dlay", "delay"), ("jiter", "jitter"), ("RATE", "rate"), ("3g_lossy", "3g-lossy")] {
            assert_eq!(nearest(wrong, known), Some(meant), "{wrong}");
        }
        for wrong in ["", "x", "bandwidth", &"delay".repeat(1000), "é"] {
            assert_eq!(nearest(wrong, known), None, "{wrong}");
        }
        assert_eq!(nearest("delay", []), None);
    }
}
