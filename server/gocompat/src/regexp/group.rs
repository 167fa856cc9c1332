//! Groups and flags.

use super::{Error, Level, Translation};

const INVALID_NAME: &str = "invalid named capture";
const INVALID_FLAGS: &str = "invalid or unsupported Perl syntax";

impl Translation<'_> {
    /// Translates the start of a group. Names of groups are dropped, because groups are read by number.
    pub(super) fn open_group(&mut self) -> Result<(), Error> {
        if self.rest.starts_with("(?P<") && self.rest.len() > 4 {
            self.name()?;
            self.begin("(");
        } else if self.rest.starts_with("(?") {
            self.flags()?;
        } else {
            self.advance(1);
            self.begin("(");
        }
        Ok(())
    }

    fn begin(&mut self, translated: &str) {
        self.out.push_str(translated);
        self.open.push(std::mem::take(&mut self.level));
        self.groups = self.groups.max(self.open.len());
        self.level = Level::default();
    }

    fn name(&mut self) -> Result<(), Error> {
        let Some(end) = self.rest.find('>') else {
            return Err(Error::new(INVALID_NAME, self.rest));
        };
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        let name = &self.rest[4..end];
        if name.is_empty() || !name.bytes().all(is_name) {
            return Err(Error::new(INVALID_NAME, &self.rest[..=end]));
        }
        self.advance(end + 1);
        Ok(())
    }

    /// Translates `(?flags)`, valid to the end of the group, or `(?flags:` of a group. Flags may be repeated.
    fn flags(&mut self) -> Result<(), Error> {
        let (mut on, mut off) = (String::new(), String::new());
        let (mut negative, mut negated) = (false, false);
        for (at, letter) in self.rest.char_indices().skip(2) {
            let until_here = &self.rest[..at + letter.len_utf8()];
            match letter {
                'i' | 'm' | 's' | 'U' => {
                    on.retain(|flag| flag != letter);
                    off.retain(|flag| flag != letter);
                    if negative { &mut off } else { &mut on }.push(letter);
                    negated |= negative;
                }
                '-' if !negative => negative = true,
                ':' | ')' if negated == negative => {
                    let flags = flags_text(&on, &off);
                    self.advance(at + 1);
                    if letter == ':' {
                        self.begin(&format!("(?{flags}:"));
                    } else if !flags.is_empty() {
                        self.out.push_str(&format!("(?{flags})"));
                    }
                    return Ok(());
                }
                _ => return Err(Error::new(INVALID_FLAGS, until_here)),
            }
        }
        Err(Error::new(INVALID_FLAGS, self.rest))
    }
}

fn flags_text(on: &str, off: &str) -> String {
    if off.is_empty() {
        on.to_owned()
    } else {
        format!("{on}-{off}")
    }
}
