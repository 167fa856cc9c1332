"""The scenarios that all helpers share, with py-consul."""

import concurrent.futures
import json
import os
import pathlib
import re
import urllib.parse

import consul as py_consul
import pytest

import proconsul

DEFAULT = pathlib.Path(__file__).parent.parent.parent / "scenarios" / "scenarios.json"
FILE = pathlib.Path(os.environ.get("SCENARIOS", DEFAULT))
SCENARIOS = json.loads(FILE.read_text())["scenarios"]
# What a control is called here, where that is not its name in the description.
RENAMED = {"installFault": "fault"}


def snake(name):
    return re.sub("([A-Z])", lambda match: "_" + match[0].lower(), name)


class Run:
    def __init__(self, server, background):
        self.server = server
        urls = [urllib.parse.urlsplit(url) for url in server.agent_urls]
        self.clients = [py_consul.Consul(host=url.hostname, port=url.port) for url in urls]
        self.background = background
        self.saved = {}

    def control(self, step):
        method = getattr(self.server, snake(RENAMED.get(step["control"], step["control"])))
        if "refused" in step:
            with pytest.raises(proconsul.ControlError, match=re.escape(step["refused"])):
                method(**step["with"])
            return
        answer = method(**step.get("with", {}))
        for name, expected in step.get("expect", {}).items():
            assert answer[name] == expected
        assert [part for part in step.get("contains", []) if part not in answer] == [], answer

    def value(self, pair):
        return pair and pair["Value"].decode()

    def call(self, step):
        client = self.clients[step.get("agent", 0)]
        kind, kv = step["client"], client.kv
        if kind == "put":
            return kv.put(step["key"], step["value"])
        if kind == "acquire":
            return kv.put(step["key"], step["value"], acquire=self.saved[step["session"]])
        if kind == "get":
            return self.value(kv.get(step["key"], consistency="stale" if step.get("stale") else None)[1])
        if kind == "session":
            self.saved[step["save"]] = client.session.create(ttl=int(step["ttl"].rstrip("s")))
        elif kind == "watch":
            index = kv.get(step["key"])[0]
            self.saved[step["save"]] = self.background.submit(kv.get, step["key"], index=index)
        elif kind == "join":
            return self.value(self.saved[step["watch"]].result(20)[1])
        else:
            raise AssertionError(f"an unknown step: {kind}")

    def step(self, step):
        if "control" in step:
            self.control(step)
        elif "failure" in step:
            text = self.server.failure_text()
            assert [part for part in step["failure"] if part not in text] == [], text
        elif "fails" in step:
            with pytest.raises(py_consul.ConsulException, match=step["fails"]):
                self.call(step)
        else:
            assert self.call(step) == step.get("expect")


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario["name"])
def test_scenario(scenario):
    options = {snake(name): value for name, value in scenario["server"].items()}
    with proconsul.Server(**options) as server, concurrent.futures.ThreadPoolExecutor() as background:
        run = Run(server, background)
        for step in scenario["steps"]:
            run.step(step)
