"""The README's example without pytest, as it stands there."""

import pathlib
import runpy
import threading
import urllib.request

import pytest

import proconsul

EXAMPLE = pathlib.Path(__file__).with_name("without_pytest.py")


@pytest.mark.skipif(not EXAMPLE.exists(), reason="../../test takes it out of the README")
def test_the_example_of_the_readme_runs(monkeypatch, capsys):
    enter = proconsul.Server.__enter__

    def watched(server):
        # The program that the example waits for.
        watch = f"{server.url}/v1/kv/config/?recurse&index=1000"
        threading.Thread(target=lambda: urllib.request.urlopen(watch), daemon=True).start()
        return enter(server)

    monkeypatch.setattr(proconsul.Server, "__enter__", watched)
    runpy.run_path(str(EXAMPLE))
    assert 'timeline of "leader"' in capsys.readouterr().out
