//! The schema of reports in `report.schema.json`: that it is the one of these types, and that reports keep to it.
//!
//! `UPDATE_SCHEMA=1 cargo test -p wrun schema` writes it anew after a change of the types.

use std::path::Path;

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

use super::data::Report;
use super::fixture::{hostile, impaired, many, story};

fn schema() -> Value {
    // As it is written: every field is there, if only as null.
    let settings = SchemaSettings::draft2020_12().for_serialize();
    settings.into_generator().into_root_schema_for::<Report>().to_value()
}

#[test]
fn the_committed_schema_is_the_one_of_the_types() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("report.schema.json");
    let mut of_types = serde_json::to_string_pretty(&schema()).unwrap();
    of_types.push('\n');
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        std::fs::write(&path, &of_types).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap();
    assert!(committed == of_types, "report.schema.json is out of date: UPDATE_SCHEMA=1 cargo test -p wrun schema");
}

#[test]
fn a_written_report_has_all_that_the_schema_says_and_nothing_else() {
    for report in [story(), many(), impaired(), hostile()] {
        let written: Value = serde_json::from_str(&report.to_json_pretty()).unwrap();
        if let Err(problem) = check(&schema(), &schema(), &written) {
            panic!("{problem}");
        }
    }
}

#[test]
fn the_check_itself_sees_what_is_missing_too_much_or_of_another_type() {
    let problem = |change: &dyn Fn(&mut Value)| {
        let mut written = serde_json::to_value(story()).unwrap();
        change(&mut written);
        check(&schema(), &schema(), &written).is_err()
    };
    assert!(!problem(&|_| {}));
    assert!(problem(&|report| report["more"] = 1.into()));
    assert!(problem(&|report| drop(report.as_object_mut().unwrap().remove("seed").or(report["header"].take().into()))));
    assert!(problem(&|report| report["samples"][0]["start_ns"] = (-1).into()));
    assert!(problem(&|report| report["samples"][3]["error"] = 7.into()));
    assert!(problem(&|report| report["outcome"]["family"] = "lost".into()));
    assert!(problem(&|report| report["counters"]["retries"] = "many".into()));
}

#[test]
fn a_report_that_is_written_and_read_is_the_same() {
    for report in [story(), many(), impaired(), hostile()] {
        assert!(serde_json::from_str::<Report>(&report.to_json_pretty()).unwrap() == report);
    }
}

/// Whether a value keeps to a schema, for as much of the language of schemas as ours uses; a keyword that is not known
/// here is an error.
fn check(root: &Value, schema: &Value, value: &Value) -> Result<(), String> {
    let Value::Object(schema) = schema else { return Err(format!("no schema: {schema}")) };
    for (keyword, rule) in schema {
        let kept = match keyword.as_str() {
            "$schema" | "$defs" | "title" | "description" | "format" | "default" => true,
            "$ref" => return check(root, root.pointer(&rule.as_str().unwrap()[1..]).unwrap(), value),
            "type" => is_type(rule, value),
            "minimum" => value.as_f64().is_none_or(|number| number >= rule.as_f64().unwrap()),
            "maximum" => value.as_f64().is_none_or(|number| number <= rule.as_f64().unwrap()),
            "enum" => rule.as_array().unwrap().contains(value),
            "const" => rule == value,
            "anyOf" | "oneOf" => rule.as_array().unwrap().iter().any(|one| check(root, one, value).is_ok()),
            "required" => rule.as_array().unwrap().iter().all(|field| value.get(field.as_str().unwrap()).is_some()),
            "items" => {
                let items = value.as_array().into_iter().flatten();
                items.into_iter().try_for_each(|item| check(root, rule, item))?;
                true
            }
            "properties" => {
                for (field, rule) in rule.as_object().unwrap() {
                    value.get(field).map_or(Ok(()), |value| check(root, rule, value))?;
                }
                true
            }
            "additionalProperties" => {
                let none = Map::new();
                let known = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
                let others = value.as_object().into_iter().flatten().filter(|(field, _)| !known.contains_key(*field));
                others.into_iter().try_for_each(|(field, value)| match rule {
                    Value::Bool(false) => Err(format!("{field} is not in the schema")),
                    rule => check(root, rule, value),
                })?;
                true
            }
            unknown => return Err(format!("the check does not know {unknown}")),
        };
        if !kept {
            return Err(format!("{keyword} {rule} is not kept by {value}"));
        }
    }
    Ok(())
}

fn is_type(rule: &Value, value: &Value) -> bool {
    let is = |rule: &Value| match rule.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "null" => value.is_null(),
        _ => false,
    };
    match rule {
        Value::Array(any) => any.iter().any(is),
        one => is(one),
    }
}
