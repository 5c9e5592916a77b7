use std::io::Write;

use flate2::Compression as Level;
use flate2::write::{GzEncoder, ZlibEncoder};
use proptest::prelude::*;

use super::*;

fn compress(bytes: &[u8], how: Compression, level: u32) -> Vec<u8> {
    let level = Level::new(level);
    match how {
        Compression::Gzip => {
            let mut encoder = GzEncoder::new(Vec::new(), level);
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        }
        _ => {
            let mut encoder = ZlibEncoder::new(Vec::new(), level);
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        }
    }
}

fn compressed(bytes: &[u8], how: Compression) -> Vec<u8> {
    compress(bytes, how, 6)
}

fn file_of(bytes: &[u8]) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), bytes).unwrap();
    file
}

fn open(file: &tempfile::NamedTempFile) -> BlockReader {
    BlockReader::open(file.path().to_str().unwrap()).unwrap()
}

fn read_all(stream: &mut Inflate, step: usize) -> Result<Vec<u8>> {
    let (mut out, mut block) = (Vec::new(), vec![0; step]);
    loop {
        match stream.read(&mut block)? {
            0 => return Ok(out),
            count => out.extend_from_slice(&block[..count]),
        }
    }
}

/// Decompresses a file of these bytes, asking for `step` bytes at a time.
fn inflated(bytes: &[u8], how: Compression, step: usize) -> Result<Vec<u8>> {
    read_all(&mut Inflate::new(open(&file_of(bytes)), how)?, step)
}

/// The same with the points found meanwhile, so many bytes apart.
fn inflated_with_points(
    bytes: &[u8],
    how: Compression,
    step: usize,
    distance: u64,
) -> Result<(Vec<u8>, Vec<SeekPoint>)> {
    let mut stream = Inflate::new(open(&file_of(bytes)), how)?;
    stream.note_points(distance);
    let out = read_all(&mut stream, step)?;
    Ok((out, stream.take_points()))
}

#[test]
fn members_one_after_another_read_as_one_stream() {
    for compression in [Compression::Gzip, Compression::Zlib] {
        let empty = compressed(b"", compression);
        let body: Vec<u8> = (0..200_000_u32).flat_map(|i| (i / 7).to_le_bytes()).collect();
        let a = compressed(&body, compression);
        let b = compressed(b"tail", compression);
        let file = [&empty[..], &a, &empty, &empty, &b, &empty].concat();
        assert_eq!(Compression::of_head(&file), compression);
        for step in [1, 7, 4096, 300_000, 10_000_000] {
            if step == 1 {
                assert_eq!(inflated(&b, compression, 1).unwrap(), b"tail");
                continue;
            }
            let want = [&body[..], b"tail"].concat();
            assert!(inflated(&file, compression, step).unwrap() == want, "{step}");
        }
        assert_eq!(inflated(&empty, compression, 10).unwrap(), b"");
        assert_eq!(inflated(b"", compression, 10).unwrap(), b"");
    }
}

#[test]
fn a_cut_off_stream_is_an_error_at_every_byte() {
    for compression in [Compression::Gzip, Compression::Zlib] {
        let file = compressed(b"some text that is some text", compression);
        for cut in 1..file.len() {
            let error = inflated(&file[..cut], compression, 9).unwrap_err();
            assert_eq!(error.kind(), crate::ErrorKind::DataLoss);
            assert!(error.message().starts_with("truncated"), "{cut}: {error}");
        }
    }
}

#[test]
fn what_is_not_compressed_is_an_error() {
    let error = inflated(b"plain text, plainly", Compression::Gzip, 100).unwrap_err();
    assert!(error.message().contains("GZIP"), "{error}");
    assert!(inflated(b"plain text, plainly", Compression::Zlib, 100).is_err());
    let mut trailing = compressed(b"x", Compression::Gzip);
    trailing.extend_from_slice(b"trailing rubbish");
    assert!(inflated(&trailing, Compression::Gzip, 100).is_err());
}

/// Texts and noise, so that blocks of every kind come.
fn body(seed: u64, count: usize) -> Vec<u8> {
    let mut state = seed | 1;
    let mut draw = move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    };
    let mut out = Vec::new();
    while out.len() < count {
        match draw() % 4 {
            0 => (0..draw() % 3000).for_each(|_| out.push(draw() as u8)),
            1 => out.extend(std::iter::repeat_n(draw() as u8, (draw() % 9000) as usize)),
            2 => (0..draw() % 400)
                .for_each(|i| out.extend_from_slice(format!("{} ", i * 7).as_bytes())),
            _ => {
                let far = (draw() as usize % 40_000).min(out.len());
                let part = out[out.len() - far..][..far.min(500)].to_vec();
                out.extend_from_slice(&part);
            }
        }
    }
    out
}

