//! Peers that nobody here wrote.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::support::{errors, has, report};

/// A child that is ended with the test.
pub struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        // It may have ended by itself.
        _ = self.0.kill();
        _ = self.0.wait();
    }
}

/// A port that was free a moment ago, for servers that cannot be asked which one they took.
pub fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn wait_for(port: u16) {
    for _ in 0..500 {
        if std::net::TcpStream::connect(("127.0.0.1", port)).is_ok() {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("nobody listens on port {port}");
}

/// Starts a server, and waits until it listens.
pub fn start(command: &mut Command, port: u16) -> Ended {
    let server = Ended(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    wait_for(port);
    server
}

#[test]
fn socket_client_talks_to_python_s_http_server() {
    if !has("python3") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), "x".repeat(100_000)).unwrap();
    let port = free_port();
    let python = ["-m", "http.server", "--bind", "127.0.0.1", &port.to_string()];
    let _server = start(Command::new("python3").args(python).current_dir(folder.path()), port);
    for style in ["plain", "netmf"] {
        let url = format!("http://127.0.0.1:{port}/file");
        let reported = report(&["--allow", "loopback"], "socket-client", &[&url, "--requests", "5", "--style", style]);
        assert_eq!(errors(&reported.report), vec![None; 5], "{}", reported.stderr);
        // Python's server takes an absolute URL in the request line for a path that is not there.
        let (status, least) = if style == "plain" { ("status-200", 100_000) } else { ("status-404", 100) };
        assert_eq!(reported.report["counters"][status], 5, "{}", reported.report["counters"]);
        let received = |connection: &serde_json::Value| connection["received_bytes"].as_u64().unwrap();
        let connections = reported.report["connections"].as_array().unwrap();
        assert_eq!(connections.len(), 5);
        assert!(connections.iter().all(|connection| received(connection) > least), "{connections:#?}");
    }
}

#[test]
fn socket_client_talks_to_nginx_over_tls() {
    if !has("nginx") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let port = free_port();
    configure_nginx(folder.path(), port);
    let nginx = if Path::new("/usr/sbin/nginx").exists() { "/usr/sbin/nginx" } else { "nginx" };
    let _server =
        start(Command::new(nginx).arg("-p").arg(folder.path()).args(["-e", "error.log", "-c", "nginx.conf"]), port);
    let dir = format!("{}::/ca:ro", folder.path().display());
    for (host, more) in [("127.0.0.1", None), ("localhost", None), ("localhost", Some("--keep-alive"))] {
        let url = format!("https://{host}:{port}/");
        let mut args = vec![url.as_str(), "--requests", "5", "--ca", "/ca/ca.pem"];
        args.extend(more);
        let reported = report(&["--allow", "loopback", "--dir", &dir], "socket-client", &args);
        assert_eq!(errors(&reported.report), vec![None; 5], "{}", reported.stderr);
        let connections = reported.report["connections"].as_array().unwrap().len();
        assert_eq!(connections, if more.is_some() { 1 } else { 5 });
    }
}

/// A server of one page over TLS, in the foreground, without anything outside its folder.
fn configure_nginx(folder: &Path, port: u16) {
    let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
    let rcgen::CertifiedKey { cert, signing_key } = rcgen::generate_simple_self_signed(names).unwrap();
    std::fs::write(folder.join("ca.pem"), cert.pem()).unwrap();
    std::fs::write(folder.join("key.pem"), signing_key.serialize_pem()).unwrap();
    std::fs::write(folder.join("index.html"), "a page").unwrap();
    let user = if rustix::process::geteuid().is_root() { "user root;" } else { "" };
    let config = format!(
        "{user} daemon off; master_process off; pid nginx.pid; error_log error.log;
        events {{ worker_connections 64; }}
        http {{
            access_log off;
            client_body_temp_path .; proxy_temp_path .; fastcgi_temp_path .; uwsgi_temp_path .; scgi_temp_path .;
            server {{
                listen 127.0.0.1:{port} ssl;
                listen [::1]:{port} ssl;
                ssl_certificate ca.pem;
                ssl_certificate_key key.pem;
                root .;
            }}
        }}"
    );
    std::fs::write(folder.join("nginx.conf"), config).unwrap();
}
