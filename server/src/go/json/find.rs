//! A search that is fast on long strings.

/// Where the first byte stands that `picks` wants.
///
/// Whole blocks are looked at first and without an early end, which the compiler turns into vector instructions: bodies are
/// mostly base64, in which there is nothing to find.
pub(super) fn find_byte(bytes: &[u8], picks: impl Fn(u8) -> bool) -> Option<usize> {
    const BLOCK: usize = 32;
    let has_none = |block: &&[u8]| !block.iter().fold(false, |found, &byte| found | picks(byte));
    let skipped = BLOCK * bytes.chunks_exact(BLOCK).take_while(has_none).count();
    let within = bytes[skipped..].iter().position(|&byte| picks(byte));
    within.map(|within| skipped + within)
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
