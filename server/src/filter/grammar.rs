//! The grammar of filter expressions, inferred from errors of a real Consul 1.8.7, which name rules and
//! expected terminals.

use super::peg;
use super::peg::Pattern::{
    Ahead, Any, Checked, Choice, Class, Complaint, Literal, NotAhead, OneOrMore, Optional,
    Prefixed, Sequence, ZeroOrMore,
};
use crate::go::quote::unquote::unquote;

/// A part of a rule of this grammar.
type Pattern = peg::Pattern<Rule>;

/// Required space.
const SPACE: Pattern = rule(Rule::Space);
/// Optional space.
const GAP: Pattern = Optional(&SPACE);

const IN_OR_NOT_IN: Pattern = Choice(&[rule(Rule::In), rule(Rule::NotIn)]);
const SIGN: Pattern = Optional(&Literal("-"));
const DIGIT: Pattern = Class("[0-9]", |c| c.is_ascii_digit());
const RAW: Pattern = ZeroOrMore(&rule(Rule::RawCharacter));
const QUOTED: Pattern = ZeroOrMore(&rule(Rule::QuotedCharacter));

const fn rule(rule: Rule) -> Pattern {
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
        pub(super) enum Rule {
            $($rule,)*
        }

        impl peg::Rule for Rule {
            fn is_character(self) -> bool {
                matches!(self, Rule::RawCharacter | Rule::QuotedCharacter)
            }

            fn shown(self) -> &'static str {
                match self {
                    $(Rule::$rule => $shown,)*
                }
            }

            fn pattern(self) -> &'static Pattern {
                match self {
                    $(Rule::$rule => const { &$pattern },)*
                }
            }
        }
    };
}

grammar! {
    Input "Input" = Choice(&[
        Sequence(&[GAP, Literal("("), GAP, rule(Rule::Or), GAP, Literal(")"), GAP, rule(Rule::End)]),
        Sequence(&[GAP, rule(Rule::Or), GAP, rule(Rule::End)]),
    ]);
    // Consul's grammar is right-recursive here and in the next rule; the attempts are the same.
    Or "OrExpression" = Sequence(&[
        rule(Rule::And), ZeroOrMore(&Sequence(&[SPACE, Literal("or"), SPACE, rule(Rule::And)])),
    ]);
    And "AndExpression" = Sequence(&[
        rule(Rule::Not), ZeroOrMore(&Sequence(&[SPACE, Literal("and"), SPACE, rule(Rule::Not)])),
    ]);
    // Consul's rule is recursive, and accepts a hundred thousand `not`s.
    Not "NotExpression" = Prefixed(&Sequence(&[Literal("not"), SPACE]), &rule(Rule::Grouping));
    Grouping "\"grouping\"" = Choice(&[
        Sequence(&[Literal("("), GAP, rule(Rule::Or), GAP, Literal(")")]),
        rule(Rule::SelectorOpValue),
        rule(Rule::SelectorOp),
        rule(Rule::ValueOpSelector),
        Sequence(&[
            Literal("("), GAP, rule(Rule::Or), GAP, NotAhead(&Literal(")")), Complaint("Unmatched parentheses"),
        ]),
    ]);
    SelectorOpValue "\"match\"" = Sequence(&[
        rule(Rule::Selector),
        Choice(&[
            rule(Rule::Equal),
            rule(Rule::NotEqual),
            rule(Rule::Contains),
            rule(Rule::NotContains),
            rule(Rule::Matches),
            rule(Rule::NotMatches),
        ]),
        rule(Rule::Value),
    ]);
    SelectorOp "\"match\"" = Sequence(&[
        rule(Rule::Selector), Choice(&[rule(Rule::IsEmpty), rule(Rule::IsNotEmpty)]),
    ]);
    ValueOpSelector "\"match\"" = Choice(&[
        Sequence(&[rule(Rule::Value), IN_OR_NOT_IN, rule(Rule::Selector)]),
        Sequence(&[rule(Rule::Value), IN_OR_NOT_IN, NotAhead(&rule(Rule::Selector)), Complaint("Invalid selector")]),
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
    Selector "\"selector\"" = Sequence(&[rule(Rule::Identifier), ZeroOrMore(&rule(Rule::SelectorOrIndex))]);
    Identifier "Identifier" = Sequence(&[
        Class("[a-zA-Z]", |c| c.is_ascii_alphabetic()),
        ZeroOrMore(&Class("[a-zA-Z0-9_]", |c| c.is_ascii_alphanumeric() || c == '_')),
    ]);
    SelectorOrIndex "SelectorOrIndex" = Choice(&[
        Sequence(&[Literal("."), rule(Rule::Identifier)]),
        rule(Rule::Index),
    ]);
    Index "\"index\"" = Choice(&[
        Sequence(&[Literal("["), GAP, rule(Rule::String), GAP, Literal("]")]),
        Sequence(&[Literal("["), GAP, NotAhead(&rule(Rule::String)), Complaint("Invalid index")]),
        Sequence(&[
            Literal("["), GAP, rule(Rule::String), GAP, NotAhead(&Literal("]")),
            Complaint("Unclosed index expression"),
        ]),
    ]);
    Value "\"value\"" = Choice(&[rule(Rule::Selector), rule(Rule::Number), rule(Rule::String)]);
    Number "\"number\"" = Choice(&[
        Sequence(&[SIGN, rule(Rule::IntegerOrFloat), Ahead(&rule(Rule::AfterNumber))]),
        Sequence(&[
            SIGN, rule(Rule::IntegerOrFloat), NotAhead(&rule(Rule::AfterNumber)), Complaint("Invalid number literal"),
        ]),
    ]);
    IntegerOrFloat "IntegerOrFloat" = Sequence(&[
        Choice(&[Literal("0"), Sequence(&[Class("[1-9]", |c| ('1'..='9').contains(&c)), ZeroOrMore(&DIGIT)])]),
        Optional(&Sequence(&[Literal("."), OneOrMore(&DIGIT)])),
    ]);
    AfterNumber "AfterNumbers" = Choice(&[SPACE, rule(Rule::End), Literal(")")]);
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
            Choice(&[Sequence(&[Literal("`"), RAW]), Sequence(&[Literal("\""), QUOTED])]), rule(Rule::End),
            Complaint("Unterminated string literal"),
        ]),
    ]);
    RawCharacter "RawStringChar" = Sequence(&[NotAhead(&Literal("`")), Any]);
    QuotedCharacter "DoubleStringChar" = Sequence(&[NotAhead(&Literal("\"")), Any]);
    Space "\"whitespace\"" = OneOrMore(&Class(r"[ \t\r\n]", |c| " \t\r\n".contains(c)));
    End "EOF" = NotAhead(&Any);
}