/// Members of several levels, one after another, and what they hold.
fn members(how: Compression) -> (Vec<u8>, Vec<u8>) {
    let (mut stored, mut want) = (Vec::new(), Vec::new());
    for (seed, level) in (1..12).zip([1, 6, 9, 0, 3].into_iter().cycle()) {
        let part = body(seed, if seed == 5 { 0 } else { 400_000 });
        stored.extend(compress(&part, how, level));
        want.extend(part);
    }
    (stored, want)
}

#[test]
fn it_can_be_taken_up_at_every_point() {
    let mut bits = [false; 8];
    for how in [Compression::Gzip, Compression::Zlib] {
        let (stored, want) = members(how);
        let file = file_of(&stored);
        let (bytes, points) = inflated_with_points(&stored, how, 70_000, 0).unwrap();
        assert!(bytes == want);
        assert!(points.len() > 20);
        for point in &points {
            bits[point.bit as usize] = true;
            assert!(want[..point.output as usize].ends_with(&point.window));
            let mut stream = Inflate::resume(open(&file), how, point).unwrap();
            let after = want.len() - point.output as usize;
            let wanted = if point.input % 23 == 0 { after + 1 } else { after.min(10_000) };
            let mut rest = vec![0; wanted];
            let mut count = 0;
            loop {
                match stream.read(&mut rest[count..]).unwrap() {
                    0 => break,
                    more => count += more,
                }
            }
            let start = point.output as usize;
            assert_eq!(count, wanted.min(after));
            assert!(rest[..count] == want[start..start + count], "{} {}", point.input, point.bit);
            assert!(stream.take_points().is_empty());
        }
    }
    assert_eq!(bits, [true; 8]);
}

#[test]
fn points_are_as_far_apart_as_was_asked_for_whatever_is_read_at_a_time() {
    let (stored, want) = members(Compression::Gzip);
    let (bytes, points) =
        inflated_with_points(&stored, Compression::Gzip, 1 << 20, 300_000).unwrap();
    assert!(bytes == want);
    assert!(points.len() > 8);
    let outputs: Vec<u64> = points.iter().map(|point| point.output).collect();
    assert!(outputs[0] >= 300_000);
    let apart: Vec<u64> = outputs.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(apart.iter().all(|apart| (300_000..900_000).contains(apart)), "{apart:?}");
    for step in [999, 50_000] {
        let again = inflated_with_points(&stored, Compression::Gzip, step, 300_000).unwrap();
        assert!(again == (bytes.clone(), points.clone()), "{step}");
    }
}

#[test]
fn headers_with_all_their_fields_are_passed_over() {
    let mut encoder = flate2::GzBuilder::new()
        .extra(vec![1; 300])
        .filename("a name")
        .comment("a comment")
        .write(Vec::new(), Level::best());
    encoder.write_all(b"text").unwrap();
    let stored = encoder.finish().unwrap();
    let (bytes, points) = inflated_with_points(&stored, Compression::Gzip, 100, 0).unwrap();
    assert_eq!((&bytes[..], points.len()), (&b"text"[..], 1));
    assert!(points[0].input > 300);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn looking_for_points_changes_nothing_even_in_hostile_bytes(
        seed in any::<u64>(),
        flips in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        level in 0..10_u32,
        step in 1000..40_000_usize,
    ) {
        let mut stored = compress(&body(seed, 20_000), Compression::Zlib, level);
        let len = stored.len();
        for (at, byte) in flips {
            stored[at.index(len)] = byte;
        }
        let plainly = inflated(&stored, Compression::Zlib, 65_536);
        let noted = inflated_with_points(&stored, Compression::Zlib, step, 0);
        match (plainly, noted) {
            (Ok(plainly), Ok((noted, _))) => prop_assert!(plainly == noted),
            (plainly, noted) => prop_assert_eq!(plainly.is_ok(), noted.is_ok()),
        }
    }

    #[test]
    fn random_bytes_after_a_header_do_no_harm(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = inflated_with_points(&[&[0x78, 0x9c][..], &bytes].concat(), Compression::Zlib, 99, 0);
    }
}
