"""The pytest plugin: fixtures with a server, and what happened on the servers where a test fails.

    def test_a_lock_is_lost(frozen_consul_server):
        ...
        frozen_consul_server.advance("20s")

    @pytest.mark.proconsul(as_version="1.8.7", seed=7, files=["consul.hcl"])
    def test_on_an_old_release(consul_server): ...

No fixture is called `consul`: that is the module of the usual client.
"""

from __future__ import annotations

import inspect
from typing import Any, Generator, Iterator

import pytest

from ._server import _RUNNING, AsyncServer, Server

if int(pytest.__version__.split(".")[0]) < 7:
    raise pytest.UsageError(f"proconsul needs pytest 7 or newer; this is {pytest.__version__}")


#: The servers of fixtures that have been cleaned up. They run until it is reported whether cleaning up has failed.
_FINISHED: list[Server] = []


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("proconsul", "a stand-in for Consul")
    group.addoption("--proconsul-as-version", help="the release of Consul that the servers emulate, such as 1.8.7")
    group.addoption("--proconsul-seed", type=int, help="the seed of each server; a failing test prints its own")
    group.addoption("--proconsul-file", action="append", help="a configuration file for each server; may be repeated")
    parser.addini("proconsul_as_version", "the release of Consul that the servers emulate")
    parser.addini("proconsul_seed", "the seed of each server")
    parser.addini("proconsul_files", "configuration files for each server", type="paths")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "proconsul(**options): options of the servers of the fixtures, as proconsul.Server takes them",
    )


def _options(request: pytest.FixtureRequest) -> dict[str, Any]:
    config = request.config
    seed = config.getoption("proconsul_seed")
    if seed is None and config.getini("proconsul_seed"):
        seed = int(config.getini("proconsul_seed"))
    options: dict[str, Any] = {
        "as_version": config.getoption("proconsul_as_version") or config.getini("proconsul_as_version") or None,
        "seed": seed,
        "files": config.getoption("proconsul_file") or config.getini("proconsul_files") or [],
    }
    # The nearest mark wins.
    for mark in reversed(list(request.node.iter_markers("proconsul"))):
        if mark.args:
            given = ", ".join(map(repr, mark.args))
            raise pytest.UsageError(f"pytest.mark.proconsul({given}): name each option, such as as_version={mark.args[0]!r}")
        known = inspect.signature(Server).parameters
        for name in mark.kwargs:
            if name not in known:
                raise pytest.UsageError(f"pytest.mark.proconsul: unknown option {name}: the options are {', '.join(known)}")
        options.update(mark.kwargs)
    return options


def _serve(request: pytest.FixtureRequest, **options: Any) -> Iterator[Server]:
    server = Server(**{**_options(request), **options})
    yield server
    _FINISHED.append(server)


@pytest.fixture
def consul_server(request: pytest.FixtureRequest) -> Iterator[Server]:
    """A server of this test's own."""
    yield from _serve(request)


@pytest.fixture
def frozen_consul_server(request: pytest.FixtureRequest) -> Iterator[Server]:
    """A server of this test's own, whose clock stands still until the test moves it."""
    yield from _serve(request, frozen=True)


@pytest.fixture
def async_consul_server(consul_server: Server) -> AsyncServer:
    """The server of `consul_server`, with controls for asyncio."""
    return AsyncServer.over(consul_server)


@pytest.fixture(scope="module")
def module_consul_server(request: pytest.FixtureRequest) -> Iterator[Server]:
    """One server for all tests of a module. `reset()` empties it."""
    yield from _serve(request)


@pytest.fixture(scope="session")
def session_consul_server(request: pytest.FixtureRequest) -> Iterator[Server]:
    """One server for all tests of the run, with pytest-xdist of the worker. `reset()` empties it."""
    yield from _serve(request)


@pytest.fixture
def consul_environment(consul_server: Server, monkeypatch: pytest.MonkeyPatch) -> Server:
    """The server of `consul_server`, named by CONSUL_HTTP_ADDR, for programs that find their Consul there."""
    for name, value in consul_server.environment.items():
        monkeypatch.setenv(name, value)
    return consul_server


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, None]:
    """Shows the history of each running server, whoever started it, where setting up, a test or cleaning up fails."""
    outcome = yield
    report = outcome.get_result()
    if report.failed:
        for server in list(_RUNNING.values()):
            report.sections.append(("proconsul", server._failure_or_reason()))
    if call.when == "teardown":
        _stop_finished()


def pytest_unconfigure() -> None:
    _stop_finished()


def _stop_finished() -> None:
    while _FINISHED:
        _FINISHED.pop().stop()
