//! The grammar of filter expressions, inferred from errors of a real Consul 1.8.7, which name rules and
//! expected terminals.

use super::peg;
use super::peg::Pattern::{
    Ahead, Any, Checked, Choice, Class, Complaint, Literal, NotAhead, OneOrMore, Optional,
    Prefixed, Sequence, ZeroOrMore,
};
use proconsul_gocompat::quote::unquote::unquote;

/// A part of a rule of this grammar.
type Pattern = peg::Pattern<Production>;

/// Required space.
const SPACE: Pattern = rule(Production::Space);
/// Optional space.
const GAP: Pattern = Optional(&SPACE);

const IN_OR_NOT_IN: Pattern = Choice(&[rule(Production::In), rule(Production::NotIn)]);
const SIGN: Pattern = Optional(&Literal("-"));
const DIGIT: Pattern = Class("[0-9]", |c| c.is_ascii_digit());
const RAW: Pattern = ZeroOrMore(&rule(Production::RawCharacter));
const QUOTED: Pattern = ZeroOrMore(&rule(Production::QuotedCharacter));

const fn rule(rule: Production) -> Pattern {
    Pattern::Rule(rule)
}

/// A word between spaces.
macro_rules! words {
    ($($word:literal),*) => {
        Sequence(&[$(SPACE, Literal($word),)* SPACE])
    };
}

/// Declares the rules, each with its name in errors and its pattern.
macro_rules! grammar {
    ($($rule:ident $shown:literal = $pattern:expr;)*) => {
        /// A rule of the grammar.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub(super) enum Production {
            $($rule,)*
        }

        impl peg::GrammarRule for Production {
            fn is_character(self) -> bool {
                matches!(self, Production::RawCharacter | Production::QuotedCharacter)
            }

            fn shown(self) -> &'static str {
                match self {
                    $(Production::$rule => $shown,)*
                }
            }

            fn pattern(self) -> &'static Pattern {
                match self {
                    $(Production::$rule => {
                        const PATTERN: &Pattern = &$pattern;
                        PATTERN
                    })*
                }
            }
        }
    };
}

