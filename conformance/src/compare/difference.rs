//! The lines in which two texts differ.

use std::fmt::Write as _;

/// Equal lines shown around a difference.
const AROUND: usize = 3;

#[derive(Clone, Copy, PartialEq)]
enum Side {
    Both,
    Left,
    Right,
}

/// `None` when both are equal; else the differing lines (`-` only left, `+` only right) with a few equal ones around.
#[must_use]
pub fn difference(left: &[String], right: &[String]) -> Option<String> {
    if left == right {
        return None;
    }
    let merged = merge(left, right);
    let near = |at: usize| {
        let from = at.saturating_sub(AROUND);
        let to = (at + AROUND + 1).min(merged.len());
        merged[from..to].iter().any(|(side, _)| *side != Side::Both)
    };
    let mut text = String::new();
    let mut gap = false;
    for (at, (side, line)) in merged.iter().enumerate() {
        if !near(at) {
            gap = true;
            continue;
        }
        if std::mem::take(&mut gap) {
            text.push_str("  ...\n");
        }
        let sign = match side {
            Side::Both => ' ',
            Side::Left => '-',
            Side::Right => '+',
        };
        writeln!(text, "{sign} {line}").expect("writing into a string cannot fail");
    }
    Some(text)
}

/// Both texts as one, by their longest common subsequence of lines.
fn merge<'t>(left: &'t [String], right: &'t [String]) -> Vec<(Side, &'t str)> {
    // common[i][j]: how many lines left[i..] and right[j..] have in common.
    let mut common = vec![vec![0_u32; right.len() + 1]; left.len() + 1];
    for i in (0..left.len()).rev() {
        for j in (0..right.len()).rev() {
            common[i][j] = if left[i] == right[j] {
                common[i + 1][j + 1] + 1
            } else {
                common[i + 1][j].max(common[i][j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut merged = Vec::with_capacity(left.len() + right.len());
    while i < left.len() || j < right.len() {
        if i < left.len() && j < right.len() && left[i] == right[j] {
            merged.push((Side::Both, left[i].as_str()));
            (i, j) = (i + 1, j + 1);
        } else if j == right.len() || (i < left.len() && common[i + 1][j] >= common[i][j + 1]) {
            merged.push((Side::Left, left[i].as_str()));
            i += 1;
        } else {
            merged.push((Side::Right, right[j].as_str()));
            j += 1;
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn equal_texts_do_not_differ() {
        assert_eq!(difference(&lines("a b"), &lines("a b")), None);
    }

    #[test]
    fn shows_what_is_on_one_side_only_with_its_surroundings() {
        let left = lines("1 2 3 4 5 6 old 7 8 9 10 11");
        let right = lines("1 2 3 4 5 6 new 7 8 9 10 11 12");
        assert_eq!(
            difference(&left, &right).expect("they differ"),
            "  ...\n  4\n  5\n  6\n- old\n+ new\n  7\n  8\n  9\n  10\n  11\n+ 12\n"
        );
    }
}
