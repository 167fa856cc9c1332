//! The grammar of filter expressions, found out from the errors of a real Consul (1.8.7): each of them names the
//! terminals that would have gone on, and its rule.

use super::peg;
use super::peg::Pattern::{
    Ahead, Any, Checked, Choice, Class, Complaint, Literal, NotAhead, OneOrMore, Optional,
    Prefixed, Sequence, ZeroOrMore,
};
use crate::go::unquote::unquote;

/// A rule of the grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Rule {
    Input,
    Or,
    And,
    Not,
    Grouping,
    SelectorOpValue,
    SelectorOp,
    ValueOpSelector,
    Equal,
    NotEqual,
    IsEmpty,
    IsNotEmpty,
    In,
    NotIn,
    Contains,
    NotContains,
    Matches,
    NotMatches,
    Selector,
    Identifier,
    SelectorOrIndex,
    Index,
    Value,
    Number,
    IntegerOrFloat,
    AfterNumber,
    String,
    RawCharacter,
    QuotedCharacter,
    Space,
    End,
}

/// A part of a rule of this grammar.
type Pattern = peg::Pattern<Rule>;

const fn rule(rule: Rule) -> Pattern {
    Pattern::Rule(rule)
}

/// Space that must be there.
const SPACE: Pattern = rule(Rule::Space);
/// Space that may be there.
const GAP: Pattern = Optional(&SPACE);

/// A word between spaces.
macro_rules! words {
    ($($word:literal),*) => {
        Sequence(&[$(SPACE, Literal($word),)* SPACE])
    };
}

impl peg::Rule for Rule {
    fn shown(self) -> &'static str {
        match self {
            Rule::Input => "Input",
            Rule::Or => "OrExpression",
            Rule::And => "AndExpression",
            Rule::Not => "NotExpression",
            Rule::Grouping => "\"grouping\"",
            Rule::SelectorOpValue | Rule::SelectorOp | Rule::ValueOpSelector => "\"match\"",
            Rule::Equal => "MatchEqual",
            Rule::NotEqual => "MatchNotEqual",
            Rule::IsEmpty => "MatchIsEmpty",
            Rule::IsNotEmpty => "MatchIsNotEmpty",
            Rule::In => "MatchIn",
            Rule::NotIn => "MatchNotIn",
            Rule::Contains => "MatchContains",
            Rule::NotContains => "MatchNotContains",
            Rule::Matches => "MatchMatches",
            Rule::NotMatches => "MatchNotMatches",
            Rule::Selector => "\"selector\"",
            Rule::Identifier => "Identifier",
            Rule::SelectorOrIndex => "SelectorOrIndex",
            Rule::Index => "\"index\"",
            Rule::Value => "\"value\"",
            Rule::Number => "\"number\"",
            Rule::IntegerOrFloat => "IntegerOrFloat",
            Rule::AfterNumber => "AfterNumbers",
            Rule::String => "\"string\"",
            Rule::RawCharacter => "RawStringChar",
            Rule::QuotedCharacter => "DoubleStringChar",
            Rule::Space => "\"whitespace\"",
            Rule::End => "EOF",
        }
    }

    fn is_character(self) -> bool {
        matches!(self, Rule::RawCharacter | Rule::QuotedCharacter)
    }

    fn pattern(self) -> &'static Pattern {
        match self {
            Rule::Input => &INPUT,
            Rule::Or => &OR,
            Rule::And => &AND,
            Rule::Not => &NOT,
            Rule::Grouping => &GROUPING,
            Rule::SelectorOpValue => &SELECTOR_OP_VALUE,
            Rule::SelectorOp => &SELECTOR_OP,
            Rule::ValueOpSelector => &VALUE_OP_SELECTOR,
            Rule::Equal => &Sequence(&[GAP, Literal("=="), GAP]),
            Rule::NotEqual => &Sequence(&[GAP, Literal("!="), GAP]),
            Rule::IsEmpty => &Sequence(&[SPACE, Literal("is"), SPACE, Literal("empty")]),
            Rule::IsNotEmpty => &IS_NOT_EMPTY,
            Rule::In => &words!("in"),
            Rule::NotIn => &words!("not", "in"),
            Rule::Contains => &words!("contains"),
            Rule::NotContains => &words!("not", "contains"),
            Rule::Matches => &words!("matches"),
            Rule::NotMatches => &words!("not", "matches"),
            Rule::Selector => &SELECTOR,
            Rule::Identifier => &IDENTIFIER,
            Rule::SelectorOrIndex => &SELECTOR_OR_INDEX,
            Rule::Index => &INDEX,
            Rule::Value => &VALUE,
            Rule::Number => &NUMBER,
            Rule::IntegerOrFloat => &INTEGER_OR_FLOAT,
            Rule::AfterNumber => &AFTER_NUMBER,
            Rule::String => &STRING,
            Rule::RawCharacter => &Sequence(&[NotAhead(&Literal("`")), Any]),
            Rule::QuotedCharacter => &Sequence(&[NotAhead(&Literal("\"")), Any]),
            Rule::Space => &OneOrMore(&Class(r"[ \t\r\n]", |c| " \t\r\n".contains(c))),
            Rule::End => &NotAhead(&Any),
        }
    }
}

const INPUT: Pattern = Choice(&[
    Sequence(&[
        GAP,
        Literal("("),
        GAP,
        rule(Rule::Or),
        GAP,
        Literal(")"),
        GAP,
        rule(Rule::End),
    ]),
    Sequence(&[GAP, rule(Rule::Or), GAP, rule(Rule::End)]),
]);

