//! The rules of identities and templated policies, which have no policy of their own (acl.md 8.2, 8.3).
