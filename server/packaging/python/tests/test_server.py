"""Starting, stopping, and what is said when that does not work."""

import asyncio
import os
import socket
import ssl
import stat
import subprocess
import sys
import urllib.request
from datetime import timedelta

import pytest

import proconsul


def test_a_server_ends_with_its_block():
    with proconsul.Server() as server:
        with urllib.request.urlopen(server.url + "/v1/status/leader") as answer:
            assert answer.status == 200
    with pytest.raises(OSError):
        urllib.request.urlopen(server.url + "/v1/status/leader")
    with pytest.raises(proconsul.ProconsulError, match="has ended"):
        server.clock()


def test_a_server_that_nobody_stops_ends_with_its_process():
    program = "import proconsul; server = proconsul.Server(); print(server.url)"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    with pytest.raises(OSError):
        urllib.request.urlopen(ended.stdout.strip() + "/v1/status/leader")


def test_a_server_is_what_its_arguments_say(monkeypatch, tmp_path):
    monkeypatch.setenv("CONSUL_LOCAL_CONFIG", '{"datacenter": "not-this"}')
    monkeypatch.setenv("PROCONSUL_STRICT", "true")
    file = tmp_path / "a.json"
    file.write_text('{"node_name": "of-a-file"}')
    with proconsul.Server(config={"datacenter": "dc-own"}, files=[file], args=["-disable-host-node-id"]) as server:
        about = server.server()
    assert (about["datacenter"], about["node"]) == ("dc-own", "of-a-file")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "b.json").write_text('{"node_name": "of-a-folder"}')
    with proconsul.Server(files=[folder]) as server:
        assert server.server()["node"] == "of-a-folder"


def test_dns_is_answered():
    question = b"\0\7\1\0\0\1\0\0\0\0\0\0\6consul\0\0\2\0\1"  # the servers of the domain
    with proconsul.Server() as server, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(10)
        host, port = server.dns_address.rsplit(":", 1)
        client.sendto(question, (host, int(port)))
        answer = client.recv(512)
    assert answer[:2] == question[:2]
    assert answer[3] & 0xF == 0
    assert b"\4node\3dc1" in answer


def test_data_acls_and_https_are_options(tmp_path):
    keys = tmp_path / "keys.json"
    keys.write_text('[{"key": "color", "flags": 0, "value": "cmVk"}]')
    with proconsul.Server(data=[keys], acl="root", https=True) as server:
        context = ssl.create_default_context(cafile=server.ca_file)
        asked = urllib.request.Request(f"{server.https_url}/v1/kv/color?raw", headers={"X-Consul-Token": "root"})
        with urllib.request.urlopen(asked, context=context) as answer:
            assert answer.read() == b"red"
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(server.url + "/v1/kv/color")
        folder = os.path.dirname(server.ca_file)
        assert os.path.isdir(folder)
    assert not os.path.exists(folder)


def test_a_release_that_is_not_known_is_an_error():
    with pytest.raises(proconsul.StartError, match="Consul 9.9 is not known: the newest release that is emulated is "):
        proconsul.Server(as_version="9.9")
    with proconsul.Server(as_version="1.8") as server:
        assert server.server()["version"] == "1.8.7"


def test_the_same_seed_gives_the_same_ids():
    def first_id(seed):
        with proconsul.Server(seed=seed) as server:
            request = urllib.request.Request(server.url + "/v1/session/create", method="PUT")
            with urllib.request.urlopen(request) as answer:
                return server.seed, answer.read()

    seed, made = first_id(None)
    assert first_id(seed) == (seed, made)


def test_a_frozen_server_stands_at_its_epoch_from_the_start():
    def run():
        with proconsul.Server(frozen=True, seed=7, epoch="2026-01-01T00:00:00Z") as server:
            with urllib.request.urlopen(server.url + "/v1/status/leader") as answer:
                return answer.headers["Date"], server.clock()["now_ms"], server.history_text()

    first = run()
    assert first[:2] == ("Thu, 01 Jan 2026 00:00:00 GMT", 0)
    assert run() == first


