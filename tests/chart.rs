//! The chart's page in a real browser, of real runs: what the pointer and the keys show, in the light and in the dark.

use wrun::chart::{Run, write};
use wrun::report::Report;

use crate::browser::Browser;
use crate::support::{HttpPeer, report};

/// Where the plot's samples are in the window: of the run and the number that follow.
const PLACE: &str = "
    function place(run, number) {
        const point = JSON.parse(document.getElementById('data').textContent).plots[0].series[run][number - 1];
        const surface = document.querySelector('.surface');
        const at = new DOMPoint(point.x, point.y).matrixTransform(surface.getScreenCTM());
        return [at.x, at.y];
    }";

/// What is shown beside a sample; nothing when nothing is.
const TIP: &str = "document.getElementById('tip').hidden ? '' : document.getElementById('tip').innerText";

fn requests(peer: &HttpPeer) -> Report {
    let reported = report(&["--allow", "loopback"], "socket-client", &[&peer.url, "--requests", "3"]);
    serde_json::from_value(reported.report).unwrap()
}

#[test]
fn the_pointer_and_the_keys_show_the_phases_of_a_request() {
    let Some(mut browser) = Browser::start() else { return };
    let (fast, slow) = (requests(&HttpPeer::start(&[])), requests(&HttpPeer::start(&["--delay", "300ms"])));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chart.html");
    let label = "slow </script><script>console.error('out')</script>";
    write(&path, &[Run { label: "fast", report: &fast }, Run { label, report: &slow }]).unwrap();
    browser.open(&path);
    browser.evaluate(PLACE);
    assert_eq!(browser.evaluate(TIP), "");

    let at = browser.evaluate("place(1, 2)");
    browser.point(at[0].as_f64().unwrap(), at[1].as_f64().unwrap());
    let tip = browser.evaluate(TIP).as_str().unwrap().to_owned();
    assert!(tip.starts_with(&format!("request 2 · {label}")), "{tip}");
    for phase in &slow.samples[1].phases {
        assert!(tip.contains(&*phase.name), "{} is not in {tip}", phase.name);
    }
    // The peer waits for 300 ms, and that is what the bar is made of.
    let share = "[...document.querySelectorAll('#tip .bar span')].map(part => parseFloat(part.style.width))";
    let shares = browser.evaluate(share);
    assert_eq!(shares.as_array().unwrap().len(), slow.samples[1].phases.len());
    assert!(shares.as_array().unwrap().iter().any(|share| share.as_f64().unwrap() > 80.0), "{shares}");
    browser.point(1.0, 1.0);
    assert_eq!(browser.evaluate(TIP), "", "the pointer has left the plot");

    browser.press("Tab", 9);
    browser.press("Home", 36);
    browser.press("ArrowRight", 39);
    let second = browser.evaluate(TIP).as_str().unwrap().to_owned();
    assert!(second.starts_with("request 2 · "), "{second}");
    browser.press("End", 35);
    browser.press("ArrowUp", 38);
    let last = browser.evaluate(TIP).as_str().unwrap().to_owned();
    assert!(last.starts_with("request 3 · fast"), "{last}");
    browser.press("Escape", 27);
    assert_eq!(browser.evaluate(TIP), "");

    let grounds = "[getComputedStyle(document.body).backgroundColor, \
                    getComputedStyle(document.querySelector('svg .paper')).fill]";
    browser.prefer("light");
    assert_eq!(browser.evaluate(grounds), serde_json::json!(["rgb(255, 255, 255)", "rgb(255, 255, 255)"]));
    browser.prefer("dark");
    assert_eq!(browser.evaluate(grounds), serde_json::json!(["rgb(20, 23, 26)", "rgb(20, 23, 26)"]));

    let address = format!("file://{}", path.display());
    assert_eq!(browser.fetched(), [address.as_str()]);
    assert!(browser.complaints().is_empty(), "{:#?}", browser.complaints());
}

#[test]
fn a_page_without_samples_opens_without_complaint() {
    let Some(mut browser) = Browser::start() else { return };
    let reported = report(&[], "env", &[]);
    let report: Report = serde_json::from_value(reported.report).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chart.html");
    write(&path, &[Run { label: "native", report: &report }]).unwrap();
    browser.open(&path);
    assert_eq!(browser.evaluate("document.querySelectorAll('.surface').length"), 0);
    let words = browser.evaluate("document.querySelector('figure').textContent");
    assert!(words.as_str().unwrap().contains("no samples"), "{words}");
    assert!(browser.complaints().is_empty(), "{:#?}", browser.complaints());
}
