//! Charts as PDF: lines, areas and letters as such, with the glyphs that they take of the embedded font.

use super::PlotError;
use super::canvas::{FONT_SHARE, backend};
use ab_glyph::{Font, FontRef};
use flate2::Compression;
use flate2::write::ZlibEncoder;
use pdf_writer::types::{CidFontType, FontFlags, LineCapStyle, LineJoinStyle, SystemInfo, UnicodeCmap};
use pdf_writer::{Content, Filter, Finish, Name, Ref, Str};
use plotters::prelude::DrawingBackend;
use plotters_backend::text_anchor::{HPos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingErrorKind, FontStyle, FontTransform,
};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::io::Write;
use subsetter::GlyphRemapper;

/// A page whose content is drawn in pixels.
pub(super) struct Sheet {
    size: (u32, u32),
    content: Content,
    faces: [Face; 2],
    /// The graphics states for opacities, in 1/1000.
    opacities: Vec<u32>,
}

/// A face of the embedded font.
struct Face {
    data: &'static [u8],
    name: &'static str,
    font: FontRef<'static>,
    /// The glyphs in use.
    glyphs: GlyphRemapper,
    /// A character of each of them.
    characters: BTreeMap<u16, char>,
}

impl Face {
    fn new(data: &'static [u8], name: &'static str) -> Result<Self, PlotError> {
        let font = FontRef::try_from_slice(data).map_err(backend)?;
        Ok(Self { data, name, font, glyphs: GlyphRemapper::new(), characters: BTreeMap::new() })
    }

    /// The glyphs of a text, as the page names them, and its width in units of an em.
    fn glyphs(&mut self, text: &str) -> (Vec<u8>, f32) {
        let (mut glyphs, mut width) = (Vec::new(), 0.0);
        for character in text.chars() {
            let id = self.font.glyph_id(character);
            let named = self.glyphs.remap(id.0);
            self.characters.entry(named).or_insert(character);
            glyphs.extend(named.to_be_bytes());
            width += self.font.h_advance_unscaled(id) / self.em();
        }
        (glyphs, width)
    }

    /// An em in the font's units.
    fn em(&self) -> f32 {
        self.font.units_per_em().unwrap_or(1000.0)
    }
}

/// The height of a small letter, half of which lies above the middle of a text, in units of an em.
const X_HEIGHT: f32 = 0.547;
/// The height of a capital, by which a text hangs from its top.
const CAPITAL: f32 = 0.76;
/// The distance of the controls of a quarter of a circle, in radii.
const QUARTER: f32 = 0.552_285;

impl Sheet {
    /// An empty page of a size in pixels.
    pub(super) fn new(size: (u32, u32)) -> Result<Self, PlotError> {
        let faces = [
            Face::new(dejavu::sans::regular(), "DejaVuSans")?,
            Face::new(dejavu::sans::bold(), "DejaVuSans-Bold")?,
        ];
        Ok(Self { size, content: Content::new(), faces, opacities: Vec::new() })
    }

    /// What draws on the page.
    pub(super) fn pen(&mut self) -> Pen<'_> {
        Pen(self)
    }

    /// The page as a file, `width` points wide.
    pub(super) fn file(self, width: f64) -> Result<Vec<u8>, PlotError> {
        let mut next = 1..;
        let mut fresh = || Ref::new(next.next().unwrap_or(i32::MAX));
        let [catalog, pages, page, content] = [fresh(), fresh(), fresh(), fresh()];
        let mut pdf = pdf_writer::Pdf::new();
        pdf.catalog(catalog).pages(pages);
        pdf.pages(pages).kids([page]).count(1);

        let scale = width as f32 / self.size.0 as f32;
        let (width, height) = (scale * self.size.0 as f32, scale * self.size.1 as f32);
        // Pixels grow downwards, points upwards.
        let mut whole = Content::new();
        whole.transform([scale, 0.0, 0.0, -scale, 0.0, height]);
        let mut text = whole.finish().into_vec();
        text.push(b'\n');
        text.extend(self.content.finish().into_vec());
        pdf.stream(content, &packed(&text)?).filter(Filter::FlateDecode);

        let faces = self.faces.iter().enumerate().filter(|(_, face)| !face.characters.is_empty());
        let faces: Vec<(usize, &Face, Ref)> = faces.map(|(i, face)| (i, face, fresh())).collect();
        {
            let mut one = pdf.page(page);
            one.parent(pages).media_box(pdf_writer::Rect::new(0.0, 0.0, width, height)).contents(content);
            let mut resources = one.resources();
            let mut fonts = resources.fonts();
            for (i, _, id) in &faces {
                fonts.pair(Name(font_name(*i).as_bytes()), *id);
            }
            fonts.finish();
            let mut states = resources.ext_g_states();
            for (i, opacity) in self.opacities.iter().enumerate() {
                let share = *opacity as f32 / 1e3;
                let mut state = states
                    .insert(Name(state_name(i).as_bytes()))
                    .start::<pdf_writer::writers::ExtGraphicsState<'_>>();
                state.stroking_alpha(share).non_stroking_alpha(share);
            }
        }
        for (_, face, id) in faces {
            face.write(&mut pdf, id, [fresh(), fresh(), fresh(), fresh()])?;
        }
        Ok(pdf.finish())
    }
}

