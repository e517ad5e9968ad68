//! Lines of text as they gather, and the one layout that every section uses: columns.

use anstyle::{AnsiColor, Style};
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Row, Table, presets};

use crate::report::words::printable;

/// Columns that a page may be wide.
pub const WIDTH: u16 = 80;

pub const PLAIN: Style = Style::new();
pub const HEAD: Style = Style::new().bold();
pub const FAINT: Style = Style::new().dimmed();
pub const BAD: Style = AnsiColor::Red.on_default();
pub const WARN: Style = AnsiColor::Yellow.on_default();
pub const GOOD: Style = AnsiColor::Green.on_default();

/// Space between two columns.
const GAP: u16 = 2;

/// Lines, each ended.
#[derive(Default)]
pub struct Page {
    text: String,
}

/// How a column is laid out.
#[derive(Debug, Clone, Copy)]
pub enum Column {
    /// As wide as its content, which wrun itself made.
    Right,
    Left,
    /// Content from elsewhere: it takes the room that is left, and is cut where that is not enough.
    Rest,
}

/// A row of cells, with the style of its line.
pub struct Line {
    pub style: Style,
    pub cells: Vec<String>,
}

impl Line {
    pub fn new<const N: usize>(style: Style, cells: [String; N]) -> Self {
        Self { style, cells: cells.into() }
    }

    fn row(self) -> Row {
        let mut row = Row::from(self.cells.iter().map(|cell| printable(cell).into_owned()).collect::<Vec<_>>());
        row.max_height(1);
        row
    }
}

impl Page {
    pub fn text(self) -> String {
        self.text
    }

    /// A line that is known to fit.
    pub fn line(&mut self, style: Style, text: &str) {
        // The codes of no style are empty, but the two of them are not looked at for nothing.
        if style == PLAIN {
            self.text.push_str(text);
        } else {
            self.text.push_str(&format!("{style}{text}{style:#}"));
        }
        self.text.push('\n');
    }

    /// Begins a section: an empty line, unless it is the first.
    pub fn gap(&mut self) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
    }

    /// Text of any length, broken into lines at words; the lines after the first stand under its own beginning.
    pub fn paragraph(&mut self, style: Style, label: &str, text: &str) {
        let row = Row::from([label.to_owned(), printable(text).into_owned()]);
        for line in layout(&[Column::Left, Column::Rest], vec![row]).lines() {
            self.line(style, line.trim_end());
        }
    }

    /// Rows under one another, each one line. Cells from elsewhere are in a [`Column::Rest`], and made printable here.
    pub fn columns(&mut self, columns: &[Column], lines: Vec<Line>) {
        let (styles, rows): (Vec<_>, Vec<_>) = lines.into_iter().map(|line| (line.style, line.row())).unzip();
        for (line, style) in layout(columns, rows).lines().zip(styles) {
            self.line(style, line.trim_end());
        }
    }
}

fn layout(columns: &[Column], rows: Vec<Row>) -> Table {
    let mut table = Table::new();
    // The gap after the last column is trimmed from each line, so it may stand beyond the page.
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic).set_width(WIDTH + GAP);
    table.add_rows(rows);
    for (kind, column) in columns.iter().zip(table.column_iter_mut()) {
        column.set_padding((0, GAP));
        match kind {
            Column::Left | Column::Right => {
                column.set_constraint(ColumnConstraint::ContentWidth);
            }
            Column::Rest => {}
        }
        if matches!(kind, Column::Right) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}
