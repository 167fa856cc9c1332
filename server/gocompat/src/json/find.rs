//! Searches in strings, eight bytes at a time: names and values are short, and bodies are mostly base64, in which nothing
//! is found.
//!
//! A search takes a function that marks bytes of a word by their highest bits: [`equal`] and [`below`], or several of them
//! joined. Only the first mark of a word is to be relied on: a byte behind it may be marked by mistake.

const ONES: u64 = u64::from_ne_bytes([0x01; 8]);
const HIGHEST_BITS: u64 = u64::from_ne_bytes([0x80; 8]);

/// Marks the bytes that are zero.
const fn zero(word: u64) -> u64 {
    word.wrapping_sub(ONES) & !word & HIGHEST_BITS
}

/// Marks the bytes that are this one.
pub(super) const fn equal(word: u64, byte: u8) -> u64 {
    zero(word ^ (ONES * byte as u64))
}

/// Marks the bytes that are below this one, which is ASCII.
pub(super) const fn below(word: u64, limit: u8) -> u64 {
    word.wrapping_sub(ONES * limit as u64) & !word & HIGHEST_BITS
}

/// Marks the bytes that are not ASCII.
pub(super) const fn beyond_ascii(word: u64) -> u64 {
    word & HIGHEST_BITS
}

/// Returns the place of the first byte that is marked. No search is for the letter `a`.
pub(super) fn find(bytes: &[u8], marks: impl Fn(u64) -> u64) -> Option<usize> {
    // Base64 is long: four words at a time until one of them is marked.
    let (blocks, _) = bytes.as_chunks::<32>();
    let is_plain = |block: &&[u8; 32]| {
        let words = block.as_chunks::<8>().0.iter();
        words.fold(0, |found, word| found | marks(u64::from_le_bytes(*word))) == 0
    };
    let passed = 32 * blocks.iter().take_while(is_plain).count();
    find_in_words(&bytes[passed..], marks).map(|place| passed + place)
}

fn find_in_words(bytes: &[u8], marks: impl Fn(u64) -> u64) -> Option<usize> {
    let first = |word: [u8; 8]| match marks(u64::from_le_bytes(word)) {
        0 => None,
        found => Some(found.trailing_zeros() as usize / 8),
    };
    let (words, rest) = bytes.as_chunks::<8>();
    for (number, word) in words.iter().enumerate() {
        if let Some(within) = first(*word) {
            return Some(8 * number + within);
        }
    }
    if rest.is_empty() {
        return None;
    }
    if let Some(last) = bytes.last_chunk() {
        // Nothing is marked in what has been searched before.
        return first(*last).map(|within| bytes.len() - 8 + within);
    }
    let mut last = [b'a'; 8];
    last[..rest.len()].copy_from_slice(rest);
    first(last)
}

#[cfg(test)]
mod tests {
    use super::{below, equal, find};

    #[test]
    fn the_first_one_is_found_at_every_position() {
        for length in 0..100 {
            let mut bytes = vec![b'a'; length];
            assert_eq!(find(&bytes, |word| equal(word, b'x')), None);
            for position in (0..length).rev() {
                bytes[position] = b'x';
                assert_eq!(find(&bytes, |word| equal(word, b'x')), Some(position));
            }
        }
    }

    #[test]
    fn each_byte_is_told_from_all_others() {
        for byte in 0..=u8::MAX {
            let bytes = [b'a', byte, b'"', 0x1f];
            let quote_or_control = |word| equal(word, b'"') | below(word, 0x20);
            let expected = if byte == b'"' || byte < 0x20 { 1 } else { 2 };
            assert_eq!(find(&bytes, quote_or_control), Some(expected), "{byte}");
            let high = if byte == 0xe2 { Some(1) } else { None };
            assert_eq!(find(&bytes, |word| equal(word, 0xe2)), high, "{byte}");
        }
    }
}
