//! Columns, as Consul's tools print them: two spaces apart, nothing behind the last.

/// Rows of equally many cells, the first being the heads.
pub(super) fn columns(rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().enumerate();
        let line: String = cells
            .map(|(column, cell)| format!("{cell:<width$}  ", width = width(column)))
            .collect();
        text += line.trim_end();
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let row = |cells: [&str; 2]| cells.map(str::to_owned).to_vec();
        let rows = [
            row(["Node", "DC"]),
            row(["a", "dc1"]),
            row(["a-long-one", ""]),
        ];
        assert_eq!(
            columns(&rows),
            "Node        DC\na           dc1\na-long-one\n"
        );
    }
}