// Consul's grammar nests to the right here and in the next; the attempts are the same.
const OR: Pattern = Sequence(&[
    rule(Rule::And),
    ZeroOrMore(&Sequence(&[SPACE, Literal("or"), SPACE, rule(Rule::And)])),
]);

const AND: Pattern = Sequence(&[
    rule(Rule::Not),
    ZeroOrMore(&Sequence(&[SPACE, Literal("and"), SPACE, rule(Rule::Not)])),
]);

// Consul's rule calls itself for each `not`, and takes a hundred thousand of them.
const NOT: Pattern = Prefixed(&Sequence(&[Literal("not"), SPACE]), &rule(Rule::Grouping));

const GROUPING: Pattern = Choice(&[
    Sequence(&[Literal("("), GAP, rule(Rule::Or), GAP, Literal(")")]),
    rule(Rule::SelectorOpValue),
    rule(Rule::SelectorOp),
    rule(Rule::ValueOpSelector),
    Sequence(&[
        Literal("("),
        GAP,
        rule(Rule::Or),
        GAP,
        NotAhead(&Literal(")")),
        Complaint("Unmatched parentheses"),
    ]),
]);

const SELECTOR_OP_VALUE: Pattern = Sequence(&[
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

const SELECTOR_OP: Pattern = Sequence(&[
    rule(Rule::Selector),
    Choice(&[rule(Rule::IsEmpty), rule(Rule::IsNotEmpty)]),
]);

const IN_OR_NOT_IN: Pattern = Choice(&[rule(Rule::In), rule(Rule::NotIn)]);

const VALUE_OP_SELECTOR: Pattern = Choice(&[
    Sequence(&[rule(Rule::Value), IN_OR_NOT_IN, rule(Rule::Selector)]),
    Sequence(&[
        rule(Rule::Value),
        IN_OR_NOT_IN,
        NotAhead(&rule(Rule::Selector)),
        Complaint("Invalid selector"),
    ]),
]);

const IS_NOT_EMPTY: Pattern = Sequence(&[
    SPACE,
    Literal("is"),
    SPACE,
    Literal("not"),
    SPACE,
    Literal("empty"),
]);

const SELECTOR: Pattern = Sequence(&[
    rule(Rule::Identifier),
    ZeroOrMore(&rule(Rule::SelectorOrIndex)),
]);

const IDENTIFIER: Pattern = Sequence(&[
    Class("[a-zA-Z]", |c| c.is_ascii_alphabetic()),
    ZeroOrMore(&Class("[a-zA-Z0-9_]", |c| {
        c.is_ascii_alphanumeric() || c == '_'
    })),
]);

const SELECTOR_OR_INDEX: Pattern = Choice(&[
    Sequence(&[Literal("."), rule(Rule::Identifier)]),
    rule(Rule::Index),
]);

const INDEX: Pattern = Choice(&[
    Sequence(&[Literal("["), GAP, rule(Rule::String), GAP, Literal("]")]),
    Sequence(&[
        Literal("["),
        GAP,
        NotAhead(&rule(Rule::String)),
        Complaint("Invalid index"),
    ]),
    Sequence(&[
        Literal("["),
        GAP,
        rule(Rule::String),
        GAP,
        NotAhead(&Literal("]")),
        Complaint("Unclosed index expression"),
    ]),
]);

const VALUE: Pattern = Choice(&[rule(Rule::Selector), rule(Rule::Number), rule(Rule::String)]);

const SIGN: Pattern = Optional(&Literal("-"));

const NUMBER: Pattern = Choice(&[
    Sequence(&[
        SIGN,
        rule(Rule::IntegerOrFloat),
        Ahead(&rule(Rule::AfterNumber)),
    ]),
    Sequence(&[
        SIGN,
        rule(Rule::IntegerOrFloat),
        NotAhead(&rule(Rule::AfterNumber)),
        Complaint("Invalid number literal"),
    ]),
]);

const DIGIT: Pattern = Class("[0-9]", |c| c.is_ascii_digit());

const INTEGER_OR_FLOAT: Pattern = Sequence(&[
    Choice(&[
        Literal("0"),
        Sequence(&[
            Class("[1-9]", |c| ('1'..='9').contains(&c)),
            ZeroOrMore(&DIGIT),
        ]),
    ]),
    Optional(&Sequence(&[Literal("."), OneOrMore(&DIGIT)])),
]);

const AFTER_NUMBER: Pattern = Choice(&[SPACE, rule(Rule::End), Literal(")")]);

const RAW: Pattern = ZeroOrMore(&rule(Rule::RawCharacter));
const QUOTED: Pattern = ZeroOrMore(&rule(Rule::QuotedCharacter));

const STRING: Pattern = Choice(&[
    // An escaped quote ends the string, too, and leaves what Go does not take for a quoted string.
    Checked(
        &Choice(&[
            Sequence(&[Literal("`"), RAW, Literal("`")]),
            Sequence(&[Literal("\""), QUOTED, Literal("\"")]),
        ]),
        |text| unquote(text).is_some(),
        "invalid syntax",
    ),
    Sequence(&[
        Choice(&[
            Sequence(&[Literal("`"), RAW]),
            Sequence(&[Literal("\""), QUOTED]),
        ]),
        rule(Rule::End),
        Complaint("Unterminated string literal"),
    ]),
]);