grammar! {
    Input "Input" = Choice(&[
        Sequence(&[GAP, Literal("("), GAP, rule(Production::Or), GAP, Literal(")"), GAP, rule(Production::End)]),
        Sequence(&[GAP, rule(Production::Or), GAP, rule(Production::End)]),
    ]);
    // Consul's grammar is right-recursive here and in the next rule; the attempts are the same.
    Or "OrExpression" = Sequence(&[
        rule(Production::And), ZeroOrMore(&Sequence(&[SPACE, Literal("or"), SPACE, rule(Production::And)])),
    ]);
    And "AndExpression" = Sequence(&[
        rule(Production::Not), ZeroOrMore(&Sequence(&[SPACE, Literal("and"), SPACE, rule(Production::Not)])),
    ]);
    // Consul's rule is recursive, and accepts a hundred thousand `not`s.
    Not "NotExpression" = Prefixed(&Sequence(&[Literal("not"), SPACE]), &rule(Production::Grouping));
    Grouping "\"grouping\"" = Choice(&[
        Sequence(&[Literal("("), GAP, rule(Production::Or), GAP, Literal(")")]),
        rule(Production::SelectorOpValue),
        rule(Production::SelectorOp),
        rule(Production::ValueOpSelector),
        Sequence(&[
            Literal("("), GAP, rule(Production::Or), GAP, NotAhead(&Literal(")")), Complaint("Unmatched parentheses"),
        ]),
    ]);
    SelectorOpValue "\"match\"" = Sequence(&[
        rule(Production::Selector),
        Choice(&[
            rule(Production::Equal),
            rule(Production::NotEqual),
            rule(Production::Contains),
            rule(Production::NotContains),
            rule(Production::Matches),
            rule(Production::NotMatches),
        ]),
        rule(Production::Value),
    ]);
    SelectorOp "\"match\"" = Sequence(&[
        rule(Production::Selector), Choice(&[rule(Production::IsEmpty), rule(Production::IsNotEmpty)]),
    ]);
    ValueOpSelector "\"match\"" = Choice(&[
        Sequence(&[rule(Production::Value), IN_OR_NOT_IN, rule(Production::Selector)]),
        Sequence(&[rule(Production::Value), IN_OR_NOT_IN, NotAhead(&rule(Production::Selector)), Complaint("Invalid selector")]),
    ]);
    Equal "MatchEqual" = Sequence(&[GAP, Literal("=="), GAP]);
    NotEqual "MatchNotEqual" = Sequence(&[GAP, Literal("!="), GAP]);
    IsEmpty "MatchIsEmpty" = Sequence(&[SPACE, Literal("is"), SPACE, Literal("empty")]);
    IsNotEmpty "MatchIsNotEmpty" = Sequence(&[SPACE, Literal("is"), SPACE, Literal("not"), SPACE, Literal("empty")]);
    In "MatchIn" = words!("in");
    NotIn "MatchNotIn" = words!("not", "in");
    Contains "MatchContains" = words!("contains");
    NotContains "MatchNotContains" = words!("not", "contains");
    Matches "MatchMatches" = words!("matches");
    NotMatches "MatchNotMatches" = words!("not", "matches");
    Selector "\"selector\"" = Sequence(&[rule(Production::Identifier), ZeroOrMore(&rule(Production::SelectorOrIndex))]);
    Identifier "Identifier" = Sequence(&[
        Class("[a-zA-Z]", |c| c.is_ascii_alphabetic()),
        ZeroOrMore(&Class("[a-zA-Z0-9_]", |c| c.is_ascii_alphanumeric() || c == '_')),
    ]);
    SelectorOrIndex "SelectorOrIndex" = Choice(&[
        Sequence(&[Literal("."), rule(Production::Identifier)]),
        rule(Production::Index),
    ]);
    Index "\"index\"" = Choice(&[
        Sequence(&[Literal("["), GAP, rule(Production::String), GAP, Literal("]")]),
        Sequence(&[Literal("["), GAP, NotAhead(&rule(Production::String)), Complaint("Invalid index")]),
        Sequence(&[
            Literal("["), GAP, rule(Production::String), GAP, NotAhead(&Literal("]")),
            Complaint("Unclosed index expression"),
        ]),
    ]);
    Value "\"value\"" = Choice(&[rule(Production::Selector), rule(Production::Number), rule(Production::String)]);
    Number "\"number\"" = Choice(&[
        Sequence(&[SIGN, rule(Production::IntegerOrFloat), Ahead(&rule(Production::AfterNumber))]),
        Sequence(&[
            SIGN, rule(Production::IntegerOrFloat), NotAhead(&rule(Production::AfterNumber)), Complaint("Invalid number literal"),
        ]),
    ]);
    IntegerOrFloat "IntegerOrFloat" = Sequence(&[
        Choice(&[Literal("0"), Sequence(&[Class("[1-9]", |c| ('1'..='9').contains(&c)), ZeroOrMore(&DIGIT)])]),
        Optional(&Sequence(&[Literal("."), OneOrMore(&DIGIT)])),
    ]);
    AfterNumber "AfterNumbers" = Choice(&[SPACE, rule(Production::End), Literal(")")]);
    // An escaped quote ends the string, too. The rest is not a valid quoted string in Go.
    String "\"string\"" = Choice(&[
        Checked(
            &Choice(&[
                Sequence(&[Literal("`"), RAW, Literal("`")]),
                Sequence(&[Literal("\""), QUOTED, Literal("\"")]),
            ]),
            |text| unquote(text).is_some(),
            "invalid syntax",
        ),
        Sequence(&[
            Choice(&[Sequence(&[Literal("`"), RAW]), Sequence(&[Literal("\""), QUOTED])]), rule(Production::End),
            Complaint("Unterminated string literal"),
        ]),
    ]);
    RawCharacter "RawStringChar" = Sequence(&[NotAhead(&Literal("`")), Any]);
    QuotedCharacter "DoubleStringChar" = Sequence(&[NotAhead(&Literal("\"")), Any]);
    Space "\"whitespace\"" = OneOrMore(&Class(r"[ \t\r\n]", |c| " \t\r\n".contains(c)));
    End "EOF" = NotAhead(&Any);
}
