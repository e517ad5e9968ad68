//! What is wrong with a profile is told where it is wrong, with what to write instead.

use super::super::{find, load, open};

fn words(text: &str) -> String {
    match load(text) {
        Ok(loaded) => format!("it is good:\n{}", loaded.effective),
        Err(unfit) => unfit.to_string(),
    }
}

/// Each of the texts, and what is said about it.
fn all(texts: &[&str]) -> String {
    texts.iter().map(|text| format!("{}\n\n----\n", words(text))).collect()
}

#[test]
fn what_is_no_toml_or_has_an_unknown_key_is_told_with_the_near_one() {
    let said = all(&[
        "[up\ndelay = '1 ms'",
        "[up]\ndelay = '1 ms'\ndelay = '2 ms'",
        "[up]\ndelay = 1 ms",
        "[up]\ndlay = '1 ms'",
        "bandwidth = '1 kB/s'",
        "\"x`, expected `y\" = 1",
        "[up]\nloss = { bursts = 1 }",
        "[[rule]]\nmatch = { adress = '::1' }",
        "[[schedule]]\nlast = '1 s'",
        "[board]\nlinger = { optoin = 'ignored' }",
        "[board.send_queue]\ndepth = 2",
        "[stall]\nanswer = [{ wieght = 1 }]",
        "[rule]\nmatch = { port = 1 }",
        "[stall]\nanswer = { from = '1 s', to = '2 s' }",
        "up = 3",
        "up = ['1 ms']",
        "[[rule]]\nmatch = ['tcp']",
        "rule = [[]]",
        "[up]\nloss = true",
    ]);
    insta::assert_snapshot!(said);
}

#[test]
fn a_value_that_is_none_is_told_with_what_would_be() {
    let said = all(&[
        "schema = 2\nnew-key = 1",
        "schema = '1'",
        "name = ''",
        "name = 1",
        "description = \"a\\nb\"",
        "scope = 'sockets'",
        "rtt = 50",
        "rtt = 1.5",
        "rtt = true",
        "rtt = 2026-11-30",
        "rtt = '50'",
        "rtt = '-50 ms'",
        "rtt = '50 msec'",
        "rtt = 'inf s'",
        "rtt = '61 min'",
        "rtt = '99999999999999999999999999999999 h'",
        "up.rate = '0 kbit/s'",
        "up.rate = 0",
        "up.rate = 0.0",
        "up.rate = '1 bit/s'",
        "up.rate = '12 mbps'",
        "up.rate = '1001 GB/s'",
        "up.loss = '101 %'",
        "up.loss = 1.01",
        "up.loss = -0.1",
        "up.loss = nan",
        "up.loss = inf",
        "up.loss = '0.1'",
        "up.duplicate = []",
        "up.offline = 'yes'",
        "up = { rate = '1 kB/s', queue = '64 K' }",
        "up = { rate = '1 kB/s', queue = '0 B' }",
        "up = { delay = '1 s', jitter = '1 s', distribution = 'gauss' }",
        "up = { delay = '1 s', jitter = '1 s', distribution = [] }",
        "up = { delay = '1 s', jitter = '1 s', distribution = [1, nan] }",
        "up = { delay = '1 s', jitter = '1 s', distribution = [1, 'x'] }",
    ]);
    insta::assert_snapshot!(said);
}

