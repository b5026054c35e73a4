//! Makes a picture small enough for a model: scaled down and encoded again. Decodes within
//! limits, so that a small file that unfolds to a huge picture costs nothing.

use std::io::Cursor;

use image::{
    AnimationDecoder as _, DynamicImage, ImageDecoder as _, ImageFormat, ImageReader, Limits,
    codecs::{gif::GifDecoder, jpeg::JpegEncoder},
};

use super::image::Kind;

/// Pixels on the longest side that a model is shown.
pub(crate) const MAX_SIDE: u32 = 2000;
/// Bytes of a picture that a model is given: 5 MB in base64.
pub(crate) const MAX_BYTES: usize = 3_932_160;
/// Pixels on a side, and bytes of pixels, up to which a picture is decoded.
const MAX_DECODED_SIDE: u32 = 30_000;
const MAX_DECODED_BYTES: u64 = 512 << 20;
/// How often the size is reduced further if the bytes are still too many.
const ROUNDS: u32 = 8;

/// A picture that was made smaller.
#[derive(Debug)]
pub(crate) struct Shrunk {
    pub(crate) kind: Kind,
    pub(crate) bytes: Vec<u8>,
    /// Width and height of the original as it is meant to be seen.
    pub(crate) original: (u32, u32),
    pub(crate) shown: (u32, u32),
}

/// A smaller form of the picture: of one that moves, its first frame. `None` if it can stay
/// as it is; the error says what is wrong with it.
pub(crate) fn shrink(
    kind: Kind,
    dimensions: Option<(u32, u32)>,
    bytes: &[u8],
) -> Result<Option<Shrunk>, String> {
    let large = dimensions.is_none_or(|(width, height)| width.max(height) > MAX_SIDE);
    if !large && bytes.len() <= MAX_BYTES && !moves(kind, bytes) {
        return Ok(None);
    }
    let picture = decode(kind, bytes)?;
    let original = (picture.width(), picture.height());
    let mut side = original.0.max(original.1).min(MAX_SIDE);
    for _ in 0..ROUNDS {
        let smaller;
        let sized = if side < original.0.max(original.1) {
            smaller = picture.thumbnail(side, side);
            &smaller
        } else {
            &picture
        };
        if let Some((kind, bytes)) = encode(kind, sized)? {
            let shown = (sized.width(), sized.height());
            return Ok(Some(Shrunk { kind, bytes, original, shown }));
        }
        side = (side * 3 / 4).max(1);
    }
    Err("cannot be made small enough".to_owned())
}

fn decode(kind: Kind, bytes: &[u8]) -> Result<DynamicImage, String> {
    let damaged = |error: image::ImageError| match error {
        image::ImageError::Limits(_) => {
            "unfolds to more pixels than can be read: make it smaller first".to_owned()
        }
        error => format!("is damaged ({error})"),
    };
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format(kind));
    reader.limits(limits());
    let mut decoder = reader.into_decoder().map_err(damaged)?;
    if decoder.total_bytes() > MAX_DECODED_BYTES {
        return Err("unfolds to more pixels than can be read: make it smaller first".to_owned());
    }
    let turned = decoder.orientation().ok();
    let mut picture = DynamicImage::from_decoder(decoder).map_err(damaged)?;
    if let Some(turned) = turned {
        picture.apply_orientation(turned);
    }
    Ok(picture)
}

/// The first form that is small enough: as it was, else as JPEG of less and less quality.
fn encode(kind: Kind, picture: &DynamicImage) -> Result<Option<(Kind, Vec<u8>)>, String> {
    let failed = |error: image::ImageError| format!("cannot be encoded ({error})");
    if kind != Kind::Jpeg {
        let mut bytes = Vec::new();
        picture.write_to(&mut Cursor::new(&mut bytes), ImageFormat::Png).map_err(failed)?;
        if bytes.len() <= MAX_BYTES {
            return Ok(Some((Kind::Png, bytes)));
        }
    }
    let flat = DynamicImage::from(picture.to_rgb8());
    for quality in [85, 60] {
        let mut bytes = Vec::new();
        JpegEncoder::new_with_quality(&mut bytes, quality).encode_image(&flat).map_err(failed)?;
        if bytes.len() <= MAX_BYTES {
            return Ok(Some((Kind::Jpeg, bytes)));
        }
    }
    Ok(None)
}

