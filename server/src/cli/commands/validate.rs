//! `validate`: whether an agent would start with these configuration files.

use std::path::Path;

use super::{Failure, Outcome};
use crate::cli::agent;
use crate::cli::commands::parts::flags::Given;
use crate::cli::output;

commands! {
    "validate" "FILE_OR_DIRECTORY..." validate "Checks configuration files and folders" {
        Text "config-format" "The format of all files, hcl or json, whatever their names";
        Switch "quiet" "Prints nothing if they are valid";
    }
}

async fn validate(given: Given) -> Outcome {
    if given.rest().is_empty() {
        return Err("Must specify at least one config file or directory".into());
    }
    let flag = |path: &String| match Path::new(path).is_dir() {
        true => format!("-config-dir={path}"),
        false => format!("-config-file={path}"),
    };
    let mut arguments: Vec<String> = given.rest().iter().map(flag).collect();
    let format = given.filled("config-format");
    arguments.extend(format.map(|format| format!("-config-format={format}")));
    let warnings = agent::validate(&arguments)
        .map_err(|error| Failure::from(format!("Config validation failed: {error}")))?;
    for warning in warnings {
        output::err(&format!("{warning}\n"));
    }
    Ok(match given.is_set("quiet") {
        true => String::new(),
        false => "Configuration is valid!\n".to_owned(),
    })
}
