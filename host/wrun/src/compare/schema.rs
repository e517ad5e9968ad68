//! The schema of comparisons in `compare.schema.json`: that it is the one of these types, and that comparisons keep to it.
//!
//! `UPDATE_SCHEMA=1 cargo test -p wrun schema` writes it anew after a change of the types.

use std::path::Path;

use schemars::generate::SchemaSettings;
use serde_json::Value;

use super::data::Comparison;
use super::fixture::{board, emulator};
use super::{Options, Run, compare, output};
use crate::cli::Format;
use crate::report::fixture::{hostile, many, story};

fn path() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("compare.schema.json")
}

fn schema() -> Value {
    // As it is written: every field is there, if only as null.
    let settings = SchemaSettings::draft2020_12().for_serialize();
    settings.into_generator().into_root_schema_for::<Comparison>().to_value()
}

#[test]
fn the_committed_schema_is_the_one_of_the_types() {
    let mut of_types = serde_json::to_string_pretty(&schema()).unwrap();
    of_types.push('\n');
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        std::fs::write(path(), &of_types).unwrap();
    }
    let committed = std::fs::read_to_string(path()).unwrap();
    assert!(committed == of_types, "compare.schema.json is out of date: UPDATE_SCHEMA=1 cargo test -p wrun schema");
}

#[test]
fn a_written_comparison_keeps_to_the_schema() {
    let (mut schemas, mut compiler) = (boon::Schemas::new(), boon::Compiler::new());
    compiler.add_resource("compare.json", schema()).unwrap();
    let schema = compiler.compile("compare.json", &mut schemas).unwrap();
    let run = |report| Run { label: "a".to_owned(), report };
    let cases = [
        vec![emulator(15), board(15, 3), board(40, 4)],
        vec![run(story()), run(many()), run(hostile())],
        vec![run(hostile()), run(hostile())],
        vec![run(story())],
        Vec::new(),
    ];
    for runs in cases {
        for force in [false, true] {
            let comparison = compare(&runs, &Options { force, ..Options::default() }).unwrap();
            let json: Value = serde_json::from_str(&output::render(&comparison, Format::Json)).unwrap();
            schemas.validate(&json, schema).unwrap_or_else(|problem| panic!("{problem:#}"));
        }
    }
}
