//! Splitters: which part of the requests goes where. One that leads to another takes over its parts.

use std::collections::BTreeMap;

use super::{ChainError, ChainNode, ChainSplit, Compiler};

/// The most parts of one splitter. Consul has no bound: splitters that lead to each other twice double their parts.
const MOST_SPLITS: usize = 10_000;
/// A weight of one, in hundredths of a percent.
const WHOLE: i64 = 100 * 100;

impl Compiler<'_> {
    /// Adds the splitters that a service leads to, or else its resolver. Returns the id of the first node.
    pub(super) fn split_or_resolve(&mut self, service: &str) -> Result<String, ChainError> {
        self.note_defaults(service);
        let mut open = Vec::new();
        let first = self.splitter_id_or_resolve(service, &mut open)?;
        while let Some(service) = open.pop() {
            self.add_splitter(&service, &mut open)?;
        }
        Ok(first)
    }

    /// Returns the id of the service's splitter, which is to be added, or of its resolver.
    fn splitter_id_or_resolve(
        &mut self,
        service: &str,
        open: &mut Vec<String>,
    ) -> Result<String, ChainError> {
        let Some((name, _)) = self.advanced("service-splitter", service) else {
            let target = self.target(service, "", "");
            return self.resolve(target);
        };
        let id = format!("splitter:{}", self.name(&name));
        open.push(name);
        Ok(id)
    }

    fn add_splitter(&mut self, service: &str, open: &mut Vec<String>) -> Result<(), ChainError> {
        let Some((service, splitter)) = self.advanced("service-splitter", service) else {
            return Ok(());
        };
        let name = self.name(&service);
        let id = format!("splitter:{name}");
        if self.chain.nodes.contains_key(&id) {
            return Ok(());
        }
        self.note_defaults(&service);
        let mut splits = Vec::new();
        for split in splitter.list("Splits") {
            let to = split.text("Service");
            let to = if to.is_empty() { &service } else { to };
            let (subset, namespace) = (split.text("ServiceSubset"), split.text("Namespace"));
            let next = if *to == service || !subset.is_empty() {
                let target = self.target(to, subset, namespace);
                self.resolve(target)?
            } else {
                self.splitter_id_or_resolve(to, open)?
            };
            splits.push(ChainSplit {
                weight: split.number("Weight"),
                definition: split.clone(),
                next,
            });
        }
        self.chain
            .nodes
            .insert(id, ChainNode::Splitter { name, splits });
        Ok(())
    }

    /// Lets each splitter take over the parts of the splitters that it leads to, and removes those that nothing leads to
    /// any more.
    pub(super) fn flatten_splitters(&mut self) -> Result<(), ChainError> {
        let mut flat: BTreeMap<String, Vec<ChainSplit>> = BTreeMap::new();
        let firsts: Vec<String> = match &self.chain.nodes.get(&self.chain.start) {
            Some(ChainNode::Router { routes, .. }) => {
                routes.iter().map(|(_, next)| next.clone()).collect()
            }
            _ => vec![self.chain.start.clone()],
        };
        for first in &firsts {
            self.flatten_from(first, &mut flat)?;
        }
        for (id, splits) in flat {
            if !firsts.contains(&id) {
                self.chain.nodes.remove(&id);
            } else if let Some(ChainNode::Splitter { splits: own, .. }) =
                self.chain.nodes.get_mut(&id)
            {
                *own = splits;
            }
        }
        Ok(())
    }

    /// Flattens a splitter after all that it leads to, without recursion.
    fn flatten_from(
        &self,
        first: &str,
        flat: &mut BTreeMap<String, Vec<ChainSplit>>,
    ) -> Result<(), ChainError> {
        let mut path = vec![(first.to_owned(), 0)];
        while let Some((id, done)) = path.last_mut() {
            let Some(ChainNode::Splitter { splits, .. }) = self.chain.nodes.get(id) else {
                path.pop();
                continue;
            };
            let next = if flat.contains_key(id) {
                None
            } else {
                splits.get(*done)
            };
            *done += 1;
            let id = id.clone();
            match next {
                Some(next) if path.iter().any(|(above, _)| *above == next.next) => {
                    let path = path.iter().map(|(id, _)| id.as_str());
                    let circle: Vec<&str> = path.chain([next.next.as_str()]).collect();
                    return Err(ChainError(format!(
                        "detected circular reference: [{}]",
                        circle.join(" -> ")
                    )));
                }
                Some(next) => path.push((next.next.clone(), 0)),
                None => {
                    if !flat.contains_key(&id) {
                        flat.insert(id, flattened(splits, flat)?);
                    }
                    path.pop();
                }
            }
        }
        Ok(())
    }
}

/// Returns splits in which those that lead to flat splitters are replaced by the parts of these.
fn flattened(
    splits: &[ChainSplit],
    flat: &BTreeMap<String, Vec<ChainSplit>>,
) -> Result<Vec<ChainSplit>, ChainError> {
    let mut all = Vec::new();
    for split in splits {
        match flat.get(&split.next) {
            None => all.push(split.clone()),
            Some(parts) => all.extend(parts.iter().map(|part| ChainSplit {
                weight: (split.weight * part.weight + WHOLE / 2).div_euclid(WHOLE),
                ..part.clone()
            })),
        }
        if all.len() > MOST_SPLITS {
            return Err(ChainError("a splitter has too many parts".to_owned()));
        }
    }
    Ok(all)
}
