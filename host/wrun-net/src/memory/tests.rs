//! What the conformance body cannot see.
