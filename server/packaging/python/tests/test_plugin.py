"""The pytest plugin, in runs of pytest of its own."""

import re

pytest_plugins = ["pytester"]

FAILING = """
    import urllib.request

    def test_fails(frozen_consul_server):
        def put(path, body=b""):
            request = urllib.request.Request(frozen_consul_server.url + path, data=body, method="PUT")
            return urllib.request.urlopen(request).read()

        session = put("/v1/session/create", b'{"TTL": "10s"}').split(b'"')[3].decode()
        put("/v1/kv/job?acquire=" + session)
        frozen_consul_server.advance("20s")
        assert False
"""

TWENTY = """
    import urllib.request
    import pytest

    @pytest.mark.parametrize("number", range(20))
    def test_each_has_a_server_of_its_own(consul_server, number):
        assert consul_server.export_kv() == []
        request = urllib.request.Request(consul_server.url + f"/v1/kv/{number}", data=b"", method="PUT")
        urllib.request.urlopen(request).read()
"""


def test_a_failing_test_shows_history_and_timeline(pytester):
    pytester.makepyfile(FAILING)
    result = pytester.runpytest_subprocess("--proconsul-seed=7")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["*- proconsul -*", "what happened on http://127.0.0.1:* (seed 7):", "*its TTL ran out*", 'timeline of "job":*']
    )


EVERY_WAY = """
    import asyncio

    import proconsul
    import pytest

    @pytest.fixture
    def prepared(consul_server):
        raise ValueError("in set-up")

    def test_set_up(prepared): pass

    @pytest.fixture
    def own():
        with proconsul.Server() as server:
            yield server

    def test_own_fixture(own):
        assert False

    @pytest.fixture
    def cleaned_up(consul_server):
        yield
        raise ValueError("in clean-up")

    def test_clean_up(cleaned_up): pass

    def test_with_block():
        with proconsul.Server():
            assert False

    def test_stopped_by_hand():
        server = proconsul.Server()
        try:
            assert False
        finally:
            server.stop()

    def test_never_stopped():
        server = proconsul.Server()
        assert server is None

    def test_asyncio_block():
        async def run():
            async with proconsul.AsyncServer():
                assert False
        asyncio.run(run())

    def test_asyncio_fixture(async_consul_server):
        async def run():
            assert await async_consul_server.clock() is None
        asyncio.run(run())

    def test_module(module_consul_server):
        assert False

    def test_session(session_consul_server):
        assert False
"""


def test_a_failure_shows_the_history_in_whatever_way_it_happens(pytester, monkeypatch):
    # With it pytest repeats each failure's whole text in its summary.
    monkeypatch.delenv("CI", raising=False)
    pytester.makepyfile(EVERY_WAY)
    names = re.findall(r"def (test_\w+)", EVERY_WAY)
    for name in names:
        result = pytester.runpytest_subprocess("-k", f"{name} and not {name}_")
        assert result.ret == 1, name
        shown = [line for line in result.outlines if "the agent came up" in line]
        assert len(shown) == 1, (name, result.outlines)


def test_servers_of_module_and_session_are_shared_and_reset(pytester):
    pytester.makepyfile(
        """
        import urllib.request

        def put(server):
            urllib.request.urlopen(urllib.request.Request(server.url + "/v1/kv/a", data=b"", method="PUT")).read()

        def test_first(module_consul_server, session_consul_server):
            put(module_consul_server)
            put(session_consul_server)

        def test_second(module_consul_server, session_consul_server):
            assert [pair["key"] for pair in module_consul_server.export_kv()] == ["a"]
            module_consul_server.reset()
            assert module_consul_server.export_kv() == []
            assert [pair["key"] for pair in session_consul_server.export_kv()] == ["a"]
        """
    )
    pytester.runpytest_subprocess().assert_outcomes(passed=2)


def test_an_option_without_its_name_and_an_unknown_one_are_errors(pytester):
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.proconsul("1.8.7")
        def test_mark(consul_server): pass

        @pytest.mark.proconsul(frozn=True)
        def test_unknown(consul_server): pass
        """
    )
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(errors=2)
    expected = ["*name each option, such as as_version='1.8.7'*", "*unknown option frozn: the options are as_version, seed, frozen,*"]
    result.stdout.fnmatch_lines(expected)


def test_options_come_from_the_command_line_the_file_and_the_mark(pytester):
    pytester.makepyfile(
        """
        import pytest

        def test_file(consul_server):
            about = consul_server.server()
            assert (about["version"], about["seed"], about["node"]) == ("1.10.0", 3, "n-file")

        @pytest.mark.proconsul(as_version="1.8.7", files=[])
        def test_mark(frozen_consul_server):
            assert frozen_consul_server.server()["version"] == "1.8.7"
            assert frozen_consul_server.clock()["rate"] == 0
        """
    )
    pytester.makefile(".json", node='{"node_name": "n-file"}')
    pytester.makeini("[pytest]\nproconsul_as_version = 1.9.0\nproconsul_seed = 3\nproconsul_files = node.json\n")
    pytester.runpytest_subprocess("--proconsul-as-version=1.10.0").assert_outcomes(passed=2)


def test_a_program_finds_its_server_in_the_environment(pytester):
    pytester.makepyfile(
        """
        import os

        def test_environment(consul_environment, consul_server):
            assert consul_environment is consul_server
            assert os.environ["CONSUL_HTTP_ADDR"] == consul_server.address

        def test_not_asked_for(consul_server):
            assert "CONSUL_HTTP_ADDR" not in os.environ
        """
    )
    pytester.runpytest_subprocess().assert_outcomes(passed=2)


def test_with_xdist(pytester):
    pytester.makepyfile(TWENTY)
    pytester.runpytest_subprocess("-n", "4").assert_outcomes(passed=20)