def test_durations_are_seconds_timedeltas_or_text():
    with proconsul.Server(frozen=True) as server:
        before = server.clock()["now_ms"]
        for by in (1, 0.5, timedelta(seconds=2), "500ms"):
            server.advance(by)
        assert server.clock()["now_ms"] == before + 4000


def test_asyncio():
    async def test():
        async with proconsul.AsyncServer(frozen=True) as server:
            assert server.environment == {"CONSUL_HTTP_ADDR": f"{server.host}:{server.port}"}
            assert f"(seed {server.seed})" in await server.failure_text()
            assert "the agent came up" in await server.history_text()
            before = (await server.clock())["now_ms"]
            caused = await server.advance("20s")
            assert caused["now_ms"] == before + 20_000
            with pytest.raises(proconsul.ControlError) as refused:
                await server.wait_blocked(1, timeout="1ms")
            assert refused.value.status == 409
            assert "what happened on" in await server.failure_text()

        async with proconsul.AsyncServer(args=["-log-level=info"]) as server:
            assert "agent running" in server.log

    asyncio.run(test())


def test_a_port_that_is_taken_is_named():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(proconsul.StartError, match=f"(?s)ended at its start.*{port}.*address already in use"):
            proconsul.Server(port=port)


def test_a_fixed_port_is_served():
    with proconsul.Server() as free:
        port = free.port
    with proconsul.Server(port=port) as server:
        assert server.address == f"127.0.0.1:{port}"


def test_the_log_of_a_server_that_dies_is_in_the_error():
    with pytest.raises(proconsul.StartError, match="(?s)exit code 1.*no-such-flag"):
        proconsul.Server(args=["-no-such-flag"])


def program(folder, text):
    path = folder / "other"
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_a_program_that_is_not_proconsul_is_named(tmp_path):
    with pytest.raises(proconsul.StartError, match="is .*other proconsul"):
        proconsul.Server(binary=program(tmp_path, "#!/bin/sh\nexit 0\n"))
    with pytest.raises(proconsul.BinaryError, match="cannot be run"):
        proconsul.Server(binary=program(tmp_path, "\x7fELF nothing"))


def test_a_binary_of_another_version_is_refused(monkeypatch):
    monkeypatch.setattr("proconsul._server.metadata.version", lambda _: "0.0.1")
    with pytest.raises(proconsul.BinaryError, match="and this package is 0.0.1: install the binary of 0.0.1"):
        proconsul.Server()


def test_a_binary_that_is_missing_is_said(monkeypatch):
    monkeypatch.setenv("PROCONSUL_BINARY", "/nowhere")
    with pytest.raises(proconsul.BinaryError, match="PROCONSUL_BINARY names '/nowhere'"):
        proconsul.Server()
    monkeypatch.delenv("PROCONSUL_BINARY")
    monkeypatch.setattr("proconsul._binary._folders", list)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(proconsul.BinaryError, match="cargo install --path server/cli"):
        proconsul.Server()


def test_an_old_one_on_the_path_is_refused(monkeypatch, tmp_path):
    (tmp_path / "proconsul").symlink_to(os.environ["OTHER_PROCONSUL"])
    monkeypatch.delenv("PROCONSUL_BINARY", raising=False)
    monkeypatch.setattr("proconsul._binary._folders", list)
    monkeypatch.setenv("PATH", str(tmp_path) + os.pathsep + os.environ["PATH"])
    with pytest.raises(proconsul.BinaryError, match=f"{tmp_path}/proconsul is proconsul 0.0.1, .* install the binary of"):
        proconsul.Server()


@pytest.mark.skipif("PROCONSUL_BINARY" in os.environ, reason="another binary was asked for")
def test_the_binary_is_that_of_the_wheel():
    import sysconfig

    assert proconsul.find_binary() == os.path.join(sysconfig.get_path("scripts"), "proconsul")
