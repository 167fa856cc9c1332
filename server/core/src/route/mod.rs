//! Routes, and Go's rules of matching. Each page declares its own table of routes.

use std::future::ready;
use std::pin::Pin;
use std::sync::Arc;

use http::Method;

use crate::auth::route_rights::Ask;
use crate::failure::Failure;
use crate::reply::Reply;
use crate::request::Request;
use proconsul_engine::aside::Work;
use proconsul_version::{Behaviour, Version};

/// The handler of a route.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Handler {
    /// Answers without waiting: it needs neither the body nor a blocking query.
    AtOnce(fn(&Request) -> Result<Reply, Failure>),
    /// May wait for the body or for a change of the state.
    Waits(fn(Request) -> Handling),
}

/// The future of a handler that may wait. It is boxed: thousands of requests may wait.
pub(crate) type Handling = Pin<Box<dyn Future<Output = Result<Reply, Failure>> + Send>>;

/// Returns the name of a method that HTTP knows.
pub(crate) fn name_of(method: &Method) -> Option<&'static str> {
    const KNOWN: [(Method, &str); 9] = [
        (Method::GET, "GET"),
        (Method::PUT, "PUT"),
        (Method::DELETE, "DELETE"),
        (Method::POST, "POST"),
        (Method::HEAD, "HEAD"),
        (Method::OPTIONS, "OPTIONS"),
        (Method::PATCH, "PATCH"),
        (Method::TRACE, "TRACE"),
        (Method::CONNECT, "CONNECT"),
    ];
    let known = KNOWN.iter().find(|(known, _)| known == method);
    known.map(|(_, name)| *name)
}

impl Handler {
    /// Answers a request.
    pub(crate) fn answer(self, request: Request) -> Work<Result<Reply, Failure>> {
        let is_long = request.is_long(matches!(self, Self::AtOnce(_)));
        let host = Arc::clone(request.context.engine.host());
        let handling = match self {
            Self::AtOnce(handler) if is_long => Box::pin(async move { handler(&request) }),
            _ => self.answer_here(request),
        };
        Work::new(&host, handling, is_long)
    }

    /// Answers a request on this thread, however long that takes.
    pub(crate) fn answer_here(self, request: Request) -> Handling {
        match self {
            Self::AtOnce(handler) => Box::pin(ready(handler(&request))),
            Self::Waits(handler) => handler(request),
        }
    }
}

/// Declares the routes of a page, one per row: the path, its methods in the order of the `Allow` header, and the handler.
/// `at_once(f)` stands for a function of `&Request`, `waits(f)` for an `async fn` of `Request`, and `waits(&f)` for one of
/// `&Request`. Between the methods and the arrow may stand what the route asks for if ACLs are on: `asks acl`,
/// `asks agent:write on agent`; without an access, GET reads and other methods write. The handler says when ([`Request::authorize`]). An endpoint
/// without methods checks the method itself. `since` and `until` name the releases that have it.
///
/// `feature "…";` before the rows names the feature of proconsul without which the routes answer 501, and their handlers are
/// not compiled.
macro_rules! routes {
    (feature $feature:literal; $($rows:tt)*) => {
        #[cfg(feature = $feature)]
        $crate::route::routes! { $($rows)* }
        #[cfg(not(feature = $feature))]
        $crate::route::routes! { @without $feature $($rows)* }
    };
    (@without $feature:literal $(
        $path:literal [$($method:ident)*]
        $(asks $resource:ident $(: $access:ident)? $(on $place:ident)?)?
        => $form:ident $handler:tt $(, $bound:ident $behaviour:path)?;
    )*) => {
        $crate::route::routes! {$(
            $path [$($method)*]
            $(asks $resource $(: $access)? $(on $place)?)?
            => at_once(|request| {
                request.not_answered(concat!("needs the feature \"", $feature, "\" of proconsul"))
            })
            $(, $bound $behaviour)?;
        )*}
    };
    ($(
        $path:literal [$($method:ident)*]
        $(asks $resource:ident $(: $access:ident)? $(on $place:ident)?)?
        => $form:ident $handler:tt $(, $bound:ident $behaviour:path)?;
    )*) => {
        /// The routes of this page.
        pub(crate) const ROUTES: &[$crate::route::Route] = &[$(
            $crate::route::Route::new(
                $path,
                &[$(http::Method::$method),*],
                $crate::route::routes!(@$form $handler),
            )
            $(.asking($crate::auth::route_rights::ask!($resource $(: $access)? $(on $place)?)))?
            $(.$bound($behaviour))?
        ),*];
    };
    (@at_once ($handler:expr)) => { $crate::route::Handler::AtOnce($handler) };
    (@waits (&$handler:path)) => {
        $crate::route::Handler::Waits(|request| {
            Box::pin(async move { $handler(&request).await })
        })
    };
    (@waits ($handler:path)) => {
        $crate::route::Handler::Waits(|request| Box::pin($handler(request)))
    };
}
pub(crate) use routes;