#[test]
fn what_does_not_go_together_is_told() {
    let said = all(&[
        "up = { delay = '50 ms', jitter = '80 ms' }",
        "up = { jitter = '80 ms' }",
        "up = { delay = '50 ms', distribution = 'normal' }",
        "up = { reorder = '1 %' }",
        "up = { queue = '64 KiB' }",
        "up = { rate = '1 kB/s', trace = [1] }",
        "rtt = '1 s'\nup.delay = '1 s'",
        "both.delay = '1 s'\nup.delay = '1 s'",
        "up.loss = { share = '10 %' }",
        "up.loss = { share = '10 %', length = 2, good-to-bad = 0.5 }",
        "up.loss = { share = '90 %', length = 2 }",
        "up.loss = { share = 1, length = 2 }",
        "up.loss = { share = '10 %', length = 0.5 }",
        "connect = { how = 'refused' }",
        "connect = { failure = 1, how = 'timeout' }",
        "connect = { failure = 1, timeout = '1 s' }",
        "connect = { failure = 1, how = 'timeout', timeout = '0 s' }",
        "connect = { delay = '2 s', failure = 1, how = 'timeout', timeout = '1 s' }",
        "connect = { failure = 1, how = 'reset' }",
        "stall = { answer = [] }",
        "stall = { answer = [{ from = '1 s' }] }",
        "stall = { answer = [{ from = '2 s', to = '1 s' }] }",
        "stall = { answer = [{ weight = 0, from = '1 s', to = '2 s' }] }",
        "stall = { answer = [{ weight = nan, from = '1 s', to = '2 s' }] }",
    ]);
    insta::assert_snapshot!(said);
}

#[test]
fn a_rule_or_a_schedule_that_makes_no_sense_is_told() {
    let said = all(&[
        "schedule = []",
        "[[schedule]]\nlasts = '1 s'",
        "[[schedule]]\nlasts = '0 s'\n[[schedule]]\nlasts = '25 h'\n[[schedule]]",
        "[up]\ndelay = '1 s'\n[[schedule]]\nlasts = '1 s'\n[[schedule]]\nlasts = '2 s'",
        "[[rule]]\nup.delay = '1 s'",
        "[[rule]]\nmatch = {}\nup.delay = '1 s'",
        "[[rule]]\nname = 'all'\nmatch.port = 1",
        "[[rule]]\nname = 'a'\nmatch.port = 1\n[[rule]]\nname = 'a'\nmatch.port = 2",
        "[[rule]]\nmatch = { protocol = 'icmp' }",
        "[[rule]]\nmatch = { address = 'example.com' }",
        "[[rule]]\nmatch = { address = ['10.0.0.0/33', 1] }",
        "[[rule]]\nmatch = { address = [] }",
        "[[rule]]\nmatch = { port = 0 }",
        "[[rule]]\nmatch = { port = '9-1' }",
        "[[rule]]\nmatch = { port = 65536 }",
        "[[rule]]\nmatch = { operation = 'conect' }",
        "[[rule]]\nmatch = { operation = 'resolve', port = 53 }",
        "[[rule]]\nmatch = { operation = 'send' }\ndown.delay = '1 s'\n[rule.stall]\nanswer = [{ from = '1 s', to = '1 s' }]",
    ]);
    insta::assert_snapshot!(said);
}

#[test]
fn a_rule_that_is_never_reached_is_told_with_the_rule_that_is_in_its_way() {
    let said = all(&[
        "[[rule]]\nname = 'lan'\nmatch.address = ['10.0.0.0/8', 'fd00::/8']\n[[rule]]\nname = 'printer'\nmatch = { address = '10.1.2.3', port = 9100 }",
        "[[rule]]\nmatch.protocol = 'tcp'\n[[rule]]\nmatch.operation = 'connect'",
        "[[rule]]\nmatch.port = '1-65535'\n[[rule]]\nmatch.protocol = 'udp'",
        "[[rule]]\nmatch.protocol = 'tcp'\n[[rule]]\nmatch.port = 80",
        "[[rule]]\nmatch = { port = '80-90' }\n[[rule]]\nmatch = { port = '85-95' }",
        // Nothing is concluded from what is not understood.
        "[[rule]]\nmatch.protocol = 'icmp'\n[[rule]]\nmatch.port = 80",
    ]);
    let good = said.matches("it is good").count();
    assert_eq!(good, 2, "{said}");
    let told = said.split("----").filter(|said| !said.contains("it is good"));
    insta::assert_snapshot!(told.collect::<String>());
}

