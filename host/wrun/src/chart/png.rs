//! The picture as pixels, light, with a font of its own so that it looks the same on every machine.
//!
//! The font has Latin, Greek and Cyrillic letters; any other letter is a box.

use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

use super::picture::{Picture, WIDTH};

/// DejaVu Sans, of which `font/LICENSE` has the licence.
const FONT: &[u8] = include_bytes!("font/DejaVuSans-subset.ttf");
const FAMILY: &str = "DejaVu Sans";

/// Pixels for each unit of the picture, on each axis.
const FINE: f32 = 2.0;
/// Pixels above which a picture is made less fine: a hundred megabytes.
const MOST: f32 = 25e6;

/// A PNG file, or why there is none.
pub fn pixels(picture: &Picture<'_>) -> Result<Vec<u8>, String> {
    within(picture, MOST)
}

/// The same in at most about so many pixels.
pub fn within(picture: &Picture<'_>, most: f32) -> Result<Vec<u8>, String> {
    let mut fonts = fontdb::Database::new();
    fonts.load_font_data(FONT.to_vec());
    fonts.set_sans_serif_family(FAMILY);
    let options = Options { font_family: FAMILY.to_owned(), fontdb: Arc::new(fonts), ..Options::default() };
    let tree = Tree::from_str(&picture.with("", false), &options).map_err(|error| error.to_string())?;
    let scale = FINE.min((most / (WIDTH * picture.height) as f32).sqrt());
    let size = tree.size().to_int_size().scale_by(scale).ok_or("it has no size")?;
    let mut pixmap = Pixmap::new(size.width(), size.height()).ok_or("it is too large")?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixmap.as_mut());
    pixmap.encode_png().map_err(|error| error.to_string())
}