/// A route: a row of a page's table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Route {
    /// The path. One with a slash at its end stands for all paths below it, as in Go's mux.
    pub(crate) path: &'static str,
    /// The methods, in the order of the `Allow` header; empty if the endpoint checks the method itself.
    pub(crate) methods: &'static [Method],
    /// The handler.
    pub(crate) handler: Handler,
    /// What it asks for if ACLs are on.
    pub(crate) asks: Option<Ask>,
    span: Span,
}

/// The releases that have a route.
#[derive(Clone, Copy, Debug)]
enum Span {
    Always,
    Since(Behaviour),
    Until(Behaviour),
}

/// The routes of an API, in the order of their paths.
pub(crate) struct Table(Vec<Row>);

struct Row {
    route: &'static Route,
    /// The row of the nearest folder around the path.
    around: Option<usize>,
}

impl Row {
    fn path(&self) -> &'static [u8] {
        self.route.path.as_bytes()
    }

    /// Whether the route is that of a path, on its own or as a folder.
    fn is_of(&self, path: &[u8]) -> bool {
        let own = self.path();
        path == own || own.ends_with(b"/") && path.starts_with(own)
    }
}

impl Table {
    /// Makes one table of the tables of all pages. No path may be in two rows.
    pub(crate) fn of(pages: &[&'static [Route]]) -> Self {
        let mut routes: Vec<_> = pages.iter().copied().flatten().collect();
        routes.sort_by_key(|route| route.path);
        let mut table = Self(Vec::with_capacity(routes.len()));
        for route in routes {
            let around = table.around(table.0.len(), route.path.as_bytes());
            table.0.push(Row { route, around });
        }
        table
    }

    /// Returns the row of a path among the first `rows` rows, none of which comes behind the path: every folder around the
    /// path is a folder around the last of them, or the last itself.
    fn around(&self, rows: usize, path: &[u8]) -> Option<usize> {
        let outwards = |row: &usize| self.0[*row].around;
        std::iter::successors(rows.checked_sub(1), outwards).find(|row| self.0[*row].is_of(path))
    }

    /// Finds the route of a cleaned path, as Go's mux does: the path itself, then a folder without its slash, then the
    /// nearest folder around the path.
    pub(crate) fn find(&self, path: &[u8]) -> RouteMatch {
        let rows = self.0.partition_point(|row| row.path() <= path);
        let around = self.around(rows, path).map(|row| &self.0[row]);
        if around.is_none_or(|row| row.path() != path) {
            let mut below = self.0[rows..].iter();
            let folder = below.find_map(|row| match row.path().strip_prefix(path) {
                Some(b"/") => Some(Some(row.route)),
                Some(_) => None,
                None => Some(None),
            });
            if let Some(folder) = folder.flatten() {
                return RouteMatch::Slash(folder);
            }
        }
        around.map_or(RouteMatch::Unknown, |row| {
            RouteMatch::Route(row.route, row.route.path.len())
        })
    }
}

impl Route {
    /// Returns a route of every release.
    pub(crate) const fn new(
        path: &'static str,
        methods: &'static [Method],
        handler: Handler,
    ) -> Self {
        Self {
            path,
            methods,
            handler,
            asks: None,
            span: Span::Always,
        }
    }

    /// Asks for a right if ACLs are on.
    pub(crate) const fn asking(mut self, ask: Ask) -> Self {
        self.asks = Some(ask);
        self
    }

    /// Limits the route to the releases with `behaviour`.
    pub(crate) const fn since(mut self, behaviour: Behaviour) -> Self {
        self.span = Span::Since(behaviour);
        self
    }

    /// Limits the route to the releases without `behaviour`.
    pub(crate) const fn until(mut self, behaviour: Behaviour) -> Self {
        self.span = Span::Until(behaviour);
        self
    }

    /// Whether this release has the route.
    pub(crate) fn exists_in(&self, version: Version) -> bool {
        match self.span {
            Span::Always => true,
            Span::Since(behaviour) => version.has(behaviour),
            Span::Until(behaviour) => !version.has(behaviour),
        }
    }
}

/// The result of matching a cleaned path.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RouteMatch {
    /// A route, and the position of the rest of the path.
    Route(&'static Route, usize),
    /// A folder without its slash: the client is redirected to the path with the slash, where the folder is.
    Slash(&'static Route),
    /// No route.
    Unknown,
}

/// Returns the value of the `Allow` header: `OPTIONS` first, no spaces (kv.md 6.6).
pub(crate) fn allow(methods: &[Method]) -> String {
    let methods = methods.iter().map(Method::as_str);
    let all: Vec<&str> = std::iter::once("OPTIONS").chain(methods).collect();
    all.join(",")
}