#[test]
fn an_effect_that_nothing_which_its_rule_matches_can_meet_is_told() {
    let stall = "[{ from = '1 s', to = '1 s' }]";
    let udp = |effect: &str| format!("[[rule]]\nmatch.protocol = 'udp'\n{effect}");
    let texts = [
        udp(&format!("stall.connect = {stall}")),
        udp("connect.delay = '1 s'"),
        udp("acknowledgement = '1 s'"),
        udp("resolve.delay = '1 s'"),
        "[[rule]]\nmatch.port = 53\nresolve.delay = '1 s'".to_owned(),
        "[[rule]]\nmatch = { protocol = 'udp', operation = 'connect' }\nconnect.delay = '1 s'".to_owned(),
    ];
    insta::assert_snapshot!(all(&texts.each_ref().map(String::as_str)));
}

#[test]
fn a_board_that_cannot_be_is_told() {
    let said = all(&[
        "[board]\nsockets = 0",
        "[board]\nsockets = -1",
        "[board]\nsockets = '8'",
        "[board]\nreceive = '0 B'",
        "[board]\ntick = '0 ms'",
        "[board]\nunsupported = ['nodelay']",
        "[board]\nunsupported = ['linger', 'linger']",
        "[board]\nunsupported = ['linger']\n[board.linger]\noption = 'honoured'",
        "[board.linger]\nwithout = 'hang'",
        "[board.linger]\nwithout = 'stall'",
        "[board.linger]\nwithout = 'reset'\nstall = '1 s'",
        "[board.send-queue]\nmax-depth = 2",
        "[board.send-queue]\ndepth = 3\nmax-depth = 2\nclears-after = '0 s'",
        "[board.send-queue]\ndepth = 3\nclears-after = '1 s'\nkinds = [[], ['10.0.0.1'], ['10.0.0.0/8'], ['x']]",
    ]);
    insta::assert_snapshot!(said);
}

#[test]
fn all_that_is_wrong_is_told_at_once_in_the_order_of_the_text() {
    insta::assert_snapshot!(words("rtt = 5\nscope = 'both'\n[down]\nrate = 0\n[up]\nqueue = '1 kB'\n"));
    let keys = "dlay = 1\nrtt = 5\n[up]\njiter = 1\n[[rule]]\nmatch = { adress = '::1', port = 1 }\n[board]\nlinger = { optoin = 1 }\n";
    insta::assert_snapshot!("all-unknown-keys", words(keys));
    let many = "[[rule]]\n".repeat(150);
    let said = words(&many);
    assert!(said.ends_with("and 81 more"), "{said}");
}

#[test]
fn a_trace_that_is_none_is_told_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let files: [(&str, &[u8]); 8] = [
        ("empty", b""),
        ("unsorted", b"1\n5\n4\n"),
        ("words", b"1\ntwo\n"),
        ("negative", b"1\n-2\n"),
        ("blank", b"1\n\n2\n"),
        ("zeros", b"0\n0\n"),
        ("hours", b"1\n3600001\n"),
        ("binary", b"1\n\xff\xfe\n"),
    ];
    for (name, bytes) in files {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    std::fs::write(folder.path().join("long"), "7\n".repeat(60_000)).unwrap();
    std::fs::write(folder.path().join("large"), "7\n".repeat(600_000)).unwrap();
    let names = files.map(|(name, _)| name);
    let mut said = String::new();
    let path = folder.path().join("profile.toml");
    for name in names.iter().chain(&["missing", ".", "long", "large"]) {
        // A trace for both ways counts twice.
        std::fs::write(&path, format!("both.trace = '{name}'")).unwrap();
        said += &format!("{:#}\n\n----\n", open(&path).unwrap_err());
    }
    let said = said.replace(&folder.path().display().to_string(), "FOLDER");
    let said = said + &all(&["up.trace = 'file'", "up.trace = 3", "up.trace = []", "up.trace = [1, -1]"]);
    insta::assert_snapshot!(said);
}

#[test]
fn a_name_that_is_none_is_told_with_the_near_one_and_where_they_all_are() {
    let names = ["netmf3-bord", "3G", "gprs", "", "no/such.toml", "no-such.toml", "src/", "Cargo.toml/x"];
    let said = names.map(|name| format!("{name:14} {:#}", find(name).unwrap_err()));
    insta::assert_snapshot!(said.join("\n"));
}