fn font_name(face: usize) -> String {
    format!("F{face}")
}

fn state_name(state: usize) -> String {
    format!("A{state}")
}

/// Compressed bytes.
fn packed(bytes: &[u8]) -> Result<Vec<u8>, PlotError> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).map_err(backend)
}

impl Face {
    /// Writes the glyphs in use, their widths, and their characters, so that a reader can search and copy.
    fn write(
        &self,
        pdf: &mut pdf_writer::Pdf,
        id: Ref,
        [descendant, descriptor, data, characters]: [Ref; 4],
    ) -> Result<(), PlotError> {
        let subset = subsetter::subset(self.data, 0, &self.glyphs).map_err(backend)?;
        // A name of a subset begins with six letters.
        let name = format!("RPUFIG+{}", self.name);
        let name = Name(name.as_bytes());
        let system = SystemInfo { registry: Str(b"Adobe"), ordering: Str(b"Identity"), supplement: 0 };
        let units = |value: f32| value / self.em() * 1e3;
        pdf.type0_font(id)
            .base_font(name)
            .encoding_predefined(Name(b"Identity-H"))
            .descendant_font(descendant)
            .to_unicode(characters);

        let mut font = pdf.cid_font(descendant);
        font.subtype(CidFontType::Type2).base_font(name).system_info(system);
        font.font_descriptor(descriptor).cid_to_gid_map_predefined(Name(b"Identity"));
        let widths = self
            .glyphs
            .remapped_gids()
            .map(|glyph| units(self.font.h_advance_unscaled(ab_glyph::GlyphId(glyph))));
        font.widths().consecutive(0, widths);
        font.finish();

        let (ascent, descent) = (units(self.font.ascent_unscaled()), units(self.font.descent_unscaled()));
        pdf.font_descriptor(descriptor)
            .name(name)
            .flags(FontFlags::NON_SYMBOLIC)
            .bbox(pdf_writer::Rect::new(-1000.0, descent, 2000.0, ascent))
            .italic_angle(0.0)
            .ascent(ascent)
            .descent(descent)
            .cap_height(1e3 * CAPITAL)
            .stem_v(90.0)
            .font_file2(data);
        let length = i32::try_from(subset.len()).map_err(backend)?;
        pdf.stream(data, &packed(&subset)?).filter(Filter::FlateDecode).pair(Name(b"Length1"), length);

        let mut map = UnicodeCmap::new(Name(b"Custom"), system);
        for (glyph, character) in &self.characters {
            map.pair(*glyph, *character);
        }
        pdf.cmap(characters, map.finish().as_slice()).name(Name(b"Custom")).system_info(system);
        Ok(())
    }
}

/// What draws on a page.
pub(super) struct Pen<'s>(&'s mut Sheet);

impl Pen<'_> {
    /// Sets what areas and lines have in common.
    fn colour(&mut self, BackendColor { alpha, rgb }: BackendColor) -> &mut Content {
        let opacity = (alpha.clamp(0.0, 1.0) * 1e3).round() as u32;
        let known = self.0.opacities.iter().position(|known| *known == opacity);
        let state = known.unwrap_or_else(|| {
            self.0.opacities.push(opacity);
            self.0.opacities.len() - 1
        });
        let [r, g, b] = [rgb.0, rgb.1, rgb.2].map(|part| f32::from(part) / 255.0);
        let content = &mut self.0.content;
        content.set_parameters(Name(state_name(state).as_bytes()));
        content.set_fill_rgb(r, g, b).set_stroke_rgb(r, g, b)
    }

    /// Draws a path, filled or as a line.
    fn path<S: BackendStyle>(&mut self, style: &S, fill: bool, steps: impl FnOnce(&mut Content)) {
        let width = style.stroke_width() as f32;
        let content = self.colour(style.color());
        if !fill {
            content.set_line_width(width);
            content.set_line_cap(LineCapStyle::ButtCap).set_line_join(LineJoinStyle::MiterJoin);
        }
        steps(content);
        if fill {
            content.fill_nonzero();
        } else {
            content.stroke();
        }
    }
}

