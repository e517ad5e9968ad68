//! A real browser, headless, spoken to through pipes: a page is loaded, pointed at, typed at and asked.
//!
//! The protocol is Chromium's own (DevTools), JSON with a zero byte behind each message, so no port is opened. The
//! browser has a profile of its own in a temporary folder, and is ended with the test.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

/// No claim is about this: it only keeps a browser that hangs from hanging a test for ever.
const LIMIT: Duration = Duration::from_secs(60);

/// A page in a browser.
pub struct Browser {
    child: Child,
    requests: ChildStdin,
    messages: Receiver<Value>,
    session: Option<String>,
    next: u64,
    /// What happened that nobody has asked for, in order.
    events: Vec<Value>,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// `None`, and a word why, where there is no browser. Set-up installs one where it may.
    pub fn start() -> Option<Self> {
        let Some(program) = program() else {
            eprintln!("SKIPPED: no chromium is installed: `cargo xtask setup` says how");
            return None;
        };
        let profile = tempfile::tempdir().unwrap();
        let mut child = Command::new("sh")
            // The browser reads and writes the protocol on descriptors 3 and 4.
            .args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null"])
            .arg(program)
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run"])
            .args(["--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let requests = child.stdin.take().unwrap();
        let mut answers = BufReader::new(child.stdout.take().unwrap());
        let (send, messages) = channel();
        std::thread::spawn(move || {
            let mut message = Vec::new();
            while answers.read_until(0, &mut message).is_ok_and(|read| read > 0) {
                message.pop();
                // The test may be over.
                _ = send.send(serde_json::from_slice(&message).unwrap());
                message.clear();
            }
        });
        let mut browser =
            Self { child, requests, messages, session: None, next: 0, events: Vec::new(), _profile: profile };
        let target = browser.ask("Target.createTarget", json!({"url": "about:blank"}));
        let attached = json!({"targetId": target["targetId"], "flatten": true});
        browser.session = browser.ask("Target.attachToTarget", attached)["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.ask(&format!("{domain}.enable"), json!({}));
        }
        Some(browser)
    }

    /// Opens a file as a user would who has found it in a folder, and waits until it is there.
    pub fn open(&mut self, path: &Path) {
        let size = json!({"width": 1100, "height": 1400, "deviceScaleFactor": 1, "mobile": false});
        self.ask("Emulation.setDeviceMetricsOverride", size);
        self.ask("Page.navigate", json!({"url": format!("file://{}", path.display())}));
        while !self.events.iter().any(|event| event["method"] == "Page.loadEventFired") {
            let event = self.message();
            self.events.push(event);
        }
    }

    /// What an expression is on the page.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let asked = json!({"expression": expression, "returnByValue": true});
        let mut answer = self.ask("Runtime.evaluate", asked);
        assert_eq!(answer.get("exceptionDetails"), None, "{expression}");
        answer["result"]["value"].take()
    }

    /// Moves the pointer, in pixels from the window's corner.
    pub fn point(&mut self, x: f64, y: f64) {
        self.ask("Input.dispatchMouseEvent", json!({"type": "mouseMoved", "x": x, "y": y}));
    }

    /// Presses and releases a key.
    pub fn press(&mut self, key: &str, code: u32) {
        for kind in ["rawKeyDown", "keyUp"] {
            let event = json!({"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code});
            self.ask("Input.dispatchKeyEvent", event);
        }
    }

    /// Lets the page believe that its reader wants `light` or `dark`.
    pub fn prefer(&mut self, scheme: &str) {
        let features = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.ask("Emulation.setEmulatedMedia", features);
    }

    /// What the browser complained of until now: exceptions, and lines on its console.
    pub fn complaints(&self) -> Vec<&Value> {
        let complaint = ["Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"];
        self.events.iter().filter(|event| complaint.iter().any(|method| event["method"] == *method)).collect()
    }

    /// The addresses that were asked for until now.
    pub fn fetched(&self) -> Vec<&str> {
        let requests = self.events.iter().filter(|event| event["method"] == "Network.requestWillBeSent");
        requests.filter_map(|event| event["params"]["request"]["url"].as_str()).collect()
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let mut request = json!({"id": self.next, "method": method, "params": params});
        if let Some(session) = &self.session {
            request["sessionId"] = json!(session);
        }
        self.requests.write_all(format!("{request}\0").as_bytes()).unwrap();
        loop {
            let mut message = self.message();
            if message["id"] == self.next {
                assert_eq!(message.get("error"), None, "{method}");
                return message["result"].take();
            }
            self.events.push(message);
        }
    }

    fn message(&self) -> Value {
        self.messages.recv_timeout(LIMIT).expect("the browser says nothing any more")
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The browser ends its helpers itself when it is asked to end.
        _ = self.requests.write_all(b"{\"id\":0,\"method\":\"Browser.close\"}\0");
        for _ in 0..500 {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

fn program() -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
    names
        .iter()
        .find_map(|name| std::env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| path.is_file()))
}
