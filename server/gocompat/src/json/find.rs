//! A search that is fast on long strings.

/// Returns the place of the first byte that `picks` accepts.
///
/// Blocks are tested as a whole first, which the compiler turns into vector instructions: bodies are mostly
/// base64, which has no such byte.
pub(super) fn find_byte(bytes: &[u8], picks: impl Fn(u8) -> bool) -> Option<usize> {
    let mut skipped = plain_blocks::<32>(bytes, &picks);
    skipped += plain_blocks::<8>(&bytes[skipped..], &picks);
    let within = bytes[skipped..].iter().position(|&byte| picks(byte));
    within.map(|within| skipped + within)
}

/// Returns the length of the leading blocks without such a byte.
fn plain_blocks<const BLOCK: usize>(bytes: &[u8], picks: impl Fn(u8) -> bool) -> usize {
    let (blocks, _) = bytes.as_chunks::<BLOCK>();
    let is_plain =
        |block: &&[u8; BLOCK]| !block.iter().fold(false, |found, &byte| found | picks(byte));
    BLOCK * blocks.iter().take_while(is_plain).count()
}

#[cfg(test)]
mod tests {
    use super::find_byte;

    #[test]
    fn the_first_one_is_found_at_every_position() {
        for length in 0..100 {
            let mut bytes = vec![b'a'; length];
            assert_eq!(find_byte(&bytes, |byte| byte == b'x'), None);
            for position in (0..length).rev() {
                bytes[position] = b'x';
                assert_eq!(find_byte(&bytes, |byte| byte == b'x'), Some(position));
            }
        }
    }
}
