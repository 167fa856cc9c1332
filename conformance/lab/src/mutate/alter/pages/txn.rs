//! Transactions: results, errors, and all or nothing.

use crate::mutate::alter::json::text::{elements, list, replaced, values, without};
use crate::mutate::alter::reply::{change_text, set_status, text, with_reply};
use crate::mutate::{Alter, Mutant};
use proconsul_conformance::wire::{Reply, Request};

const PATH: &str = "/v1/txn";
const TXN: &[&str] = &["txn/"];

/// Changes the body of any status.
fn change(reply: &mut Reply, change: impl FnOnce(&str) -> String) {
    if let Some(changed) = text(reply).map(change) {
        reply.body = changed.into_bytes();
    }
}

pub(in crate::mutate::alter) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "txn/results-backwards",
        what: "The results of a transaction come in the order from last to first",
        topics: TXN,
        alter: Alter::Reply(|asked, reply| {
            if asked.path() == PATH {
                change_text(reply, |text| replaced(text, "Results", backwards));
            }
        }),
    },
    Mutant {
        name: "txn/first-error-only",
        what: "Of several errors only the first is shown",
        topics: TXN,
        alter: Alter::Reply(|asked, reply| {
            if asked.path() == PATH {
                change(reply, |text| {
                    replaced(text, "Errors", |errors| {
                        let first = elements(errors).into_iter().next()?;
                        Some(list(&[&errors[first]]))
                    })
                });
            }
        }),
    },
    Mutant {
        name: "txn/values-shown",
        what: "The results of writes show what was written",
        topics: TXN,
        alter: Alter::Reply(|asked, reply| {
            if asked.path() == PATH && asked.is_put() {
                change_text(reply, |text| {
                    replaced(text, "Value", |value| {
                        (value == "null").then(|| "\"dg==\"".to_owned())
                    })
                });
            }
        }),
    },
    Mutant {
        name: "txn/failed-results-are-a-list",
        what: "The Results of a transaction that failed are [] instead of null",
        topics: TXN,
        alter: Alter::Reply(|asked, reply| {
            if asked.path() == PATH && reply.status == 409 {
                change(reply, |text| {
                    replaced(text, "Results", |_| Some("[]".to_owned()))
                });
            }
        }),
    },
    Mutant {
        name: "txn/errors-left-out",
        what: "A transaction without errors shows no Errors",
        topics: TXN,
        alter: Alter::Reply(|asked, reply| {
            if asked.path() == PATH {
                change_text(reply, |text| {
                    without(text, "Errors", |errors| errors == "null")
                });
            }
        }),
    },
    Mutant {
        name: "txn/failure-is-200",
        what: "A transaction that failed is 200",
        topics: TXN,
        alter: Alter::Reply(|asked, reply| {
            if asked.path() == PATH && reply.status == 409 {
                set_status(reply, 200, "OK");
            }
        }),
    },
    Mutant {
        name: "txn/operations-counted-from-one",
        what: "OpIndex is one too high",
        topics: TXN,
        alter: Alter::Reply(|asked, reply| {
            if asked.path() == PATH {
                change(reply, |text| {
                    replaced(text, "OpIndex", |index| {
                        index.parse().ok().map(|index: u64| (index + 1).to_string())
                    })
                });
            }
        }),
    },
    Mutant {
        name: "txn/first-half-stays",
        what: "A transaction that fails leaves its first write behind",
        topics: TXN,
        alter: Alter::Exchange(|scene, asked| {
            with_reply(scene.forward(asked), |reply| {
                if asked.path() == PATH
                    && reply.status == 409
                    && let Some(body) = asked.body_text()
                    && let Some(first) = elements(body).into_iter().next()
                    && body[first.clone()].contains("\"set\"")
                {
                    let half = list(&[&body[first]]);
                    scene.ask(&Request::put(PATH, half));
                }
            })
        }),
    },
    Mutant {
        name: "txn/last-operation-lost",
        what: "The last operation of a transaction is not done",
        topics: TXN,
        alter: Alter::Request(|asked| {
            if asked.path() == PATH
                && let Some(body) = asked.body_text()
            {
                let parts = elements(body);
                if (2..=64).contains(&parts.len()) {
                    let kept: Vec<&str> = parts[..parts.len() - 1]
                        .iter()
                        .map(|part| &body[part.clone()])
                        .collect();
                    let kept = list(&kept);
                    asked.set_body(&kept);
                }
            }
        }),
    },
    Mutant {
        name: "txn/indexes-differ",
        what: "The writes of one transaction have indexes of their own",
        topics: TXN,
        alter: Alter::Reply(|asked, reply| {
            if asked.path() == PATH {
                change_text(reply, |text| {
                    let places = values(text, "ModifyIndex");
                    match places.last().cloned() {
                        Some(place) if places.len() > 1 => {
                            let index: u64 = text[place.clone()].parse().unwrap_or_default();
                            let mut text = text.to_owned();
                            text.replace_range(place, &(index + 1).to_string());
                            text
                        }
                        _ => text.to_owned(),
                    }
                });
            }
        }),
    },
];

/// A list from its end; `None` when that changes nothing.
fn backwards(text: &str) -> Option<String> {
    let parts = elements(text);
    let turned: Vec<&str> = parts.iter().rev().map(|part| &text[part.clone()]).collect();
    (parts.len() > 1).then(|| list(&turned))
}
