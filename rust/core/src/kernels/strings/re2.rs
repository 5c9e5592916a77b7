//! RE2's patterns, which TensorFlow takes, in the words of the `regex` crate.
//!
//! Both match the same way; the syntax differs at the edges. Here `\d`, `\s`, `\w` and `\b` are of
//! ASCII, `[` and `&&` within a class are themselves, `\C` is any byte, `\Q...\E` is literal, a
//! brace that is no repetition is itself, and there are no flags but `i`, `m`, `s` and `U`. The
//! class syntax is spelled out item by item, so that nothing of the other's own creeps in.

/// The most repetitions of one thing that RE2 allows.
const MOST_REPEATS: u32 = 1000;

/// The pattern for the `regex` crate.
///
/// # Errors
/// What RE2 says of a pattern that it does not take; other mistakes are left to the compiler.
pub(super) fn translated(pattern: &str) -> Result<String, String> {
    let chars: Vec<char> = pattern.chars().collect();
    let mut reader = Reader { chars: &chars, at: 0, out: String::with_capacity(pattern.len() * 2) };
    reader.pattern()?;
    Ok(reader.out)
}

struct Reader<'a> {
    chars: &'a [char],
    at: usize,
    out: String,
}

/// What may follow: RE2 takes no repetition of a repetition.
#[derive(Clone, PartialEq)]
enum Last {
    Other,
    Repeat(String),
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn text(&self, from: usize) -> String {
        self.chars[from..self.at.min(self.chars.len())].iter().collect()
    }

    fn next(&mut self) -> Option<char> {
        let found = self.peek();
        self.at += usize::from(found.is_some());
        found
    }

    fn starts_with(&self, text: &str) -> bool {
        text.chars().enumerate().all(|(k, c)| self.chars.get(self.at + k) == Some(&c))
    }

    fn pattern(&mut self) -> Result<(), String> {
        let mut last = Last::Other;
        // Where flags begin that nothing stands behind: a repetition is of what is before them.
        let mut flags: Option<usize> = None;
        while let Some(c) = self.peek() {
            let from = self.at;
            let repeat = match c {
                '*' | '+' | '?' => {
                    self.at += 1;
                    Some(c.to_string())
                }
                '{' => self.repetition()?,
                _ => None,
            };
            if let Some(repeat) = repeat {
                if let Last::Repeat(before) = &last {
                    let both = format!("{before}{}", self.text(from));
                    return Err(format!("bad repetition operator: {both}"));
                }
                let lazy = if self.peek() == Some('?') { "?" } else { "" };
                self.at += lazy.len();
                let place = flags.take().unwrap_or(self.out.len());
                self.out.insert_str(place, &format!("{repeat}{lazy}"));
                last = Last::Repeat(self.text(from));
                continue;
            }
            last = Last::Other;
            let start = self.out.len();
            let before = flags.take();
            match c {
                '\\' => self.escape()?,
                '[' => self.class()?,
                '(' => {
                    if self.group()? {
                        flags = before.or(Some(start));
                    }
                }
                '{' | '}' => {
                    self.at += 1;
                    self.out.push('\\');
                    self.out.push(c);
                }
                _ => {
                    self.at += 1;
                    self.out.push(c);
                }
            }
        }
        Ok(())
    }

    /// `{n}`, `{n,}` or `{n,m}`; a brace that is none of these is itself.
    fn repetition(&mut self) -> Result<Option<String>, String> {
        let rest: String = self.chars[self.at..].iter().take(32).collect();
        let Some(end) = rest.find('}') else { return Ok(None) };
        let inner = &rest[1..end];
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let (least, most) = inner.split_once(',').unwrap_or((inner, inner));
        if !digits(least) || !(digits(most) || most.is_empty() && inner.contains(',')) {
            return Ok(None);
        }
        let number = |text: &str| text.parse::<u32>().unwrap_or(u32::MAX);
        let upper = if most.is_empty() { number(least) } else { number(most) };
        if number(least) > MOST_REPEATS || upper > MOST_REPEATS || number(least) > upper {
            return Err(format!("invalid repetition size: {{{inner}}}"));
        }
        self.at += end + 1;
        Ok(Some(format!("{{{inner}}}")))
    }

    /// What stands after `(`: a group, its name, or flags. True for flags without a group.
    fn group(&mut self) -> Result<bool, String> {
        let from = self.at;
        self.at += 1;
        if self.peek() != Some('?') {
            self.out.push('(');
            return Ok(false);
        }
        if self.starts_with("?P<") {
            self.at += 3;
            let rest = &self.chars[self.at..];
            let len = rest.iter().take_while(|c| c.is_alphanumeric() || **c == '_').count();
            self.at += len + 1;
            if len == 0 || rest.get(len) != Some(&'>') {
                return Err(format!("invalid named capture group: {}", self.text(from)));
            }
            // Nobody can ask for a name: replacements have numbers.
            self.out.push('(');
            return Ok(false);
        }
        self.at += 1;
        self.out.push_str("(?");
        while let Some(c) = self.next() {
            match c {
                'i' | 'm' | 's' | 'U' | '-' => self.out.push(c),
                ':' | ')' => {
                    self.out.push(c);
                    return Ok(c == ')');
                }
                _ => break,
            }
        }
        Err(format!("invalid perl operator: {}", self.text(from)))
    }

