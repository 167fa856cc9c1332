"""The pytest plugin: fixtures with a server for each test, and what happened on it where the test fails.

    def test_a_lock_is_lost(frozen_consul):
        ...
        frozen_consul.advance("20s")

    @pytest.mark.proconsul(version="1.8.7", seed=7, files=["consul.hcl"])
    def test_on_an_old_release(consul): ...
"""

from __future__ import annotations

from typing import Any, Generator, Iterator

import pytest

from ._server import ProconsulError, Server

_SERVERS = pytest.StashKey[list[Server]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("proconsul", "a stand-in for Consul")
    group.addoption("--proconsul-version", help="the release of Consul that the servers emulate, such as 1.8.7")
    group.addoption("--proconsul-seed", type=int, help="the seed of each server; a failing test prints its own")
    group.addoption("--proconsul-file", action="append", help="a configuration file for each server; may be repeated")
    parser.addini("proconsul_version", "the release of Consul that the servers emulate")
    parser.addini("proconsul_seed", "the seed of each server")
    parser.addini("proconsul_files", "configuration files for each server", type="paths")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "proconsul(**options): options of the fixtures consul and frozen_consul, as proconsul.Server takes them",
    )


def _options(request: pytest.FixtureRequest) -> dict[str, Any]:
    config = request.config
    seed = config.getoption("proconsul_seed")
    if seed is None and config.getini("proconsul_seed"):
        seed = int(config.getini("proconsul_seed"))
    options: dict[str, Any] = {
        "version": config.getoption("proconsul_version") or config.getini("proconsul_version") or None,
        "seed": seed,
        "files": config.getoption("proconsul_file") or config.getini("proconsul_files") or [],
    }
    # The nearest mark wins.
    for mark in reversed(list(request.node.iter_markers("proconsul"))):
        options.update(mark.kwargs)
    return options


def _serve(request: pytest.FixtureRequest, **options: Any) -> Iterator[Server]:
    with Server(**{**_options(request), **options}) as server:
        request.node.stash.setdefault(_SERVERS, []).append(server)
        yield server


@pytest.fixture
def consul(request: pytest.FixtureRequest) -> Iterator[Server]:
    """A server of this test's own."""
    yield from _serve(request)


@pytest.fixture
def frozen_consul(request: pytest.FixtureRequest) -> Iterator[Server]:
    """A server of this test's own, whose clock stands still until the test moves it."""
    yield from _serve(request, frozen=True)


@pytest.fixture
def consul_environment(consul: Server, monkeypatch: pytest.MonkeyPatch) -> Server:
    """The server of `consul`, named by CONSUL_HTTP_ADDR, for programs that find their Consul there."""
    for name, value in consul.environment.items():
        monkeypatch.setenv(name, value)
    return consul


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, None]:
    outcome = yield
    report = outcome.get_result()
    if call.when != "call" or not report.failed:
        return
    for server in item.stash.get(_SERVERS, []):
        try:
            text = server.failure_text()
        except ProconsulError as error:
            text = f"the server cannot be asked: {error}"
        report.sections.append(("proconsul", text))
