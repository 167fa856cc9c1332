"""A lock is lost, guarded and taken over, from Python with nothing but its standard library.

Usage: test_control.py PATH_OF_PROCONSUL
"""

import json
import subprocess
import sys
import threading
import urllib.request

PROGRAM = sys.argv[1]


class Consul:
    """The binary on free ports, with time that stands still."""

    def __enter__(self):
        arguments = [PROGRAM, "agent", "-dev", "-http-port-ephemeral", "-control-port=0", "-log-level=err"]
        self.process = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)
        for line in self.process.stdout:
            if line.startswith('{"'):
                ports = json.loads(line)
                break
        self.http = "http://" + ports["http"]
        self.plane = "http://" + ports["control"] + "/proconsul/v1"
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def ask(self, method, url, body=None):
        data = None if body is None else body.encode()
        request = urllib.request.Request(url, data=data, method=method)
        with urllib.request.urlopen(request, timeout=20) as answer:
            return json.loads(answer.read()), answer.headers

    def put(self, path, body=""):
        return self.ask("PUT", self.http + path, body)

    def control(self, method, path, **fields):
        body = json.dumps(fields) if fields else None
        return self.ask(method, self.plane + path, body)[0]


def main():
    with Consul() as consul:
        consul.control("POST", "/clock/freeze")
        first = consul.put("/v1/session/create", '{"TTL": "10s"}')[0]["ID"]
        second = consul.put("/v1/session/create", '{"TTL": "60s"}')[0]["ID"]
        assert consul.put(f"/v1/kv/job?acquire={first}", "first")[0] is True
        refused, headers = consul.put(f"/v1/kv/job?acquire={second}", "second")
        assert refused is False and headers["X-Proconsul-Refused"] == f"held by {first}"

        answers = []
        entry, headers = consul.ask("GET", consul.http + "/v1/kv/job")
        url = f"{consul.http}/v1/kv/job?index={headers['X-Consul-Index']}"
        watch = threading.Thread(target=lambda: answers.append(consul.ask("GET", url)[0]))
        watch.start()
        consul.control("POST", "/wait/blocked", prefix="job", count=1, timeout="20s")

        caused = consul.control("POST", "/clock/advance", by="20s")["caused"]
        assert [record["kind"] for record in caused][:3] == ["session-ended", "key-written", "released"]
        watch.join()
        assert "Session" not in answers[0][0]

        assert consul.put(f"/v1/kv/job?acquire={second}", "second")[0] is False
        consul.control("POST", "/clock/advance", by="15s")
        assert consul.put(f"/v1/kv/job?acquire={second}", "second")[0] is True
        records = consul.control("GET", "/history?key=job&kind=released&kind=acquire-refused")["records"]
        causes = [record["cause"] for record in records]
        assert causes == [
            f"held by {first}",
            "its session ended, its TTL ran out",
            "lock-delay, 15000 ms left",
        ], causes
    print("python: ok")


main()
