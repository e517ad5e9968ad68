//! What the service's methods are called on the wire.

pub const BEGIN: &str = "/cache.v1.Cache/Begin";
pub const END: &str = "/cache.v1.Cache/End";
pub const GET: &str = "/cache.v1.Cache/Get";
pub const SET: &str = "/cache.v1.Cache/Set";
pub const DELETE: &str = "/cache.v1.Cache/Delete";
pub const INCREMENT: &str = "/cache.v1.Cache/Increment";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SCHEMA;

    #[test]
    fn every_path_is_in_the_schema_and_every_method_has_one() {
        let package =
            SCHEMA.lines().find_map(|line| line.strip_prefix("package ")?.strip_suffix(';')).expect("a package");
        let service =
            SCHEMA.lines().find_map(|line| line.strip_prefix("service ")?.strip_suffix(" {")).expect("a service");
        let methods = SCHEMA.lines().filter_map(|line| line.trim().strip_prefix("rpc ")?.split('(').next());
        let paths: Vec<String> = methods.map(|method| format!("/{package}.{service}/{method}")).collect();
        assert_eq!(paths, [BEGIN, END, GET, SET, DELETE, INCREMENT]);
    }
}
