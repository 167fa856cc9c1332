//! What a real Consul 1.8.7 takes, and what it says of the rest.

use proptest::prelude::*;

use super::Regexp;
use proconsul_testing::random_cases;
use proconsul_testing::{DEPTHS, on_small_stack};

#[test]
fn what_go_takes() {
    for pattern in [
        "",
        "[]a]",
        "a{1000}",
        "a{",
        "a{,2}",
        "a{2",
        "a*?",
        "^*",
        "(?P<n>a)(?P<n>b)",
        "(?P<1>a)",
        "(?i)A",
        "(?i-s:a)",
        r"\d",
        r"\pL",
        r"\p{Greek}",
        r"\p{Old_Italic}",
        r"\p{Any}",
        r"\p{Nd}",
        r"\P{^Greek}",
        r"\Qa*b\E",
        r"\Q",
        r"\z",
        r"\A",
        r"\b",
        r"\B",
        r"[\d]",
        "[[:alpha:]]",
        "[[:^alpha:]]",
        "[a&&b]",
        "[a[b]",
        r"\01",
        r"\0",
        r"\777",
        r"\_",
        r"\a",
        r"\-",
        r"\ ",
        r"[\w-z]",
        "(?s).",
        "(?U)a+",
        "a{0}",
        "a{-1}",
        "x{2,}",
        "(?i:)",
        "()",
        "|",
        "a||b",
        "$^",
        ".*",
        r"\/",
        "[:alpha:]",
        "[[.a.]]",
        "[[=a=]]",
        "[a-z-9]",
        "[--a]",
        "[a-b-c]",
        "[^]a]",
    ] {
        assert!(Regexp::new(pattern.as_bytes()).is_ok(), "{pattern}");
    }
}

#[test]
fn what_go_says_of_the_rest() {
    for (pattern, problem, place) in [
        ("(", "missing closing )", "("),
        ("(?P<n>", "missing closing )", "(?P<n>"),
        ("a)", "unexpected )", "a)"),
        ("[a", "missing closing ]", "[a"),
        ("x[a-", "missing closing ]", "[a-"),
        ("[]", "missing closing ]", "[]"),
        ("[^", "missing closing ]", "[^"),
        ("[b-a]", "invalid character class range", "b-a"),
        (r"[z-\x61]", "invalid character class range", r"z-\x61"),
        ("[a--b]", "invalid character class range", "a--"),
        ("[[:foo:]]", "invalid character class range", "[:foo:]"),
        (r"\pX", "invalid character class range", r"\pX"),
        (r"\p", "invalid character class range", r"\p"),
        (r"\p{Foo}", "invalid character class range", r"\p{Foo}"),
        (r"\p{", "invalid character class range", r"\p{"),
        (r"\p{greek}", "invalid character class range", r"\p{greek}"),
        (r"\p{Mark}", "invalid character class range", r"\p{Mark}"),
        (r"\p{Cn}", "invalid character class range", r"\p{Cn}"),
        ("a{2,1}", "invalid repeat count", "{2,1}"),
        ("a{1001}", "invalid repeat count", "{1001}"),
        ("(a{500}){500}", "invalid repeat count", "{500}"),
        ("((a{100}){100}){100}", "invalid repeat count", "{100}"),
        ("a{2}{3}", "invalid nested repetition operator", "{2}{3}"),
        ("a**", "invalid nested repetition operator", "**"),
        ("a+*?", "invalid nested repetition operator", "+*?"),
        ("*a", "missing argument to repetition operator", "*"),
        ("a|*", "missing argument to repetition operator", "*"),
        ("(+?)", "missing argument to repetition operator", "+?"),
        ("(?P<n", "invalid named capture", "(?P<n"),
        ("(?P<>a)", "invalid named capture", "(?P<>"),
        ("(?P<é>a)", "invalid named capture", "(?P<é>"),
        ("(?P=n)", "invalid or unsupported Perl syntax", "(?P"),
        ("(?<n>a)", "invalid or unsupported Perl syntax", "(?<"),
        ("(?=a)", "invalid or unsupported Perl syntax", "(?="),
        ("(?z)a", "invalid or unsupported Perl syntax", "(?z"),
        ("(?i", "invalid or unsupported Perl syntax", "(?i"),
        ("(?-)", "invalid or unsupported Perl syntax", "(?-)"),
        ("(?", "invalid or unsupported Perl syntax", "(?"),
        ("a\\", "trailing backslash at end of expression", ""),
        ("[a\\", "trailing backslash at end of expression", ""),
        (r"\8", "invalid escape sequence", r"\8"),
        (r"\1", "invalid escape sequence", r"\1"),
        (r"\Z", "invalid escape sequence", r"\Z"),
        (r"\C", "invalid escape sequence", r"\C"),
        (r"\E", "invalid escape sequence", r"\E"),
        (r"\é", "invalid escape sequence", r"\é"),
        (r"\x", "invalid escape sequence", r"\x"),
        (r"\x4", "invalid escape sequence", r"\x4"),
        (r"\xzz", "invalid escape sequence", r"\xzz"),
        (r"\x{", "invalid escape sequence", r"\x{"),
        (r"\x{110000}", "invalid escape sequence", r"\x{110000"),
        (r"[\b]", "invalid escape sequence", r"\b"),
        (r"[a-\d]", "invalid escape sequence", r"\d"),
    ] {
        let error = Regexp::new(pattern.as_bytes()).expect_err("the pattern is refused");
        let expected = format!("error parsing regexp: {problem}: `{place}`");
        assert_eq!(error.to_string(), expected, "{pattern}");
    }
}

