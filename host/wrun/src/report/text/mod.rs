//! A report as a person reads it: 80 columns at most, the figures first, how it ended last.
//!
//! [`render`] puts the sections one after another; each is a file that turns data into [`page::Page`] lines. Colours are
//! always in the text: whoever prints it does so through `anstream`, which takes them out where they do not belong.
//! Everything that a guest, a peer or a file has named is made printable before it is laid out.

mod bars;
mod facts;
mod figures;
pub(crate) mod page;
mod sockets;
pub mod units;

#[cfg(test)]
mod tests;

use super::data::Report;
use page::Page;

/// The whole report, ended by a newline.
pub fn render(report: &Report) -> String {
    let mut page = Page::default();
    facts::heading(&mut page, report);
    figures::statistics(&mut page, report);
    bars::samples(&mut page, report);
    sockets::lookups(&mut page, report);
    sockets::connections(&mut page, report);
    facts::counters(&mut page, report);
    facts::notes(&mut page, report);
    facts::denials(&mut page, report);
    facts::overhead(&mut page, report);
    facts::warnings(&mut page, report);
    facts::outcome(&mut page, report);
    page.text()
}
