"""The README's example without pytest, as it stands there."""

import contextlib
import pathlib
import runpy
import threading
import urllib.request

import pytest

import proconsul

EXAMPLE = pathlib.Path(__file__).with_name("without_pytest.py")


def watch(url):
    """The program that the example waits for. The loss of the leader, or the end of the server, ends it."""
    with contextlib.suppress(OSError):
        urllib.request.urlopen(f"{url}/v1/kv/config/?recurse&index=1000")


@pytest.mark.skipif(not EXAMPLE.exists(), reason="../../test takes it out of the README")
def test_the_example_of_the_readme_runs(monkeypatch, capsys):
    enter = proconsul.Server.__enter__

    def watched(server):
        threading.Thread(target=watch, args=(server.url,), daemon=True).start()
        return enter(server)

    monkeypatch.setattr(proconsul.Server, "__enter__", watched)
    runpy.run_path(str(EXAMPLE))
    assert 'timeline of "leader"' in capsys.readouterr().out