#[test]
fn patterns_mean_what_they_mean_in_go() {
    for (pattern, text, matches) in [
        (r"^\d+$", "12", true),
        (r"^\d+$", "\u{661}", false),
        (r"^\w+$", "é", false),
        (r"^[^\W_]+$", "aZ9", true),
        (r"^[^\W_]+$", "a_", false),
        (r"a\bé", "aé", true),
        ("^[a&&b]+$", "a&b", true),
        ("^[a[b]+$", "[ab", true),
        (r"^\Qa*b\E+$", "a*bb", true),
        (r"^\101\x42\x{43}$", "ABC", true),
        ("(?i)^HELLO$", "hello", true),
        ("^a.c$", "a\nc", false),
        ("(?s)^a.c$", "a\nc", true),
        ("b$", "b\n", false),
        ("(?m)b$", "b\n", true),
        ("^x{2,3}$", "xxxx", false),
        ("^x{,3}$", "x{,3}", true),
        (r"^\p{Greek}+$", "αβγ", true),
        (r"^\P{Greek}+$", "abc", true),
        ("^[[:^alpha:]]$", "1", true),
        ("", "anything", true),
    ] {
        let regexp = Regexp::new(pattern.as_bytes()).expect("the pattern is taken");
        assert_eq!(regexp.matches(text), matches, "{pattern} on {text:?}");
    }
}

#[test]
fn deep_patterns_take_no_stack() {
    on_small_stack(|| {
        // And just below the limit.
        for depth in DEPTHS.into_iter().chain([240, 330, 480, 990]) {
            for [open, close] in [
                ["(", ")"],
                ["(?:a|", ")*"],
                ["(?:(?:", ")*)+?"],
                ["(?:a|b", "c)*"],
                ["(?i:x", "?y)+"],
                ["(a|", ")"],
                ["[[", "]"],
                ["\\Q", ""],
                ["a*", ""],
                ["a|", ""],
            ] {
                let pattern = open.repeat(depth) + "x" + &close.repeat(depth);
                let regexp = Regexp::new(pattern.as_bytes());
                if let Ok(regexp) = &regexp {
                    regexp.matches("xxabcabc");
                }
                let refused = regexp.err().map(|error| error.problem);
                assert!(refused.is_none() || depth > 100, "{open}: {refused:?}");
            }
        }
    });
}

proptest! {
    #![proptest_config(random_cases(2000))]

    #[test]
    fn no_pattern_is_too_much(pattern in r#"[a-c(){}\[\]*+?|^$.\\\-:<>PpdQE0-9,é=i&]{0,14}"#) {
        if let Ok(regexp) = Regexp::new(pattern.as_bytes()) {
            regexp.matches("abc");
        }
    }
}
