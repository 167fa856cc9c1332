"""The pytest plugin, in runs of pytest of its own."""

pytest_plugins = ["pytester"]

FAILING = """
    import urllib.request

    def test_fails(frozen_consul):
        def put(path, body=b""):
            request = urllib.request.Request(frozen_consul.url + path, data=body, method="PUT")
            return urllib.request.urlopen(request).read()

        session = put("/v1/session/create", b'{"TTL": "10s"}').split(b'"')[3].decode()
        put("/v1/kv/job?acquire=" + session)
        frozen_consul.advance("20s")
        assert False
"""

TWENTY = """
    import urllib.request
    import pytest

    @pytest.mark.parametrize("number", range(20))
    def test_each_has_a_server_of_its_own(consul, number):
        assert consul.export_kv() == []
        request = urllib.request.Request(consul.url + f"/v1/kv/{number}", data=b"", method="PUT")
        urllib.request.urlopen(request).read()
"""


def test_a_failing_test_shows_history_and_timeline(pytester):
    pytester.makepyfile(FAILING)
    result = pytester.runpytest_subprocess("--proconsul-seed=7")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["*- proconsul -*", "what happened on http://127.0.0.1:* (seed 7):", "*its TTL ran out*", 'timeline of "job":*']
    )


def test_options_come_from_the_command_line_the_file_and_the_mark(pytester):
    pytester.makepyfile(
        """
        import pytest

        def test_file(consul):
            about = consul.server()
            assert (about["version"], about["seed"], about["node"]) == ("1.10.0", 3, "n-file")

        @pytest.mark.proconsul(version="1.8.7", files=[])
        def test_mark(frozen_consul):
            assert frozen_consul.server()["version"] == "1.8.7"
            assert frozen_consul.clock()["rate"] == 0
        """
    )
    pytester.makefile(".json", node='{"node_name": "n-file"}')
    pytester.makeini("[pytest]\nproconsul_version = 1.9.0\nproconsul_seed = 3\nproconsul_files = node.json\n")
    pytester.runpytest_subprocess("--proconsul-version=1.10.0").assert_outcomes(passed=2)


def test_a_program_finds_its_server_in_the_environment(pytester):
    pytester.makepyfile(
        """
        import os

        def test_environment(consul_environment, consul):
            assert consul_environment is consul
            assert os.environ["CONSUL_HTTP_ADDR"] == consul.address

        def test_not_asked_for(consul):
            assert "CONSUL_HTTP_ADDR" not in os.environ
        """
    )
    pytester.runpytest_subprocess().assert_outcomes(passed=2)


def test_with_xdist(pytester):
    pytester.makepyfile(TWENTY)
    pytester.runpytest_subprocess("-n", "4").assert_outcomes(passed=20)