/// Whether a picture has more than one frame.
fn moves(kind: Kind, bytes: &[u8]) -> bool {
    match kind {
        Kind::Webp => {
            bytes.get(12..16) == Some(b"VP8X") && bytes.get(20).is_some_and(|flags| flags & 2 != 0)
        }
        Kind::Gif => GifDecoder::new(Cursor::new(bytes)).is_ok_and(|mut decoder| {
            decoder.set_limits(limits()).is_ok() && decoder.into_frames().nth(1).is_some()
        }),
        Kind::Png | Kind::Jpeg => false,
    }
}

fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.max_image_width = Some(MAX_DECODED_SIDE);
    limits.max_image_height = Some(MAX_DECODED_SIDE);
    limits.max_alloc = Some(MAX_DECODED_BYTES);
    limits
}

fn format(kind: Kind) -> ImageFormat {
    match kind {
        Kind::Png => ImageFormat::Png,
        Kind::Jpeg => ImageFormat::Jpeg,
        Kind::Gif => ImageFormat::Gif,
        Kind::Webp => ImageFormat::WebP,
    }
}

#[cfg(test)]
mod tests {
    use image::{Frame, RgbaImage, codecs::gif::GifEncoder};

    use super::*;
    use crate::read::image::dimensions;

    fn encoded(picture: &RgbaImage, format: ImageFormat) -> Vec<u8> {
        let mut bytes = Vec::new();
        let picture = DynamicImage::from(picture.clone());
        let picture = if format == ImageFormat::Jpeg { picture.to_rgb8().into() } else { picture };
        picture.write_to(&mut Cursor::new(&mut bytes), format).unwrap();
        bytes
    }

    fn shrunk(kind: Kind, bytes: &[u8]) -> Result<Option<Shrunk>, String> {
        shrink(kind, dimensions(kind, bytes), bytes)
    }

    #[test]
    fn only_large_pictures_change() {
        let small = encoded(&RgbaImage::new(20, 10), ImageFormat::Png);
        assert!(shrunk(Kind::Png, &small).unwrap().is_none());
        for (kind, format) in [
            (Kind::Png, ImageFormat::Png),
            (Kind::Jpeg, ImageFormat::Jpeg),
            (Kind::Webp, ImageFormat::WebP),
        ] {
            let large = encoded(&RgbaImage::new(2400, 60), format);
            let shrunk = shrunk(kind, &large).unwrap().unwrap();
            assert_eq!((shrunk.original, shrunk.shown), ((2400, 60), (2000, 50)));
            assert_eq!(dimensions(shrunk.kind, &shrunk.bytes), Some((2000, 50)));
            assert_eq!(Kind::of(&shrunk.bytes), Some(shrunk.kind));
        }
    }

    #[test]
    fn too_many_bytes_are_made_fewer() {
        let mut seed = 1u32;
        let noise = RgbaImage::from_fn(1100, 1000, |_, _| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            image::Rgba(seed.to_le_bytes())
        });
        let large = encoded(&noise, ImageFormat::Png);
        assert!(large.len() > MAX_BYTES);
        let shrunk = shrunk(Kind::Png, &large).unwrap().unwrap();
        assert!(shrunk.bytes.len() <= MAX_BYTES);
        assert_eq!(shrunk.kind, Kind::Jpeg);
    }

    #[test]
    fn of_a_moving_picture_the_first_frame_stays() {
        let frames = [[255, 0, 0, 255], [0, 0, 255, 255]]
            .map(|colour| Frame::new(RgbaImage::from_pixel(8, 8, image::Rgba(colour))));
        let mut moving = Vec::new();
        GifEncoder::new(&mut moving).encode_frames(frames.clone()).unwrap();
        let first = shrunk(Kind::Gif, &moving).unwrap().unwrap();
        let picture = image::load_from_memory(&first.bytes).unwrap().to_rgba8();
        assert_eq!(picture.get_pixel(4, 4).0, [255, 0, 0, 255]);
        let mut still = Vec::new();
        GifEncoder::new(&mut still).encode_frames(frames.into_iter().take(1)).unwrap();
        assert!(shrunk(Kind::Gif, &still).unwrap().is_none());
    }

    #[test]
    fn bombs_and_damage_are_refused() {
        // A header that says 60000 x 60000.
        let mut bomb = encoded(&RgbaImage::new(1, 1), ImageFormat::Png);
        bomb[16..24].copy_from_slice(&[0, 0, 0xea, 0x60, 0, 0, 0xea, 0x60]);
        assert!(shrunk(Kind::Png, &bomb).is_err());
        let large = encoded(&RgbaImage::new(2400, 60), ImageFormat::Png);
        assert!(shrunk(Kind::Png, &large[..large.len() / 2]).unwrap_err().contains("damaged"));
    }
}
