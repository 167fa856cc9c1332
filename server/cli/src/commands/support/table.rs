//! Texts in columns, as Consul's command prints them.

/// Prints rows below their heads, with two spaces between columns.
pub(in crate::commands) fn columns<'h>(
    heads: impl IntoIterator<Item = &'h str>,
    rows: impl IntoIterator<Item = Vec<String>>,
) -> String {
    let heads = heads.into_iter().map(str::to_owned).collect();
    let rows: Vec<Vec<String>> = std::iter::once(heads).chain(rows).collect();
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let line = |row: &Vec<String>| {
        let cells = row.iter().enumerate();
        let cells = cells.map(|(column, cell)| format!("{cell:<width$}  ", width = width(column)));
        cells.collect::<String>().trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

/// Prints one line per field.
pub(in crate::commands) fn fields<const N: usize>(fields: [(&str, String); N]) -> String {
    let line =
        |(name, value): (&str, String)| format!("{name:<17}{value}").trim_end().to_owned() + "\n";
    fields.into_iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let row = |cells: [&str; 2]| cells.map(str::to_owned).to_vec();
        let rows = [row(["a", "dc1"]), row(["a-long-one", ""])];
        assert_eq!(
            columns(["Node", "DC"], rows),
            "Node        DC\na           dc1\na-long-one\n"
        );
    }
}
