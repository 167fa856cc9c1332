//! Prepared queries: their names, their session, their index (session.md 5).

use super::check;

#[test]
fn a_query_is_found_by_its_id_and_by_its_name() {
    check(
        "
        queries                         -> nothing, index 1
        query create s7 name=Web        -> s7, index 11
        query create s8 name=db         -> s8, index 12
        queries      -> s7 name=Web created=11 modified=11, s8 name=db created=12 modified=12, index 12
        query-info s7                   -> s7 name=Web created=11 modified=11, index 12
        query-info S7                   -> s7 name=Web created=11 modified=11, index 12
        query-for s7                    -> s7 name=Web created=11 modified=11, index 12
        query-for wEB                   -> s7 name=Web created=11 modified=11, index 12
        query-for We                    -> refused: no such query
        query-info Web                  -> refused: an id has 36 characters
        query-info s9                   -> refused: no such query
    ",
    );
}

#[test]
fn a_query_is_replaced_as_a_whole_and_deleted() {
    check(
        "
        query create s7 name=web        -> s7, index 11
        query update s7 name=db         -> s7, index 12
        query-for web                   -> refused: no such query
        query-for db                    -> s7 name=db created=11 modified=12, index 12
        query update s9 name=x          -> refused: no query s9
        query delete s9                 -> refused: no query s9
        query delete nope               -> refused: an id has 36 characters
        query delete s7                 -> done, index 13
        queries                         -> nothing, index 13
    ",
    );
}

#[test]
fn a_name_is_nobody_elses_name_or_id() {
    check(
        "
        query create s7 name=web        -> s7, index 11
        query create s8 name=WEB        -> refused: WEB is a query's name, index 12
        query create s8 name=s7         -> refused: s7 is a query's id, index 13
        query create s8 template name=web -> refused: web is a query's name, index 14
        query update s7 name=web        -> s7, index 15
        query create s8 name=x flaw=f   -> refused: template: f, index 16
        query create s8 name=x session=s9 -> refused: invalid session s9, index 17
        queries                         -> s7 name=web created=11 modified=15, index 15
    ",
    );
}

#[test]
fn the_template_with_the_longest_beginning_serves_a_name() {
    check(
        "
        query create s6 template        -> s6, index 11
        query create s7 template name=geo- -> s7, index 12
        query create s8 template name=geo-db- -> s8, index 13
        query create s9 name=geo-db-x   -> s9, index 14
        query create s5 template        -> refused: another template without a name, index 15
        query-for Geo-web               -> s7 name=geo- created=12 modified=12, index 14
        query-for geo-db-1              -> s8 name=geo-db- created=13 modified=13, index 14
        query-for geo-db-x              -> s9 name=geo-db-x created=14 modified=14, index 14
        query-for geo                   -> s6 name= created=11 modified=11, index 14
    ",
    );
}

#[test]
fn a_query_falls_with_its_session_in_the_same_index() {
    check(
        "
        session create s1               -> s1, index 11
        session create s2               -> s2, index 12
        query create s7 name=web session=S1 -> s7, index 13
        query create s8 session=s1      -> s8, index 14
        query create s9 name=db session=s2 -> s9, index 15
        wait w queries index=15         -> waits
        session destroy s1              -> destroyed s1, index 16; w: s9 name=db created=15 modified=15, index 16
        query-for web                   -> refused: no such query
        query delete s9                 -> done, index 17
        session destroy s2              -> destroyed s2, index 18
        queries                         -> nothing, index 17
    ",
    );
}
