"""A server without a binary: the WebAssembly module, in a process of its own."""

import json
import sys
import textwrap
import urllib.error
import urllib.request

import pytest

import proconsul
from proconsul import _module


def read(url):
    with urllib.request.urlopen(url) as answer:
        return answer.read()


def test_the_package_brings_the_module_in_place_of_a_binary():
    assert _module.MODULE.is_file()
    with pytest.raises(proconsul.BinaryError, match="this platform may have no wheel"):
        proconsul.find_binary()
    with proconsul.Server() as server:
        assert read(server.url + "/v1/status/leader") == b'"127.0.0.1:8300"'


def test_files_and_data_are_loaded(tmp_path):
    keys = tmp_path / "keys.json"
    keys.write_text('[{"key": "color", "flags": 0, "value": "cmVk"}]')
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.hcl").write_text('datacenter = "of-a-folder"')
    file = tmp_path / "b.json"
    file.write_text('{"node_name": "of-a-file"}')
    with proconsul.Server(files=[folder, file], data=[keys], acl="root&more") as server:
        about = server.server()
        assert (about["datacenter"], about["node"]) == ("of-a-folder", "of-a-file")
        assert read(server.url + "/v1/kv/color?raw&token=root%26more") == b"red"
        with pytest.raises(urllib.error.HTTPError, match="403"):
            read(server.url + "/v1/kv/color")
        state, archive = server.state(), read(server.url + "/v1/snapshot?token=root%26more")
    for name, content in (("state.json", json.dumps(state).encode()), ("snapshot.tgz", archive)):
        (tmp_path / name).write_bytes(content)
        with proconsul.Server(files=[folder, file], data=[tmp_path / name], acl="root&more") as server:
            assert read(server.url + "/v1/kv/color?raw&token=root%26more") == b"red"


def test_what_it_cannot_do_is_said(tmp_path):
    with pytest.raises(proconsul.StartError, match="HTTPS needs the server's binary"):
        proconsul.Server(https=True)
    with pytest.raises(proconsul.StartError, match="node_nam"):
        proconsul.Server(config={"node_nam": "a"})
    wrong = tmp_path / "keys.json"
    wrong.write_text('[{"key": 1}]')
    with pytest.raises(proconsul.StartError, match="cannot load .*keys.json"):
        proconsul.Server(data=[wrong])


def test_a_fault_resets_the_connection():
    with proconsul.Server() as server:
        server.fault({"kind": "applied-then-reset"}, key_prefix="color")
        with pytest.raises(ConnectionResetError):
            urllib.request.urlopen(urllib.request.Request(server.url + "/v1/kv/color", data=b"red", method="PUT"))
        server.clear_faults()
        assert read(server.url + "/v1/kv/color?raw") == b"red"


def test_a_panic_of_the_module_is_said(tmp_path):
    script = tmp_path / "panics"
    script.write_text(
        textwrap.dedent(
            f"""\
            #!{sys.executable}
            from proconsul import _module
            _module.Connection.data_received = lambda self, given: self._machine.input(99)
            _module.main()
            """
        )
    )
    script.chmod(0o755)
    with pytest.raises(proconsul.ProconsulError, match="(?s)the server has panicked: .*there is no input of kind 99") as caught:
        proconsul.Server(binary=script)
    assert "has ended with exit code 1" in str(caught.value)


def test_what_was_compiled_is_kept(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with proconsul.Server():
        kept = list(tmp_path.glob("proconsul/*.cwasm"))
    assert len(kept) == 1
    before = kept[0].stat()
    with proconsul.Server():
        assert list(tmp_path.glob("proconsul/*")) == kept
    assert kept[0].stat().st_mtime_ns == before.st_mtime_ns
    kept[0].write_bytes(b"no module")
    with proconsul.Server() as server:
        assert server.clock()
    assert kept[0].stat().st_size == before.st_size