    fn escape(&mut self) -> Result<(), String> {
        let from = self.at;
        self.at += 1;
        let Some(c) = self.peek() else { return Err("trailing \\".into()) };
        match c {
            'Q' => {
                self.at += 1;
                while self.at < self.chars.len() && !self.starts_with("\\E") {
                    let c = self.chars[self.at];
                    push_char(&mut self.out, c);
                    self.at += 1;
                }
                self.at = (self.at + 2).min(self.chars.len());
            }
            'C' => self.take("(?s-u:.)"),
            'b' => self.take("(?-u:\\b)"),
            'B' => self.take("(?-u:\\B)"),
            'A' => self.take("\\A"),
            'z' => self.take("\\z"),
            'd' | 'D' | 's' | 'S' | 'w' | 'W' => {
                self.at += 1;
                let set = perl_class(c);
                self.out.push_str(&format!("[{set}]"));
            }
            'p' | 'P' => {
                let set = self.property()?;
                self.out.push_str(&set);
            }
            _ => {
                let found = self.character(from)?;
                push_char(&mut self.out, found);
            }
        }
        Ok(())
    }

    fn take(&mut self, text: &str) {
        self.at += 1;
        self.out.push_str(text);
    }

    /// `\pL`, `\p{Greek}`, `\P…`, `\p{^…}`, after the backslash.
    fn property(&mut self) -> Result<String, String> {
        let from = self.at - 1;
        let mut negated = self.next() == Some('P');
        let name: String = match self.next() {
            Some('{') => {
                if self.peek() == Some('^') {
                    self.at += 1;
                    negated = !negated;
                }
                let rest = &self.chars[self.at..];
                let Some(end) = rest.iter().position(|c| *c == '}') else {
                    return Err(format!("invalid character class range: {}", self.text(from)));
                };
                self.at += end + 1;
                rest[..end].iter().collect()
            }
            Some(c) => c.to_string(),
            None => return Err(format!("invalid character class range: {}", self.text(from))),
        };
        if name == "Any" {
            return Ok(
                if negated { "[^\\x{0}-\\x{10FFFF}]" } else { "[\\x{0}-\\x{10FFFF}]" }.into()
            );
        }
        // The names of RE2 are general categories and scripts.
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return Err(format!("invalid character class range: {}", self.text(from)));
        }
        let letter = if negated { 'P' } else { 'p' };
        Ok(format!("\\{letter}{{{name}}}"))
    }

    /// An escape that is one character; `from` is the place of its backslash.
    fn character(&mut self, from: usize) -> Result<char, String> {
        let bad = |reader: &Self| Err(format!("invalid escape sequence: {}", reader.text(from)));
        let Some(c) = self.next() else { return Err("trailing \\".into()) };
        match c {
            'a' => Ok('\x07'),
            'f' => Ok('\x0c'),
            'n' => Ok('\n'),
            'r' => Ok('\r'),
            't' => Ok('\t'),
            'v' => Ok('\x0b'),
            '0'..='7' => {
                // One digit of 1 to 7 alone would be a reference back.
                if c != '0' && !matches!(self.peek(), Some('0'..='7')) {
                    return bad(self);
                }
                let mut value = c.to_digit(8).unwrap_or(0);
                for _ in 0..2 {
                    let Some(digit) = self.peek().and_then(|c| c.to_digit(8)) else { break };
                    value = value * 8 + digit;
                    self.at += 1;
                }
                char::from_u32(value).map_or_else(|| bad(self), Ok)
            }
            'x' => {
                let braced = self.peek() == Some('{');
                let digits: String = if braced {
                    let rest = &self.chars[self.at + 1..];
                    let Some(end) = rest.iter().position(|c| *c == '}') else { return bad(self) };
                    self.at += end + 2;
                    rest[..end].iter().collect()
                } else {
                    let end = (self.at + 2).min(self.chars.len());
                    let digits = self.chars[self.at..end].iter().collect();
                    self.at = end;
                    digits
                };
                let fits = if braced { (1..=8).contains(&digits.len()) } else { digits.len() == 2 };
                let fits = fits && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
                let value = u32::from_str_radix(&digits, 16).ok().filter(|_| fits);
                value.and_then(char::from_u32).map_or_else(|| bad(self), Ok)
            }
            // Punctuation is itself.
            _ if c.is_ascii() && !c.is_ascii_alphanumeric() => Ok(c),
            _ => bad(self),
        }
    }

    fn class(&mut self) -> Result<(), String> {
        let whole = self.at;
        self.at += 1;
        self.out.push('[');
        if self.peek() == Some('^') {
            self.at += 1;
            self.out.push('^');
        }
        let mut first = true;
        loop {
            match self.peek() {
                None => {
                    self.at = self.chars.len();
                    return Err(format!("missing ]: {}", self.text(whole)));
                }
                Some(']') if !first => {
                    self.at += 1;
                    self.out.push(']');
                    return Ok(());
                }
                Some('[') if self.starts_with("[:") && self.posix()? => {}
                Some('\\') if self.class_of_escape()? => {}
                Some(_) => self.range(whole)?,
            }
            first = false;
        }
    }

    /// A class of POSIX such as `[:alpha:]`, if one stands here.
    fn posix(&mut self) -> Result<bool, String> {
        let rest: String = self.chars[self.at..].iter().take(32).collect();
        // The colon that opens does not close.
        let Some(end) = rest.get(2..).and_then(|rest| rest.find(":]")) else { return Ok(false) };
        let end = end + 2;
        let name = rest[2..end].trim_start_matches('^');
        let known = [
            "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print",
            "punct", "space", "upper", "word", "xdigit",
        ];
        if !known.contains(&name) {
            return Err(format!("invalid character class range: {}", &rest[..end + 2]));
        }
        self.at += rest[..end + 2].chars().count();
        self.out.push_str(&rest[..end + 2]);
        Ok(true)
    }

    /// A class that an escape within a class stands for, if one stands here.
    fn class_of_escape(&mut self) -> Result<bool, String> {
        match self.chars.get(self.at + 1) {
            Some(c @ ('d' | 'D' | 's' | 'S' | 'w' | 'W')) => {
                self.out.push_str(&format!("[{}]", perl_class(*c)));
                self.at += 2;
            }
            Some('p' | 'P') => {
                self.at += 1;
                let set = self.property()?;
                self.out.push_str(&set);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// A character, or a range of them.
    fn range(&mut self, whole: usize) -> Result<(), String> {
        let from = self.at;
        let low = self.class_character(whole)?;
        let ranged =
            self.peek() == Some('-') && self.chars.get(self.at + 1).is_some_and(|c| *c != ']');
        let high = if ranged {
            self.at += 1;
            self.class_character(whole)?
        } else {
            low
        };
        if high < low {
            return Err(format!("invalid character class range: {}", self.text(from)));
        }
        // RE2 takes a hyphen as itself at either end of a class only.
        let next = self.chars.get(self.at);
        if self.chars[from] == '-'
            && !ranged
            && from > whole + 1
            && self.chars[from - 1] != '^'
            && next != Some(&']')
        {
            let shown: String = self.chars[from - 1..=from].iter().collect();
            return Err(format!("invalid character class range: {shown}"));
        }
        push_char(&mut self.out, low);
        if ranged {
            self.out.push('-');
            push_char(&mut self.out, high);
        }
        Ok(())
    }

    fn class_character(&mut self, whole: usize) -> Result<char, String> {
        let from = self.at;
        match self.next() {
            Some('\\') => self.character(from),
            Some(c) => Ok(c),
            None => Err(format!("missing ]: {}", self.text(whole))),
        }
    }
}

/// The members of a class of Perl's, of ASCII.
fn perl_class(c: char) -> &'static str {
    match c {
        'd' => "0-9",
        'D' => "^0-9",
        's' => "\\t\\n\\f\\r ",
        'S' => "^\\t\\n\\f\\r ",
        'w' => "0-9A-Za-z_",
        _ => "^0-9A-Za-z_",
    }
}

/// A character as itself, whatever it would mean.
fn push_char(out: &mut String, c: char) {
    match c.is_ascii_alphanumeric() || !c.is_ascii() {
        true => out.push(c),
        false => out.push_str(&format!("\\x{:02X}", u32::from(c))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_spelled_out() {
        assert_eq!(translated(r"[\d&&\]]").unwrap(), r"[[0-9]\x26\x26\x5D]");
        assert_eq!(translated(r"[]a-c]").unwrap(), r"[\x5Da-c]");
        assert_eq!(translated(r"[a\-c]").unwrap(), r"[a\x2Dc]");
        assert_eq!(translated(r"[[:]").unwrap(), r"[\x5B\x3A]");
        assert_eq!(translated(r"a{,2}{2}").unwrap(), r"a\{,2\}{2}");
        assert_eq!(translated(r"ab(?i)+?c").unwrap(), r"ab+?(?i)c");
        assert_eq!(translated(r"\Qa.b\E+").unwrap(), r"a\x2Eb+");
    }

    #[test]
    fn what_re2_does_not_take_is_named() {
        for (pattern, text) in [
            ("a**", "bad repetition operator: **"),
            (r"(a)\1", r"invalid escape sequence: \1"),
            ("(?=a)", "invalid perl operator: (?="),
            ("[a", "missing ]: [a"),
            ("a{1001}", "invalid repetition size: {1001}"),
        ] {
            assert_eq!(translated(pattern), Err(text.to_owned()), "{pattern}");
        }
    }
}