fn float((x, y): BackendCoord) -> (f32, f32) {
    (x as f32, y as f32)
}

/// Moves to the first point and draws lines to the others.
fn lines(content: &mut Content, points: impl IntoIterator<Item = BackendCoord>) {
    for (i, (x, y)) in points.into_iter().map(float).enumerate() {
        if i == 0 {
            content.move_to(x, y);
        } else {
            content.line_to(x, y);
        }
    }
}

type Drawn = Result<(), DrawingErrorKind<Infallible>>;

impl DrawingBackend for Pen<'_> {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        self.0.size
    }

    fn ensure_prepared(&mut self) -> Drawn {
        Ok(())
    }

    fn present(&mut self) -> Drawn {
        Ok(())
    }

    fn draw_pixel(&mut self, point: BackendCoord, color: BackendColor) -> Drawn {
        self.draw_rect(point, (point.0 + 1, point.1 + 1), &color, true)
    }

    fn draw_line<S: BackendStyle>(&mut self, from: BackendCoord, to: BackendCoord, style: &S) -> Drawn {
        self.draw_path([from, to], style)
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        upper_left: BackendCoord,
        bottom_right: BackendCoord,
        style: &S,
        fill: bool,
    ) -> Drawn {
        let ((x, y), (right, low)) = (float(upper_left), float(bottom_right));
        self.path(style, fill, |content| {
            content.rect(x, y, right - x, low - y);
        });
        Ok(())
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Drawn {
        let points: Vec<BackendCoord> = path.into_iter().collect();
        let closed = points.len() > 2 && points.first() == points.last();
        self.path(style, false, |content| {
            lines(content, points);
            if closed {
                content.close_path();
            }
        });
        Ok(())
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        center: BackendCoord,
        radius: u32,
        style: &S,
        fill: bool,
    ) -> Drawn {
        let ((x, y), r) = (float(center), radius as f32);
        let q = QUARTER * r;
        self.path(style, fill, |content| {
            content.move_to(x + r, y);
            content.cubic_to(x + r, y + q, x + q, y + r, x, y + r);
            content.cubic_to(x - q, y + r, x - r, y + q, x - r, y);
            content.cubic_to(x - r, y - q, x - q, y - r, x, y - r);
            content.cubic_to(x + q, y - r, x + r, y - q, x + r, y).close_path();
        });
        Ok(())
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        vert: I,
        style: &S,
    ) -> Drawn {
        self.path(style, true, |content| {
            lines(content, vert);
            content.close_path();
        });
        Ok(())
    }

    fn draw_text<S: BackendTextStyle>(&mut self, text: &str, style: &S, pos: BackendCoord) -> Drawn {
        let em = (style.size() * FONT_SHARE) as f32;
        let face = usize::from(matches!(style.style(), FontStyle::Bold));
        let (glyphs, width) = self.0.faces[face].glyphs(text);
        let along = match style.anchor().h_pos {
            HPos::Left => 0.0,
            HPos::Center => -0.5 * width * em,
            HPos::Right => -width * em,
        };
        let down = match style.anchor().v_pos {
            VPos::Top => CAPITAL * em,
            VPos::Center => 0.5 * X_HEIGHT * em,
            VPos::Bottom => -0.5 * X_HEIGHT * em,
        };
        // The directions of the line and of its letters.
        let [a, b, c, d] = match style.transform() {
            FontTransform::None => [1.0, 0.0, 0.0, -1.0],
            FontTransform::Rotate90 => [0.0, 1.0, 1.0, 0.0],
            FontTransform::Rotate180 => [-1.0, 0.0, 0.0, 1.0],
            FontTransform::Rotate270 => [0.0, -1.0, -1.0, 0.0],
        };
        let (x, y) = float(pos);
        let start = (x + along * a - down * c, y + along * b - down * d);
        let content = self.colour(style.color());
        content.begin_text().set_font(Name(font_name(face).as_bytes()), em);
        content.set_text_matrix([a, b, c, d, start.0, start.1]).show(Str(&glyphs)).end_text();
        Ok(())
    }
}
