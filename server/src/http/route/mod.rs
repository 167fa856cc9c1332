//! Routes, and Go's rules of matching. Each page declares its own table of routes.

use std::collections::HashMap;
use std::pin::Pin;

use http::Method;

use crate::http::acl::ask::Ask;
use crate::http::failure::Failure;
use crate::http::reply::Reply;
use crate::http::request::Request;
use crate::version::{Behaviour, Version};

/// The handler of a route.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Handler {
    /// Answers without waiting: it needs neither the body nor a blocking query.
    AtOnce(fn(&Request) -> Result<Reply, Failure>),
    /// May wait for the body or for a change of the state.
    Waits(fn(Request) -> Answering),
}

/// The future of a handler.
pub(crate) type Answering = Pin<Box<dyn Future<Output = Result<Reply, Failure>> + Send>>;

impl Handler {
    /// Answers a request.
    pub(crate) async fn answer(self, request: Request) -> Result<Reply, Failure> {
        match self {
            Self::AtOnce(handler) => handler(&request),
            Self::Waits(handler) => handler(request).await,
        }
    }
}

/// Declares the routes of a page, one per row: the path, its methods in the order of the `Allow` header, and the handler.
/// `at_once(f)` stands for a function of `&Request`, `waits(f)` for an `async fn` of `Request`, `waits(&f)` for one of
/// `&Request`. Between the methods and the arrow may stand what the route asks for if ACLs are on: `asks acl`, `asks
/// agent:write on agent`; without an access, GET reads and other methods write. The handler says when
/// ([`Request::authorize`]). An endpoint without methods checks the method itself. `since` and `until` name the releases that have it.
macro_rules! routes {
    ($(
        $path:literal [$($method:ident)*]
        $(asks $resource:ident $(: $access:ident)? $(on $place:ident)?)?
        => $form:ident $handler:tt $(, $bound:ident $behaviour:path)?;
    )*) => {
        /// The routes of this page.
        pub(crate) const ROUTES: &[$crate::http::route::Route] = &[$(
            $crate::http::route::Route::new(
                $path,
                &[$(http::Method::$method),*],
                $crate::http::route::routes!(@$form $handler),
            )
            $(.asking($crate::http::acl::ask::ask!($resource $(: $access)? $(on $place)?)))?
            $(.$bound($behaviour))?
        ),*];
    };
    (@at_once ($handler:expr)) => { $crate::http::route::Handler::AtOnce($handler) };
    (@waits (&$handler:path)) => {
        $crate::http::route::Handler::Waits(|request| {
            Box::pin(async move { $handler(&request).await })
        })
    };
    (@waits ($handler:path)) => {
        $crate::http::route::Handler::Waits(|request| Box::pin($handler(request)))
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

/// The routes of an API.
pub(crate) struct Table {
    /// The routes of a single path, by path.
    paths: HashMap<&'static [u8], &'static Route>,
    /// The routes of all paths below a folder, by folder without its slash.
    subtrees: HashMap<&'static [u8], &'static Route>,
    /// The length of the longest folder, which bounds the search.
    longest: usize,
}

impl Table {
    /// Makes one table of the tables of all pages. No path may be in two rows.
    pub(crate) fn of(pages: &[&'static [Route]]) -> Self {
        let mut table = Self {
            paths: HashMap::new(),
            subtrees: HashMap::new(),
            longest: 0,
        };
        for route in pages.iter().copied().flatten() {
            match route.path.strip_suffix('/') {
                Some(folder) => {
                    table.longest = table.longest.max(folder.len());
                    table.subtrees.insert(folder.as_bytes(), route)
                }
                None => table.paths.insert(route.path.as_bytes(), route),
            };
        }
        table
    }

    /// Finds the route of a cleaned path, as Go's mux does: the path itself, then a folder without its slash, then the
    /// nearest folder around the path.
    pub(crate) fn find(&self, path: &[u8]) -> RouteMatch {
        let found = |route: &&'static Route| RouteMatch::Route(route, route.path.len());
        if let Some(route) = self.paths.get(path) {
            return found(route);
        }
        if self.subtrees.contains_key(path) {
            return RouteMatch::Slash;
        }
        let looked_at = &path[..path.len().min(self.longest + 1)];
        let slashes = looked_at.iter().enumerate();
        let slashes = slashes.filter(|(_, byte)| **byte == b'/').rev();
        let mut around = slashes.map(|(at, _)| &path[..at]);
        let nearest = around.find_map(|folder| self.subtrees.get(folder));
        nearest.map_or(RouteMatch::Unknown, found)
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
    /// A folder without its slash: the client is redirected to the path with the slash.
    Slash,
    /// No route.
    Unknown,
}

/// Returns the value of the `Allow` header: `OPTIONS` first, no spaces (kv.md 6.6).
pub(crate) fn allow(methods: &[Method]) -> String {
    let methods = methods.iter().map(Method::as_str);
    let all: Vec<&str> = std::iter::once("OPTIONS").chain(methods).collect();
    all.join(",")
}
