//! Old rules in the words of new ones, for `acl/rules/translate` of 1.8.7 (acl.md 8.5.r4).
